import { originOf } from "../card/interface.ts";
import { AuthenticationError, CredentialOriginError } from "../errors/auth.ts";
import type { AgentCard } from "../model/card.ts";
import type { SecurityRequirement, SecurityScheme } from "../model/security.ts";
import { withSignal } from "../util/abort.ts";
import { isRecord } from "../util/freeze.ts";
import { checkHeaders } from "./headers.ts";

/** What an agent wants for authentication, as far as its card says. */
export interface CredentialRequirements {
  /** Alternatives; all schemes of one of them are needed together. Empty where the card asks for nothing. */
  readonly alternatives: readonly SecurityRequirement[];
  /** The schemes by name. */
  readonly schemes: Readonly<Record<string, SecurityScheme>>;
}

/** What a credentials function is asked with. */
export interface CredentialContext {
  /** Origin that the credentials will go to, `"https://agent.example.com"`. */
  readonly origin: string;
  /** Whether they are for reading the card or for a call. */
  readonly purpose: "card" | "call";
  /** What the agent wants, as far as its card says. */
  readonly requirements: CredentialRequirements;
  /** `WWW-Authenticate` of a refusal; there when the last credentials were not good enough. */
  readonly challenge?: string;
  /** Aborted when the call is. */
  readonly signal: AbortSignal;
}

/** Gives the headers that authenticate one request, or nothing when there are none to give. */
export type CredentialProvider = (
  context: CredentialContext,
) => Promise<{ readonly headers: Readonly<Record<string, string>> } | undefined>;

/** Credentials: one bearer token, or a function that is asked for each request. */
export type Credentials = { readonly bearer: string } | CredentialProvider;

/** Where credentials may go. */
export interface CredentialScope {
  readonly credentials: Credentials | undefined;
  /** Origins that they are bound to: the card's, and those that the caller allowed. */
  readonly origins: readonly string[];
}

/** One request for credentials. */
export interface CredentialRequest {
  readonly url: string;
  readonly purpose: "card" | "call";
  /** The card, once it is known. */
  readonly card: AgentCard | undefined;
  readonly challenge?: string;
  readonly signal: AbortSignal;
}

/**
 * Headers that authenticate a request; none where none are configured, or where the request leaves the bound origins
 * and the card does not say that it needs any.
 *
 * @throws CredentialOriginError when a call that needs credentials leaves the bound origins.
 * @throws AuthenticationError when the caller's function fails.
 */
export async function credentialHeaders(
  scope: CredentialScope,
  request: CredentialRequest,
): Promise<Readonly<Record<string, string>>> {
  const { credentials } = scope;
  if (credentials === undefined) return {};
  const origin = originOf(request.url);
  if (!scope.origins.includes(origin)) {
    if (request.challenge === undefined && !needsCredentials(request.card)) return {};
    throw new CredentialOriginError(origin, scope.origins);
  }
  if (typeof credentials !== "function") {
    return checkHeaders("credentials", { authorization: `Bearer ${credentials.bearer}` });
  }
  const { purpose, challenge, signal } = request;
  const requirements = requirementsOf(request.card);
  const context = {
    origin,
    purpose,
    requirements,
    signal,
    ...(challenge === undefined ? {} : { challenge }),
  };
  return headersOf(await ask(credentials, context, request.url));
}

async function ask(provider: CredentialProvider, context: CredentialContext, url: string): Promise<unknown> {
  try {
    // A function that never answers must not hold up a caller who gave up.
    return await withSignal(Promise.resolve(provider(context)), context.signal);
  } catch (failure) {
    if (context.signal.aborted) throw context.signal.reason;
    // What it threw may hold the very secrets that it works with: only its words go on, redacted.
    const found = `the credentials function threw ${failure instanceof Error ? failure.message : "no error"}`;
    throw new AuthenticationError(url, { challenge: context.challenge, found });
  }
}

/** What a credentials function gave, as headers; nothing is left out in silence. */
function headersOf(given: unknown): Readonly<Record<string, string>> {
  if (given === undefined) return {};
  const headers = isRecord(given) ? given.headers : undefined;
  if (headers instanceof Headers) return checkHeaders("credentials", Object.fromEntries(headers));
  if (!isRecord(headers))
    throw new TypeError("credentials: the function gave no { headers }, wanted them or undefined");
  return checkHeaders("credentials", headers as Record<string, string>);
}

/** Whether other credentials can be had after a refusal. */
export function canRefresh(scope: CredentialScope): boolean {
  return typeof scope.credentials === "function";
}

function needsCredentials(card: AgentCard | undefined): boolean {
  const alternatives = card?.securityRequirements ?? [];
  return alternatives.length > 0 && !alternatives.some((item) => Object.keys(item.schemes).length === 0);
}

function requirementsOf(card: AgentCard | undefined): CredentialRequirements {
  return { alternatives: card?.securityRequirements ?? [], schemes: card?.securitySchemes ?? {} };
}
