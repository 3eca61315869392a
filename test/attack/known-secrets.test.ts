import {
  type A2AClient,
  apiKey,
  type BindingFactory,
  basic,
  type ClientEventName,
  type ClientOptions,
  createClient,
  createCredentials,
} from "a2a-lease";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cardOf, createRawServer, type RawAnswer, type RawRequest, type RawServer } from "./raw-server.ts";
import { expectNoSecret, rpc, secrets, stream } from "./secret-rig.ts";

const { bearer } = secrets;
const encoded = (header: object) => btoa(JSON.stringify(header)).replace(/=+$/, "");
const signed = (header: object) => ({ signatures: [{ protected: encoded(header), signature: "AAAA" }] });
const wants = (scheme: object) => ({
  securitySchemes: { s: scheme },
  securityRequirements: [{ schemes: { s: { list: [] } } }],
  capabilities: { streaming: true, pushNotifications: true },
});
const bearerScheme = { httpAuthSecurityScheme: { scheme: "Bearer" } };
const taskOf = (more: object = {}) => ({
  ...{ id: `t${Math.random()}`, contextId: "c1" },
  status: { state: "TASK_STATE_COMPLETED", timestamp: "2026-01-01T00:00:00Z" },
  ...more,
});
const textOf = (text: string) => taskOf({ artifacts: [{ artifactId: "a1", parts: [{ text }] }] });
const events: readonly ClientEventName[] = [
  "lease-granted",
  "lease-renewed",
  "drift",
  "lease-ended",
  "deviation",
];

let home: RawServer;
let card: object;
let answer: (request: RawRequest) => RawAnswer;

beforeEach(async () => {
  home = await createRawServer((request) => (request.method === "GET" ? { body: card } : answer(request)));
  card = cardOf([`${home.url}/rpc`], wants(bearerScheme));
  answer = (request) => rpc(request, { result: { task: taskOf() } });
});
afterEach(() => home.close());

async function connect(options: ClientOptions = { credentials: { bearer } }) {
  const client = await createClient(`${home.url}/card.json`, options);
  const told: unknown[] = [];
  for (const name of events) client.on(name, (event) => told.push(event));
  return { client, told };
}
async function taskBy(
  client: A2AClient,
  text: string,
  options: Parameters<A2AClient["sendMessage"]>[1] = {},
) {
  const reply = await client.sendMessage(text, options);
  if (!("task" in reply)) throw new TypeError("found a message, wanted a task");
  return reply.task;
}
const thrownBy = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);
const shownOf = (client: A2AClient) => [client.pin, client.lease, client];

/** What a card may say once its agent has seen a secret: of a call, while cards are read without credentials. */
const cards: Record<string, object> = {
  "a text": { description: `you are ${bearer}` },
  "the id of a skill": { skills: [{ id: bearer, name: "x", description: "x", tags: [] }] },
  "a member that is wrong": { version: [bearer], name: 5, capabilities: bearer },
  "a media type": { defaultInputModes: [bearer] },
  "a signature's key id": signed({ alg: "ES256", kid: bearer }),
  "a signature's key set": signed({ alg: "ES256", kid: "k", jku: `https://keys.example/${bearer}` }),
  "a signature's algorithm": signed({ alg: bearer }),
  "a signature's critical parameter": signed({ alg: "ES256", crit: [bearer] }),
};

describe.each(Object.entries(cards))("a card that repeats the secret of a call in %s", (_where, more) => {
  test("is refused, and neither pinned nor told of", async () => {
    const { client, told } = await connect();
    await client.sendMessage("hello");
    card = { ...card, ...more };

    const error = await thrownBy(client.sendMessage("hello again"));

    expect(error).toMatchObject({ code: "LEASE_UNVERIFIABLE", cause: { code: "CARD_INVALID" } });
    const again = await thrownBy(client.renegotiate());
    expect(again).toMatchObject({ code: "CARD_INVALID" });
    expectNoSecret(error, again, told, shownOf(client));
  });

  test("is refused where the read itself went out with it", async () => {
    card = { ...card, ...more };

    const error = await thrownBy(connect({ credentials: { bearer }, cardCredentials: "always" }));

    expect(error).toMatchObject({ code: "CARD_INVALID" });
    expectNoSecret(error);
  });
});

test("a card that has the token of all calls is refused before the first of them", async () => {
  card = { ...card, description: `use ${bearer}` };
  const error: unknown = await connect().catch((thrown: unknown) => thrown);

  expect(error).toMatchObject({ code: "CARD_INVALID" });
  expectNoSecret(error);
});

test("a card may name the URLs that it is read from and called at, whatever is in them", async () => {
  const url = `${home.url}/rpc?token=${secrets.urlToken}&agent=550e8400-e29b-41d4-a716-446655440000`;
  card = cardOf([url], { ...wants(bearerScheme), documentationUrl: url });
  const { client } = await connect();

  await client.sendMessage("hello");
  expect((await taskBy(client, "hello")).id).toMatch(/^t/);
});

