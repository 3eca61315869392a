import {
  type A2AClient,
  type CallOptions,
  type CardDigests,
  type CredentialProvider,
  createClient,
  type StreamResponse,
  type TaskHandle,
  type TaskStream,
} from "a2a-lease";
import {
  createScriptedAgent,
  createTestClock,
  step as plan,
  type ScriptedAgent,
  type TestClock,
} from "a2a-lease/testing";
import { type CardName, cards, rpcPaths } from "./cards.ts";
import { complaintsOf, quietEnd } from "./invariants.ts";
import {
  endOf,
  type KnownStatus,
  type RunRecord,
  type RunSettings,
  type Step,
  type StepKind,
} from "./record.ts";
import { createRecorder, type Open, statusOf, stepHeader } from "./recorder.ts";
import { traceOf } from "./trace.ts";

/** How a run begins, and how it ends. */
export interface WorldSettings extends RunSettings {
  readonly card: CardName;
  /** How the card's ETag is made. */
  readonly etag: "content" | "weak-version";
  /** What ends everything that is still under way: its signals, or the closing of the client. */
  readonly ending: "abort" | "close";
}

/** A call that a script asks for. Handles, streams and tasks are counted from the newest one, in a circle. */
export interface Call {
  readonly kind: Exclude<StepKind, "create">;
  readonly pick: number;
  /** Whether a send waits until its task is settled. */
  readonly isBlocking?: boolean;
  /** Budget of the whole call. */
  readonly timeoutMs?: number | undefined;
  /** How many events are read off a stream, at once when it is opened too. */
  readonly count?: number;
}

interface Held {
  readonly name: string;
  readonly handle: TaskHandle;
}

interface OpenStream {
  readonly opener: string;
  readonly stream: TaskStream;
  readonly events: AsyncIterator<StreamResponse>;
  readonly holder: string;
  readonly pin: CardDigests;
  isRead: boolean;
  isOver: boolean;
}

/** Carries a step out; resolves to the handle that came of it. */
type Run = (options: CallOptions, id: string) => Promise<TaskHandle | undefined>;

type Begin = Pick<Step, "kind" | "label"> &
  Partial<Pick<Step, "holder" | "pin" | "taskId" | "stream" | "before">>;

/** A client, an agent and their clock, and what the script of a run does with them. */
export class World {
  readonly settings: WorldSettings;
  readonly clock: TestClock = createTestClock();
  readonly agent: ScriptedAgent;
  readonly #recorder: ReturnType<typeof createRecorder>;
  readonly #steps: Open<Step>[] = [];
  readonly #aborts = new Map<string, AbortController>();
  readonly #ends = new Map<string, Promise<void>>();
  readonly #held: Held[] = [];
  readonly #streams: OpenStream[] = [];
  readonly #waitingForCredentials = new Set<() => void>();
  readonly #script: { readonly at: number; readonly line: string }[] = [];
  readonly #unhandled: readonly unknown[];
  #client: A2AClient | undefined;
  #edition = 1;
  #isSlow = false;
  #tokens = 0;

  constructor(settings: WorldSettings, unhandled: readonly unknown[]) {
    this.settings = settings;
    this.#unhandled = unhandled;
    const { card, etag } = settings;
    this.agent = createScriptedAgent({ clock: this.clock, card: cards[card], rpcPath: rpcPaths, etag });
    this.agent.plan([plan.working(), plan.hold()]);
    const known = (taskId: string) => this.#known(taskId);
    this.#recorder = createRecorder({ clock: this.clock, fetch: this.agent.fetch, known });
  }

