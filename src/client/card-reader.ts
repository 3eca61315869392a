import type { CardAuthorizer } from "../card/authorizer.ts";
import { createCardGate } from "../card/gate.ts";
import { type CardReader, createCardReader } from "../card/read.ts";
import { readInstant } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import type { HttpExchange } from "../wire/http.ts";
import { type CredentialScope, credentialsFor } from "./credentials.ts";
import { defaultReadMs } from "./options.ts";
import type { ResolvedOptions } from "./resolve-options.ts";
import type { Retrier } from "./retry.ts";
import { sharedByRoute } from "./retry-budget.ts";

/** How cards are read. */
export interface Network {
  readonly http: HttpExchange;
  readonly retry: Retrier;
}

/** Makes what reads the cards of one client: with its credentials, its retries and its bounds. */
export function cardReader(
  options: ResolvedOptions,
  { http, retry }: Network,
  credentials: CredentialScope,
): CardReader {
  const { clock, limits, timeouts } = options;
  const authorize: CardAuthorizer = async ({ url, challenge, refused, signal }) => {
    const given = await credentialsFor(credentials, {
      url,
      purpose: "card",
      card: undefined,
      signal,
      ...defined({ challenge, refused }),
    });
    return Object.keys(given.headers).length > 0 || given.query !== undefined ? given : undefined;
  };
  return createCardReader({
    http,
    clock,
    limits,
    timeouts,
    totalMs: timeouts.totalMs ?? defaultReadMs,
    retry: (read, attempt) =>
      retry({ ...read, operation: "card", isRepeatable: true, since: readInstant(clock) }, attempt),
    gate: gateOf(options),
    principal: options.principal,
    headers: options.headers,
    authorize: options.credentials === undefined ? undefined : authorize,
    known: () => credentials.sent.unnamed,
    alwaysAuthorize: options.cardCredentials === "always",
  });
}

/** What a server asked of one client it asked of all that come the same way. */
const gateOf = sharedByRoute(createCardGate);
