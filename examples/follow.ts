/**
 * A terminal view of a long task: a live line with its progress, its output as it grows, and a lost connection that is
 * picked up again, shown as they happen. The agent is scripted, and reached over real HTTP.
 */
import assert from "node:assert/strict";
import { type Artifact, createClient } from "a2a-lease";
import { createScriptedAgent, step } from "a2a-lease/testing";

const pages = [
  "The river rose two metres on Monday night. ",
  "Two bridges and the market square were closed. ",
  "Volunteers filled four thousand sandbags. ",
  "Nobody was hurt, and the schools open again on Thursday.",
];
const agent = createScriptedAgent({
  plan: pages.flatMap((page, index) => [
    step.working(`page ${index + 1} of ${pages.length}`),
    step.wait(250),
    step.artifact("brief", page, { append: index > 0, lastChunk: index === pages.length - 1 }),
    step.wait(250),
    ...(index === pages.length - 1 ? [step.completed()] : []),
  ]),
});
const port = await agent.listen();
// Chance decides how long a lost connection is left alone. Here it is long enough to miss something.
const client = await createClient(port.url, { random: () => 0.9 });

const startedMs = performance.now();
const view = { state: "", says: "", text: "" };
const shown: string[] = [];
let isLive = process.stdout.isTTY;

/** The line at the bottom, drawn anew all the time; a log gets none. */
function draw(): void {
  if (!isLive) return;
  const [, done = 0, all = 1] = /(\d+) of (\d+)/.exec(view.says) ?? [];
  const bar = "#".repeat(Math.round((Number(done) / Number(all)) * 20)).padEnd(20, ".");
  process.stdout.write(
    `\r\x1b[K[${bar}] ${view.state} ${view.says}, ${view.text.length} characters, ${seconds()}`,
  );
}

/** A line that stays. */
function print(what: string, text: string): void {
  shown.push(what);
  if (isLive) process.stdout.write("\r\x1b[K");
  console.log(`${seconds()}  ${what.padEnd(9)} ${text}`.trimEnd());
  draw();
}

function seconds(): string {
  return `${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
}

function show({ artifactId, parts }: Artifact): void {
  for (const part of parts) {
    if (!("text" in part)) continue;
    view.text += part.text;
    print(artifactId, part.text);
  }
}

client.on("stream-cut", ({ eventCount }) =>
  print("cut", `the connection is gone after ${eventCount} events`),
);
client.on("stream-resumed", ({ streamCount }) => print("resumed", `by stream ${streamCount}`));
const ticking = setInterval(draw, 100);

const reply = await client.sendMessage("Summarize the report, page by page.");
assert.ok("task" in reply);
const { task } = reply;
for await (const update of task.follow()) {
  if (update.kind === "snapshot" || update.kind === "status") {
    const { state, message } = update.task.status;
    view.state = state.replace("TASK_STATE_", "").toLowerCase();
    view.says = message?.parts.map((part) => ("text" in part ? part.text : "")).join("") ?? "";
    print(view.state, view.says);
    // Something between the two loses patience, and closes the connection.
    if (view.says === "page 2 of 4") agent.endStreams("close");
  }
  if (update.kind === "snapshot") update.task.artifacts?.forEach(show);
  if (update.kind === "artifact") show(update.artifact);
  if (update.kind === "gap") print("missed", "while the connection was gone:");
  if (update.kind === "artifact-replaced") {
    view.text = "";
    print("replaced", "what was there of it is void:");
    show(update.artifact);
  }
}
clearInterval(ticking);
if (isLive) process.stdout.write("\r\x1b[K");
isLive = false;
const outcome = await task.result();

print("result", `${outcome.status}, ${view.text.length} characters, nothing lost and nothing twice`);
assert.equal(outcome.status, "completed");
assert.equal(view.text, pages.join(""));
assert.equal(outcome.text, view.text);
assert.deepEqual(
  ["cut", "resumed", "missed"].map((what) => shown.includes(what)),
  [true, true, true],
);
assert.equal(agent.acceptedMessageIds.length, 1);
await client.close();
await port.close();
