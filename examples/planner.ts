/**
 * A planner that gives one goal to two agents, and finishes although one of them changes its card in the middle of the
 * work and the other breaks a rule of a task's life. At the end it meets an error of every family.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type A2AClient, createAgents, createClient, createMemoryLedger, isA2ALeaseError } from "a2a-lease";
import { answer, createScriptedAgent, createTestCard, type ScriptedAgent, step } from "a2a-lease/testing";
import { skill, startRealAgent } from "./support/real-agent.ts";

const report = "The river rose two metres. The bridge was closed. Nobody was hurt.";

// #region decide
import type { AnyA2ALeaseError, CardDriftError } from "a2a-lease";

/** What the planner does about an error. */
type Decision =
  | { readonly next: "adopt"; readonly drift: CardDriftError }
  | { readonly next: "wait"; readonly waitMs: number }
  | { readonly next: "probe" | "replan" | "quarantine" | "ask" };

function decide(error: AnyA2ALeaseError): Decision {
  switch (error.code) {
    case "CARD_DRIFT": {
      // The agent may be at work on a message that left before the change was seen.
      if (error.retry === "unknown-outcome") return { next: "ask" };
      // Any other reason concerns what the plan requires, its safety, or who is called.
      const isHarmless = error.reason === "content-changed" && error.drift.breaks.length === 0;
      return isHarmless ? { next: "adopt", drift: error } : { next: "replan" };
    }
    case "SEND_OUTCOME_UNKNOWN":
      return { next: "ask" }; // whether to send again: two sends make two tasks
    case "LIFECYCLE_MISMATCH":
      return { next: "quarantine" };
    case "LIFECYCLE_NOT_TRUSTED":
      return { next: "probe" };
  }
  // All others say it themselves.
  switch (error.nextStep) {
    case "wait":
    case "recover": // a stream was lost, the task was not
      return { next: "wait", waitMs: error.retryAfterMs ?? 1_000 };
    case "ask-user":
    case "authenticate":
      return { next: "ask" };
    case "renegotiate":
    case "replan":
    case "give-up":
      return { next: "replan" };
  }
}
// #endregion decide

/** A part of the goal: what is to be done with a text, by a skill. */
interface Job {
  readonly skill: string;
  readonly text: string;
}

/** Agents that broke a rule get no more work. */
const quarantined = new Set<A2AClient>();
/** Jobs that only a person can decide about. */
const questions: string[] = [];
/** What happened, one line each. */
const log: string[] = [];

/** Has a job done by the first agent of the team that can. */
async function place(job: Job, team: readonly A2AClient[]): Promise<string> {
  for (const client of team) {
    if (quarantined.has(client) || !client.pin.skills.includes(job.skill)) continue;
    const result = await attempt(client, job);
    if (result === undefined) continue;
    log.push(`${job.skill}: done by ${client.card.name}`);
    return result;
  }
  throw new Error(`nobody is left for ${job.skill}`);
}

/** Has a job done by one agent; `undefined` when it is somebody else's turn. */
async function attempt(client: A2AClient, job: Job): Promise<string | undefined> {
  let taskId: string | undefined;
  let prepare: () => Promise<unknown> = async () => {};
  for (let tries = 1; tries <= 5; tries++) {
    try {
      await prepare();
      // Once there is a task, the work is not delegated a second time: the task is waited for.
      const outcome = taskId
        ? await (await client.task(taskId)).result()
        : await client.delegate(job.text, {
            requires: { skills: [job.skill] },
            metadata: { skill: job.skill },
            onUpdate: ({ task }) => {
              taskId = task.id;
            },
          });
      return outcome.status === "completed" || outcome.status === "answered" ? outcome.text : undefined;
    } catch (error) {
      // Anything else is a mistake in this program, or the reason of its own abort.
      if (!isA2ALeaseError(error)) throw error;
      const decision = decide(error);
      log.push(`${job.skill}: ${client.card.name}: ${error.code}, so ${decision.next}`);
      if (decision.next === "adopt") prepare = () => decision.drift.renegotiate();
      else if (decision.next === "wait") prepare = () => sleep(decision.waitMs);
      else if (decision.next === "probe") prepare = () => client.probe({ message: "A harmless text." });
      else {
        if (decision.next === "quarantine") quarantined.add(client);
        if (decision.next === "ask") questions.push(`${job.skill}: ${error.message}`);
        // Nobody waits for that task any longer. To leave it asks no card, and must not hold up the work.
        else if (taskId) client.cancelTask({ id: taskId }).catch(() => {});
        return undefined;
      }
    }
  }
  return undefined;
}

