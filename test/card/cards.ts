import type { AgentCard } from "../../src/model/card.ts";
import type { JsonObject } from "../../src/model/schema.ts";

/** The smallest useful card of the field cases, with some members replaced whole; `undefined` takes one away. */
export function baseCard(overrides: JsonObject = {}): AgentCard & JsonObject {
  const card: Record<string, unknown> = {
    name: "T",
    description: "t",
    version: "1",
    capabilities: { streaming: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
    supportedInterfaces: [
      { url: "https://agent.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    ],
    ...overrides,
  };
  return JSON.parse(JSON.stringify(card));
}

/** A skill with some members replaced. */
export function skill(id: string, members: JsonObject = {}): JsonObject {
  return { id, name: id, description: id, tags: [], ...members };
}

/** An interface that speaks JSON-RPC 1.0, with some members replaced. */
export function endpoint(members: JsonObject = {}): JsonObject {
  return { url: "https://agent.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0", ...members };
}

/** What a function throws; `undefined` when it throws nothing. */
export function thrownBy(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** What a promise rejects with; `undefined` when it resolves. */
export function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
