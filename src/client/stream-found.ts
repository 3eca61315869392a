import { SendOutcomeUnknownError } from "../errors/sending.ts";
import { defined } from "../util/freeze.ts";
import type { HandleEntry } from "./handle.ts";
import type { SendOptions } from "./message.ts";
import { subscribeToTask } from "./reads.ts";
import type { Session } from "./session.ts";
import type { SettleRule } from "./settle.ts";
import type { HeldTaskStream } from "./stream.ts";

/** The stream of a task that a lost message was found in; where it has none any more, its handle is in the ledger. */
export async function streamFound(
  session: Session,
  found: HandleEntry,
  lost: { readonly options: SendOptions; readonly settle: SettleRule; readonly failure: unknown },
): Promise<HeldTaskStream> {
  const { options, settle, failure } = lost;
  const { signal, headers } = options;
  try {
    return await subscribeToTask(session, found, { settle, ...defined({ signal, headers }) });
  } catch {
    if (!(failure instanceof SendOutcomeUnknownError)) throw failure;
    const { messageId, cause } = failure;
    const { id: taskId, contextId } = found.handle;
    throw new SendOutcomeUnknownError({ messageId, taskId, ...defined({ contextId }) }, cause);
  }
}
