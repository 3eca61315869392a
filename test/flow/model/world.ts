import { type CredentialProvider, createClient } from "a2a-lease";
import {
  answer,
  createScriptedAgent,
  createTestClock,
  type ScriptedAgent,
  step,
  type TestClock,
} from "a2a-lease/testing";
import { Caller } from "./caller.ts";
import { type CardName, cards, rpcPaths } from "./cards.ts";
import { complaintsOf, quietEnd } from "./invariants.ts";
import type { RunRecord, RunSettings } from "./record.ts";
import { createRecorder } from "./recorder.ts";
import { traceOf } from "./trace.ts";

/** How a run begins, and how it ends. */
export interface WorldSettings extends RunSettings {
  readonly card: CardName;
  /** How the card's ETag is made. */
  readonly etag: "content" | "weak-version";
  /** What ends everything that is still under way: its signals, or the closing of the client. */
  readonly ending: "abort" | "close";
}

/** A caller with a client, an agent and their clock. Everything that passes between them is written down and judged. */
export class World {
  readonly settings: WorldSettings;
  readonly clock: TestClock = createTestClock();
  readonly agent: ScriptedAgent;
  readonly caller: Caller;
  readonly #recorder: ReturnType<typeof createRecorder>;
  readonly #waitingForCredentials = new Set<() => void>();
  readonly #script: { readonly at: number; readonly line: string }[] = [];
  readonly #unhandled: readonly unknown[];
  #isSlow = false;
  #tokens = 0;

  /** @param unhandled - rejections that nobody handled, as they are noticed. */
  constructor(settings: WorldSettings, unhandled: readonly unknown[]) {
    const { clock } = this;
    const { card, etag } = settings;
    this.settings = settings;
    this.#unhandled = unhandled;
    this.agent = createScriptedAgent({ clock, card: cards[card], rpcPath: rpcPaths, etag });
    this.agent.plan([step.working(), step.hold()]);
    // What a lost message is found by has tests of its own; here it stays lost.
    this.agent.on("ListTasks", answer.http(500));
    const known = (taskId: string) => this.caller.known(taskId);
    this.#recorder = createRecorder({ clock, fetch: this.agent.fetch, known });
    const taskIds = () => this.agent.tasks.list().map(({ id }) => id);
    this.caller = new Caller({ clock, next: this.#recorder.next, taskIds });
  }

  /** Makes the client and sends a first message. */
  async open(): Promise<void> {
    const { clock, agent, caller } = this;
    const { posture, compare, leaseTermMs, fullCheckEveryMs, credentials } = this.settings;
    caller.connect(() =>
      createClient(agent.url, {
        // What is read again after a failure has tests of its own; here each read has a reason.
        retries: false,
        ...{ fetch: this.#recorder.fetch, clock, compare, leaseTermMs, fullCheckEveryMs },
        posture: posture === "degrade" ? { onDrift: "degrade", restartable: true } : posture,
        ...(credentials === "none" ? {} : { credentials: this.#credentials }),
      }),
    );
    await this.settle();
    caller.call({ kind: "send", pick: 0 });
    await this.settle();
    this.#isSlow = credentials === "slow";
  }

  get record(): RunRecord {
    return { settings: this.settings, exchanges: this.#recorder.exchanges, steps: this.caller.steps };
  }

  /** Notes a line of the script, for the trace. */
  note(line: string): void {
    this.#script.push({ at: this.#recorder.next(), line });
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

  /** Throws when the run broke an invariant. */
  check(): void {
    this.#report(complaintsOf(this.record), { timers: 0, requests: 0 });
  }

  /** Leaves and closes everything, and throws when something is left behind. */
  async finish(): Promise<void> {
    const { caller } = this;
    this.note("leave every stream");
    caller.leaveAll();
    await this.settle();
    if (this.settings.ending === "abort") {
      this.note("abort everything");
      caller.abortAll();
      await this.settle();
      this.check();
    }
    this.note("close the client");
    await caller.close(() => this.settle());
    this.check();
    this.#giveCredentials();
    await this.settle();
    this.#report([], { timers: this.clock.pendingCount, requests: this.agent.openRequestCount });
  }

  #report(broken: readonly string[], left: { readonly timers: number; readonly requests: number }): void {
    const complaints = [
      ...broken,
      ...this.#recorder.mistakes.map((mistake) => `a mistake of the test: ${mistake}`),
      ...quietEnd({ ...left, unhandled: this.#unhandled }),
    ];
    if (complaints.length === 0) return;
    throw new Error(`${complaints.join("\n")}\n\n${traceOf(this.record, this.#script)}`);
  }

  #giveCredentials(): void {
    for (const give of this.#waitingForCredentials) give();
    this.#waitingForCredentials.clear();
  }

  /** Gives a token; another one to whoever was refused. Does not look at the signal, as a caller's own may not. */
  readonly #credentials: CredentialProvider = async ({ challenge }) => {
    if (this.#isSlow) {
      await new Promise<void>((resolve) => {
        this.#waitingForCredentials.add(resolve);
      });
    }
    if (challenge !== undefined) this.#tokens += 1;
    return { headers: { authorization: `Bearer token-${this.#tokens}` } };
  };
}
