import {
  type Binding,
  type BindingFactory,
  CardDriftError,
  ConnectionError,
  CredentialOriginError,
  createJsonRpcBinding,
  NoSupportedInterfaceError,
  pinCard,
  readBindingAnswer,
  SendOutcomeUnknownError,
  TaskNotFoundError,
  writeBindingRequest,
} from "a2a-lease";
import { createTestCard } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "./caught.ts";
import { at, both, createTwoBindings } from "./two-bindings.ts";

const [rpc, rest] = both;

describe("of several interfaces", () => {
  test("the first in card order is called, whichever its binding", async () => {
    for (const [order, urls] of [
      [
        [rpc, rest],
        ["https://agent.example/rpc", "https://agent.example/rpc"],
      ],
      [
        [rest, rpc],
        ["https://agent.example/rest/message:send", "https://agent.example/rest/tasks/t1"],
      ],
    ] as const) {
      const agent = createTwoBindings(order);
      const client = await agent.connect();
      await client.sendMessage("hi");
      await client.getTask({ id: "t1" });
      expect(client.lease.interface).toEqual(order[0]);
      expect(agent.urls()).toEqual(urls);
    }
  });

  test("the one of the preferred binding is called, and stays the pinned one when the card's text changes", async () => {
    const agent = createTwoBindings();
    const client = await agent.connect({ preferredBindings: ["HTTP+JSON"] });
    await client.sendMessage("hi");
    expect(agent.urls()).toEqual(["https://agent.example/rest/message:send"]);

    agent.rotateCard({ description: "other words" });
    const { drift, reason } = await caught(client.getTask({ id: "t1" }), CardDriftError);
    expect({ reason, kinds: drift.changes.map(({ kind }) => kind) }).toEqual({
      reason: "content-changed",
      kinds: ["text-changed"],
    });
    const next = await client.renegotiate();
    expect(next.pin.interface).toEqual(rest);
  });

  test("the interface of the preferred binding moving is a drift that says so", async () => {
    const agent = createTwoBindings();
    const client = await agent.connect({ preferredBindings: ["HTTP+JSON"], compare: "structure" });
    agent.rotateCard({ supportedInterfaces: [rpc, at("https://agent.example/v2", "HTTP+JSON")] });
    const moved = await caught(client.sendMessage("hi"), CardDriftError);
    expect(moved.reason).toBe("interface-moved");
    expect(agent.seen).toEqual([]);
  });

  test.each(["GRPC", "http+json", "urn:mine"])(
    "%s can't be preferred where there is no such binding",
    async (name) => {
      const error = await caught(createTwoBindings().connect({ preferredBindings: [name] }), TypeError);
      expect(error.message).toContain(
        `preferredBindings: found "${name}", wanted names of JSONRPC, HTTP+JSON`,
      );
    },
  );

  test.each([
    ["preferredBindings", { preferredBindings: "JSONRPC" }],
    ["bindings", { bindings: {} }],
    ["bindings[0]", { bindings: [{ name: "urn:mine" }] }],
    ["bindings[1]", { bindings: [createJsonRpcBinding, () => undefined] }],
    ["bindings[0]", { bindings: [{ name: "", call() {}, open() {} }] }],
    ["extensions", { extensions: ["urn:a,urn:b"] }],
    ["requires.extensions", { requires: { extensions: ["urn:ü"] } }],
  ])("the option %s is checked at the door", async (name, options) => {
    const error = await caught(createTwoBindings().connect(options as never), TypeError);
    expect(error.message.startsWith(`${name}: `)).toBe(true);
  });

  test("none is called where the card offers gRPC alone, and the error says how one would be (J3)", async () => {
    const agent = createTwoBindings([at("agent.example:443", "GRPC")]);
    const error = await caught(agent.connect(), NoSupportedInterfaceError);
    expect(error.supported).toEqual(["JSONRPC", "HTTP+JSON"]);
    expect(error.message).toContain("gRPC is not built in");
    expect(error.message).toContain("the option bindings");
  });

  test("a pin from elsewhere whose binding the client lacks is told at the call, and nothing leaves", async () => {
    const agent = createTwoBindings([at("https://agent.example/x", "urn:mine"), ...both]);
    const card = createTestCard({
      supportedInterfaces: [at("https://agent.example/x", "urn:mine"), ...both],
    });
    const pin = pinCard(card, { bindings: ["urn:mine"] });
    const client = await agent.connect({ pin });
    const error = await caught(client.getTask({ id: "t1" }), NoSupportedInterfaceError);
    expect(error.message).toContain("this client has no such binding");
    expect(agent.seen).toEqual([]);
  });

  test("pinCard and the client choose alike", async () => {
    const card = createTestCard({ supportedInterfaces: [...both] });
    expect(pinCard(card).interface).toEqual(rpc);
    expect(pinCard(card, { preferredBindings: ["HTTP+JSON"] }).interface).toEqual(rest);
    expect(pinCard(card, { bindings: ["HTTP+JSON"] }).interface).toEqual(rest);
  });
});

