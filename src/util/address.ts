/** What is known of an address by its text alone. */
export type AddressKind = "public" | "loopback" | "private" | "link-local" | "reserved";

type Range = readonly [start: string, bits: number, kind: AddressKind];

/** IPv4 ranges that are not on the open internet (RFC 6890 and its successors), the narrow ones first. */
const ranges: readonly Range[] = Object.freeze([
  // Where clouds tell a machine its secrets, outside the range that is meant for such things.
  ["100.100.100.200", 32, "link-local"],
  ["168.63.129.16", 32, "link-local"],
  ["0.0.0.0", 8, "loopback"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "private"],
  ["127.0.0.0", 8, "loopback"],
  ["169.254.0.0", 16, "link-local"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "reserved"],
  ["192.0.2.0", 24, "reserved"],
  ["192.88.99.0", 24, "reserved"],
  ["192.168.0.0", 16, "private"],
  ["198.18.0.0", 15, "private"],
  ["198.51.100.0", 24, "reserved"],
  ["203.0.113.0", 24, "reserved"],
  ["224.0.0.0", 3, "reserved"],
]);

/** Names that never lead out of a machine or a network (RFC 6761, RFC 6762, RFC 8375, and what clouds use). */
const localSuffixes: readonly (readonly [string, AddressKind])[] = Object.freeze([
  ["localhost", "loopback"],
  ["local", "private"],
  ["internal", "private"],
  ["home.arpa", "private"],
  ["lan", "private"],
]);

/**
 * Judges the host of a URL by its text: literal addresses in every spelling that a URL parser takes, and names that
 * never lead outside. What a name resolves to is not looked up.
 *
 * @param url - an absolute URL; its parser has turned `2130706433`, `0x7f.1` and `0177.0.0.1` into `127.0.0.1`.
 */
export function judgeAddress(url: URL): AddressKind {
  const host = url.hostname.toLowerCase().replace(/\.+$/, "");
  if (host.startsWith("[")) return judgeIPv6(host.slice(1, -1));
  const four = readIPv4(host);
  if (four !== undefined) return judgeIPv4(four);
  const local = localSuffixes.find(([suffix]) => host === suffix || host.endsWith(`.${suffix}`));
  if (local) return local[1];
  // A name of one label is looked up in the local network.
  return host.includes(".") ? "public" : "private";
}

/**
 * Whether what goes to a URL stays on this machine, so that plain http gives nothing away: `127.0.0.0/8`, `::1`, the
 * first of these inside IPv6, `localhost` and what ends in it. Narrower than {@link judgeAddress}: an address that leads
 * to one of these over a gateway, or stands for "any", is no reason for trust.
 */
export function isLoopback(url: URL): boolean {
  if (judgeAddress(url) !== "loopback") return false;
  const host = url.hostname.toLowerCase();
  if (host.startsWith("[")) return /^\[::(?:1|ffff:7f[\da-f]{2}:[\da-f]{1,4})\]$/.test(host);
  const four = readIPv4(host);
  return four === undefined || four >= 2 ** 24;
}

/**
 * The origin of a URL, `"https://agent.example.com"`; `undefined` where it has none of its own. A `blob:` URL repeats the
 * origin of whoever made it, and leads to no server.
 */
export function originOfUrl(url: string | URL): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, protocol, host } = new URL(url);
  return host !== "" && origin === `${protocol}//${host}` ? origin : undefined;
}

/** Whether a text is a host exactly as a URL has it: lower case, IDN in its ASCII form, IPv6 in brackets, no port. */
export function isHost(host: unknown): host is string {
  return (
    typeof host === "string" && URL.canParse(`http://${host}`) && new URL(`http://${host}`).hostname === host
  );
}

/**
 * Judges an address as a resolver gives it: IPv4 in dotted decimal, IPv6 in any of its spellings, with or without a
 * zone. What is neither is `reserved`.
 */
export function judgeIp(address: string): AddressKind {
  const four = readIPv4(address);
  if (four !== undefined) return judgeIPv4(four);
  const plain = `http://[${address.replace(/%.*$/s, "")}]`;
  return URL.canParse(plain) ? judgeAddress(new URL(plain)) : "reserved";
}

function readIPv4(text: string): number | undefined {
  const bytes = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number);
  if (!bytes || bytes.some((byte) => byte > 255)) return undefined;
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}

function judgeIPv4(address: number): AddressKind {
  const found = ranges.find(([start, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(address / size) === Math.floor((readIPv4(start) ?? 0) / size);
  });
  return found ? found[2] : "public";
}

function judgeIPv6(text: string): AddressKind {
  const words = readIPv6(text);
  if (!words) return "reserved";
  const [first = 0, second = 0, third = 0] = words;
  const leading = (count: number) => words.slice(0, count).every((word) => word === 0);
  const embedded = (at: number) => judgeIPv4((words[at] ?? 0) * 65_536 + (words[at + 1] ?? 0));
  if (leading(7) && (words[7] ?? 0) <= 1) return "loopback";
  // Addresses that carry an IPv4 one lead to it: mapped, compatible, translated (NAT64), 6to4.
  if (leading(5) && words[5] === 0xffff) return embedded(6);
  if (leading(4) && words[4] === 0xffff && words[5] === 0) return embedded(6);
  if (leading(6)) return embedded(6);
  if (first === 0x64 && second === 0xff9b) return third === 0 ? embedded(6) : "private";
  if (first === 0x2002) return embedded(1);
  // Where a cloud tells a machine its secrets over IPv6.
  if (first === 0xfd00 && second === 0xec2) return "link-local";
  if ((first & 0xfe00) === 0xfc00) return "private";
  if ((first & 0xffc0) === 0xfe80) return "link-local";
  if ((first & 0xffc0) === 0xfec0) return "private";
  const isTeredo = first === 0x2001 && second === 0;
  const isExample = first === 0x2001 && second === 0xdb8;
  return (first & 0xe000) === 0x2000 && !isTeredo && !isExample ? "public" : "reserved";
}

/** The eight words of an IPv6 address as a URL parser writes it: hexadecimal, with one `::` at most. */
function readIPv6(text: string): readonly number[] | undefined {
  const [head = "", tail] = text.split("::");
  const wordsOf = (part: string) =>
    part === "" ? [] : part.split(":").map((word) => Number.parseInt(word, 16));
  const [before, after] = [wordsOf(head), wordsOf(tail ?? "")];
  const missing = 8 - before.length - after.length;
  const words =
    tail === undefined ? before : [...before, ...Array<number>(Math.max(0, missing)).fill(0), ...after];
  return words.length === 8 && words.every((word) => word >= 0 && word <= 0xffff) ? words : undefined;
}
