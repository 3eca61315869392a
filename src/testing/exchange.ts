/** One HTTP request as it reaches the agent, whichever way it came. */
export interface AgentRequest {
  /** Method in upper case. */
  readonly method: string;
  /** Absolute URL. */
  readonly url: string;
  /** URL of the agent as the caller knows it: the in-process one, or that of the listener. */
  readonly baseUrl: string;
  /** Path with query. */
  readonly path: string;
  /** Headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body as text. */
  readonly body: string;
  /** Aborted when the caller gives up. */
  readonly signal: AbortSignal;
}

/** An HTTP answer. */
export interface AgentAnswer {
  /** Tells it from no answer. */
  readonly kind: "answer";
  /** Status. */
  readonly status: number;
  /** Headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body. */
  readonly body: string | Uint8Array | ReadableStream<Uint8Array>;
}

/** What comes of a request: an answer, a connection dropped before any header, or no connection at all. */
export type AgentOutcome =
  | AgentAnswer
  | { readonly kind: "reset" }
  | { readonly kind: "refused"; readonly code: "ECONNREFUSED" | "ENOTFOUND" };

/** Carries out one request. Rejects with the signal's reason when the caller gives up first. */
export type AgentHandler = (request: AgentRequest) => Promise<AgentOutcome>;

/** What a broken connection looks like to the caller, in the way that Node's `fetch` shows it. */
export class SimulatedSocketError extends Error {
  /** Class name. */
  override readonly name = "SimulatedSocketError";
  /** The system's code, `"ECONNRESET"`. */
  readonly code: string;

  /** Makes the error for a system code. */
  constructor(code: string) {
    super(`scripted ${code}`);
    this.code = code;
  }
}
