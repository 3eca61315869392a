const strict = new TextDecoder("utf-8", { fatal: true });
const strictWithMark = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
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

/** Reads bytes in UTF-8 as they come. */
export interface Utf8Reader {
  /**
   * The text of the next bytes; a character that is not whole yet waits for its rest. A byte that is no UTF-8 becomes a
   * lone surrogate, which no UTF-8 can hold: damage is seen exactly where it is, however the bytes were cut.
   */
  read(chunk: Uint8Array): string;
  /** Whether there was such a byte. */
  readonly isDamaged: boolean;
}

/** Whether a text of a {@link Utf8Reader} holds a byte that is no UTF-8. */
export function hasDamage(text: string): boolean {
  return /[\udc80-\udcff]/u.test(text);
}

/** Makes a {@link Utf8Reader}. A byte order mark is dropped from the beginning. */
export function createUtf8Reader(): Utf8Reader {
  let waiting = new Uint8Array();
  let isDamaged = false;
  let isStart = true;

  function decode(bytes: Uint8Array): string {
    try {
      return strictWithMark.decode(bytes);
    } catch {
      isDamaged = true;
      return decodeDamaged(bytes);
    }
  }

  return {
    read(chunk) {
      const bytes = waiting.length === 0 ? chunk : concat(waiting, chunk);
      const end = bytes.length - unfinishedBytes(bytes);
      waiting = bytes.slice(end);
      const text = decode(bytes.subarray(0, end));
      if (!isStart || text === "") return text;
      isStart = false;
      return text.startsWith("\ufeff") ? text.slice(1) : text;
    },
    get isDamaged() {
      return isDamaged;
    },
  };
}

/** How many bytes at the end begin a character that is not whole yet. */
function unfinishedBytes(bytes: Uint8Array): number {
  for (let count = 1; count <= 3; count++) {
    const byte = bytes[bytes.length - count] ?? 0;
    if (!isContinuation(byte)) return sizeOf(byte) > count ? count : 0;
  }
  return 0;
}

function decodeDamaged(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] ?? 0;
    const point = pointAt(bytes, at);
    text += point === undefined ? String.fromCharCode(0xdc00 + lead) : String.fromCodePoint(point);
    at += point === undefined ? 1 : sizeOf(lead);
  }
  return text;
}

/** The character that begins at a place, when one does; no longer than it must be, and no surrogate. */
function pointAt(bytes: Uint8Array, at: number): number | undefined {
  const lead = bytes[at] ?? 0;
  if (isContinuation(lead) || lead > lastLead) return undefined;
  const size = sizeOf(lead);
  let point = size === 1 ? lead : lead & (0x7f >> size);
  for (let next = at + 1; next < at + size; next++) {
    const byte = bytes[next] ?? 0;
    if (!isContinuation(byte)) return undefined;
    point = (point << 6) | (byte & 0x3f);
  }
  const least = [0, 0, 0x80, 0x800, 0x10000][size] ?? 0;
  const isSurrogate = point >= 0xd800 && point <= 0xdfff;
  return point < least || point > 0x10ffff || isSurrogate ? undefined : point;
}

/** The last byte that a character can begin with; those after it look like one in their first bits only. */
const lastLead = 0xf4;

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** How many bytes a character has by its first one. */
function sizeOf(lead: number): number {
  if (lead < 0xc0) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
