import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { A2A_PROTOCOL_VERSION, AGENT_CARD_PATH, type AgentCard, type AgentSkill } from "@a2a-js/sdk";
import { DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express from "express";
import { Summarizer } from "./summarizer.ts";

/** One request that reached the agent. */
export interface SeenRequest {
  /** `"card"`, the JSON-RPC method, or the path of an HTTP+JSON call. */
  readonly what: string;
  /** HTTP status; `undefined` until it is answered in full. */
  readonly status: number | undefined;
}

/** A real A2A 1.0 agent on a loopback port, made with the server of the official SDK and express. */
export interface RealAgent extends AsyncDisposable {
  /** Where it lives, `"http://127.0.0.1:40123"`. */
  readonly url: string;
  /** The card that it serves now. */
  readonly card: AgentCard;
  /** Puts another card in force, for discovery and for all that the server decides by its card. */
  rotateCard(change: (card: AgentCard) => AgentCard): void;
  /** Makes tasks wait after their next piece of work, or before their question, until `release` is called. */
  hold(): void;
  /** Lets the waiting tasks go on. */
  release(): void;
  /** Makes the next new task ask a question before its work, and work once it is answered. */
  ask(question: string): void;
  /** Every request so far, in order of arrival. */
  readonly seen: readonly SeenRequest[];
  /** Requests that are not answered in full, open streams included. */
  readonly openRequestCount: number;
  /** Connections that are open, idle ones included. */
  readonly openSocketCount: number;
  /** Resolves once no request is open. */
  idle(): Promise<void>;
  /** Ends every connection, and the agent with them. */
  close(): Promise<void>;
}

/** Settings of the agent. */
export interface RealAgentOptions {
  /** Pause after each piece of work in milliseconds, so that a person can watch. @default 0 */
  readonly paceMs?: number;
  /** Changes to its first card. */
  readonly card?: Partial<AgentCard>;
  /** Whether it repeats its question before it goes on from the answer, as the SDK's samples do. @default false */
  readonly repeatsTask?: boolean;
  /** Whether a call with this `Authorization` may come in; others are answered with 401. @default every one may */
  readonly admits?: (authorization: string) => Promise<boolean>;
  /** The extended card that it gives out, made from its first card. @default none, which the server says as an error */
  readonly extendedCard?: (card: AgentCard) => AgentCard;
}

/** Starts the agent. It summarizes, until its card says otherwise. */
export async function startRealAgent(options: RealAgentOptions = {}): Promise<RealAgent> {
  const app = express();
  const server = createServer(app);
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  let card: AgentCard = { ...firstCard(url), ...options.card };
  const questions: string[] = [];
  let gate = openGate();
  const summarizer = new Summarizer({
    defaultSkill: () => card.skills[0]?.id ?? "summarize",
    nextQuestion: () => questions.shift(),
    repeatsTask: options.repeatsTask === true,
    async mayGoOn() {
      if (options.paceMs) await new Promise((resolve) => setTimeout(resolve, options.paceMs));
      await gate.opened;
    },
  });
  const { extendedCard } = options;
  const extended = extendedCard && (async () => extendedCard(card));
  const requestHandler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    summarizer,
    undefined,
    undefined,
    undefined,
    extended,
  );
  // The SDK's handlers ask for the card anew on every request, so this is all that a rotation takes.
  requestHandler.getAgentCard = async () => card;

  const requests = watchRequests();
  const userBuilder = UserBuilder.noAuthentication;
  app.use(express.json(), requests.watch);
  app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }));
  app.use(["/rpc", "/rest"], guard(options.admits));
  app.use("/rpc", jsonRpcHandler({ requestHandler, userBuilder }));
  app.use("/rest", restHandler({ requestHandler, userBuilder }));

  async function close(): Promise<void> {
    gate.open();
    server.close();
    const ends = [...sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve)));
    server.closeAllConnections();
    await Promise.all(ends);
  }

  return {
    url,
    get card() {
      return card;
    },
    rotateCard(change) {
      card = change(card);
    },
    hold() {
      gate.open();
      gate = closedGate();
    },
    release: () => gate.open(),
    ask: (question) => void questions.push(question),
    seen: requests.seen,
    get openRequestCount() {
      return requests.openCount();
    },
    get openSocketCount() {
      return sockets.size;
    },
    idle: requests.idle,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Answers calls that do not show what they must. */
function guard(admits: RealAgentOptions["admits"]): express.RequestHandler {
  return async (request, response, next) => {
    if (!admits || (await admits(request.headers.authorization ?? ""))) return next();
    response.status(401).set("WWW-Authenticate", 'Bearer error="invalid_token"').end();
  };
}

/** Makes a skill of a card. */
export function skill(id: string, description: string): AgentSkill {
  const [modes, name] = [{ inputModes: [], outputModes: [] }, `${id[0]?.toUpperCase()}${id.slice(1)}`];
  return { id, name, description, tags: ["text"], examples: [], ...modes, securityRequirements: [] };
}

function firstCard(url: string): AgentCard {
  const at = (path: string, protocolBinding: string) => {
    return { url: `${url}${path}`, protocolBinding, protocolVersion: A2A_PROTOCOL_VERSION, tenant: "" };
  };
  return {
    name: "Reading room",
    description: "Summarizes texts. Keeps nothing.",
    version: "1.0.0",
    provider: undefined,
    supportedInterfaces: [at("/rpc", "JSONRPC"), at("/rest", "HTTP+JSON")],
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [skill("summarize", "Makes a long text short")],
    signatures: [],
  };
}

interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

function closedGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

function openGate(): Gate {
  const gate = closedGate();
  gate.open();
  return gate;
}

/** Keeps track of what arrives and of what is still open. */
function watchRequests() {
  const seen: SeenRequest[] = [];
  const waiting: (() => void)[] = [];
  let openCount = 0;
  const watch: express.RequestHandler = (request, response, next) => {
    const place = seen.length;
    const what = request.path === `/${AGENT_CARD_PATH}` ? "card" : (request.body?.method ?? request.path);
    seen.push({ what, status: undefined });
    openCount += 1;
    response.once("close", () => {
      seen[place] = { what, status: response.statusCode };
      openCount -= 1;
      if (openCount === 0) for (const resolve of waiting.splice(0)) resolve();
    });
    next();
  };
  const idle = async (): Promise<void> => {
    if (openCount > 0) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return { seen, watch, idle, openCount: () => openCount };
}
