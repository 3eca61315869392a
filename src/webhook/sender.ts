import { recordOf } from "../ledger/change.ts";
import { type Ledger, pushKey } from "../ledger/ledger.ts";
import type { PushRecord } from "../model/push-record.ts";
import { fingerprintOf, isSameFingerprint } from "../util/secret.ts";
import { Refused, refusals } from "./answer.ts";

/** Who sent a notification: the agent behind one push configuration, or the agent that signed it. */
export interface PushSender {
  readonly cardUrl: string;
  readonly principal: string;
  /** The configuration whose secret it has; none for a signature alone. */
  readonly record: PushRecord | undefined;
}

/** Longest secret that is looked at, in characters. */
const maxSecret = 4096;

/** A secret that came with a notification. */
interface Presented {
  readonly via: string;
  readonly secret: string;
}

/**
 * Finds the configuration whose secret a notification has, in `X-A2A-Notification-Token` or `Authorization`; agents
 * differ in which of them they send. Neither the time nor the answer tells how nearly right a wrong one is.
 *
 * @throws Refused when it has none; the ledger errors.
 */
export async function verifySecret(headers: Headers, ledger: Ledger): Promise<PushSender> {
  for (const presented of [tokenOf(headers), authorizationOf(headers)]) {
    const record = presented && (await findRecord(presented, ledger));
    if (record) return { cardUrl: record.cardUrl, principal: record.principal, record };
  }
  throw new Refused(refusals.unauthorized);
}

/** The configuration that the token of a signed notification belongs to, where it has a token. Throws as above. */
export async function verifyToken(headers: Headers, ledger: Ledger): Promise<PushRecord | undefined> {
  const presented = tokenOf(headers);
  if (!presented) return undefined;
  const record = await findRecord(presented, ledger);
  if (!record) throw new Refused(refusals.unauthorized);
  return record;
}

/** The secrets that came with a notification, which nothing that is kept of it may repeat. */
export function presentedIn(headers: Headers): readonly string[] {
  return [tokenOf(headers), authorizationOf(headers)].flatMap((presented) => presented?.secret ?? []);
}

function tokenOf(headers: Headers): Presented | undefined {
  const secret = headers.get("x-a2a-notification-token");
  return secret === null ? undefined : { via: "token", secret };
}

function authorizationOf(headers: Headers): Presented | undefined {
  const [, scheme, secret] = /^([^\s]+) +(\S.*)$/.exec(headers.get("authorization") ?? "") ?? [];
  return scheme === undefined || secret === undefined ? undefined : { via: scheme.toLowerCase(), secret };
}

/** The record is found by a hash that nobody can steer, and compared as a whole. */
async function findRecord({ via, secret }: Presented, ledger: Ledger): Promise<PushRecord | undefined> {
  if (secret === "" || secret.length > maxSecret) return undefined;
  const fingerprint = fingerprintOf(secret);
  const record = recordOf(await ledger.read(pushKey(fingerprint)), "push");
  const isKnown = record && isSameFingerprint(record.fingerprint, fingerprint) && record.via.includes(via);
  return isKnown ? record : undefined;
}
