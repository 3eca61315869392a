import { StreamStalledError } from "../errors/stream.ts";
import type { Silence } from "../wire/event-stream.ts";
import { isTransient } from "./backoff.ts";
import type { HandleEntry } from "./handle.ts";
import { isSettled } from "./settle.ts";
import type { TaskStreamParts } from "./stream-parts.ts";

/** Silences in a row that a stream may have, each answered by a look at the task. */
const maxSilences = 3;

/** The silences of a stream. */
export interface Silences {
  /** Whether the task was found, in one of them, to be where the stream ends. */
  readonly foundSettled: boolean;
  /** What a look failed with and the card was asked about already, where it was no passing fault. */
  readonly failure: unknown;
}

/**
 * A silence is no end of a stream: the task itself says how it is, and the stream is read on, a few times in a row. One
 * that goes on for longer is the mark of a connection that is dead and does not know it.
 *
 * @param awaited - the task, where what it says ends the wait; it tells nothing of a message that may not have come in.
 */
export function createSilences(
  { look, opened, settle }: TaskStreamParts,
  awaited: () => HandleEntry | undefined,
): Silences {
  let foundSettled = false;
  let failure: unknown;
  let looking: Promise<void> | undefined;

  async function lookOnce({ budget, periods, silentMs }: Silence): Promise<void> {
    const task = awaited();
    if (!task) throw new StreamStalledError(budget, silentMs);
    try {
      await look(task, opened.scope.signal);
      task.slot.announceLook();
    } catch (error) {
      if (!isTransient(error)) {
        failure = error;
        throw error;
      }
    }
    if (isSettled(task.tracked, settle)) {
      foundSettled = true;
      opened.answer.close();
    } else if (periods >= maxSilences) throw new StreamStalledError(budget, silentMs, task.handle.id);
  }

  opened.listen((silence) => {
    // Two budgets may run out at once; one look answers both.
    looking ??= lookOnce(silence).finally(() => {
      looking = undefined;
    });
    return looking;
  });
  return {
    get foundSettled() {
      return foundSettled;
    },
    get failure() {
      return failure;
    },
  };
}
