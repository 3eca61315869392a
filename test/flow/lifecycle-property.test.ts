import { type ClientOptions, LifecycleMismatchError, type TaskUpdate } from "a2a-lease";
import { answer } from "a2a-lease/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lives, type Noise, noises, type Step } from "../lifecycle/lives.ts";
import { dateOf } from "../lifecycle/look.ts";
import { caught } from "./caught.ts";
import { kindsOf, setUp } from "./lifecycle-setup.ts";

const runs = { numRuns: Number(process.env.FC_RUNS ?? 60) };
const place = { taskId: "t1", contextId: "c1" };

/** A piece of an artifact between two steps. */
interface Piece {
  readonly after: number;
  readonly artifactId: string;
  readonly append: boolean;
}

const pieces: fc.Arbitrary<readonly Piece[]> = fc.array(
  fc.record({ after: fc.nat(20), artifactId: fc.constantFrom("a", "b"), append: fc.boolean() }),
  { maxLength: 6 },
);

type Artifact = { artifactId: string; parts: { text: string }[] };

function statusOf({ state, at, id }: Step) {
  const message = { messageId: id, role: "ROLE_AGENT", parts: [{ text: id }] };
  return { state: `TASK_STATE_${state}`, timestamp: dateOf(at), message };
}

/** A life as the wire tells it: the events, with noise in between, and the task as it is at the end. */
function tell(life: readonly Step[], grown: readonly Piece[], added: readonly Noise[]) {
  const artifacts: Artifact[] = [];
  const events: object[] = [];
  let count = 0;
  const taskAt = (step: Step) => ({
    task: { id: "t1", contextId: "c1", status: statusOf(step), artifacts: structuredClone(artifacts) },
  });
  life.forEach((step, index) => {
    events.push(index === 0 ? taskAt(step) : { statusUpdate: { ...place, status: statusOf(step) } });
    if (index === life.length - 1) return;
    for (const piece of grown.filter(({ after }) => after % life.length === index)) {
      const known = artifacts.find(({ artifactId }) => artifactId === piece.artifactId);
      const append = piece.append && known !== undefined;
      const parts = [{ text: `${count++}` }];
      if (known) known.parts = append ? [...known.parts, ...parts] : parts;
      else artifacts.push({ artifactId: piece.artifactId, parts });
      events.push({
        artifactUpdate: { ...place, artifact: { artifactId: piece.artifactId, parts }, append },
      });
    }
    for (const { back, how } of added.filter(({ after }) => after % life.length === index)) {
      const earlier = life[index - (back % (index + 1))] as Step;
      if (how === "repeated event") events.push({ statusUpdate: { ...place, status: statusOf(earlier) } });
      // A whole task of an earlier date shows the artifacts of that date.
      else if (how === "lagging replica") events.push({ task: { ...taskAt(earlier).task, artifacts: [] } });
      else events.push(taskAt(step));
    }
  });
  return { events, task: taskAt(life.at(-1) as Step).task };
}

const shown = (update: TaskUpdate) => {
  if (update.kind === "status") return `${update.kind} ${update.status.state} ${update.status.timestamp}`;
  if (update.kind === "artifact") return `${update.kind} ${JSON.stringify(update.artifact)} ${update.append}`;
  return update.kind;
};

async function delegate(told: ReturnType<typeof tell>, options: ClientOptions = {}) {
  const { agent, connect, inTime, expectQuiet } = setUp();
  agent.tasks.put(told.task as never);
  agent.on("SendStreamingMessage", answer.stream(told.events));
  const client = await connect(options);
  const updates: string[] = [];
  const onUpdate = (update: TaskUpdate) => void updates.push(shown(update));
  const waiting = inTime(client.delegate("hello", { until: "terminal", onUpdate }));
  return { client, waiting, updates, expectQuiet };
}

describe("any legal life on a stream", () => {
  test("is told, and comes to the same task, whatever is repeated or lags in between", async () => {
    await fc.assert(
      fc.asyncProperty(lives({ isOver: true }), pieces, noises, async (life, grown, added) => {
        const plain = await delegate(tell(life, grown, []));
        const expected = await plain.waiting;
        const noisy = await delegate(tell(life, grown, added));
        const outcome = await noisy.waiting;

        expect(noisy.updates).toEqual(plain.updates);
        expect(outcome.status).toBe(expected.status);
        expect("task" in outcome && outcome.task).toEqual("task" in expected && expected.task);
        const { task } = tell(life, grown, []);
        expect("artifacts" in outcome && outcome.artifacts).toEqual(task.artifacts);
        expect(kindsOf(await noisy.client.task("t1")).filter((kind) => kind !== "completed-empty")).toEqual(
          [],
        );
        await noisy.expectQuiet();
      }),
      runs,
    );
  }, 60_000);
});

type Told = ReturnType<typeof tell>;
const status = (state: string, at: number, messageId: string, more: object = {}) => ({
  statusUpdate: {
    ...place,
    status: {
      state: `TASK_STATE_${state}`,
      timestamp: dateOf(at),
      message: { messageId, role: "ROLE_AGENT", parts: [{ text: "same" }] },
    },
    ...more,
  },
});

const edits: Readonly<Record<string, (told: Told, life: readonly Step[], index: number) => Told>> = {
  "known-state": (told, life, index) => insert(told, index, status("PAUSED", life[0]?.at ?? 0, "odd")),
  identity: (told, life, index) =>
    insert(told, index, status("WORKING", life[0]?.at ?? 0, "odd", { taskId: "t2" })),
  "stream-shape": (told, life) => ({
    ...told,
    events: [status("WORKING", life[0]?.at ?? 0, "odd"), ...told.events],
  }),
  progress: (told, life, index) =>
    insert(
      told,
      index,
      ...[1, 2, 3].map((round) => status("INPUT_REQUIRED", life[0]?.at ?? 0, `odd${round}`)),
    ),
  "artifact-order": (told, _life, index) => {
    const piece = { ...place, artifact: { artifactId: "odd", parts: [{ text: "x" }] }, lastChunk: true };
    return insert(told, index, { artifactUpdate: piece }, { artifactUpdate: { ...piece, append: true } });
  },
  "terminal-is-final": (told, life) => {
    const { task } = tell([{ state: "WORKING", at: (life.at(-1)?.at ?? 0) + 1, id: "odd" }], [], []);
    return { ...told, task };
  },
};

function insert(told: Told, index: number, ...more: readonly object[]): Told {
  const at = (index % Math.max(1, told.events.length - 1)) + 1;
  return { ...told, events: [...told.events.slice(0, at), ...more, ...told.events.slice(at)] };
}

describe.each(Object.entries(edits))("a life on a stream with one edit against %s", (rule, edit) => {
  test("breaks that rule", async () => {
    const isCompleted = (life: readonly Step[]) => life.at(-1)?.state === "COMPLETED";
    await fc.assert(
      fc.asyncProperty(lives({ isOver: true }), pieces, fc.nat(20), async (life, grown, index) => {
        // Only a completion is asked for once more.
        fc.pre(rule !== "terminal-is-final" || isCompleted(life));
        const { waiting, client, expectQuiet } = await delegate(edit(tell(life, grown, []), life, index));

        expect((await caught(waiting, LifecycleMismatchError)).rule).toBe(rule);
        expect(client.trust.level).toBe("card-trusted");
        await expectQuiet();
      }),
      runs,
    );
  }, 60_000);
});