// The first agent is made with the official SDK. As soon as it has a task, it changes its card.
await using library = await startRealAgent({ paceMs: 100 });
library.rotateCard((card) => ({
  ...card,
  skills: [...card.skills, skill("keywords", "Lists the main words")],
}));
// The second one is scripted: it says that a task is completed, and then that it is still at work.
const desk = createScriptedAgent({
  card: createTestCard({
    name: "Keyword desk",
    skills: [{ id: "keywords", name: "Keywords", description: "Lists the main words", tags: ["text"] }],
  }),
  plan: [step.working("On it."), step.completed(), step.working("Still on it.")],
});
const port = await desk.listen();

const agents = createAgents();
const team = [await agents.get(port.url), await agents.get(library.url)];
const [deskClient, libraryClient] = team;
const stop = libraryClient?.on("lease-granted", ({ taskId }) => {
  if (taskId === undefined) return;
  stop?.();
  library.rotateCard((card) => ({ ...card, version: "2.0.0", description: "Keeps texts for 30 days." }));
});

const goal: readonly Job[] = [
  { skill: "summarize", text: report },
  { skill: "keywords", text: "Flooding closed schools, businesses, railways." },
];
const [summary, keywords] = await Promise.all(goal.map((job) => place(job, team)));

for (const line of log) console.log(line);
console.log({ summary, keywords });
assert.deepEqual(
  [summary, keywords],
  ["The river rose two metres. Nobody was hurt.", "flooding, schools, businesses, railways"],
);
assert.ok(log.includes("summarize: Reading room: CARD_DRIFT, so adopt"));
assert.ok(log.includes("keywords: Keyword desk: LIFECYCLE_MISMATCH, so quarantine"));
assert.deepEqual([...quarantined], [deskClient]);
assert.match(String(deskClient?.trust.record?.history.at(-1)?.reason), /terminal-is-final/);
assert.deepEqual(questions, []);
await agents.close();
await port.close();

/** An agent that fails in one way, and what the planner makes of it. */
type Drill = readonly [
  family: string,
  code: string,
  next: Decision["next"],
  fault: (agent: ScriptedAgent) => unknown,
];

const drills: readonly Drill[] = [
  ["card", "CARD_NOT_FOUND", "replan", (agent) => agent.on("card", answer.http(404))],
  [
    "lease",
    "CARD_DRIFT",
    "replan",
    (agent) => agent.rotateCard(createTestCard({ skills: [] }), { before: "card", nth: 2 }),
  ],
  ["lifecycle", "LIFECYCLE_MISMATCH", "quarantine", (agent) => agent.plan([step.status("TASK_STATE_BORED")])],
  ["protocol", "INVALID_PARAMS", "replan", (agent) => agent.on("call", answer.error(-32602, "no"))],
  [
    "transport",
    "HTTP_STATUS",
    "wait",
    (agent) => agent.on("call", answer.http(429, "", { "retry-after": "2" })),
  ],
  ["auth", "AUTHENTICATION", "ask", (agent) => agent.configure({ bearer: "another token" })],
  ["sending", "SEND_OUTCOME_UNKNOWN", "ask", (agent) => agent.on("call", answer.acceptThenReset())],
  ["ledger", "LEDGER_UNAVAILABLE", "wait", () => {}],
];
const fullDisk = { ...createMemoryLedger(), read: () => Promise.reject(new Error("the disk is full")) };

for (const [family, code, next, fault] of drills) {
  const agent = createScriptedAgent();
  fault(agent);
  try {
    const client = await createClient(agent.url, {
      fetch: agent.fetch,
      requires: { skills: ["summarize"] },
      ...(family === "ledger" ? { ledger: fullDisk } : {}),
    });
    await client.delegate(report);
    assert.fail(`wanted ${code}`);
  } catch (error) {
    if (!isA2ALeaseError(error)) throw error;
    assert.deepEqual([error.code, decide(error).next], [code, next]);
    console.log(`${family}: ${code}, so ${next}`);
  }
}
