import { createMemoryLedger, type Ledger, LifecycleNotTrustedError } from "a2a-lease";
import { step } from "a2a-lease/testing";
import { createWebhookReceiver } from "a2a-lease/webhook";
import { describe, expect, test } from "vitest";
import { createWrittenLedger } from "../ledger/written.ts";
import { listen, minute, pushOf, startRig, status, token } from "./rig.ts";

/** What a push is answered with. */
async function answerOf(response: Response) {
  return { status: response.status, body: await response.json() };
}

const stored = { status: 200, body: { outcome: "new" } };
const duplicate = { status: 200, body: { outcome: "duplicate" } };
const late = { status: 200, body: { outcome: "late" } };
const unauthorized = { status: 401, body: { error: "unauthorized" } };
const unknownTask = { status: 404, body: { error: "unknown task" } };

describe("who sends a notification", () => {
  test.each([
    ["the token", (secret: string) => token(secret)],
    ["Authorization", (secret: string) => ({ authorization: `Bearer ${secret}` })],
    [
      "Authorization, its scheme in another case",
      (secret: string) => ({ authorization: `bEARER ${secret}` }),
    ],
    ["both", (secret: string) => ({ ...token(secret), authorization: `Bearer ${secret}` })],
    [
      "the token, behind a proxy with a scheme of its own",
      (secret: string) => ({ ...token(secret), authorization: "Basic eDp5" }),
    ],
  ])("is told by %s", async (_name, headers) => {
    const { receive, handle, secret, updates } = await startRig();
    const body = status(handle.id, "WORKING", minute(1));
    expect(await answerOf(await receive(pushOf(body, headers(secret))))).toEqual(stored);
    expect(updates).toMatchObject([
      { taskId: handle.id, event: "statusUpdate", state: "TASK_STATE_WORKING" },
    ]);
  });

  test.each([
    ["a wrong token", () => token("not-the-secret-of-anything")],
    ["a secret that is nearly right", (secret: string) => token(`${secret.slice(0, -1)}~`)],
    ["an empty token", () => token("")],
    ["a very long token", () => token("x".repeat(12_000))],
    ["the secret under another scheme", (secret: string) => ({ authorization: `Basic ${secret}` })],
    ["the secret without a scheme", (secret: string) => ({ authorization: secret })],
    ["nothing", () => ({})],
  ])("%s is refused without a hint", async (_name, headers) => {
    const { receive, handle, secret, updates, errors } = await startRig();
    const response = await receive(pushOf(status(handle.id, "COMPLETED", minute(1)), headers(secret)));
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await answerOf(response)).toEqual(unauthorized);
    expect({ updates, errors }).toEqual({ updates: [], errors: [] });
  });

  test("is refused where nothing was ever configured", async () => {
    const receive = createWebhookReceiver({ ledger: createMemoryLedger() });
    const body = status("task-1", "COMPLETED", minute(1));
    expect(await answerOf(await receive(pushOf(body, token("a-secret-that-nobody-made"))))).toEqual(
      unauthorized,
    );
    expect(await answerOf(await receive(pushOf(body)))).toEqual(unauthorized);
  });

  test("a receiver that would verify nothing can't be made", () => {
    const ledger = createMemoryLedger();
    for (const verify of [false, null, "none"]) {
      expect(() => createWebhookReceiver({ ledger, verify: verify as never })).toThrow(TypeError);
    }
  });

  test("is refused from the moment on that its configuration is deleted", async () => {
    const { receive, handle, secret } = await startRig();
    const [config] = (await handle.pushConfigs.list()).configs;
    await handle.pushConfigs.delete(config?.id ?? "");
    const body = status(handle.id, "WORKING", minute(1));
    expect(await answerOf(await receive(pushOf(body, token(secret))))).toEqual(unauthorized);
  });

  test("the ledger never has the secret", async () => {
    const { ledger, written } = createWrittenLedger();
    const { secret, receive, handle } = await startRig({ ledger });
    await receive(pushOf(status(handle.id, "WORKING", minute(1)), token(secret)));
    expect(secret.length).toBe(43);
    expect(written.length).toBeGreaterThan(4);
    expect(written.filter((text) => text.includes(secret))).toEqual([]);
  });
});

