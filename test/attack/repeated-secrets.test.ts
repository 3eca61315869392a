import type { Deviation } from "a2a-lease";
import { describe, expect, test } from "vitest";
import type { RawAnswer, RawRequest } from "./raw-server.ts";
import { expectNoSecret, kinds, rpc, secrets, stream, useSecretWorld } from "./secret-rig.ts";

const world = useSecretWorld();

/** What authenticated a request, as its server reads it. */
function secretOf({ path, headers }: RawRequest): string {
  const [scheme = "", given = ""] = (headers.authorization ?? "").split(" ");
  if (scheme === "Basic") return atob(given).split(":")[1] ?? "";
  const key = headers["x-acme"] ?? new URL(path, "http://h").searchParams.get("k");
  return given || String(key ?? decodeURIComponent(String(headers.cookie).split("=")[1] ?? ""));
}

const dated = "2026-01-01T00:00:00Z";
const taskOf = (more: object = {}) => ({
  ...{ id: "t1", contextId: "c1" },
  status: { state: "TASK_STATE_COMPLETED", timestamp: dated },
  ...more,
});
const messageOf = (more: object = {}) => ({
  ...{ messageId: "m1", role: "ROLE_AGENT", parts: [{ text: "hello" }] },
  ...more,
});
const artifactOf = (more: object = {}) => ({ artifactId: "a1", parts: [{ text: "hello" }], ...more });
const statusOf = (more: object) => ({ status: { state: "TASK_STATE_COMPLETED", timestamp: dated, ...more } });

/** Where a task may hold a text by which the agent is asked again. */
const ids: Record<string, (secret: string) => object> = {
  "the id": (secret) => taskOf({ id: `task-${secret}` }),
  "the context": (secret) => taskOf({ contextId: secret }),
  "the context, in capitals": (secret) => taskOf({ contextId: secret.toUpperCase() }),
  "an artifact's id": (secret) => taskOf({ artifacts: [artifactOf({ artifactId: secret })] }),
  "the context of a message": (secret) => taskOf({ history: [messageOf({ contextId: secret })] }),
};

/** Where else a task may hold a text. */
const words: Record<string, (secret: string) => object> = {
  "the state": (secret) => taskOf({ status: { state: `STATE ${secret}`, timestamp: dated } }),
  "the time": (secret) => taskOf(statusOf({ timestamp: `${dated}${secret}` })),
  "the id of the status message": (secret) =>
    taskOf(statusOf({ message: messageOf({ messageId: `m-${secret}` }) })),
  "the text of the status": (secret) =>
    taskOf(statusOf({ message: messageOf({ parts: [{ text: `you said ${secret}!` }] }) })),
  "the role of a message": (secret) => taskOf({ history: [messageOf({ role: secret })] }),
  "an artifact": (secret) => taskOf({ artifacts: [artifactOf({ parts: [{ text: secret }] })] }),
  "a URL": (secret) =>
    taskOf({ artifacts: [artifactOf({ parts: [{ url: `https://x/?v=${encodeURIComponent(secret)}` }] })] }),
  "data, in the name of a member": (secret) =>
    taskOf({ artifacts: [artifactOf({ parts: [{ data: { deep: [{ [secret]: 1 }] } }] })] }),
  metadata: (secret) => taskOf({ metadata: { note: `Bearer ${secret}` } }),
  "an extension": (secret) => taskOf({ artifacts: [artifactOf({ extensions: [secret] })] }),
};

/** A task in the answer that an operation has. */
function answerOf(request: RawRequest, task: object): RawAnswer {
  const { method } = JSON.parse(request.body) as { method: string };
  if (method === "SendStreamingMessage" || method === "SubscribeToTask") {
    const { id } = JSON.parse(request.body) as { id: number };
    return stream({ jsonrpc: "2.0", id, result: { task } });
  }
  if (method === "ListTasks") {
    return rpc(request, { result: { tasks: [task], nextPageToken: "", pageSize: 1, totalSize: 1 } });
  }
  return rpc(request, { result: method === "SendMessage" ? { task } : task });
}

/** All that a client can be asked for, with whatever comes of it. */
async function askForAll(kind: string) {
  const { client, rows, told } = await world.connect(kind);
  const failed = (error: unknown) => error;
  const found: unknown[] = [];
  const keep = async (work: Promise<unknown>) => void found.push(await work.catch(failed));
  await keep(client.sendMessage("x"));
  await keep(client.getTask({ id: "t1" }));
  await keep(client.listTasks());
  await keep(client.delegate("x", { deadlineMs: 1 }));
  await keep(
    client.sendStreamingMessage("x").then(async (open) => {
      const events: unknown[] = [];
      try {
        for await (const event of open) events.push(event);
      } catch (error) {
        events.push(error);
      }
      return [events, open.skipped];
    }),
  );
  const handle = await client.task("t1").catch(() => undefined);
  if (handle) {
    await keep(handle.cancel({ signal: AbortSignal.timeout(300) }));
    found.push(handle, handle.toJSON(), handle.task);
  }
  return { found, rows, told };
}

