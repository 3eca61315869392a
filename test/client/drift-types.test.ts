import {
  type A2AClient,
  type AnyA2ALeaseError,
  CardDriftError,
  isA2ALeaseError,
  type TaskHandle,
} from "a2a-lease";
import { describe, expectTypeOf, test } from "vitest";

describe("what the compiler knows of a drift", () => {
  const byCode = (error: AnyA2ALeaseError) =>
    error.code === "CARD_DRIFT" ? error.renegotiate() : Promise.reject(error);
  const byClass = (error: unknown) =>
    error instanceof CardDriftError ? error.renegotiate() : Promise.reject(error);
  const byGuard = (error: unknown) =>
    isA2ALeaseError(error) && error.code === "CARD_DRIFT" ? error.renegotiate() : Promise.reject(error);
  type Renewed =
    | { readonly client: A2AClient; readonly handle?: never }
    | { readonly handle: TaskHandle; readonly client?: never };

  test("renegotiate() gives a client or a handle, however the error was told from others", () => {
    expectTypeOf(byCode).returns.resolves.toEqualTypeOf<Renewed>();
    expectTypeOf(byClass).returns.resolves.toEqualTypeOf<Renewed>();
    expectTypeOf(byGuard).returns.resolves.toEqualTypeOf<Renewed>();
  });

  test("a wrong code does not compile, and a switch over all of them can be exhaustive", () => {
    expectTypeOf<Extract<AnyA2ALeaseError, { code: "CARD_DRIFT" }>>().toEqualTypeOf<CardDriftError>();
    expectTypeOf(CardDriftError.code).toEqualTypeOf<"CARD_DRIFT">();
  });
});
