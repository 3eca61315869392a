import { InvalidParamsError, LeaseUnverifiableError, SendOutcomeUnknownError, TimeoutError } from "a2a-lease";
import { describe, expect, test } from "vitest";
import { complaintsOf, invariants, quietEnd } from "./invariants.ts";
import type { RunRecord } from "./record.ts";
import {
  aborts,
  asks,
  begins,
  brings,
  driftTo,
  ends,
  type Happening,
  isAnswered,
  leaves,
  tell,
} from "./story.ts";

const refusal = () => new InvalidParamsError({ operation: "GetTask", remoteMessage: "no", rpcCode: -32602 });
const unverifiable = (cause: unknown) => new LeaseUnverifiableError("https://agent.example", { cause });
const timeout = () => new TimeoutError("https://agent.example/rpc", "total", 1_000);

/** A call with its alongside check, up to its answer. */
const read = (by: Parameters<typeof isAnswered>[1], id = "get"): readonly Happening[] => [
  begins(id, "get"),
  asks(`check of ${id}`, "by its validator"),
  leaves(`call of ${id}`, id, "GetTask"),
  brings(`check of ${id}`, "unmodified"),
  isAnswered(`call of ${id}`, by),
];
const forced = (card: Parameters<typeof brings>[1]): readonly Happening[] => [
  asks("forced read"),
  brings("forced read", card),
];
const send = (messageId = "m1", id = "send"): readonly Happening[] => [
  begins(id, "send"),
  asks(`check of ${id}`, "by its validator"),
  brings(`check of ${id}`, "unmodified"),
  leaves(`call of ${id}`, id, "SendMessage", { messageId }),
];
const isRefused = { code: -32602 };
const works = { state: "TASK_STATE_WORKING" };
const question = { state: "TASK_STATE_INPUT_REQUIRED" };
const drifted = () => driftTo("another text", { cause: refusal(), taskId: "t1" });

/** Runs in which everything is as it should be. */
const sound: Readonly<Record<string, RunRecord>> = {
  "a call that is answered": tell([...read(works), ends("get")]),
  "a surprise, and the same card": tell([...read(isRefused), ...forced("the first"), ends("get", refusal())]),
  "a surprise, and another card": tell([
    ...read(isRefused),
    ...forced("another text"),
    ends("get", drifted()),
  ]),
  "another text, where only the structure counts": tell(
    [...read(isRefused), ...forced("another text"), ends("get", refusal())],
    { compare: "structure" },
  ),
  "another card that the posture takes": tell(
    [...read(isRefused), ...forced("another text"), ends("get", refusal())],
    { posture: "degrade" },
  ),
  "a surprise, and no card": tell([
    ...read(isRefused),
    asks("forced read"),
    isAnswered("forced read", { status: 503 }),
    ends("get", unverifiable(refusal())),
  ]),
  "a question, and the same card": tell([...read(question), ...forced("the first"), ends("get")]),
  "two surprises that share a reading": tell([
    ...read(isRefused, "one"),
    ...read(isRefused, "two"),
    ...forced("the first"),
    ends("one", refusal()),
    ends("two", refusal()),
  ]),
  "a moment of absence": tell([
    ...read(isRefused),
    asks("forced read"),
    isAnswered("forced read", { status: 404 }),
    asks("second look"),
    brings("second look", "the first"),
    ends("get", refusal()),
  ]),
  "an internal error": tell([...read({ code: -32603 }), ends("get", refusal())]),
  "a message that is sent again with other credentials": tell([
    ...send(),
    isAnswered("call of send", { status: 401 }),
    ...forced("the first"),
    leaves("again", "send", "SendMessage", { messageId: "m1", authorization: "Bearer 2" }),
    isAnswered("again", works),
    ends("send"),
  ]),
  "a cancellation after a drift": tell([
    ...read(isRefused),
    ...forced("another text"),
    ends("get", drifted()),
    begins("cancel", "cancel"),
    leaves("call of cancel", "cancel", "CancelTask"),
    isAnswered("call of cancel", { state: "TASK_STATE_CANCELED" }),
    ends("cancel"),
  ]),
  "a call that the caller gives up": tell([
    ...read(isRefused),
    aborts("get", "enough"),
    ends("get", "enough"),
  ]),
};

