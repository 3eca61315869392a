import type { BindingCall } from "../binding/binding.ts";
import { pushSecretsOf } from "../binding/secrets.ts";
import { interfaceProblem, originOf, usableInterfaces } from "../card/interface.ts";
import { interfaceStructure } from "../card/structure.ts";
import { CredentialOriginError } from "../errors/auth.ts";
import { AddressRefusedError, ConnectionError } from "../errors/transport.ts";
import type { AgentInterface } from "../model/card.ts";
import type { OperationName } from "../model/operations.ts";
import type { CardRequirements } from "../model/requirements.ts";
import type { Instant } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { canonicalJson } from "../util/json.ts";
import { credentialValues, secretHeaders } from "../util/strike.ts";
import { budgetOf, type Call, checkOf } from "./call.ts";
import { credentialsFor, type ResolvedCredentials, withRequirement } from "./credentials.ts";
import { checkHeaders } from "./headers.ts";
import { effectiveCard, publicCard } from "./pinned.ts";
import { isRepeatable } from "./retryable.ts";
import { choiceOptionsOf, type Session } from "./session.ts";
import { strikeAnswer, strikeError } from "./strike.ts";

/** One exchange of a call, as it is carried out. */
export interface Attempt<T> {
  /** Carries it out over the binding. */
  readonly exchange: (wire: BindingCall) => Promise<T>;
  readonly signal: AbortSignal;
  /** When the call began, whose budget of time all of its attempts share. */
  readonly since: Instant;
  /** `WWW-Authenticate` of the refusal that this attempt answers. */
  readonly challenge?: string;
}

/** The wire step of a call: {@link attemptOnce}, and again where that does no harm. */
export function attemptCall<O extends OperationName, T>(
  session: Session,
  call: Call<O>,
  attempt: Attempt<T>,
): Promise<T> {
  const { operation, request, holder } = call;
  const { signal, since } = attempt;
  const isSafe = call.isOnce !== true && isRepeatable(operation, request);
  const { url } = holder.pin.interface;
  const job = { operation, url, signal, since, isRepeatable: isSafe, deadlineMs: budgetOf(session, call) };
  return session.retry(job, () => attemptOnce(session, call, attempt));
}

/**
 * One exchange at the pinned interface. Where the connection fails, the next interface of the same card is tried: for a
 * call that may be repeated, or one that provably never left.
 */
async function attemptOnce<O extends OperationName, T>(
  session: Session,
  call: Call<O>,
  attempt: Attempt<T>,
): Promise<T> {
  const first = call.holder.pin.interface;
  try {
    return await attemptAt(session, call, attempt, first);
  } catch (error) {
    return failOver(session, call, attempt, { error, first });
  }
}

async function failOver<O extends OperationName, T>(
  session: Session,
  call: Call<O>,
  attempt: Attempt<T>,
  failed: { readonly error: unknown; readonly first: AgentInterface },
): Promise<T> {
  const { observer } = session;
  let { error } = failed;
  if (!isPassable(error, call)) throw error;
  const first = structureOf(failed.first);
  const others = usableInterfaces(publicCard(call.holder.pin), choiceOptionsOf(session))
    .filter((other) => structureOf(other) !== first)
    .slice(0, maxOthers);
  const knockedAt = new Set([originOf(failed.first.url)]);
  for (const other of others) {
    if (!isPassable(error, call) || attempt.signal.aborted) break;
    const origin = originOf(other.url);
    // Another address of an origin that just failed is one more request in its outage, as any repetition is.
    const giveBack = knockedAt.has(origin) ? session.retry.take(other.url) : () => {};
    if (!giveBack) continue;
    knockedAt.add(origin);
    observer.emit("retry", { operation: call.operation, code: error.code, with: "interface" });
    try {
      const answer = await attemptAt(session, call, attempt, other);
      giveBack();
      return answer;
    } catch (again) {
      // An interface that the credentials may not go to is none to fail over to, and says nothing of the failure.
      if (!(again instanceof CredentialOriginError)) error = again;
    }
  }
  throw error;
}

/** A card may list thousands of addresses, and one call is no way to have them all knocked at. */
const maxOthers = 4;

/** Two entries that say the same are one interface. */
function structureOf(entry: AgentInterface): string {
  return canonicalJson(interfaceStructure(entry));
}

