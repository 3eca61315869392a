import { cut, redactText } from "./redact.ts";
import { strikeSecrets } from "./strike.ts";

/** What a value is, in words for a message. They do not hold the value, which may be a secret in the wrong place. */
export function kindText(value: unknown): string {
  if (value === "") return "an empty text";
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return "a list";
  const kind = typeof value;
  if (kind === "string") return "a text";
  return kind === "object" ? "an object" : `a ${kind}`;
}

/**
 * What something of the caller's threw, in words for a message: in quotes, cut, and without what sounds like a secret or is
 * one of `secrets`.
 */
export function thrownText(thrown: unknown, secrets: readonly string[] = []): string {
  if (!(thrown instanceof Error)) return "something that is no error";
  const words = String(thrown.message).trim();
  // Struck before the quotes come: what is in them is escaped, and no secret could be told any more.
  return words === ""
    ? "an error without a word"
    : JSON.stringify(cut(redactText(strikeSecrets(words, secrets)), 300));
}
