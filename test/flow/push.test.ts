import {
  AddressRefusedError,
  CapabilityMissingError,
  CardDriftError,
  createClient,
  createMemoryLedger,
  PushNotificationNotSupportedError,
  TaskNotFoundError,
} from "a2a-lease";
import { answer, createLoopbackReceiver, createScriptedAgent, createTestCard, step } from "a2a-lease/testing";
import { createWebhookReceiver, type PushUpdate } from "a2a-lease/webhook";
import { afterEach, describe, expect, test, vi } from "vitest";
import { startRealAgent } from "../../examples/support/real-agent.ts";
import { caught } from "./caught.ts";
import { report } from "./real-agent.ts";

const pushCard = createTestCard({ capabilities: { streaming: false, pushNotifications: true } });
const publicUrl = "https://caller.example.com/a2a";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  vi.restoreAllMocks();
});

/** A webhook on a loopback port, over a ledger of its own. */
async function startWebhook() {
  const ledger = createMemoryLedger();
  const updates: PushUpdate[] = [];
  const handler = createWebhookReceiver({ ledger, onUpdate: (update) => void updates.push(update) });
  const receiver = await createLoopbackReceiver({ handler });
  closers.push(() => receiver.close());
  return { ledger, updates, receiver, hook: { url: receiver.url, allowInsecureUrl: true } };
}

/** The server of the official SDK, with its own sender of notifications. */
async function startOfficial(capabilities = { streaming: true, pushNotifications: true }) {
  vi.spyOn(console, "info").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
  const agent = await startRealAgent({
    card: { capabilities: { ...capabilities, extensions: [], extendedAgentCard: false } },
  });
  closers.push(() => agent.close());
  return agent;
}

/** A scripted agent that keeps its configurations and pushes nothing. */
async function startScripted(options: Parameters<typeof createScriptedAgent>[0] = {}) {
  const agent = createScriptedAgent({ card: pushCard, pushes: { copies: 0 }, ...options });
  const client = await createClient(agent.url, { fetch: agent.fetch });
  closers.push(() => client.close());
  const start = async () => {
    agent.planNext([step.working(), step.wait(3_600_000)]);
    const reply = await client.sendMessage("Something long.");
    if (!("task" in reply)) throw new TypeError("found a message, wanted a task");
    return reply.task;
  };
  return { agent, client, start };
}

