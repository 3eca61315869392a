import type { Message } from "../model/message.ts";
import type { Task } from "../model/task.ts";

/**
 * A task that was seen, frozen. Where the answer could leave some of its history out (3.2.4), what is missing there is
 * unknown and not gone: the messages that were known before stay.
 */
export function keepHistory(known: Task | undefined, seen: Task, isTrimmed = false): Task {
  if (!isTrimmed) return Object.freeze(seen);
  const { history: shown, ...rest } = seen;
  const history = joinHistory(known?.history, shown);
  return Object.freeze({ ...rest, ...(history === undefined ? {} : { history }) });
}

/** Messages that came before are kept in front of the first one that both have. */
function joinHistory(
  known: readonly Message[] | undefined,
  seen: readonly Message[] | undefined,
): readonly Message[] | undefined {
  const [first] = seen ?? [];
  if (!known || !first || !seen) return first ? seen : known;
  const at = known.findIndex(({ messageId }) => messageId === first.messageId);
  // Where nothing is shared there may be a gap, and a history with a hole in it would be none.
  if (at < 0) return seen;
  return at + seen.length < known.length ? known : Object.freeze([...known.slice(0, at), ...seen]);
}
