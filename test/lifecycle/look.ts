import { judgeObservation } from "../../src/lifecycle/judge.ts";
import { noMemory, rememberProgress } from "../../src/lifecycle/memory.ts";
import type { JudgeContext } from "../../src/lifecycle/rules.ts";
import type { Observation, ObservationSource, TaskMemory } from "../../src/model/observation.ts";
import { readTaskState } from "../../src/model/states.ts";

/**
 * One look at a task in a line: where it comes from, the state, and what else is known.
 *
 * `"stream WORKING @2"` is an event of second 2, `"get COMPLETED @5 m:bye"` a whole task whose status message has the
 * id `bye`. `q:` is what is asked, `h:3/x` a history of three messages with `x` the newest, `task:` and `ctx:` another
 * task or context, `overtaken` an answer whose request left before the last look was folded in, `ended:COMPLETED` the
 * answer to a message of ours by a task that was over before. `"?PAUSED"` and `"=working"` are the wire's own text.
 * `"progress"` alone is an artifact, a message, or an answer of ours.
 */
export type Look = string;

/** What the judge is asked with. */
export type Setting = Partial<JudgeContext>;

/** Trust that was earned: dates and history are depended on. */
export const trusted: Setting = { trustsTimestamps: true, trustsHistory: true, claimsHistory: true };

/** What a look came to. */
export interface Judgement {
  readonly outcome: "advance" | "replay" | "late" | "broken" | "progress";
  readonly state?: string;
  /** The rules that it broke, enforced ones first. */
  readonly rules: readonly string[];
}

const sources: readonly string[] = ["send", "get", "list", "cancel", "stream", "push"];

/** Reads a line. */
export function readLook(line: Look): { readonly seen: Observation; readonly setting: Setting } {
  const [source = "", state = "", ...more] = line.split(" ");
  if (!sources.includes(source)) throw new TypeError(`found the source ${source} in ${line}`);
  const own = (mark: string) => more.find((item) => item.startsWith(mark))?.slice(mark.length);
  const wire = /^[?=]/.test(state) ? state.slice(1) : `TASK_STATE_${state}`;
  const [length, newestMessageId] = own("h:")?.split("/") ?? [];
  const date = own("@");
  const ended = own("ended:");
  const seen = {
    taskId: own("task:") ?? "t1",
    contextId: own("ctx:") ?? "c1",
    ...readTaskState(state === "" ? undefined : wire),
    ...(date === undefined ? {} : { timestamp: dateOf(Number(date)) }),
    ...(own("m:") === undefined ? {} : { statusMessageId: own("m:") ?? "" }),
    ...(own("q:") === undefined ? {} : { question: own("q:") ?? "" }),
    isSnapshot: source !== "stream" && source !== "push",
    ...(length === undefined ? {} : { historyLength: Number(length) }),
    ...(newestMessageId === undefined ? {} : { newestMessageId }),
    source: source as ObservationSource,
    seenAt: "2026-01-01T00:00:00.000Z",
  };
  return {
    seen,
    setting: {
      ...(more.includes("overtaken") ? { isOvertaken: true } : {}),
      ...(ended === undefined ? {} : { beforeSend: readLook(`get ${ended}`).seen }),
    },
  };
}

/** Second 2 of a task's life as the wire writes it. */
export function dateOf(second: number): string {
  return new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString();
}

/** Judges one look after what is known. */
export function judgeNext(memory: TaskMemory, line: Look, given: Setting = {}) {
  const { seen, setting } = readLook(line);
  return { seen, verdict: judgeObservation(memory, seen, { ...defaults, ...given, ...setting }) };
}

/** Judges looks one after another, as a client that goes on whatever it sees. */
export function judgeAll(
  looks: readonly Look[],
  given: Setting = {},
): { readonly judgements: readonly Judgement[]; readonly memory: TaskMemory } {
  let memory = noMemory;
  const judgements = looks.map((line): Judgement => {
    if (line === "progress") {
      memory = rememberProgress(memory);
      return { outcome: "progress", rules: [] };
    }
    const { verdict, seen } = judgeNext(memory, line, given);
    memory = verdict.memory;
    const broken = verdict.outcome === "broken" ? [verdict.rule] : [];
    const rules = [...broken, ...verdict.deviations.map(({ kind }) => kind)];
    return { outcome: verdict.outcome, state: seen.state, rules };
  });
  return { judgements, memory };
}

/** The rules that looks break, each once, in the order of the first time. */
export function brokenBy(looks: readonly Look[], setting?: Setting): readonly string[] {
  return [...new Set(judgeAll(looks, setting).judgements.flatMap(({ rules }) => rules))];
}

const defaults: JudgeContext = {
  taskId: "t1",
  contextId: "c1",
  trustsTimestamps: false,
  trustsHistory: false,
  claimsHistory: false,
  maxIdleRounds: 3,
};
