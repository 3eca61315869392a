import { AuthenticationError, AuthorizationError } from "../errors/auth.ts";
import { A2ALeaseError } from "../errors/base.ts";
import { CapabilityMissingError, CardDriftError, LeaseUnverifiableError } from "../errors/lease.ts";
import { LifecycleMismatchError, TaskForgottenError, TaskTerminalError } from "../errors/lifecycle.ts";
import { TaskNotFoundError } from "../errors/protocol.ts";
import { SendOutcomeUnknownError } from "../errors/sending.ts";
import { HttpStatusError } from "../errors/transport.ts";
import { isTerminalState } from "../model/states.ts";
import { defined } from "../util/freeze.ts";
import type { CallOptions } from "./call.ts";
import { forgotten } from "./forgotten.ts";
import type { HandleEntry } from "./handle.ts";
import { getTask } from "./reads.ts";
import type { Session } from "./session.ts";
import type { Delivery } from "./stream-parts.ts";
import { isUnknownOutcome } from "./surprise.ts";

/** A message that starts a task has nothing to explain its refusal by; one to a known task has the task itself. */
export function createDelivery(
  session: Session,
  task: HandleEntry | undefined,
  options: CallOptions,
): Delivery {
  const takeBack = task?.tracked.answer();
  let isTaken = false;
  const meanings = new Map<unknown, Promise<unknown>>();

  function meaningOf(error: unknown): Promise<unknown> {
    const meaning = meanings.get(error) ?? readAgain(session, task, { error, options });
    meanings.set(error, meaning);
    return meaning;
  }

  return {
    async lookAgain() {
      if (!task) return;
      const { signal, headers } = options;
      try {
        await getTask(session, task, defined({ signal, headers }));
      } catch (error) {
        const isOfTheRead = error instanceof A2ALeaseError && !broken.some((type) => error instanceof type);
        if (!isOfTheRead) throw error;
      }
    },
    taken() {
      isTaken = true;
    },
    // That the task is not there any more is no explanation: another card would give it the same way.
    explains: async (error) => !(error instanceof TaskNotFoundError) && (await meaningOf(error)) !== error,
    async failed(error) {
      if (!isTaken && !isPerhapsTaken(error, options)) takeBack?.();
      return isTaken ? error : meaningOf(error);
    },
  };
}

/** Errors of a look that are no fault of the look. */
const broken = [CardDriftError, LifecycleMismatchError];

/** Errors of a second look that say more than the refusal that led to it. */
const telling = [CardDriftError, LeaseUnverifiableError, LifecycleMismatchError, TaskForgottenError];

/**
 * Agents refuse a message to a finished task by three codes and any number of texts, so the task itself is asked
 * (3.1.1). Nothing is sent again.
 */
async function readAgain(
  session: Session,
  entry: HandleEntry | undefined,
  { error, options }: { readonly error: unknown; readonly options: CallOptions },
): Promise<unknown> {
  if (!entry || !isRefusal(error)) return error;
  if (error instanceof TaskNotFoundError) return forgotten(entry.handle.task, error);
  const { signal, headers } = options;
  try {
    await getTask(session, entry, defined({ signal, headers }), true);
  } catch (found) {
    return telling.some((type) => found instanceof type) ? found : error;
  }
  const { id, state } = entry.handle;
  return isTerminalState(state) ? new TaskTerminalError(id, state, error) : error;
}

/** Whether the agent said no to the message itself, and did not take it. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof A2ALeaseError) || isUnknownOutcome(error)) return false;
  if (error instanceof AuthenticationError || error instanceof AuthorizationError) return false;
  if (error instanceof HttpStatusError) return error.status >= 400 && error.status !== 429;
  // Every error that an agent answers by protocol names the operation.
  return "operation" in error && !(error instanceof CapabilityMissingError);
}

function isPerhapsTaken(error: unknown, { signal }: CallOptions): boolean {
  if (signal?.aborted) return true;
  const cause = error instanceof A2ALeaseError ? error.cause : undefined;
  return error instanceof SendOutcomeUnknownError || cause instanceof SendOutcomeUnknownError;
}
