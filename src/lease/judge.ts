import { type AddressPolicy, checkAddressPolicy } from "../card/address-policy.ts";
import { diffReadCards } from "../card/diff.ts";
import { digestsOf } from "../card/digest.ts";
import { chooseInterface } from "../card/interface.ts";
import { type CardInput, cardFromInput, shapeCard } from "../card/parse.ts";
import { interfaceStructure } from "../card/structure.ts";
import type { AgentCard } from "../model/card.ts";
import type { CardChange, CardComparison, CardVerdict, DriftPhase, LiveCard } from "../model/drift.ts";
import type { CardDigests, CardPin } from "../model/pin.ts";
import type { CardRequirements } from "../model/requirements.ts";
import type { JsonObject } from "../model/schema.ts";
import { isoTime, systemClock } from "../util/clock.ts";
import { canonicalJson } from "../util/json.ts";
import { checkOptions, type OptionKinds } from "../util/options.ts";
import { createDrift, driftReason } from "./drift.ts";
import { judgeSigner, withSignature } from "./judge-signer.ts";
import { checkRequirements, unmetRequirements } from "./requirements.ts";

/** What a judgement depends on beside the two cards and the requirements. */
export interface JudgeOptions {
  /** Which digest decides. @default "content" */
  readonly compare?: CardComparison;
  /** Content digests that are as good as the pinned one, for fleets that serve several cards. @default none */
  readonly acceptDigests?: readonly string[];
  /** Bindings to choose an interface among. @default that of the pinned interface */
  readonly bindings?: readonly string[];
  /** Bindings that go before the order of the card, the most wanted first. @default none */
  readonly preferredBindings?: readonly string[];
  /** URL that the live card came from. */
  readonly cardUrl?: string;
  /** Where the URLs of the card may lead. @default anywhere */
  readonly addressPolicy?: AddressPolicy;
  /** Extensions that the caller declares on its calls. */
  readonly extensions?: readonly string[];
  /** Which check asks. @default a revalidation */
  readonly phase?: DriftPhase;
  /** Milliseconds since the epoch. @default now */
  readonly atMs?: number;
  /** Whether the card is known to go back and forth. */
  readonly flapping?: boolean;
  /** Whether the live card is older than one that was seen before. */
  readonly rolledBack?: boolean;
  /** Thumbprints of the keys with a valid signature on the live card. */
  readonly signers?: readonly string[];
}

const kinds: OptionKinds<JudgeOptions> = Object.freeze({
  compare: ["content", "structure"],
  acceptDigests: "list",
  bindings: "list",
  preferredBindings: "list",
  cardUrl: "text",
  addressPolicy: "object",
  extensions: "list",
  phase: "object",
  atMs: "amount",
  flapping: "flag",
  rolledBack: "flag",
  signers: "list",
});

/** A live card that is already read. */
export interface LiveSnapshot extends CardDigests {
  readonly json: JsonObject;
  readonly card: AgentCard;
}

/**
 * Judges a live card against a pin. A pure function: the client throws by it, the webhook answers by it, a planner may
 * ask it too.
 *
 * @param live - the live card; `undefined` for a card that is gone.
 * @throws CardUnreadableError, CardInvalidError and ProtocolVersionError for a live card that is no 1.0 card.
 * @throws TypeError naming the option for a wrong option.
 */
export function judgeCard(
  pin: CardPin,
  live: CardInput | undefined,
  requirements: CardRequirements = {},
  options: JudgeOptions = {},
): CardVerdict {
  checkOptions(options, kinds);
  checkRequirements(requirements, "requirements");
  if (options.addressPolicy !== undefined) checkAddressPolicy("addressPolicy", options.addressPolicy);
  if (live === undefined) return judgeSnapshot(pin, undefined, requirements, options);
  const read = cardFromInput(live);
  const card = read.card();
  return judgeSnapshot(pin, { json: read.json, card, ...digestsOf(read.json, card) }, requirements, options);
}

/** {@link judgeCard} for a live card that is already read. */
export function judgeSnapshot(
  pin: CardPin,
  live: LiveSnapshot | undefined,
  requirements: CardRequirements,
  options: JudgeOptions,
): CardVerdict {
  const signature = live && judgeSigner(pin, live.card, options.signers);
  if (live && isSameCard(pin, live, options) && !signature) {
    return { outcome: "same", changes: live.digest === pin.digest ? [] : changesBetween(pin, live) };
  }
  const changes = live ? withSignature(signature, changesBetween(pin, live)) : [];
  const breaks = live ? unmetRequirements(live.card, requirements, options.extensions) : [];
  const moved = live ? interfaceMove(pin, live.card, options) : undefined;
  const reason = driftReason({
    changes,
    breaks,
    moved,
    withdrawn: live === undefined,
    rolledBack: live !== undefined && options.rolledBack === true,
  });
  const drift = createDrift({
    pinned: pin,
    live: live && liveCard(live),
    reason,
    changes,
    breaks,
    flapping: options.flapping === true,
    at: isoTime(options.atMs ?? systemClock.now()),
    phase: options.phase ?? { operation: "revalidate", check: "before" },
  });
  return { outcome: "drift", drift };
}

function isSameCard(pin: CardPin, live: LiveSnapshot, options: JudgeOptions): boolean {
  if (live.digest === pin.digest || options.acceptDigests?.includes(live.digest)) return true;
  return options.compare === "structure" && live.structuralDigest === pin.structuralDigest;
}

function changesBetween(pin: CardPin, live: LiveSnapshot): readonly CardChange[] {
  const { card } = shapeCard(pin.card, pin.digest);
  return diffReadCards({ json: pin.card, card }, live);
}

/** What became of the interface that was pinned: `undefined` where the same choice would be made again. */
function interfaceMove(
  pin: CardPin,
  card: AgentCard,
  options: JudgeOptions,
): "moved" | "version" | undefined {
  const { bindings = [pin.interface.protocolBinding], preferredBindings, cardUrl, addressPolicy } = options;
  const choice = chooseInterface(card, { bindings, preferredBindings, cardUrl, addressPolicy });
  const pinned = canonicalJson(interfaceStructure(pin.interface));
  if (choice.outcome === "chosen") {
    return canonicalJson(interfaceStructure(choice.interface)) === pinned ? undefined : "moved";
  }
  const unversioned = canonicalJson({ ...interfaceStructure(pin.interface), version: undefined });
  const isThereInOtherVersion = card.supportedInterfaces.some((entry) => {
    const structure = interfaceStructure(entry);
    const isSameButVersion = canonicalJson({ ...structure, version: undefined }) === unversioned;
    return isSameButVersion && canonicalJson(structure) !== pinned;
  });
  return isThereInOtherVersion ? "version" : "moved";
}

function liveCard(live: LiveSnapshot): LiveCard {
  return Object.freeze({
    digest: live.digest,
    structuralDigest: live.structuralDigest,
    version: live.card.version,
    card: live.json,
  });
}
