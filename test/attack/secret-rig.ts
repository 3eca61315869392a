import { inspect } from "node:util";
import {
  type A2AClient,
  apiKey,
  basic,
  bearer,
  type ClientEventName,
  type Credentials,
  createClient,
  createCredentials,
  type SecurityScheme,
} from "a2a-lease";
import { oauthClientCredentials, oauthRefresh } from "a2a-lease/oauth";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { createWrittenLedger } from "../ledger/written.ts";
import { cardOf, createRawServer, type RawAnswer, type RawRequest, type RawServer } from "./raw-server.ts";

/** Every secret there is, each with a text of its own that nothing else can have. */
export const secrets = {
  bearer: "kx-bearer-5501977",
  header: "kx-header-5501978",
  query: "kx query/5501979",
  cookie: "kx-cookie-5501980",
  password: "kx-passw0rd-5501981",
  clientSecret: "kx-client-5501982",
  refreshToken: "kx-refresh-5501983",
  accessToken: "kx-access-5501984",
  ownHeader: "kx-private-5501985",
  callHeader: "kx-call-5501986",
  urlToken: "kx-url-5501987",
};
const base64 = btoa(`user:${secrets.password}`);
const planted = [...Object.values(secrets), encodeURIComponent(secrets.query), "kx+query", base64, "kx-"];

const scheme: Record<string, SecurityScheme> = {
  bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } },
  basic: { httpAuthSecurityScheme: { scheme: "Basic" } },
  header: { apiKeySecurityScheme: { location: "header", name: "x-acme" } },
  query: { apiKeySecurityScheme: { location: "query", name: "k" } },
  cookie: { apiKeySecurityScheme: { location: "cookie", name: "sid" } },
  oauth: { oauth2SecurityScheme: { flows: {} } },
};

const events: readonly ClientEventName[] = [
  ...(["lease-granted", "lease-renewed", "lease-repinned", "drift", "lease-ended", "deviation"] as const),
  ...(["retry", "credentials-chosen", "stream-cut", "stream-resumed"] as const),
];

/** Every way to authenticate that the tests have. */
export const kinds = ["plain", "bearer", "basic", "header", "query", "cookie", "oauth", "refresh"] as const;

function credentialsOf(kind: string, loginUrl: string): Credentials {
  const server = { tokenUrl: `${loginUrl}/token`, clientId: "me" };
  const { clientSecret, refreshToken } = secrets;
  const providers = {
    bearer: bearer(secrets.bearer),
    basic: basic({ username: "user", password: secrets.password }),
    header: apiKey(secrets.header),
    query: apiKey(secrets.query),
    cookie: apiKey(secrets.cookie),
    oauth: oauthClientCredentials({ ...server, clientSecret, clientAuthentication: "post" }),
    refresh: oauthRefresh({ ...server, clientSecret, refreshToken }),
  };
  if (kind === "plain") return { bearer: secrets.bearer };
  const { [kind as keyof typeof providers]: provider } = providers;
  return createCredentials({ [kind === "refresh" ? "oauth" : kind]: provider });
}

/** All that a request carried, in the ways that a server might give it back: as it was, decoded, and one by one. */
export function echoOf({ path, headers, body }: RawRequest): string {
  const decoded = /^Basic (.*)$/.exec(headers.authorization ?? "")?.[1];
  const parts = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const values = Object.values(headers).flatMap((value) => [value, String(value).split(" ").at(-1)]);
  const query = [...new URL(path, "http://h").searchParams.values()];
  return [path, ...parts, ...values, ...query, decoded ? atob(decoded) : "", body].join(" | ");
}

/** The answer to a JSON-RPC request. */
export const rpc = (request: RawRequest, answer: object): RawAnswer => ({
  body: { jsonrpc: "2.0", id: (JSON.parse(request.body) as { id: number }).id, ...answer },
});
/** A stream of frames. */
export const stream = (...frames: unknown[]): RawAnswer => ({
  headers: { "content-type": "text/event-stream" },
  body: frames
    .map((frame) => `data: ${typeof frame === "string" ? frame : JSON.stringify(frame)}\n\n`)
    .join(""),
});

/** Everything that shows of a value, errors with all of their causes. */
function shown(value: unknown): string {
  const lines = [
    inspect(value, { depth: 12, showHidden: true, maxStringLength: null, maxArrayLength: null }),
  ];
  for (let error = value; error instanceof Error; error = error.cause) {
    lines.push(error.message, error.stack ?? "", String(error), JSON.stringify(error) ?? "");
  }
  lines.push(JSON.stringify(value) ?? "");
  return lines.join("\n");
}

/** Fails where one of the secrets, or of other texts, shows. */
export function expectNoSecret(...values: unknown[]): void {
  const text = values.map(shown).join("\n");
  for (const secret of planted) {
    const at = text.indexOf(secret);
    if (at >= 0) expect.fail(`found ${secret} in …${text.slice(Math.max(0, at - 200), at + 60)}…`);
  }
}

/** What a card says that wants such credentials. */
export const wanted = (kind: string) => {
  const name = kind === "plain" ? "bearer" : kind === "refresh" ? "oauth" : kind;
  return {
    securitySchemes: { [name]: scheme[name] },
    securityRequirements: [{ schemes: { [name]: { list: [] } } }],
    capabilities: { streaming: true, pushNotifications: true },
  };
};

/** A client of which everything is kept that it tells and writes. */
export interface Watched {
  readonly client: A2AClient;
  readonly rows: readonly unknown[];
  readonly told: unknown[];
}

/** The servers of one test, and what was written to the console meanwhile. */
export interface SecretWorld {
  readonly home: RawServer;
  readonly login: RawServer;
  readonly written: unknown[];
  /** Serves a card that wants such credentials, and this answer to everything else. */
  serve(kind: string, answer: (request: RawRequest) => RawAnswer): void;
  connect(kind: string): Promise<Watched>;
}

/** Makes the servers anew for each test of a file. */
export function useSecretWorld(): SecretWorld {
  const written: unknown[] = [];
  let home: RawServer;
  let login: RawServer;

  beforeEach(async () => {
    written.length = 0;
    for (const name of ["log", "info", "warn", "error", "debug", "trace"] as const) {
      vi.spyOn(console, name).mockImplementation((...args) => void written.push(args));
    }
    home = await createRawServer();
    login = await createRawServer(() => ({
      body: { access_token: secrets.accessToken, token_type: "bearer", refresh_token: secrets.refreshToken },
    }));
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await Promise.all([home.close(), login.close()]);
  });

  return {
    get home() {
      return home;
    },
    get login() {
      return login;
    },
    written,
    serve(kind, answer) {
      const card = cardOf([`${home.url}/rpc?tenant=a`], wanted(kind));
      home.settings.answer = (request) => (request.method === "GET" ? { body: card } : answer(request));
    },
    async connect(kind) {
      const { ledger, written: rows } = createWrittenLedger();
      const client = await createClient(`${home.url}/card.json?token=${secrets.urlToken}`, {
        credentials: credentialsOf(kind, login.url),
        headers: { "x-private": secrets.ownHeader },
        ledger,
      });
      const told: unknown[] = [];
      for (const name of events) client.on(name, (event) => told.push(event));
      return { client, rows, told };
    },
  };
}
