import { answer, step, type TaskPlan } from "a2a-lease/testing";
import fc from "fast-check";
import { pickFrom } from "./caller.ts";
import { calls, canCall, operationOf, pick, textOf } from "./calls.ts";
import { cardNames, cards } from "./cards.ts";
import { callFaults, cardFaults } from "./faults.ts";
import type { World, WorldSettings } from "./world.ts";

type Need = (world: Readonly<World>) => boolean;

/** One line of a script: it says what it does, does it, and lets it go as far as it can; then everything must hold. */
class Line implements fc.AsyncCommand<World, World> {
  readonly #text: string;
  readonly #needs: Need | undefined;
  readonly #act: (world: World) => void | Promise<void>;

  constructor(text: string, act: (world: World) => void | Promise<void>, needs?: Need) {
    this.#text = text;
    this.#act = act;
    this.#needs = needs;
  }

  check(world: Readonly<World>): boolean {
    return this.#needs === undefined || this.#needs(world);
  }

  async run(world: World): Promise<void> {
    world.note(this.#text);
    await this.#act(world);
    await world.settle();
    world.check();
  }

  toString(): string {
    return this.#text;
  }
}

const cardName = fc.constantFrom(...cardNames);
const moment = fc.oneof(
  fc.constant(undefined),
  fc.record({ before: fc.constantFrom("card" as const, "call" as const), nth: fc.constantFrom(1, 2, 3) }),
);

/** The agent rotates its card, now or before some request. */
const rotation = fc
  .record({ to: cardName, when: moment })
  .map(
    ({ to, when }) =>
      new Line(`rotate to ${to}${when ? ` before ${when.before} ${when.nth}` : ""}`, ({ agent }) =>
        agent.rotateCard(cards[to], when),
      ),
  );

const cardTrouble = fc.constantFrom(...Object.entries(cardFaults));
const cardFault = cardTrouble.map(
  ([name, replies]) => new Line(`next card read <- ${name}`, ({ agent }) => agent.once("card", replies)),
);

/** Validators that do not move with the content. */
const lies = fc
  .boolean()
  .map(
    (liesWith304) =>
      new Line(`lies with 304: ${liesWith304}`, ({ agent }) => agent.configure({ liesWith304 })),
  );

/** What may happen to the card around a call: another one before its first or second reading, or trouble with it. */
const turn = fc.oneof(
  fc.constant({ text: "", act: () => {} }),
  fc.record({ to: cardName, nth: fc.constantFrom(1, 2) }).map(({ to, nth }) => ({
    text: `, rotating to ${to} before card ${nth}`,
    act: ({ agent }: World) => agent.rotateCard(cards[to], { before: "card", nth }),
  })),
  fc
    .record({ trouble: cardTrouble, nth: fc.constantFrom(1, 2) })
    .map(({ trouble: [name, replies], nth }) => ({
      text: `, card ${nth} <- ${name}`,
      act: ({ agent }: World) => agent.once("card", nth === 1 ? [] : [answer.honest()], replies),
    })),
);

/** A call that something happens to, and perhaps to the card too. */
const faultyCall = fc.tuple(calls, fc.nat(), turn).map(([call, index, { text, act }]) => {
  const operation = operationOf[call.kind];
  const fitting = callFaults.filter(({ fits }) => operation !== undefined && fits.includes(operation));
  const fault = fitting[index % Math.max(1, fitting.length)];
  const happens = fault ? ` <- ${fault.name}` : "";
  const run = (world: World) => {
    if (fault && operation) world.agent.once(operation, fault.behaviour);
    act(world);
    world.caller.call(call);
  };
  return new Line(`${textOf(call)}${happens}${text}`, run, ({ caller }) => canCall(call, caller));
});

/** Something that happens to the next request of an operation, whoever makes it. */
const waitingFault = fc
  .constantFrom(...callFaults.flatMap((fault) => fault.fits.map((operation) => ({ fault, operation }))))
  .map(({ fault: { name, behaviour }, operation }) => {
    const act = ({ agent }: World) => agent.once(operation, behaviour);
    return new Line(`next ${operation} <- ${name}`, act);
  });

const honestCall = calls.map((call) => {
  const act = ({ caller }: World) => caller.call(call);
  return new Line(textOf(call), act, ({ caller }) => canCall(call, caller));
});

/** What can happen to every call of a burst; nothing, twice as often. */
const epidemic = fc.constantFrom(
  undefined,
  undefined,
  { name: "-32602", reply: answer.error(-32602, "scripted") },
  { name: "HTTP 401", reply: answer.http(401) },
  { name: "-32603", reply: answer.error(-32603, "scripted") },
);

/** Several calls in one tick. */
const burst = fc
  .record({ group: fc.array(calls, { minLength: 2, maxLength: 5 }), fault: epidemic })
  .map(({ group, fault }) => {
    const happens = fault ? `, all of them <- ${fault.name}` : "";
    return new Line(`at once: ${group.map(textOf).join("; ")}${happens}`, async (world) => {
      const stop = fault ? world.agent.on("call", fault.reply) : () => {};
      for (const call of group) world.caller.call(call);
      await world.settle();
      stop();
    });
  });

const steps = {
  working: step.working("still at it"),
  "a question": step.inputRequired("Which region?"),
  "a demand for credentials": step.authRequired("Log in first"),
  "a rejection": step.rejected("Not here"),
  completion: step.completed(),
  failure: step.failed("No"),
  "an artifact": step.artifact("a", "text", { append: true }),
  "a state unheard of": step.status("TASK_STATE_PAUSED"),
} as const;
const stepNames = Object.keys(steps) as readonly (keyof typeof steps)[];

const hasTask: Need = ({ agent }) => agent.tasks.list().length > 0;

/** A task goes on, behind everybody's back or to an open stream. */
const taskStep = fc.tuple(fc.constantFrom(...stepNames), pick).map(([name, index]) => {
  const act = ({ agent }: World) => {
    const task = pickFrom(agent.tasks.list(), index);
    if (task) agent.step(task.id, steps[name]);
  };
  return new Line(`task ${index} goes on with ${name}`, act, hasTask);
});

const forgetting = pick.map((index) => {
  const act = ({ agent }: World) => {
    const task = pickFrom(agent.tasks.list(), index);
    if (task) agent.tasks.forget(task.id);
  };
  return new Line(`task ${index} is forgotten`, act, hasTask);
});

const plans: Readonly<Record<string, TaskPlan>> = {
  "works on": [step.working(), step.hold()],
  completes: [step.working(), step.artifact("a", "text"), step.completed()],
  "asks at once": [step.inputRequired("Which region?"), step.working(), step.hold()],
  "is rejected": [step.rejected("Not here")],
};
const taskPlan = fc
  .constantFrom(...Object.entries(plans))
  .map(([name, plan]) => new Line(`the next task ${name}`, ({ agent }) => agent.planNext(plan)));

const streamsEnd = fc
  .constantFrom("close" as const, "cut" as const)
  .map((how) => new Line(`the agent ends its streams: ${how}`, ({ agent }) => agent.endStreams(how)));

const time = fc
  .constantFrom(1, 250, 2_000, 10_000, 30_000, 60_000, 300_000)
  .map((ms) => new Line(`${ms} ms pass`, (world) => world.pass(ms)));

const abort = pick.map((index) => {
  const act = ({ caller }: World) => caller.abort(index);
  return new Line(`abort ${index}`, act, ({ caller }) => caller.isBusy);
});

const leave = fc.tuple(pick, fc.constantFrom("close" as const, "return" as const)).map(([index, how]) => {
  const act = ({ caller }: World) => caller.leave(index, how);
  return new Line(`stream ${index}: ${how}`, act, ({ caller }) => caller.hasStream);
});

const repeated = (weight: number, line: fc.Arbitrary<Line>) => Array.from({ length: weight }, () => line);

/** Scripts of up to so many lines. */
export function scripts(maxCommands: number) {
  const lines = [
    ...repeated(2, rotation),
    ...repeated(1, cardFault),
    ...repeated(1, lies),
    ...repeated(8, faultyCall),
    ...repeated(4, honestCall),
    ...repeated(2, burst),
    ...repeated(1, waitingFault),
    ...repeated(2, taskStep),
    ...repeated(1, forgetting),
    ...repeated(1, taskPlan),
    ...repeated(1, streamsEnd),
    ...repeated(3, time),
    ...repeated(1, abort),
    ...repeated(1, leave),
  ];
  // Bias makes scripts short, and a short one meets little.
  return fc.noBias(fc.commands<World, World, false>(lines, { maxCommands, size: "max" }));
}

/** How a run begins and ends. */
export const worldSettings: fc.Arbitrary<WorldSettings> = fc.record({
  posture: fc.constantFrom("fail-closed" as const, "fail-closed" as const, "degrade" as const),
  compare: fc.constantFrom("content" as const, "structure" as const),
  leaseTermMs: fc.constantFrom(0, 0, 30_000),
  fullCheckEveryMs: fc.constantFrom(60_000, Number.POSITIVE_INFINITY),
  card: fc.constantFrom("the first" as const, "a spare interface" as const),
  credentials: fc.constantFrom(
    "none" as const,
    "none" as const,
    "fresh" as const,
    "fresh" as const,
    "slow" as const,
  ),
  etag: fc.constantFrom("content" as const, "weak-version" as const),
  ending: fc.constantFrom("abort" as const, "close" as const),
});