describe("whose notification it is", () => {
  test("the right secret and another task is refused", async () => {
    const { receive, secret, updates } = await startRig();
    const body = status("somebody-elses-task", "COMPLETED", minute(1));
    expect(await answerOf(await receive(pushOf(body, token(secret))))).toEqual(unknownTask);
    expect(updates).toEqual([]);
  });

  test.each([
    ["of another task", (_id: string) => [status("somebody-elses-task", "COMPLETED", minute(1))]],
    ["of two ends", (id: string) => [status(id, "COMPLETED", minute(1)), status(id, "FAILED", minute(2))]],
  ])("a notification %s ends the trust that was earned, for the next send", async (_name, bodiesOf) => {
    const rig = await startRig({ agent: { plan: [step.working(), step.completed()] }, trust: "required" });
    const { client, handle, receive, secret } = rig;
    expect(client.trust.level).toBe("lifecycle-trusted");
    for (const body of bodiesOf(handle.id)) await receive(pushOf(body, token(secret)));
    const refused = client.sendMessage("Once more.").then(
      () => "sent",
      (error: unknown) => error,
    );
    expect(await refused).toBeInstanceOf(LifecycleNotTrustedError);
    expect(client.trust.record?.history.at(-1)?.reason).toMatch(/identity|terminal-is-final/);
  });

  test("another context breaks identity", async () => {
    const { receive, handle, secret, updates, errors } = await startRig();
    const body = status(handle.id, "WORKING", minute(1), { contextId: "another-context" });
    const answer = await answerOf(await receive(pushOf(body, token(secret))));
    expect(answer).toMatchObject({ status: 409, body: { error: "lifecycle", rule: "identity" } });
    expect({ updates, errors }).toMatchObject({ updates: [], errors: [{ name: "LifecycleMismatchError" }] });
  });
});

describe("what a notification says", () => {
  test("comes twice and is told once", async () => {
    const { receive, handle, secret, updates } = await startRig();
    const push = () => receive(pushOf(status(handle.id, "WORKING", minute(1)), token(secret)));
    expect(await answerOf(await push())).toEqual(stored);
    expect(await answerOf(await push())).toEqual(duplicate);
    expect(updates.length).toBe(1);
  });

  test("in another order than it happened is late, not wrong", async () => {
    const { receive, handle, secret, updates, errors } = await startRig();
    const push = async (state: string, timestamp?: string) =>
      answerOf(await receive(pushOf(status(handle.id, state, timestamp), token(secret))));
    expect(await push("COMPLETED", minute(5))).toEqual(stored);
    expect(await push("WORKING", minute(2))).toEqual(late);
    expect(await push("INPUT_REQUIRED")).toEqual(late);
    expect(await push("COMPLETED", minute(5))).toEqual(duplicate);
    expect(updates.map(({ state }) => state)).toEqual(["TASK_STATE_COMPLETED"]);
    expect(errors).toEqual([]);
  });

  test("against the rules of a task's life is refused by the rule's name, each time", async () => {
    const { receive, handle, secret, updates, errors } = await startRig();
    const push = async (state: string, timestamp: string) =>
      answerOf(await receive(pushOf(status(handle.id, state, timestamp), token(secret))));
    await push("COMPLETED", minute(5));
    for (let round = 0; round < 2; round++) {
      const answer = await push("FAILED", minute(6));
      expect(answer).toMatchObject({ status: 409, body: { rule: "terminal-is-final" } });
    }
    expect(await push("WORKING", minute(7))).toMatchObject({
      status: 409,
      body: { rule: "terminal-is-final" },
    });
    expect(await push("NO_STATE_OF_OURS", minute(8))).toMatchObject({ status: 409 });
    expect(updates.length).toBe(1);
    expect(errors.length).toBe(4);
  });

  test("is judged by what the client has seen too", async () => {
    const { client, receive, handle, secret, errors } = await startRig();
    await client.cancelTask({ id: handle.id });
    const body = status(handle.id, "COMPLETED", "2999-01-01T00:00:00Z");
    const answer = await answerOf(await receive(pushOf(body, token(secret))));
    expect(answer).toMatchObject({ status: 409, body: { rule: "terminal-is-final" } });
    expect(errors).toMatchObject([{ rule: "terminal-is-final", taskId: handle.id }]);
  });

  test("may be a whole task, a piece of an artifact or a message", async () => {
    const { receive, handle, secret, updates } = await startRig();
    const artifactUpdate = { taskId: handle.id, artifact: { artifactId: "a", parts: [{ text: "x" }] } };
    const message = { messageId: "m-1", role: "ROLE_AGENT", parts: [{ text: "Nearly." }] };
    const task = { id: handle.id, status: { state: "TASK_STATE_WORKING", timestamp: minute(3) } };
    for (const body of [{ artifactUpdate }, { message }, { task }, { message }, { artifactUpdate }]) {
      expect((await receive(pushOf(body, token(secret)))).status).toBe(200);
    }
    expect(updates.map(({ event }) => event)).toEqual(["artifactUpdate", "message", "task"]);
  });

  test.each([
    [
      "a bare task",
      (id: string) => ({ id, kind: "task", status: { state: "completed", timestamp: minute(4) } }),
      "task",
    ],
    [
      "a bare task without a kind",
      (id: string) => ({ id, status: { state: "TASK_STATE_COMPLETED", timestamp: minute(4) } }),
      "task",
    ],
    [
      "a bare update",
      (taskId: string) => ({
        taskId,
        kind: "status-update",
        final: true,
        status: { state: "completed", timestamp: minute(4) },
      }),
      "statusUpdate",
    ],
  ])("in the form of A2A 0.x, %s, is read as a deviation", async (_name, bodyOf, event) => {
    const { receive, handle, secret, updates } = await startRig();
    expect(await answerOf(await receive(pushOf(bodyOf(handle.id), token(secret))))).toEqual(stored);
    expect(updates).toMatchObject([{ event, state: "TASK_STATE_COMPLETED" }]);
    expect(updates[0]?.deviations[0]).toMatchObject({ kind: "older-payload" });
  });

  test.each([
    ["no JSON", "{", 400],
    ["JSON that is no event", { hello: "there" }, 422],
    [
      "two events in one",
      { ...status("t", "WORKING"), message: { messageId: "m", role: "ROLE_AGENT", parts: [] } },
      422,
    ],
    ["a list", [], 422],
    ["nothing", "", 400],
    ["what is nested too deeply", `${"[".repeat(200)}${"]".repeat(200)}`, 400],
  ])("is refused when it is %s", async (_name, body, wanted) => {
    const { receive, secret, updates } = await startRig();
    expect((await receive(pushOf(body, token(secret)))).status).toBe(wanted);
    expect(updates).toEqual([]);
  });

  test("stays stored when the one who hears of it fails", async () => {
    const { receive, handle, secret, errors } = await startRig({
      onUpdate: () => {
        throw new TypeError("no");
      },
    });
    const push = () => receive(pushOf(status(handle.id, "WORKING", minute(1)), token(secret)));
    expect(await answerOf(await push())).toEqual(stored);
    expect(await answerOf(await push())).toEqual(duplicate);
    expect(errors).toEqual([new TypeError("no")]);
  });

  test("shows nothing of the content to the one who hears of it", async () => {
    const { receive, handle, secret, updates } = await startRig();
    const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "the content itself" }] };
    const body = { statusUpdate: { taskId: handle.id, status: { state: "TASK_STATE_WORKING", message } } };
    await receive(pushOf(body, token(secret)));
    expect(JSON.stringify(updates)).not.toContain("the content itself");
  });
});

