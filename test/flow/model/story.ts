import {
  CardDriftError,
  cardDigest,
  cardStructureDigest,
  type DriftPhase,
  judgeCard,
  type OperationName,
  pinCard,
} from "a2a-lease";
import { type CardName, cards } from "./cards.ts";
import type { CallExchange, CardExchange, RunRecord, RunSettings, Step, StepKind } from "./record.ts";
import type { Open } from "./recorder.ts";

interface Draft {
  readonly exchanges: Map<string, Open<CallExchange> | Open<CardExchange>>;
  readonly steps: Map<string, Open<Step>>;
}

/** One thing that happens in a story. */
export type Happening = (draft: Draft, at: number) => void;

const settings: RunSettings = {
  posture: "fail-closed",
  compare: "content",
  leaseTermMs: 0,
  fullCheckEveryMs: Number.POSITIVE_INFINITY,
  credentials: "none",
};

/** Makes the record of a run by hand: what happens, in order, at one moment after the other. */
export function tell(happenings: readonly Happening[], changes: Partial<RunSettings> = {}): RunRecord {
  const draft: Draft = { exchanges: new Map(), steps: new Map() };
  for (const [index, happening] of happenings.entries()) happening(draft, index + 1);
  const exchanges = [...draft.exchanges.values()];
  return { settings: { ...settings, ...changes }, exchanges, steps: [...draft.steps.values()] };
}

/** The caller begins something, under the first card. */
export function begins(id: string, kind: StepKind, more: Partial<Step> = {}): Happening {
  const pin = {
    digest: cardDigest(cards["the first"]),
    structuralDigest: cardStructureDigest(cards["the first"]),
  };
  return ({ steps }, startedAt) => {
    const isOfPlan = kind === "send" || kind === "stream";
    const owner = isOfPlan ? { holder: "plan-1" } : { holder: "t1", taskId: "t1" };
    steps.set(id, { id, kind, label: id, pin, ...owner, startedAt, startedMs: 0, ...more });
  };
}

/** It comes to an end: by an error, where one is given. */
export function ends(id: string, error?: unknown): Happening {
  return ({ steps }, at) => {
    const step = found(steps, id);
    step.settled = error === undefined ? { at, atMs: 0, isOk: true } : { at, atMs: 0, isOk: false, error };
  };
}

/** Its signal is aborted. */
export function aborts(id: string, reason: unknown): Happening {
  return ({ steps }, at) => {
    found(steps, id).aborted = { at, reason };
  };
}

/** A call leaves for a step. */
export function leaves(
  name: string,
  stepId: string | undefined,
  operation: OperationName,
  more: Partial<CallExchange> = {},
): Happening {
  return ({ exchanges }, at) => {
    const step = stepId === undefined ? {} : { stepId };
    exchanges.set(name, {
      kind: "call",
      at,
      atMs: 0,
      operation,
      taskId: "t1",
      sightings: [],
      ...step,
      ...more,
    });
  };
}

/** It is answered: with an error of JSON-RPC, a task in some state, or an HTTP status. */
export function isAnswered(
  name: string,
  by: {
    readonly code?: number;
    readonly state?: string;
    readonly status?: number;
    readonly mediaType?: string;
    readonly retryAfterMs?: number;
  },
): Happening {
  return ({ exchanges }, at) => {
    const call = found(exchanges, name);
    const { code, state, status = 200, mediaType = "application/json", retryAfterMs } = by;
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    call.answer = { at, atMs: 0, status, mediaType, ...wait };
    if (call.kind === "card") return;
    if (code !== undefined) call.sightings = [{ at, code }];
    if (state !== undefined) call.sightings = [{ at, taskId: "t1", status: { state } }];
  };
}

/** The card is asked for: in full, or only whether it is the same. */
export function asks(name: string, how: "in full" | "by its validator" = "in full"): Happening {
  return ({ exchanges }, at) => {
    exchanges.set(name, { kind: "card", at, atMs: 0, isFull: how === "in full" });
  };
}

/** The card comes. */
export function brings(name: string, card: CardName | "unmodified"): Happening {
  return ({ exchanges }, at) => {
    const read = found(exchanges, name);
    const isCard = card !== "unmodified";
    read.answer = { at, atMs: 0, status: isCard ? 200 : 304, mediaType: "application/json" };
    if (read.kind !== "card" || !isCard) return;
    read.digests = { digest: cardDigest(cards[card]), structuralDigest: cardStructureDigest(cards[card]) };
  };
}

/** The error that a drift from the first card to another is. */
export function driftTo(
  card: CardName,
  { cause, taskId, check = "forced" }: { cause?: unknown; taskId?: string; check?: DriftPhase["check"] } = {},
): CardDriftError {
  const options = { phase: { operation: "GetTask", check } } as const;
  const verdict = judgeCard(pinCard(cards["the first"]), cards[card], {}, options);
  if (verdict.outcome !== "drift") throw new TypeError(`${card} is no other card`);
  const details = { cause, renegotiate: () => Promise.reject(new TypeError("the story has no client")) };
  return new CardDriftError(verdict.drift, taskId === undefined ? details : { ...details, taskId });
}

function found<T>(map: ReadonlyMap<string, T>, name: string): T {
  const value = map.get(name);
  if (value === undefined) throw new TypeError(`the story has no ${name}`);
  return value;
}
