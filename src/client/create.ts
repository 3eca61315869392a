import { discoverCard, readCardAt } from "../card/discover.ts";
import { type CardSnapshot, snapshotCard, withVerdict } from "../card/snapshot.ts";
import { type CardSource, createCardSource, createStaticCardSource } from "../card/source.ts";
import { type CardVerifier, createCardVerifier } from "../card/verifier.ts";
import { CardInvalidError } from "../errors/card.ts";
import { boundLedger } from "../ledger/bound.ts";
import { cardKeyOf } from "../ledger/card-key.ts";
import type { AgentCard } from "../model/card.ts";
import type { JsonObject } from "../model/schema.ts";
import { createScope } from "../util/abort.ts";
import { readInstant } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { redactUrl } from "../util/redact.ts";
import { createHttp } from "../wire/http.ts";
import { createBindings } from "./bindings.ts";
import { cardReader, type Network } from "./card-reader.ts";
import { A2AClient } from "./client.ts";
import type { CredentialScope } from "./credentials.ts";
import { createObserver, type Observer } from "./observer.ts";
import { checkClientOptions } from "./option-names.ts";
import type { ClientOptions } from "./options.ts";
import { pinForPlan } from "./renegotiate.ts";
import { type ResolvedOptions, resolveOptions } from "./resolve-options.ts";
import { createRetrier } from "./retry.ts";
import { createRetryBudget, sharedByRoute } from "./retry-budget.ts";
import { createSentSecrets } from "./sent-secrets.ts";
import type { Session } from "./session.ts";
import { shareSource } from "./shared-source.ts";
import { createTrustBook } from "./trust.ts";

/**
 * Where an agent's card is: a base URL, the card's own URL, the URL of exactly one document (`{ cardUrl }`, read
 * verbatim), or the card itself as an object or as the bytes received.
 */
export type CardSourceInput =
  | string
  | URL
  | { readonly cardUrl: string | URL }
  | AgentCard
  | JsonObject
  | Uint8Array;

/**
 * Reads an agent's card, checks it, pins it, and makes the client that plans on it.
 *
 * @throws the card errors when there is no usable card; AddressRefusedError when all of its interfaces lead where
 * `addressPolicy` does not go; RequirementUnmetError when it does not meet `requires`.
 * @throws TypeError naming the option for a wrong option.
 */
export async function createClient(source: CardSourceInput, options: ClientOptions = {}): Promise<A2AClient> {
  return connectClient(source, options, createCardVerifier);
}

/** Does the same with a verifier that several clients may share, and with it the key sets that it has read. */
export async function connectClient(
  source: CardSourceInput,
  options: ClientOptions,
  makeVerifier: typeof createCardVerifier,
): Promise<A2AClient> {
  checkClientOptions(options);
  const resolved = resolveOptions(options);
  const closing = new AbortController();
  const scope = createScope(resolved.clock, [options.signal]);
  try {
    const http = createHttp({ fetch: resolved.fetch, clock: resolved.clock });
    const { clock, limits, principal, random } = resolved;
    const bindings = createBindings({ http, clock, limits }, resolved);
    const verifier = await makeVerifier(resolved.signatures, { http, clock, limits });
    let observer: Observer | undefined;
    const retry = createRetrier({
      options: resolved.retries,
      budget: retryBudgetOf(resolved),
      clock,
      random: random ?? Math.random,
      emit: (event) => observer?.emit("retry", event),
    });
    const found = await findCard(source, resolved, { http, retry, verifier, signal: scope.signal });
    observer = createObserver(clock, found.source.url);
    const ledger = boundLedger(resolved.ledger, resolved.clock, closing.signal);
    const cardKey = cardKeyOf(found.source.url);
    const session: Session = {
      options: resolved,
      source: shareSource(found.source, { ledger, clock, random, cardKey, principal }),
      verifier,
      cardKey,
      bindings,
      ledger,
      clock: resolved.clock,
      credentials: found.credentials,
      observer,
      retry,
      trust: createTrustBook(ledger, resolved.clock),
      closed: closing.signal,
      lastReading: {
        kind: "card",
        snapshot: found.source.current,
        via: found.source.url === undefined ? "static" : "full",
        at: found.source.checkedAt ?? readInstant(resolved.clock),
        ...defined({ ageSeconds: found.ageSeconds }),
      },
      isStale: false,
    };
    checkExpected(found.source, resolved);
    const pin = resolved.pin ?? pinForPlan(session, found.source.current, resolved.requires);
    await session.trust.refresh(pin);
    return new A2AClient(session, pin, closing);
  } catch (error) {
    throw scope.signal.aborted ? scope.signal.reason : error;
  } finally {
    scope.release();
  }
}

