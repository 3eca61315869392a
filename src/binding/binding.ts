import type { AgentInterface } from "../model/card.ts";
import type { Deviation } from "../model/deviation.ts";
import type { StreamResponse } from "../model/events.ts";
import type { Operations } from "../model/operations.ts";
import type { Clock } from "../util/clock.ts";
import type { Silence } from "../wire/event-stream.ts";
import type { HttpExchange } from "../wire/http.ts";
import type { Limits, Timeouts } from "../wire/limits.ts";

/** Operations that are answered with a stream of events. */
export type StreamingOperation = "SendStreamingMessage" | "SubscribeToTask";

/** Operations that are answered once. */
export type UnaryOperation = Exclude<keyof Operations, StreamingOperation>;

/** All that a binding needs to carry out one call. It knows no lease, no ledger and no credentials. */
export interface BindingCall {
  /** The interface to call; its tenant goes on the request. */
  readonly interface: AgentInterface;
  /**
   * Headers beside the binding's own, names in lower case: the caller's, `a2a-extensions`, and the credentials, which
   * were chosen for the origin of this interface. The binding itself adds `a2a-version`.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** Secret query parameters, to be handed on with the HTTP request as they are and never put into a URL. */
  readonly query?: Readonly<Record<string, string>>;
  /** Secrets of earlier calls, which no error about an answer may hold any more than those of this one. @default none */
  readonly secrets?: readonly string[];
  /** Aborts the call; its reason is rethrown unchanged. */
  readonly signal: AbortSignal;
  /** Budgets of time. */
  readonly timeouts: Timeouts;
  /** Answers a silence of a stream: resolves to read it on, rejects to end it. @default a silence ends it */
  readonly onSilence?: ((silence: Silence) => Promise<void>) | undefined;
}

/** An answer, and what was odd about it. */
export interface BindingAnswer<T> {
  /** The answer, frozen. */
  readonly value: T;
  /** What broke the spec but could be read. */
  readonly deviations: readonly Deviation[];
  /**
   * The answer as it came, frozen, where the difference counts: an extended card, whose digest is over all members that
   * were sent.
   */
  readonly wire?: unknown;
}

/** Frames of a stream that could not be used. */
export interface SkippedFrames {
  /** How many. */
  readonly count: number;
  /** The first of them: why, and its beginning. */
  readonly first?: { readonly reason: string; readonly snippet: string };
}

/** An open stream of events. Its head was accepted. */
export interface BindingStream {
  /**
   * The events in order, batched as they came in. Ends when the body ends; throws what an error frame says, a
   * transport error, or a `StreamStalledError`. Leaving the loop closes the connection.
   */
  readonly events: AsyncIterable<StreamResponse>;
  /** What broke the spec so far but could be read. */
  readonly deviations: readonly Deviation[];
  /** Frames skipped so far. */
  readonly skipped: SkippedFrames;
  /** Whether the answer came whole, so that reading it takes no time any more. */
  readonly isWhole?: boolean;
  /** How long the server last asked to wait before a new connection (`retry:`), in milliseconds, at most one hour. */
  readonly retryMs?: number | undefined;
  /** Closes the connection. */
  close(): void;
}

/**
 * A wire form of the protocol: one of the spec's, or one of your own (section 12). The client judges the card, keeps
 * the ledger and folds what comes in; a binding turns one operation into one exchange, and its answer into the spec's
 * own objects.
 *
 * A binding of your own keeps to the signal and the budgets of a call, and throws this library's errors. Anything else
 * that it throws is told as a `ConnectionError` whose request may have been sent, unless its code says otherwise.
 */
export interface Binding {
  /** Its name on a card, exactly: `"JSONRPC"`, or a URI for one of your own (5.8). */
  readonly name: string;
  /**
   * Calls an operation that is answered once.
   *
   * @throws the protocol, transport and auth errors.
   */
  call<O extends UnaryOperation>(
    operation: O,
    request: Operations[O]["request"],
    call: BindingCall,
  ): Promise<BindingAnswer<Operations[O]["response"]>>;
  /**
   * Opens a stream.
   *
   * @throws the protocol, transport and auth errors.
   */
  open<O extends StreamingOperation>(
    operation: O,
    request: Operations[O]["request"],
    call: BindingCall,
  ): Promise<BindingStream>;
}

/** Makes a binding out of what the client has. */
export type BindingFactory = (options: BindingOptions) => Binding;

/** What every binding is built on. */
export interface BindingOptions {
  /** Sends HTTP requests. */
  readonly http: HttpExchange;
  /** Time. */
  readonly clock: Clock;
  /** Bounds on what comes back. */
  readonly limits: Limits;
}
