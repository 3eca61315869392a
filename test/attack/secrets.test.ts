import { describe, expect, test } from "vitest";
import { cardOf, type RawAnswer, type RawRequest, taskAnswer } from "./raw-server.ts";
import { echoOf, expectNoSecret, kinds, rpc, secrets, stream, useSecretWorld, wanted } from "./secret-rig.ts";

const world = useSecretWorld();
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

describe.each(kinds)("a secret (%s)", (kind) => {
  test.each(Object.entries(echoes))("that comes back in %s shows nowhere", async (_how, echo) => {
    world.serve(kind, echo);
    const { client, rows, told } = await world.connect(kind);
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

    expect(JSON.stringify(world.home.log)).toContain("kx-");
    expectNoSecret(failures, rows, told, world.written, client.card);
  });

  test("that went out with a call that was answered well shows nowhere", async () => {
    world.serve(kind, taskAnswer);
    const { client, rows, told } = await world.connect(kind);
    const reply = await client.sendMessage("x", { headers: { "x-mine": secrets.callHeader } });

    expect(told.length).toBeGreaterThan(0);
    expectNoSecret(
      reply,
      "task" in reply ? reply.task.toJSON() : reply,
      rows,
      told,
      world.written,
      client.pin,
    );
  });

  test("that a card or its refusal gives back shows nowhere", async () => {
    const card = cardOf([`${world.home.url}/rpc`], wanted(kind));
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
      world.home.settings.answer = (request) => {
        reads += 1;
        if (reads === 1) return { status: 401, headers: { "www-authenticate": "Bearer, Basic" } };
        return answer?.(request) ?? {};
      };
      const found = await world.connect(kind).catch((error: unknown) => error);
      expectNoSecret(found instanceof Error ? found : (found as { told: unknown }).told, world.written);
    }
  });
});

test.each<[string, (text: string) => RawAnswer]>([
  ["no JSON", (text) => ({ body: `found ${text}` })],
  ["a member of the wrong kind", (text) => ({ body: { ...cardOf([]), skills: text } })],
  ["no object", (text) => ({ body: JSON.stringify(text) })],
])("what the caller sends beside a card is in no error about it: %s", async (_what, make) => {
  world.home.settings.answer = ({ headers }) => make(String(headers["x-private"]));
  const error: unknown = await world.connect("plain").catch((thrown: unknown) => thrown);

  expect(JSON.stringify(world.home.log)).toContain(secrets.ownHeader);
  expect((error as Error).message).toContain("***");
  expectNoSecret(error, world.written);
});

test("a secret in the media type of a card is in no deviation of it", async () => {
  world.home.settings.answer = ({ headers }) => ({
    headers: { "content-type": `x/${String(headers["x-private"])}` },
    body: cardOf([`${world.home.url}/rpc`]),
  });
  const { client } = await world.connect("plain");

  expect(client.deviations).toContainEqual(expect.objectContaining({ kind: "card-media-type" }));
  expectNoSecret(client.deviations, client.card, world.written);
});

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
  world.home.settings.answer = (request) =>
    request.method === "GET"
      ? { body: cardOf([`${world.home.url}/rpc`], wanted("oauth")) }
      : taskAnswer(request);
  world.login.settings.answer = answer;
  for (const kind of ["oauth", "refresh"]) {
    const { client, rows, told } = await world.connect(kind);
    const error: unknown = await client.sendMessage("x").catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ code: "TOKEN_REQUEST" });
    expectNoSecret(error, rows, told, world.written);
  }
});
