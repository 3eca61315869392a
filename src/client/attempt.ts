import type { BindingCall } from "../binding/binding.ts";
import type { OperationName } from "../model/operations.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { budgetOf, type Call } from "./call.ts";
import { pinnedCard } from "./check.ts";
import { credentialHeaders } from "./credentials.ts";
import { checkHeaders } from "./headers.ts";
import type { Session } from "./session.ts";

/** One exchange with the headers that the call goes out with. */
export async function attemptCall<O extends OperationName, T>(
  session: Session,
  call: Call<O>,
  signal: AbortSignal,
  exchange: (wire: BindingCall) => Promise<T>,
  challenge?: string,
): Promise<T> {
  const { pin } = call.holder;
  const { options, credentials } = session;
  const card = pinnedCard(pin);
  const secret = await credentialHeaders(credentials, {
    url: pin.interface.url,
    purpose: "call",
    card,
    signal,
    ...(challenge === undefined ? {} : { challenge }),
  });
  const isBound = credentials.origins.includes(new URL(pin.interface.url).origin);
  const own = checkHeaders("headers", call.options.headers ?? {});
  const declared = declaredExtensions(pin.capabilities.extensions, options.extensions, call.requirements);
  const { firstByteMs, idleMs, firstEventMs } = options.timeouts;
  return exchange({
    interface: pin.interface,
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

function declaredExtensions(
  listed: readonly string[],
  declared: readonly string[],
  requirements: CardRequirements,
): Record<string, string> {
  const wanted = new Set([...declared, ...(requirements.extensions ?? [])]);
  const uris = listed.filter((uri) => wanted.has(uri));
  return uris.length === 0 ? {} : { "a2a-extensions": uris.join(",") };
}
