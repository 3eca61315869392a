import { AddressRefusedError } from "../errors/transport.ts";
import type { AuthenticationInfo, TaskPushNotificationConfig } from "../model/push.ts";
import { judgeAddress } from "../util/address.ts";
import { defined, isRecord } from "../util/freeze.ts";
import { checkOptions, type OptionKinds } from "../util/options.ts";
import { redactUrl } from "../util/redact.ts";
import { createSecret, fingerprintOf } from "../util/secret.ts";
import { createUuid } from "../util/uuid.ts";

/**
 * A webhook to be told of a task. Where neither `token` nor `authentication` is given, a fresh secret of 256 bits is
 * made and sent as both, since agents differ in which of the two they send back.
 */
export interface PushConfigInput {
  /** URL of the webhook. */
  readonly url: string;
  /** Id of the configuration; the same one again replaces it. @default a fresh one */
  readonly id?: string;
  /**
   * Secret that comes back in `X-A2A-Notification-Token`, 16 to 4096 printable ASCII characters; each configuration
   * wants one of its own (13.2).
   */
  readonly token?: string;
  /** Secret that comes back in `Authorization`; each configuration wants one of its own (13.2). */
  readonly authentication?: AuthenticationInfo;
  /**
   * Whether a URL is sent that is not HTTPS, or that leads to a private, loopback or link-local address: for an agent
   * and a webhook in one network. @default false
   */
  readonly allowInsecureUrl?: boolean;
}

/** A configuration as it is sent, and the secrets in it. */
export interface PreparedPush {
  readonly config: TaskPushNotificationConfig & { readonly id: string };
  /** Each secret by its fingerprint, and how it may come back. */
  readonly secrets: readonly { readonly fingerprint: string; readonly via: readonly string[] }[];
}

/** What an agent shows of a configuration may be given as it is, with the task and the tenant, which go their own way. */
const kinds: OptionKinds<PushConfigInput & TaskPushNotificationConfig> = Object.freeze({
  url: "any",
  id: "any",
  token: "any",
  authentication: "object",
  allowInsecureUrl: "flag",
  taskId: "any",
  tenant: "any",
});

/**
 * Checks what a caller gave, and makes the configuration that is sent.
 *
 * @throws TypeError naming the option; AddressRefusedError for a URL that is not to be given to an agent.
 */
export function preparePush(input: PushConfigInput, random: (() => number) | undefined): PreparedPush {
  if (!isRecord(input)) throw new TypeError("push configuration: wanted an object with a url");
  checkOptions<PushConfigInput & TaskPushNotificationConfig>(input, kinds);
  const { url, id = createUuid(random) } = input;
  if (typeof id !== "string" || id === "") throw new TypeError("id: wanted a text that is not empty");
  checkUrl(url, input.allowInsecureUrl === true);
  const fresh = input.token === undefined && input.authentication === undefined ? createSecret() : undefined;
  const token = checkSecret("token", input.token) ?? fresh;
  const authentication = checkAuthentication(input.authentication) ?? bearer(fresh);
  const found = new Map<string, string[]>();
  const { credentials, scheme } = authentication ?? {};
  for (const [secret, via] of [[token, "token"] as const, [credentials, scheme?.toLowerCase()] as const]) {
    if (secret === undefined || via === undefined) continue;
    const fingerprint = fingerprintOf(secret);
    found.set(fingerprint, [...(found.get(fingerprint) ?? []), via]);
  }
  const secrets = [...found].map(([fingerprint, via]) =>
    Object.freeze({ fingerprint, via: Object.freeze(via) }),
  );
  const config = Object.freeze({ id, url, ...defined({ token, authentication }) });
  return Object.freeze({ config, secrets: Object.freeze(secrets) });
}

function bearer(secret: string | undefined): AuthenticationInfo | undefined {
  return secret === undefined ? undefined : Object.freeze({ scheme: "Bearer", credentials: secret });
}

function checkUrl(url: unknown, isAnyAllowed: boolean): void {
  if (typeof url !== "string" || !URL.canParse(url)) {
    throw new TypeError(`url: found ${JSON.stringify(url)?.slice(0, 200)}, wanted an absolute URL`);
  }
  const parsed = new URL(url);
  if (!/^https?:$/.test(parsed.protocol)) throw new AddressRefusedError(url, "wanted an https URL");
  if (parsed.username || parsed.password) {
    throw new TypeError(`url: found a user name in ${redactUrl(url)}, wanted none; use authentication`);
  }
  if (isAnyAllowed) return;
  if (parsed.protocol !== "https:") {
    throw new AddressRefusedError(url, "found http, wanted https, or allowInsecureUrl (13.2)");
  }
  const kind = judgeAddress(parsed);
  if (kind !== "public") {
    throw new AddressRefusedError(
      url,
      `found a ${kind} address, wanted a public one, or allowInsecureUrl (13.2)`,
    );
  }
}

/** A secret goes into a header, and its length keeps it from being guessed. */
function checkSecret(name: string, secret: unknown): string | undefined {
  if (secret === undefined) return undefined;
  const isFit = typeof secret === "string" && /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(secret);
  if (isFit && secret.length >= 16 && secret.length <= 4096) return secret;
  throw new TypeError(`${name}: wanted 16 to 4096 printable ASCII characters`);
}

function checkAuthentication(given: AuthenticationInfo | undefined): AuthenticationInfo | undefined {
  if (given === undefined) return undefined;
  const kinds = { scheme: "any", credentials: "any" } as const;
  checkOptions(given, kinds, "authentication");
  if (typeof given.scheme !== "string" || !/^[\w!#$%&'*+.^`|~-]+$/.test(given.scheme)) {
    throw new TypeError('authentication.scheme: wanted the name of an HTTP scheme, "Bearer"');
  }
  const credentials = checkSecret("authentication.credentials", given.credentials);
  return Object.freeze({ scheme: given.scheme, ...defined({ credentials }) });
}
