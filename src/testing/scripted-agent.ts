import type { AgentCard } from "../model/card.ts";
import type { OperationName } from "../model/operations.ts";
import type { Task } from "../model/task.ts";
import type { Clock } from "../util/clock.ts";
import { createAgentCore } from "./agent-core.ts";
import { createCardDesk, type NextCard } from "./card-desk.ts";
import type { EventSink } from "./event-sink.ts";
import type { AgentRequest } from "./exchange.ts";
import { type AgentFetch, createAgentFetch } from "./in-process.ts";
import { type AgentListener, listenOnLoopback } from "./loopback.ts";
import { resolveOptions, type ScriptedAgentOptions } from "./options.ts";
import { createPushSender, type PushAttempt } from "./push-sender.ts";
import { createRotations, type RotationMoment } from "./rotations.ts";
import { type Behaviour, createScriptBook, type Scripted } from "./script-book.ts";
import { type AgentSettings, changeSettings } from "./settings.ts";
import type { TaskPlan, TaskStep } from "./steps.ts";
import { type AgentTasks, createTaskDesk } from "./task-desk.ts";
import { createTranscript, type TranscriptEntry } from "./transcript.ts";

/**
 * An A2A 1.0 agent that does as it is told, for tests of clients and of the planners above them. Unscripted it is an
 * honest agent over JSON-RPC and HTTP+JSON that keeps real tasks and calls webhooks; scripts make it rotate its card, fail, lie, stall and forget.
 */
export interface ScriptedAgent {
  /** Its origin for the in-process `fetch`. */
  readonly url: string;
  /** The clock it lives by. */
  readonly clock: Clock;
  /** Reaches the agent without a network; hand it to a client as its `fetch`. Other origins can't be reached. */
  readonly fetch: AgentFetch;
  /** Serves the agent on a free loopback port too. Interface URLs on the card are moved to that port. Needs Node. */
  listen(): Promise<AgentListener>;

  /** The card in force, unchecked. */
  readonly card: AgentCard;
  /**
   * Puts another card in force: now, before a certain request, or at a certain time.
   *
   * @throws TypeError for an `nth`, `atMs` or `afterMs` that can't be.
   */
  rotateCard(next: NextCard, when?: RotationMoment): void;
  /**
   * Changes settings.
   *
   * @throws TypeError for a setting that does not exist.
   */
  configure(changes: AgentSettings): void;

  /**
   * Scripts all requests of a kind: `"card"`, one operation, or `"call"` for all calls that have no script of their
   * own. Returns the way to take it back.
   *
   * @throws TypeError when `what` is no such kind.
   */
  on<W extends Scripted>(what: W, behaviour: Behaviour<W>): () => void;
  /** Scripts the next requests of a kind, one behaviour each, before what `on` says. */
  once<W extends Scripted>(what: W, ...behaviours: readonly (Behaviour<W> | readonly Behaviour<W>[])[]): void;
  /** Takes back all that is scripted for a kind. */
  off(what: Scripted): void;

  /** What every new task goes through from now on. */
  plan(plan: TaskPlan): void;
  /** What only the next new task goes through; calls queue up. */
  planNext(plan: TaskPlan): void;
  /**
   * Without steps: the task's plan goes on past its hold, wait or question. With steps: they are done at once, and
   * the plan stays where it is. Open streams are told. Returns the task.
   *
   * @throws TypeError when there is no such task, or when nothing is left of its plan.
   */
  step(taskId: string, ...steps: readonly TaskStep[]): Task;
  /** Its tasks. */
  readonly tasks: AgentTasks;
  /** Ends all open streams: as a clean end of the body, or as a broken connection. The tasks live on. */
  endStreams(how: "close" | "cut"): void;

