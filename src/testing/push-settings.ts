import { checkOptions, type OptionKinds } from "../util/options.ts";

/** One push notification on its way out. */
export interface OutgoingPush {
  /** The task. */
  readonly taskId: string;
  /** Identifier of the push configuration. */
  readonly configId: string;
  /** The how-manieth notification of the task to that configuration it is, from 1. */
  readonly nth: number;
  /** Where it goes. */
  readonly url: string;
  /** Headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body, as text. */
  readonly body: string;
}

/** How push notifications are sent. Everything that is left out is as the spec asks for it. */
export interface PushBehaviour {
  /**
   * What is sent: the event as a stream would bring it (4.3.3), or the bare task as it is after the event, as agents of
   * protocol version 0.3 do. @default "stream-response"
   */
  readonly payload?: "stream-response" | "task";
  /** How many times each notification is sent, one after the other; 0 drops them all. @default 1 */
  readonly copies?: number;
  /**
   * How many notifications are gathered and then sent last one first. What was gathered when the task is over or asks
   * is sent too. @default 1, which keeps the order
   */
  readonly reverse?: number;
  /** `X-A2A-Notification-Token` in place of the configured token; `null` leaves it out. @default the configured one */
  readonly token?: string | null | undefined;
  /** `Authorization` in place of the configured one; `null` leaves it out. @default the configured one */
  readonly authorization?: string | null | undefined;
  /**
   * Changes each notification: what it returns is sent in its place, none, one or many; `undefined` leaves it as it is.
   * Comes last, before the copies. @default none
   */
  readonly edit?:
    | ((
        push: OutgoingPush,
      ) =>
        | OutgoingPush
        | readonly OutgoingPush[]
        | undefined
        | Promise<OutgoingPush | readonly OutgoingPush[] | undefined>)
    | undefined;
  /** How many more times one is sent that fails or is not answered with 2xx. @default 1 */
  readonly retries?: number;
  /** Milliseconds on the agent's clock before it is sent once more. @default 0 */
  readonly retryDelayMs?: number;
  /** Milliseconds on the agent's clock that the webhook has to answer. @default 10000 */
  readonly timeoutMs?: number;
}

/** The behaviour with nothing left out. */
export type ResolvedPushes = { readonly [K in keyof PushBehaviour]-?: PushBehaviour[K] };

/** The behaviour that holds where none is given. */
export const defaultPushes: ResolvedPushes = Object.freeze({
  payload: "stream-response",
  copies: 1,
  reverse: 1,
  token: undefined,
  authorization: undefined,
  edit: undefined,
  retries: 1,
  retryDelayMs: 0,
  timeoutMs: 10_000,
});

const kinds: OptionKinds<PushBehaviour> = Object.freeze({
  payload: ["stream-response", "task"],
  copies: "any",
  reverse: "any",
  token: "any",
  authorization: "any",
  edit: "function",
  retries: "any",
  retryDelayMs: "amount",
  timeoutMs: "amount",
});

/** What of some changes was given: `undefined` takes a setting back that has no value by default, and is none else. */
export function given<T extends object>(
  changes: T,
  defaults: { readonly [K in keyof T]-?: T[K] },
): Partial<T> {
  const byName: Readonly<Record<string, unknown>> = { ...defaults };
  const kept = Object.entries(changes).filter(
    ([name, value]) => value !== undefined || byName[name] === undefined,
  );
  return Object.fromEntries(kept) as Partial<T>;
}

const least = Object.freeze({ copies: 0, reverse: 1, retries: 0 });

/**
 * Lays changes over the behaviour.
 *
 * @throws TypeError for a member that does not exist, and for a value that it can't have.
 */
export function changePushes(pushes: ResolvedPushes, changes: PushBehaviour): ResolvedPushes {
  checkOptions(changes, kinds, "pushes");
  const changed = { ...pushes, ...given(changes, defaultPushes) };
  for (const name of ["copies", "reverse", "retries"] as const) {
    if (Number.isInteger(changed[name]) && changed[name] >= least[name]) continue;
    throw new TypeError(`pushes.${name} must be an integer from ${least[name]}, found ${changed[name]}`);
  }
  return Object.freeze(changed);
}