test("what stands in a URL under a name that speaks of no secret may be an id, and is left in what is answered", async () => {
  const agent = "550e8400-e29b-41d4-a716-446655440000";
  card = cardOf([`${home.url}/rpc?agent=${agent}&token=${secrets.urlToken}`]);
  answer = (request) =>
    rpc(request, { result: { task: { ...textOf(`I am ${agent} ${secrets.urlToken}`), id: `${agent}-1` } } });
  const { client } = await connect({});

  const task = await taskBy(client, "hello");

  expect(task.id).toBe(`${agent}-1`);
  expect(task.artifacts[0]?.parts).toMatchObject([{ text: `I am ${agent} ***` }]);
});

describe("an agent that repeats a token which was refused before", () => {
  const before = "kx-before-5502101";
  const after = "kx-after-5502102";
  const word = `you came with ${before} at first`;
  const answers: Record<string, (request: RawRequest) => RawAnswer> = {
    "in an error": (request) => rpc(request, { error: { code: -32603, message: word, data: [{ word }] } }),
    "in an odd answer": (request) => rpc(request, { result: { task: { id: [before], status: before } } }),
    "in another status": () => ({ status: 418, body: word, headers: { "content-type": before } }),
    "in a challenge": () => ({ status: 401, body: word, headers: { "www-authenticate": `X y="${before}"` } }),
    "in a redirect": () => ({ status: 307, headers: { location: `https://elsewhere.example/${before}` } }),
    "in an event": (request) => {
      const { id } = JSON.parse(request.body) as { id: number };
      return stream({ jsonrpc: "2.0", id, error: { code: -32603, message: word } });
    },
    "in events of no use": () => stream(word, word),
    "in lines that are no events": () => ({
      headers: { "content-type": "text/event-stream" },
      body: `${word}\n\n`,
    }),
  };

  test.each(Object.entries(answers))("%s is told without it", async (_where, make) => {
    let isFirst = true;
    const token = () => (isFirst ? before : after);
    answer = (request) => {
      if (!isFirst) return make(request);
      isFirst = false;
      return { status: 401, body: "no" };
    };
    const { client, told } = await connect({
      credentials: async () => ({ headers: { authorization: `Bearer ${token()}` } }),
    });

    const open = await client.sendStreamingMessage("hello").catch((error: unknown) => error);
    const iterate = async () => {
      for await (const _event of open as AsyncIterable<unknown>);
    };
    const error = open instanceof Error ? open : await thrownBy(iterate());

    expect(error).toBeInstanceOf(Error);
    expect(home.log.some(({ headers }) => headers.authorization === `Bearer ${after}`)).toBe(true);
    expectNoSecret(error, told);
  });
});

describe("a secret with marks in it that end one", () => {
  const secret = "kx;y,z'5502103}kx kx)end";
  const texts = [
    `password: ${secret}`,
    `api_key=${secret}`,
    `x-api-key: "${secret}"`,
    `Bearer ${secret}`,
    `https://h/?token=${secret}&x=1`,
    `//${secret}@host`,
  ];
  const kinds: Record<string, [object, ReturnType<typeof createCredentials>]> = {
    password: [
      { httpAuthSecurityScheme: { scheme: "Basic" } },
      createCredentials({ s: basic({ username: "me", password: secret }) }),
    ],
    key: [
      { apiKeySecurityScheme: { location: "header", name: "x-acme" } },
      createCredentials({ s: apiKey(secret) }),
    ],
  };

  test.each(Object.entries(kinds))(
    "is struck whole from an error (%s)",
    async (_kind, [scheme, credentials]) => {
      card = cardOf([`${home.url}/rpc`], wants(scheme));
      answer = (request) =>
        rpc(request, {
          error: { code: -32603, message: texts.join(" | "), data: texts.map((text) => ({ text })) },
        });
      const { client } = await connect({ credentials });

      const error = await thrownBy(client.getTask({ id: "t1" }));

      expect(error).toMatchObject({ code: "INTERNAL_ERROR" });
      expectNoSecret(error);
      expect(JSON.stringify(error)).not.toContain("5502103");
    },
  );
});

test("a secret with such marks is struck whole from what a binding of one's own throws", async () => {
  const secret = "kx;y,z'5502103}kx kx)end";
  const throwing: BindingFactory = () => ({
    name: "JSONRPC",
    call: () => Promise.reject(Object.assign(new Error(`password: ${secret}`), { code: secret })),
    open: () => Promise.reject(new Error(`api_key=${secret}`)),
  });
  const credentials = async () => ({ headers: { "x-acme": secret } });
  const { client } = await connect({ credentials, bindings: [throwing], retries: false });

  const thrown = [client.getTask({ id: "t1" }), client.sendStreamingMessage("x")].map(thrownBy);

  for (const error of await Promise.all(thrown)) {
    expect(error).toBeInstanceOf(Error);
    expectNoSecret(error);
    expect(JSON.stringify(error)).not.toContain("5502103");
  }
});

