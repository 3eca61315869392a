import { SendOutcomeUnknownError } from "../errors/sending.ts";
import { StreamInterruptedError } from "../errors/stream.ts";
import { LimitExceededError } from "../errors/transport.ts";
import type { StreamResponse } from "../model/events.ts";
import type { IntentRecord } from "../model/record.ts";
import { defined } from "../util/freeze.ts";
import type { HandleEntry } from "./handle.ts";
import type { TaskStreamParts } from "./stream-parts.ts";

/** What a stream that ends too early is; one that a send opened, and that showed nothing, tells nothing of the send. */
export async function cutError(
  { sent, opened, session }: TaskStreamParts,
  task: HandleEntry | undefined,
  { eventCount, cause }: { readonly eventCount: number; readonly cause: unknown },
): Promise<Error> {
  const about = defined({ taskId: task?.handle.id });
  session.observer.emit("stream-cut", { ...about, eventCount });
  const facts = { ...about, ...defined({ lastState: task?.tracked.last?.state, cause }) };
  const interrupted = new StreamInterruptedError({ eventCount, ...facts });
  if (!sent || eventCount > 0) return interrupted;
  await opened.intent?.close("unknown");
  return new SendOutcomeUnknownError(sent.message, interrupted);
}

/** What a message was answered with, by the first event of its stream. */
export function answerOf(task: HandleEntry | undefined): IntentRecord["answer"] {
  return task ? { taskId: task.handle.id } : { message: true };
}

/** Whose an event is. */
export function identityOf(event: Exclude<StreamResponse, { message: unknown }>) {
  if ("task" in event) return { taskId: event.task.id, contextId: event.task.contextId };
  const { taskId, contextId } = "statusUpdate" in event ? event.statusUpdate : event.artifactUpdate;
  return { taskId, contextId };
}

/** What is wrong with an event where it stands: the first of all, or one after a message in place of a task. */
export function misplacedBy(event: StreamResponse, isFirst: boolean): string {
  const [found] = Object.keys(event);
  return isFirst
    ? `found ${found} first, wanted a task or a message`
    : `found ${found} after a message in place of a task, wanted nothing`;
}

/** Events without any news that may come in a row: a day of an agent that repeats itself each second. */
const maxRepeats = 100_000;

/**
 * Watches that repetitions do not go on for ever. It is told of each event whether that was news, and says it again.
 *
 * @throws LimitExceededError when too many in a row were none.
 */
export function createNewsBound(): (isNew: boolean) => boolean {
  let repeats = 0;
  return (isNew) => {
    repeats = isNew ? 0 : repeats + 1;
    if (repeats <= maxRepeats) return isNew;
    throw new LimitExceededError("events", maxRepeats, `${repeats} events in a row without any news`);
  };
}
