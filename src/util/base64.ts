/** The parts of Node's `Buffer` that are used, where there is one; asked for at run time, so that none is imported. */
interface NodeBuffer {
  from(
    bytes: ArrayBufferLike,
    byteOffset: number,
    byteLength: number,
  ): { toString(encoding: "base64"): string };
  from(text: string, encoding: "base64"): Uint8Array<ArrayBuffer>;
}

interface NewerBytes {
  toBase64?: () => string;
}

interface NewerBytesConstructor {
  fromBase64?: (
    text: string,
    options: { readonly alphabet: "base64" | "base64url" },
  ) => Uint8Array<ArrayBuffer>;
}

const nodeBuffer = (globalThis as { Buffer?: NodeBuffer }).Buffer;

/** Bytes that are encoded at once: a multiple of three, so that only the last piece is padded. */
const pieceBytes = 3 * 8_192;

/** Characters that are decoded at once: a multiple of four. */
const pieceLength = 4 * 8_192;

/** Base64 of some bytes, with padding (RFC 4648, section 4). The bytes are read once and copied nowhere else. */
export function encodeBase64(bytes: Uint8Array): string {
  const newer = bytes as NewerBytes;
  if (newer.toBase64) return newer.toBase64();
  if (!nodeBuffer) return encodeInPieces(bytes);
  return nodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/**
 * The bytes of a base64 text: of either alphabet, padded or not, as ProtoJSON readers have to take it. `undefined` for
 * what is no base64.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!isBase64(text)) return undefined;
  const newer = Uint8Array as NewerBytesConstructor;
  if (newer.fromBase64)
    return newer.fromBase64(text, { alphabet: /[-_]/.test(text) ? "base64url" : "base64" });
  if (!nodeBuffer) return decodeInPieces(text);
  const read = nodeBuffer.from(text, "base64");
  // A small Buffer is a window on memory that others share; one of its own is handed on as it is.
  return read.byteLength === read.buffer.byteLength ? new Uint8Array(read.buffer) : new Uint8Array(read);
}

/** Encodes piece by piece with what every platform has. */
export function encodeInPieces(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + pieceBytes))));
  }
  return pieces.join("");
}

/** Decodes base64 piece by piece with what every platform has. */
export function decodeInPieces(text: string): Uint8Array<ArrayBuffer> {
  const bare = standard(text).replace(/=+$/, "");
  const bytes = new Uint8Array(Math.floor((bare.length * 3) / 4));
  for (let at = 0, written = 0; at < bare.length; at += pieceLength) {
    const piece = atob(bare.slice(at, at + pieceLength));
    for (let index = 0; index < piece.length; index++) bytes[written + index] = piece.charCodeAt(index);
    written += piece.length;
  }
  return bytes;
}

/** Whether a text is base64 of one alphabet, whole, with all of its padding or with none. */
function isBase64(text: string): boolean {
  const [, body = "", padding = ""] = /^([A-Za-z0-9+/]*|[A-Za-z0-9_-]*)(={0,2})$/.exec(text) ?? [
    undefined,
    "?",
  ];
  const rest = body.length % 4;
  return rest !== 1 && (padding === "" || rest + padding.length === 4);
}

function standard(text: string): string {
  return /[-_]/.test(text) ? text.replaceAll("-", "+").replaceAll("_", "/") : text;
}
