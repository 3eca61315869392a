import type { AgentCard } from "../model/card.ts";
import type { Message } from "../model/message.ts";
import type { JsonObject } from "../model/schema.ts";
import { defined } from "../util/freeze.ts";
import { checkOptions } from "../util/options.ts";
import { type Content, partsOf } from "./events.ts";
import type { StreamItem } from "./frames.ts";

/** How a stream ends: a clean end of the body, a broken connection, or never. */
export type StreamEnd = "close" | "cut" | "silence";

const streamEnds: readonly StreamEnd[] = Object.freeze(["close", "cut", "silence"]);

/** Settings of a scripted stream. */
export interface StreamOptions {
  /** How it ends after the last piece. @default "close" */
  readonly end?: StreamEnd;
  /** Milliseconds on the agent's clock before each piece. @default 0 */
  readonly everyMs?: number;
  /**
   * Size of the chunks that the bytes are cut into, in bytes, wherever that falls, even inside a character;
   * `Infinity` sends all in one chunk. @default one chunk a piece
   */
  readonly chunkBytes?: number;
  /** Headers beside, or in place of, the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A card, or anything that pretends to be one. */
export type CardLike = AgentCard | JsonObject;

/** What a scripted agent does with one request. Made by {@link answer}. */
export type Reply =
  | { readonly reply: "honest"; readonly endAfterEvents?: number; readonly end: StreamEnd }
  | { readonly reply: "result"; readonly value: unknown }
  | { readonly reply: "message"; readonly message: Partial<Message> & Pick<Message, "parts"> }
  | {
      readonly reply: "error";
      readonly code: number;
      readonly message: string;
      readonly data: unknown;
      readonly httpStatus: number | undefined;
    }
  | {
      readonly reply: "http";
      readonly status: number;
      readonly body: string | Uint8Array;
      readonly headers: Readonly<Record<string, string>>;
    }
  | {
      readonly reply: "stream";
      readonly items: Iterable<StreamItem> | AsyncIterable<StreamItem>;
      readonly options: StreamOptions;
    }
  | { readonly reply: "card"; readonly card: CardLike }
  | { readonly reply: "silence" }
  | { readonly reply: "reset" }
  | { readonly reply: "refuse" }
  | { readonly reply: "delay"; readonly delayMs: number; readonly next: Reply }
  | { readonly reply: "accept"; readonly next: Reply };

/** Reasons of the errors that A2A names (5.4), and of the two JSON-RPC ones that agents give a reason for. */
const reasons: Readonly<Record<number, string>> = Object.freeze({
  [-32001]: "TASK_NOT_FOUND",
  [-32002]: "TASK_NOT_CANCELABLE",
  [-32003]: "PUSH_NOTIFICATION_NOT_SUPPORTED",
  [-32004]: "UNSUPPORTED_OPERATION",
  [-32005]: "CONTENT_TYPE_NOT_SUPPORTED",
  [-32006]: "INVALID_AGENT_RESPONSE",
  [-32007]: "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
  [-32008]: "EXTENSION_SUPPORT_REQUIRED",
  [-32009]: "VERSION_NOT_SUPPORTED",
  [-32602]: "INVALID_PARAMS",
});

/** The `data` of an error that was given none: an ErrorInfo for the codes that have a reason (9.5). */
export function errorInfo(code: number): readonly JsonObject[] | undefined {
  const reason = reasons[code];
  if (!reason) return undefined;
  return [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "a2a-protocol.org" }];
}

function error(
  code: number,
  message: string,
  data: unknown = errorInfo(code),
  options: { readonly httpStatus?: number } = {},
): Reply {
  checkOptions(options, { httpStatus: "amount" });
  const { httpStatus } = options;
  return Object.freeze({ reply: "error", code, message, data: data ?? undefined, httpStatus });
}

function http(
  status: number,
  body: string | Uint8Array = "",
  headers: Readonly<Record<string, string>> = {},
): Reply {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new TypeError(`status must be an integer from 200 to 599, found ${status}`);
  }
  return Object.freeze({ reply: "http", status, body, headers });
}

