import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { defaultLimits } from "../../src/wire/limits.ts";

const readme = readFileSync("README.md", "utf8");

/** Rows of all tables in the section on limits, by their first cell. */
function rows(): ReadonlyMap<string, readonly string[]> {
  const section = readme.split("\n## Limits\n")[1]?.split(/^## /m)[0] ?? "";
  const cells = section
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.split("|").slice(1, -1))
    .map((row) => row.map((cell) => cell.replaceAll("`", "").trim()));
  return new Map(cells.map(([name = "", ...others]) => [name, others]));
}

function shown(name: string, value: number): string {
  if (!name.endsWith("Bytes")) return String(value).replace(/\B(?=(?:\d{3})+$)/g, " ");
  return value >= 1024 * 1024 ? `${value / 1024 / 1024} MiB` : `${value / 1024} KiB`;
}

/** Bounds that are no option: where they are in the sources, and what their rows are called. */
const fixed: Readonly<Record<string, string>> = {
  "card/signature-options.ts maxSignatures": "signatures of a card",
  "card/jku.ts maxKeys": "keys tried for one signature",
  "card/forms.ts maxTrials": "trials of a key with a form, for one card",
  "card/forms.ts maxDiagnosed": "signatures that fit no accepted form and are diagnosed",
  "card/key-sets.ts maxCardSets": "key sets read for one card",
  "card/key-sets.ts maxCardMs": "milliseconds that the key sets of one card are waited for",
  "card/jws-header.ts maxLength": "characters of a signature's header",
  "card/keys.ts maxRsaBits": "bits of an RSA key",
  "card/trusted-keys.ts maxKeys": "trusted keys of a client",
  "card/key-sets.ts maxDepth": "nesting of a key set",
  "card/key-sets.ts maxSets": "key sets that are remembered",
  "card/gate.ts maxClosed": "card URLs that asked for a wait, and are remembered",
  "card/history.ts maxChanges": "changes of a card that are remembered",
  "lease/drift.ts maxListed": "changes that a drift lists in its JSON",
  "model/deviation.ts maxDeviations": "deviations of a task or a card",
  "model/schema.ts maxIdLength": "characters of an id of a task, a context, a message or an artifact",
  "lifecycle/observe.ts maxText": "characters of a state or a time that are remembered",
  "model/issues.ts maxIssues": "issues of a document",
  "util/i-json.ts maxProblems": "problems of a document's JSON",
  "util/json-copy.ts maxProblems": "problems of a document's JSON",
  "binding/remote-failure.ts maxDetails": "details of a remote error",
  "errors/base.ts maxErrorText": "bytes of a text in an error",
  "errors/base.ts maxCauses": "causes of an error in its JSON",
  "wire/failure.ts maxFailures": "failures below a failed connection",
  "wire/failure.ts maxText": "characters of a failed connection's reason",
  "wire/sse.ts maxIgnoredLines": "lines of a stream that belong to no event",
  "client/silence.ts maxSilences": "silences of a stream in a row",
  "client/inbox.ts maxUpdates": "updates that wait for a slow reader of a shared stream",
  "client/message.ts maxDepth": "nesting of a message that is sent",
  "client/write-record.ts maxConflicts": "writes against others that change the same record",
  "client/trust.ts maxHistory": "changes of trust",
  "lifecycle/memory.ts maxObservations": "observations of a task",
  "node/lookup.ts maxAddresses": "addresses of a name",
  "binding/answer.ts maxSnippetSource": "characters of a body that an error quotes from",
  "binding/frames.ts maxUseless": "events of no use in a row",
  "binding/http-json.ts maxRemembered": "interfaces whose way of subscribing is remembered",
  "client/attempt.ts maxOthers": "other interfaces that a failed call tries",
  "client/extended.ts maxPins": "pins of a client that share reads of the extended card",
  "client/auth-required.ts maxTasks": "tasks whose authorization was asked for",
  "client/outbox.ts maxNewPages": "pages of tasks read to find what is new",
  "client/outbox.ts maxPages": "pages of tasks read to find a message",
  "client/read-record.ts maxDepth": "nesting of a record that is handed in",
  "client/sent-secrets.ts maxValues": "secrets of a client that answers are looked through for",
  "client/retry-budget.ts maxOrigins": "origins whose budget of repetitions is remembered",
  "client/push-note.ts maxConfigs": "push configurations of a task that are remembered",
  "client/security-requirements.ts maxAlternatives": "alternatives of a card's security requirements",
  "client/stream-end.ts maxRepeats": "events without any news in a row",
  "client/told.ts maxMessages": "messages of a task that are known as told",
  "credentials/challenge.ts maxLength": "characters of a challenge that are looked at",
  "errors/credentials.ts maxNamed": "alternatives and providers that an error names",
  "ledger/query.ts maxPageSize": "records of a page of a ledger",
  "ledger/query.ts maxStates": "states that a query of a ledger names",
  "ledger/redis-scripts.ts maxLooks": "members of an index that one look at Redis goes through",
  "ledger/change.ts maxConflicts": "writes against others that change the same push record",
  "oauth/cache.ts maxEntries": "tokens of a cache",
  "oauth/chain.ts maxAgreements": "agreements of users of a provider",
  "oauth/chain.ts maxServers": "servers at which a refresh token of yours is tried",
  "oauth/grants.ts maxTokenLength": "characters of a token",
  "webhook/judge.ts maxBroken": "broken rules that an inbox keeps",
  "webhook/judge.ts maxHashes": "artifact notifications by which an inbox knows a repetition",
  "webhook/judge.ts maxObservations": "observations of an inbox",
  "webhook/key-set.ts maxKeySetBytes": "bytes of the key set that notifications are verified by",
  "webhook/jwt.ts maxRemembered": "notification tokens that are known as used",
  "webhook/payload.ts maxText": "characters of an id, a state or a time in a notification",
  "webhook/sender.ts maxSecret": "characters of a notification's secret",
  "webhook/untold.ts maxRemembered": "notifications that are kept and could not be told",
};
/** Numbers that bound nothing which comes in. */
const others = ["probe/verdict.ts maxIdleRounds"];

/** The constants of the sources that are called `max…`, by file and name. */
function constants(): ReadonlyMap<string, number> {
  const found = readdirSync("src", { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !path.startsWith("testing/"))
    .flatMap((path) =>
      [...readFileSync(`src/${path}`, "utf8").matchAll(/^(?:export )?const (max\w+) = ([\d_]+);/gm)].map(
        ([, name, value = ""]) => [`${path} ${name}`, Number(value.replaceAll("_", ""))] as const,
      ),
    );
  return new Map(found);
}

describe("the tables of limits", () => {
  test.each(Object.entries(defaultLimits))("say what %s is", (name, value) => {
    expect(rows().get(name)?.[0]).toBe(shown(name, value));
  });
  test("say what becomes of each limit", () => {
    const silent = [...rows()].filter(([, cells]) => (cells.at(-1) ?? "") === "");
    expect(silent).toEqual([]);
  });
  test("have every bound of the sources", () => {
    const found = [...constants().keys()].filter((name) => !others.includes(name));
    expect(found.sort()).toEqual(Object.keys(fixed).sort());
  });
  test.each(Object.entries(fixed))("say the value of %s", (name, row) => {
    const value = rows().get(row)?.[0]?.replaceAll(" ", "");
    expect(value).toBe(String(constants().get(name)));
  });
});
