import { expect } from "vitest";
import type { Fault } from "./fault-proxy.ts";
import { type Followed, type FollowRig, type Pace, setUpFollow } from "./followed.ts";

/** A rig, and what a follower is told when nothing happens to its stream. */
export interface Sweep {
  readonly rig: FollowRig;
  readonly whole: Followed;
  /** Bytes of the whole stream. */
  readonly size: number;
  /** Every place where the stream can be cut, or each `step`-th of them. */
  places(step?: number): readonly number[];
  /** Holds one follower against all that it has to come to, whatever happened to its streams. */
  judge(followed: Followed, pace: Pace): void;
  /** Follows one task for each list of faults, some at a time; a failure says at which one. */
  run(faults: readonly (readonly Fault[])[], pace: Pace): Promise<void>;
}

/** Tasks that are followed at a time. */
const atATime = 16;

/** A stream does not bring the history, so that only a task that was read has one. */
const withoutHistory = (task: object | undefined) => ({ ...task, history: undefined });

const textOf = ({ parts }: Followed["worth"]) =>
  JSON.stringify(
    [...parts].map(([id, list]) => [id, list.map((part) => ("text" in part ? part.text : part))]),
  );

/** Records the stream that nothing happens to. */
export async function setUpSweep(clock?: Parameters<typeof setUpFollow>[0]): Promise<Sweep> {
  const rig = await setUpFollow(clock);
  const whole = await rig.follow([], "told");
  const size = rig.proxy.passedBytes;

  function judge({ worth, task, truth }: Followed, pace: Pace): void {
    const { kinds, states, said, parts, replaced } = worth;
    expect(withoutHistory(task)).toEqual(withoutHistory(truth));
    expect([kinds.indexOf("snapshot"), kinds.lastIndexOf("snapshot")]).toEqual([0, 0]);
    expect(replaced).toEqual([]);
    expect([...parts]).toEqual([...whole.worth.parts]);
    expect(textOf(worth)).toBe(textOf(whole.worth));
    expect([...said].sort()).toEqual([...whole.worth.said].sort());
    expect(states.at(-1)).toBe("TASK_STATE_COMPLETED");
    // Steps that passed while nobody listened are told as one; where a cut loses one event at most, none is lost.
    if (pace !== "told") return;
    expect(states).toEqual(whole.worth.states);
    expect(said).toEqual(whole.worth.said);
    expect(kinds.filter((kind) => kind !== "gap")).toEqual(whole.worth.kinds);
  }

  async function run(faults: readonly (readonly Fault[])[], pace: Pace): Promise<void> {
    const left = [...faults];
    const worker = async () => {
      for (let next = left.shift(); next; next = left.shift()) {
        const following = rig.follow(next, pace).then((followed) => judge(followed, pace));
        await following.catch((cause: unknown) => {
          left.length = 0;
          expect.fail(
            `${JSON.stringify(next)} at the pace ${pace}: ${cause instanceof Error ? cause.stack : cause}`,
          );
        });
      }
    };
    await Promise.all(Array.from({ length: atATime }, worker));
  }

  return {
    ...{ rig, whole, size, judge, run },
    places: (step = 1) => Array.from({ length: Math.floor(size / step) + 1 }, (_, at) => at * step),
  };
}
