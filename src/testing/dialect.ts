import type { AgentRequest } from "./exchange.ts";

/** A call as it was read off the wire. */
export interface WireCall {
  /** Identifier of the request, where the binding has one. */
  readonly id: unknown;
  /** Method that was named. */
  readonly operation: string;
  /** Parameters, unchecked. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** What an error says on the wire. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

/** Outcome of reading a call: the call, or what is wrong with it and the id to say so under. */
export type ReadCall =
  | { readonly kind: "call"; readonly call: WireCall }
  | { readonly kind: "unreadable"; readonly id: unknown; readonly error: WireError };

/** One of the spec's wire forms, as the agent writes and reads it. */
export interface Dialect {
  /** Reads a call. */
  read(request: AgentRequest): ReadCall;
  /** Body of a result, and data of a stream event. */
  result(id: unknown, value: unknown): string;
  /** Body of an error, and data of an error frame. */
  error(id: unknown, error: WireError): string;
}
