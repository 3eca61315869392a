import type { CardDigests } from "a2a-lease";
import type { CardExchange, RunRecord } from "./record.ts";

/** One reading of the card, with the second look that follows a 404. */
export interface CardRead {
  readonly from: number;
  readonly fromMs: number;
  /** When its last answer was there; absent while it is under way. */
  readonly until?: number;
  readonly untilMs?: number;
  /** Whether the whole card was asked for. */
  readonly isFull: boolean;
  /** Whether the whole card was due, so that an ordinary check asks for it as a forced one does. */
  readonly isDue: boolean;
  readonly found: Found;
  /** Whether it was given up before its answer came. */
  readonly isGivenUp: boolean;
}

/** What a reading brought. */
export type Found =
  | { readonly kind: "card"; readonly digests: CardDigests }
  | { readonly kind: "unmodified" }
  | { readonly kind: "withdrawn" }
  | { readonly kind: "nothing" };

/** The readings of the card, in order. */
export function cardReadsOf({ exchanges, settings }: RunRecord): readonly CardRead[] {
  const reads: CardRead[] = [];
  let isConfirming = false;
  let lastFullMs: number | undefined;
  for (const exchange of exchanges) {
    if (exchange.kind !== "card") continue;
    const isSecondLook: boolean = isConfirming && exchange.isFull;
    const first: CardRead | undefined = isSecondLook ? reads.pop() : undefined;
    const read = readOf(
      exchange,
      first,
      exchange.atMs - (lastFullMs ?? exchange.atMs) >= settings.fullCheckEveryMs,
    );
    reads.push(read);
    if (read.isFull && read.found.kind === "card") lastFullMs = read.untilMs ?? lastFullMs;
    isConfirming = !isSecondLook && isGone(exchange);
  }
  return reads;
}

function readOf(exchange: CardExchange, first: CardRead | undefined, isDue: boolean): CardRead {
  const { answer, failure } = exchange;
  const end = answer ?? failure;
  return {
    from: first?.from ?? exchange.at,
    fromMs: first?.fromMs ?? exchange.atMs,
    isFull: first?.isFull ?? exchange.isFull,
    isDue: first?.isDue ?? isDue,
    found: foundIn(exchange, first !== undefined),
    isGivenUp: failure?.how === "aborted",
    ...(end ? { until: end.at } : {}),
    ...(answer ? { untilMs: answer.atMs } : {}),
  };
}

function foundIn(exchange: CardExchange, isSecondLook: boolean): Found {
  const { answer, digests } = exchange;
  if (digests) return { kind: "card", digests };
  if (answer?.status === 304 && !exchange.isFull) return { kind: "unmodified" };
  return isSecondLook && isGone(exchange) ? { kind: "withdrawn" } : { kind: "nothing" };
}

function isGone({ answer }: CardExchange): boolean {
  return answer?.status === 404 || answer?.status === 410;
}

/** What a reading says of a pin. */
export type Verdict = "same" | "drift" | "no-telling";

/** Judges a reading; an unmodified card is taken at the server's word. */
export function judge(
  { found }: CardRead,
  pin: CardDigests,
  compare: RunRecord["settings"]["compare"],
): Verdict {
  if (found.kind === "nothing") return "no-telling";
  if (found.kind === "unmodified") return "same";
  if (found.kind === "withdrawn") return "drift";
  const { digest, structuralDigest } = found.digests;
  const isSame =
    digest === pin.digest || (compare === "structure" && structuralDigest === pin.structuralDigest);
  return isSame ? "same" : "drift";
}

/** Whether the server had asked for no card read before a certain time, at a moment of the run. */
export function isGateClosed({ exchanges }: RunRecord, at: number, atMs: number): boolean {
  let untilMs = Number.NEGATIVE_INFINITY;
  for (const { kind, answer } of exchanges) {
    if (kind !== "card" || !answer || answer.at > at) continue;
    const { retryAfterMs } = answer;
    untilMs = retryAfterMs === undefined ? Number.NEGATIVE_INFINITY : answer.atMs + retryAfterMs;
  }
  return atMs < untilMs;
}
