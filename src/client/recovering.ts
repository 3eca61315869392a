import type { TaskRecord } from "../model/record.ts";
import type { OpenIntents, OpenIntentsQuery } from "../model/recovery.ts";
import type { CallOptions } from "./call.ts";
import type { EntryContext } from "./entry.ts";
import type { TaskHandle } from "./handle.ts";
import { listOpenIntents, type Recovery, recoverMessage } from "./outbox.ts";
import { PushClient } from "./push-client.ts";
import { resumeTask } from "./resume.ts";

/** What a client does about work that another process, or a lost answer, left behind. */
export abstract class RecoveringClient extends PushClient {
  readonly #context: () => EntryContext;

  /** @internal */
  constructor(context: () => EntryContext) {
    super(context);
    this.#context = context;
  }

  /**
   * Finds out what became of a message, by the agent's list of tasks (3.1.4): in its context, in the time since it was
   * sent, and by the message's id in the histories. Sends nothing. That it is not there is said only where the list was
   * read to its end, every task in it shows whose messages it holds, and others of ours are among them.
   *
   * @throws CardDriftError and LeaseUnverifiableError, since the list is read under the client's plan;
   * LifecycleMismatchError when what was found breaks a rule; the ledger, protocol and transport errors.
   */
  recover(messageId: string, options: CallOptions = {}): Promise<Recovery> {
    return recoverMessage(this.#context(), messageId, options);
  }

  /**
   * Lists the messages of which the ledger does not know what became of them, in this process or another: what a crash
   * left behind. {@link RecoveringClient.recover} finds out, one by one.
   *
   * @throws LedgerUnavailableError; TypeError for a query that is none.
   */
  openIntents(query: OpenIntentsQuery = {}): Promise<OpenIntents> {
    return listOpenIntents(this.#context().session, query);
  }

  /**
   * Goes on with a task that another process, or this one before it ended, held: by its record, as `handle.toJSON()`
   * gave it, or by its id, from the ledger. Its pin, requirements, last state and what was seen of it come back, and the
   * card is read in full first: a difference since is a drift. A record is read as the work of a stranger.
   *
   * @throws CardDriftError, whose `renegotiate` gives a handle under the live card; LeaseUnverifiableError.
   * @throws LedgerUnavailableError, with the reason `schema` for a record of another version of this library and `corrupt`
   * for what is no record; LedgerConflictError.
   * @throws TypeError for a record of another agent or principal, and for an id that the ledger does not know.
   */
  async resume(record: TaskRecord | string, options: CallOptions = {}): Promise<TaskHandle> {
    const { handle } = await resumeTask(this.#context(), record, options);
    return handle;
  }
}
