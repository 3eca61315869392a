import { TokenRequestError } from "../errors/credentials.ts";
import { createScope, withSignal } from "../util/abort.ts";
import { cut, redactText } from "../util/redact.ts";
import { strikeSecrets } from "../util/strike.ts";
import type { GrantedToken } from "./grants.ts";
import type { OAuthOptions, RefreshableOptions } from "./options.ts";
import { clockOf } from "./transport.ts";

/**
 * Tells the caller of a new refresh token, and waits until it is kept, no longer than for an answer of the server.
 *
 * @throws TokenRequestError where the hook fails, or is not done in time. The token counts all the same.
 */
export async function tellRefreshed(
  url: string,
  options: OAuthOptions & Partial<RefreshableOptions>,
  { refreshToken, accessToken, lifetimeMs }: GrantedToken,
  sinceMs: number,
): Promise<void> {
  const { onRefreshed, timeoutMs = 30_000 } = options;
  if (!onRefreshed || refreshToken === undefined) return;
  const expiry = Number.isFinite(lifetimeMs) ? { expiresAtMs: sinceMs + lifetimeMs } : {};
  const scope = createScope(clockOf(options), []);
  const fail = (found: string) => {
    const message = `found that onRefreshed ${found}, wanted the new refresh token kept`;
    return new TokenRequestError(url, { reason: "declined", message });
  };
  scope.deadline(timeoutMs, () => fail(`was not done within ${timeoutMs} ms`));
  const tell = async () => onRefreshed({ refreshToken, ...expiry });
  try {
    await withSignal(tell(), scope.signal);
  } catch (error) {
    if (scope.signal.aborted) throw scope.signal.reason;
    // What it threw may hold the token: only its words go on.
    const words = error instanceof Error ? error.message.trim() : "";
    const struck = redactText(strikeSecrets(words, [refreshToken, accessToken]));
    throw fail(struck === "" ? "failed" : `failed (${cut(struck, 300)})`);
  } finally {
    scope.release();
  }
}
