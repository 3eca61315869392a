import {
  CardInvalidError,
  type CardIssue,
  NoSupportedInterfaceError,
  ProtocolVersionError,
  type UnusableInterface,
} from "../errors/card.ts";
import { AddressRefusedError } from "../errors/transport.ts";
import type { AgentCard, AgentInterface } from "../model/card.ts";
import type { Deviation } from "../model/deviation.ts";
import { originOfUrl } from "../util/address.ts";
import { redactUrl } from "../util/redact.ts";
import { protocolVersion } from "../wire/version.ts";
import { type AddressPolicy, interfaceAddressProblem } from "./address-policy.ts";
import { majorMinor } from "./structure.ts";

/** What a choice depends on beside the card. */
export interface InterfaceChoiceOptions {
  /** Bindings that the client has, by their names on a card. */
  readonly bindings: readonly string[];
  /** Bindings that go before the order of the card, the most wanted first. @default none */
  readonly preferredBindings?: readonly string[] | undefined;
  /** URL that the card came from; absent for a card that was handed in. */
  readonly cardUrl?: string | undefined;
  /** Where the URLs of the card may lead. @default anywhere */
  readonly addressPolicy?: AddressPolicy | undefined;
}

/** Which interface of a card is called, or why none is. */
export type InterfaceChoice =
  | {
      readonly outcome: "chosen";
      readonly interface: AgentInterface;
      /** Position on the card. */
      readonly index: number;
      /** Entries before it or beside it that can't be used. */
      readonly deviations: readonly Deviation[];
    }
  /** All that fit lead where the policy does not go; the first of them. */
  | { readonly outcome: "address"; readonly url: string; readonly problem: string }
  | { readonly outcome: "bad-url"; readonly entries: readonly { index: number; problem: string }[] }
  | { readonly outcome: "version"; readonly offered: readonly string[] }
  | { readonly outcome: "binding"; readonly offered: readonly UnusableInterface[] };

/**
 * Chooses the first entry, in card order or by the caller's preference, whose binding the client has, exactly, and whose protocol version is ours in
 * `Major.Minor` (8.3.2). Never a guess, never a silent fallback.
 */
export function chooseInterface(card: AgentCard, options: InterfaceChoiceOptions): InterfaceChoice {
  const entries = judgeInterfaces(card, options);
  const [chosen] = byPreference(entries.filter(isUsable), options);
  if (chosen) {
    const bad = entries.filter((item) => item.problem !== undefined);
    const deviations = bad.map(({ index, problem }) => ({
      kind: "unusable-interface",
      path: `$.supportedInterfaces[${index}].url`,
      message: `${problem}; the entry is not used`,
    }));
    return { outcome: "chosen", interface: chosen.entry, index: chosen.index, deviations };
  }
  const badUrls = entries.filter((item) => item.isOurs && item.isVersion);
  const refused = badUrls.find((item) => item.refusal !== undefined);
  if (refused) return { outcome: "address", url: refused.entry.url, problem: refused.refusal ?? "" };
  if (badUrls.length > 0) {
    return {
      outcome: "bad-url",
      entries: badUrls.map(({ index, problem }) => ({ index, problem: problem ?? "" })),
    };
  }
  const otherVersions = entries.filter((item) => item.isOurs);
  if (otherVersions.length > 0) {
    return {
      outcome: "version",
      offered: [...new Set(otherVersions.map((item) => item.entry.protocolVersion))],
    };
  }
  return {
    outcome: "binding",
    offered: entries.map(({ entry }) => ({ ...entry, problem: bindingProblem(entry) })),
  };
}

/** Every interface of a card that could be called, the most wanted first: what one may fail over to. */
export function usableInterfaces(
  card: AgentCard,
  options: InterfaceChoiceOptions,
): readonly AgentInterface[] {
  return byPreference(judgeInterfaces(card, options).filter(isUsable), options).map(({ entry }) => entry);
}

/** Card order (8.3.2), unless the caller wants one binding more than another. */
function byPreference(
  entries: readonly JudgedInterface[],
  { preferredBindings = [] }: InterfaceChoiceOptions,
): readonly JudgedInterface[] {
  const rank = ({ entry }: JudgedInterface) => {
    const place = preferredBindings.indexOf(entry.protocolBinding);
    return place < 0 ? preferredBindings.length : place;
  };
  return [...entries].sort((a, b) => rank(a) - rank(b));
}

interface JudgedInterface {
  readonly entry: AgentInterface;
  readonly index: number;
  readonly isOurs: boolean;
  readonly isVersion: boolean;
  readonly problem: string | undefined;
  /** What the policy alone has against it. */
  readonly refusal: string | undefined;
}

