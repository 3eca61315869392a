import { lookup as systemLookup } from "node:dns/promises";
import { isIP } from "node:net";
import { type AddressKind, isHost, judgeIp } from "../util/address.ts";
import { checkOptions, type OptionKinds } from "../util/options.ts";
import type { TlsOptions } from "./tls.ts";

/** One address that a name resolved to. */
export interface ResolvedAddress {
  /** `"203.0.113.7"`, `"2001:db8::7"`. */
  readonly address: string;
  /** 4 or 6. */
  readonly family: 4 | 6;
}

/** Finds all addresses of a name. */
export type AddressLookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** Options of {@link createNodeFetch}. */
export interface NodeFetchOptions {
  /**
   * Whether loopback and private addresses may be reached. Link-local ones are not opened by this: name the host in
   * `allowHosts`. @default false
   */
  readonly allowPrivate?: boolean;
  /** Hosts that may resolve to any address, as a URL writes them: `"agent.corp"`, `"127.0.0.1"`, `"[::1]"`. @default none */
  readonly allowHosts?: readonly string[];
  /**
   * Finds the addresses of a name, once for each connection. What it throws is a connection that failed; an answer that is
   * no list of addresses refuses the name (AddressRefusedError). @default the system's resolver
   */
  readonly lookup?: AddressLookup;
  /** Certificates: authorities to trust in place of the system's, and the client's own for mutual TLS; all as PEM. */
  readonly tls?: TlsOptions;
}

const kinds: OptionKinds<NodeFetchOptions> = Object.freeze({
  allowPrivate: "flag",
  allowHosts: "list",
  lookup: "function",
  tls: "object",
});

/** Judges where a connection is about to go. */
export interface AddressGate {
  /** What speaks against a literal address, which nobody looks up. */
  judgeLiteral(address: string): string | undefined;
  /**
   * Looks a name up and judges all that it finds: one bad address among good ones is a trick and refuses them all.
   *
   * @throws what the lookup throws.
   */
  resolve(hostname: string): Promise<ResolvedName>;
}

/** What became of a name: the addresses that may be connected to, or what speaks against it. */
export type ResolvedName =
  | { readonly ok: true; readonly addresses: readonly ResolvedAddress[] }
  | { readonly ok: false; readonly problem: string };

/** Addresses taken of one name. */
const maxAddresses = 32;

const system: AddressLookup = async (hostname) =>
  (await systemLookup(hostname, { all: true, verbatim: true })).map(({ address, family }) => ({
    address,
    family: family === 6 ? 6 : 4,
  }));

/**
 * Makes the gate in front of every connection.
 *
 * @throws TypeError naming the option for a wrong option.
 */
export function createAddressGate(options: NodeFetchOptions): AddressGate {
  checkOptions(options, kinds);
  const { allowPrivate = false, allowHosts = [], lookup = system } = options;
  const wrong = allowHosts.find((host) => !isHost(host));
  if (wrong !== undefined) {
    throw new TypeError(`allowHosts: found ${JSON.stringify(wrong)}, wanted hosts like "agent.corp"`);
  }
  const isAllowed = (kind: AddressKind) =>
    kind === "public" || (allowPrivate && (kind === "loopback" || kind === "private"));
  const isNamed = (host: string) => allowHosts.includes(host.replace(/\.$/, "").toLowerCase());

  return {
    judgeLiteral(address) {
      const kind = judgeIp(address);
      const host = address.includes(":") ? `[${address}]` : address;
      return isAllowed(kind) || isNamed(host) ? undefined : problemOf(kind);
    },
    async resolve(hostname) {
      const answer: unknown = await lookup(hostname);
      const wrong = wrongAnswer(answer);
      if (wrong !== undefined) return { ok: false, problem: wrong };
      const found = (answer as readonly ResolvedAddress[]).slice(0, maxAddresses);
      const bad = found.map(({ address }) => judgeIp(address)).find((kind) => !isAllowed(kind));
      if (bad !== undefined && !isNamed(hostname)) return { ok: false, problem: problemOf(bad) };
      return { ok: true, addresses: found };
    },
  };
}

/** What is wrong with what a lookup of the caller's own gave; what can't be read can't be judged, so nobody goes there. */
function wrongAnswer(answer: unknown): string | undefined {
  const wanted = "wanted a list of { address, family } from the lookup of createNodeFetch";
  if (!Array.isArray(answer)) return `found ${answer === null ? "null" : typeof answer}, ${wanted}`;
  const at = answer.slice(0, maxAddresses).findIndex((item: unknown) => !isResolved(item));
  return at < 0 ? undefined : `found [${at}] without an address and its family 4 or 6, ${wanted}`;
}

function isResolved(item: unknown): item is ResolvedAddress {
  if (typeof item !== "object" || item === null) return false;
  const { address, family } = item as { address?: unknown; family?: unknown };
  return typeof address === "string" && family !== 0 && isIP(address) === family;
}

/** The address itself is not told: what names resolve to inside a network is nobody's business outside. */
function problemOf(kind: AddressKind): string {
  const option =
    kind === "loopback" || kind === "private"
      ? "allowPrivate or the host in allowHosts"
      : "the host in allowHosts";
  return `found a ${kind} address behind it, wanted one on the open internet, or ${option} of createNodeFetch`;
}
