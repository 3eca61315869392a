const strict = new TextDecoder("utf-8", { fatal: true });
const lossy = new TextDecoder("utf-8");

/** The text of bytes in UTF-8, without its byte order mark; `undefined` when they are no UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The text of bytes in UTF-8, with U+FFFD in place of what is none; for reports only. */
export function decodeUtf8Lossy(bytes: Uint8Array): string {
  return lossy.decode(bytes);
}

/** How many bytes become characters in one call; more would not fit on the stack. */
const pieceBytes = 8192;

/**
 * Bytes as a text with one character for each byte. Lines and field names of a byte stream are ASCII, so it can be
 * taken apart in this form wherever its chunks were cut; {@link decodeByteText} then reads what was cut out.
 */
export function toByteText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  // As many characters as bytes: all of them are ASCII, as most JSON is.
  if (text?.length === bytes.length) return text;
  let byteText = "";
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    byteText += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(at, at + pieceBytes));
  }
  return byteText;
}

/** Reads a text with one character for each byte as UTF-8; `undefined` when its bytes are none. */
export function decodeByteText(byteText: string): string | undefined {
  if (!/[\x80-\xff]/.test(byteText)) return byteText;
  const bytes = new Uint8Array(byteText.length);
  for (let at = 0; at < byteText.length; at++) bytes[at] = byteText.charCodeAt(at);
  return decodeUtf8(bytes);
}
