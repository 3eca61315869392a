import { digestsOf } from "../card/digest.ts";
import { usableInterfaces } from "../card/interface.ts";
import { shapeCard } from "../card/parse.ts";
import { interfaceStructure } from "../card/structure.ts";
import { LedgerUnavailableError } from "../errors/ledger.ts";
import { pinSnapshot } from "../lease/pin.ts";
import { checkRequirements } from "../lease/requirements.ts";
import { checkRecord } from "../ledger/codec.ts";
import type { CardPin, PinnedExtendedCard } from "../model/pin.ts";
import type { TaskRecord } from "../model/record.ts";
import { taskRecordSchema } from "../model/record-schema.ts";
import type { JsonObject } from "../model/schema.ts";
import { parseTime } from "../util/clock.ts";
import { canonicalJson } from "../util/json.ts";
import { copyJson } from "../util/json-copy.ts";
import { choiceOptionsOf, type Session } from "./session.ts";

/** Deepest nesting of a record; the card in it may have 64 levels of its own. */
const maxDepth = 200;

/**
 * Reads a record that somebody hands in, as the work of a stranger: its shape is checked, and its pin is taken anew from
 * the card in it, so that what it says of that card can't be anything else than what the card says.
 *
 * @throws LedgerUnavailableError with the reason `schema` for a record of another version of this library, `corrupt` for
 * what is no record, or one whose pin does not belong to its card.
 * @throws TypeError for a record of another agent or principal.
 */
export function readTaskRecord(session: Session, given: unknown): TaskRecord {
  const record = readShape(given);
  const { cardKey, options } = session;
  if (record.cardUrl !== cardKey) {
    throw new TypeError(
      `record.cardUrl: found the agent ${JSON.stringify(record.cardUrl)}, wanted this client's, ${JSON.stringify(cardKey)}`,
    );
  }
  if (record.principal !== options.principal) {
    throw new TypeError(
      `record.principal: found ${JSON.stringify(record.principal)}, wanted ${JSON.stringify(options.principal)}`,
    );
  }
  return Object.freeze({ ...record, pin: readPin(session, record.pin) });
}

function readShape(given: unknown): TaskRecord {
  let copy: ReturnType<typeof copyJson>;
  try {
    copy = copyJson(given, maxDepth);
  } catch {
    throw corrupt("found what is no JSON");
  }
  if (copy.tooDeep) throw corrupt(`found more than ${maxDepth} levels`);
  if (copy.problems.some(({ kind }) => kind === "proto-member")) throw corrupt("found a member __proto__");
  const record = checkRecord(copy.value);
  if (record.kind !== "task") throw corrupt(`found the record of a ${record.kind}`);
  const { error } = taskRecordSchema.safeParse(record);
  const issue = error?.issues[0];
  if (issue) throw corrupt(`found something else at $.${issue.path.map(String).join(".")}`);
  try {
    checkRequirements(record.requirements);
  } catch {
    throw corrupt("found requirements that are none");
  }
  return record;
}

/** Takes the pin anew from its own card, and keeps of the old one what the card can't say: the choice, and when. */
function readPin(session: Session, { interface: chosen, ...pin }: CardPin): CardPin {
  const { card, digests } = readCard(pin.card, pin);
  const wanted = canonicalJson(interfaceStructure(chosen));
  const isUsable = usableInterfaces(card, choiceOptionsOf(session)).find(
    (entry) => canonicalJson(interfaceStructure(entry)) === wanted,
  );
  if (!isUsable) throw corrupt("found an interface that its card does not have, or that has no binding here");
  const pinnedMs = parseTime(pin.pinnedAt);
  if (pinnedMs === undefined) throw corrupt("found a pin without a time");
  const taken = pinSnapshot({ json: pin.card, card, ...digests }, isUsable, pinnedMs);
  const { extended, signer } = pin;
  return Object.freeze({
    ...taken,
    ...(signer === undefined ? {} : { signer }),
    ...(extended ? { extended: readExtended(extended) } : {}),
  });
}

function readExtended(extended: PinnedExtendedCard): PinnedExtendedCard {
  const { digests } = readCard(extended.card, extended);
  return Object.freeze({ ...digests, card: extended.card });
}

function readCard(json: JsonObject, named: { readonly digest: string; readonly structuralDigest: string }) {
  let digests: ReturnType<typeof digestsOf>;
  let card: ReturnType<typeof shapeCard>["card"];
  try {
    ({ card } = shapeCard(json, named.digest));
    digests = digestsOf(json, card);
  } catch {
    throw corrupt("found a card that is none");
  }
  if (digests.digest !== named.digest || digests.structuralDigest !== named.structuralDigest) {
    throw corrupt("found a card with another digest than the pin has");
  }
  return { card, digests };
}

function corrupt(found: string): LedgerUnavailableError {
  return new LedgerUnavailableError("use a record", `${found}, wanted the record of a task`, {
    reason: "corrupt",
  });
}
