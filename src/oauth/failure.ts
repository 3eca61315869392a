import * as oauth from "oauth4webapi";
import { type TokenFailureReason, TokenRequestError } from "../errors/credentials.ts";
import { isRecord } from "../util/freeze.ts";
import { cut, redactUrl } from "../util/redact.ts";
import { strikeSecrets } from "../util/strike.ts";

/** What is known where a request for a token failed. */
export interface FailureContext {
  /** Secrets that the request carried; an answer may repeat them. */
  readonly secrets: readonly string[];
  /** What an answer that is none means. @default "malformed" */
  readonly reason?: TokenFailureReason;
}

/**
 * What a request for a token failed by. The package's own errors hold the answer, and with it tokens: only codes and
 * struck words go on.
 */
export function toTokenError(
  url: string,
  error: unknown,
  { secrets, reason = "malformed" }: FailureContext,
): unknown {
  if (error instanceof oauth.ResponseBodyError) {
    const { status, error_description: description } = error;
    return refusal(url, { code: error.error, description, status, secrets });
  }
  if (error instanceof oauth.AuthorizationResponseError) {
    return refusal(url, { code: error.error, description: error.error_description, secrets });
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    const [challenge] = error.cause;
    const { error: code, error_description: description } = challenge?.parameters ?? {};
    return refusal(url, { code: code ?? "invalid_client", description, status: error.status, secrets });
  }
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError) {
    // The words of the package are fixed ones; those of the answer are in its cause.
    const status = error.cause instanceof Response ? ` (HTTP ${error.cause.status})` : "";
    const issuer = otherIssuer(error.cause, secrets);
    if (issuer !== undefined) return new TokenRequestError(url, { reason, message: issuer });
    const message = `found an answer that can't be used${status}: ${cut(strikeSecrets(error.message, secrets), 200)}`;
    return new TokenRequestError(url, { reason, message });
  }
  return error;
}

/** That an answer, or an ID token in it, comes from another issuer than was asked: the package keeps both of them. */
function otherIssuer(cause: unknown, secrets: readonly string[]): string | undefined {
  if (!isRecord(cause) || typeof cause.expected !== "string") return undefined;
  const { expected, parameters, claims, claim } = cause;
  const isClaim = claim === "iss" && isRecord(claims);
  const found =
    parameters instanceof URLSearchParams ? parameters.get("iss") : isClaim ? claims.iss : undefined;
  if (typeof found !== "string") return undefined;
  const shown = redactUrl(strikeSecrets(found, secrets));
  return `found the issuer ${shown} in ${isClaim ? "its ID token" : "its answer"}, wanted ${redactUrl(expected)}`;
}

function refusal(
  url: string,
  given: {
    readonly code: string;
    readonly description?: string | undefined;
    readonly status?: number;
    readonly secrets: readonly string[];
  },
): TokenRequestError {
  const { description, status, secrets } = given;
  const code = cut(strikeSecrets(given.code, secrets), 100);
  const told = description === undefined ? "" : `: ${cut(strikeSecrets(description, secrets), 300)}`;
  const at = status === undefined ? "" : `HTTP ${status} with `;
  const isDenied = code === "access_denied";
  return new TokenRequestError(url, {
    reason: code === "expired_token" ? "expired" : isDenied ? "declined" : "refused",
    message: `found ${at}the OAuth error ${code}${told}`,
    status,
    oauthError: code,
  });
}
