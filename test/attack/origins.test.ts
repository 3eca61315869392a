import {
  apiKey,
  basic,
  bearer,
  type Credentials,
  createClient,
  createCredentials,
  pinCard,
  type SecurityScheme,
} from "a2a-lease";
import { oauthClientCredentials } from "a2a-lease/oauth";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { cardOf, cardPath, createRawServer, type RawServer, taskAnswer } from "./raw-server.ts";

const secret = "s3cr3t-0123456789-abcdef";
const encoded = btoa(`user:${secret}`);
const redirects = [301, 302, 303, 307, 308];

/** Credentials of every kind, each with the scheme that a card has for it. */
const kinds: readonly (readonly [string, Credentials, SecurityScheme])[] = [
  ["bearer", { bearer: secret }, { httpAuthSecurityScheme: { scheme: "Bearer" } }],
  [
    "bearer by scheme",
    createCredentials({ s: bearer(secret) }),
    { httpAuthSecurityScheme: { scheme: "bearer" } },
  ],
  [
    "basic",
    createCredentials({ s: basic({ username: "user", password: secret }) }),
    { httpAuthSecurityScheme: { scheme: "basic" } },
  ],
  [
    "header",
    createCredentials({ s: apiKey(secret) }),
    { apiKeySecurityScheme: { location: "header", name: "x-k" } },
  ],
  [
    "cookie",
    createCredentials({ s: apiKey(secret) }),
    { apiKeySecurityScheme: { location: "cookie", name: "sid" } },
  ],
  [
    "query",
    createCredentials({ s: apiKey(secret) }),
    { apiKeySecurityScheme: { location: "query", name: "k" } },
  ],
];

let home: RawServer;
let evil: RawServer;

beforeEach(async () => {
  home = await createRawServer();
  evil = await createRawServer((request) =>
    request.method === "GET" ? { body: cardOf([`${evil.url}/rpc`]) } : taskAnswer(request),
  );
});

afterEach(async () => {
  expect(JSON.stringify(evil.log)).not.toMatch(new RegExp(`${secret}|${encoded}`));
  await Promise.all([home.close(), evil.close()]);
});

/** Serves a card at home that points where it is told to; calls at home are answered. */
function serve(urls: readonly string[], more: Readonly<Record<string, unknown>> = {}): void {
  const body = cardOf(urls, more);
  home.settings.answer = (request) => (request.method === "GET" ? { body } : taskAnswer(request));
}

const wants = (scheme: SecurityScheme) => ({
  securitySchemes: { s: scheme },
  securityRequirements: [{ schemes: { s: { list: [] } } }],
});
const own = { "x-private": secret };
const connect = (credentials: Credentials, more: Parameters<typeof createClient>[1] = {}) =>
  createClient(home.url, { credentials, headers: own, ...more });

