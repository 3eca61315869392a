import { createClient } from "a2a-lease";
import { answer, createTestCard, step } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { setUp, taskOf } from "../flow/lifecycle-setup.ts";
import { serve } from "../wire/loopback.ts";

const geo = "https://example.com/extensions/geolocation";
const citations = "https://standards.example/extensions/citations/v1";

describe("what a client may not make up", () => {
  test("a first message names no context and no task: both are the agent's to make", async () => {
    const { agent, connect } = setUp();
    const client = await connect();

    await client.sendMessage("one");
    for await (const _event of await client.sendStreamingMessage("two")) break;

    for (const { params } of agent.calls()) {
      expect(Object.keys((params as { message: object }).message).sort()).toEqual([
        "messageId",
        "parts",
        "role",
      ]);
    }
  });

  test("a context id is given back as it came, whatever it looks like", async () => {
    const contextId = ' Ü/%2F"\\ \u0000{}';
    const { agent, connect } = setUp();
    agent.plan([step.inputRequired("Which?"), step.completed()]);
    const client = await connect();
    const task = taskOf(await client.sendMessage("one", { contextId }));
    await task.get();

    await task.sendMessage("two");
    await task.continueInContext("three");

    expect(task.contextId).toBe(contextId);
    const sent = agent.calls("SendMessage").map(({ params }) => (params as { message: object }).message);
    expect(sent).toMatchObject([{ contextId }, { contextId, taskId: task.id }, { contextId }]);
  });

  test("a push configuration that goes with a message names no task", async () => {
    const capabilities = { streaming: true, pushNotifications: true };
    const { agent, connect } = setUp({ card: createTestCard({ capabilities }), pushes: { copies: 0 } });
    agent.plan([step.inputRequired("Which?"), step.completed()]);
    const client = await connect();
    const pushNotificationConfig = { url: "https://caller.example.com/hook" };

    const task = taskOf(await client.sendMessage("one", { pushNotificationConfig }));
    await task.get();
    await task.sendMessage("two", { pushNotificationConfig });

    const sent = agent.calls("SendMessage").map(({ params }) => params as { configuration: object });
    expect(sent.map(({ configuration }) => configuration)).toEqual(
      sent.map(() => ({
        returnImmediately: true,
        taskPushNotificationConfig: {
          id: expect.any(String),
          url: pushNotificationConfig.url,
          token: expect.any(String),
          authentication: { scheme: "Bearer", credentials: expect.any(String) },
        },
      })),
    );
  });

  test("a URL in a part is the caller's to read: the client never does", async () => {
    const { agent, connect } = setUp({ card: createTestCard({ defaultInputModes: ["*/*"] }) });
    const url = `${agent.url}/secret.png`;
    agent.plan([step.working(), step.artifact("a", [{ url }]), step.completed()]);
    const client = await connect();

    const outcome = await client.delegate([{ url, mediaType: "image/png" }]);

    expect(outcome.status).toBe("completed");
    expect(agent.transcript.filter(({ path }) => path === "/secret.png")).toEqual([]);
  });
});

describe("what every request says", () => {
  test("the version is Major.Minor, also where the card has a patch", async () => {
    const supportedInterfaces = [
      { url: "https://agent.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0.3" },
    ];
    const { agent, connect } = setUp({ card: createTestCard({ supportedInterfaces }) });
    const client = await connect();

    await client.sendMessage("one");

    expect(agent.transcript.map(({ headers }) => headers["a2a-version"])).toEqual(["1.0", "1.0", "1.0"]);
  });

  test("extensions are one header, with commas, and only such as the card has in that very version", async () => {
    const extensions = [{ uri: `${geo}/v1` }, { uri: citations }, { uri: "urn:other" }];
    const { agent, connect } = setUp({ card: createTestCard({ capabilities: { extensions } }) });
    const client = await connect({ extensions: [`${geo}/v2`, citations, "urn:other"] });

    await client.sendMessage("one");

    expect(agent.calls()[0]?.headers["a2a-extensions"]).toBe(`${citations},urn:other`);
  });

  test("a call is JSON-RPC 2.0 in UTF-8, with names as the proto has them", async () => {
    const agent = await serve((response, { method, body }) => {
      response.setHeader("content-type", "application/json");
      const supportedInterfaces = [{ url: agent.url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
      if (method === "GET") return response.end(JSON.stringify(createTestCard({ supportedInterfaces })));
      const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "grüß dich 𝒳" }] };
      response.end(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id, result: { message } }));
    });
    const client = await createClient(agent.url);

    const reply = await client.sendMessage("grüß dich 𝒳");
    await client.close();

    const post = agent.seen.find(({ method }) => method === "POST");
    expect(post?.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(post?.body ?? "")).toEqual({
      jsonrpc: "2.0",
      id: expect.any(Number),
      method: "SendMessage",
      params: {
        message: { messageId: expect.any(String), role: "ROLE_USER", parts: [{ text: "grüß dich 𝒳" }] },
        configuration: { returnImmediately: true },
      },
    });
    expect(reply).toMatchObject({ message: { parts: [{ text: "grüß dich 𝒳" }] } });
  });

  test("every message asks for its credentials anew", async () => {
    const card = createTestCard({
      securitySchemes: { login: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
      securityRequirements: [{ schemes: { login: { list: [] } } }],
    });
    const { agent, connect } = setUp({ card });
    agent.plan([step.authRequired("Sign in"), step.completed()]);
    let asked = 0;
    const client = await connect({
      credentials: async () => ({ headers: { authorization: `Bearer ${++asked}` } }),
    });

    const task = taskOf(await client.sendMessage("one"));
    await task.get();
    await task.sendMessage("two");

    const sent = agent.calls("SendMessage").map(({ headers }) => headers.authorization);
    expect(sent).toHaveLength(2);
    expect(new Set(sent).size).toBe(2);
  });

  test("the extended card is asked for with credentials", async () => {
    const card = createTestCard({
      capabilities: { extendedAgentCard: true },
      securitySchemes: { login: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
      securityRequirements: [{ schemes: { login: { list: [] } } }],
    });
    const { agent, connect } = setUp({ card });
    agent.on("GetExtendedAgentCard", answer.result(card));
    const client = await connect({ credentials: { bearer: "right" } });

    await client.getExtendedAgentCard();

    expect(agent.calls("GetExtendedAgentCard").map(({ headers }) => headers.authorization)).toEqual([
      "Bearer right",
    ]);
  });
});
