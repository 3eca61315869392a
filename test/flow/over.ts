import type { AgentCard } from "a2a-lease";
import {
  createScriptedAgent,
  createTestCard,
  type ScriptedAgent,
  type ScriptedAgentOptions,
} from "a2a-lease/testing";
import type { BindingName } from "./four-ways.ts";

/** The HTTP bindings, each of which the same suites run over. */
export const bothBindings: readonly BindingName[] = ["JSONRPC", "HTTP+JSON"];

const [usual] = createTestCard().supportedInterfaces;

/** A card as it is over a binding: the usual interface becomes that of the binding, and others stay. */
export function cardOver(binding: BindingName, card: AgentCard = createTestCard()): AgentCard {
  const url = binding === "JSONRPC" ? "https://agent.example/rpc" : "https://agent.example/rest";
  const supportedInterfaces = card.supportedInterfaces.map((entry) =>
    entry.url === usual?.url ? { ...entry, url, protocolBinding: binding } : entry,
  );
  return { ...card, supportedInterfaces };
}

/** A scripted agent that is called over a binding. */
export function agentOver(binding: BindingName, options: ScriptedAgentOptions = {}): ScriptedAgent {
  return createScriptedAgent({ ...options, card: cardOver(binding, options.card as AgentCard | undefined) });
}
