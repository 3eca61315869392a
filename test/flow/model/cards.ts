import type { AgentCard } from "a2a-lease";
import { createTestCard } from "a2a-lease/testing";

const url = "https://agent.example";
const main = { url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" };
const other = { ...main, url: `${url}/rpc-2` };

/** Paths that the agent answers calls on, whichever card is in force. */
export const rpcPaths: readonly string[] = ["/rpc", "/rpc-2"];

/** Cards that the agent goes back and forth between, by what is different on them. */
export const cards = Object.freeze({
  "the first": createTestCard(),
  "another text": createTestCard({ description: "Summarizes, and says so at length" }),
  "another structure": createTestCard({ defaultOutputModes: ["application/json", "text/plain"] }),
  "other security": createTestCard({
    securitySchemes: { agentAuth: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
    securityRequirements: [{ schemes: { agentAuth: { list: [] } } }],
  }),
  "another interface": createTestCard({ supportedInterfaces: [other] }),
  "a spare interface": createTestCard({ supportedInterfaces: [main, other] }),
  "another skill": createTestCard({
    skills: [{ id: "translate", name: "Translate", description: "Into another language", tags: [] }],
  }),
  "no streaming": createTestCard({ capabilities: {} }),
  "a lower version": createTestCard({ version: "0.9.0" }),
} satisfies Record<string, AgentCard>);

/** Name of one of the cards. */
export type CardName = keyof typeof cards;

/** The names of the cards. */
export const cardNames = Object.keys(cards) as readonly CardName[];
