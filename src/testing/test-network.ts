import { SimulatedSocketError } from "./exchange.ts";
import type { AgentFetch } from "./in-process.ts";
import type { ScriptedAgent } from "./scripted-agent.ts";

/**
 * One `fetch` for several scripted agents, each reached at its own origin: for a card and an interface that live
 * apart, or for a client of many agents. An origin that no agent has can't be resolved.
 *
 * @throws TypeError when two agents have the same `url`.
 */
export function createTestNetwork(agents: readonly ScriptedAgent[]): AgentFetch {
  const byOrigin = new Map(agents.map((agent) => [agent.url, agent]));
  if (byOrigin.size < agents.length) throw new TypeError("url: two of the agents have the same one");
  return async (input, init) => {
    const { origin } = new URL(input instanceof Request ? input.url : input);
    const agent = byOrigin.get(origin);
    if (!agent) throw new TypeError("fetch failed", { cause: new SimulatedSocketError("ENOTFOUND") });
    return agent.fetch(input, init);
  };
}
