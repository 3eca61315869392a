import {
  CardDriftError,
  ConnectionError,
  createClient,
  createMemoryLedger,
  HttpStatusError,
  type Ledger,
  SendOutcomeUnknownError,
} from "a2a-lease";
import { answer, createScriptedAgent, createTestCard, createTestClock, step } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { driven } from "../flow/driven.ts";
import { publicUrl, pushCard } from "../webhook/rig.ts";

const unlisted = answer.error(-32601, "no such method");
const message = { messageId: "m-1", parts: [{ text: "hello" }] };

function setUp() {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, plan: [step.working()] });
  const ledger: Ledger = { ...createMemoryLedger({ clock }), shared: true };
  const connect = (more = {}) =>
    createClient(agent.url, { fetch: agent.fetch, clock, ledger, retries: { firstMs: 0 }, ...more });
  return { clock, agent, ledger, connect };
}

const intentOf = async (ledger: Ledger, messageId: string) => {
  const key = ["intent", "https://agent.example/.well-known/agent-card.json", "default", messageId];
  return (await ledger.read(JSON.stringify(key)))?.record;
};

describe("a message that its caller sends once more under the same id", () => {
  test("is not said to be not there because the second sending was refused", async () => {
    const { agent, ledger, connect } = setUp();
    const client = await connect();
    agent.on("ListTasks", unlisted);
    agent.once("SendMessage", answer.acceptThenReset());
    await caught(client.sendMessage(message), SendOutcomeUnknownError);
    agent.once("SendMessage", answer.http(429));
    await caught(client.sendMessage(message), HttpStatusError);

    expect(agent.acceptedMessageIds).toEqual(["m-1"]);
    expect(await intentOf(ledger, "m-1")).toMatchObject({ state: "unknown" });
    expect(await client.recover("m-1")).toEqual({ status: "cannot-tell", reason: "no-listing" });
  });

  test("keeps the task that answered the first when the second was refused", async () => {
    const { agent, ledger, connect } = setUp();
    const client = await connect();
    await client.sendMessage(message);
    agent.on("ListTasks", unlisted);
    agent.once("SendMessage", answer.http(429));
    await caught(client.sendMessage(message), HttpStatusError);

    expect(await intentOf(ledger, "m-1")).toMatchObject({ state: "answered", answer: { taskId: "task-1" } });
    expect(await client.recover("m-1")).toMatchObject({ status: "found", task: { id: "task-1" } });
  });
});

describe("a message that two workers write about", () => {
  test("is answered where another worker called it refused before the answer came", async () => {
    const { clock, agent, ledger, connect } = setUp();
    const [sender, other] = [await connect(), await connect()];
    await other.sendMessage("another");
    agent.once("SendMessage", answer.delay(5_000, answer.honest()));
    const sending = sender.sendMessage(message);
    await clock.advance(10);
    expect(await driven(clock, other.recover("m-1"))).toEqual({ status: "not-there" });
    const reply = await driven(clock, sending);
    if (!("task" in reply)) expect.fail("no task");
    agent.on("ListTasks", unlisted);

    expect(await intentOf(ledger, "m-1")).toMatchObject({
      state: "answered",
      answer: { taskId: reply.task.id },
    });
    expect(await other.recover("m-1")).toMatchObject({ status: "found" });
  });

  test("is unknown where another worker called it refused before the answer was lost", async () => {
    const { clock, agent, ledger, connect } = setUp();
    const [sender, other] = [await connect(), await connect()];
    await other.sendMessage("another");
    agent.once("SendMessage", answer.delay(5_000, answer.acceptThenReset()));
    const sending = caught(sender.sendMessage(message), SendOutcomeUnknownError);
    await clock.advance(10);
    expect(await driven(clock, other.recover("m-1"))).toEqual({ status: "not-there" });
    agent.on("ListTasks", unlisted);
    await driven(clock, sending);

    expect(await intentOf(ledger, "m-1")).toMatchObject({ state: "unknown" });
    expect(await other.recover("m-1")).toMatchObject({ status: "cannot-tell" });
  });
});

describe("a message that is answered while it is looked for", () => {
  test("is found, however old the list is", async () => {
    const { clock, agent, connect } = setUp();
    const [sender, other] = [await connect(), await connect()];
    await other.sendMessage("another");
    const listed = { tasks: agent.tasks.get("task-1") ? [agent.tasks.get("task-1")] : [], nextPageToken: "" };
    agent.on("ListTasks", answer.delay(1_000, answer.result({ ...listed, pageSize: 50, totalSize: 1 })));
    agent.once("SendMessage", answer.delay(500, answer.honest()));
    const sending = sender.sendMessage(message);
    await clock.advance(10);
    const recovery = await driven(clock, other.recover("m-1"));

    expect(await driven(clock, sending)).toMatchObject({ task: { id: "task-2" } });
    expect(recovery).toMatchObject({ status: "found", task: { id: "task-2" } });
  });
});

