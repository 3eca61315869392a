import { inspect } from "node:util";
import { apiKey, type Binding, type Credentials, createClient, createCredentials, pinCard } from "a2a-lease";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { createWrittenLedger } from "../ledger/written.ts";
import { patience } from "../util/cpu.ts";
import { cardOf, createRawServer, type RawAnswer, type RawServer, taskAnswer } from "./raw-server.ts";

const secret = "kx-seam-5501990-abcdef";

let home: RawServer;
beforeEach(async () => {
  home = await createRawServer();
});
afterEach(() => home.close());

/** A client whose ledger rows are kept. */
async function connect(credentials: Credentials, more: Parameters<typeof createClient>[1] = {}) {
  const { ledger, written: rows } = createWrittenLedger();
  return { rows, client: await createClient(home.url, { credentials, ledger, ...more }) };
}

/** Serves a card, and answers everything else. */
function serve(card: object, answer: (request: Parameters<typeof taskAnswer>[0]) => RawAnswer): void {
  home.settings.answer = (request) =>
    request.path.includes("agent-card") ? { body: card } : answer(request);
}

const shown = (value: unknown) =>
  `${inspect(value, { depth: 12, showHidden: true })}${JSON.stringify(value)}`;
const escapedOf = (text: string) =>
  [...text].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const over = (protocolBinding: string, more: object = {}) => ({
  ...cardOf([]),
  supportedInterfaces: [{ url: `${home.url}/a2a`, protocolBinding, protocolVersion: "1.0" }],
  ...more,
});

describe.each(["JSONRPC", "HTTP+JSON"])("over %s", (binding) => {
  test.each([
    ["its path", (value: string) => `/${value}`],
    ["its host", (value: string) => `https://${value}.evil.example/`],
  ])("a header that a redirect gives back in %s shows nowhere", async (_place, location) => {
    serve(over(binding), ({ headers }) => ({
      status: 307,
      headers: { location: location(String(headers.authorization).slice(7)) },
    }));
    const { client } = await connect({ bearer: secret });

    const error = await caught(client.sendMessage("x"));
    expect(error).toMatchObject({ code: "REDIRECT_REFUSED" });
    expect(shown(error)).not.toContain(secret);
  });

  test.each(["User-Agent", "Traceparent", "Cache-Control", "If-Match", "Accept-Language", "Accept"])(
    "a key that a card wants in the header %s does not go where nothing is kept secret",
    async (name) => {
      const card = over(binding, {
        securitySchemes: { key: { apiKeySecurityScheme: { location: "header", name } } },
        securityRequirements: [{ schemes: { key: { list: [] } } }],
      });
      serve(card, ({ headers }) => ({ status: 400, body: `did not like ${headers[name.toLowerCase()]}` }));
      const { client } = await connect(createCredentials({ key: apiKey(secret) }));

      const error = await caught(client.sendMessage("x"));
      expect(error).toMatchObject({ code: "AUTHENTICATION" });
      expect(shown(error)).not.toContain(secret);
      expect(JSON.stringify(home.log)).not.toContain(secret);
    },
  );

  test.each([
    ["as it is", secret],
    ["in escapes", escapedOf(secret)],
  ])("an extended card that gives a token back %s is not pinned", async (_how, echo) => {
    const card = over(binding, { capabilities: { extendedAgentCard: true } });
    serve(card, ({ body }) => {
      const text = JSON.stringify({ ...card, description: "@" }).replace("@", echo);
      const id = body.startsWith("{") ? (JSON.parse(body) as { id: number }).id : 0;
      return { body: binding === "JSONRPC" ? `{"jsonrpc":"2.0","id":${id},"result":${text}}` : text };
    });
    const { client, rows } = await connect({ bearer: secret });

    const error = await caught(client.getExtendedAgentCard());
    expect(error).toMatchObject({ code: "CARD_INVALID" });
    expect(shown([error, rows, client.pin])).not.toContain(secret);
  });
});

test("a card that gives a token back in escapes is refused", async () => {
  const text = JSON.stringify({ ...over("JSONRPC"), description: "@" }).replace("@", escapedOf(secret));
  home.settings.answer = () => ({ body: text });

  const error = await caught(connect({ bearer: secret }, { cardCredentials: "always" }));
  expect(error).toMatchObject({ code: "CARD_INVALID" });
});

test("what a binding of the caller's own throws repeats no token", async () => {
  serve(over("x-own"), () => ({}));
  const fail: Binding["call"] = async (_operation, _request, { headers }) => {
    throw Object.assign(new TypeError(`bad header: ${headers.authorization?.slice(7)}`), { headers });
  };
  const own: Binding = { name: "x-own", call: fail, open: fail as unknown as Binding["open"] };
  const { client } = await connect({ bearer: secret }, { bindings: [own] });

  expect(shown(await caught(client.sendMessage("x")))).not.toContain(secret);
  expect(shown(await caught(client.getTask({ id: "t" })))).not.toContain(secret);
});

test("a card whose skill multiplies its requirements costs little", patience, async () => {
  const list = (mark: string) =>
    Array.from({ length: 64 }, (_, at) => ({
      schemes: Object.fromEntries(
        Array.from({ length: 400 }, (_, index) => [`${mark}${at}.${index}`, { list: [] }]),
      ),
    }));
  const skill = { id: "s", name: "s", description: "s", tags: [], securityRequirements: list("s") };
  serve(over("JSONRPC", { skills: [skill], securityRequirements: list("c") }), taskAnswer);
  const { client } = await connect(createCredentials({ key: apiKey(secret) }), {
    requires: { skills: ["s"] },
    limits: { cardBytes: 8 * 1024 * 1024 },
  });

  const before = process.cpuUsage();
  const error = await caught(client.sendMessage("x"));
  const { user, system } = process.cpuUsage(before);
  expect(error).toMatchObject({ code: "CREDENTIAL_MISSING" });
  expect((user + system) / 1000).toBeLessThan(10_000);
});

test.each([
  `data:application/json,${encodeURIComponent('{"jsonrpc":"2.0","id":1,"result":{}}')}`,
  "file:///etc/passwd",
  "http://user:kx-password@127.0.0.1:1/rpc",
  "ws://127.0.0.1:1/rpc",
])("a pin that was changed elsewhere to lead to %s leads nowhere", async (url) => {
  const card = cardOf([`${home.url}/rpc`]);
  serve(card, taskAnswer);
  const taken = pinCard(card, { cardUrl: home.url });
  const pin = { ...taken, interface: { ...taken.interface, url } };
  const { client } = await connect({ bearer: secret }, { pin });

  for (const call of [client.sendMessage("x"), client.getTask({ id: "t" })]) {
    const error = await caught(call);
    expect(error).toMatchObject({ code: "ADDRESS_REFUSED" });
    expect(shown(error)).not.toContain("kx-password");
  }
  expect(home.log.filter(({ method }) => method === "POST")).toEqual([]);
});
