import type { A2AClient, CallOptions, CardDigests, StreamResponse, TaskHandle, TaskStream } from "a2a-lease";
import type { TestClock } from "a2a-lease/testing";
import { errorOf, type KnownStatus, type Step, type StepKind } from "./record.ts";
import { type Open, statusOf, stepHeader } from "./recorder.ts";

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

/** What a caller lives by. */
export interface CallerOptions {
  readonly clock: TestClock;
  /** The next moment of the run. */
  readonly next: () => number;
  /** Ids of the agent's tasks. */
  readonly taskIds: () => readonly string[];
}

interface Held {
  readonly name: string;
  readonly handle: TaskHandle;
}

/** Whose pin something depends on. */
interface Owner {
  readonly holder: string;
  readonly pin: CardDigests;
}

interface OpenStream extends Owner {
  readonly opener: string;
  readonly stream: TaskStream;
  readonly events: AsyncIterator<StreamResponse>;
  isRead: boolean;
  isOver: boolean;
}

/** Carries a step out; resolves to the handle that came of it. */
type Run = (options: CallOptions, id: string) => Promise<TaskHandle | undefined>;

type Begin = Pick<Step, "kind" | "label"> &
  Partial<Pick<Step, "holder" | "pin" | "taskId" | "stream" | "before">>;

