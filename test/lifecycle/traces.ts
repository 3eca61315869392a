import type { LifecycleRule } from "../../src/model/observation.ts";
import { type Look, type Setting, trusted } from "./look.ts";

/** A rule of a task's life, by the shortest look at a task that breaks it and the longest that does not. */
export interface RuleTraces {
  /** What breaks it, each with nothing to leave out. */
  readonly breaking: Readonly<Record<string, readonly Look[]>>;
  /** What looks like it and is legal: nothing is broken, not even as a deviation. */
  readonly legal: readonly Look[];
  /** Where something depends on the rule. @default nothing was earned */
  readonly setting?: Setting;
}

/** Rules that a look at a task's status can break; see `wire-traces.ts` for those of streams and sends. */
export type JudgedRule = Exclude<LifecycleRule, "stream-shape" | "artifact-order">;

/** Every rule with its traces. */
export const traces: Readonly<Record<JudgedRule, RuleTraces>> = {
  "known-state": {
    breaking: {
      "a name that the spec does not have": ["get ?TASK_STATE_PAUSED @1"],
      "a number that it does not have": ["get ?9 @1"],
      "any other text": ["stream ?BOGUS_STATE @1"],
      "another case": ["stream ?task_state_working @1"],
    },
    legal: [
      "send SUBMITTED @1",
      "stream =working @2",
      "stream WORKING @3",
      "get =TASK_STATE_UNSPECIFIED @4",
      "stream =input-required @5 m:ask q:region",
      "progress",
      "stream =unknown @6",
      "stream =auth-required @7 m:auth q:login",
      "stream WORKING @8",
      "stream =cancelled @9",
      "get CANCELED @9",
    ],
  },
  "terminal-is-final": {
    breaking: {
      "work without a date after the end": ["get COMPLETED @5", "get WORKING"],
      "work at a later date": ["stream FAILED @5", "stream WORKING @6"],
      "work at the same date": ["stream FAILED @5", "get WORKING @5"],
      "another end, whatever its date": ["stream COMPLETED @5", "get FAILED @4"],
      "another end without a date": ["get REJECTED @5", "get CANCELED"],
      "a question": ["get CANCELED @5", "push INPUT_REQUIRED @6 m:ask q:region"],
      "a state unheard of": ["get CANCELED @5", "get ?PAUSED @6"],
      "no state at all": ["get CANCELED @5", "get =TASK_STATE_UNSPECIFIED @6"],
      "an overtaken answer with a later date": ["get COMPLETED @5", "get WORKING @6 overtaken"],
    },
    legal: [
      "send SUBMITTED @1",
      "stream WORKING @2",
      "stream WORKING @4 m:half",
      "stream COMPLETED @5 m:bye",
      "get WORKING @4 m:half",
      "get WORKING @2",
      "get WORKING @3 m:never-seen",
      "get INPUT_REQUIRED @3 m:ask q:region",
      "stream WORKING @2",
      "push SUBMITTED @1",
      "get WORKING overtaken",
      "get ?PAUSED overtaken",
      "get COMPLETED @5 m:bye",
      "get COMPLETED @5 m:bye",
      "stream COMPLETED @5 m:bye",
      "get COMPLETED @9 m:bye",
      "get WORKING @4 m:half",
      "push COMPLETED @5 m:bye",
    ],
  },
  "single-terminal": {
    breaking: {
      "the end once more at another date": ["stream COMPLETED @5", "stream COMPLETED @6"],
      "the end once more at an older date": ["stream COMPLETED @5", "push COMPLETED @4"],
      "the end once more with other words": ["stream FAILED @5 m:one", "stream FAILED @5 m:two"],
      "the end once more without a date": ["get REJECTED @5", "stream REJECTED"],
    },
    legal: [
      "stream WORKING @1",
      "stream COMPLETED @5 m:bye",
      "stream COMPLETED @5 m:bye",
      "push COMPLETED @5 m:bye",
      "get COMPLETED @5 m:bye",
      "get COMPLETED @6 m:bye",
      "get COMPLETED @7 m:reworded",
      "stream COMPLETED @5 m:bye",
    ],
  },
  "timestamp-present": {
    setting: trusted,
    breaking: {
      "a step without a date": ["stream WORKING"],
      "an end without a date": ["get COMPLETED"],
      "a question without a date": ["push INPUT_REQUIRED m:ask q:region"],
    },
    legal: [
      "send SUBMITTED @1",
      "stream WORKING @2",
      "stream INPUT_REQUIRED @3 m:ask q:region",
      "progress",
      "get WORKING overtaken",
      "stream WORKING @4",
      "cancel CANCELED @5",
    ],
  },
  "timestamp-monotonic": {
    setting: trusted,
    breaking: {
      "an answer that is older than what is known": ["send WORKING @2", "get SUBMITTED @1"],
      "an end that is older than the work before it": ["send WORKING @2", "stream COMPLETED @1"],
    },
    legal: [
      "send SUBMITTED @1",
      "stream WORKING @4",
      "stream INPUT_REQUIRED @4 m:ask q:region",
      "stream WORKING @2",
      "push WORKING @3",
      "get SUBMITTED @1",
      "get WORKING @4",
      "get WORKING @3 overtaken",
      "progress",
      "stream WORKING @5",
      "stream FAILED @5",
    ],
  },
  "history-progress": {
    setting: trusted,
    breaking: {
      "a step that left no trace": ["get SUBMITTED @1 h:1/u", "get WORKING @2 h:1/u"],
      "a question that was asked anew": [
        "get INPUT_REQUIRED @1 m:a q:region h:1/u",
        "get INPUT_REQUIRED @2 m:b q:year h:1/u",
      ],
    },
    legal: [
      "send SUBMITTED @1",
      "get SUBMITTED @1 h:1/u",
      "get WORKING @2 h:2/a",
      "get WORKING @3 h:2/a",
      "get WORKING @3 h:2/a",
      "stream INPUT_REQUIRED @4 m:ask q:region",
      "get INPUT_REQUIRED @4 m:ask q:region h:3/b",
      "list WORKING @5",
      "get WORKING @2 h:2/a",
      "get WORKING @6 h:3/c",
      "stream COMPLETED @7",
      "get COMPLETED @7 h:4/d",
      "get COMPLETED @7 h:4/d",
    ],
  },
  progress: {
    breaking: {
      "the same question for the third time": [
        "get INPUT_REQUIRED @1 m:1 q:region",
        "get INPUT_REQUIRED @2 m:2 q:region",
        "get INPUT_REQUIRED @3 m:3 q:region",
      ],
      "the same question without an id, with work between": [
        "get INPUT_REQUIRED @1 q:region",
        "get WORKING @2",
        "get INPUT_REQUIRED @3 q:region",
        "get WORKING @4",
        "get INPUT_REQUIRED @5 q:region",
      ],
    },
    legal: [
      "send INPUT_REQUIRED @1 m:1 q:region",
      "get INPUT_REQUIRED @2 m:1 q:region",
      "get INPUT_REQUIRED @3 m:1 q:region",
      "get INPUT_REQUIRED @4 m:1 q:region",
      "stream WORKING @5",
      "stream INPUT_REQUIRED @6 m:2 q:region",
      "progress",
      "stream WORKING @7",
      "stream INPUT_REQUIRED @8 m:3 q:region",
      "stream INPUT_REQUIRED @8 m:3 q:region",
      "stream INPUT_REQUIRED @9 m:4 q:region",
      "stream INPUT_REQUIRED @10 m:5 q:year",
      "stream INPUT_REQUIRED @11 m:6 q:year",
      "get INPUT_REQUIRED @11 m:6 q:year h:3/a",
      "get INPUT_REQUIRED @11 m:6 q:year h:4/b",
      "get INPUT_REQUIRED @12 m:7 q:year h:4/b",
      "stream AUTH_REQUIRED @13 m:8 q:login",
      "stream AUTH_REQUIRED @14 m:9 q:login",
      "stream AUTH_REQUIRED @15 m:10 q:login",
      "stream COMPLETED @16",
    ],
  },
  identity: {
    breaking: {
      "another task": ["get WORKING @1 task:t2"],
      "another context": ["stream WORKING @1 ctx:c2"],
      "another task that is over": ["send COMPLETED @1 task:t2 ctx:c2"],
    },
    legal: [
      "send SUBMITTED @1",
      "stream WORKING @2 ctx:",
      "get WORKING @3 task:t1 ctx:c1",
      "push COMPLETED @4 ctx:",
    ],
  },
  answered: {
    breaking: {
      "the same end as before": ["send COMPLETED @1 ended:COMPLETED"],
      "another end": ["send FAILED @1 ended:COMPLETED"],
      "work that goes on": ["send WORKING @1 ended:REJECTED"],
      "the first event of a stream": ["stream COMPLETED @1 ended:CANCELED"],
    },
    legal: [
      "send INPUT_REQUIRED @1 m:1 q:region ended:INPUT_REQUIRED",
      "send INPUT_REQUIRED @1 m:1 q:region ended:WORKING",
      "send WORKING @2 ended:INPUT_REQUIRED",
      "send COMPLETED @3 ended:WORKING",
      "get COMPLETED @3",
    ],
  },
};
