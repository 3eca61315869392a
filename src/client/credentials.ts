import { originOf } from "../card/interface.ts";
import { AuthenticationError, AuthorizationError, CredentialOriginError } from "../errors/auth.ts";
import { A2ALeaseError } from "../errors/base.ts";
import type { AgentCard } from "../model/card.ts";
import type {
  ChosenRequirement,
  CredentialContext,
  CredentialProvider,
  Credentials,
  RequestCredentials,
} from "../model/credentials.ts";
import { withSignal } from "../util/abort.ts";
import { thrownText } from "../util/found.ts";
import { defined, isRecord } from "../util/freeze.ts";
import { checkHeaders } from "./headers.ts";
import { asksForCredentials, requirementsOf } from "./security-requirements.ts";
import type { SentSecrets } from "./sent-secrets.ts";

/** Where credentials may go. */
export interface CredentialScope {
  readonly credentials: Credentials | undefined;
  /** Origins that they are bound to: the card's, and those that the caller allowed. */
  readonly origins: readonly string[];
  /** What went there. */
  readonly sent: SentSecrets;
}

/** One request for credentials. */
export interface CredentialRequest {
  readonly url: string;
  readonly purpose: "card" | "call";
  /** The card, once it is known. */
  readonly card: AgentCard | undefined;
  /** Ids of the skills that the call needs, whose own requirements count too. */
  readonly skills?: readonly string[];
  readonly challenge?: string;
  /** What was refused with the challenge. */
  readonly refused?: RequestCredentials;
  readonly signal: AbortSignal;
}

/** The secrets of one request, checked. */
export interface ResolvedCredentials {
  /** Headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Query parameters; there only where there are any. */
  readonly query?: Readonly<Record<string, string>>;
  /** What they were chosen for. */
  readonly requirement?: ChosenRequirement;
}

const none: ResolvedCredentials = Object.freeze({ headers: Object.freeze({}) });

/**
 * What authenticates a request; nothing where no credentials are configured, or where the request leaves the bound
 * origins and the card does not say that it needs any.
 *
 * @throws CredentialOriginError when a call that needs credentials leaves the bound origins.
 * @throws AuthenticationError when the caller's function fails; an error of this library that it throws goes on as it is.
 */
export async function credentialsFor(
  scope: CredentialScope,
  request: CredentialRequest,
): Promise<ResolvedCredentials> {
  const given = await credentialsWithin(scope, request);
  scope.sent.add(given.headers, given.query);
  return given;
}

async function credentialsWithin(
  scope: CredentialScope,
  request: CredentialRequest,
): Promise<ResolvedCredentials> {
  const { credentials } = scope;
  if (credentials === undefined) return none;
  const origin = originOf(request.url);
  const requirements = requirementsOf(request.card, request.skills);
  if (!scope.origins.includes(origin)) {
    if (request.challenge === undefined && !asksForCredentials(requirements)) return none;
    throw new CredentialOriginError(origin, scope.origins);
  }
  if (typeof credentials !== "function") {
    return { headers: checkHeaders("credentials", { authorization: `Bearer ${credentials.bearer}` }) };
  }
  const { purpose, challenge, refused, signal } = request;
  const context = { origin, purpose, requirements, signal, ...defined({ challenge, refused }) };
  return checkGiven(await ask(credentials, context, { url: request.url, sent: scope.sent.values }));
}

async function ask(
  provider: CredentialProvider,
  context: CredentialContext,
  { url, sent }: { readonly url: string; readonly sent: readonly string[] },
): Promise<unknown> {
  try {
    // A function that never answers must not hold up a caller who gave up.
    return await withSignal(Promise.resolve(provider(context)), context.signal);
  } catch (failure) {
    if (context.signal.aborted) throw context.signal.reason;
    if (failure instanceof A2ALeaseError) throw failure;
    // What it threw may hold the very secrets that it works with: only its words go on, redacted.
    const found = `that the credentials function threw ${thrownText(failure, sent)}`;
    const wanted = "{ headers } or { query } from it, or undefined";
    throw new AuthenticationError(url, { challenge: context.challenge, found, wanted });
  }
}

/** What a credentials function gave; nothing is left out in silence. */
function checkGiven(given: unknown): ResolvedCredentials {
  if (given === undefined) return none;
  const { headers, query, requirement } = isRecord(given) ? given : {};
  const isUseful = isRecord(headers) || (headers === undefined && isRecord(query));
  if (!isUseful) {
    throw new TypeError(
      "credentials: the function gave no { headers } or { query }, wanted them or undefined",
    );
  }
  const plain = headers instanceof Headers ? Object.fromEntries(headers) : (headers ?? {});
  return Object.freeze({
    headers: checkHeaders("credentials", plain as Record<string, string>),
    ...checkQuery(query),
    ...(isRecord(requirement) ? { requirement: requirement as unknown as ChosenRequirement } : {}),
  });
}

function checkQuery(query: unknown): { query?: Readonly<Record<string, string>> } {
  if (query === undefined) return {};
  const parameters = isRecord(query) ? Object.entries(query) : undefined;
  if (!parameters?.every(([, value]) => typeof value === "string")) {
    throw new TypeError("credentials: found a query that is no object of texts");
  }
  return parameters.length === 0 ? {} : { query: Object.freeze({ ...(query as Record<string, string>) }) };
}

/** Whether other credentials can be had after a refusal. */
export function canRefresh(scope: CredentialScope): boolean {
  return typeof scope.credentials === "function";
}

/** A refusal with the requirement that its credentials were chosen for; any other error as it is. */
export function withRequirement(error: unknown, requirement: ChosenRequirement): unknown {
  const isRefusal = error instanceof AuthenticationError || error instanceof AuthorizationError;
  return isRefusal && error.requirement === undefined ? Object.assign(error, { requirement }) : error;
}
