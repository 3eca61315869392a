import { TokenRequestError } from "../errors/credentials.ts";
import { isLoopback } from "../util/address.ts";

/** Whether a secret may go to a URL: one that is https, or http on loopback, and without a user name. */
export function isSecureUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const parsed = new URL(url);
  const isSecure = parsed.protocol === "https:" || (parsed.protocol === "http:" && isLoopback(parsed));
  return isSecure && parsed.username === "" && parsed.password === "";
}

/** What a URL should be that a secret goes to, for messages. */
export const wantedSecureUrl = "wanted https (or http on loopback) and no user name";

/**
 * Refuses a URL that a secret must not go to.
 *
 * @throws TokenRequestError of the reason `insecure-url`.
 */
export function requireSecure(url: string): void {
  if (isSecureUrl(url)) return;
  const message = `found a URL that is not https, or has a user name, ${wantedSecureUrl}`;
  throw new TokenRequestError(url, { reason: "insecure-url", message });
}
