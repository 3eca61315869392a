import type { AgentCard } from "../model/card.ts";
import type { Operations } from "../model/operations.ts";
import { type OperationName, operationFacts } from "../model/operations.ts";
import type { JsonObject } from "../model/schema.ts";
import type { Reply } from "./answers.ts";
import type { AgentTasks } from "./task-desk.ts";

/** What can be scripted: card reads, every call that has no script of its own, or one operation. */
export type Scripted = "card" | "call" | OperationName;

/** Parameters that a handler finds, as the client sent them and unchecked. */
export type ScriptedParams<W extends Scripted> = W extends OperationName
  ? Operations[W]["request"]
  : JsonObject;

/** A request as a handler sees it. */
export interface ScriptedRequest<W extends Scripted = Scripted> {
  /** Its step in the transcript. */
  readonly step: number;
  /** The how-manieth request of the scripted kind it is, from 1. */
  readonly nth: number;
  /** HTTP method. */
  readonly method: string;
  /** Absolute URL. */
  readonly url: string;
  /** URL of the agent as the caller knows it. */
  readonly baseUrl: string;
  /** Path with query. */
  readonly path: string;
  /** Headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Method named in the call; `undefined` on a card read. */
  readonly operation: string | undefined;
  /** Parameters of the call; `{}` on a card read. */
  readonly params: ScriptedParams<W>;
  /** The card in force, unchecked. */
  readonly card: AgentCard;
  /** The agent's tasks. */
  readonly tasks: AgentTasks;
  /** Aborted when the caller gives up. */
  readonly signal: AbortSignal;
}

/** Decides what to do with a request; `undefined` means what the agent does unscripted. */
export type Handler<W extends Scripted = Scripted> = (
  request: ScriptedRequest<W>,
) => Reply | undefined | Promise<Reply | undefined>;

/** What a scripted agent does: always the same, or what a function decides. */
export type Behaviour<W extends Scripted = Scripted> = Reply | Handler<W>;

/** A behaviour that was found for a request, and the kind that it was scripted for. */
export interface FoundScript {
  readonly key: Scripted;
  readonly behaviour: Behaviour<never> | Behaviour;
}

/** Which behaviour is scripted for which requests. */
export interface ScriptBook {
  /** Scripts every request of a kind; the returned function takes it back. */
  on<W extends Scripted>(what: W, behaviour: Behaviour<W>): () => void;
  /** Scripts the next requests of a kind, in order. */
  once<W extends Scripted>(what: W, behaviours: readonly (Behaviour<W> | readonly Behaviour<W>[])[]): void;
  /** Takes back all that is scripted for a kind. */
  off(what: Scripted): void;
  /** Finds, and uses up, what is scripted; the first kind that has something queued wins, then the first with any. */
  take(kinds: readonly Scripted[]): FoundScript | undefined;
}

/** Makes an empty book. */
export function createScriptBook(): ScriptBook {
  const standing = new Map<Scripted, Behaviour>();
  const queued = new Map<Scripted, Behaviour[]>();
  return {
    on(what, behaviour) {
      check(what);
      // A handler is only ever given requests of the kind that it was scripted for.
      const kept = behaviour as Behaviour;
      standing.set(what, kept);
      return () => {
        if (standing.get(what) === kept) standing.delete(what);
      };
    },
    once(what, behaviours) {
      check(what);
      const queue = queued.get(what) ?? [];
      queue.push(...(behaviours.flat() as Behaviour[]));
      queued.set(what, queue);
    },
    off(what) {
      check(what);
      standing.delete(what);
      queued.delete(what);
    },
    take(kinds) {
      for (const key of kinds) {
        const behaviour = queued.get(key)?.shift();
        if (behaviour) return { key, behaviour };
      }
      for (const key of kinds) {
        const behaviour = standing.get(key);
        if (behaviour) return { key, behaviour };
      }
      return undefined;
    },
  };
}

/** Whether a text names an operation of the spec. */
export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(operationFacts, name);
}

function check(what: string): void {
  if (what === "card" || what === "call" || isOperationName(what)) return;
  throw new TypeError(
    `what must be "card", "call" or an operation of A2A 1.0, found ${JSON.stringify(what)}`,
  );
}
