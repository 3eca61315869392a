import type { SecurityRequirement, SecurityScheme, SecuritySchemeKind } from "./security.ts";

/** What an agent wants for authentication, as far as its card says. */
export interface CredentialRequirements {
  /**
   * Alternatives; all schemes of one of them are needed together. Empty where the card asks for nothing. Where a call
   * needs skills that ask for more, each alternative is one of the card's with one of each skill's (4.4.5).
   */
  readonly alternatives: readonly SecurityRequirement[];
  /** The schemes by name. */
  readonly schemes: Readonly<Record<string, SecurityScheme>>;
}

/** One scheme of a requirement that was chosen. */
export interface ChosenScheme {
  /** Its name on the card; `""` for one that only a challenge named. */
  readonly name: string;
  /** Its kind. */
  readonly kind: SecuritySchemeKind;
  /** The scopes that the card asks for under it. */
  readonly scopes: readonly string[];
}

/** The requirement that credentials were chosen for: all of its schemes together. */
export interface ChosenRequirement {
  /** Its schemes. */
  readonly schemes: readonly ChosenScheme[];
}

/** The secrets that go on one request. */
export interface RequestCredentials {
  /** Headers. A cookie is the header `cookie`. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Query parameters. They are put on the URL at the moment of the request, so that the URL that errors and events tell
   * of never holds them.
   */
  readonly query?: Readonly<Record<string, string>>;
}

/** The scheme of a card that a provider is asked for. */
export interface RequestedScheme {
  /** Its name on the card. */
  readonly name: string;
  /** What the card says of it. */
  readonly scheme: SecurityScheme;
  /** The scopes that the card asks for. */
  readonly scopes: readonly string[];
}

/** What a credentials function is asked with. */
export interface CredentialContext {
  /** Origin that the credentials will go to, `"https://agent.example.com"`. */
  readonly origin: string;
  /** Whether they are for reading the card or for a call. */
  readonly purpose: "card" | "call";
  /** What the agent wants, as far as its card says. */
  readonly requirements: CredentialRequirements;
  /** The one scheme that is asked for; there where a requirement was chosen already, by `createCredentials`. */
  readonly scheme?: RequestedScheme;
  /** `WWW-Authenticate` of a refusal; there when the last credentials were not good enough. */
  readonly challenge?: string;
  /** The credentials that were refused, so that they are not given again. */
  readonly refused?: RequestCredentials;
  /** Aborted when the call is. */
  readonly signal: AbortSignal;
}

/** What a credentials function gives: the secrets, and which requirement they are for where it knows. */
export interface GivenCredentials extends RequestCredentials {
  /** The requirement that was chosen; told by the event `credentials-chosen` and by the errors of a refusal. */
  readonly requirement?: ChosenRequirement;
}

/** Gives the headers and query parameters that authenticate one request, or nothing when there are none to give. */
export type CredentialProvider = (context: CredentialContext) => Promise<GivenCredentials | undefined>;

/** A provider that knows which security schemes it can serve, so that it is found by the kind of a scheme too. */
export interface SchemeProvider extends CredentialProvider {
  /** What it is, for errors that say what the caller has: `"bearer"`, `"oauth2 client credentials"`. */
  readonly label: string;
  /** Whether it can serve a scheme that nobody named it for. */
  readonly serves: (scheme: SecurityScheme) => boolean;
  /**
   * Whether it may serve a scheme that it is named for, by the scheme's own name or that of its kind. What may not is
   * refused, and nothing is sent. @default what `serves` says
   */
  readonly fits?: (scheme: SecurityScheme) => boolean;
  /**
   * Names of the OAuth 2.0 flows by which its tokens come (4.5.7). Where a scheme has flows and none of these, it is chosen
   * only under the scheme's own name. @default whichever there are
   */
  readonly flows?: readonly string[];
}

/** Credentials: one bearer token, or a function that is asked for each request. */
export type Credentials = { readonly bearer: string } | CredentialProvider;