describe("the tenant of the interface", () => {
  test.each([
    ["JSONRPC", ["/rpc", "/rpc"]],
    ["HTTP+JSON", ["/rest/acme/message:send", "/rest/acme/tasks/t1"]],
  ])("is on every request of %s", async (name, paths) => {
    const interfaces = both.map((entry) => ({ ...entry, tenant: "acme" }));
    const agent = createTwoBindings(interfaces);
    const client = await agent.connect({ preferredBindings: [name] });
    await client.sendMessage("hi");
    await client.getTask({ id: "t1" });
    expect(agent.urls().map((url) => new URL(url).pathname)).toEqual(paths);
    const bodies = agent.seen.map(
      ({ body }) => body as { tenant?: string; params?: { tenant: string } } | undefined,
    );
    const tenants = bodies.map((body) => body?.params?.tenant ?? body?.tenant);
    expect(tenants).toEqual(name === "JSONRPC" ? ["acme", "acme"] : ["acme", undefined]);
  });
});

describe("where an interface is down", () => {
  const down = at("https://down.example/rpc", "JSONRPC");
  const downRest = at("https://down.example/rest", "HTTP+JSON");

  test.each([
    ["a read", (client: { getTask(of: { id: string }): Promise<unknown> }) => client.getTask({ id: "t1" })],
    [
      "a message that never left",
      (client: { sendMessage(text: string): Promise<unknown> }) => client.sendMessage("hi"),
    ],
  ])("%s goes to the interface of another binding of the same card (F9)", async (_what, call) => {
    const agent = createTwoBindings([down, rest]);
    const client = await agent.connect();
    const retries: string[] = [];
    client.on("retry", (event) => retries.push(event.with));
    await call(client as never);
    expect(agent.seen.map(({ url }) => new URL(url).host)).toEqual(["down.example", "agent.example"]);
    expect(agent.urls()[1]).toContain("/rest/");
    expect(retries).toEqual(["interface"]);
  });

  test("and the other is at the same URL in another binding, that one is tried too", async () => {
    const agent = createTwoBindings([downRest, at("https://down.example/rest", "JSONRPC"), rpc]);
    const client = await agent.connect();
    await client.getTask({ id: "t1" });
    expect(agent.urls()).toEqual([
      "https://down.example/rest/tasks/t1",
      "https://down.example/rest",
      "https://agent.example/rpc",
    ]);
  });

  test("the same interface named twice is tried once, and no more than four others are", async () => {
    const many = Array.from({ length: 20 }, (_, index) => at(`https://down${index}.example/rpc`, "JSONRPC"));
    const agent = createTwoBindings([down, down, ...many, rpc]);
    const client = await agent.connect({ retries: false });
    await caught(client.getTask({ id: "t1" }), ConnectionError);
    expect(agent.urls().map((url) => new URL(url).host)).toEqual([
      "down.example",
      "down0.example",
      "down1.example",
      "down2.example",
      "down3.example",
    ]);
  });

  test("an interface that the credentials may not go to is passed over, and is not the error", async () => {
    const secured = {
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    };
    const options = {
      credentials: { bearer: "tok" },
      allowedOrigins: ["https://down.example"],
      retries: false as const,
    };
    const foreign = at("https://evil.example/rpc", "JSONRPC");
    const alone = createTwoBindings([down, foreign], secured);
    await caught((await alone.connect(options)).getTask({ id: "t1" }), ConnectionError);
    expect(alone.urls()).toEqual([down.url]);
    const agent = createTwoBindings([down, foreign, rest], secured);
    await (await agent.connect(options)).getTask({ id: "t1" });
    expect(agent.urls()).toEqual([down.url, "https://agent.example/rest/tasks/t1"]);
  });

  test("a message that may have left goes nowhere else", async () => {
    const agent = createTwoBindings([at("https://lost.example/rest", "HTTP+JSON"), rpc]);
    const client = await agent.connect();
    await caught(client.sendMessage("hi"), SendOutcomeUnknownError);
    const sends = agent.urls().filter((url) => url.endsWith("message:send"));
    expect(sends).toEqual(["https://lost.example/rest/message:send"]);
  });
});