describe("a ledger that fails", () => {
  test("answers 503, and the same notification is taken later", async () => {
    const inner = createMemoryLedger();
    let isDown = false;
    const ledger: Ledger = {
      ...inner,
      write: async (...args) => {
        if (isDown) throw new TypeError("down");
        return inner.write(...args);
      },
    };
    const { receive, handle, secret, updates, errors } = await startRig({ ledger });
    const push = () => receive(pushOf(status(handle.id, "WORKING", minute(1)), token(secret)));
    isDown = true;
    const response = await push();
    expect({ status: response.status, wait: response.headers.get("retry-after") }).toEqual({
      status: 503,
      wait: "5",
    });
    expect(updates).toEqual([]);
    expect(errors).toMatchObject([{ name: "LedgerUnavailableError" }]);
    isDown = false;
    expect(await answerOf(await push())).toEqual(stored);
    expect(updates.length).toBe(1);
  });
});

describe("the head of a request", () => {
  test("only POST is taken", async () => {
    const { receive } = await startRig();
    const response = await receive(new Request("https://caller.example.com/a2a"));
    expect({ status: response.status, allow: response.headers.get("allow") }).toEqual({
      status: 405,
      allow: "POST",
    });
  });

  test.each([
    ["application/json", 200],
    ["application/a2a+json; charset=utf-8", 200],
    ["text/plain", 415],
    ["application/x-www-form-urlencoded", 415],
    ["", 415],
  ])("the media type %j is answered with %i", async (type, wanted) => {
    const { receive, handle, secret } = await startRig();
    const body = status(handle.id, "WORKING", minute(1));
    const request = pushOf(body, { ...token(secret), "content-type": type });
    expect((await receive(request)).status).toBe(wanted);
  });

  test("works behind node:http", async () => {
    const { receive, handle, secret, updates } = await startRig();
    const url = await listen(receive);
    const body = status(handle.id, "WORKING", minute(1));
    expect(await answerOf(await fetch(pushOf(body, token(secret), url)))).toEqual(stored);
    expect((await fetch(url)).status).toBe(405);
    expect(updates.length).toBe(1);
  });
});
