import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
  type JWK,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from "jose";
import { isLoopback } from "../util/address.ts";
import { type Clock, dateOf } from "../util/clock.ts";
import { isRecord } from "../util/freeze.ts";
import { fingerprintOf } from "../util/secret.ts";
import { Refused, refusals } from "./answer.ts";
import type { JwtVerification } from "./jwt-options.ts";
import { boundedFetch } from "./key-set.ts";

/** What a verified token says. */
export interface VerifiedToken {
  /** Hash of the body that it was made for, in lower-case hex, where it says so. */
  readonly bodyHash: string | undefined;
  /** The task that it was made for, where it says so. */
  readonly taskId: string | undefined;
  /** Says that its notification was taken: it can't be used again. Without it the sender may try once more. */
  readonly keep: () => void;
  /** Ends the use of it. */
  readonly release: () => void;
}

/** Verifies the token of a notification. Throws {@link Refused}. */
export type JwtVerifier = (headers: Headers) => Promise<VerifiedToken>;

const safeAlgorithms = Object.freeze(
  ["RS", "PS", "ES"]
    .flatMap((family) => ["256", "384", "512"].map((bits) => family + bits))
    .concat("EdDSA", "Ed25519"),
);
/** How far two clocks may be apart, in seconds. */
const toleranceSeconds = 30;
/** Tokens that are remembered at once until they expire by themselves. */
const maxRemembered = 10_000;

/**
 * Makes the verifier.
 *
 * @throws TypeError naming the option.
 */
export function createJwtVerifier(verification: JwtVerification, clock: Clock): JwtVerifier {
  const { audience, issuer, maxAgeMs = 300_000 } = verification;
  const algorithms = [...(verification.algorithms ?? safeAlgorithms)];
  const unsafe = algorithms.find((name) => !safeAlgorithms.includes(name));
  if (unsafe !== undefined)
    throw new TypeError(`verify.algorithms: found ${unsafe}, wanted some of ${safeAlgorithms}`);
  if (algorithms.length === 0) throw new TypeError("verify.algorithms: wanted at least one");
  const audiences = [audience].flat();
  if (audiences.length === 0 || !audiences.every((item) => typeof item === "string" && item !== "")) {
    throw new TypeError("verify.audience: wanted whom the tokens are for");
  }
  // One that is empty would count as none.
  const issuers = issuer === undefined ? [] : [issuer].flat();
  const isNamed = issuers.every((item) => typeof item === "string" && item !== "");
  if (!isNamed || (issuer !== undefined && issuers.length === 0)) {
    throw new TypeError("verify.issuer: wanted who issues the tokens");
  }
  if (typeof verification.cardUrl !== "string")
    throw new TypeError("verify.cardUrl: wanted the URL of the agent's card");
  const key = keyOf(verification);
  const used = createUsedTokens(clock);

  return async (headers) => {
    const [, token] = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
    if (token === undefined || token.length > 16_384) throw new Refused(refusals.unauthorized);
    const payload = await verify(token);
    const isDated = payload.jti !== undefined || payload.iat !== undefined;
    if (!isDated) throw new Refused(refusals.unauthorized);
    const { request_body_sha256: bodyHash, taskId } = payload;
    const isReadable = [bodyHash, taskId].every((claim) => claim === undefined || typeof claim === "string");
    if (!isReadable) throw new Refused(refusals.unauthorized);
    const { keep, release } = payload.jti === undefined ? unlimited : used.take(payload);
    return {
      bodyHash: typeof bodyHash === "string" ? bodyHash.toLowerCase() : undefined,
      taskId: typeof taskId === "string" ? taskId : undefined,
      keep,
      release,
    };
  };

  async function verify(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms,
        audience: audiences,
        requiredClaims: ["exp"],
        clockTolerance: toleranceSeconds,
        currentDate: dateOf(clock.now()),
        ...(issuer === undefined ? {} : { issuer: [issuer].flat() }),
      });
      const ageSeconds = payload.iat === undefined ? 0 : clock.now() / 1000 - payload.iat;
      const isOld = ageSeconds > maxAgeMs / 1000 + toleranceSeconds || ageSeconds < -toleranceSeconds;
      if (isOld) throw new Refused(refusals.unauthorized);
      return payload;
    } catch (error) {
      if (error instanceof Refused) throw error;
      throw isOursToBlame(error)
        ? new Refused(refusals.unavailable, error)
        : new Refused(refusals.unauthorized);
    }
  }
}

/** Whether the keys could not be had, which is no fault of the sender's. */
function isOursToBlame(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return true;
  return (
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    error.code === "ERR_JOSE_GENERIC"
  );
}

function keyOf({ jwks, fetch }: JwtVerification): JWTVerifyGetKey {
  if (typeof jwks === "string" || jwks instanceof URL) {
    const text = String(jwks);
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url));
    if (!url || !isSafe) throw new TypeError("verify.jwks: wanted an https URL, a key set or a key");
    return createRemoteJWKSet(url, { [customFetch]: boundedFetch(fetch) });
  }
  if (!isRecord(jwks)) throw new TypeError("verify.jwks: wanted an https URL, a key set or a key");
  const set = Array.isArray(jwks.keys) ? jwks : { keys: [jwks as JWK] };
  try {
    return createLocalJWKSet(set as unknown as JSONWebKeySet);
  } catch {
    throw new TypeError("verify.jwks: found no key set");
  }
}

const unlimited = Object.freeze({ keep: () => {}, release: () => {} });

/** Tokens that were used, by issuer and `jti`, until they expire; bounded, and full rather than forgetful. */
function createUsedTokens(clock: Clock) {
  const expiries = new Map<string, number>();

  function makeRoom(): void {
    if (expiries.size < maxRemembered) return;
    const nowMs = clock.now();
    for (const [id, atMs] of expiries) if (atMs < nowMs) expiries.delete(id);
    if (expiries.size >= maxRemembered) throw new Refused(refusals.busy);
  }

  return {
    take({ iss = "", jti = "", exp = 0 }: JWTPayload) {
      const id = fingerprintOf(JSON.stringify([iss, jti]));
      if (expiries.has(id)) throw new Refused(refusals.unauthorized);
      makeRoom();
      expiries.set(id, (exp + toleranceSeconds) * 1000);
      let isKept = false;
      return {
        keep: () => {
          isKept = true;
        },
        // What was not stored may come once more.
        release: () => {
          if (!isKept) expiries.delete(id);
        },
      };
    },
  };
}
