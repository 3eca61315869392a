import type { AgentCard } from "@a2a-js/sdk";
import { type A2AClient, type ClientOptions, createClient, type SendReply, type TaskHandle } from "a2a-lease";
import { afterEach, beforeEach, expect, vi } from "vitest";
import {
  type RealAgent,
  type RealAgentOptions,
  skill,
  startRealAgent,
} from "../../examples/support/real-agent.ts";

/** A text with a first sentence, a last one, and something in between. */
export const report = "The river rose two metres. The bridge was closed. Nobody was hurt.";

/** What the agent makes of {@link report}. */
export const summary = [
  { text: "The river rose two metres. ", mediaType: "text/plain" },
  { text: "Nobody was hurt.", mediaType: "text/plain" },
];

/** The plan of the incident: the card says streaming, `summarize`, bearer. */
export const plan = { skills: ["summarize"], streaming: true };

/** A test's real agent, and the clients that were made for it. */
export interface RealAgentFixture {
  /** The agent of the running test. */
  readonly agent: RealAgent;
  /** Makes a client of it that is closed after the test. */
  connect(options?: ClientOptions): Promise<A2AClient>;
}

/**
 * Gives every test around it an agent of its own, made with the official SDK's server, over real HTTP. After each test
 * nothing may be open: no request, no stream, and once the agent is gone no socket.
 */
export function useRealAgent(options: Omit<RealAgentOptions, "card"> = {}): RealAgentFixture {
  let agent: RealAgent;
  let clients: A2AClient[] = [];
  beforeEach(async () => {
    // The SDK's server prints every error that it answers a stream with.
    vi.spyOn(console, "error").mockImplementation(() => {});
    agent = await startRealAgent({ ...options, card: { securitySchemes: { bearer } } });
  });
  afterEach(async () => {
    agent.release();
    await agent.idle();
    for (const client of clients) await client.close();
    await agent.close();
    clients = [];
    vi.restoreAllMocks();
    expect({ requests: agent.openRequestCount, sockets: agent.openSocketCount }).toEqual({
      requests: 0,
      sockets: 0,
    });
  });
  return {
    get agent() {
      return agent;
    },
    async connect(options) {
      const client = await createClient(agent.url, options);
      clients.push(client);
      return client;
    },
  };
}

/** The rotation of the incident: streaming off, skills `[summarize, translate]`, oauth2 in the place of bearer. */
export function rotateAsInTheIncident(card: AgentCard): AgentCard {
  return {
    ...card,
    version: "1.1.0",
    capabilities: { extensions: [], streaming: false },
    skills: [...card.skills, skill("translate", "Puts a text into another language")],
    securitySchemes: { oauth },
  };
}

/** The task of a reply that has one. */
export function taskOf(reply: SendReply): TaskHandle {
  if (!("task" in reply)) throw new TypeError("found a message, wanted a task");
  return reply.task;
}

/** The calls that reached the agent, without the reads of its card. */
export function callsOf(agent: RealAgent): readonly string[] {
  return agent.seen.map(({ what }) => what).filter((what) => what !== "card");
}

/** Answers to the reads of the agent's card, by status. */
export function cardReadsOf(agent: RealAgent): readonly (number | undefined)[] {
  return agent.seen.filter(({ what }) => what === "card").map(({ status }) => status);
}

const bearer: AgentCard["securitySchemes"][string] = {
  scheme: {
    $case: "httpAuthSecurityScheme",
    value: { description: "", scheme: "Bearer", bearerFormat: "" },
  },
};

const clientCredentials = { tokenUrl: "https://login.example/token", refreshUrl: "", scopes: {} };
const oauth: AgentCard["securitySchemes"][string] = {
  scheme: {
    $case: "oauth2SecurityScheme",
    value: {
      description: "",
      flows: { flow: { $case: "clientCredentials", value: clientCredentials } },
      oauth2MetadataUrl: "",
    },
  },
};
