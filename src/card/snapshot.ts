import { CardInvalidError, CardUnreadableError, ProtocolVersionError } from "../errors/card.ts";
import type { Deviation } from "../model/deviation.ts";
import type { CardDigests } from "../model/pin.ts";
import type { JsonObject } from "../model/schema.ts";
import type { CardSignatureVerdict } from "../model/signature.ts";
import { holdsSecret, strikeJson } from "../util/strike.ts";
import { isSameJson } from "./change.ts";
import { digestsOf } from "./digest.ts";
import { requireUsableUrl } from "./interface.ts";
import { parseCard, refusedDigest, type ShapedCard, shapeCard } from "./parse.ts";

/** A card that passed every check, with its digests. Frozen. */
export interface CardSnapshot extends ShapedCard, CardDigests {
  /** URL that it came from; absent for a card that was handed in. */
  readonly url?: string;
  /** Hash of the bytes received, to tell an unchanged card without reading it. */
  readonly bytesDigest: string;
  /** What its signatures are worth; absent where nobody asks. */
  readonly signature?: CardSignatureVerdict;
}

/** The same card with the verdict on its signatures; the very same where that says nothing new. */
export function withVerdict(snapshot: CardSnapshot, verdict: CardSignatureVerdict | undefined): CardSnapshot {
  if (verdict === undefined || isSameJson(snapshot.signature, verdict)) return snapshot;
  return Object.freeze({ ...snapshot, signature: verdict });
}

/** What a snapshot is made from. */
export interface SnapshotOptions {
  readonly url?: string | undefined;
  /** Media type that the bytes came with. */
  readonly mediaType?: string;
  readonly maxDepth: number;
  /** What went out with the read of the card. @default nothing */
  readonly secrets?: readonly string[];
  /** Deviations seen on the way to the bytes. */
  readonly deviations?: readonly Deviation[];
  /** The snapshot before this one; returned again when the bytes are the same. */
  readonly previous?: CardSnapshot | undefined;
}

/**
 * Makes a snapshot of a card from the bytes received.
 *
 * @throws CardUnreadableError, CardInvalidError and ProtocolVersionError for what is no 1.0 card.
 */
export function snapshotCard(bytes: Uint8Array, options: SnapshotOptions): CardSnapshot {
  const bytesDigest = refusedDigest(bytes);
  if (options.previous?.bytesDigest === bytesDigest) return options.previous;
  const { url, mediaType } = options;
  const { json, shaped } = withoutSecrets(options.secrets ?? [], () => {
    const json = parseServed(bytes, options, bytesDigest);
    const shaped = shapeCard(json, bytesDigest, url);
    requireUsableUrl(shaped.card, url, bytesDigest);
    return { json, shaped };
  });
  return Object.freeze({
    ...shaped,
    ...digestsOf(json, shaped.card),
    deviations: Object.freeze([
      ...(options.deviations ?? []),
      ...mediaTypeDeviations(mediaType),
      ...shaped.deviations,
    ]),
    bytesDigest,
    ...(url === undefined ? {} : { url }),
  });
}

/** What is served as HTML and is no JSON either is a page: of a login, of a platform. */
function parseServed(bytes: Uint8Array, options: SnapshotOptions, digest: string): JsonObject {
  const { url, maxDepth, mediaType, secrets = [] } = options;
  try {
    return parseCard(bytes, { url, maxDepth, secrets });
  } catch (error) {
    const isPage = mediaType === "text/html" && error instanceof CardUnreadableError;
    if (!isPage || error.reason !== "not-json") throw error;
    throw new CardUnreadableError(url, "html", "found text/html, wanted JSON", digest);
  }
}

/** What is wrong with a card is told by its own words, which may repeat what went out with the read. */
function withoutSecrets<T>(secrets: readonly string[], judge: () => T): T {
  try {
    return judge();
  } catch (error) {
    if (error instanceof ProtocolVersionError && holdsSecret(error.offered, secrets)) {
      throw new ProtocolVersionError(strikeJson(error.offered, secrets), error.implemented);
    }
    if (!(error instanceof CardInvalidError) || !holdsSecret(error.issues, secrets)) throw error;
    throw new CardInvalidError(error.url, strikeJson(error.issues, secrets), error.digest);
  }
}

function mediaTypeDeviations(mediaType: string | undefined): Deviation[] {
  if (mediaType === undefined || /[/+]json$/.test(mediaType)) return [];
  const found = mediaType === "" ? "no media type" : mediaType;
  return [{ kind: "card-media-type", message: `found the card as ${found}, wanted application/json` }];
}
