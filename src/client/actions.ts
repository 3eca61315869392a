import { cancelTask } from "./cancel.ts";
import type { TaskDesk } from "./desk.ts";
import { followTask } from "./follow.ts";
import type { HandleActions, SendReply } from "./handle.ts";
import type { MessageInput, SendOptions } from "./message.ts";
import { createPushConfig, deletePushConfig, getPushConfig, listPushConfigs } from "./push.ts";
import { getTask, salvageTask, subscribeToTask } from "./reads.ts";
import { pinLiveCard } from "./renegotiate.ts";
import { resultOf } from "./result.ts";
import { sendMessage } from "./send.ts";
import { leaseOf, type Session } from "./session.ts";

/** Makes what handles have done for them. The desk is asked for late, since it is made with these. */
export function createHandleActions(
  session: Session,
  desk: () => TaskDesk,
  start: (input: MessageInput, options: SendOptions) => Promise<SendReply>,
): HandleActions {
  return {
    lease: (pin) => leaseOf(session, pin),
    get: (entry, options) => getTask(session, entry, options),
    subscribe: (entry, options) => subscribeToTask(session, entry, options),
    follow(entry, options) {
      const leaving = new AbortController();
      const parts = { settle: "question", left: leaving.signal } as const;
      const run = followTask(session, entry, options, parts);
      const leave = () => {
        // The end of a sequence that waits for its next update would wait with it.
        leaving.abort();
        return run.return(undefined);
      };
      return { next: () => run.next(), return: leave };
    },
    result: (entry, options) => resultOf(session, desk, entry, options),
    send: (entry, input, options) =>
      sendMessage(session, desk(), { holder: entry.holder, task: entry }, input, options),
    start,
    cancel: (entry, options) => cancelTask(session, entry, options),
    pushConfigs: (entry) => ({
      create: (config, options = {}) => createPushConfig(session, entry, config, { options }),
      get: (id, options = {}) => getPushConfig(session, entry, id, { options }),
      list: (options = {}) => listPushConfigs(session, entry, options),
      delete: (id, options = {}) => deletePushConfig(session, entry, id, options),
    }),
    salvage: (entry, options) => salvageTask(session, entry.holder, entry.handle.id, options),
    async renegotiate({ tracked, holder }, options) {
      const requirements = options.requires ?? holder.requirements;
      const { extended } = holder.pin;
      const pin = await pinLiveCard(session, "forced", requirements, options, extended);
      tracked.repin(pin, requirements);
      await tracked.commit();
      return desk().entry(tracked, { pin, requirements, policy: holder.policy }).handle;
    },
  };
}