const afterDrift: readonly Happening[] = [
  ...read(isRefused),
  ...forced("another text"),
  ends("get", drifted()),
];

/** Runs that break one invariant each, at least. */
const broken: readonly (readonly [keyof typeof invariants & string, string, RunRecord])[] = [
  [
    "brokenLease",
    "a call leaves though its lease is over",
    tell([...afterDrift, ...read(works, "later"), ends("later", drifted())]),
  ],
  [
    "brokenLease",
    "a call that was under way leaves after another one ended the lease",
    tell([begins("slow", "get"), ...afterDrift, leaves("call of slow", "slow", "GetTask")]),
  ],
  [
    "sameError",
    "a later call throws another drift",
    tell([...afterDrift, begins("later", "get"), ends("later", drifted())]),
  ],
  ["sameError", "a later call is answered", tell([...afterDrift, begins("later", "get"), ends("later")])],
  [
    "sameError",
    "the drift of a plan ends the lease of a task",
    tell([begins("get", "get"), ends("get", driftTo("another text"))]),
  ],
  [
    "sentOnce",
    "a message is sent twice",
    tell([...send(), leaves("again", "send", "SendMessage", { messageId: "m1" })]),
  ],
  [
    "sentOnce",
    "a message is sent again with the credentials that were refused",
    tell([
      ...send(),
      isAnswered("call of send", { status: 401 }),
      ...forced("the first"),
      leaves("again", "send", "SendMessage", { messageId: "m1" }),
    ]),
  ],
  ["sentOnce", "an id is used again", tell([...send("m1", "one"), ...send("m1", "two")])],
  [
    "knownIfUnsent",
    "nothing left, and the outcome is said to be unknown",
    tell([begins("send", "send"), ends("send", new SendOutcomeUnknownError({ messageId: "m1" }, timeout()))]),
  ],
  [
    "noFalseSafety",
    "a message left, and sending it again is said to be safe",
    tell([...send(), ends("send", timeout())]),
  ],
  ["readAfterSurprise", "an error surfaces unchecked", tell([...read(isRefused), ends("get", refusal())])],
  ["readAfterSurprise", "a question is delivered unchecked", tell([...read(question), ends("get")])],
  [
    "readAfterSurprise",
    "the reading began before the surprise",
    tell([
      begins("get", "get"),
      leaves("call", "get", "GetTask"),
      asks("early read"),
      isAnswered("call", isRefused),
      brings("early read", "the first"),
      ends("get", refusal()),
    ]),
  ],
  [
    "readAfterSurprise",
    "the reading was conditional",
    tell([
      ...read(isRefused),
      asks("ordinary read", "by its validator"),
      brings("ordinary read", "unmodified"),
      ends("get", refusal()),
    ]),
  ],
  [
    "readAfterSurprise",
    "the error surfaces while the card is still being read",
    tell([
      ...read(isRefused),
      asks("forced read"),
      ends("get", refusal()),
      brings("forced read", "the first"),
    ]),
  ],
  [
    "readAfterSurprise",
    "a renegotiation reads no card",
    tell([begins("renegotiate", "renegotiate"), ends("renegotiate")]),
  ],
  [
    "noNeedlessRead",
    "one surprise costs two readings",
    tell([
      ...read(isRefused),
      ...forced("the first"),
      asks("another read"),
      brings("another read", "the first"),
      ends("get", refusal()),
    ]),
  ],
  [
    "noNeedlessRead",
    "an internal error costs a reading",
    tell([...read({ code: -32603 }), ...forced("the first"), ends("get", refusal())]),
  ],
  [
    "cardDecides",
    "the card changed, and the refusal surfaces",
    tell([...read(isRefused), ...forced("another text"), ends("get", refusal())]),
  ],
  [
    "cardDecides",
    "the card changed, and the drift forgets what led to it",
    tell([
      ...read(isRefused),
      ...forced("another text"),
      ends("get", driftTo("another text", { taskId: "t1" })),
    ]),
  ],
  [
    "cardDecides",
    "the card is the same, and a drift surfaces",
    tell([...read(isRefused), ...forced("the first"), ends("get", drifted())]),
  ],
  [
    "cardDecides",
    "the card is the same, and another error surfaces",
    tell([...read(isRefused), ...forced("the first"), ends("get", timeout())]),
  ],
  [
    "cardDecides",
    "there is no telling, and the refusal is forgotten",
    tell([
      ...read(isRefused),
      asks("forced read"),
      isAnswered("forced read", { status: 503 }),
      ends("get", timeout()),
    ]),
  ],
  [
    "checkedFirst",
    "a message leaves unchecked",
    tell([begins("send", "send"), leaves("call", "send", "SendMessage", { messageId: "m1" })]),
  ],
  [
    "checkedFirst",
    "an answer is delivered while the card is still being read",
    tell([
      begins("get", "get"),
      asks("check", "by its validator"),
      leaves("call", "get", "GetTask"),
      isAnswered("call", works),
      ends("get"),
    ]),
  ],
  [
    "waitsAsAsked",
    "the card is read before its time",
    tell([
      asks("one"),
      isAnswered("one", { status: 503, retryAfterMs: 30_000 }),
      asks("two"),
      brings("two", "the first"),
    ]),
  ],
  [
    "oneReadAtATime",
    "two readings at once",
    tell([asks("one"), asks("two"), brings("one", "the first"), brings("two", "the first")]),
  ],
  [
    "leavingWorks",
    "a cancellation is refused after a drift",
    tell([...afterDrift, begins("cancel", "cancel"), ends("cancel", drifted())]),
  ],
  [
    "leavingWorks",
    "a salvage waits for a card",
    tell([begins("salvage", "salvage"), ends("salvage", unverifiable(timeout()))]),
  ],
  [
    "leavingWorks",
    "a cancellation that was done fails",
    tell([
      begins("cancel", "cancel"),
      leaves("call", "cancel", "CancelTask"),
      isAnswered("call", { state: "TASK_STATE_CANCELED" }),
      ends("cancel", timeout()),
    ]),
  ],
  ["ownHeaders", "a call without the headers of its caller", tell([leaves("call", undefined, "GetTask")])],
  ["typedErrors", "a plain error", tell([...read(works), ends("get", new RangeError("oops"))])],
  ["abortEnds", "an abort that nobody hears", tell([begins("get", "get"), aborts("get", "enough")])],
  [
    "abortEnds",
    "an abort with another reason",
    tell([begins("get", "get"), aborts("get", "enough"), ends("get", timeout())]),
  ],
];

describe("the invariants of the model", () => {
  test.each(Object.entries(sound))("hold of %s", (_name, record) => {
    expect(complaintsOf(record)).toEqual([]);
  });

  test.each(broken)("%s complains: %s", (name, _story, record) => {
    expect(invariants[name]?.(record)).not.toEqual([]);
  });

  test("are each broken by a story", () => {
    expect([...new Set(broken.map(([name]) => name))].sort()).toEqual(Object.keys(invariants).sort());
  });

  test.each([
    [{ timers: 1, requests: 0, unhandled: [] }],
    [{ timers: 0, requests: 1, unhandled: [] }],
    [{ timers: 0, requests: 0, unhandled: [new RangeError("oops")] }],
  ])("a run that leaves %o behind is not quiet", (leftovers) => {
    expect(quietEnd(leftovers)).toHaveLength(1);
    expect(quietEnd({ timers: 0, requests: 0, unhandled: [] })).toEqual([]);
  });
});