describe("the look for a lost message", () => {
  test.each(["SendStreamingMessage", "SendMessage"] as const)(
    "is made once where work is delegated by %s and an outage is in the way",
    async (operation) => {
      const { clock, agent, connect } = setUp();
      if (operation === "SendMessage") {
        agent.rotateCard((card) => ({ ...card, capabilities: { ...card.capabilities, streaming: false } }));
      }
      const client = await connect();
      agent.on(operation, answer.acceptThenReset());
      agent.on("ListTasks", answer.http(503));

      await driven(clock, caught(client.delegate("hello"), SendOutcomeUnknownError));

      expect(agent.acceptedMessageIds).toHaveLength(1);
      expect(agent.calls("ListTasks")).toHaveLength(1);
    },
  );
});

describe("a card that does not answer", () => {
  test("holds no worker up for the turns of all the others", async () => {
    const { clock, agent, connect } = setUp();
    const workers = await Promise.all(Array.from({ length: 12 }, () => connect()));
    agent.on("card", answer.silence());
    const since = clock.monotonicMs();
    const took: number[] = [];
    await driven(
      clock,
      Promise.all(
        workers.map(async (worker) => {
          await caught(worker.sendMessage("hello"));
          took.push(clock.monotonicMs() - since);
        }),
      ),
      100,
    );
    expect(Math.max(...took) - Math.min(...took)).toBeLessThanOrEqual(10_000);
  });
});

describe("push configurations and lost messages", () => {
  test("the secret of a push configuration stays where a drift hides what became of its message", async () => {
    const clock = createTestClock();
    const agent = createScriptedAgent({
      clock,
      card: pushCard,
      plan: [step.working()],
      pushes: { copies: 0 },
    });
    const ledger = createMemoryLedger({ clock });
    const client = await createClient(agent.url, { fetch: agent.fetch, clock, ledger });
    agent.rotateCard((card) => ({ ...card, description: "another" }), { atMs: clock.now() + 5 });
    const held = answer.delay(
      10,
      answer.acceptThen(answer.http(500, "<html>", { "content-type": "text/html" })),
    );
    agent.once("SendMessage", held);
    const error = await driven(
      clock,
      caught(
        client.sendMessage("hello", {
          pushNotificationConfig: { url: publicUrl, token: "the-first-secret-of-all" },
        }),
      ),
      5,
    );
    const { entries } = await ledger.list({ kind: "push" });
    expect(error).toBeInstanceOf(CardDriftError);
    expect((error as CardDriftError).cause).toBeInstanceOf(SendOutcomeUnknownError);
    expect(entries).toHaveLength(1);
  });
});

describe("an origin that", () => {
  /** A client of an agent with five interfaces at one origin, and the requests that broke on the way to them. */
  async function connectToFive(isBroken: (url: string) => boolean) {
    const clock = createTestClock();
    const card = createTestCard();
    const paths = ["rpc", "rpc1", "rpc2", "rpc3", "rpc4"];
    const supportedInterfaces = paths.flatMap((path) =>
      card.supportedInterfaces.map((item) => ({ ...item, url: `https://agent.example/${path}` })),
    );
    const agent = createScriptedAgent({ clock, card: { ...card, supportedInterfaces } });
    const broken: string[] = [];
    const client = await createClient(agent.url, {
      clock,
      async fetch(input, init) {
        const url = String(input);
        if (!isBroken(url)) return agent.fetch(url.replace(/rpc\d$/, "rpc"), init);
        broken.push(url);
        throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNRESET" } });
      },
    });
    return { clock, client, broken };
  }

  test("breaks every connection has no more than the budget on top, however many interfaces it lists", async () => {
    const { clock, client, broken } = await connectToFive((url) => url.includes("/rpc"));
    for (let at = 0; at < 30; at++) {
      await driven(clock, caught(client.getTask({ id: "t" }), ConnectionError), 500);
    }
    // Each of the card's own reads, which go well, gives a tenth back.
    expect(broken.length).toBeLessThanOrEqual(30 + 10 + 30 / 10);
  });

  test("breaks the connections of one interface goes on to be called at another", async () => {
    const { clock, client, broken } = await connectToFive((url) => url.endsWith("/rpc"));
    for (let at = 0; at < 40; at++) await driven(clock, client.listTasks({}), 500);
    expect(broken).toHaveLength(40);
  });
});
