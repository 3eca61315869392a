import { inspect } from "node:util";
import {
  A2ALeaseError,
  createClient,
  createMemoryLedger,
  InvalidParamsError,
  type Ledger,
  LimitExceededError,
} from "a2a-lease";
import { answer, createScriptedAgent, createTestCard, frame, step } from "a2a-lease/testing";
import { createWebhookReceiver } from "a2a-lease/webhook";
import { afterEach, describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { minute, publicUrl, pushCard, pushOf, status, token } from "../webhook/rig.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A task under way at an agent that pushes nothing by itself, and a webhook over the same ledger. */
async function setUp(given: Ledger = createMemoryLedger(), card = pushCard, limits = {}) {
  const keys = new Set<string>();
  const ledger: Ledger = {
    ...given,
    async write(key, record, revision) {
      const entry = await given.write(key, record, revision);
      if (record.kind === "push") keys.add(key);
      return entry;
    },
    async remove(key) {
      await given.remove(key);
      keys.delete(key);
    },
  };
  const agent = createScriptedAgent({ card, pushes: { copies: 0 } });
  const client = await createClient(agent.url, { fetch: agent.fetch, ledger, limits });
  closers.push(() => client.close());
  agent.planNext([step.working(), step.wait(3_600_000)]);
  const reply = await client.sendMessage("Something long.");
  if (!("task" in reply)) throw new TypeError("found a message, wanted a task");
  const { task } = reply;
  const receive = createWebhookReceiver({ ledger });
  let count = 0;
  /** The status of the answer to a notification with this secret. */
  const push = async (secret: string) => {
    count += 1;
    return (await receive(pushOf(status(task.id, "WORKING", minute(count)), token(secret)))).status;
  };
  return { agent, client, task, push, keys };
}

const firstSecret = "the-first-secret-of-all";
const secondSecret = "the-second-secret-of-all";
const thirdSecret = "the-third-secret-of-all";

describe("a push configuration that is registered again", () => {
  test("goes on under its earlier secret when the agent refuses the new one", async () => {
    const { agent, task, push } = await setUp();
    await task.pushConfigs.create({ url: publicUrl, id: "c1", token: firstSecret });
    agent.once("CreateTaskPushNotificationConfig", [answer.error(-32602, "no")]);
    const again = task.pushConfigs.create({ url: publicUrl, id: "c1", token: secondSecret });
    await caught(again, InvalidParamsError);
    expect([await push(firstSecret), await push(secondSecret)]).toEqual([200, 401]);
    await task.pushConfigs.delete("c1");
    expect(await push(firstSecret)).toBe(401);
  });

  test("has its new secret alone once the agent took it", async () => {
    const { task, push, keys } = await setUp();
    await task.pushConfigs.create({ url: publicUrl, id: "c1", token: firstSecret });
    await task.pushConfigs.create({ url: publicUrl, id: "c1", token: secondSecret });
    expect([await push(firstSecret), await push(secondSecret)]).toEqual([401, 200]);
    await task.pushConfigs.delete("c1");
    expect(await push(secondSecret)).toBe(401);
    expect(keys.size).toBe(0);
  });

  test("with one secret kept and one new loses the new one alone when it is refused", async () => {
    const { agent, task, push } = await setUp();
    const kept = { scheme: "Bearer", credentials: firstSecret };
    await task.pushConfigs.create({ url: publicUrl, id: "c1", token: firstSecret, authentication: kept });
    agent.once("CreateTaskPushNotificationConfig", [answer.error(-32602, "no")]);
    const mixed = { url: publicUrl, id: "c1", token: secondSecret, authentication: kept };
    await caught(task.pushConfigs.create(mixed), InvalidParamsError);
    expect(await push(secondSecret)).toBe(401);
  });
});

describe("a push configuration that can't be written down", () => {
  test("because one of its secrets is taken leaves the other one free", async () => {
    const { task, keys } = await setUp();
    await task.pushConfigs.create({ url: publicUrl, token: firstSecret });
    const authentication = { scheme: "Bearer", credentials: firstSecret };
    await caught(task.pushConfigs.create({ url: publicUrl, token: secondSecret, authentication }), TypeError);
    expect(keys.size).toBe(1);
    await task.pushConfigs.create({ url: publicUrl, token: secondSecret });
    expect(keys.size).toBe(2);
  });

  test("sends no message, and is forgotten", async () => {
    const { client, task, keys, agent } = await setUp();
    await task.pushConfigs.create({ url: publicUrl, token: firstSecret });
    const authentication = { scheme: "Bearer", credentials: firstSecret };
    const pushNotificationConfig = { url: publicUrl, token: thirdSecret, authentication };
    await caught(client.sendMessage("hi", { pushNotificationConfig }), TypeError);
    expect(keys.size).toBe(1);
    expect(agent.calls("SendMessage")).toHaveLength(1);
  });
});

describe("the configuration of a streaming send", () => {
  const streamingCard = createTestCard({ capabilities: { streaming: true, pushNotifications: true } });
  const pushNotificationConfig = { url: publicUrl, token: secondSecret };

  test("that is answered by a message leads nowhere any more, however early its reader leaves", async () => {
    const { client, keys, agent } = await setUp(createMemoryLedger(), streamingCard);
    agent.once("SendStreamingMessage", [answer.message("Done already.")]);
    for await (const event of await client.sendStreamingMessage("hi", { pushNotificationConfig })) {
      expect(event).toHaveProperty("message");
      break;
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(keys.size).toBe(0);
  });

  test("that is refused by the first event leads nowhere any more", async () => {
    const { client, keys, agent } = await setUp(createMemoryLedger(), streamingCard);
    agent.once("SendStreamingMessage", [answer.stream([frame.error(-32602, "no")])]);
    const reading = async () => {
      for await (const _event of await client.sendStreamingMessage("hi", { pushNotificationConfig }));
    };
    await caught(reading(), InvalidParamsError);
    expect(keys.size).toBe(0);
  });

  test("to a known task goes on when a message is the answer, since the agent may push of that task", async () => {
    const { agent, task, push } = await setUp();
    agent.once("SendMessage", [answer.message("I hear you.")]);
    await task.sendMessage("And?", { pushNotificationConfig });
    expect(await push(secondSecret)).toBe(200);
  });
});

describe("listing push configurations", () => {
  const pages = (configs: readonly object[]) => {
    let count = 0;
    return () => {
      count += 1;
      return answer.result({ configs, nextPageToken: `page-${count}` });
    };
  };

  test("ends where an agent leads on and on without one", async () => {
    const { agent, task } = await setUp();
    agent.on("ListTaskPushNotificationConfigs", pages([]));
    const reading = async () => {
      for await (const _config of await task.pushConfigs.list());
    };
    expect(await caught(reading(), LimitExceededError)).toMatchObject({ limit: "emptyPages" });
    expect(agent.calls("ListTaskPushNotificationConfigs")).toHaveLength(10);
  });

  test("ends where the pages have no end", async () => {
    const { agent, task } = await setUp(createMemoryLedger(), pushCard, { pages: 25 });
    agent.on("ListTaskPushNotificationConfigs", pages([{ id: "c", url: publicUrl }]));
    let count = 0;
    const reading = async () => {
      for await (const _config of await task.pushConfigs.list()) count += 1;
    };
    expect(await caught(reading(), LimitExceededError)).toMatchObject({ limit: "pages" });
    expect(count).toBe(25);
  });
});

describe.each(["JSONRPC", "HTTP+JSON"])("a secret of a push configuration over %s", (protocolBinding) => {
  const agentUrl = "https://agent.example";
  const card = createTestCard({
    capabilities: { streaming: false, pushNotifications: true },
    supportedInterfaces: [{ url: `${agentUrl}/a2a`, protocolBinding, protocolVersion: "1.0" }],
  });
  const secrets = { token: 'tok-0123456789-"abcdef', credentials: "cred-0123456789-abcdef" };
  const pushNotificationConfig = {
    url: publicUrl,
    token: secrets.token,
    authentication: { scheme: "Bearer", credentials: secrets.credentials },
  };
  const echo = JSON.stringify(pushNotificationConfig);

  test.each<[string, (id: unknown) => Response]>([
    [
      "an error",
      (id) => Response.json({ jsonrpc: "2.0", id, error: { code: -32602, message: echo, data: [{ echo }] } }),
    ],
    [
      "an error with a status",
      (id) =>
        Response.json({ id, error: { code: 400, message: echo, details: [{ echo }] } }, { status: 400 }),
    ],
    [
      "a page",
      () => new Response(`<html>${echo}</html>`, { status: 502, headers: { "content-type": "text/html" } }),
    ],
    ["a malformed answer", (id) => Response.json({ jsonrpc: "2.0", id, result: [pushNotificationConfig] })],
    [
      "an answer of the wrong kind",
      (id) =>
        Response.json({ jsonrpc: "2.0", id, result: { task: secrets.token, message: secrets.credentials } }),
    ],
    ["a bare answer of the wrong kind", () => Response.json({ task: secrets.token, url: { echo } })],
    ["a text", () => new Response(echo, { headers: { "content-type": "text/plain" } })],
  ])("that comes back in %s is in no error and no event", async (_what, answerWith) => {
    const fetch = async (url: string, init: RequestInit) => {
      if (url.endsWith("agent-card.json")) return Response.json(card);
      return answerWith(JSON.parse(String(init.body)).id);
    };
    const client = await createClient(agentUrl, { fetch });
    closers.push(() => client.close());
    const error = await client.sendMessage("hi", { pushNotificationConfig }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(A2ALeaseError);
    const told = `${inspect(error, { depth: 9 })} ${JSON.stringify(error)}`;
    for (const secret of [secrets.token, secrets.credentials, JSON.stringify(secrets.token).slice(1, -1)]) {
      expect(told).not.toContain(secret);
    }
  });
});
