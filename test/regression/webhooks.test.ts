import { AddressRefusedError, createMemoryLedger } from "a2a-lease";
import { createWebhookReceiver } from "a2a-lease/webhook";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { minute, pushOf, startRig, status, token } from "../webhook/rig.ts";

describe("a notification", () => {
  test("is taken by the secret that the agent was given, in whichever of the two places", async () => {
    const { receive, handle, secret, updates } = await startRig();
    const push = (nth: number, headers: Record<string, string>) =>
      receive(pushOf(status(handle.id, "WORKING", minute(nth)), headers));

    expect((await push(1, token(secret))).status).toBe(200);
    expect((await push(2, { authorization: `Bearer ${secret}` })).status).toBe(200);
    expect(updates).toHaveLength(2);
  });

  test.each([
    ["with a wrong token", () => token("a-secret-of-somebody-else"), 401],
    ["with neither token nor authorization", () => ({}), 401],
    ["with the right token and an unknown task id", (secret: string) => token(secret), 404],
  ])("%s is refused, and nothing is told", async (what, headers, expected) => {
    const { receive, handle, secret, updates } = await startRig();
    const taskId = what.includes("unknown task") ? "task-of-nobody" : handle.id;
    const response = await receive(pushOf(status(taskId, "COMPLETED", minute(1)), headers(secret)));

    expect(response.status).toBe(expected);
    expect(await response.text()).not.toContain(secret);
    expect(updates).toEqual([]);
  });

  test("is refused where no secret was ever configured, and a receiver that verifies nothing can't be made", async () => {
    const receive = createWebhookReceiver({ ledger: createMemoryLedger() });
    const body = status("task-1", "COMPLETED", minute(1));

    expect((await receive(pushOf(body, token("any-secret-there-may-be")))).status).toBe(401);
    expect(() => createWebhookReceiver({ ledger: createMemoryLedger(), verify: null as never })).toThrow(
      TypeError,
    );
  });
});

describe("a webhook is not registered at", () => {
  test.each([
    ["plain HTTP", "http://caller.example.com/hook"],
    ["a private address", "https://10.0.0.5/hook"],
    ["a private address in plain HTTP", "http://10.0.0.5/hook"],
    ["a private address of another net", "https://192.168.1.1/hook"],
    ["loopback", "https://127.0.0.1/hook"],
    ["loopback by name", "https://localhost/hook"],
    ["loopback of IPv6", "https://[::1]/hook"],
    ["a private address in IPv6", "https://[::ffff:10.0.0.5]/hook"],
    ["a unique local address", "https://[fd12::1]/hook"],
    ["the metadata service of a cloud", "https://169.254.169.254/latest"],
    ["a number", "https://167772165/hook"],
    ["hexadecimal", "https://0x0a000005/hook"],
  ])("%s", async (_what, url) => {
    const { client, handle } = await startRig();

    await caught(handle.pushConfigs.create({ url }), AddressRefusedError);
    await caught(client.createTaskPushNotificationConfig({ taskId: handle.id, url }), AddressRefusedError);
    await caught(client.sendMessage("x", { pushNotificationConfig: { url } }), AddressRefusedError);
  });
});
