import { type Clock, systemClock } from "../util/clock.ts";
import type { CardLike } from "./answers.ts";
import { type AgentSettings, changeSettings, defaultSettings, type ResolvedSettings } from "./settings.ts";
import type { TaskPlan } from "./steps.ts";
import { createTestCard, defaultAgentUrl, defaultRpcPath } from "./test-card.ts";

/** Settings of a scripted agent. Those of {@link AgentSettings} can be changed later with `agent.configure`. */
export interface ScriptedAgentOptions extends AgentSettings {
  /** The card, served as it is. @default `createTestCard()`, with its interface at `url` and `rpcPath` */
  readonly card?: CardLike;
  /** Origin that the agent has for its in-process `fetch`. @default "https://agent.example" */
  readonly url?: string;
  /** Path, or paths, that calls are answered on. @default "/rpc" */
  readonly rpcPath?: string | readonly string[];
  /** Path, or paths, that the card is at, with the query where there is one. @default "/.well-known/agent-card.json" */
  readonly cardPath?: string | readonly string[];
  /** Time. @default the clock of the machine */
  readonly clock?: Clock;
  /** What every task goes through. @default it works, echoes the message's parts as `artifact-1`, and completes */
  readonly plan?: TaskPlan;
}

/** The options with nothing left out. */
export interface ResolvedOptions {
  readonly card: CardLike;
  readonly url: string;
  readonly rpcPaths: readonly string[];
  readonly cardPaths: readonly string[];
  readonly clock: Clock;
  readonly plan: TaskPlan | undefined;
  readonly settings: ResolvedSettings;
}

/**
 * Checks options and fills in what was left out.
 *
 * @throws TypeError naming the option.
 */
export function resolveOptions(options: ScriptedAgentOptions): ResolvedOptions {
  const {
    card,
    url = defaultAgentUrl,
    rpcPath = defaultRpcPath,
    clock = systemClock,
    plan,
    ...rest
  } = options;
  const { cardPath = "/.well-known/agent-card.json", ...settings } = rest;
  if (!URL.canParse(url) || new URL(url).origin !== url) {
    throw new TypeError(`url must be an origin without a path, found ${JSON.stringify(url)}`);
  }
  const rpcPaths = pathsOf("rpcPath", rpcPath);
  return {
    card: card ?? defaultCard(`${url}${rpcPaths[0] ?? ""}`),
    url,
    rpcPaths,
    cardPaths: pathsOf("cardPath", cardPath),
    clock,
    plan,
    settings: changeSettings(defaultSettings, settings),
  };
}

function defaultCard(url: string): CardLike {
  return createTestCard({
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  });
}

function pathsOf(name: string, given: string | readonly string[]): readonly string[] {
  const paths = typeof given === "string" ? [given] : given;
  const bad = paths.find((path) => !path.startsWith("/"));
  if (bad !== undefined) throw new TypeError(`${name} must begin with "/", found ${JSON.stringify(bad)}`);
  return paths;
}
