import type { AgentCard as SdkCard } from "@a2a-js/sdk";
import { type A2AClient, type AgentCard, type ClientOptions, createClient } from "a2a-lease";
import { createScriptedAgent, step, type TaskStep } from "a2a-lease/testing";
import { afterEach, expect, vi } from "vitest";
import { skill, startRealAgent } from "../../examples/support/real-agent.ts";

/** The HTTP bindings of A2A. */
export type BindingName = "JSONRPC" | "HTTP+JSON";

/** Whose code answers: our own, or that of the official SDK. */
export type AgentKind = "scripted agent" | "official server";

/** Each agent over each binding. */
export const fourWays: readonly (readonly [AgentKind, BindingName])[] = [
  ["scripted agent", "JSONRPC"],
  ["scripted agent", "HTTP+JSON"],
  ["official server", "JSONRPC"],
  ["official server", "HTTP+JSON"],
];

/** What the agent's card claims. */
export interface Claims {
  readonly streaming: boolean;
  readonly pushNotifications: boolean;
  readonly extendedAgentCard: boolean;
  readonly extensions: readonly { readonly uri: string; readonly required?: boolean }[];
}

/** A call as it left. */
export interface SentCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** An agent on a loopback port that summarizes, whoever wrote it. */
export interface MetAgent {
  /** Origin. */
  readonly url: string;
  /** The calls of its clients, without the reads of its card. */
  readonly sent: readonly SentCall[];
  /** Makes a client over the binding of this way. */
  connect(options?: ClientOptions): Promise<A2AClient>;
  /** Makes a client that holds a card which claims more than the agent's own. */
  connectClaiming(claims: Partial<Claims>, options?: ClientOptions): Promise<A2AClient>;
  /** Lets the next new task wait before its end. */
  hold(): void;
  /** Lets a waiting task go on. */
  release(taskId: string): void;
  /** Lets the next new task ask before it works. */
  ask(question: string): void;
}

/** How an agent is to be. */
export interface MeetOptions {
  readonly claims?: Partial<Claims>;
  /** Tenant of all its interfaces. */
  readonly tenant?: string;
  /** Whether the agent has the extended card that it may claim. @default true */
  readonly hasExtendedCard?: boolean;
  /** Changes the headers of every call on its way. */
  readonly rewrite?: (headers: Headers) => void;
}

/** Id of the skill that the extended card has and the public one lacks. */
export const extraSkill = "keywords";

const noClaims: Claims = {
  streaming: true,
  pushNotifications: false,
  extendedAgentCard: false,
  extensions: [],
};

const closers: (() => Promise<unknown>)[] = [];
const quietOnes: (() => { readonly requests: number; readonly sockets: number })[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  const open = quietOnes.splice(0).map((count) => count());
  vi.restoreAllMocks();
  expect(open).toEqual(open.map(() => ({ requests: 0, sockets: 0 })));
});

/** Starts an agent for the running test; after the test everything of it must be closed. */
export async function meet(
  kind: AgentKind,
  binding: BindingName,
  options: MeetOptions = {},
): Promise<MetAgent> {
  const agent = await (kind === "scripted agent" ? startScripted : startOfficial)(options);
  const sent: SentCall[] = [];
  const recording: NonNullable<ClientOptions["fetch"]> = async (url, init) => {
    const { pathname, search } = new URL(url);
    if (pathname.endsWith("agent-card.json")) return fetch(url, init);
    const headers = new Headers(init.headers);
    options.rewrite?.(headers);
    const body = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    sent.push({ method: String(init.method), path: `${pathname}${search}`, headers, body });
    return fetch(url, { ...init, headers });
  };
  const connectTo = async (source: string | AgentCard, more: ClientOptions) => {
    const client = await createClient(source, { preferredBindings: [binding], fetch: recording, ...more });
    closers.push(() => client.close());
    return client;
  };
  return {
    ...agent,
    sent,
    connect: (more = {}) => connectTo(agent.url, more),
    async connectClaiming(claims, more = {}) {
      const response = await fetch(`${agent.url}/.well-known/agent-card.json`);
      const card = (await response.json()) as AgentCard;
      const capabilities = { ...card.capabilities, ...claims };
      // A card that is handed in came from nowhere, so that one has to say that its agent is on this machine.
      const addressPolicy = { allowPrivate: true, allowHttp: true };
      return connectTo({ ...card, capabilities }, { addressPolicy, ...more, immutable: true });
    },
  };
}

type Started = Pick<MetAgent, "url" | "hold" | "release" | "ask">;

const textPart = (text: string) => ({ text, mediaType: "text/plain" });

/** What the official agent makes of the report, piece by piece. */
const work: readonly TaskStep[] = [
  step.artifact("summarize", [textPart("The river rose two metres. ")], { append: false, lastChunk: false }),
  step.artifact("summarize", [textPart("Nobody was hurt.")], { append: true, lastChunk: true }),
  step.completed(),
];

async function startScripted({ claims, tenant, hasExtendedCard = true }: MeetOptions): Promise<Started> {
  const agent = createScriptedAgent({
    bindings: ["JSONRPC", "HTTP+JSON"],
    card: (card) => ({
      ...card,
      capabilities: { ...noClaims, ...claims },
      ...(tenant === undefined
        ? {}
        : { supportedInterfaces: interfacesOf(card).map((entry) => ({ ...entry, tenant })) }),
    }),
    plan: [step.working(), ...work],
  });
  const { card } = agent;
  const extendedCard = { ...card, skills: [...card.skills, { ...card.skills[0], id: extraSkill }] };
  if (hasExtendedCard) agent.configure({ extendedCard });
  const listener = await agent.listen();
  closers.push(() => listener.close());
  quietOnes.push(() => ({ requests: agent.openRequestCount, sockets: listener.openSocketCount }));
  return {
    url: listener.url,
    hold: () => agent.planNext([step.working(), step.hold(), ...work]),
    release: (taskId) => void agent.step(taskId),
    ask: (question) => agent.planNext([step.working(), step.inputRequired(question), ...work]),
  };
}

function interfacesOf(card: object): AgentCard["supportedInterfaces"] {
  return (card as AgentCard).supportedInterfaces;
}

const extendedCard = (card: SdkCard): SdkCard => ({
  ...card,
  skills: [...card.skills, skill(extraSkill, "Finds words")],
});

async function startOfficial({ claims, tenant, hasExtendedCard = true }: MeetOptions): Promise<Started> {
  // The SDK's server prints every error and every notification.
  vi.spyOn(console, "error").mockImplementation(() => {});
  vi.spyOn(console, "info").mockImplementation(() => {});
  const capabilities = { ...noClaims, ...claims } as SdkCard["capabilities"];
  const agent = await startRealAgent({
    card: { capabilities },
    ...(hasExtendedCard ? { extendedCard } : {}),
  });
  if (tenant !== undefined) {
    agent.rotateCard((card) => ({
      ...card,
      supportedInterfaces: card.supportedInterfaces.map((entry) => ({ ...entry, tenant })),
    }));
  }
  closers.push(async () => {
    agent.release();
    await agent.close();
  });
  quietOnes.push(() => ({ requests: agent.openRequestCount, sockets: agent.openSocketCount }));
  return {
    url: agent.url,
    hold: () => agent.hold(),
    release: () => agent.release(),
    ask: (question) => agent.ask(question),
  };
}
