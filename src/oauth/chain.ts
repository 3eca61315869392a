import { TokenRequestError } from "../errors/credentials.ts";
import type { GrantedToken } from "./grants.ts";

/**
 * The refresh tokens that follow each other after one agreement. Using one may make it worthless, so that a server that
 * sees it again takes it for stolen: they are used one after the other, each of them once, whatever is asked for with it.
 */
export interface RefreshChain {
  /** Whether there is a token that may count at a server. */
  isAlive(server: string): boolean;
  /**
   * Exchanges the token that counts, once all exchanges before this one are over. What the server gives counts from then
   * on; `keep`, which hears of a refresh token where it is another one, is waited for before the next exchange.
   *
   * @returns nothing where no token counts any more.
   */
  exchange<T>(
    server: string,
    use: (refreshToken: string) => Promise<GrantedToken>,
    keep: (granted: GrantedToken) => Promise<T>,
  ): Promise<T | undefined>;
  /** Goes on with the refresh token of a new agreement. */
  begin(server: string, refreshToken: string): void;
}

/** Most servers at which a token is tried until one of them takes it. */
const maxServers = 20;

/** Starts a chain; without a token there is none yet. It belongs to the first server that takes its token. */
export function createChain(initial?: string): RefreshChain {
  let current = initial;
  let owner: string | undefined;
  const refusers = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();

  function tokenAt(server: string): string | undefined {
    if (owner !== undefined) return owner === server ? current : undefined;
    return refusers.has(server) || refusers.size >= maxServers ? undefined : current;
  }

  async function turn<T>(server: string, ...[use, keep]: Steps<T>): Promise<T | undefined> {
    const token = tokenAt(server);
    if (token === undefined) return undefined;
    let granted: GrantedToken;
    try {
      granted = await use(token);
    } catch (error) {
      const isOver =
        error instanceof TokenRequestError &&
        error.reason === "refused" &&
        error.oauthError === "invalid_grant";
      if (!isOver) throw error;
      if (owner === undefined) refusers.add(server);
      else if (current === token) current = undefined;
      return undefined;
    }
    owner = server;
    current = granted.refreshToken ?? token;
    const { refreshToken, ...rest } = granted;
    return keep(refreshToken === token ? rest : granted);
  }

  return {
    isAlive: (server) => tokenAt(server) !== undefined,
    exchange(server, use, keep) {
      const next = last.then(() => turn(server, use, keep));
      last = next.catch(() => {});
      return next;
    },
    begin(server, refreshToken) {
      owner = server;
      current = refreshToken;
    },
  };
}

type Steps<T> = [
  use: (refreshToken: string) => Promise<GrantedToken>,
  keep: (granted: GrantedToken) => Promise<T>,
];

/** All chains of one provider. */
export interface RefreshChains {
  /** The one that begins with the token that the caller gave, whatever is asked for. */
  readonly given: RefreshChain;
  /** The one that began when a user agreed to something, by what it was. */
  agreed(key: string): RefreshChain;
  /** Forgets what users agreed to. */
  forget(): void;
}

/** Most agreements that are kept; the one that was asked for longest ago goes first. */
const maxAgreements = 1_000;

/** Makes the chains of one provider. */
export function createChains(initial: string | undefined): RefreshChains {
  const agreements = new Map<string, RefreshChain>();
  return {
    given: createChain(initial),
    agreed(key) {
      const chain = agreements.get(key) ?? createChain();
      agreements.delete(key);
      agreements.set(key, chain);
      for (const oldest of agreements.keys()) {
        if (agreements.size <= maxAgreements) break;
        agreements.delete(oldest);
      }
      return chain;
    },
    forget: () => agreements.clear(),
  };
}
