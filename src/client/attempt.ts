import type { BindingCall } from "../binding/binding.ts";
import { interfaceAddressProblem } from "../card/address-policy.ts";
import { usableInterfaces } from "../card/interface.ts";
import { AddressRefusedError, ConnectionError } from "../errors/transport.ts";
import type { AgentInterface } from "../model/card.ts";
import { type OperationName, operationFacts } from "../model/operations.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { defined } from "../util/freeze.ts";
import { budgetOf, type Call, checkOf } from "./call.ts";
import { credentialHeaders } from "./credentials.ts";
import { checkHeaders } from "./headers.ts";
import { effectiveCard, publicCard } from "./pinned.ts";
import { choiceOptionsOf, type Session } from "./session.ts";

/** One exchange of a call, as it is carried out. */
export interface Attempt<T> {
  /** Carries it out over the binding. */
  readonly exchange: (wire: BindingCall) => Promise<T>;
  readonly signal: AbortSignal;
  /** `WWW-Authenticate` of the refusal that this attempt answers. */
  readonly challenge?: string;
}

/**
 * One exchange at the pinned interface. Where the connection fails, the next interface of the same card is tried: for a
 * call that may be repeated, or one that provably never left.
 */
export async function attemptCall<O extends OperationName, T>(
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
  if (!isPassable(error, call.operation)) throw error;
  const others = usableInterfaces(publicCard(call.holder.pin), choiceOptionsOf(session)).filter(
    ({ url }) => url !== failed.first.url,
  );
  for (const other of others) {
    if (!isPassable(error, call.operation) || attempt.signal.aborted) break;
    observer.emit("retry", { operation: call.operation, code: error.code, with: "interface" });
    try {
      return await attemptAt(session, call, attempt, other);
    } catch (again) {
      error = again;
    }
  }
  throw error;
}

/** Whether a failed exchange may be carried out somewhere else. */
function isPassable(error: unknown, operation: OperationName): error is ConnectionError {
  return error instanceof ConnectionError && (error.neverSent || operationFacts[operation].repeatable);
}

/** One exchange at one interface, with the headers that the call goes out with. */
async function attemptAt<O extends OperationName, T>(
  session: Session,
  call: Call<O>,
  { exchange, signal, challenge }: Attempt<T>,
  target: AgentInterface,
): Promise<T> {
  const { pin } = call.holder;
  const { options, credentials } = session;
  requireAddress(session, target);
  const card = effectiveCard(pin);
  const asked = { url: target.url, purpose: "call", card, signal, ...defined({ challenge }) } as const;
  const secret = await credentialHeaders(credentials, asked);
  const isBound = credentials.origins.includes(new URL(target.url).origin);
  const own = checkHeaders("headers", call.options.headers ?? {});
  const declared = declaredExtensions(pin.capabilities.extensions, options.extensions, call.requirements);
  const { firstByteMs, idleMs, firstEventMs } = options.timeouts;
  // The lease may have ended while credentials were fetched or the intent was written.
  if (checkOf(call) !== "none" && call.holder.ended) throw call.holder.ended;
  return exchange({
    interface: target,
    // Headers may carry secrets of the caller's own making, so they are bound to origins as credentials are.
    headers: { ...(isBound ? { ...options.headers, ...own } : {}), ...declared, ...secret },
    signal,
    timeouts: {
      firstByteMs: call.message ? budgetOf(session, call) : firstByteMs,
      idleMs,
      firstEventMs: call.message ? budgetOf(session, call) : firstEventMs,
    },
  });
}

/** A pin may have been taken elsewhere, under another policy or none. */
function requireAddress({ source, options }: Session, target: AgentInterface): void {
  const problem = interfaceAddressProblem(target, source.url, options.addressPolicy);
  if (problem !== undefined) throw new AddressRefusedError(target.url, problem);
}

function declaredExtensions(
  listed: readonly string[],
  declared: readonly string[],
  requirements: CardRequirements,
): Record<string, string> {
  const wanted = new Set([...declared, ...(requirements.extensions ?? [])]);
  const uris = listed.filter((uri) => wanted.has(uri));
  return uris.length === 0 ? {} : { "a2a-extensions": uris.join(",") };
}