test("a function for credentials that throws what it gave before tells no secret", async () => {
  let isFirst = true;
  const credentials = async () => {
    if (!isFirst) throw new TypeError(`could not renew ${bearer}`);
    isFirst = false;
    return { headers: { authorization: `Bearer ${bearer}` } };
  };
  const { client } = await connect({ credentials });
  await client.sendMessage("hello");

  const error = await thrownBy(client.sendMessage("hello"));

  expect(error).toMatchObject({ code: "AUTHENTICATION" });
  expectNoSecret(error);
});

describe("a long secret, of which a quotation holds many", () => {
  const long = `kx-long-${"0123456789abcdef".repeat(90)}`;
  const bodies: Record<string, RawAnswer> = {
    "no JSON": { body: long.repeat(40) },
    "a page": { headers: { "content-type": "text/html" }, body: long.repeat(40) },
    "an error": { status: 418, body: long.repeat(400) },
    "events of no use": stream(long.repeat(40)),
    "no events": { headers: { "content-type": "text/event-stream" }, body: `${"x".repeat(190)}${long}\n\n` },
  };

  test.each(Object.entries(bodies))("is struck whole, also where it is cut: %s", async (_kind, body) => {
    answer = () => body;
    const { client } = await connect({ credentials: { bearer: long } });

    const open = await client.sendStreamingMessage("hello").catch((error: unknown) => error);
    const iterate = async () => {
      for await (const _event of open as AsyncIterable<unknown>);
    };
    const error = open instanceof Error ? open : await thrownBy(iterate());

    expect(error).toBeInstanceOf(Error);
    expectNoSecret(error);
  });

  test("is struck whole from what is no card", async () => {
    // A card with a header of the caller's own in it is not refused for that.
    const { client } = await connect({ headers: { "x-private": long } });
    card = `a${long.repeat(40)}` as unknown as object;

    expectNoSecret(await thrownBy(client.revalidate()));
  });
});

test("a secret that goes out with each call is struck, however many others go out once", async () => {
  const key = secrets.header;
  card = cardOf([`${home.url}/rpc`], wants({ apiKeySecurityScheme: { location: "header", name: "x-acme" } }));
  answer = (request) => rpc(request, { result: { task: textOf(`you came with ${key}`) } });
  const { client } = await connect({ credentials: createCredentials({ s: apiKey(key) }) });

  for (let count = 0; count < 40; count++) {
    const token = `token-of-notification-${count}`;
    const task = await taskBy(client, "x", {
      pushNotificationConfig: { url: "https://hook.example/x", token },
    });
    expect(task.artifacts[0]?.parts).toMatchObject([{ text: "you came with ***" }]);
  }
});

test("a redirect of a card to a place with the secret in it is told of without it", async () => {
  const places = [`/card.json?${bearer}`, `/${bearer}/card.json`, `/x?kx=${encodeURIComponent(bearer)}`];
  const answers: RawAnswer[] = [
    { status: 500 },
    { status: 302, headers: { location: "https://elsewhere.example/" } },
  ];
  for (const [at, location] of places.entries()) {
    for (const [then, next] of [...answers.entries(), [2, { status: 302, headers: { location } }] as const]) {
      home.settings.answer = ({ path }) =>
        path === `/${at}${then}.json` ? { status: 302, headers: { location } } : next;
      const options = { credentials: { bearer }, cardCredentials: "always", retries: false } as const;

      const error = await thrownBy(createClient(`${home.url}/${at}${then}.json`, options));

      expect(error).toBeInstanceOf(Error);
      expect(home.log.at(-1)?.path).toContain(bearer);
      expectNoSecret(error);
    }
  }
});

test("a push configuration has the secret that it was sent with, and none of the calls", async () => {
  const token = "token-of-notification";
  const config = { taskId: "t1", id: "p1", url: `https://hook.example/${bearer}`, token, note: bearer };
  answer = (request) => {
    const { method } = JSON.parse(request.body) as { method: string };
    if (method === "SendMessage") return rpc(request, { result: { task: { ...taskOf(), id: "t1" } } });
    return rpc(request, { result: method.startsWith("List") ? { configs: [config] } : config });
  };
  const { client } = await connect();
  const { pushConfigs } = await taskBy(client, "hello");

  const created = await pushConfigs.create({ id: "p1", url: "https://hook.example/", token });
  const read = await pushConfigs.get("p1");
  const { configs } = await pushConfigs.list();

  for (const one of [created, read, ...configs]) {
    expect(one).toMatchObject({ token, note: "***" });
    expectNoSecret(one);
  }
});

test("a card of an older protocol whose version is a header of the caller's own is told of without it", async () => {
  card = { name: "x", url: `${home.url}/rpc`, protocolVersion: `0.3 ${secrets.ownHeader}` };

  const error = await thrownBy(connect({ headers: { "x-private": secrets.ownHeader } }));

  expect(error).toMatchObject({ code: "PROTOCOL_VERSION", offered: ["0.3 ***"] });
  expectNoSecret(error);
});