describe("headers", () => {
  const context = {
    traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    tracestate: "vendor=1",
  };

  test.each(["JSONRPC", "HTTP+JSON"])(
    "of a trace go out with a call of %s as they were given",
    async (name) => {
      const agent = createTwoBindings();
      const client = await agent.connect({ preferredBindings: [name] });
      await client.sendMessage("hi", { headers: context });
      await client.getTask({ id: "t1" });
      expect(agent.seen[0]?.headers).toMatchObject(context);
      expect(agent.seen[1]?.headers).not.toHaveProperty("traceparent");
    },
  );

  test("go to an interface at another origin only where the caller allows it", async () => {
    const interfaces = [at("https://calls.example/rest", "HTTP+JSON")];
    for (const [allowedOrigins, traceparent] of [
      [[], undefined],
      [["https://calls.example"], context.traceparent],
    ] as const) {
      const agent = createTwoBindings(interfaces);
      const client = await agent.connect({ allowedOrigins });
      await client.getTask({ id: "t1" }, { headers: context });
      expect(agent.seen.map(({ headers }) => headers.traceparent)).toEqual([traceparent]);
    }
  });

  test.each(["JSONRPC", "HTTP+JSON"])(
    "name the extensions that the caller has and the card lists, over %s",
    async (name) => {
      const listed = [{ uri: "urn:b" }, { uri: "urn:a" }, { uri: "urn:b" }, { uri: "urn:theirs" }];
      const agent = createTwoBindings(both, { capabilities: { extensions: listed } });
      const client = await agent.connect({
        preferredBindings: [name],
        extensions: ["urn:a", "urn:b", "urn:mine"],
      });
      await client.sendMessage("hi");
      await client.sendMessage("hi", { requires: { extensions: ["urn:theirs"] } });
      expect(agent.seen.map(({ headers }) => headers["a2a-extensions"])).toEqual([
        "urn:b,urn:a",
        "urn:b,urn:a,urn:theirs",
      ]);
    },
  );
});

