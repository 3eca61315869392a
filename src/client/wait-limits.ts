import { TimeoutError } from "../errors/transport.ts";
import type { Scope } from "../util/abort.ts";
import type { FollowOptions } from "./result-options.ts";

/** The time that a caller allows. */
export type WaitLimits = Pick<FollowOptions, "timeoutMs" | "deadlineMs">;

/** Gives a wait the time that its caller allows, from now on. The error says by which of the two it ended. */
export function limitWait(scope: Scope, url: string, { timeoutMs, deadlineMs }: WaitLimits): void {
  const limit = (ms: number | undefined, budget: "total" | "deadline") => {
    if (ms !== undefined) scope.deadline(ms, () => new TimeoutError(url, budget, ms));
  };
  limit(timeoutMs, "total");
  limit(deadlineMs, "deadline");
}