/** Whoever uses a client: keeps its handles and streams, and writes down each step and what came of it. */
export class Caller {
  readonly steps: Open<Step>[] = [];
  readonly #options: CallerOptions;
  readonly #aborts = new Map<string, AbortController>();
  readonly #ends = new Map<string, Promise<void>>();
  readonly #held: Held[] = [];
  readonly #streams: OpenStream[] = [];
  #client: A2AClient | undefined;
  #edition = 1;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  get hasHandle(): boolean {
    return this.#held.length > 0;
  }

  get hasStream(): boolean {
    return this.#openStreams().length > 0;
  }

  /** Whether there is something that a signal can still end. */
  get isBusy(): boolean {
    return this.#abortable().length > 0;
  }

  /** Gets a client. */
  connect(create: () => Promise<A2AClient>): void {
    this.#begin({ kind: "create", label: "createClient()" }, async () => {
      this.#client = await create();
      return undefined;
    });
  }

  /** Begins a call, without waiting for it; nothing where there is nothing to make it on. */
  call(call: Call): void {
    const { kind, pick } = call;
    const client = this.#client;
    const held = pickFrom(this.#held, pick);
    if (kind === "next") this.#read(pick, call.count ?? 1);
    else if (kind in onClient && client) this.#callOn(client, call);
    else if (held) this.#callOnHandle(held, call);
  }

  /** Ends by its signal a call that is under way, or a stream that is open. */
  abort(pick: number): void {
    const step = pickFrom(this.#abortable(), pick);
    if (step) this.#abort(step.stream ?? step.id);
  }

  /** Ends by its signal everything that is under way. */
  abortAll(): void {
    for (const step of this.#abortable()) this.#abort(step.stream ?? step.id);
  }

  /** Leaves a stream: the caller stops in the loop, or closes it. */
  leave(pick: number, how: "close" | "return"): void {
    const open = pickFrom(this.#openStreams(), pick);
    if (!open) return;
    open.isOver = true;
    const leftAt = this.#options.next();
    for (const step of this.steps) {
      if (step.stream === open.opener && !step.settled) step.leftAt = leftAt;
    }
    if (how === "close") open.stream.close();
    else void open.events.return?.();
  }

  /** Leaves every stream. */
  leaveAll(): void {
    while (this.hasStream) this.leave(0, "close");
  }

  /** Closes the client, and waits until that has gone as far as it can. */
  async close(settle: () => Promise<void>): Promise<void> {
    const at = this.#options.next();
    const pending = this.steps.filter(({ settled }) => !settled);
    await this.#client?.close();
    await settle();
    for (const step of pending) {
      const error = errorOf(step);
      const isClosing = error instanceof DOMException && error.name === "AbortError";
      step.aborted ??= { at, reason: isClosing ? error : "the closing of the client" };
    }
  }

  /** What can be seen of a task, by a handle whose lease goes on if there is one. */
  known(taskId: string): KnownStatus | undefined {
    const streamed = this.#streams.flatMap(({ stream }) => stream.task ?? []);
    const own = [...this.#held.map(({ handle }) => handle), ...streamed].filter(({ id }) => id === taskId);
    const task = (own.findLast(({ signal }) => !signal.aborted) ?? own.at(-1))?.task;
    return task && statusOf({ ...task.status });
  }

  #callOn(client: A2AClient, { kind, pick, isBlocking: blocking = false, timeoutMs, count }: Call): void {
    const plan = { holder: `plan-${this.#edition}`, pin: client.pin };
    const text = `message ${this.steps.length}`;
    const budget = timeoutMs === undefined ? {} : { timeoutMs };
    switch (kind) {
      case "send":
        this.#begin({ kind, label: "client.sendMessage()", ...plan }, async (options) => {
          const reply = await client.sendMessage(text, { ...options, ...budget, blocking });
          return "task" in reply ? reply.task : undefined;
        });
        break;
      case "stream":
        this.#begin({ kind, label: "client.sendStreamingMessage()", ...plan }, async (options, id) => {
          const stream = await client.sendStreamingMessage(text, { ...options, ...budget });
          return this.#keep(id, plan, stream, count);
        });
        break;
      case "find": {
        const id = pickFrom(["ghost", ...this.#options.taskIds()], pick) ?? "ghost";
        const about = { kind, label: `client.getTask(${id})`, taskId: id, ...this.#before(id) };
        this.#begin(about, (options) => client.getTask({ id }, options));
        break;
      }
      case "revalidate":
        this.#begin({ kind, label: "client.revalidate()" }, async (options) => {
          await client.revalidate(options);
          return undefined;
        });
        break;
      case "renegotiate":
        this.#begin({ kind, label: "client.renegotiate()" }, async (options) => {
          await client.renegotiate(options);
          this.#edition += 1;
          return undefined;
        });
    }
  }

  #callOnHandle({ name, handle }: Held, { kind, count }: Call): void {
    const { id: taskId, pin } = handle;
    const owner = { holder: name, pin };
    const runs: Partial<Record<StepKind, readonly [method: string, run: Run]>> = {
      reply: [
        "sendMessage",
        async (options) => {
          const reply = await handle.sendMessage(`message ${this.steps.length}`, options);
          return "task" in reply ? reply.task : undefined;
        },
      ],
      get: ["get", (options) => handle.get(options)],
      subscribe: [
        "subscribe",
        async (options, id) => this.#keep(id, owner, await handle.subscribe(options), count),
      ],
      cancel: ["cancel", (options) => handle.cancel(options)],
      salvage: [
        "salvage",
        async (options) => {
          await handle.salvage(options);
          return undefined;
        },
      ],
      repin: ["renegotiate", (options) => handle.renegotiate(options)],
    };
    const [method, run] = runs[kind] ?? [];
    const about = { kind, label: `${name}.${method}()`, ...owner, taskId, ...this.#before(taskId) };
    if (run) this.#begin(about, run);
  }

  /** Begins a step; a handle that it resolves to is kept. */
  #begin(begin: Begin, run: Run): Open<Step> {
    const { clock, next } = this.#options;
    const id = `s${this.steps.length}`;
    const abort = new AbortController();
    this.#aborts.set(id, abort);
    const step: Open<Step> = { id, ...begin, startedAt: next(), startedMs: clock.now() };
    this.steps.push(step);
    const ended = run({ signal: abort.signal, headers: { [stepHeader]: id } }, id).then(
      (handle) => {
        if (handle) this.#hold(handle);
        const state = handle ? { state: handle.state } : {};
        step.settled = { at: next(), atMs: clock.now(), isOk: true, ...state };
      },
      (error: unknown) => {
        step.settled = { at: next(), atMs: clock.now(), isOk: false, error };
      },
    );
    this.#ends.set(id, ended);
    return step;
  }

  /** Keeps a stream that was opened, and begins to read it. */
  #keep(opener: string, owner: Owner, stream: TaskStream, count = 0): undefined {
    const events = stream[Symbol.asyncIterator]();
    const open = { opener, stream, events, ...owner, isRead: false, isOver: false };
    this.#streams.push(open);
    if (count > 0) this.#after(opener, () => this.#readOn(open, count));
  }

  /** Reads some events off a stream, each of them a step. */
  #read(pick: number, count: number): void {
    const open = pickFrom(this.#openStreams(), pick);
    if (open && !open.isRead) this.#readOn(open, count);
  }

  #readOn(open: OpenStream, count: number): void {
    const { opener, stream, events, pin } = open;
    const owner = () => {
      const { task } = stream;
      return task ? { holder: this.#hold(task).name, taskId: task.id } : { holder: open.holder };
    };
    const about = { kind: "next", stream: opener, label: `stream(${opener}).next()`, pin } as const;
    open.isRead = true;
    const step = this.#begin({ ...about, ...owner(), ...this.#before(stream.task?.id) }, async () => {
      try {
        open.isOver ||= (await events.next()).done === true;
      } catch (error) {
        open.isOver = true;
        throw error;
      } finally {
        open.isRead = false;
        // The first event says whose lease the stream is under.
        Object.assign(step, owner());
        if (count > 1 && !open.isOver) this.#after(step.id, () => this.#readOn(open, count - 1));
      }
      return stream.task;
    });
    // Whoever reads a stream that was aborted is told so, unless it was over before.
    const aborted = this.steps.find(({ id }) => id === opener)?.aborted;
    if (aborted) Object.assign(step, { aborted, leftAt: aborted.at });
  }

  /** Does something once a step has settled. */
  #after(id: string, run: () => void): void {
    void this.#ends.get(id)?.then(run);
  }

  /** Keeps a handle; each one has a name. */
  #hold(handle: TaskHandle): Held {
    const known = this.#held.find((held) => held.handle === handle);
    if (known) return known;
    const others = this.#held.filter((held) => held.handle.id === handle.id).length;
    const held = { name: handle.id + "'".repeat(others), handle };
    this.#held.push(held);
    return held;
  }

  #before(taskId: string | undefined): { before?: KnownStatus } {
    const before = taskId === undefined ? undefined : this.known(taskId);
    return before ? { before } : {};
  }

  #openStreams(): readonly OpenStream[] {
    return this.#streams.filter(({ isOver }) => !isOver);
  }

  /** What a signal can still end: steps under way, and open streams by the steps that opened them. */
  #abortable(): readonly Step[] {
    const openers = new Set(this.#openStreams().map(({ opener }) => opener));
    return this.steps.filter(
      ({ id, settled, aborted, leftAt }) => !aborted && leftAt === undefined && (!settled || openers.has(id)),
    );
  }

  #abort(id: string): void {
    const reason = new Error(`the caller gave ${id} up`);
    const aborted = { at: this.#options.next(), reason };
    for (const step of this.steps) {
      const isOpen = step.id === id && step.settled?.isOk === true;
      if (isOpen || ((step.id === id || step.stream === id) && !step.settled)) step.aborted = aborted;
    }
    this.#aborts.get(id)?.abort(reason);
  }
}

const onClient = { send: 1, stream: 1, find: 1, revalidate: 1, renegotiate: 1 } as const;

/** Counted from the newest, in a circle. */
export function pickFrom<T>(list: readonly T[], pick: number): T | undefined {
  return list[list.length - 1 - (pick % list.length)];
}
