/**
 * One agent, two clients, and a card that changes between discovery and the next call.
 *
 * The agent is a real one, made with the server of the official SDK, on a loopback port. Every line that is printed is
 * read off what happened; the program fails when it happened otherwise.
 */
import assert from "node:assert/strict";
import { Role, TaskState } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import { CardDriftError, createClient, type TaskStream } from "a2a-lease";
import { skill, startRealAgent } from "./support/real-agent.ts";

const report =
  "The river rose two metres on Monday night. Two bridges and the market square were closed. " +
  "Volunteers filled four thousand sandbags. Nobody was hurt, and the schools open again on Thursday.";

const startedMs = performance.now();
await using agent = await startRealAgent({ paceMs: 250 });
const messageCount = () => agent.seen.filter(({ what }) => /^Send\w*Message$/.test(what)).length;
const cardReadCount = () => agent.seen.filter(({ what }) => what === "card").length;

heading("1  Both clients discover the agent and plan on its card");
const client = await createClient(agent.url, { requires: { skills: ["summarize"], streaming: true } });
const official = await new ClientFactory().createFromUrl(agent.url);
assert.deepEqual(client.pin.skills, ["summarize"]);
say("card", `${client.card.name} ${client.card.version}, skills: ${client.pin.skills.join(", ")}`);
say("plan", "have a report summarized, watch it being done");

heading("2  a2a-lease delegates and watches");
assert.equal(await watch(await client.sendStreamingMessage(report)), "TASK_STATE_COMPLETED");

heading("3  The agent rotates its card, and tells nobody");
agent.rotateCard((card) => ({
  ...card,
  version: "2.0.0",
  description: "Extracts keywords and writes abstracts. Keeps texts for 30 days.",
  skills: [skill("keywords", "Lists what a text is about"), skill("abstract", "Makes a long text short")],
}));
say(
  "card",
  `${agent.card.name} ${agent.card.version}, skills: ${agent.card.skills.map(({ id }) => id).join(", ")}`,
);
say("", agent.card.description);

heading("4  The same step with the official client, @a2a-js/sdk");
const sentBefore = messageCount();
const readsBefore = cardReadCount();
let answer = "";
let made: string | undefined;
let end: TaskState | undefined;
for await (const { payload } of official.sendMessageStream(officialRequest(report))) {
  if (payload?.$case === "statusUpdate") end = payload.value.status?.state;
  if (payload?.$case !== "artifactUpdate") continue;
  made = payload.value.artifact?.name;
  for (const { content } of payload.value.artifact?.parts ?? []) answer += content?.value ?? "";
}
const known = await official.getAgentCard();
assert.deepEqual([messageCount() - sentBefore, cardReadCount() - readsBefore], [1, 0]);
assert.equal(end, TaskState.TASK_STATE_COMPLETED);
assert.equal(made, "keywords");
assert.deepEqual([known.version, known.skills.map(({ id }) => id)], ["1.0.0", ["summarize"]]);
say("checked", "nothing: the card was not read again");
say("sent", "the report");
say("error", "none");
say("answer", `COMPLETED, made by the skill "${made}":`);
say("  text", answer);
say("its card", `still ${known.version}, skills: ${known.skills.map(({ id }) => id).join(", ")}`);

heading("5  The same step with a2a-lease");
const error = await client.sendStreamingMessage(report).then(
  () => assert.fail("a message was sent under a card that had changed"),
  (thrown: unknown) => thrown,
);
assert.ok(error instanceof CardDriftError);
assert.equal(error.reason, "skill-withdrawn");
assert.deepEqual([messageCount() - sentBefore, cardReadCount() - readsBefore], [1, 1]);
say("checked", "the card, once");
say("sent", "nothing");
say("error", `${error.name}, reason: ${error.reason}, next step: ${error.nextStep}`);
for (const { impact, kind, before, after } of error.drift.changes) {
  const what = [before, after].filter((value) => value !== undefined).map(label);
  say("changed", `${kind.padEnd(15)} ${what.join(" -> ")}${impact === "breaking" ? "  (breaking)" : ""}`);
}
for (const { requirement, wanted } of error.drift.breaks) say("broken", `${requirement}: ${wanted}`);
assert.deepEqual(
  error.drift.breaks.map(({ wanted }) => wanted),
  ["summarize"],
);

heading('6  The planner reads the changes, settles for "abstract", and renegotiates');
await client.renegotiate({ requires: { skills: ["abstract"], streaming: true } });
assert.deepEqual(client.pin.skills, ["keywords", "abstract"]);
say("card", `${client.card.name} ${client.card.version}, skills: ${client.pin.skills.join(", ")}`);
const stream = await client.sendStreamingMessage(report, { metadata: { skill: "abstract" } });
assert.equal(await watch(stream), "TASK_STATE_COMPLETED");
assert.equal(stream.task?.artifacts[0]?.name, "abstract");

await client.close();
console.log(`\nAll of this happened, in ${((performance.now() - startedMs) / 1000).toFixed(1)} s.`);

/** Prints a stream as it comes, and says how it ended. */
async function watch(stream: TaskStream): Promise<string | undefined> {
  for await (const event of stream) {
    if ("task" in event) say("task", shortState(event.task.status.state));
    if ("statusUpdate" in event) say("task", shortState(event.statusUpdate.status.state));
    if (!("artifactUpdate" in event)) continue;
    for (const part of event.artifactUpdate.artifact.parts) if ("text" in part) say("  text", part.text);
  }
  return stream.task?.state;
}

/** A message as the official client wants it, with every member. */
function officialRequest(text: string) {
  const part = { content: { $case: "text" as const, value: text }, mediaType: "text/plain", filename: "" };
  const rest = { contextId: "", taskId: "", metadata: undefined, extensions: [], referenceTaskIds: [] };
  const parts = [{ ...part, metadata: undefined }];
  const message = { messageId: crypto.randomUUID(), role: Role.ROLE_USER, parts, ...rest };
  return { tenant: "", message, configuration: undefined, metadata: undefined };
}

function heading(text: string): void {
  console.log(`\n${text}`);
}

function say(what: string, text: string): void {
  console.log(`   ${what.padEnd(9)} ${text}`.trimEnd());
}

function shortState(state: string): string {
  return state.replace("TASK_STATE_", "");
}

/** A skill by its id, a text by its beginning. */
function label(value: unknown): string {
  const text = typeof value === "object" && value !== null && "id" in value ? value.id : value;
  return String(text).replace(/^(.{32}).+$/s, "$1…");
}
