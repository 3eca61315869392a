import { type CardAttempt, CardAuthError, CardNotFoundError, CardUnreachableError } from "../errors/card.ts";
import { ConnectionError, TimeoutError } from "../errors/transport.ts";
import type { Deviation } from "../model/deviation.ts";
import { defined } from "../util/freeze.ts";
import type { CardAnswer, CardValidators } from "./answer.ts";
import { attemptOf, type CardReader } from "./read.ts";
import { type CardSnapshot, snapshotCard, withVerdict } from "./snapshot.ts";
import type { CardVerifier } from "./verifier.ts";

/** What discovery needs. */
export interface DiscoverOptions {
  readonly read: CardReader;
  readonly maxDepth: number;
  readonly signal: AbortSignal;
  /** Judges the signatures of the card that is found. @default nobody does */
  readonly verifier?: CardVerifier;
}

/** A card that was found, and what it is checked with ever after. */
export interface DiscoveredCard {
  /** URL that answered. */
  readonly url: string;
  readonly snapshot: CardSnapshot;
  readonly validators: CardValidators;
  readonly ageSeconds?: number;
  /** For how long it may be used without asking, in milliseconds. */
  readonly freshForMs: number;
}

interface Place {
  readonly url: string;
  readonly isLegacy: boolean;
  /** Whether only JSON counts as an answer: a place that may be something else than a card. */
  readonly isGuess: boolean;
}

const current = "/.well-known/agent-card.json";
const legacy = "/.well-known/agent.json";

/**
 * Finds the card of an agent (8.2). A URL that names a document (`….json`, a query, a well-known path) is used
 * verbatim. From a base URL the well-known path below it is tried, then at the origin's root, then the older name in
 * both, then the URL itself. Only 404, 405 and 410 move on.
 *
 * @throws CardNotFoundError with every URL tried; CardAuthError, CardUnreachableError, CardUnreadableError,
 * CardInvalidError, CardSignatureError, ProtocolVersionError and RedirectRefusedError from the first URL that answers
 * otherwise.
 */
export async function discoverCard(source: string, options: DiscoverOptions): Promise<DiscoveredCard> {
  return tryPlaces(isCardUrl(source) ? [verbatim(source)] : placesBelow(source), options);
}

/** Reads the card at exactly one URL. Throws as {@link discoverCard} does. */
export async function readCardAt(url: string, options: DiscoverOptions): Promise<DiscoveredCard> {
  return tryPlaces([verbatim(url)], options);
}

async function tryPlaces(places: readonly Place[], options: DiscoverOptions): Promise<DiscoveredCard> {
  const attempts: CardAttempt[] = [];
  for (const place of places) {
    const answer = await readPlace(place, attempts, options);
    if (answer.kind === "card" && (!place.isGuess || /[/+]json$/.test(answer.mediaType))) {
      return found(place, answer, options);
    }
    attempts.push(attemptOf(place.url, answer.kind === "absent" ? answer.status : 200));
  }
  throw new CardNotFoundError(Object.freeze(attempts));
}

/** Reads one place. What ends the search says which URLs were tried before it. */
async function readPlace(
  { url, isGuess }: Place,
  before: readonly CardAttempt[],
  options: DiscoverOptions,
): Promise<CardAnswer> {
  try {
    return await options.read({ url, signal: options.signal });
  } catch (error) {
    if (error instanceof ConnectionError || error instanceof TimeoutError) {
      throw new CardUnreachableError(url, { cause: error, attempts: [...before, attemptOf(url)] });
    }
    if (error instanceof CardAuthError) {
      throw new CardAuthError(url, error.status, error.challenge, [...before, attemptOf(url, error.status)]);
    }
    if (!(error instanceof CardUnreachableError) || error.status === undefined) throw error;
    const { status, retryAfterMs, attemptCount } = error;
    // An endpoint for calls refuses a GET in ways of its own.
    if (isGuess && status >= 400 && status < 500 && ![408, 425, 429].includes(status)) {
      return { kind: "absent", status };
    }
    throw new CardUnreachableError(url, {
      ...defined({ status, retryAfterMs, attemptCount }),
      attempts: [...before, attemptOf(url, status)],
    });
  }
}

async function found(
  place: Place,
  answer: Extract<CardAnswer, { kind: "card" }>,
  options: DiscoverOptions,
): Promise<DiscoveredCard> {
  const deviations: Deviation[] = [];
  if (place.isLegacy) {
    const message = `found the card at ${legacy}, wanted ${current} (8.2)`;
    deviations.push({ kind: "legacy-card-path", message });
  }
  const received = snapshotCard(answer.bytes, {
    url: place.url,
    mediaType: answer.mediaType,
    secrets: answer.secrets,
    maxDepth: options.maxDepth,
    deviations,
  });
  const judged = await options.verifier?.verify(received.json, place.url, options.signal);
  if (judged?.refusal) throw judged.refusal;
  const snapshot = withVerdict(received, judged?.verdict);
  const age = answer.ageSeconds === undefined ? {} : { ageSeconds: answer.ageSeconds };
  return { url: place.url, snapshot, validators: answer.validators, freshForMs: answer.freshForMs, ...age };
}

function isCardUrl(source: string): boolean {
  const { pathname, search } = new URL(source);
  return search !== "" || pathname.endsWith(".json") || pathname.includes("/.well-known/");
}

function placesBelow(base: string): Place[] {
  const { origin, pathname } = new URL(base);
  const prefix = `${origin}${pathname.replace(/\/+$/, "")}`;
  const roots = [...new Set([prefix, origin])];
  return [
    ...roots.map((root) => ({ url: `${root}${current}`, isLegacy: false, isGuess: false })),
    ...roots.map((root) => ({ url: `${root}${legacy}`, isLegacy: true, isGuess: false })),
    ...(prefix === origin ? [] : [{ url: base, isLegacy: false, isGuess: true }]),
  ];
}

function verbatim(url: string): Place {
  return { url, isLegacy: false, isGuess: false };
}
