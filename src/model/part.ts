import * as z from "zod/mini";
import { isRecord } from "../util/freeze.ts";
import { exactlyOne, type JsonObject, jsonObjectSchema, optional, wireObject } from "./schema.ts";

/** What every part may carry beside its content (4.1.6). */
export interface PartMembers {
  /** Free-form metadata. */
  readonly metadata?: JsonObject;
  /** Name of the file, `"document.pdf"`. */
  readonly filename?: string;
  /** Media type of the content, `"text/plain"`. */
  readonly mediaType?: string;
}

/** A part that is text. */
export interface TextPart extends PartMembers {
  /** The text. */
  readonly text: string;
}

/** A part that is bytes. */
export interface RawPart extends PartMembers {
  /** The bytes in base64, exactly as on the wire. */
  readonly raw: string;
}

/** A part that says where its content is. */
export interface UrlPart extends PartMembers {
  /** URL of the content. It comes from the agent: read it only under your own rules. */
  readonly url: string;
}

/** A part that is structured data. */
export interface DataPart extends PartMembers {
  /** Any JSON value; `null` is a value too. */
  readonly data: unknown;
}

/** One piece of a message or an artifact: text, bytes, a URL or data, and exactly one of them (4.1.6). */
export type Part = TextPart | RawPart | UrlPart | DataPart;

const contentMembers = ["text", "raw", "url", "data"] as const;

/** What a part may have beside its content. */
const otherMembers: readonly string[] = ["metadata", "filename", "mediaType"];

/** Whether a part has no content at all: the form in which a server of the official JavaScript SDK gives `data: null`. */
export function isEmptyPart(value: unknown): value is JsonObject {
  if (!isRecord(value)) return false;
  const set = Object.keys(value).filter((name) => value[name] !== null || name === "data");
  return set.every((name) => otherMembers.includes(name));
}

/** A null beside another content member is an unset member; a null `data` alone is the value null. */
const readData = z.transform((value: unknown) => {
  if (isEmptyPart(value)) return { ...value, data: null };
  if (typeof value !== "object" || value === null || !("data" in value) || value.data !== null) return value;
  const others = contentMembers.filter((name) => name !== "data" && (value as JsonObject)[name] != null);
  if (others.length === 0) return value;
  const { data: _unset, ...rest } = value;
  return rest;
});

/** Schema of {@link Part}. */
export const partSchema: z.ZodMiniType<Part> = exactlyOne<Part>(
  z.pipe(
    readData,
    wireObject(
      {
        text: optional(z.string()),
        raw: optional(z.string()),
        url: optional(z.string()),
        data: optional(z.unknown()),
        metadata: optional(jsonObjectSchema),
        filename: optional(z.string()),
        mediaType: optional(z.string()),
      },
      ["data"],
    ),
  ),
  contentMembers,
);

/** Media type that a part has: its own, or what its content implies. */
export function partMediaType(part: Part): string | undefined {
  if (part.mediaType !== undefined) return part.mediaType;
  if ("text" in part) return "text/plain";
  return "data" in part ? "application/json" : undefined;
}