describe.each(kinds)("an agent that repeats the secret of a request (%s)", (kind) => {
  test.each(Object.entries(ids))("as %s of a task is not believed", async (_where, make) => {
    world.serve(kind, (request) => answerOf(request, make(secretOf(request))));
    const { client, rows, told } = await world.connect(kind);

    const error: unknown = await client.getTask({ id: "t1" }).catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ code: "MALFORMED_RESPONSE" });
    expect((error as Error).message).toContain("found a secret of ours in an id");
    const all = await askForAll(kind);
    expect(JSON.stringify(world.home.log)).toContain("kx");
    expectNoSecret(error, rows, told, all.found, all.rows, all.told, world.written);
  });

  test.each(Object.entries(words))("in %s of a task is read without it", async (where, make) => {
    world.serve(kind, (request) => answerOf(request, make(secretOf(request))));
    const { client, rows, told } = await world.connect(kind);

    const task = await client.getTask({ id: "t1" }).catch((thrown: unknown) => thrown);

    const all = await askForAll(kind);
    expectNoSecret(task, rows, told, all.found, all.rows, all.told, world.written);
    // A role is one of three, whatever was sent: only the deviation quotes it.
    const wanted = where === "the role of a message" ? "unknown-role" : "repeated-secret";
    const deviations = all.told.map((event) => (event as { deviation?: Deviation }).deviation?.kind);
    expect(deviations).toContain(wanted);
  });
});

const repeated: Deviation = {
  kind: "repeated-secret",
  message: "found a secret of ours in an answer, wanted none; it is struck out",
};

test("what is struck is told, and all around it is as it came", async () => {
  world.serve("bearer", (request) =>
    answerOf(
      request,
      taskOf({
        artifacts: [
          artifactOf({ parts: [{ text: `a ${secretOf(request)} b` }, { data: { n: 1, s: "as it is" } }] }),
        ],
      }),
    ),
  );
  const { client } = await world.connect("bearer");
  const handle = await client.getTask({ id: "t1" });

  expect(handle.artifacts[0]?.parts).toMatchObject([{ text: "a *** b" }, { data: { n: 1, s: "as it is" } }]);
  expect(handle.toJSON().deviations).toContainEqual(repeated);
});

test.each<[string, (secret: string) => object]>([
  ["a task", (secret) => ({ task: taskOf({ id: secret }) })],
  ["a status", (secret) => ({ statusUpdate: { taskId: "t1", contextId: secret, ...statusOf({}) } })],
  [
    "an artifact",
    (secret) => ({
      artifactUpdate: { taskId: "t1", contextId: "c1", artifact: artifactOf({ artifactId: secret }) },
    }),
  ],
  ["a message", (secret) => ({ message: messageOf({ taskId: secret, contextId: "c1" }) })],
])("a stream ends at %s with a secret in an id", async (_what, make) => {
  world.serve("bearer", (request) => {
    const { id } = JSON.parse(request.body) as { id: number };
    const first = { task: taskOf({ status: { state: "TASK_STATE_WORKING", timestamp: dated } }) };
    const frames = [first, make(secretOf(request))].map((result) => ({ jsonrpc: "2.0", id, result }));
    return stream(...frames);
  });
  const { client, rows, told } = await world.connect("bearer");
  const open = await client.sendStreamingMessage("x");
  const seen: unknown[] = [];
  const read = async () => {
    for await (const event of open) seen.push(event);
  };

  const error = await read().catch((thrown: unknown) => thrown);

  expect(error).toMatchObject({ code: "MALFORMED_RESPONSE" });
  expect(seen).toHaveLength(1);
  expectNoSecret(error, seen, rows, told, world.written);
});

test("a token that was refreshed meanwhile is still known", async () => {
  const first = secrets.accessToken;
  world.login.settings.answer = () => ({
    body: { access_token: world.login.log.length > 1 ? "kx-second-5501999" : first, token_type: "bearer" },
  });
  world.serve("oauth", (request) =>
    request.headers.authorization === `Bearer ${first}`
      ? { status: 401, headers: { "www-authenticate": "Bearer" } }
      : answerOf(request, taskOf({ metadata: { old: first } })),
  );
  const { client, rows, told } = await world.connect("oauth");
  const handle = await client.getTask({ id: "t1" });

  expect(world.login.log).toHaveLength(2);
  expect(handle.task?.metadata).toEqual({ old: "***" });
  expectNoSecret(handle, handle.toJSON(), rows, told);
});

test.each([
  "idempotency-key",
  "x-correlation-key",
  "x-routing-key",
  "x-partition-key",
  "x-cache-key",
  "x-tenant-key",
])(
  "the header %s names a request or its place and is no secret, and may come back as an id",
  async (name) => {
    world.serve("bearer", (request) =>
      answerOf(request, taskOf({ contextId: String(request.headers[name]) })),
    );
    const { client } = await world.connect("bearer");
    const headers = { [name]: "my-request-5502000" };

    expect((await client.getTask({ id: "t1" }, { headers })).contextId).toBe("my-request-5502000");
  },
);

test("the secret of a webhook that comes back in a task is struck, and in its own configuration is not", async () => {
  const token = "kx-webhook-5502001-and-more-of-it";
  world.serve("bearer", (request) => {
    const { method, params } = JSON.parse(request.body) as { method: string; params: { token?: string } };
    if (method.endsWith("PushNotificationConfig")) return rpc(request, { result: { ...params, id: "p1" } });
    return answerOf(request, taskOf({ metadata: { note: token } }));
  });
  const { client } = await world.connect("bearer");
  const config = { id: "p1", taskId: "t1", url: "https://me.example/hook", token };
  const made = await client.createTaskPushNotificationConfig(config).catch((error: unknown) => error);

  expect(made).toMatchObject({ token });
  expect((await client.getTask({ id: "t1" })).task?.metadata).toEqual({ note: "***" });
});