/** A registry's word on the card is checked once, when it is read; from then on the pin decides. */
function checkExpected(source: CardSource, { expectedDigest }: ResolvedOptions): void {
  const { digest } = source.current;
  if (expectedDigest === undefined || expectedDigest === digest) return;
  const issue = { path: "$", message: `found the digest ${digest}, wanted ${expectedDigest} as vouched for` };
  throw new CardInvalidError(source.url, [issue], digest);
}

interface FoundCard {
  readonly source: CardSource;
  readonly credentials: CredentialScope;
  readonly ageSeconds?: number;
}

/** Finds the card, or takes the one that was handed in, and says where credentials may go. */
async function findCard(
  input: CardSourceInput,
  options: ResolvedOptions,
  {
    signal,
    verifier,
    ...network
  }: Network & { readonly verifier: CardVerifier; readonly signal: AbortSignal },
): Promise<FoundCard> {
  const { clock, limits, revalidateAt, fullCheckEveryMs } = options;
  const maxDepth = limits.cardDepth;
  const where = readInput(input);
  const url = "card" in where ? revalidateAt : where.url;
  const origins = [...(url === undefined ? [] : [new URL(url).origin]), ...options.allowedOrigins];
  const sent = createSentSecrets(url);
  // One that will be sent to everybody is known before it is.
  const { bearer } = { bearer: undefined, ...options.credentials };
  if (bearer !== undefined) sent.add({ authorization: `Bearer ${bearer}` });
  const credentials: CredentialScope = {
    credentials: options.credentials,
    origins: [...new Set(origins)],
    sent,
  };
  if (url === undefined && "card" in where) {
    const { immutable } = options;
    if (!immutable) {
      throw new TypeError("immutable: a card that is handed in wants revalidateAt, or immutable: true");
    }
    const untilMs = typeof immutable === "object" ? immutable.untilMs : Number.POSITIVE_INFINITY;
    const snapshot = await verified(snapshotInput(where.card, maxDepth), verifier, signal);
    return { source: createStaticCardSource(snapshot, clock, untilMs), credentials };
  }
  const read = cardReader(options, network, credentials);
  const shared = { read, clock, maxDepth, verifier, fullCheckEveryMs };
  if ("card" in where) {
    const snapshot = await verified(snapshotInput(where.card, maxDepth, url), verifier, signal);
    const initial = { snapshot, validators: {} };
    return { source: createCardSource({ ...shared, url: url ?? "", initial }), credentials };
  }
  const discover = where.isExact ? readCardAt : discoverCard;
  const found = await discover(where.url, { read, maxDepth, signal, verifier });
  return {
    source: createCardSource({ ...shared, url: found.url, initial: found }),
    credentials,
    ...defined({ ageSeconds: found.ageSeconds }),
  };
}

/** A card that was handed in, once its signatures are what the caller asks for. */
async function verified(
  snapshot: CardSnapshot,
  verifier: CardVerifier,
  signal: AbortSignal,
): Promise<CardSnapshot> {
  const { verdict, refusal } = await verifier.verify(snapshot.json, snapshot.url, signal);
  if (refusal) throw refusal;
  return withVerdict(snapshot, verdict);
}

function readInput(
  input: CardSourceInput,
): { url: string; isExact: boolean } | { card: JsonObject | Uint8Array } {
  if (typeof input === "string" || input instanceof URL) return { url: checkUrl(input), isExact: false };
  if (input instanceof Uint8Array) return { card: input };
  if (typeof input !== "object" || input === null) {
    throw new TypeError(`source: found ${typeof input}, wanted a URL, { cardUrl }, or a card`);
  }
  const { cardUrl } = input as { cardUrl?: string | URL };
  if (cardUrl !== undefined) return { url: checkUrl(cardUrl), isExact: true };
  return { card: input as JsonObject };
}

function checkUrl(input: string | URL): string {
  const text = String(input);
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isHttp)
    throw new TypeError(`source: found ${JSON.stringify(redactUrl(text))}, wanted an http or https URL`);
  const { username, password } = new URL(text);
  if (username || password)
    throw new TypeError("source: found a URL with a user name, wanted one without credentials");
  return text.replace(/#.*$/s, "");
}

function snapshotInput(card: JsonObject | Uint8Array, maxDepth: number, url?: string): CardSnapshot {
  const bytes = card instanceof Uint8Array ? card : new TextEncoder().encode(JSON.stringify(card));
  return snapshotCard(bytes, { url, maxDepth });
}

/** What a server asked of one client it asked of all that come the same way. */
const retryBudgetOf = sharedByRoute(createRetryBudget);
