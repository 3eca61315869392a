import fc from "fast-check";
import type { Call, Caller } from "./caller.ts";
import type { Fault } from "./faults.ts";

/** Which one of several, counted from the newest. */
export const pick = fc.nat({ max: 3 });
const onHandle = ["reply", "get", "subscribe", "cancel", "salvage", "repin"] as const;
const onClient = ["send", "stream", "find", "revalidate", "renegotiate"] as const;

const count = fc.constantFrom(0, 1, 9, 9);

const timeoutMs = fc.constantFrom(undefined, undefined, undefined, 5_000);

/** A call, the ones that the rules are about more often. */
export const calls: fc.Arbitrary<Call> = fc.oneof(
  { weight: 7, arbitrary: fc.record({ kind: fc.constantFrom(...onHandle), pick, count }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom(...onClient), pick, count, timeoutMs }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom("send" as const, "stream" as const),
      pick,
      count,
      timeoutMs,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom("get" as const, "subscribe" as const), pick, count }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("send" as const), pick, isBlocking: fc.constant(true) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("next" as const), pick, count: fc.constantFrom(1, 9) }),
  },
);

/** Whether there is something that a call could be made on. */
export function canCall({ kind }: Call, { hasHandle, hasStream }: Caller): boolean {
  if (kind === "next") return hasStream;
  return hasHandle || !onHandle.some((name) => name === kind);
}

/** A call as a line of a script. */
export function textOf({ kind, pick, isBlocking, timeoutMs, count }: Call): string {
  const reading = count ? `, reading ${count}` : "";
  const budget = timeoutMs === undefined ? "" : `within ${timeoutMs} ms`;
  switch (kind) {
    case "send":
      return `client.sendMessage(${[isBlocking ? "blocking" : "", budget].filter(Boolean).join(", ")})`;
    case "stream":
      return `client.sendStreamingMessage(${budget})${reading}`;
    case "find":
      return `client.getTask(id ${pick})`;
    case "revalidate":
    case "renegotiate":
      return `client.${kind}()`;
    case "next":
      return `stream ${pick}: read ${count}`;
    case "repin":
      return `handle ${pick}.renegotiate()`;
    case "subscribe":
      return `handle ${pick}.subscribe()${reading}`;
    default:
      return `handle ${pick}.${kind}()`;
  }
}

/** The operation that a call leaves as. */
export const operationOf: Partial<Record<Call["kind"], Fault["fits"][number]>> = {
  send: "SendMessage",
  stream: "SendStreamingMessage",
  reply: "SendMessage",
  get: "GetTask",
  find: "GetTask",
  subscribe: "SubscribeToTask",
  cancel: "CancelTask",
  salvage: "GetTask",
};
