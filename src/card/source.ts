import { CardInvalidError, type CardSignatureError, CardUnreachableError } from "../errors/card.ts";
import { type Clock, elapsedMs, type Instant, isoTime, readInstant } from "../util/clock.ts";
import type { CardValidators } from "./answer.ts";
import { createFlights, type FlightKind } from "./flight.ts";
import { type CardHistory, createCardHistory } from "./history.ts";
import type { CardReader } from "./read.ts";
import { hasUnreadKeys, isTransient } from "./signature.ts";
import { type CardSnapshot, snapshotCard, withVerdict } from "./snapshot.ts";
import { type CardVerifier, signatureFailure } from "./verifier.ts";

/** What a check of the live card saw. */
export type CardReading =
  | {
      readonly kind: "card";
      readonly snapshot: CardSnapshot;
      /** Whether the whole card was read, or somebody only said that it is unchanged. */
      readonly via: "full" | "not-modified" | "shared" | "term" | "static";
      readonly at: Instant;
      /** Seconds that the answer had spent in caches, where one said so. */
      readonly ageSeconds?: number;
    }
  /** There is another card, and its signatures are not what the caller asks for. It does not become the current one. */
  | {
      readonly kind: "refused";
      readonly snapshot: CardSnapshot;
      readonly refusal: CardSignatureError;
      readonly at: Instant;
    }
  /** The card is gone: 404 or 410, twice. */
  | { readonly kind: "withdrawn"; readonly status: number; readonly at: Instant };

/** Where one agent's card is read, again and again, for everybody who holds a lease on it. */
export interface CardSource {
  /** URL that is checked; `undefined` for a card that never is. */
  readonly url: string | undefined;
  /** The last card that passed every check. */
  readonly current: CardSnapshot;
  /** What was seen of the card over time. */
  readonly history: CardHistory;
  /** When that card was last seen to be live; `undefined` for a card that was handed in and not checked yet. */
  readonly checkedAt: Instant | undefined;
  /** Whether the last check is younger than a term, or still fresh by RFC 9111 for `"http"`. */
  isWithin(term: number | "http"): boolean;
  /**
   * Reads the live card. An ordinary check is conditional and may share a read in flight; a forced one is a full read
   * that began after it was asked for.
   *
   * @throws the errors of a card read, when there is no telling.
   */
  check(kind: FlightKind, signal?: AbortSignal): Promise<CardReading>;
  /** Whether another process's look at the very bytes of the current card will do for a check, read in full or not. */
  takesWord(kind: FlightKind, isFull: boolean): boolean;
  /** Takes the word of another process that the very bytes of the current card were live at a moment, read in full or not. */
  confirm(at: Instant, isFull: boolean): CardReading;
}

/** What a card source starts from. */
export interface CardSourceOptions {
  readonly url: string;
  readonly read: CardReader;
  readonly clock: Clock;
  readonly maxDepth: number;
  /** Judges the signatures of every card before it becomes the current one. @default nobody does */
  readonly verifier?: CardVerifier;
  /** After how long a card that was only called unmodified is read in full again. */
  readonly fullCheckEveryMs: number;
  /** The first card, as discovered or handed in. */
  readonly initial: {
    readonly snapshot: CardSnapshot;
    readonly validators: CardValidators;
    /** For how long it may be used without asking; absent for a card that was handed in. */
    readonly freshForMs?: number;
  };
}

const noVerdict = Object.freeze({ verdict: undefined, refusal: undefined });

