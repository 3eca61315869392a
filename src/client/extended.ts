import { digestsOf } from "../card/digest.ts";
import { refuseEcho } from "../card/echo.ts";
import { createFlights } from "../card/flight.ts";
import { shapeCard } from "../card/parse.ts";
import { thumbprintsOf } from "../card/signature.ts";
import { signerFailure, type VerifiedCard } from "../card/verifier.ts";
import { AuthenticationError } from "../errors/auth.ts";
import { CapabilityMissingError } from "../errors/lease.ts";
import { MalformedResponseError, TimeoutError } from "../errors/transport.ts";
import type { CardPin, PinnedExtendedCard } from "../model/pin.ts";
import { createScope } from "../util/abort.ts";
import { readInstant } from "../util/clock.ts";
import { deepFreeze, isRecord } from "../util/freeze.ts";
import { attemptCall, credentialsSent } from "./attempt.ts";
import { budgetOf, type Call, type CallOptions, checkCallOptions } from "./call.ts";
import { holdPin } from "./holder.ts";
import { publicCard } from "./pinned.ts";
import type { LeaseHolder, Session } from "./session.ts";

/** An extended card that was read, and what its signatures are worth. */
export interface ExtendedReading extends VerifiedCard {
  readonly extended: PinnedExtendedCard;
}

type Join = ReturnType<typeof createFlights<ExtendedReading | undefined>>;

const flights = new WeakMap<Session, Map<string, Join>>();

/** Most pins whose reads are shared; the oldest go first. */
const maxPins = 100;

/**
 * Reads the extended card (3.1.11) at the pinned interface; checks of one moment share one read.
 *
 * @returns `undefined` when the agent no longer accepts the credentials (401): there is no extended card for them.
 * @throws CardInvalidError when it is no card; the protocol and transport errors.
 */
export function readExtendedShared(
  session: Session,
  pin: CardPin,
  kind: "ordinary" | "forced",
  signal: AbortSignal,
): Promise<ExtendedReading | undefined> {
  const known = flights.get(session) ?? new Map<string, Join>();
  flights.set(session, known);
  // The cards say what the read is authenticated by, so that of one pin is none of another.
  const key = JSON.stringify([pin.interface, pin.digest, pin.extended?.digest]);
  const join = known.get(key) ?? createFlights((_kind, shared) => read(session, pin, { signal: shared }));
  known.delete(key);
  known.set(key, join);
  const [oldest] = known.keys();
  if (known.size > maxPins && oldest !== undefined) known.delete(oldest);
  return join(kind, signal);
}

async function read(
  session: Session,
  pin: CardPin,
  options: CallOptions,
): Promise<ExtendedReading | undefined> {
  try {
    return await readExtended(session, pin, options);
  } catch (error) {
    if (error instanceof AuthenticationError) return undefined;
    throw error;
  }
}

/** Reads the extended card, judged and frozen before anybody sees it. Throws as {@link readExtendedShared} does. */
export async function readExtended(
  session: Session,
  pin: CardPin,
  options: CallOptions,
): Promise<ExtendedReading> {
  const call: Call<"GetExtendedAgentCard"> = {
    operation: "GetExtendedAgentCard",
    request: {},
    // A card read depends on no lease, so nobody's lease can end by it.
    holder: holdPin(pin),
    requirements: {},
    options,
    knowsTask: false,
  };
  const scope = createScope(session.clock, [options.signal, session.closed]);
  const totalMs = budgetOf(session, call);
  scope.deadline(totalMs, () => new TimeoutError(pin.interface.url, "total", totalMs));
  try {
    const answer = await attemptCall(session, call, {
      exchange: (wire) => session.bindings.of(wire.interface).call("GetExtendedAgentCard", {}, wire),
      signal: scope.signal,
      since: readInstant(session.clock),
    });
    const json = answer.wire;
    if (!isRecord(json)) throw new MalformedResponseError([{ path: "$.result", message: "found no card" }]);
    const own = { ...session.options.headers, ...options.headers };
    const bytes = new TextEncoder().encode(JSON.stringify(json));
    const known = session.credentials.sent.unnamed;
    refuseEcho(bytes, { url: pin.interface.url, own, sent: credentialsSent(call), known });
    const { card } = shapeCard(json, "", pin.interface.url);
    const { verdict, refusal } = await session.verifier.verify(json, pin.interface.url, scope.signal);
    return Object.freeze({
      extended: deepFreeze({ ...digestsOf(json, card), card: json }),
      verdict,
      refusal,
    });
  } finally {
    scope.release();
  }
}

/**
 * The extended card of a reading, to be pinned beside the public card of `pin`.
 *
 * @throws CardSignatureError when its signatures are not what the client asks for, or none of them is by the pinned key.
 */
export function takeExtended(
  pin: CardPin,
  { extended, verdict, refusal }: ExtendedReading,
): PinnedExtendedCard {
  const isUnsigned = pin.signer !== undefined && verdict && !thumbprintsOf(verdict).includes(pin.signer);
  if (isUnsigned) throw signerFailure(pin.interface.url, verdict, pin.signer);
  if (refusal) throw refusal;
  return extended;
}

/**
 * Reads the extended card and pins it beside the public one; no drift. Throws as {@link readExtended} does.
 *
 * @throws CapabilityMissingError where the card declares none; CardSignatureError as {@link takeExtended} does.
 */
export async function adoptExtended(
  session: Session,
  holder: LeaseHolder,
  options: CallOptions,
): Promise<void> {
  checkCallOptions(options);
  const { pin } = holder;
  if (publicCard(pin).capabilities.extendedAgentCard !== true) {
    throw new CapabilityMissingError("extendedAgentCard", "GetExtendedAgentCard", pin.digest);
  }
  const extended = takeExtended(pin, await readExtended(session, pin, options));
  await holder.replacePin(Object.freeze({ ...holder.pin, extended }));
}
