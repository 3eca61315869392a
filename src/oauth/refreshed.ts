import type { TokenRequestError } from "../errors/credentials.ts";
import { createScope, withSignal } from "../util/abort.ts";
import { thrownText } from "../util/found.ts";
import type { GrantedToken } from "./grants.ts";
import { hookError } from "./hook.ts";
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
  { refreshToken, accessToken, lifetimeMs, since }: GrantedToken,
): Promise<void> {
  const { onRefreshed, timeoutMs = 30_000 } = options;
  if (!onRefreshed || refreshToken === undefined) return;
  const expiry = Number.isFinite(lifetimeMs) ? { expiresAtMs: since.wallMs + lifetimeMs } : {};
  const scope = createScope(clockOf(options), []);
  const fail = (found: string): TokenRequestError =>
    hookError(url, {
      found: `onRefreshed ${found}`,
      wanted: "the new refresh token kept",
      reason: "not-kept",
    });
  scope.deadline(timeoutMs, () => fail(`was not done within ${timeoutMs} ms`));
  const tell = async () => onRefreshed({ refreshToken, ...expiry });
  try {
    await withSignal(tell(), scope.signal);
  } catch (error) {
    if (scope.signal.aborted) throw scope.signal.reason;
    // What it threw may hold the token: only its words go on.
    throw fail(`threw ${thrownText(error, [refreshToken, accessToken])}`);
  } finally {
    scope.release();
  }
}
