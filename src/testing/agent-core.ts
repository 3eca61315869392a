import { withSignal } from "../util/abort.ts";
import { isRecord } from "../util/freeze.ts";
import { answer, errorInfo, type Reply } from "./answers.ts";
import { type CardDesk, httpDate } from "./card-desk.ts";
import type { Dialect, ReadCall, WireError } from "./dialect.ts";
import type { EventSink } from "./event-sink.ts";
import type { AgentHandler, AgentOutcome, AgentRequest } from "./exchange.ts";
import { createHonestAgent } from "./honest.ts";
import { createHttpJson } from "./http-json.ts";
import { jsonRpc } from "./json-rpc.ts";
import type { ResolvedOptions } from "./options.ts";
import { type Exchange, perform } from "./perform.ts";
import type { Rotations } from "./rotations.ts";
import { isOperationName, type ScriptBook, type Scripted, type ScriptedRequest } from "./script-book.ts";
import type { ResolvedSettings } from "./settings.ts";
import type { TaskDesk } from "./task-desk.ts";
import type { OpenEntry, Transcript } from "./transcript.ts";

/** The parts of a scripted agent that its request handling works on. */
export interface AgentParts {
  readonly options: ResolvedOptions;
  readonly settings: () => ResolvedSettings;
  readonly book: ScriptBook;
  readonly cards: CardDesk;
  readonly rotations: Rotations;
  readonly desk: TaskDesk;
  readonly transcript: Transcript;
  /** Bodies that are being streamed. */
  readonly streams: Set<EventSink>;
  /** Ids of accepted messages, in order. */
  readonly acceptedMessageIds: string[];
  /** Requests that are not answered yet. */
  readonly pending: Set<AgentRequest>;
}

