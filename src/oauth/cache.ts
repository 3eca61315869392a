import { type Clock, elapsedMs, type Instant } from "../util/clock.ts";
import { sha256HexOfText } from "../util/hash.ts";
import type { Flight } from "./flight.ts";

/** An access token and how long it lives. */
export interface AccessToken {
  /** The token. */
  readonly value: string;
  /** When the request left that brought it: its life began after that. */
  readonly since: Instant;
  /** How long it lives from then on, in milliseconds; endless where the server does not say. */
  readonly lifetimeMs: number;
}

/** What is kept under one key. */
export interface TokenEntry {
  /** The access token, as long as nobody refused it. */
  token?: AccessToken | undefined;
  /** A request for a token that is under way. */
  flight?: Flight<AccessToken> | undefined;
  /** An exchange of the refresh token that is under way, whoever waits for it; nothing where it counts no more. */
  renewal?: Promise<AccessToken | undefined> | undefined;
}

/** Most keys that a cache keeps; the one that was asked for longest ago goes first. */
const maxEntries = 1_000;

/** Tokens in memory. Nothing of them shows when it is printed. */
export class TokenCache {
  readonly #entries = new Map<string, TokenEntry>();
  #clearings = 0;

  /** How many keys there are something for. */
  get size(): number {
    return this.#entries.size;
  }

  /** How often it was cleared. For the providers of this door. */
  get clearings(): number {
    return this.#clearings;
  }

  /**
   * Forgets everything, what users agreed to included. A `refreshToken` that a provider was given, or the one that took
   * its place, stays with that provider: the first one may be worthless by now.
   */
  clear(): void {
    this.#entries.clear();
    this.#clearings += 1;
  }

  /** What is kept under a key; an empty entry, if there is none yet. For the providers of this door. */
  entry(key: string): TokenEntry {
    const known = this.#entries.get(key) ?? {};
    this.#entries.delete(key);
    this.#entries.set(key, known);
    for (const [oldest, { flight, renewal }] of this.#entries) {
      if (this.#entries.size <= maxEntries) break;
      if (!flight && !renewal && oldest !== key) this.#entries.delete(oldest);
    }
    return known;
  }
}

/** Makes a cache of tokens that several providers may share. */
export function createTokenCache(): TokenCache {
  return new TokenCache();
}

/** Names what a token was asked for with. Secrets stand in it by their fingerprint, and the key is one itself. */
export function tokenKey(parts: {
  readonly flow: string;
  readonly server: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly audience: string | undefined;
  readonly resource: string | undefined;
  readonly secret: string | undefined;
  readonly owner: string;
}): string {
  const { flow, server, clientId, scopes, audience, resource, secret, owner } = parts;
  const fingerprint = secret === undefined ? "" : sha256HexOfText(secret);
  const sorted = [...new Set(scopes)].sort();
  return sha256HexOfText(
    JSON.stringify([flow, server, clientId, sorted, audience ?? "", resource ?? "", fingerprint, owner]),
  );
}

/** Whether a token can still be used for a request that leaves now. */
export function isFresh(token: AccessToken, clock: Clock, skewMs: number): boolean {
  // A token that lives shorter than the skew would never be used at all.
  const skew = Math.min(skewMs, token.lifetimeMs / 2);
  return elapsedMs(clock, token.since) < token.lifetimeMs - skew;
}