/** Whether a failed exchange may be carried out somewhere else. */
function isPassable<O extends OperationName>(error: unknown, call: Call<O>): error is ConnectionError {
  if (!(error instanceof ConnectionError)) return false;
  return error.neverSent || isRepeatable(call.operation, call.request);
}

/** One exchange at one interface, with the headers that the call goes out with. */
async function attemptAt<O extends OperationName, T>(
  session: Session,
  call: Call<O>,
  { exchange, signal, challenge }: Attempt<T>,
  target: AgentInterface,
): Promise<T> {
  const { operation, request } = call;
  const { pin } = call.holder;
  const { options, credentials } = session;
  requireAddress(session, target);
  const card = effectiveCard(pin);
  const { skills } = call.requirements;
  const refused = challenge === undefined ? undefined : lastSent.get(call);
  const asked = { url: target.url, purpose: "call", card, signal } as const;
  const given = await credentialsFor(credentials, { ...asked, ...defined({ skills, challenge, refused }) });
  const { headers: secret, query, requirement } = given;
  lastSent.set(call, given);
  const isBound = credentials.origins.includes(originOf(target.url));
  const own = checkHeaders("headers", call.options.headers ?? {});
  const declared = declaredExtensions(pin.capabilities.extensions, options.extensions, call.requirements);
  const { firstByteMs, idleMs, firstEventMs } = options.timeouts;
  // The lease may have ended while credentials were fetched or the intent was written.
  if (checkOf(call) !== "none" && call.holder.ended) throw call.holder.ended;
  if (requirement) {
    const origin = originOf(target.url);
    session.observer.emit("credentials-chosen", { operation, origin, requirement });
  }
  const { sent } = credentials;
  const ownSecrets = secretHeaders({ ...options.headers, ...own });
  sent.add(ownSecrets);
  sent.add(pushSecretsOf(request));
  sent.addUrl(target.url);
  const wire: BindingCall = {
    interface: target,
    // Headers may carry secrets of the caller's own making, so they are bound to origins as credentials are.
    headers: { ...(isBound ? { ...options.headers, ...own } : {}), ...declared, ...secret },
    ...defined({ query }),
    secrets: sent.values,
    signal,
    timeouts: {
      firstByteMs: call.message ? budgetOf(session, call) : firstByteMs,
      idleMs,
      firstEventMs: call.message ? budgetOf(session, call) : firstEventMs,
    },
  };
  try {
    const answer = await exchange(wire);
    // Those of this call are looked for in any case, however many went out meanwhile.
    const mine = credentialValues({ ...ownSecrets, ...secret }, query);
    const all = withAll(sent.values, mine);
    return strikeAnswer(answer, { operation, request, call: wire, sent: all, own: mine });
  } catch (failure) {
    const error = strikeError(failure, wire, request);
    throw requirement ? withRequirement(error, requirement) : error;
  }
}

/** A list with all of some values in it; the very same where they are, since its patterns are remembered by it. */
function withAll(list: readonly string[], values: readonly string[]): readonly string[] {
  const missing = values.filter((value) => !list.includes(value));
  return missing.length === 0 ? list : Object.freeze([...list, ...missing]);
}

/** A pin may have been taken elsewhere, under another policy or none, and have been changed since. */
function requireAddress(session: Session, target: AgentInterface): void {
  const problem = interfaceProblem(target, choiceOptionsOf(session));
  if (problem !== undefined) throw new AddressRefusedError(target.url, problem);
}

/** What the last attempt of a call was authenticated by, so that what was refused is not given again. */
const lastSent = new WeakMap<object, ResolvedCredentials>();

/** What the last attempt of a call was authenticated by; nothing before the first. */
export function credentialsSent(call: object): ResolvedCredentials {
  return lastSent.get(call) ?? { headers: {} };
}

function declaredExtensions(
  listed: readonly string[],
  declared: readonly string[],
  requirements: CardRequirements,
): Record<string, string> {
  const wanted = new Set([...declared, ...(requirements.extensions ?? [])]);
  const uris = [...new Set(listed)].filter((uri) => wanted.has(uri));
  return uris.length === 0 ? {} : { "a2a-extensions": uris.join(",") };
}
