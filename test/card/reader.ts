import { createTestClock, type TestClock } from "a2a-lease/testing";
import type { CardAnswer } from "../../src/card/answer.ts";
import { createCardGate } from "../../src/card/gate.ts";
import { type CardReader, type CardReaderOptions, createCardReader } from "../../src/card/read.ts";
import { createHttp } from "../../src/wire/http.ts";
import { defaultLimits } from "../../src/wire/limits.ts";

/** One request that a web of tests was asked. */
export interface Asked {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cache: string | undefined;
}

/** What a URL answers: a response, something that makes one, or a failure. */
export type Answer =
  | Response
  | Error
  | ((asked: Asked, signal: AbortSignal | undefined) => Response | Promise<Response>);

/** Answers by URL, in order, the last one again and again; 404 where none is given. */
export function createWeb(answers: Readonly<Record<string, Answer | readonly Answer[]>>) {
  const asked: Asked[] = [];
  const left = new Map(Object.entries(answers).map(([url, list]) => [url, [list].flat()]));
  return {
    asked,
    async fetch(url: string, init: RequestInit): Promise<Response> {
      const request = { url, headers: Object.fromEntries(new Headers(init.headers)), cache: init.cache };
      asked.push(request);
      const queue = left.get(url) ?? [];
      const answer = queue.length > 1 ? queue.shift() : queue[0];
      if (answer instanceof Error) throw answer;
      if (typeof answer === "function") return answer(request, init.signal ?? undefined);
      return answer?.clone() ?? new Response("", { status: 404 });
    },
  };
}

/** A JSON answer. */
export function json(body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Response(text, { headers: { "content-type": "application/json", ...headers } });
}

/** An answer without content. */
export function status(code: number, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(code === 304 || code === 204 ? null : "", { status: code, headers });
}

/** An answer that never comes, until the caller has enough. */
export const silence: Answer = (_asked, signal) =>
  new Promise((_resolve, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason));
  });

/** A reader of such a web, by the test clock, with a budget of 30 seconds. */
export function createReader(
  web: Pick<ReturnType<typeof createWeb>, "fetch">,
  options: Partial<CardReaderOptions> & { readonly clock?: TestClock } = {},
): CardReader {
  const clock = options.clock ?? createTestClock();
  return createCardReader({
    http: createHttp({ fetch: web.fetch, clock }),
    clock,
    limits: defaultLimits,
    timeouts: { firstByteMs: 10_000, idleMs: 10_000, firstEventMs: 10_000 },
    totalMs: 30_000,
    gate: createCardGate(clock),
    principal: "default",
    headers: {},
    authorize: undefined,
    alwaysAuthorize: false,
    ...options,
  });
}

/** The text of an answer that is a card. */
export function bodyOf(answer: CardAnswer): string | undefined {
  return answer.kind === "card" ? new TextDecoder().decode(answer.bytes) : undefined;
}
