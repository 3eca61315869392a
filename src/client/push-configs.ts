import type { TaskPushNotificationConfig } from "../model/push.ts";
import type { CallOptions } from "./call.ts";
import type { PushConfigInput } from "./push-input.ts";
import type { ListPushConfigsOptions, PushConfigPage } from "./push-page.ts";

/** The push configurations of one task: who is told of it while nobody asks. */
export interface PushConfigs {
  /**
   * Registers a webhook (3.1.7), after a check of the card. Resolves to what was sent: with the id, and with the secret
   * that was made for it, unless one was given.
   *
   * @throws AddressRefusedError for a URL that is not HTTPS or leads to a private address, unless that is allowed;
   * CapabilityMissingError where the card has no push notifications; nothing was sent then. CardDriftError,
   * LeaseUnverifiableError, TaskForgottenError, the ledger, protocol and transport errors.
   */
  create(config: PushConfigInput, options?: CallOptions): Promise<TaskPushNotificationConfig>;
  /**
   * Reads one (3.1.8), with a check of the card alongside.
   *
   * @throws TaskNotFoundError when there is none of that id; as {@link PushConfigs.create} does.
   */
  get(id: string, options?: CallOptions): Promise<TaskPushNotificationConfig>;
  /**
   * Lists them (3.1.9), with a check of the card alongside: a page, which can be iterated over all pages. Throws as
   * {@link PushConfigs.create} does, and MalformedResponseError where the pages go round in a circle,
   * LimitExceededError where they have no end.
   */
  list(options?: ListPushConfigsOptions): Promise<PushConfigPage>;
  /**
   * Removes one (3.1.10); one that is gone is no error. Depends on no card: leaving is always possible. From then on
   * the webhook refuses what is sent for it.
   *
   * @throws the ledger, protocol and transport errors.
   */
  delete(id: string, options?: CallOptions): Promise<void>;
}