describe.each(["official server", "scripted agent"])("push notifications of the %s", (kind) => {
  async function setUp(streaming = true) {
    const webhook = await startWebhook();
    const { ledger } = webhook;
    if (kind === "official server") {
      const agent = await startOfficial({ streaming, pushNotifications: true });
      const client = await createClient(agent.url, { ledger });
      closers.push(() => client.close());
      return { ...webhook, client, hold: () => agent.hold(), release: () => agent.release() };
    }
    const card = createTestCard({ capabilities: { streaming, pushNotifications: true } });
    const agent = createScriptedAgent({ card });
    const port = await agent.listen();
    closers.push(() => port.close());
    const client = await createClient(port.url, { ledger });
    closers.push(() => client.close());
    const hold = () => agent.planNext([step.working(), step.hold(), step.completed()]);
    return { ...webhook, client, hold, release: (taskId: string) => void agent.step(taskId) };
  }

  test("pass the push probe", async () => {
    const { client, hook, ledger } = await setUp();
    const seen = await client.probe({ message: report, receiver: hook });
    expect(seen.checks.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    expect(seen.checks.find(({ name }) => name === "push-calls-back")).toMatchObject({ outcome: "passed" });
    expect(seen).toMatchObject({ promoted: true, capabilities: ["streaming", "pushNotifications"] });
    const [{ taskId = "" } = {}] = seen.transitions;
    expect(await ledger.read(JSON.stringify(["inbox", client.lease.url, "default", taskId]))).toBeUndefined();
  });

  test("travel with a message, and wake who waits", async () => {
    const { client, hook, updates, receiver } = await setUp(false);
    const outcome = await client.delegate(report, { pushNotificationConfig: hook });
    expect(outcome.status).toBe("completed");
    await vi.waitFor(() => expect(updates.map(({ state }) => state)).toContain("TASK_STATE_COMPLETED"));
    expect(receiver.received.map(({ status }) => status)).not.toContain(401);
    const told = updates.map(({ observation }) => `${observation?.state} ${observation?.timestamp}`);
    expect(updates.filter(({ observation }) => observation).length).toBe(
      new Set(told.filter((text) => !text.startsWith("undefined"))).size,
    );
  });

  test("are registered, read, listed and deleted", async () => {
    const { client, hook, hold, release, updates } = await setUp();
    hold();
    const reply = await client.sendMessage(report);
    if (!("task" in reply)) throw new TypeError("found a message, wanted a task");
    const { task } = reply;
    const first = await task.pushConfigs.create(hook);
    const second = await client.createTaskPushNotificationConfig({ taskId: task.id, ...hook, id: "second" });
    expect(first.token).toMatch(/^[\w-]{43}$/);
    expect(first.authentication).toEqual({ scheme: "Bearer", credentials: first.token });
    expect(second).toMatchObject({ id: "second", taskId: task.id });
    expect(second.token).not.toBe(first.token);

    expect(await task.pushConfigs.get("second")).toMatchObject({ id: "second", url: hook.url });
    const listed: (string | undefined)[] = [];
    const page = await client.listTaskPushNotificationConfigs({ taskId: task.id });
    for await (const { id } of page) listed.push(id);
    expect(listed.sort()).toEqual([first.id, "second"].sort());

    await task.pushConfigs.delete("second");
    await client.deleteTaskPushNotificationConfig({ taskId: task.id, id: "second" });
    expect(await caught(task.pushConfigs.get("second"))).toBeInstanceOf(TaskNotFoundError);
    expect((await task.pushConfigs.list()).configs.map(({ id }) => id)).toEqual([first.id]);
    release(task.id);
    expect((await task.result()).status).toBe("completed");
    await vi.waitFor(() => expect(updates.map(({ state }) => state)).toContain("TASK_STATE_COMPLETED"));
  });
});

describe("a push configuration", () => {
  test.each([
    "http://10.0.0.5/hook",
    "http://caller.example.com/hook",
    "https://10.0.0.5/hook",
    "https://127.0.0.1/hook",
    "https://2130706433/hook",
    "https://[::ffff:10.0.0.5]/hook",
    "https://169.254.169.254/latest",
    "https://localhost./hook",
    "https://[fd00::1]/hook",
    "file:///etc/passwd",
  ])("with the URL %s is refused, and nothing is sent", async (url) => {
    const { agent, client, start } = await startScripted();
    const task = await start();
    const before = agent.calls().length;
    expect(await caught(task.pushConfigs.create({ url }))).toBeInstanceOf(AddressRefusedError);
    const request = { taskId: task.id, url };
    expect(await caught(client.createTaskPushNotificationConfig(request))).toBeInstanceOf(
      AddressRefusedError,
    );
    const inline = client.sendMessage("x", { pushNotificationConfig: { url } });
    expect(await caught(inline)).toBeInstanceOf(AddressRefusedError);
    expect(agent.calls().length).toBe(before);
  });

  test("may have such a URL where that is allowed, but never another protocol", async () => {
    const { start } = await startScripted();
    const task = await start();
    const allowed = { allowInsecureUrl: true };
    await task.pushConfigs.create({ url: "http://10.0.0.5/hook", ...allowed });
    expect(await caught(task.pushConfigs.create({ url: "file:///x", ...allowed }))).toBeInstanceOf(
      AddressRefusedError,
    );
    expect(await caught(task.pushConfigs.create({ url: "no url" }))).toBeInstanceOf(TypeError);
    expect(await caught(task.pushConfigs.create({ url: "https://u:p@caller.example.com/" }))).toBeInstanceOf(
      TypeError,
    );
  });

  test("has the secret that is given, and no two have the same one", async () => {
    const { agent, start } = await startScripted();
    const [one, other] = [await start(), await start()];
    const config = { url: publicUrl, token: "a-secret-of-the-callers-own" };
    await one.pushConfigs.create(config);
    const [{ params } = {}] = agent.calls("CreateTaskPushNotificationConfig");
    expect(params).toMatchObject(config);
    expect(params).not.toHaveProperty("authentication");
    expect(await caught(other.pushConfigs.create(config))).toBeInstanceOf(TypeError);
    expect(await caught(one.pushConfigs.create({ url: publicUrl, token: "short" }))).toBeInstanceOf(
      TypeError,
    );
    expect(agent.calls("CreateTaskPushNotificationConfig").length).toBe(1);
  });

  test("fails locally where the card has no push notifications; leaving is always possible", async () => {
    const { agent, client, start } = await startScripted({ card: createTestCard() });
    const task = await start();
    const before = agent.calls().length;
    const calls = [
      task.pushConfigs.create({ url: publicUrl }),
      task.pushConfigs.get("x"),
      task.pushConfigs.list(),
      client.sendMessage("x", { pushNotificationConfig: { url: publicUrl } }),
    ];
    for (const call of calls) expect(await caught(call)).toBeInstanceOf(CapabilityMissingError);
    expect(agent.calls().length).toBe(before);
    await caught(task.pushConfigs.delete("x"));
    expect(
      agent
        .calls()
        .map(({ operation }) => operation)
        .at(-1),
    ).toBe("DeleteTaskPushNotificationConfig");
  });

  test("is not sent under another card; get and list are withheld; delete goes through", async () => {
    const { agent, start } = await startScripted();
    const [task, other, third] = [await start(), await start(), await start()];
    const { id = "" } = await task.pushConfigs.create({ url: publicUrl });
    const creations = agent.calls("CreateTaskPushNotificationConfig").length;
    agent.rotateCard({ ...pushCard, version: "9.9.9" });
    expect(await caught(task.pushConfigs.create({ url: publicUrl }))).toBeInstanceOf(CardDriftError);
    expect(agent.calls("CreateTaskPushNotificationConfig").length).toBe(creations);
    expect(await caught(other.pushConfigs.list())).toBeInstanceOf(CardDriftError);
    expect(await caught(third.pushConfigs.get(id))).toBeInstanceOf(CardDriftError);
    await task.pushConfigs.delete(id);
  });

  test("that an agent refuses although its card claims push ends the trust, unless the card has changed", async () => {
    const { agent, client, start } = await startScripted();
    const task = await start();
    agent.once("CreateTaskPushNotificationConfig", [answer.error(-32003, "no push here")]);
    const error = await caught(task.pushConfigs.create({ url: publicUrl }));
    expect(error).toBeInstanceOf(PushNotificationNotSupportedError);
    expect(client.trust.record?.history.at(-1)?.reason).toContain("no push here");

    agent.rotateCard(createTestCard());
    agent.once("CreateTaskPushNotificationConfig", [answer.error(-32003, "no push here")]);
    const drift = await caught(task.pushConfigs.create({ url: publicUrl }));
    expect(drift).toMatchObject({ name: "CardDriftError", reason: "push-disabled" });
  });

  test("lists page by page, and a circle of pages is an error", async () => {
    const { agent, start } = await startScripted();
    const task = await start();
    const config = (id: string) => ({ id, taskId: task.id, url: publicUrl });
    agent.once("ListTaskPushNotificationConfigs", [
      answer.result({ configs: [config("a"), config("b")], nextPageToken: "2" }),
      answer.result({ configs: [config("c")], nextPageToken: "" }),
      answer.result({ configs: [], nextPageToken: "1" }),
      answer.result({ configs: [config("a")], nextPageToken: "1" }),
    ]);
    const page = await task.pushConfigs.list({ pageSize: 2 });
    expect(page.configs.map(({ id }) => id)).toEqual(["a", "b"]);
    const ids: (string | undefined)[] = [];
    for await (const { id } of page) ids.push(id);
    expect(ids).toEqual(["a", "b", "c"]);
    const second = agent.calls("ListTaskPushNotificationConfigs").at(-1);
    expect(second?.params).toMatchObject({ pageSize: 2, pageToken: "2" });
    const all = async () => {
      for await (const _config of await task.pushConfigs.list());
    };
    expect(await caught(all())).toMatchObject({ name: "MalformedResponseError" });
  });
});

describe("a message with a configuration", () => {
  test("whose answer is still to come: what is pushed meanwhile is parked, and found when it has come", async () => {
    const ledger = createMemoryLedger();
    const updates: PushUpdate[] = [];
    const receive = createWebhookReceiver({ ledger, onUpdate: (update) => void updates.push(update) });
    const agent = createScriptedAgent({ card: pushCard, pushes: { copies: 0 } });
    const client = await createClient(agent.url, { fetch: agent.fetch, ledger });
    closers.push(() => client.close());
    let answers: number[] = [];
    agent.once("SendMessage", [
      async ({ params }) => {
        const { configuration } = params as {
          configuration?: { taskPushNotificationConfig?: { token?: string } };
        };
        const secret = configuration?.taskPushNotificationConfig?.token ?? "";
        const push = async (taskId: string, token = secret) => {
          const body = {
            statusUpdate: {
              taskId,
              contextId: "c-1",
              status: { state: "TASK_STATE_WORKING", timestamp: "2030-01-01T00:00:00Z" },
            },
          };
          const headers = { "content-type": "application/a2a+json", "x-a2a-notification-token": token };
          return (
            await receive(new Request(publicUrl, { method: "POST", headers, body: JSON.stringify(body) }))
          ).status;
        };
        answers = [await push("t-1"), await push("t-1"), await push("t-2"), await push("t-1", `${secret}x`)];
        const status = { state: "TASK_STATE_SUBMITTED", timestamp: "2029-12-31T23:59:59Z" };
        return answer.result({ task: { id: "t-1", contextId: "c-1", status } });
      },
    ]);
    const reply = await client.sendMessage("Something.", { pushNotificationConfig: { url: publicUrl } });
    expect(answers).toEqual([200, 200, 404, 401]);
    expect("task" in reply && reply.task.id).toBe("t-1");
    expect(updates).toMatchObject([{ taskId: "t-1", state: "TASK_STATE_WORKING" }]);
    const inbox = (await ledger.read(JSON.stringify(["inbox", client.lease.url, "default", "t-1"])))?.record;
    expect(inbox).toMatchObject({
      kind: "inbox",
      count: 1,
      configs: [{ fingerprints: [expect.any(String)] }],
    });
  });

  test.each([
    ["answered with a message", answer.message("Done already."), true],
    ["refused", answer.error(-32602, "no"), false],
  ])("that is %s leaves nothing behind", async (_name, behaviour, isAnswered) => {
    const ledger = createMemoryLedger();
    const agent = createScriptedAgent({ card: pushCard });
    const client = await createClient(agent.url, { fetch: agent.fetch, ledger });
    closers.push(() => client.close());
    const removed: string[] = [];
    const { remove } = ledger;
    const watched = async (key: string) => {
      removed.push(key);
      await remove(key);
    };
    Object.assign(ledger, { remove: watched });
    agent.once("SendMessage", [behaviour]);
    const sent = client.sendMessage("x", { pushNotificationConfig: { url: publicUrl } });
    expect(
      await sent.then(
        () => true,
        () => false,
      ),
    ).toBe(isAnswered);
    expect(removed.length).toBe(1);
    expect(await ledger.read(removed[0] ?? "")).toBeUndefined();
  });
});
