/** A set of public keys (RFC 7517), or one of them. */
export type JsonWebKeys =
  | { readonly keys: readonly Readonly<Record<string, unknown>>[] }
  | { readonly kty: string; readonly [member: string]: unknown };

/**
 * How notifications are verified that an agent signs with a JWT in `Authorization: Bearer`. The token must have an
 * `exp`, and a `jti` or an `iat`; where it has `request_body_sha256` (hex) or `taskId`, they must be those of the
 * notification.
 */
export interface JwtVerification {
  /** The agent's public keys: an https URL of a key set, a key set, or one key. */
  readonly jwks: string | URL | JsonWebKeys;
  /** Whom the token must be for: `aud`. */
  readonly audience: string | readonly string[];
  /** Who must have issued it: `iss`. @default anybody with such a key */
  readonly issuer?: string | readonly string[];
  /** Signature algorithms that are accepted; never `none` or HMAC. @default RS, PS, ES and EdDSA */
  readonly algorithms?: readonly string[];
  /** How old a token may be by its `iat`, in milliseconds. @default 300 000 */
  readonly maxAgeMs?: number;
  /** The agent: its card as `client.lease.url` names it. Notifications without a secret are of its tasks. */
  readonly cardUrl: string;
  /** On whose behalf its tasks were started. @default "default" */
  readonly principal?: string;
  /** Fetches the key set. @default globalThis.fetch */
  readonly fetch?: (url: string, init?: RequestInit) => Promise<Response>;
}