describe.each(kinds)("a secret (%s)", (_kind, credentials, scheme) => {
  test("reaches the card's own origin, so that these tests can fail", async () => {
    serve([`${home.url}/rpc`], wants(scheme));
    const client = await connect(credentials);
    await client.sendMessage("x", { headers: { "x-mine": secret } });

    expect(JSON.stringify(home.log)).toMatch(new RegExp(`${secret}|${encoded}`));
    const call = home.log.find(({ method }) => method === "POST");
    expect(call?.headers).toMatchObject({ "x-private": secret, "x-mine": secret });
  });

  test.each(redirects)("does not follow a call that is redirected by %i", async (status) => {
    serve([`${home.url}/rpc`], wants(scheme));
    const client = await connect(credentials);
    home.settings.answer = ({ method }) =>
      method === "GET"
        ? { body: cardOf([`${home.url}/rpc`], wants(scheme)) }
        : { status, headers: { location: `${evil.url}/rpc` } };

    const sent = await caught(client.sendMessage("x"));
    const streamed = await caught(client.sendStreamingMessage("x"));

    const names = [sent, streamed].map(
      (error) => (error as { cause?: Error }).cause?.name ?? (error as Error).name,
    );
    expect(names).toEqual(["RedirectRefusedError", "RedirectRefusedError"]);
    expect(evil.log).toEqual([]);
  });

  test.each(redirects)("does not follow a card that is redirected by %i", async (status) => {
    home.settings.answer = () => ({ status, headers: { location: `${evil.url}${cardPath}` } });

    const error = await caught(connect(credentials, { cardCredentials: "always" }));

    expect(error).toMatchObject({ name: "RedirectRefusedError" });
    expect(evil.log).toEqual([]);
  });

  test("stays here where the card points a call elsewhere", async () => {
    serve([`${evil.url}/rpc`], wants(scheme));
    const client = await connect(credentials);

    expect(await caught(client.sendMessage("x"))).toMatchObject({ name: "CredentialOriginError" });
    expect(evil.log).toEqual([]);
  });

  test("stays here where the other origin asks for it", async () => {
    serve([`${evil.url}/rpc`]);
    evil.settings.answer = () => ({ status: 401, headers: { "www-authenticate": "Bearer, Basic" } });
    const client = await connect(credentials);

    await caught(client.sendMessage("x", { headers: { "x-mine": secret } }));
    expect(evil.log.length).toBeGreaterThan(0);
  });

  test("does not go along to the next interface of the card", async () => {
    for (const demands of [wants(scheme), {}]) {
      serve([`${home.url}/rpc`, `${evil.url}/rpc`], demands);
      const refused = Object.assign(new TypeError("fetch failed"), {
        cause: Object.assign(new TypeError("refused"), { code: "ECONNREFUSED" }),
      });
      const client = await connect(credentials, {
        fetch: (url, init) =>
          url.startsWith(`${home.url}/rpc`) ? Promise.reject(refused) : fetch(url, init),
      });
      await client.sendMessage("x", { headers: { "x-mine": secret } }).catch(() => {});
    }
    expect(evil.log.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  test("does not go along when the interface moves, nor when that is adopted", async () => {
    serve([`${home.url}/rpc`], wants(scheme));
    const client = await connect(credentials, { posture: { onDrift: "degrade", restartable: true } });
    serve([`${evil.url}/rpc`], wants(scheme));

    expect(await caught(client.sendMessage("x"))).toMatchObject({ name: "CardDriftError" });
    await client.renegotiate();
    expect(await caught(client.sendMessage("x"))).toMatchObject({ name: "CredentialOriginError" });
    expect(evil.log).toEqual([]);
  });

  test("does not go where a pin from elsewhere points", async () => {
    serve([`${home.url}/rpc`]);
    const pin = pinCard(cardOf([`${evil.url}/rpc`], wants(scheme)));
    const client = await connect(credentials, { pin });

    await caught(client.sendMessage("x"));
    await client.getTask({ id: "t1" }).catch(() => {});
    expect(evil.log).toEqual([]);
  });

  test("does not go where an extended card points", async () => {
    const more = { ...wants(scheme), capabilities: { extendedAgentCard: true } };
    const card = cardOf([`${home.url}/rpc`], more);
    home.settings.answer = (request) => {
      if (request.method === "GET") return { body: card };
      const { id, method } = JSON.parse(request.body) as { id: number; method: string };
      if (method !== "GetExtendedAgentCard") return taskAnswer(request);
      return { body: { jsonrpc: "2.0", id, result: cardOf([`${evil.url}/rpc`], more) } };
    };
    const client = await connect(credentials);
    await client.getExtendedAgentCard();
    await client.sendMessage("x").catch(() => {});

    expect(evil.log).toEqual([]);
  });
});

describe("an interface", () => {
  const spellings: readonly ((host: string) => string)[] = [
    (port) => `http://127.0.0.1:${port}/rpc`,
    (port) => `http://localhost:${port}/rpc`,
    (port) => `HTTP://LOCALHOST:${port}/rpc`,
    (port) => `http://127.0.0.1.:${port}/rpc`,
    (port) => `http://2130706433:${port}/rpc`,
    (port) => `http://0x7f000001:${port}/rpc`,
    (port) => `http://0177.0.0.1:${port}/rpc`,
    (port) => `http://127.1:${port}/rpc`,
    (port) => `http:\\\\127.0.0.1:${port}\\rpc`,
    (port) => `http:127.0.0.1:${port}/rpc`,
    (port) => `http://127.0.0.1\t:${port}/rpc`,
    (port) => ` http://127.0.0.1:${port}/rpc`,
    (port) => `http://①②⑦.0.0.1:${port}/rpc`,
    (port) => `//127.0.0.1:${port}/rpc`,
    (port) => `http://[::ffff:127.0.0.1]:${port}/rpc`,
  ];
  const disguises: readonly ((host: string, port: string) => string)[] = [
    (host, port) => `http://${host}@127.0.0.1:${port}/rpc`,
    (host, port) => `http://${host}%40127.0.0.1:${port}/rpc`,
    (host, port) => `http://${host}\\@127.0.0.1:${port}/rpc`,
    (host, port) => `http://127.0.0.1:${port}/${host}`,
    (host, port) => `http://127.0.0.1:${port}/rpc?${host}`,
    (host, port) => `http://127.0.0.1:${port}/rpc#@${host}`,
  ];

  test.each([
    ...spellings.map((spell, index) => [index, (port: string) => spell(port)] as const),
    ...disguises.map(
      (spell, index) =>
        [spellings.length + index, (port: string) => spell(new URL(home.url).host, port)] as const,
    ),
  ])("elsewhere gets no secret, however it is spelt (%i)", async (_index, spell) => {
    for (const demands of [wants({ httpAuthSecurityScheme: { scheme: "bearer" } }), {}]) {
      serve([spell(String(evil.port))], demands);
      const client = await connect({ bearer: secret }).catch(() => undefined);
      await client?.sendMessage("x", { headers: { "x-mine": secret } }).catch(() => {});
    }
  });

  test("of the card's own port under another name is another origin", async () => {
    serve([`http://localhost:${home.port}/rpc`]);
    const client = await connect({ bearer: secret });
    await client.sendMessage("x").catch(() => {});

    expect(JSON.stringify(home.log.filter(({ method }) => method === "POST"))).not.toContain(secret);
  });

  test("whose tenant looks like a path is called where it is", async () => {
    const [entry] = cardOf([`${home.url}/rpc`]).supportedInterfaces;
    serve([], { supportedInterfaces: [{ ...entry, tenant: `../../@127.0.0.1:${evil.port}/` }] });
    const client = await connect({ bearer: secret });
    await client.sendMessage("x");

    expect(home.log.filter(({ method }) => method === "POST").map(({ path }) => path)).toEqual(["/rpc"]);
    expect(evil.log).toEqual([]);
  });
});

test("a cookie that a server sets is never sent, to it or to anybody", async () => {
  const card = cardOf([`${home.url}/rpc`]);
  home.settings.answer = (request) => {
    const answer = request.method === "GET" ? { body: card } : taskAnswer(request);
    return { ...answer, headers: { "set-cookie": `sid=${secret}; Path=/` } };
  };
  const client = await connect({ bearer: "t0ken" });
  await client.sendMessage("x");
  await client.sendMessage("y");

  expect(home.log.filter(({ headers }) => headers.cookie !== undefined)).toEqual([]);
});

describe("a client secret", () => {
  const scheme = (tokenUrl: string) => ({
    oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl } } },
  });

  test.each(redirects)("does not follow a token URL that is redirected by %i", async (status) => {
    serve([`${home.url}/rpc`], wants(scheme("https://login.example/token")));
    const login = await createRawServer(() => ({ status, headers: { location: `${evil.url}/token` } }));
    for (const clientAuthentication of ["basic", "post"] as const) {
      const provider = oauthClientCredentials({
        ...{ tokenUrl: `${login.url}/token`, clientId: "user", clientSecret: secret, clientAuthentication },
      });
      const client = await connect(createCredentials({ s: provider }));
      expect(await caught(client.sendMessage("x"))).toMatchObject({
        code: "TOKEN_REQUEST",
        reason: "redirected",
      });
    }
    await login.close();

    expect(login.log).toHaveLength(2);
    expect(evil.log).toEqual([]);
  });

  test("does not go to the token URL that a card names", async () => {
    serve([`${home.url}/rpc`], wants(scheme(`${evil.url}/token`)));
    for (const from of [
      { tokenUrl: `${home.url}/token` },
      { trustCardUrlsAt: [home.url] },
      { issuer: home.url },
    ]) {
      const provider = oauthClientCredentials({ clientId: "user", clientSecret: secret, ...from });
      const client = await connect(createCredentials({ s: provider }));
      await client.sendMessage("x").catch(() => {});
    }

    expect(evil.log).toEqual([]);
  });
});
