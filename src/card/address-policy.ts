import type { AgentInterface } from "../model/card.ts";
import { isHost, judgeAddress } from "../util/address.ts";
import { defined } from "../util/freeze.ts";
import { checkOptions } from "../util/options.ts";

/** Where a URL that a card names may lead. Everything has a default, and the default is the narrow one. */
export interface AddressPolicy {
  /**
   * Whether loopback and private addresses may be reached. Link-local ones, where clouds tell a machine its secrets, are
   * not opened by this: name them in `allowHosts`. @default false, unless the card itself came from such an address
   */
  readonly allowPrivate?: boolean;
  /** Whether plain http will do. @default false, but from a card that came by http from loopback, to loopback */
  readonly allowHttp?: boolean;
  /** Hosts for which none of this counts, as a URL writes them: `"agent.corp"`, `"[fd12::1]"`, `"xn--bcher-kva.example"`. */
  readonly allowHosts?: readonly string[];
  /**
   * Has the last word: `true` lets a URL through, `false` refuses it, whatever the rules say. Asked anew whenever an
   * interface is chosen or called, so it should be quick and give the same answer to the same question.
   */
  readonly allow?: (url: URL, context: AddressContext) => boolean;
}

/** What {@link AddressPolicy.allow} is told beside the URL. */
export interface AddressContext {
  /** What the URL is for. */
  readonly purpose: "interface";
  /** URL that the card came from; absent for one that was handed in and is never checked. */
  readonly cardUrl?: string;
  /** What the rules found against the URL; absent where they let it through. */
  readonly problem?: string;
}

/**
 * What speaks against calling an interface, by a policy; `undefined` where nothing does. Only literal addresses and
 * telling names are judged here, since nothing is looked up. Of an address that is no http or https URL, as a binding of
 * one's own may have, every host is judged that is to be seen; a local socket is loopback.
 */
export function interfaceAddressProblem(
  { url: text }: Pick<AgentInterface, "url">,
  cardUrl: string | undefined,
  policy: AddressPolicy | undefined,
): string | undefined {
  if (!policy) return undefined;
  const judged = readAddresses(text).map((url) => {
    const isNamed = policy.allowHosts?.includes(hostOf(url)) === true;
    return { url, problem: isNamed ? undefined : findAddressProblem(url, cardUrl, policy) };
  });
  const found = judged.find(({ problem }) => problem !== undefined) ?? judged[0];
  if (!found) return undefined;
  const { url, problem } = found;
  return policy.allow === undefined ? problem : lastWord(policy.allow, url, { cardUrl, problem });
}

function lastWord(
  allow: NonNullable<AddressPolicy["allow"]>,
  url: URL,
  { cardUrl, problem }: { readonly cardUrl: string | undefined; readonly problem: string | undefined },
): string | undefined {
  try {
    // Only a plain yes is one: a function that answers with a promise has not answered.
    const said: unknown = allow(new URL(url), { purpose: "interface", ...defined({ cardUrl, problem }) });
    if (said === true) return undefined;
  } catch {
    return "found a URL at which addressPolicy.allow threw";
  }
  return problem ?? "found a URL that addressPolicy.allow refuses";
}

/**
 * What an address leads to, as URLs: an http or https URL as it is; else the host in front, where there is one to be
 * seen, and every literal address in it, as `dns:///10.0.0.1:443` and `ipv4:10.0.0.1:443,10.0.0.2:443` have them. A
 * socket or a pipe is on this machine.
 */
function readAddresses(text: string): readonly URL[] {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return [new URL(text)];
  if (localScheme.test(text)) return [new URL("https://localhost")];
  const front = /^[a-z][a-z0-9+.-]*:[/\\]+([^/\\?#]+)|^([^/\\?#]+:\d+)(?:[/\\?#]|$)/i.exec(text);
  const hosts = text.split(/[/\\?#,;]+/).flatMap((piece) => literalHost.exec(piece)?.[1] ?? []);
  const all = new Set([front?.[1] ?? front?.[2] ?? [], hosts].flat());
  return [...all].flatMap((host) => (URL.canParse(`https://${host}`) ? new URL(`https://${host}`) : []));
}

const localScheme = /^(?:unix|unix-abstract|vsock|npipe|file):/i;
const literalHost =
  /(?:^|[:@=])(\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\]|localhost|[\w.-]+\.localhost)\.?(?::\d+)?$/i;

/**
 * Checks a policy.
 *
 * @throws TypeError naming the option.
 */
export function checkAddressPolicy(option: string, policy: AddressPolicy): Readonly<AddressPolicy> {
  const kinds = { allowPrivate: "flag", allowHttp: "flag", allowHosts: "list", allow: "function" } as const;
  checkOptions(policy, kinds, option);
  const { allowHosts = [] } = policy;
  const wrong = allowHosts.find((host) => !isHost(host));
  if (wrong !== undefined) {
    const found = JSON.stringify(wrong);
    throw new TypeError(
      `${option}.allowHosts: found ${found}, wanted hosts like "agent.corp", as a URL has them`,
    );
  }
  return Object.freeze({ ...policy, allowHosts: Object.freeze([...allowHosts]) });
}

/** The rules, without the caller's own word. */
function findAddressProblem(
  url: URL,
  cardUrl: string | undefined,
  { allowPrivate, allowHttp }: AddressPolicy,
): string | undefined {
  const from = cardUrl === undefined ? undefined : new URL(cardUrl);
  const kind = judgeAddress(url);
  const fromKind = from && judgeAddress(from);
  // The caller named the host of the card.
  const isSameHost = from !== undefined && hostOf(from) === hostOf(url);
  if (!isSameHost && kind !== "public") {
    const isInside = kind === "loopback" || kind === "private";
    if (!(isInside && (allowPrivate === true || kind === fromKind))) {
      // Nothing but its name opens a link-local or a reserved address.
      const option = isInside ? "allowPrivate" : "allowHosts";
      return `found a ${kind} address, wanted one on the open internet, or addressPolicy.${option}`;
    }
  }
  if (
    !isSameHost &&
    hostOf(url)
      .split(".")
      .some((label) => label.startsWith("xn--"))
  ) {
    return "found a host beyond ASCII, which may look like another one; wanted it in addressPolicy.allowHosts";
  }
  const isLocalHttp = from?.protocol === "http:" && fromKind === "loopback" && kind === "loopback";
  if (url.protocol === "http:" && allowHttp !== true && !isLocalHttp) {
    return "found http, wanted https, or addressPolicy.allowHttp";
  }
  return undefined;
}

/** A trailing dot names the same host. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/\.+$/, "");
}
