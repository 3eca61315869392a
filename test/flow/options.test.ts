import {
  type ClientOptions,
  createAgents,
  createClient,
  createMemoryLedger,
  dataPart,
  filePart,
  judgeCard,
  pinCard,
  textPart,
  verifyCardSignatures,
} from "a2a-lease";
import { createNodeFetch } from "a2a-lease/node";
import { createRedisLedger } from "a2a-lease/redis";
import { createPostgresLedger, createSqliteLedger, createSqlLedger } from "a2a-lease/sql";
import {
  answer,
  createLoopbackReceiver,
  createScriptedAgent,
  createTestCard,
  createTestClock,
  event,
  step,
} from "a2a-lease/testing";
import { createWebhookReceiver, toNodeListener } from "a2a-lease/webhook";
import { describe, expect, test } from "vitest";
import { taskOf } from "./lifecycle-setup.ts";

/** An object of options that is taken, and how it is given. */
type Door = readonly [what: string, give: (options: object) => unknown, within?: string];

const card = createTestCard({ capabilities: { streaming: true, pushNotifications: true } });
const agent = createScriptedAgent({ card });
const network = { fetch: agent.fetch };
const connect = (options: object = {}) => createClient(agent.url, { ...network, ...options });
const within = (option: string): Door => [
  `createClient ${option}`,
  (options) => connect({ [option]: options }),
  `${option}.`,
];
const pin = pinCard(card as never);
const ledger = createMemoryLedger();
const jwt = { jwks: "https://a.example/keys", audience: "us", cardUrl: "https://a.example/card.json" };

const doors: readonly Door[] = [
  ["createClient", (options) => connect(options)],
  within("timeouts"),
  within("limits"),
  within("retries"),
  within("signatures"),
  within("addressPolicy"),
  within("requires"),
  within("immutable"),
  ["createClient posture", (options) => connect({ posture: { onDrift() {}, ...options } }), "posture."],
  ["createAgents", (options) => createAgents(options)],
  ["createAgents limits", (options) => createAgents({ limits: options }), "limits."],
  ["createAgents addressPolicy", (options) => createAgents({ addressPolicy: options }), "addressPolicy."],
  ["createAgents requires", (options) => createAgents({ requires: options }), "requires."],
  ["pinCard", (options) => pinCard(card as never, options)],
  [
    "pinCard addressPolicy",
    (options) => pinCard(card as never, { addressPolicy: options }),
    "addressPolicy.",
  ],
  ["judgeCard", (options) => judgeCard(pin, card as never, {}, options)],
  ["judgeCard requirements", (options) => judgeCard(pin, card as never, options), "requirements."],
  ["verifyCardSignatures", (options) => verifyCardSignatures(card as never, options), "options."],
  [
    "verifyCardSignatures limits",
    (options) => verifyCardSignatures(card as never, { limits: options }),
    "options.limits.",
  ],
  ["textPart", (options) => textPart("a", options)],
  ["dataPart", (options) => dataPart(1, options)],
  ["filePart", (options) => filePart(Uint8Array.of(1), options)],
  ["filePart of a Blob", (options) => filePart(new Blob(["a"]), options)],
  ["createMemoryLedger", (options) => createMemoryLedger(options)],
  ["ledger.list", (options) => ledger.list({ kind: "task", ...options }), "query."],
  ["createSqlLedger", (options) => createSqlLedger({ engine: "sqlite", dialect: {}, ...options } as never)],
  ["createSqliteLedger", (options) => createSqliteLedger({ path: "/nowhere/at/all", ...options })],
  [
    "createPostgresLedger",
    (options) => createPostgresLedger({ url: "postgres://127.0.0.1:1/a", ...options }),
  ],
  ["createRedisLedger", (options) => createRedisLedger({ url: "redis://127.0.0.1:1", ...options })],
  ["createNodeFetch", (options) => createNodeFetch(options)],
  ["createNodeFetch tls", (options) => createNodeFetch({ tls: options }), "tls."],
  ["createWebhookReceiver", (options) => createWebhookReceiver({ ledger, ...options })],
  ["createWebhookReceiver limits", (limits) => createWebhookReceiver({ ledger, limits }), "limits."],
  [
    "createWebhookReceiver verify",
    (options) => createWebhookReceiver({ ledger, verify: { ...jwt, ...options } }),
    "verify.",
  ],
  ["toNodeListener", (options) => toNodeListener(async () => new Response(), options)],
  ["createScriptedAgent", (options) => createScriptedAgent(options)],
  ["createScriptedAgent pushes", (options) => createScriptedAgent({ pushes: options }), "pushes."],
  ["agent.configure", (options) => createScriptedAgent().configure(options)],
  [
    "agent.rotateCard",
    (options) => createScriptedAgent().rotateCard((now) => now, { atMs: 1, ...options } as never),
  ],
  ["answer.honest", (options) => answer.honest(options)],
  ["answer.error", (options) => answer.error(-32001, "no", null, options)],
  ["answer.json", (options) => answer.json({}, options)],
  ["answer.stream", (options) => answer.stream([], options)],
  ["event.status", (options) => event.status("TASK_STATE_WORKING", options)],
  ["event.artifact", (options) => event.artifact("a", "b", options)],
  ["step.status", (options) => step.status("TASK_STATE_WORKING", options)],
  ["step.artifact", (options) => step.artifact("a", "b", options)],
  ["createTestClock", (options) => createTestClock(options)],
  ["createLoopbackReceiver", (options) => createLoopbackReceiver(options)],
];

