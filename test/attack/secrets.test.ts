import { inspect } from "node:util";
import {
  apiKey,
  basic,
  bearer,
  type ClientEventName,
  type Credentials,
  createClient,
  createCredentials,
  createMemoryLedger,
  type Ledger,
  type SecurityScheme,
} from "a2a-lease";
import { oauthClientCredentials, oauthRefresh } from "a2a-lease/oauth";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  cardOf,
  createRawServer,
  type RawAnswer,
  type RawRequest,
  type RawServer,
  taskAnswer,
} from "./raw-server.ts";

/** Every secret there is, each with a text of its own that nothing else can have. */
const secrets = {
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

let home: RawServer;
let login: RawServer;
const events: ClientEventName[] = [
  ...(["lease-granted", "lease-renewed", "lease-repinned", "drift", "lease-ended", "deviation"] as const),
  ...(["retry", "credentials-chosen", "stream-cut", "stream-resumed"] as const),
];
const written: unknown[] = [];

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

function credentialsOf(kind: string): Credentials {
  const server = { tokenUrl: `${login.url}/token`, clientId: "me" };
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
function echoOf({ path, headers, body }: RawRequest): string {
  const decoded = /^Basic (.*)$/.exec(headers.authorization ?? "")?.[1];
  const parts = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const values = Object.values(headers).flatMap((value) => [value, String(value).split(" ").at(-1)]);
  const query = [...new URL(path, "http://h").searchParams.values()];
  return [path, ...parts, ...values, ...query, decoded ? atob(decoded) : "", body].join(" | ");
}

const rpc = (request: RawRequest, answer: object): RawAnswer => ({
  body: { jsonrpc: "2.0", id: (JSON.parse(request.body) as { id: number }).id, ...answer },
});
const stream = (...frames: unknown[]): RawAnswer => ({
  headers: { "content-type": "text/event-stream" },
  body: frames
    .map((frame) => `data: ${typeof frame === "string" ? frame : JSON.stringify(frame)}\n\n`)
    .join(""),
});
const oneLine = (text: string) => text.replace(/[^\x20-\x7e]/g, " ").replaceAll('"', "'");

/** Ways of an agent to give back what it was sent. */
const echoes: Record<string, (request: RawRequest) => RawAnswer> = {
  "a JSON-RPC error": (request) =>
    rpc(request, {
      error: {
        code: -32602,
        message: echoOf(request),
        data: [{ note: echoOf(request), reason: echoOf(request) }],
      },
    }),
  "an unknown error": (request) => rpc(request, { error: { code: -32099, message: echoOf(request) } }),
  "a gateway's code": (request) => rpc(request, { error: { code: 502, message: echoOf(request) } }),
  "a 401": (request) => ({
    status: 401,
    headers: { "www-authenticate": `Bearer realm="${oneLine(echoOf(request))}"` },
    body: echoOf(request),
  }),
  "a 403": (request) => ({
    status: 403,
    headers: { "www-authenticate": oneLine(echoOf(request)) },
    body: { error: { message: echoOf(request) } },
  }),
  "a 400": (request) => ({ status: 400, body: echoOf(request) }),
  "a 500 page": (request) => ({
    status: 500,
    headers: { "content-type": "text/html" },
    body: `<html>${echoOf(request)}`,
  }),
  "no JSON": (request) => ({ body: `{${echoOf(request)}` }),
  "no JSON by name": (request) => ({ headers: { "content-type": "text/plain" }, body: echoOf(request) }),
  "a wrong result": (request) =>
    rpc(request, { result: { task: { id: 5, status: echoOf(request), [echoOf(request)]: 1 } } }),
  "another id": (request) => ({ body: { jsonrpc: "2.0", id: echoOf(request), result: {} } }),
  "a redirect": (request) => ({
    status: 302,
    headers: { location: `https://evil.example/?x=${encodeURIComponent(echoOf(request))}` },
  }),
  "a redirect as it is": (request) => ({
    status: 302,
    headers: { location: `https://evil.example/${oneLine(echoOf(request)).replaceAll(" ", "_")}` },
  }),
  "a media type": (request) => ({
    headers: { "content-type": `x/${oneLine(echoOf(request)).slice(0, 2000)}` },
    body: "x",
  }),
  "unusable frames": (request) => stream(echoOf(request), { [echoOf(request)]: 1 }),
  "an error frame": (request) => {
    const { id } = JSON.parse(request.body) as { id: number };
    return stream({ jsonrpc: "2.0", id, error: { code: -32603, message: echoOf(request) } });
  },
  "lines of no event": (request) => ({
    headers: { "content-type": "text/event-stream" },
    body: `${echoOf(request)}\n\n`,
  }),
};

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

function expectNoSecret(...values: unknown[]): void {
  const text = values.map(shown).join("\n");
  for (const secret of planted) {
    const at = text.indexOf(secret);
    if (at >= 0) expect.fail(`found ${secret} in …${text.slice(Math.max(0, at - 200), at + 60)}…`);
  }
}

/** A client whose every event and ledger row is kept. */
async function connect(kind: string) {
  const rows: unknown[] = [];
  const inner = createMemoryLedger();
  const ledger: Ledger = {
    ...inner,
    write(key, record, revision) {
      rows.push(key, record);
      return inner.write(key, record, revision);
    },
  };
  const client = await createClient(`${home.url}/card.json?token=${secrets.urlToken}`, {
    credentials: credentialsOf(kind),
    headers: { "x-private": secrets.ownHeader },
    ledger,
  });
  const told: unknown[] = [];
  for (const name of events) client.on(name, (event) => told.push(event));
  return { client, rows, told };
}

const wanted = (kind: string) => {
  const name = kind === "plain" ? "bearer" : kind === "refresh" ? "oauth" : kind;
  return {
    securitySchemes: { [name]: scheme[name] },
    securityRequirements: [{ schemes: { [name]: { list: [] } } }],
  };
};

describe.each(["plain", "bearer", "basic", "header", "query", "cookie", "oauth", "refresh"])(
  "a secret (%s)",
  (kind) => {
    const serve = (answer: (request: RawRequest) => RawAnswer) => {
      const card = cardOf([`${home.url}/rpc?tenant=a`], wanted(kind));
      home.settings.answer = (request) => (request.method === "GET" ? { body: card } : answer(request));
    };

    test.each(Object.entries(echoes))("that comes back in %s shows nowhere", async (_how, echo) => {
      serve(echo);
      const { client, rows, told } = await connect(kind);
      const call = { headers: { "x-mine": secrets.callHeader } };
      const failures = [
        await client.sendMessage("x", call).catch((error: unknown) => error),
        await client.sendStreamingMessage("x", call).then(
          async (open) => {
            try {
              for await (const _event of open);
            } catch (error) {
              return [error, open.skipped];
            }
            return open.skipped;
          },
          (error: unknown) => error,
        ),
        await client.getTask({ id: "t1" }, call).catch((error: unknown) => error),
        await client.delegate("x", { ...call, deadlineMs: 1 }).catch((error: unknown) => error),
      ];

      expect(JSON.stringify(home.log)).toContain("kx-");
      expectNoSecret(failures, rows, told, written, client.card);
    });

    test("that went out with a call that was answered well shows nowhere", async () => {
      serve(taskAnswer);
      const { client, rows, told } = await connect(kind);
      const reply = await client.sendMessage("x", { headers: { "x-mine": secrets.callHeader } });

      expect(told.length).toBeGreaterThan(0);
      expectNoSecret(reply, "task" in reply ? reply.task.toJSON() : reply, rows, told, written, client.pin);
    });

    test("that a card or its refusal gives back shows nowhere", async () => {
      const card = cardOf([`${home.url}/rpc`], wanted(kind));
      for (const answer of [
        (request: RawRequest): RawAnswer => ({ body: { ...card, description: echoOf(request) } }),
        echoes["a 401"],
        echoes["a 403"],
        echoes["a redirect"],
        echoes["a redirect as it is"],
        echoes["no JSON"],
        echoes["a 500 page"],
      ]) {
        let reads = 0;
        home.settings.answer = (request) => {
          reads += 1;
          if (reads === 1) return { status: 401, headers: { "www-authenticate": "Bearer, Basic" } };
          return answer?.(request) ?? {};
        };
        const found = await connect(kind).catch((error: unknown) => error);
        expectNoSecret(found instanceof Error ? found : (found as { told: unknown }).told, written);
      }
    });
  },
);

test.each([
  [
    "in the body",
    (request: RawRequest): RawAnswer => ({
      status: 400,
      body: { error: "invalid_request", error_description: echoOf(request) },
    }),
  ],
  ["as the code", (request: RawRequest): RawAnswer => ({ status: 400, body: { error: echoOf(request) } })],
  [
    "in a challenge",
    (request: RawRequest): RawAnswer => ({
      status: 401,
      headers: { "www-authenticate": `Basic realm="a", error="${oneLine(echoOf(request))}"` },
    }),
  ],
  [
    "in a redirect",
    (request: RawRequest): RawAnswer => ({
      status: 302,
      headers: { location: `/${encodeURIComponent(echoOf(request))}` },
    }),
  ],
  ["in no JSON", (request: RawRequest): RawAnswer => ({ body: echoOf(request) })],
  [
    "in a wrong token",
    (request: RawRequest): RawAnswer => ({
      body: { access_token: `${secrets.accessToken} ${echoOf(request)}`, token_type: "bearer" },
    }),
  ],
])("a client secret that a token answer gives back %s shows nowhere", async (_how, answer) => {
  home.settings.answer = (request) =>
    request.method === "GET" ? { body: cardOf([`${home.url}/rpc`], wanted("oauth")) } : taskAnswer(request);
  login.settings.answer = answer;
  for (const kind of ["oauth", "refresh"]) {
    const { client, rows, told } = await connect(kind);
    const error: unknown = await client.sendMessage("x").catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ code: "TOKEN_REQUEST" });
    expectNoSecret(error, rows, told, written);
  }
});