function delay(delayMs: number, next: Reply): Reply {
  if (!(delayMs >= 0)) throw new TypeError(`delayMs must not be negative, found ${delayMs}`);
  return Object.freeze({ reply: "delay", delayMs, next });
}

function repeat<T>(times: number, behaviour: T): readonly T[] {
  if (!Number.isInteger(times) || times < 1) {
    throw new TypeError(`times must be a positive integer, found ${times}`);
  }
  return Array.from({ length: times }, () => behaviour);
}

/** Makers of what a scripted agent does with a request. A wrong option is a TypeError that names it. */
export const answer = Object.freeze({
  /**
   * What the agent does unscripted. On a stream, `endAfterEvents` ends it after that many events, as `end` says
   * (default `"cut"`), while the task lives on.
   */
  honest: (options: { readonly endAfterEvents?: number; readonly end?: StreamEnd } = {}): Reply => {
    checkOptions(options, { endAfterEvents: "amount", end: streamEnds });
    return Object.freeze({ reply: "honest", end: "cut", ...defined(options) } as const);
  },
  /** A result in the binding's envelope, as JSON; to a streaming call too. */
  result: (value: unknown): Reply => Object.freeze({ reply: "result", value }),
  /** A direct message in place of a task, as JSON or as a stream of one event, whichever was asked for (3.1.1). */
  message: (message: Content | (Partial<Message> & Pick<Message, "parts">)): Reply =>
    Object.freeze({
      reply: "message",
      message:
        typeof message === "object" && "parts" in message ? message : { parts: partsOf(message as Content) },
    }),
  /**
   * An error in the binding's envelope, named by its JSON-RPC code over HTTP+JSON too. Its HTTP status is the one of
   * the binding (200 over JSON-RPC, that of 5.4 over HTTP+JSON) unless `httpStatus` says otherwise. Without `data` the
   * codes of the spec carry their ErrorInfo; `null` leaves it out.
   */
  error,
  /** Exactly this HTTP answer. */
  http,
  /** Exactly this JSON value as the whole body, without an envelope. */
  json: (value: unknown, options: { status?: number; headers?: Readonly<Record<string, string>> } = {}) => {
    checkOptions(options, { status: "amount", headers: "object" });
    const headers = { "content-type": "application/json", ...options.headers };
    return http(options.status ?? 200, JSON.stringify(value), headers);
  },
  /** A redirect. */
  redirect: (location: string, status = 302): Reply => http(status, "", { location }),
  /** An event stream of these pieces; an iterable is only asked for more as fast as the reader takes it. */
  stream: (items: Iterable<StreamItem> | AsyncIterable<StreamItem>, options: StreamOptions = {}): Reply => {
    checkOptions(options, { end: streamEnds, everyMs: "amount", chunkBytes: "amount", headers: "object" });
    return Object.freeze({ reply: "stream", items, options } as const);
  },
  /** This card in place of the current one, with the validators that the agent gives; for a card read only. */
  card: (card: CardLike): Reply => Object.freeze({ reply: "card", card }),
  /** Never answers; the request stays open until the caller gives up. */
  silence: (): Reply => Object.freeze({ reply: "silence" }),
  /** Takes the request, and drops the connection before any header. */
  reset: (): Reply => Object.freeze({ reply: "reset" }),
  /**
   * Refuses the connection, so that the request provably never left. Only the in-process `fetch` can tell this from
   * a reset; over loopback close the listener instead.
   */
  refuse: (): Reply => Object.freeze({ reply: "refuse" }),
  /** Waits on the agent's clock, then does `next`. */
  delay,
  /**
   * Takes effect as unscripted (starts the task, cancels it), and only then does `next`; `answer.honest()` in there
   * tells the truth about that effect: `answer.acceptThen(answer.delay(130_000, answer.honest()))`.
   */
  acceptThen: (next: Reply): Reply => Object.freeze({ reply: "accept", next }),
  /** Takes effect as unscripted, and then drops the connection, so that the answer is lost. */
  acceptThenReset: (): Reply => Object.freeze({ reply: "accept", next: { reply: "reset" } as const }),
  /** The same behaviour `times` over, for `agent.once`. */
  repeat,
});