const named = doors.map(([what, give, prefix = ""]) => ({ what, give, prefix }));

/** What is thrown, at once or by a promise. */
async function thrownBy(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("an option that is none is a TypeError that names it", () => {
  test.each(named)("of $what", async ({ give, prefix }) => {
    agent.clearTranscript();
    const error = await thrownBy(() => give({ misspeltt: "hunter2hunter2" }));
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(`${prefix}misspeltt: is no option here, wanted some of `);
    expect((error as Error).message.startsWith(prefix)).toBe(true);
    expect((error as Error).message).not.toContain("hunter2");
    expect(agent.transcript).toEqual([]);
  });

  const whole = named.filter(({ what }) => !/Ledger|agent.rotate|createLoopback|immutable/.test(what));
  test.each(whole)("and one that is undefined was not given: $what", async ({ give }) => {
    expect(await thrownBy(() => give({ misspeltt: undefined }))).toBeUndefined();
  });
});

describe("of what a client does", () => {
  const misspelt: object = { misspeltt: 1 };
  const url = "https://hook.example/a";

  test.each<[string, (client: Awaited<ReturnType<typeof connect>>) => unknown, string]>([
    ["watch", (client) => client.watch({ everyMs: 1, ...misspelt }), ""],
    ["watch of nothing", (client) => client.watch(undefined as never), "everyMs"],
    ["probe", (client) => client.probe({ message: "a", ...misspelt }), ""],
    [
      "probe of another capability",
      (client) => client.probe({ message: "a", capabilities: ["push" as never] }),
      "capabilities",
    ],
    [
      "probe of a receiver without a URL",
      (client) => client.probe({ message: "a", receiver: {} as never }),
      "receiver.url",
    ],
    ["renegotiate", (client) => client.renegotiate(misspelt), ""],
    ["renegotiate requires", (client) => client.renegotiate({ requires: misspelt }), "requires."],
    ["revalidate", (client) => client.revalidate(misspelt), ""],
    ["task", (client) => client.task("t", misspelt), ""],
    ["getTask", (client) => client.getTask({ id: "t" }, misspelt), ""],
    ["subscribeToTask", (client) => client.subscribeToTask({ id: "t" }, misspelt), ""],
    ["resume", (client) => client.resume("t", misspelt), ""],
    ["recover", (client) => client.recover("m", misspelt), ""],
    ["openIntents", (client) => client.openIntents(misspelt), ""],
    ["getExtendedAgentCard", (client) => client.getExtendedAgentCard(misspelt), ""],
    ["sendMessage requires", (client) => client.sendMessage("a", { requires: misspelt }), "requires."],
    [
      "sendMessage posture",
      (client) => client.sendMessage("a", { posture: { onDrift() {}, ...misspelt } as never }),
      "posture.",
    ],
    [
      "sendMessage compare",
      (client) => client.sendMessage("a", { compare: "structural" as never }),
      "compare",
    ],
    ["sendMessage blocking", (client) => client.sendMessage("a", { blocking: "yes" as never }), "blocking"],
    ["delegate until", (client) => client.delegate("a", { until: "over" as never }), "until"],
    ["delegate onUpdate", (client) => client.delegate("a", { onUpdate: {} as never }), "onUpdate"],
    ["delegate deadlineMs", (client) => client.delegate("a", { deadlineMs: "9" as never }), "deadlineMs"],
    [
      "sendMessage pushNotificationConfig",
      (client) => client.sendMessage("a", { pushNotificationConfig: { url, ...misspelt } }),
      "",
    ],
    [
      "sendMessage pushNotificationConfig.authentication",
      (client) =>
        client.sendMessage("a", {
          pushNotificationConfig: { url, authentication: { scheme: "Bearer", ...misspelt } },
        }),
      "authentication.",
    ],
  ])("%s", async (_what, call, named) => {
    const client = await connect();
    agent.clearTranscript();
    const error = await thrownBy(() => call(client));
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(
      named === "" || named.endsWith(".") ? `${named}misspeltt: is no option` : `${named}: `,
    );
    expect(agent.transcript).toEqual([]);
  });

  test("a configuration may be given as the agent showed it", async () => {
    const client = await connect();
    const task = taskOf(await client.sendMessage("hello"));
    const shown = await task.pushConfigs.create({ url });
    const again = { ...shown, tenant: "" };
    expect(await task.pushConfigs.create(again)).toMatchObject({ id: shown.id, taskId: task.id });
  });
});

describe("an option of another kind is a TypeError that names it", () => {
  test.each<[string, ClientOptions]>([
    ["timeouts", { timeouts: null as never }],
    ["timeouts.idleMs", { timeouts: { idleMs: "60" as never } }],
    ["limits", { limits: 5 as never }],
    ["retries", { retries: true as never }],
    ["retries", { retries: null as never }],
    ["signatures", { signatures: "require" as never }],
    ["signatures.keys", { signatures: { keys: "pem" as never } }],
    ["signatures.mode", { signatures: { mode: "strict" as never } }],
    ["addressPolicy.allowPrivate", { addressPolicy: { allowPrivate: "yes" as never } }],
    ["immutable", { immutable: "yes" as never }],
    ["acceptDigests", { acceptDigests: "sha256:0" as never }],
    ["allowedOrigins", { allowedOrigins: "https://a.example" as never }],
    ["principal", { principal: 7 as never }],
    ["fetch", { fetch: {} as never }],
    ["random", { random: 0.5 as never }],
    ["trust", { trust: "must" as never }],
    ["requires.skills", { requires: { skills: "a" as never } }],
    ["requires.streaming", { requires: { streaming: "yes" as never } }],
  ])("%s: %j", async (name, options) => {
    const error = await thrownBy(() => connect(options));
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(new RegExp(`^${name}: `));
  });

  test("and credentials by scheme without createCredentials name it", async () => {
    const error = await thrownBy(() => connect({ credentials: { hdr: () => undefined } }));
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(/^credentials: found neither .* createCredentials/);
  });

  test("limits that are undefined are the usual ones", async () => {
    const client = await connect({
      limits: { cardBytes: undefined, pages: undefined },
      retries: { firstMs: undefined },
    });
    expect(client.lease.stale).toBe(false);
    createWebhookReceiver({ ledger, limits: { bodyBytes: undefined } as never });
    createAgents({ pin: undefined } as never);
  });
});
