import { credentialValues, secretHeaders, secretParameters } from "../util/strike.ts";

/** The secrets that one client has sent, as the texts that an agent could repeat. */
export interface SentSecrets {
  /** The last ones, each of at least twelve characters; another list once there is one more. */
  readonly values: readonly string[];
  /** Notes what authenticates a request. */
  add(headers: Readonly<Record<string, string>>, query?: Readonly<Record<string, string>>): void;
  /** Notes those among the caller's own headers whose names speak of a secret. */
  addOwn(headers: Readonly<Record<string, string>>): void;
}

/** How many are known at once: a token that was refreshed may come back in an older answer. */
const maxValues = 32;

/** Starts to note what is sent, with what the card's own URL holds. */
export function createSentSecrets(cardUrl = ""): SentSecrets {
  let values: readonly string[] = Object.freeze([]);
  const add: SentSecrets["add"] = (headers, query) => {
    const sent = credentialValues(headers, query);
    if (sent.every((value) => values.includes(value))) return;
    const older = values.filter((value) => !sent.includes(value));
    values = Object.freeze([...older, ...sent].slice(-maxValues));
  };
  add({}, secretParameters(cardUrl));
  return {
    get values() {
      return values;
    },
    add,
    addOwn: (headers) => add(secretHeaders(headers)),
  };
}
