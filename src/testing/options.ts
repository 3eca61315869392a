import { type Clock, systemClock } from "../util/clock.ts";
import { checkOptions, type OptionKinds } from "../util/options.ts";
import type { CardLike } from "./answers.ts";
import type { NextCard } from "./card-desk.ts";
import type { AgentFetch } from "./in-process.ts";
import {
  type AgentSettings,
  changeSettings,
  defaultSettings,
  type ResolvedSettings,
  settingKinds,
} from "./settings.ts";
import type { TaskPlan } from "./steps.ts";
import { createTestCard, defaultAgentUrl, defaultRestPath, defaultRpcPath } from "./test-card.ts";

/** Settings of a scripted agent. Those of {@link AgentSettings} can be changed later with `agent.configure`. */
export interface ScriptedAgentOptions extends AgentSettings {
  /**
   * The card, served as it is, or made from the default one. @default `createTestCard()`, with an interface for each of
   * `bindings` at `url` and its path
   */
  readonly card?: NextCard;
  /**
   * Bindings that the default card lists, in that order. The agent answers over both, whatever its card says.
   * @default ["JSONRPC"]
   */
  readonly bindings?: readonly ("JSONRPC" | "HTTP+JSON")[];
  /** Origin that the agent has for its in-process `fetch`. @default "https://agent.example" */
  readonly url?: string;
  /** Path, or paths, that JSON-RPC calls are answered on. @default "/rpc" */
  readonly rpcPath?: string | readonly string[];
  /** Path, or paths, that the routes of HTTP+JSON are below; `"/"` puts them at the root. @default "/rest" */
  readonly restPath?: string | readonly string[];
  /** Path, or paths, that the card is at, with the query where there is one. @default "/.well-known/agent-card.json" */
  readonly cardPath?: string | readonly string[];
  /** Time. @default the clock of the machine */
  readonly clock?: Clock;
  /** Sends push notifications to the webhooks. @default the platform's `fetch` */
  readonly pushFetch?: AgentFetch;
  /** What every task goes through. @default it works, echoes the message's parts as `artifact-1`, and completes */
  readonly plan?: TaskPlan;
}

/** The options with nothing left out. */
export interface ResolvedOptions {
  readonly card: CardLike;
  readonly url: string;
  readonly rpcPaths: readonly string[];
  /** Without a slash at the end, so that the root is `""`. */
  readonly restPaths: readonly string[];
  readonly cardPaths: readonly string[];
  readonly clock: Clock;
  readonly pushFetch: AgentFetch;
  readonly plan: TaskPlan | undefined;
  readonly settings: ResolvedSettings;
}

const kinds: OptionKinds<ScriptedAgentOptions> = Object.freeze({
  ...settingKinds,
  card: "any",
  bindings: "list",
  url: "text",
  rpcPath: "any",
  restPath: "any",
  cardPath: "any",
  clock: "object",
  pushFetch: "function",
  plan: "any",
});

/**
 * Checks options and fills in what was left out.
 *
 * @throws TypeError naming the option.
 */
export function resolveOptions(options: ScriptedAgentOptions): ResolvedOptions {
  checkOptions(options, kinds);
  const {
    card,
    url = defaultAgentUrl,
    rpcPath = defaultRpcPath,
    restPath = defaultRestPath,
    bindings = ["JSONRPC"],
    clock = systemClock,
    pushFetch = (input, init) => fetch(input, init),
    plan,
    ...rest
  } = options;
  const { cardPath = "/.well-known/agent-card.json", ...settings } = rest;
  if (!URL.canParse(url) || new URL(url).origin !== url) {
    throw new TypeError(`url must be an origin without a path, found ${JSON.stringify(url)}`);
  }
  const rpcPaths = pathsOf("rpcPath", rpcPath);
  const restPaths = pathsOf("restPath", restPath).map((path) => path.replace(/\/+$/, ""));
  const bases = { JSONRPC: rpcPaths[0] ?? "", "HTTP+JSON": restPaths[0] ?? "" };
  const foreign = bindings.find((binding) => !Object.hasOwn(bases, binding));
  if (foreign !== undefined) {
    throw new TypeError(`bindings must be of JSONRPC and HTTP+JSON, found ${JSON.stringify(foreign)}`);
  }
  const usual = createTestCard({
    supportedInterfaces: bindings.map((protocolBinding) => ({
      url: `${url}${bases[protocolBinding]}`,
      protocolBinding,
      protocolVersion: "1.0",
    })),
  });
  return {
    card: typeof card === "function" ? card(usual) : (card ?? usual),
    url,
    rpcPaths,
    restPaths,
    cardPaths: pathsOf("cardPath", cardPath),
    clock,
    pushFetch,
    plan,
    settings: changeSettings(defaultSettings, settings),
  };
}

function pathsOf(name: string, given: string | readonly string[]): readonly string[] {
  const paths = typeof given === "string" ? [given] : given;
  const bad = paths.find((path) => !path.startsWith("/"));
  if (bad !== undefined) throw new TypeError(`${name} must begin with "/", found ${JSON.stringify(bad)}`);
  return paths;
}