  /** Makes the client and sends a first message. */
  async open(): Promise<void> {
    const { settings, clock, agent } = this;
    const { posture, compare, leaseTermMs, fullCheckEveryMs, credentials } = settings;
    this.#begin({ kind: "create", label: "createClient()" }, async () => {
      this.#client = await createClient(agent.url, {
        ...{ fetch: this.#recorder.fetch, clock, compare, leaseTermMs, fullCheckEveryMs },
        posture: posture === "degrade" ? { onDrift: "degrade", restartable: true } : posture,
        ...(credentials === "none" ? {} : { credentials: this.#credentials }),
      });
      return undefined;
    });
    await this.settle();
    this.call({ kind: "send", pick: 0 });
    await this.settle();
    this.#isSlow = credentials === "slow";
  }

  get record(): RunRecord {
    return { settings: this.settings, exchanges: this.#recorder.exchanges, steps: this.#steps };
  }

  /** Whether there is something that a call could be made on. */
  has(what: "handle" | "stream" | "task" | "something to abort"): boolean {
    if (what === "handle") return this.#held.length > 0;
    if (what === "task") return this.agent.tasks.list().length > 0;
    if (what === "something to abort") return this.#abortable().length > 0;
    return this.#streams.some(({ isOver }) => !isOver);
  }

  /** Notes a line of the script, for the trace. */
  note(line: string): void {
    this.#script.push({ at: this.#recorder.next(), line });
  }

  /** Begins a call, without waiting for it. */
  call(call: Call): Step | undefined {
    const client = this.#client;
    if (!client) return undefined;
    const { kind, pick } = call;
    const plan = { holder: `plan-${this.#edition}`, pin: client.pin };
    const text = `message ${this.#steps.length}`;
    const budget = call.timeoutMs === undefined ? {} : { timeoutMs: call.timeoutMs };
    switch (kind) {
      case "send": {
        const blocking = call.isBlocking === true;
        const label = `client.sendMessage(${blocking ? "blocking" : ""})`;
        return this.#begin({ kind, label, ...plan }, async (options) => {
          const reply = await client.sendMessage(text, { ...options, ...budget, blocking });
          return "task" in reply ? reply.task : undefined;
        });
      }
      case "stream":
        return this.#begin({ kind, label: "client.sendStreamingMessage()", ...plan }, async (options, id) =>
          this.#keep(
            id,
            plan,
            await client.sendStreamingMessage(text, { ...options, ...budget }),
            call.count,
          ),
        );
      case "find": {
        const ids = ["ghost", ...this.agent.tasks.list().map((task) => task.id)];
        const taskId = pickFrom(ids, pick) ?? "ghost";
        const before = this.#known(taskId);
        const about = { kind, label: `client.getTask(${taskId})`, taskId, ...(before ? { before } : {}) };
        return this.#begin(about, (options) => client.getTask({ id: taskId }, options));
      }
      case "revalidate":
        return this.#begin({ kind, label: "client.revalidate()" }, async (options) => {
          await client.revalidate(options);
          return undefined;
        });
      case "renegotiate":
        return this.#begin({ kind, label: "client.renegotiate()" }, async (options) => {
          await client.renegotiate(options);
          this.#edition += 1;
          return undefined;
        });
      case "next":
        return this.#read(pick, call.count ?? 1);
      default:
        return this.#callOn(call, text);
    }
  }

  /** Lets everything go as far as it can without time passing. */
  async settle(): Promise<void> {
    for (let last = -1, now = this.#recorder.next(); now !== last + 1; now = this.#recorder.next()) {
      last = now;
      await this.clock.advance(0);
    }
  }

  /** Lets time pass, and with it whoever gives credentials come to an end. */
  async pass(ms: number): Promise<void> {
    this.#giveCredentials();
    await this.clock.advance(ms);
  }

  /** Ends by its signal a call that is under way, or a stream that is open. */
  abort(pick: number): void {
    const step = pickFrom(this.#abortable(), pick);
    if (step) this.#abort(step.stream ?? step.id);
  }

  /** Leaves a stream: the caller stops in the loop, or closes it. */
  leave(pick: number, how: "close" | "return"): void {
    const stream = pickFrom(this.#openStreams(), pick);
    if (!stream) return;
    stream.isOver = true;
    const leftAt = this.#recorder.next();
    for (const step of this.#steps)
      if (step.stream === stream.opener && isPending(step)) step.leftAt = leftAt;
    // While an event is awaited, a generator can't be told to return.
    if (how === "close" || stream.isRead) stream.stream.close();
    else void stream.events.return?.();
  }

  /** Throws when the run broke an invariant. */
  check(): void {
    const complaints = [
      ...complaintsOf(this.record),
      ...this.#recorder.mistakes.map((mistake) => `a mistake of the test: ${mistake}`),
      ...quietEnd({ timers: 0, requests: 0, unhandled: this.#unhandled }),
    ];
    if (complaints.length === 0) return;
    throw new Error(`${complaints.join("\n")}\n\n${traceOf(this.record, this.#script)}`);
  }

  /** Leaves and closes everything, and throws when something is left behind. */
  async finish(): Promise<void> {
    this.note("leave every stream");
    while (this.#openStreams().length > 0) this.leave(0, "close");
    await this.settle();
    if (this.settings.ending === "abort") {
      this.note("abort everything");
      for (const step of this.#abortable()) this.#abort(step.stream ?? step.id);
      await this.settle();
      this.check();
    }
    this.note("close the client");
    await this.#close();
    this.check();
    this.#giveCredentials();
    await this.settle();
    const complaints = quietEnd({
      timers: this.clock.pendingCount,
      requests: this.agent.openRequestCount,
      unhandled: this.#unhandled,
    });
    if (complaints.length > 0)
      throw new Error(`${complaints.join("\n")}\n\n${traceOf(this.record, this.#script)}`);
  }

  #callOn(call: Call, text: string): Step | undefined {
    const { kind, pick } = call;
    const held = pickFrom(this.#held, pick);
    if (!held) return undefined;
    const { name, handle } = held;
    const { id: taskId, pin } = handle;
    const before = this.#known(taskId);
    const about = { holder: name, pin, taskId, ...(before ? { before } : {}) };
    switch (kind) {
      case "reply":
        return this.#begin({ kind, label: `${name}.sendMessage()`, ...about }, async (options) => {
          const reply = await handle.sendMessage(text, options);
          return "task" in reply ? reply.task : undefined;
        });
      case "get":
        return this.#begin({ kind, label: `${name}.get()`, ...about }, (options) => handle.get(options));
      case "subscribe":
        return this.#begin({ kind, label: `${name}.subscribe()`, ...about }, async (options, id) =>
          this.#keep(id, { holder: name, pin }, await handle.subscribe(options), call.count),
        );
      case "cancel":
        return this.#begin({ kind, label: `${name}.cancel()`, ...about }, (options) =>
          handle.cancel(options),
        );
      case "salvage":
        return this.#begin({ kind, label: `${name}.salvage()`, ...about }, async (options) => {
          await handle.salvage(options);
          return undefined;
        });
      case "repin":
        return this.#begin({ kind, label: `${name}.renegotiate()`, ...about }, (options) =>
          handle.renegotiate(options),
        );
    }
  }

  /** Begins a step; what it resolves to is remembered where it is a handle. */
  #begin(begin: Begin, run: Run): Open<Step> {
    const id = `s${this.#steps.length}`;
    const abort = new AbortController();
    this.#aborts.set(id, abort);
    const step: Open<Step> = { id, ...begin, startedAt: this.#recorder.next(), startedMs: this.clock.now() };
    this.#steps.push(step);
    const ended = run({ signal: abort.signal, headers: { [stepHeader]: id } }, id).then(
      (handle) => {
        if (handle) this.#hold(handle);
        const state = handle ? { state: handle.state } : {};
        step.settled = { ...this.#now(), isOk: true, ...state };
      },
      (error: unknown) => {
        step.settled = { ...this.#now(), isOk: false, error };
      },
    );
    this.#ends.set(id, ended);
    return step;
  }

  async #settled(id: string): Promise<void> {
    await this.#ends.get(id);
  }

  /** Keeps a stream that was opened. */
  #keep(
    opener: string,
    plan: { holder: string; pin: CardDigests },
    stream: TaskStream,
    count = 0,
  ): undefined {
    const events = stream[Symbol.asyncIterator]();
    const open = { opener, stream, events, ...plan, isRead: false, isOver: false };
    this.#streams.push(open);
    if (count > 0) void this.#settled(opener).then(() => this.#readOn(open, count));
  }

  /** Reads some events off a stream, each of them a step. */
  #read(pick: number, count: number): Step | undefined {
    const stream = pickFrom(this.#openStreams(), pick);
    return stream && !stream.isRead ? this.#readOn(stream, count) : undefined;
  }

  #readOn(open: OpenStream, count: number): Step {
    const { opener, stream, events } = open;
    const owner = () => {
      const { task } = stream;
      return task
        ? { holder: this.#hold(task).name, pin: task.pin, taskId: task.id }
        : { holder: open.holder };
    };
    const before = stream.task && this.#known(stream.task.id);
    const about = { kind: "next", stream: opener, label: `stream(${opener}).next()`, pin: open.pin } as const;
    open.isRead = true;
    const step = this.#begin({ ...about, ...owner(), ...(before ? { before } : {}) }, async () => {
      try {
        open.isOver ||= (await events.next()).done === true;
      } catch (error) {
        open.isOver = true;
        throw error;
      } finally {
        open.isRead = false;
        // The first event says whose lease the stream is under.
        const { holder, taskId } = { taskId: step.taskId, ...owner() };
        Object.assign(step, { holder, ...(taskId === undefined ? {} : { taskId }) });
        if (count > 1 && !open.isOver) void this.#settled(step.id).then(() => this.#readOn(open, count - 1));
      }
      return stream.task;
    });
    const aborted = this.#steps.find(({ id }) => id === opener)?.aborted;
    if (aborted) Object.assign(step, { aborted, leftAt: aborted.at });
    return step;
  }

  /** Remembers a handle; each one has a name. */
  #hold(handle: TaskHandle): Held {
    const known = this.#held.find((held) => held.handle === handle);
    if (known) return known;
    const others = this.#held.filter((held) => held.handle.id === handle.id).length;
    const held = { name: handle.id + "'".repeat(others), handle };
    this.#held.push(held);
    return held;
  }

  /** What the caller can see of a task, by a handle whose lease goes on if there is one. */
  #known(taskId: string): KnownStatus | undefined {
    const handles = [
      ...this.#held.map(({ handle }) => handle),
      ...this.#streams.map(({ stream }) => stream.task),
    ];
    const own = handles.filter((handle) => handle?.id === taskId);
    const task = (own.findLast((handle) => handle?.signal.aborted === false) ?? own.at(-1))?.task;
    return task && statusOf({ ...task.status });
  }

  #openStreams(): readonly OpenStream[] {
    return this.#streams.filter(({ isOver }) => !isOver);
  }

  /** What a signal can still end: steps under way, and open streams by the steps that opened them. */
  #abortable(): readonly Step[] {
    const openers = new Set(this.#openStreams().map(({ opener }) => opener));
    return this.#steps.filter(
      ({ id, settled, aborted, leftAt }) => !aborted && leftAt === undefined && (!settled || openers.has(id)),
    );
  }

  #abort(id: string): void {
    const reason = new Error(`the caller gave ${id} up`);
    const aborted = { at: this.#recorder.next(), reason };
    for (const step of this.#steps) {
      if ((step.id === id || step.stream === id) && !step.settled) step.aborted = aborted;
      // What is read off the stream later ends with the same reason.
      if (step.id === id && step.settled?.isOk) step.aborted = aborted;
    }
    this.#aborts.get(id)?.abort(reason);
  }

  async #close(): Promise<void> {
    const at = this.#recorder.next();
    const pending = this.#steps.filter(({ settled }) => !settled);
    await this.#client?.close();
    await this.settle();
    for (const step of pending) {
      const { settled } = step;
      const error = settled && !settled.isOk ? settled.error : undefined;
      const isClosing = error instanceof DOMException && error.name === "AbortError";
      step.aborted ??= { at, reason: isClosing ? error : "the closing of the client" };
    }
  }

  #giveCredentials(): void {
    for (const give of this.#waitingForCredentials) give();
    this.#waitingForCredentials.clear();
  }

  readonly #credentials: CredentialProvider = async ({ challenge }) => {
    if (this.#isSlow) {
      await new Promise<void>((resolve) => {
        this.#waitingForCredentials.add(resolve);
      });
    }
    if (challenge !== undefined) this.#tokens += 1;
    return { headers: { authorization: `Bearer token-${this.#tokens}` } };
  };

  #now() {
    return { at: this.#recorder.next(), atMs: this.clock.now() };
  }
}

/** Counted from the newest, in a circle. */
function pickFrom<T>(list: readonly T[], pick: number): T | undefined {
  return list[list.length - 1 - (pick % list.length)];
}

/** Whether a step is under way. */
export function isPending(step: Step): boolean {
  return endOf(step) === Number.POSITIVE_INFINITY;
}
