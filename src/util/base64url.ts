/** What a base64url text (RFC 4648, without padding) holds; `undefined` where it is none. */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (unit) => unit.charCodeAt(0));
}
