import { withSignal } from "../util/abort.ts";

/** What authenticates a card read. */
export interface CardCredentials {
  /** Headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Secret query parameters. */
  readonly query?: Readonly<Record<string, string>>;
}

/** Gives what authenticates a card read, or nothing when there is nothing to give. */
export type CardAuthorizer = (context: {
  readonly url: string;
  readonly challenge?: string;
  /** What was refused with the challenge. */
  readonly refused?: CardCredentials;
  readonly signal: AbortSignal;
}) => Promise<CardCredentials | undefined>;

/** A read without credentials. */
export const noCredentials: CardCredentials = Object.freeze({ headers: Object.freeze({}) });

/** Whoever gives credentials may not watch the signal; the budget of the read holds all the same. */
export function boundedAuthorizer(authorize: CardAuthorizer): CardAuthorizer {
  return (context) => withSignal(authorize(context), context.signal);
}
