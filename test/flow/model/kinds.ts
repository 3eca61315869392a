import type { RunRecord, Step, StepKind } from "./record.ts";

/** Something that must hold of every run: what breaks it, as sentences; none when it holds. */
export type Invariant = (record: RunRecord) => readonly string[];

/** Steps that ask for a full reading of the card by themselves. */
export const readers: ReadonlySet<StepKind> = new Set(["create", "revalidate", "renegotiate", "repin"]);
/** Steps that are card-dependent calls of their own. */
export const leasedCalls: ReadonlySet<StepKind> = new Set(["send", "stream", "reply", "get", "subscribe"]);
/** Steps that are always possible. */
export const exits: ReadonlySet<StepKind> = new Set(["cancel", "salvage"]);
/** Operations that send a message. */
export const sends: ReadonlySet<string> = new Set(["SendMessage", "SendStreamingMessage"]);

/** How a step ended, for people. */
export function said({ settled }: Step): string {
  if (!settled) return "nothing yet";
  if (settled.isOk) return `success${settled.state === undefined ? "" : ` in ${settled.state}`}`;
  const { error } = settled;
  const causes: string[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 4; cause = cause.cause)
    causes.push(cause.name);
  return causes.length > 0 ? causes.join(" < ") : String(error);
}
