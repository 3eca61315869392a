import { type CardDigests, cardDigest, cardStructureDigest, type OperationName } from "a2a-lease";
import type { AgentFetch, TestClock } from "a2a-lease/testing";
import type { CallExchange, CardExchange, Exchange, KnownStatus, Sighting } from "./record.ts";

/** A value whose members may still be written. */
export type Open<T> = { -readonly [K in keyof T]: T[K] };
type OpenCall = Open<CallExchange> & { sightings: Sighting[] };
type Json = Readonly<Record<string, unknown>>;

/** What a recorder is made from. */
export interface RecorderOptions {
  readonly clock: TestClock;
  readonly fetch: AgentFetch;
  /** What the caller can see of a task right now. */
  readonly known: (taskId: string) => KnownStatus | undefined;
}

/** Header that says for which of the caller's steps a call is made. */
export const stepHeader = "x-step";

/** Writes down what passes between a client and an agent, in the one order of the run, and changes nothing of it. */
export function createRecorder({ clock, fetch, known }: RecorderOptions) {
  const exchanges: Exchange[] = [];
  /** Failures of the test's own scripts, which must not pass for failures of the network. */
  const mistakes: unknown[] = [];
  let order = 0;
  const next = () => {
    order += 1;
    return order;
  };

  async function recorded(url: string, init: RequestInit): Promise<Response> {
    const exchange = open(new Headers(init.headers), init);
    exchanges.push(exchange);
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch (error) {
      exchange.failure = { at: next(), how: howFailed(error, init.signal) };
      throw error;
    }
    const mediaType = (response.headers.get("content-type") ?? "").replace(/;.*/, "");
    const isStream = mediaType === "text/event-stream" && exchange.kind === "call";
    const text = isStream || response.status === 304 ? "" : await response.text();
    const retryAfter = response.headers.get("retry-after");
    exchange.answer = {
      at: next(),
      atMs: clock.now(),
      status: response.status,
      mediaType,
      ...(retryAfter === null ? {} : { retryAfterMs: Number(retryAfter) * 1000 }),
    };
    if (exchange.kind === "card") {
      const digests = response.status === 200 ? digestsOf(text) : undefined;
      if (digests) exchange.digests = digests;
    } else if (isStream) return watched(response, exchange);
    else see(exchange, text);
    return response.status === 304 ? response : new Response(text, headOf(response));
  }

  function open(headers: Headers, { method, body }: RequestInit): OpenCall | Open<CardExchange> {
    const left = { at: next(), atMs: clock.now() };
    if (method === "GET") {
      const isFull = !headers.has("if-none-match") && /no-cache/.test(headers.get("cache-control") ?? "");
      return { ...left, kind: "card", isFull };
    }
    const { method: operation, params } = JSON.parse(String(body)) as { method: string; params: Json };
    const message = (params.message ?? {}) as Json;
    const stepId = headers.get(stepHeader);
    const authorization = headers.get("authorization");
    return {
      ...left,
      kind: "call",
      operation: operation as OperationName,
      sightings: [],
      ...textMember("taskId", params.id ?? message.taskId),
      ...textMember("messageId", message.messageId),
      ...(stepId === null ? {} : { stepId }),
      ...(authorization === null ? {} : { authorization }),
    };
  }

  function howFailed(error: unknown, signal: AbortSignal | null | undefined) {
    if (signal?.aborted) return "aborted";
    const { code } = ((error as Error).cause ?? {}) as { code?: string };
    if (code === undefined) mistakes.push(error);
    return code === "ECONNREFUSED" ? "refused" : "reset";
  }

  /** Notes what one JSON-RPC response shows. */
  function see(exchange: OpenCall, text: string): void {
    let json: Json;
    try {
      json = JSON.parse(text) as Json;
    } catch {
      return;
    }
    const at = next();
    const { code } = (json.error ?? {}) as { code?: number };
    if (code !== undefined) return void exchange.sightings.push({ at, code });
    const result = (json.result ?? {}) as Json;
    const shown = (result.task ?? result.statusUpdate ?? result) as Json;
    const status = shown.status as Json | undefined;
    const taskId = shown.taskId ?? shown.id;
    if (!status || typeof taskId !== "string") return void exchange.sightings.push({ at });
    const before = known(taskId);
    const seen = { at, taskId, status: statusOf(status) };
    exchange.sightings.push(before ? { ...seen, before } : seen);
  }

  /** The same stream, piece by piece as the reader takes it. */
  function watched(response: Response, exchange: OpenCall): Response {
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done = true, value } = (await reader?.read()) ?? {};
          if (done || !value) return controller.close();
          // The agent writes one event, and no part of another, in each chunk.
          const data = /^data: (.*)$/m.exec(decoder.decode(value))?.[1];
          if (data !== undefined) see(exchange, data);
          controller.enqueue(value);
        },
        async cancel(reason) {
          if (reason instanceof Error && reason.name === "StreamStalledError") exchange.stalledAt = next();
          await reader?.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, headOf(response));
  }

  return { exchanges, mistakes, next, fetch: recorded };
}

/** The status as what tells it from another. */
export function statusOf(status: Json): KnownStatus {
  const { messageId } = (status.message ?? {}) as Json;
  return {
    state: String(status.state),
    timestamp: typeof status.timestamp === "string" ? status.timestamp : undefined,
    messageId: typeof messageId === "string" ? messageId : undefined,
  };
}

function headOf({ status, headers }: Response): ResponseInit {
  return { status, headers };
}

function textMember<K extends string>(name: K, value: unknown): { [N in K]?: string } {
  return (typeof value === "string" ? { [name]: value } : {}) as { [N in K]?: string };
}

const digestsByText = new Map<string, CardDigests>();

function digestsOf(text: string): CardDigests | undefined {
  const found = digestsByText.get(text);
  if (found) return found;
  try {
    const digests = { digest: cardDigest(text), structuralDigest: cardStructureDigest(text) };
    digestsByText.set(text, digests);
    return digests;
  } catch {
    return undefined;
  }
}
