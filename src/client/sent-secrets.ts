import { credentialValues, namedParameters } from "../util/strike.ts";

/** The secrets that one client has sent, as the texts that an agent could repeat. */
export interface SentSecrets {
  /** The last ones, each of at least twelve characters; another list once there is one more. */
  readonly values: readonly string[];
  /** Those of them that no card may hold: all but those of URLs, which a card may name. */
  readonly unnamed: readonly string[];
  /** Notes what authenticates a request. */
  add(headers: Readonly<Record<string, string>>, query?: Readonly<Record<string, string>>): void;
  /** Notes those parameters of a URL whose names speak of a secret. Others are as likely the id of an agent. */
  addUrl(url: string): void;
}

/** How many are known at once: a token that was refreshed may come back in an older answer. */
const maxValues = 32;

interface Noted {
  readonly value: string;
  readonly isOfUrl: boolean;
}

/** Starts to note what is sent, with what the card's own URL holds. */
export function createSentSecrets(cardUrl = ""): SentSecrets {
  let noted: readonly Noted[] = [];
  let values: readonly string[] = Object.freeze([]);
  let unnamed: readonly string[] = values;

  function note(sent: readonly string[], isOfUrl: boolean): void {
    // What goes out again and again is kept, whatever else goes out meanwhile; lists that stay the same cost nothing.
    const recent = noted.slice(-maxValues / 2);
    const isRecent = (value: string) => recent.some((one) => one.value === value && one.isOfUrl <= isOfUrl);
    if (sent.every(isRecent)) return;
    const before = new Map(noted.map((one) => [one.value, one.isOfUrl]));
    const older = noted.filter(({ value }) => !sent.includes(value));
    const newer = sent.map((value) => ({ value, isOfUrl: isOfUrl && before.get(value) !== false }));
    noted = [...older, ...newer].slice(-maxValues);
    values = Object.freeze(noted.map(({ value }) => value));
    unnamed = Object.freeze(noted.filter((one) => !one.isOfUrl).map(({ value }) => value));
  }

  const add: SentSecrets["add"] = (headers, query) => note(credentialValues(headers, query), false);
  const addUrl: SentSecrets["addUrl"] = (url) => note(credentialValues({}, namedParameters(url)), true);
  addUrl(cardUrl);
  return {
    get values() {
      return values;
    },
    get unnamed() {
      return unnamed;
    },
    add,
    addUrl,
  };
}