describe("a binding of one's own", () => {
  const uri = "https://bindings.example/frames/v1";
  const frames = at("wss://agent.example/frames", uri);

  /** A wire form of frames, each a name and the JSON of a request. */
  function createFrames(answer: (name: string, input: unknown) => unknown) {
    const seen: unknown[] = [];
    const binding: Binding = {
      name: uri,
      async call(operation, request, { interface: target, headers }) {
        const input = writeBindingRequest(operation, request, target.tenant);
        seen.push({ operation, input, url: target.url, authorization: headers.authorization });
        const output = answer(operation, input);
        if (output === undefined) throw new TaskNotFoundError({ operation, remoteMessage: "no such task" });
        return readBindingAnswer(operation, output);
      },
      async open() {
        throw new TypeError("no streams here");
      },
    };
    return { binding, seen };
  }
  const task = (state: string) => ({ id: "t1", contextId: "c1", status: { state } });

  test("is chosen by its name, in card order or by preference", async () => {
    const { binding } = createFrames(() => task("TASK_STATE_WORKING"));
    const agent = createTwoBindings([rpc, frames]);
    expect((await agent.connect({ bindings: [binding] })).pin.interface).toEqual(rpc);
    const client = await agent.connect({ bindings: [binding], preferredBindings: [uri] });
    expect(client.pin.interface).toEqual(frames);
  });

  test("carries calls under the same lease, and what it answers goes through the same checks", async () => {
    const { binding, seen } = createFrames((name) =>
      name === "SendMessage"
        ? { task: task("TASK_STATE_WORKING") }
        : name === "GetTask"
          ? task("paused")
          : undefined,
    );
    const agent = createTwoBindings([at(frames.url, uri, { tenant: "acme" })]);
    const client = await agent.connect({ bindings: [binding] });
    const reply = await client.sendMessage("hi");
    if (!("task" in reply)) throw new TypeError("found a message");
    await caught(client.cancelTask({ id: "t2" }), TaskNotFoundError);
    const broken = await caught(reply.task.get());
    expect(broken).toMatchObject({ name: "LifecycleMismatchError", rule: "known-state" });
    expect(seen.map((call) => call as { operation: string; input: object })).toMatchObject([
      { operation: "SendMessage", url: "wss://agent.example/frames", input: { tenant: "acme", message: {} } },
      { operation: "CancelTask", input: { tenant: "acme", id: "t2" } },
      { operation: "GetTask", input: { tenant: "acme", id: "t1" } },
    ]);
    agent.rotateCard({ description: "other words" });
    await caught(client.sendMessage("again"), CardDriftError);
    expect(seen).toHaveLength(3);
    expect(agent.seen).toEqual([]);
  });

  test("gets credentials for the origins that the caller allows alone", async () => {
    const { binding, seen } = createFrames(() => task("TASK_STATE_WORKING"));
    const agent = createTwoBindings([frames], {
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    });
    const options = { bindings: [binding], credentials: { bearer: "tok" } };
    const refused = await agent.connect(options);
    await caught(refused.getTask({ id: "t1" }), CredentialOriginError);
    const client = await agent.connect({ ...options, allowedOrigins: ["wss://agent.example"] });
    await client.getTask({ id: "t1" });
    expect(seen).toMatchObject([{ authorization: "Bearer tok" }]);
  });

  test.each([
    [
      "a reset",
      Object.assign(new Error("socket with Bearer s3cr3t-token-0123456789"), { code: "ECONNRESET" }),
      "SendOutcomeUnknownError",
    ],
    ["a plain error", new Error("odd"), "SendOutcomeUnknownError"],
    ["what is no error", "odd", "SendOutcomeUnknownError"],
    ["a refused connection", Object.assign(new Error("no"), { code: "ECONNREFUSED" }), "ConnectionError"],
  ])("that throws %s is a connection that failed", async (_what, thrown, name) => {
    const binding: Binding = {
      name: uri,
      call: () => Promise.reject(thrown),
      open: async () => ({
        events: (async function* () {
          yield { task: task("TASK_STATE_WORKING") } as never;
          throw thrown;
        })(),
        deviations: [],
        skipped: { count: 0 },
        close() {},
      }),
    };
    const client = await createTwoBindings([frames]).connect({ bindings: [binding], retries: false });
    const error = await caught(client.sendMessage("hi"), Error);
    expect(error.name).toBe(name);
    expect(JSON.stringify(error) + String(error.cause)).not.toContain("s3cr3t");
    const stream = await client.subscribeToTask({ id: "t1" });
    const broken = await caught(
      (async () => {
        for await (const _event of stream);
      })(),
      Error,
    );
    expect(broken.name).toBe("StreamInterruptedError");
  });

  test("may have addresses that are no URL", async () => {
    const { binding } = createFrames(() => task("TASK_STATE_WORKING"));
    const agent = createTwoBindings([at("grpc.example:50051", "GRPC")]);
    const client = await agent.connect({ bindings: [{ ...binding, name: "GRPC" }] });
    expect((await client.getTask({ id: "t1" })).state).toBe("TASK_STATE_WORKING");
    expect(client.lease.sameOrigin).toBe(false);
  });

  test("takes the place of the built-in one of its name, and may be built on it", async () => {
    const told: string[] = [];
    const counted: BindingFactory = (given) => {
      const inner = createJsonRpcBinding(given);
      return {
        name: inner.name,
        call(operation, request, call) {
          told.push(operation);
          return inner.call(operation, request, call);
        },
        open: (operation, request, call) => inner.open(operation, request, call),
      };
    };
    const agent = createTwoBindings();
    const client = await agent.connect({ bindings: [counted] });
    await client.sendMessage("hi");
    expect({ told, urls: agent.urls() }).toEqual({
      told: ["SendMessage"],
      urls: ["https://agent.example/rpc"],
    });
  });
});
