import { type AddressPolicy, checkAddressPolicy } from "../card/address-policy.ts";
import { digestsOf } from "../card/digest.ts";
import { requireInterface } from "../card/interface.ts";
import { type CardInput, cardFromInput } from "../card/parse.ts";
import { majorMinor } from "../card/structure.ts";
import type { AgentCard, AgentInterface } from "../model/card.ts";
import type { CardDigests, CardPin } from "../model/pin.ts";
import type { JsonObject } from "../model/schema.ts";
import { securitySchemeKind } from "../model/security.ts";
import type { CardSignatureVerdict } from "../model/signature.ts";
import { isoTime, systemClock } from "../util/clock.ts";
import { deepFreeze } from "../util/freeze.ts";
import { checkOptions, type OptionKinds } from "../util/options.ts";

/** What {@link pinCard} may be told. */
export interface PinCardOptions {
  /** Bindings to choose an interface among, by their names on a card. @default ["JSONRPC", "HTTP+JSON"] */
  readonly bindings?: readonly string[];
  /** Bindings that go before the order of the card, the most wanted first. @default none */
  readonly preferredBindings?: readonly string[];
  /** URL that the card came from; decides whether an http interface is a downgrade. */
  readonly cardUrl?: string;
  /** Where the URLs of the card may lead. @default anywhere */
  readonly addressPolicy?: AddressPolicy;
  /** When the pin is taken, milliseconds since the epoch. @default now */
  readonly pinnedAtMs?: number;
}

const kinds: OptionKinds<PinCardOptions> = Object.freeze({
  bindings: "list",
  preferredBindings: "list",
  cardUrl: "text",
  addressPolicy: "object",
  pinnedAtMs: "amount",
});

/** The bindings that the root door has. */
const builtInBindings: readonly string[] = Object.freeze(["JSONRPC", "HTTP+JSON"]);

/**
 * Takes a pin of a card: both digests and the facts that a plan depends on. A pure function.
 *
 * @throws CardUnreadableError, CardInvalidError, ProtocolVersionError and NoSupportedInterfaceError for a card that
 * can't be called; AddressRefusedError for one that leads where the policy does not go.
 * @throws TypeError naming the option for a wrong option.
 */
export function pinCard(card: CardInput, options: PinCardOptions = {}): CardPin {
  checkOptions(options, kinds);
  if (options.addressPolicy !== undefined) checkAddressPolicy("addressPolicy", options.addressPolicy);
  const read = cardFromInput(card);
  const { json } = read;
  const typed = read.card();
  const digests = digestsOf(json, typed);
  const { bindings = builtInBindings, preferredBindings, cardUrl, addressPolicy } = options;
  const among = { bindings, preferredBindings, cardUrl, addressPolicy };
  const choice = requireInterface(typed, among, digests.digest);
  return pinSnapshot(
    { json, card: typed, ...digests },
    choice.interface,
    options.pinnedAtMs ?? systemClock.now(),
  );
}

/** Takes a pin of a card that is already read and whose interface is chosen. */
export function pinSnapshot(
  snapshot: CardDigests & {
    readonly json: JsonObject;
    readonly card: AgentCard;
    readonly signature?: CardSignatureVerdict;
  },
  chosen: AgentInterface,
  pinnedAtMs: number,
): CardPin {
  const { card } = snapshot;
  const schemes = Object.entries(card.securitySchemes ?? {})
    .map(([name, scheme]) => ({ name, kind: securitySchemeKind(scheme) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return deepFreeze({
    digest: snapshot.digest,
    structuralDigest: snapshot.structuralDigest,
    version: card.version,
    protocolVersion: majorMinor(chosen.protocolVersion),
    interface: chosen,
    skills: card.skills.map((skill) => skill.id),
    capabilities: {
      streaming: card.capabilities.streaming === true,
      pushNotifications: card.capabilities.pushNotifications === true,
      extendedAgentCard: card.capabilities.extendedAgentCard === true,
      extensions: (card.capabilities.extensions ?? []).map((extension) => extension.uri),
    },
    inputModes: card.defaultInputModes,
    outputModes: card.defaultOutputModes,
    securitySchemes: schemes,
    ...signerOf(snapshot.signature),
    pinnedAt: isoTime(pinnedAtMs),
    card: snapshot.json,
  });
}

/** Who is pinned of those who signed: the first in card order. */
export function signerOf(verdict: CardSignatureVerdict | undefined): { readonly signer?: string } {
  const [first] = verdict?.result === "valid" ? verdict.signers : [];
  return first ? { signer: first.thumbprint } : {};
}
