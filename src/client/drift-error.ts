import type { AnyA2ALeaseError as AnyError } from "../errors/any.ts";
import { isA2ALeaseError as isAnyError } from "../errors/any.ts";
import { CardDriftError as DriftError } from "../errors/lease.ts";
import type { A2AClient } from "./client.ts";
import type { TaskHandle } from "./handle.ts";

/** The live card is not the one that was planned against. Nothing was sent, or what came back was withheld. */
export type CardDriftError = DriftError<A2AClient, TaskHandle>;

/** The class of {@link CardDriftError}. */
export interface CardDriftErrorClass {
  /** Makes one, for a test of a planner. */
  new (...details: ConstructorParameters<typeof DriftError<A2AClient, TaskHandle>>): CardDriftError;
  /** What `instanceof` narrows to. */
  readonly prototype: CardDriftError;
  /** The code of all its errors. */
  readonly code: "CARD_DRIFT";
}

/**
 * The live card is not the one that was planned against. Nothing was sent, or what came back was withheld. Errors know
 * neither clients nor handles; here it is said what `renegotiate()` of it resolves to.
 */
export const CardDriftError: CardDriftErrorClass = DriftError;

/** Every error that this library throws, as a closed union: `switch (error.code)` narrows it. */
export type AnyA2ALeaseError = Exclude<AnyError, DriftError> | CardDriftError;

/** Whether something caught is an error of this library, also one of another copy or of the other build. */
export function isA2ALeaseError(value: unknown): value is AnyA2ALeaseError {
  return isAnyError(value);
}
