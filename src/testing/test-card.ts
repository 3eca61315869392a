import type { AgentCard } from "../model/card.ts";
import type { JsonObject } from "../model/schema.ts";

/** URL of a scripted agent that was given none. */
export const defaultAgentUrl = "https://agent.example";

/** Path that a scripted agent answers calls on, unless it is told otherwise. */
export const defaultRpcPath = "/rpc";

/** Base path of a scripted agent's HTTP+JSON routes, unless it is told otherwise. */
export const defaultRestPath = "/rest";

/**
 * A valid A2A 1.0 card: JSON-RPC at `https://agent.example/rpc`, streaming, text in and out, one skill `summarize`.
 * The given members, known to the spec or not, replace those of the same name whole.
 */
export function createTestCard(overrides: Partial<AgentCard> & JsonObject = {}): AgentCard {
  return {
    name: "Test agent",
    description: "Summarizes what it is given",
    version: "1.0.0",
    supportedInterfaces: [
      { url: `${defaultAgentUrl}${defaultRpcPath}`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    ],
    capabilities: { streaming: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "summarize", name: "Summarize", description: "Makes a long text short", tags: ["text"] }],
    ...overrides,
  };
}
