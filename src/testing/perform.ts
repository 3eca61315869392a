import { sleep } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import type { CardLike, Reply } from "./answers.ts";
import type { Dialect, WireCall } from "./dialect.ts";
import { createEventSink, type EventSink } from "./event-sink.ts";
import type { AgentAnswer, AgentOutcome, AgentRequest } from "./exchange.ts";
import type { Effect } from "./honest.ts";
import type { OwnReply } from "./honest-call.ts";
import { type StreamTarget, streamFeed, streamItems } from "./stream-out.ts";

/** One request under way, with all that a reply can need. */
export interface Exchange {
  readonly request: AgentRequest;
  readonly clock: Clock;
  /** Bodies that are being streamed. */
  readonly streams: Set<EventSink>;
  /** The call and its wire form; absent on a card read. */
  readonly wire?: { readonly call: WireCall; readonly dialect: Dialect };
  /** What the agent does unscripted. */
  honest(): Effect;
  /** Answers a card read. */
  serveCard(card?: CardLike): AgentAnswer;
  /** Notes that a script took the message of a send. */
  accept(): void;
  /** A fresh identifier. */
  nextId(kind: string): string;
}

const takesMessage = new Set<Reply["reply"]>(["result", "message", "stream"]);
const honest: Reply & { readonly reply: "honest" } = { reply: "honest", end: "cut" };

/**
 * Does what a script says. Where the call already took `effect`, an honest reply tells the truth about that, and
 * nothing is done a second time.
 */
export async function perform(reply: Reply, exchange: Exchange, effect?: Effect): Promise<AgentOutcome> {
  switch (reply.reply) {
    case "honest":
      return render(await (effect ?? exchange.honest()).truth(), exchange, reply);
    case "delay":
      await sleep(exchange.clock, reply.delayMs, exchange.request.signal);
      return perform(reply.next, exchange, effect);
    case "accept": {
      const taken = effect ?? exchange.honest();
      return perform(taken.isRefusal ? honest : reply.next, exchange, taken);
    }
    default:
      if (effect) effect.drop();
      else if (takesMessage.has(reply.reply)) exchange.accept();
      return render(reply, exchange, honest);
  }
}

/** Writes a reply in the exchange's wire form. */
function render(
  reply: Reply | OwnReply,
  exchange: Exchange,
  limit: { readonly endAfterEvents?: number; readonly end: "close" | "cut" | "silence" },
): Promise<AgentOutcome> | AgentOutcome {
  switch (reply.reply) {
    case "http":
      return { kind: "answer", status: reply.status, headers: lowerNames(reply.headers), body: reply.body };
    case "silence":
      return new Promise(() => {});
    case "reset":
      return { kind: "reset" };
    case "refuse":
      return { kind: "refused", code: "ECONNREFUSED" };
  }
  const { wire } = exchange;
  if (reply.reply === "card" || !wire) {
    if (reply.reply === "card" && !wire) return exchange.serveCard(reply.card);
    throw new TypeError(`answer.${reply.reply} is no answer to a ${wire ? "call" : "card read"}`);
  }
  const { call, dialect } = wire;
  switch (reply.reply) {
    case "result":
      return json(dialect, dialect.result(call.id, reply.value), 200);
    case "error": {
      const { httpStatus = dialect.errorStatus(reply.code) } = reply;
      return json(dialect, dialect.error(call.id, reply, httpStatus), httpStatus);
    }
    case "deleted": {
      const { status, body } = dialect.deleted(call.id, reply.form);
      const headers: Record<string, string> = body === "" ? {} : { "content-type": dialect.mediaType };
      return { kind: "answer", status, headers, body };
    }
    case "message": {
      const message = { messageId: exchange.nextId("agent-message"), role: "ROLE_AGENT", ...reply.message };
      if (!isStreaming(call)) return json(dialect, dialect.result(call.id, { message }), 200);
      return openStream(exchange, wire, (target) => streamItems([{ message }], {}, target));
    }
    case "stream":
      return openStream(
        exchange,
        wire,
        (target) => streamItems(reply.items, reply.options, target),
        reply.options.headers,
      );
    case "live":
      return openStream(exchange, wire, (target) => streamFeed(reply.feed, target, limit));
    default:
      throw new TypeError(`"${reply.reply}" cannot be written to the wire`);
  }
}

function isStreaming({ operation }: WireCall): boolean {
  return operation === "SendStreamingMessage" || operation === "SubscribeToTask";
}

function json({ mediaType }: Dialect, body: string, status: number): AgentAnswer {
  return { kind: "answer", status, headers: { "content-type": mediaType }, body };
}

function openStream(
  { request, streams, clock }: Exchange,
  { call, dialect }: { readonly call: WireCall; readonly dialect: Dialect },
  write: (target: StreamTarget) => unknown,
  headers: Readonly<Record<string, string>> = {},
): AgentAnswer {
  const ended = new AbortController();
  const sink = createEventSink(request.signal, () => {
    streams.delete(sink);
    ended.abort();
  });
  streams.add(sink);
  write({ sink, ended: ended.signal, dialect, id: call.id, clock });
  return {
    kind: "answer",
    status: 200,
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache", ...lowerNames(headers) },
    body: sink.stream,
  };
}

function lowerNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