/** Makes the source of a card that lives at a URL. */
export function createCardSource(options: CardSourceOptions): CardSource {
  const { url, read, clock, maxDepth } = options;
  let current = options.initial.snapshot;
  let validators = options.initial.validators;
  let freshForMs = options.initial.freshForMs ?? 0;
  let readAt = readInstant(clock);
  let checkedAt = options.initial.freshForMs === undefined ? undefined : readAt;
  const history = createCardHistory();
  history.note(current);
  const join = createFlights(readLive);

  // A validator that stands for a card whose keys could not be read says nothing of its signatures.
  const isDue = () =>
    elapsedMs(clock, readAt) >= options.fullCheckEveryMs || hasUnreadKeys(current.signature);
  // Keys expire and are revoked under the same bytes, so what they vouch for is judged anew by each full read of one's own.
  const isSigned = () => current.signature !== undefined && current.signature.result !== "unsigned";

  async function readLive(kind: FlightKind, signal: AbortSignal): Promise<CardReading> {
    const canAsk = validators.etag !== undefined || validators.lastModified !== undefined;
    // A 304 is only the server's word: a validator made from a version text does not move with the content.
    const condition = kind === "ordinary" && canAsk && !isDue() ? validators : undefined;
    let answer = await read({ url, validators: condition, signal });
    if (answer.kind === "not-modified" && !isSameValidator(answer.validators, validators)) {
      // It is not our card that the server calls unmodified.
      answer = await read({ url, signal });
    }
    // One more look, since a restart of the server shows as a moment of 404.
    if (answer.kind === "absent") answer = await read({ url, signal });
    const at = readInstant(clock);
    if (answer.kind === "absent") {
      // 405 says that the URL is there.
      if (answer.status === 405) throw new CardUnreachableError(url, { status: answer.status });
      return { kind: "withdrawn", status: answer.status, at };
    }
    const age = answer.ageSeconds === undefined ? {} : { ageSeconds: answer.ageSeconds };
    if (answer.kind === "not-modified") {
      checkedAt = at;
      freshForMs = answer.freshForMs;
      return { kind: "card", snapshot: current, via: "not-modified", at, ...age };
    }
    const received = snapshotCard(answer.bytes, {
      url,
      mediaType: answer.mediaType,
      secrets: answer.secrets,
      maxDepth,
      previous: current,
    });
    const { verdict, refusal } = await verified(received, signal);
    const snapshot = withVerdict(received, verdict);
    if (refusal && !isTransient(verdict)) return { kind: "refused", snapshot, refusal, at };
    // Who signed can't be told now: no reason to give up a card of which it could.
    if (verdict && isTransient(verdict) && (refusal || current.signature?.result === "valid")) {
      throw refusal ?? signatureFailure(url, verdict);
    }
    // Every check passed: only now does the card become the current one.
    current = snapshot;
    validators = answer.validators;
    freshForMs = answer.freshForMs;
    checkedAt = at;
    readAt = at;
    history.note(snapshot);
    return { kind: "card", snapshot, via: "full", at, ...age };
  }

  async function verified({ json }: CardSnapshot, signal: AbortSignal) {
    return (await options.verifier?.verify(json, url, signal)) ?? noVerdict;
  }

  return {
    url,
    get current() {
      return current;
    },
    get checkedAt() {
      return checkedAt;
    },
    history,
    isWithin(term) {
      const termMs = term === "http" ? freshForMs : term;
      return checkedAt !== undefined && elapsedMs(clock, checkedAt) < termMs;
    },
    check: join,
    takesWord(kind, isFull) {
      return (isFull && !isSigned()) || (kind === "ordinary" && !isDue());
    },
    confirm(at, isFull) {
      checkedAt = at;
      if (isFull && !isSigned()) readAt = at;
      return { kind: "card", snapshot: current, via: "shared", at };
    },
  };
}

/** Makes the source of a card that was handed in and is never checked, until it is out of date. */
export function createStaticCardSource(
  snapshot: CardSnapshot,
  clock: Clock,
  untilMs = Number.POSITIVE_INFINITY,
): CardSource {
  const history = createCardHistory();
  history.note(snapshot);
  return {
    url: undefined,
    current: snapshot,
    history,
    checkedAt: readInstant(clock),
    isWithin: () => false,
    takesWord: () => false,
    confirm: (at) => ({ kind: "card", snapshot, via: "static", at }),
    async check() {
      const at = readInstant(clock);
      if (at.wallMs < untilMs) return { kind: "card", snapshot, via: "static", at };
      const message = `found the time ${isoTime(at.wallMs)}, wanted one before ${isoTime(untilMs)}`;
      throw new CardInvalidError(undefined, [{ path: "$", message }], snapshot.digest);
    },
  };
}

/** A 304 without validators speaks of the one that was sent. */
function isSameValidator(answered: CardValidators, asked: CardValidators): boolean {
  if (answered.etag !== undefined) return weak(answered.etag) === weak(asked.etag);
  return answered.lastModified === undefined || answered.lastModified === asked.lastModified;
}

function weak(etag: string | undefined): string | undefined {
  return etag?.replace(/^W\//, "");
}
