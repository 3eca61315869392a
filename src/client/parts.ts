import { MalformedResponseError } from "../errors/transport.ts";
import type { DataPart, Part, PartMembers, RawPart, TextPart, UrlPart } from "../model/part.ts";
import { decodeBase64, encodeBase64 } from "../util/base64.ts";
import { defined } from "../util/freeze.ts";
import { checkOptions, type OptionKinds } from "../util/options.ts";
import { textOfParts } from "./outcome.ts";

/** Texts of some parts, and what is none. */
export interface PartsText {
  /** The text parts, one after the other. */
  readonly text: string;
  /** The parts that are no text: bytes, URLs and data are never put into words. */
  readonly skipped: readonly Part[];
}

/**
 * A part that is text.
 *
 * @param details - media type (by itself `text/plain`), filename, metadata.
 * @throws TypeError for what is no text.
 */
export function textPart(text: string, details: PartMembers = {}): TextPart {
  if (typeof text !== "string") throw new TypeError(`text: found ${typeOf(text)}, wanted a text`);
  return Object.freeze({ text, ...membersOf(details) });
}

/**
 * A part that is structured data: any JSON value, `null` too. Its media type has to be among the card's input modes.
 *
 * @param details - media type (by itself `application/json`), filename, metadata.
 * @throws TypeError for `undefined`, which JSON does not have.
 */
export function dataPart(data: unknown, details: PartMembers = {}): DataPart {
  if (data === undefined) throw new TypeError("data: found undefined, wanted a JSON value");
  return Object.freeze({ data, ...membersOf(details) });
}

/**
 * A part that is a file (6.7): bytes travel in the message, of a URL only the URL does. A `Blob` has to be read first,
 * so its part is a promise; its own type and, of a `File`, its name stand where `details` say nothing. The media type
 * has to be among the card's input modes.
 *
 * @param source - bytes; or an absolute URL that the agent can read: the client never does.
 * @param details - media type, filename, metadata.
 * @throws TypeError for another source, and for a URL that means nothing to the agent, as `file:` and `blob:` do.
 */
export function filePart(source: Blob, details?: PartMembers): Promise<RawPart>;
export function filePart(source: Uint8Array | ArrayBuffer, details?: PartMembers): RawPart;
export function filePart(source: URL | string, details?: PartMembers): UrlPart;
export function filePart(
  source: Blob | Uint8Array | ArrayBuffer | URL | string,
  details: PartMembers = {},
): Promise<RawPart> | RawPart | UrlPart {
  if (source instanceof Blob) return blobPart(source, details);
  if (source instanceof URL || typeof source === "string") return urlPart(source, details);
  // An ArrayBuffer of another realm, a test runner's for one, is no instance of this one's.
  const isBuffer = source instanceof ArrayBuffer || typeOf(source) === "ArrayBuffer";
  if (!isBuffer && !ArrayBuffer.isView(source)) {
    throw new TypeError(`source: found ${typeOf(source)}, wanted bytes, a Blob or a URL`);
  }
  const bytes = isBuffer
    ? new Uint8Array(source as ArrayBuffer)
    : new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  return Object.freeze({ raw: encodeBase64(bytes), ...membersOf(details) });
}

/**
 * The bytes of a part that carries some (`raw`); `undefined` for any other part: a text has no bytes of its own, and
 * what is behind a URL is read by your own rules.
 *
 * @throws MalformedResponseError when what the part carries is no base64; both alphabets are read, padded or not.
 */
export function bytesOf(part: Part): Uint8Array<ArrayBuffer> | undefined {
  if (!("raw" in part)) return undefined;
  const bytes = typeof part.raw === "string" ? decodeBase64(part.raw) : undefined;
  if (bytes) return bytes;
  throw new MalformedResponseError([{ path: "$.raw", message: "found no base64, wanted bytes in base64" }]);
}

/** The text of some parts, or of what has parts: a message, an artifact. What is skipped is said. */
export function textOf(found: readonly Part[] | { readonly parts: readonly Part[] }): PartsText {
  return Object.freeze(textOfParts("parts" in found ? found.parts : found));
}

async function blobPart(blob: Blob, details: PartMembers): Promise<RawPart> {
  const { name } = blob as { readonly name?: unknown };
  const own = {
    ...(blob.type === "" ? {} : { mediaType: blob.type }),
    ...(typeof name === "string" && name !== "" ? { filename: name } : {}),
  };
  return filePart(await blob.arrayBuffer(), { ...own, ...membersOf(details) });
}

function urlPart(source: URL | string, details: PartMembers): UrlPart {
  const url = String(source);
  const { protocol } = URL.canParse(url) ? new URL(url) : { protocol: "" };
  if (protocol === "" || protocol === "file:" || protocol === "blob:") {
    const found = protocol === "" ? "a text that is no absolute URL" : `a ${protocol} URL`;
    throw new TypeError(`source: found ${found}, wanted a URL that the agent can read`);
  }
  return Object.freeze({ url, ...membersOf(details) });
}

/** What a part has in it; there where one part is given as the details of another. */
type Contents = { readonly [K in "text" | "raw" | "url" | "data"]?: unknown };

const kinds: OptionKinds<PartMembers & Contents> = Object.freeze({
  ...({ mediaType: "text", filename: "text", metadata: "object" } as const),
  ...({ text: "any", raw: "any", url: "any", data: "any" } as const),
});

/** What may stand beside the content, and nothing else: a second content would make it no part. */
function membersOf(details: PartMembers): PartMembers {
  checkOptions<PartMembers & Contents>(details, kinds);
  const { mediaType, filename, metadata } = details;
  return defined({ mediaType, filename, metadata });
}

function typeOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}
