import { TimeoutError } from "../errors/transport.ts";
import type { TaskRecord } from "../model/record.ts";
import { createScope } from "../util/abort.ts";
import { type CallOptions, checkCallOptions } from "./call.ts";
import { checkLease } from "./check.ts";
import type { EntryContext } from "./entry.ts";
import type { HandleEntry } from "./handle.ts";
import { defaultReadMs } from "./options.ts";
import { readTaskRecord } from "./read-record.ts";

/**
 * Goes on with a task that another process held. What is known of it comes back as it was written down, and the card is
 * read in full before anybody works with it.
 */
export async function resumeTask(
  { session, desk }: EntryContext,
  given: TaskRecord | string,
  options: CallOptions,
): Promise<HandleEntry> {
  checkCallOptions(options);
  const entry =
    typeof given === "string" ? await desk.find(given) : await desk.restore(readTaskRecord(session, given));
  if (!entry) {
    throw new TypeError(
      `taskId: the ledger has no record of task ${JSON.stringify(given)}; task(id) makes one`,
    );
  }
  const { holder } = entry;
  const totalMs = options.timeoutMs ?? session.options.timeouts.totalMs ?? defaultReadMs;
  const scope = createScope(session.clock, [options.signal, session.closed]);
  scope.deadline(totalMs, () => new TimeoutError(session.source.url ?? "", "total", totalMs));
  try {
    if (holder.ended) throw holder.ended;
    // Whoever held it before may have checked a moment ago; this process has not.
    const phase = { operation: "resume", check: "forced" } as const;
    await checkLease(session, { holder, requirements: holder.requirements, phase, signal: scope.signal });
  } finally {
    scope.release();
  }
  return entry;
}
