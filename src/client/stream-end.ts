import { SendOutcomeUnknownError } from "../errors/sending.ts";
import { StreamInterruptedError } from "../errors/stream.ts";
import type { StreamResponse } from "../model/events.ts";
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