function judgeInterfaces(card: AgentCard, options: InterfaceChoiceOptions): JudgedInterface[] {
  const { cardUrl, addressPolicy } = options;
  return card.supportedInterfaces.map((entry, index) => {
    const malformed = urlProblem(entry, cardUrl);
    const refused =
      malformed === undefined ? interfaceAddressProblem(entry, cardUrl, addressPolicy) : undefined;
    return {
      entry,
      index,
      isOurs: options.bindings.includes(entry.protocolBinding),
      isVersion: majorMinor(entry.protocolVersion) === protocolVersion,
      problem:
        malformed ?? (refused === undefined ? undefined : `${redactUrl(entry.url)} is refused: ${refused}`),
      refusal: refused,
    };
  });
}

function isUsable({ isOurs, isVersion, problem }: JudgedInterface): boolean {
  return isOurs && isVersion && problem === undefined;
}

/**
 * Chooses an interface, or throws why none can be.
 *
 * @throws AddressRefusedError when every entry that fits leads where the policy does not go.
 * @throws CardInvalidError when the only fitting entries have a URL that can't be used.
 * @throws ProtocolVersionError when a binding fits and no version does.
 * @throws NoSupportedInterfaceError when no binding fits.
 */
export function requireInterface(
  card: AgentCard,
  options: InterfaceChoiceOptions,
  digest: string,
): Extract<InterfaceChoice, { outcome: "chosen" }> {
  const choice = chooseInterface(card, options);
  switch (choice.outcome) {
    case "chosen":
      return choice;
    case "address":
      throw new AddressRefusedError(choice.url, choice.problem);
    case "bad-url": {
      const issues = choice.entries.map(({ index, problem }) => ({
        path: `$.supportedInterfaces[${index}].url`,
        message: problem,
      }));
      throw new CardInvalidError(options.cardUrl, issues, digest);
    }
    case "version":
      throw new ProtocolVersionError(choice.offered, [protocolVersion]);
    case "binding":
      throw new NoSupportedInterfaceError(choice.offered, options.bindings);
  }
}

/**
 * Refuses a card of which no entry has a URL that anybody could call: a relative one, say, or plain http on a card that
 * came by https.
 *
 * @throws CardInvalidError with the path of every entry.
 */
export function requireUsableUrl(card: AgentCard, cardUrl: string | undefined, digest: string): void {
  const issues = card.supportedInterfaces.map((entry, index) => ({
    path: `$.supportedInterfaces[${index}].url`,
    message: urlProblem(entry, cardUrl),
  }));
  const bad = issues.filter((issue): issue is CardIssue => issue.message !== undefined);
  if (bad.length === issues.length) throw new CardInvalidError(cardUrl, bad.slice(0, 50), digest);
}

/** Whether a card and the interface chosen on it live at one origin. A card without a URL has none to share. */
export function isSameOrigin(cardUrl: string | undefined, interfaceUrl: string): boolean {
  return cardUrl !== undefined && originOf(cardUrl) === originOf(interfaceUrl);
}

/** Origin of an interface; the address itself where a binding has addresses that are no URL, or URLs without one. */
export function originOf(url: string): string {
  return originOfUrl(url) ?? url;
}

function bindingProblem(entry: AgentInterface): string {
  if (entry.protocolBinding.toUpperCase() === "GRPC")
    return "gRPC is not built in; a binding for it is handed in as the option bindings";
  return "no such binding here; one is handed in as the option bindings";
}

/** What speaks against calling an interface, whoever chose it: a URL that can't be used, or the policy. */
export function interfaceProblem(
  entry: AgentInterface,
  { cardUrl, addressPolicy }: Pick<InterfaceChoiceOptions, "cardUrl" | "addressPolicy">,
): string | undefined {
  return urlProblem(entry, cardUrl) ?? interfaceAddressProblem(entry, cardUrl, addressPolicy);
}

/** What is wrong with an interface's URL. HTTP rules bind the HTTP bindings; a gRPC address is `host:port`. */
function urlProblem(entry: AgentInterface, cardUrl: string | undefined): string | undefined {
  if (!["JSONRPC", "HTTP+JSON"].includes(entry.protocolBinding)) return undefined;
  const shown = redactUrl(entry.url);
  if (!URL.canParse(entry.url)) return `found ${JSON.stringify(shown)}, wanted an absolute URL`;
  const url = new URL(entry.url);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return `found ${shown}, wanted an http or https URL`;
  if (url.username || url.password)
    return `found ${shown} with a user name, wanted a URL without credentials`;
  if (url.protocol === "http:" && cardUrl?.toLowerCase().startsWith("https:")) {
    return `found ${shown}, wanted https as the card itself came by https`;
  }
  if (entry.protocolBinding === "HTTP+JSON" && /^\.\.?$/.test(entry.tenant ?? "")) {
    return `found the tenant ${entry.tenant}, wanted one that can stand in the path of a URL`;
  }
  return undefined;
}
