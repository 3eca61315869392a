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

/**
 * Outcome of reading a call: the call, what is wrong with it and the id to say so under, or a path or method that
 * nothing is at.
 */
export type ReadCall =
  | { readonly kind: "call"; readonly call: WireCall }
  | {
      readonly kind: "unreadable";
      readonly id: unknown;
      readonly error: WireError;
      /** In place of the status that the error has. */
      readonly httpStatus?: number;
    }
  | {
      readonly kind: "absent";
      readonly status: 404 | 405;
      readonly headers: Readonly<Record<string, string>>;
    };

/** What an answer that has nothing to say looks like: no content at all, an empty body, or `{}`. */
export type DeleteAnswer = "no-content" | "empty" | "object";

/** One of the spec's wire forms, as the agent writes and reads it. */
export interface Dialect {
  /** Reads a call. */
  read(request: AgentRequest): ReadCall;
  /** Media type of answers that are no stream. */
  readonly mediaType: string;
  /** HTTP status that goes with an error code. */
  errorStatus(code: number): number;
  /** Body of a result, and data of a stream event. */
  result(id: unknown, value: unknown): string;
  /** Body of an error, and data of an error frame; `httpStatus` where it is not the one of its code. */
  error(id: unknown, error: WireError, httpStatus?: number): string;
  /** Answer to a deletion. */
  deleted(id: unknown, form: DeleteAnswer): { readonly status: number; readonly body: string };
}