/** Makes what answers every request, whichever way it came in. */
export function createAgentCore(parts: AgentParts): AgentHandler {
  const { options, settings, book, cards, rotations, desk, transcript, streams } = parts;
  const { clock } = options;
  const accepted = (messageId: string) => void parts.acceptedMessageIds.push(messageId);
  const honest = createHonestAgent(desk, () => settings().endStreamsOnQuestion, accepted);
  const counts = new Map<Scripted, number>();
  const restForms = options.restPaths.map((path) => [path, createHttpJson(path, settings)] as const);

  /** The wire form that is spoken at a path. */
  function dialectAt(path: string): Dialect | undefined {
    if (options.rpcPaths.includes(path)) return jsonRpc;
    return restForms.find(([base]) => path === base || path.startsWith(`${base}/`))?.[1];
  }

  const isRest = (path: string) => ![undefined, jsonRpc].includes(dialectAt(path));

  async function scripted(
    kinds: readonly Scripted[],
    request: AgentRequest,
    entry: OpenEntry,
  ): Promise<Reply> {
    const nths = kinds.map((kind) => [kind, (counts.get(kind) ?? 0) + 1] as const);
    for (const [kind, nth] of nths) counts.set(kind, nth);
    const found = book.take(kinds);
    if (!found) return answer.honest();
    if (typeof found.behaviour !== "function") return found.behaviour;
    const { method, url, baseUrl, path, headers, signal } = request;
    const seen: ScriptedRequest<never> = {
      ...{ method, url, baseUrl, path, headers, signal },
      step: entry.step,
      nth: new Map(nths).get(found.key) ?? 0,
      operation: entry.operation,
      // What the client sent is handed on unchecked, as the type of a handler's parameters says.
      params: (entry.params ?? {}) as never,
      card: cards.current(),
      tasks: desk.tasks,
    };
    return (await found.behaviour(seen)) ?? answer.honest();
  }

  async function readCard(request: AgentRequest, entry: OpenEntry): Promise<AgentOutcome> {
    rotations.byRequest(["request", "card"]);
    const base = exchangeOf(request);
    const isHere = options.cardPaths.includes(request.path);
    if (isHere && !bears(request, settings().cardBearer)) return perform(unauthorized(request), base);
    const reply = await scripted(["card"], request, entry);
    const notHere = () => answer.http(404, "Not Found", { "content-type": "text/plain" });
    const truth = (): Reply => (isHere ? answer.card(cards.current()) : notHere());
    const effect = { isRefusal: !isHere, truth: async () => truth(), drop: () => {} };
    return perform(reply, { ...base, honest: () => effect });
  }

  async function call(request: AgentRequest, entry: OpenEntry): Promise<AgentOutcome> {
    const dialect = dialectAt(new URL(request.url).pathname);
    const read: ReadCall = dialect?.read(request) ?? { kind: "absent", status: 404, headers: {} };
    const operation = read.kind === "call" ? read.call.operation : undefined;
    if (read.kind === "call") {
      entry.operation = read.call.operation;
      entry.params = read.call.params;
    }
    rotations.byRequest(["request", "call", ...(operation === undefined ? [] : [operation])]);
    const base = exchangeOf(request);
    const refusal = refuse(request, read, dialect);
    if (refusal) return perform(refusal, base);
    if (read.kind !== "call" || !dialect) return perform(answer.http(400), base);
    const kinds: Scripted[] = isOperationName(read.call.operation) ? [read.call.operation, "call"] : ["call"];
    const reply = await scripted(kinds, request, entry);
    const { capabilities } = cards.current();
    const { params } = read.call;
    const { extendedCard, deleteAnswer } = settings();
    const honestCall = {
      ...{ operation: read.call.operation, params, signal: request.signal },
      capabilities: isRecord(capabilities) ? capabilities : {},
      extendedCard: extendedCard && cards.moved(extendedCard, request),
      deleteAnswer,
    };
    return perform(reply, {
      ...base,
      wire: { call: read.call, dialect },
      honest: () => honest(honestCall),
      accept() {
        const { message } = params;
        const isSend = operation === "SendMessage" || operation === "SendStreamingMessage";
        if (isSend && isRecord(message) && typeof message.messageId === "string") accepted(message.messageId);
      },
    });
  }

  /** What stands between the network and the agent: path, method, token, envelope, version. */
  function refuse(request: AgentRequest, read: ReadCall, dialect: Dialect | undefined): Reply | undefined {
    if (read.kind === "absent" || !dialect) {
      const { status, headers } = read.kind === "absent" ? read : { status: 404, headers: {} };
      const text = status === 404 ? "Not Found" : "";
      return answer.http(status, text, { ...(text ? { "content-type": "text/plain" } : {}), ...headers });
    }
    const refused = (id: unknown, error: WireError, status = dialect.errorStatus(error.code)) =>
      answer.http(status, dialect.error(id, error, status), { "content-type": dialect.mediaType });
    if (!bears(request, settings().bearer)) return unauthorized(request);
    if (read.kind === "unreadable") return refused(read.id, read.error, read.httpStatus);
    const asked = new URL(request.url).searchParams.get("A2A-Version");
    const version = request.headers["a2a-version"] || asked || "0.3";
    if (version === "1.0") return undefined;
    return refused(read.call.id, {
      code: -32009,
      message: `The requested A2A protocol version '${version}' is not supported. Supported versions: 1.0`,
      data: errorInfo(-32009),
    });
  }

  function exchangeOf(request: AgentRequest): Exchange {
    return {
      ...{ request, clock, streams, nextId: desk.nextId },
      serveCard: (card) => cards.serve(request, card),
      honest: () => ({ isRefusal: true, truth: async () => answer.http(404), drop: () => {} }),
      accept: () => {},
    };
  }

  return async (request) => {
    const { origin, pathname } = new URL(request.url);
    const isForeign = origin !== request.baseUrl;
    const isCard =
      request.method === "GET" && (options.cardPaths.includes(request.path) || !isRest(pathname));
    const kind = isForeign ? "foreign" : isCard ? "card" : "call";
    const entry = transcript.open(request, kind);
    parts.pending.add(request);
    try {
      const outcome = await (isForeign
        ? ({ kind: "refused", code: "ENOTFOUND" } as const)
        : withSignal(kind === "card" ? readCard(request, entry) : call(request, entry), request.signal));
      entry.outcome = outcome.kind === "answer" ? "answered" : outcome.kind;
      if (outcome.kind !== "answer") return outcome;
      entry.status = outcome.status;
      return { ...outcome, headers: { date: httpDate(clock.now()), ...outcome.headers } };
    } catch (error) {
      entry.outcome = request.signal.aborted ? "aborted" : "reset";
      throw error;
    } finally {
      parts.pending.delete(request);
    }
  };
}

function bears({ headers }: AgentRequest, token: string | undefined): boolean {
  return token === undefined || headers.authorization === `Bearer ${token}`;
}

function unauthorized({ headers }: AgentRequest): Reply {
  const detail = headers.authorization === undefined ? "" : ', error="invalid_token"';
  return answer.json(
    { error: "unauthorized" },
    { status: 401, headers: { "www-authenticate": `Bearer realm="agent"${detail}` } },
  );
}