  /** Every request so far, in order. */
  readonly transcript: readonly TranscriptEntry[];
  /** The card reads in the transcript. */
  cardReads(): readonly TranscriptEntry[];
  /** The calls in the transcript, of one operation or of all. */
  calls(operation?: OperationName): readonly TranscriptEntry[];
  /** Forgets the transcript, and the accepted message ids with it. */
  clearTranscript(): void;
  /** Every attempt to deliver a push notification, in order. */
  readonly pushes: readonly PushAttempt[];
  /**
   * Resolves when no push notification is on its way any more: each was delivered, or given up after its retries.
   * Those that `pushes.reverse` gathers do not count.
   *
   * @throws what `pushes.edit` threw.
   */
  pushesSettled(): Promise<void>;
  /** Ids of the messages that the agent took, in order; one that it took twice is there twice. */
  readonly acceptedMessageIds: readonly string[];
  /** Streams that are open right now. */
  readonly openStreamCount: number;
  /** Requests that are not answered in full, open streams included. */
  readonly openRequestCount: number;
}

/**
 * Makes a scripted agent.
 *
 * @example
 * ```ts
 * const clock = createTestClock();
 * const agent = createScriptedAgent({ clock });
 * agent.rotateCard((card) => ({ ...card, capabilities: {} }), { atMs: clock.now() + 40_000 });
 * agent.planNext([step.working(), step.inputRequired("Which region?"), step.completed()]);
 * agent.once("GetTask", answer.http(503), answer.acceptThenReset());
 * const client = await createClient(agent.url, { fetch: agent.fetch, clock });
 * // … drive the planner, then look at agent.transcript, agent.acceptedMessageIds and agent.openRequestCount
 * ```
 *
 * @throws TypeError naming the option that can't be.
 */
export function createScriptedAgent(given: ScriptedAgentOptions = {}): ScriptedAgent {
  const options = resolveOptions(given);
  const { clock, url } = options;
  let settings = options.settings;
  const book = createScriptBook();
  const cards = createCardDesk(clock, () => settings, { card: options.card, agentUrl: url });
  const rotations = createRotations(clock, cards);
  const sender = createPushSender(clock, () => settings.pushes, options.pushFetch);
  const desk = createTaskDesk(clock, () => settings, sender.notify);
  if (options.plan) desk.plan(options.plan, false);
  const transcript = createTranscript(clock);
  const streams = new Set<EventSink>();
  const pending = new Set<AgentRequest>();
  const acceptedMessageIds: string[] = [];
  const handle = createAgentCore({
    ...{ options, settings: () => settings, book, cards, rotations, desk },
    ...{ transcript, streams, pending, acceptedMessageIds },
  });

  return {
    url,
    clock,
    fetch: createAgentFetch(url, handle),
    listen: () => listenOnLoopback(handle),
    get card() {
      rotations.byTime();
      return cards.current();
    },
    rotateCard(next, when) {
      if (when) rotations.schedule(next, when);
      else cards.rotate(next, clock.now());
    },
    configure(changes) {
      settings = changeSettings(settings, changes);
    },
    on: book.on,
    once: (what, ...behaviours) => book.once(what, behaviours),
    off: book.off,
    plan: (plan) => desk.plan(plan, false),
    planNext: (plan) => desk.plan(plan, true),
    step(taskId, ...steps) {
      const record = desk.find(taskId);
      if (!record) throw new TypeError(`taskId names no task of this agent, found ${JSON.stringify(taskId)}`);
      if (steps.length > 0) desk.apply(record, steps);
      else if (record.steps.length > 0) desk.run(record);
      else throw new TypeError(`taskId: nothing is left of the plan of ${taskId}; say which steps to do`);
      return record.task;
    },
    tasks: desk.tasks,
    endStreams(how) {
      for (const sink of [...streams]) sink.end(how);
    },
    get transcript() {
      return transcript.entries();
    },
    cardReads: () => transcript.entries().filter(({ kind }) => kind === "card"),
    calls: (operation) =>
      transcript
        .entries()
        .filter((entry) => entry.kind === "call" && (!operation || entry.operation === operation)),
    clearTranscript() {
      transcript.clear();
      acceptedMessageIds.length = 0;
    },
    get pushes() {
      return sender.attempts();
    },
    pushesSettled: sender.settled,
    get acceptedMessageIds() {
      return [...acceptedMessageIds];
    },
    get openStreamCount() {
      return streams.size;
    },
    get openRequestCount() {
      return streams.size + pending.size;
    },
  };
}
