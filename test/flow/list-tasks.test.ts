import {
  CardDriftError,
  LeaseUnverifiableError,
  LedgerUnavailableError,
  LifecycleMismatchError,
  LimitExceededError,
  type ListTasksRequest,
  MalformedResponseError,
  MethodNotFoundError,
  type TaskHandle,
  type TaskPage,
} from "a2a-lease";
import { answer, step } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { createHandledLedger } from "../attack/rig.ts";
import { caught } from "./caught.ts";
import { all, setUp, taskOf } from "./lifecycle-setup.ts";

/** A task as an agent lists it. */
const listed = (id: string, state = "TASK_STATE_WORKING", more: object = {}) => ({
  id,
  contextId: "c1",
  status: { state, timestamp: "2026-11-30T08:00:00.000Z" },
  ...more,
});

/** A page as an agent gives it. */
const page = (tasks: readonly object[], nextPageToken = "") =>
  answer.result({ tasks, nextPageToken, pageSize: 50, totalSize: tasks.length });

const idsOf = (tasks: readonly TaskHandle[]) => tasks.map(({ id }) => id);
const statesOf = (tasks: readonly TaskHandle[]) => tasks.map(({ state }) => state);

/** An agent with some tasks that were not sent by the client at hand. */
async function withTasks(count: number) {
  const rig = setUp();
  const sender = await rig.connect();
  for (let nth = 0; nth < count; nth++) {
    await sender.sendMessage(`text ${nth}`, { contextId: nth % 2 ? "odd" : "even" });
    await rig.clock.advance(1_000);
  }
  rig.agent.clearTranscript();
  return { ...rig, client: await rig.connect() };
}

describe("a list of tasks", () => {
  test("is a page of handles, newest status first, with what the agent says of the page", async () => {
    const { client, agent } = await withTasks(3);

    const found = await client.listTasks({ pageSize: 2 });

    expect(idsOf(found.tasks)).toEqual(["task-3", "task-2"]);
    expect(statesOf(found.tasks)).toEqual(["TASK_STATE_COMPLETED", "TASK_STATE_COMPLETED"]);
    expect(found).toMatchObject({ pageSize: 2, totalSize: 3, failures: [], deviations: [] });
    expect(found.nextPageToken).not.toBe("");
    expect(agent.calls().map(({ operation }) => operation)).toEqual(["ListTasks"]);
  });

  test("goes on page by page until there is none", async () => {
    const { client } = await withTasks(5);
    const pages: (readonly string[])[] = [];

    let found: TaskPage | undefined = await client.listTasks({ pageSize: 2 });
    while (found) {
      pages.push(idsOf(found.tasks));
      found = await found.next();
    }

    expect(pages).toEqual([["task-5", "task-4"], ["task-3", "task-2"], ["task-1"]]);
  });

  test("can be iterated over all pages, and reads no page that nobody asked for", async () => {
    const { client, agent } = await withTasks(5);
    const first = await client.listTasks({ pageSize: 2 });

    expect(idsOf(await all(first))).toEqual(["task-5", "task-4", "task-3", "task-2", "task-1"]);
    expect(agent.calls("ListTasks")).toHaveLength(3);

    agent.clearTranscript();
    for await (const task of await client.listTasks({ pageSize: 2 })) if (task.id === "task-4") break;
    expect(agent.calls("ListTasks")).toHaveLength(1);
  });

  test("gives every filter to the agent, on every page, as the spec writes it", async () => {
    const { client, agent } = await withTasks(0);
    agent.once("ListTasks", page([], "next"), page([]));

    const first = await client.listTasks({
      contextId: "even",
      status: "TASK_STATE_COMPLETED",
      pageSize: 100,
      historyLength: 0,
      statusTimestampAfter: "2026-11-30T10:00:00+02:00",
      includeArtifacts: true,
    });
    await first.next();

    const filters = {
      contextId: "even",
      status: "TASK_STATE_COMPLETED",
      pageSize: 100,
      historyLength: 0,
      statusTimestampAfter: "2026-11-30T08:00:00.000Z",
      includeArtifacts: true,
    };
    expect(agent.calls("ListTasks").map(({ params }) => params)).toEqual([
      filters,
      { ...filters, pageToken: "next" },
    ]);
  });

  test("asks for nothing that was not asked for", async () => {
    const { client, agent } = await withTasks(1);

    await client.listTasks();
    await client.listTasks({ pageToken: "" });

    expect(agent.calls("ListTasks").map(({ params }) => params)).toEqual([{}, {}]);
  });

  test("shows what the filters ask for: a context, a state, a time, artifacts, and none or some of the history", async () => {
    const { connect, clock } = await withTasks(4);
    // A client that knows nothing shows what came.
    const tasks = async (request: ListTasksRequest) => (await (await connect()).listTasks(request)).tasks;
    const ids = async (request: ListTasksRequest) => idsOf(await tasks(request));

    expect(await ids({ contextId: "odd" })).toEqual(["task-4", "task-2"]);
    expect(await ids({ status: "TASK_STATE_WORKING" })).toEqual([]);
    expect(await ids({ statusTimestampAfter: new Date(clock.now() - 2_000).toISOString() })).toEqual([
      "task-4",
      "task-3",
    ]);
    const [bare] = await tasks({ historyLength: 0 });
    expect(bare?.task).not.toHaveProperty("history");
    expect(bare?.artifacts).toEqual([]);
    const [whole] = await tasks({ historyLength: 1, includeArtifacts: true });
    expect(whole?.task?.history).toHaveLength(1);
    expect(whole?.artifacts).toHaveLength(1);
  });

  test.each<[string, unknown]>([
    ["pageSize", 0],
    ["pageSize", 101],
    ["pageSize", 1.5],
    ["pageSize", "10"],
    ["historyLength", -1],
    ["historyLength", 0.5],
    ["historyLength", Number.NaN],
    ["status", "completed"],
    ["status", "TASK_STATE_UNSPECIFIED"],
    ["statusTimestampAfter", "yesterday"],
    ["statusTimestampAfter", "2026-11-30T08:00:00"],
    ["statusTimestampAfter", 1_700_000_000],
    ["includeArtifacts", "true"],
    ["contextId", ""],
    ["contextID", "c1"],
  ])("refuses the filter %s: %o before anything leaves", async (name, value) => {
    const { client, agent } = await withTasks(0);
    agent.clearTranscript();

    const error = await caught(client.listTasks({ [name]: value }), TypeError);

    expect(error.message).toContain(name);
    expect(agent.transcript).toEqual([]);
  });
});

describe("a task of a list", () => {
  test("is folded into the handle that there is", async () => {
    const { agent, connect } = setUp();
    agent.plan([step.working(), step.hold(), step.completed()]);
    const client = await connect();
    const task = taskOf(await client.sendMessage("text"));
    agent.step(task.id);

    const { tasks } = await client.listTasks();

    expect(tasks[0]).toBe(task);
    expect(task.state).toBe("TASK_STATE_COMPLETED");
    expect(task.toJSON().memory.observations.at(-1)).toMatchObject({ source: "list" });
  });

  test("that nobody knows is pinned to the card of the moment, and written down", async () => {
    const { client, connect, agent } = await withTasks(1);
    const { ledger } = createHandledLedger();
    const other = await connect({ ledger });

    const [task] = (await other.listTasks()).tasks;

    expect(task?.pin.digest).toBe(client.pin.digest);
    agent.rotateCard((card) => ({ ...card, description: "another card" }));
    const later = await connect({ ledger });
    const again = await later.task("task-1");
    expect(again.state).toBe("TASK_STATE_COMPLETED");
    expect(again.pin.digest).toBe(task?.pin.digest);
    expect(later.pin.digest).not.toBe(task?.pin.digest);
  });

  test("keeps the artifacts and the history that a list leaves out, however that is written", async () => {
    const { agent, connect } = setUp();
    agent.plan([step.working(), step.hold()]);
    const client = await connect();
    const task = taskOf(await client.sendMessage("text"));
    agent.step(task.id, step.artifact("a", "half"), step.message("on it"));
    await task.get();
    const { artifacts } = task;
    const history = task.task?.history;
    expect([artifacts.length, history?.length]).toEqual([1, 2]);
    const status = task.task?.status;
    const bare = { id: task.id, contextId: task.contextId, status };

    for (const left of [{}, { artifacts: [], history: [] }, { artifacts: null, history: null }]) {
      agent.once("ListTasks", page([{ ...bare, ...left }]));
      await client.listTasks({ historyLength: 0 });
      expect({ artifacts: task.artifacts, history: task.task?.history }).toEqual({ artifacts, history });
    }
    agent.once("ListTasks", page([{ ...bare, history: history?.slice(-1) }]));
    await client.listTasks({ historyLength: 1, includeArtifacts: true });
    expect({ artifacts: task.artifacts, history: task.task?.history }).toEqual({ artifacts, history });
  });

  test("that was overtaken by another answer does not bring the task back", async () => {
    const { agent, clock, connect, inTime } = setUp();
    agent.plan([step.working(), step.hold(), step.completed()]);
    const client = await connect();
    const task = taskOf(await client.sendMessage("text"));
    // Without a date, only the order of the requests tells it from a task that comes back to life.
    const before = listed(task.id, "", {
      contextId: task.contextId,
      status: { state: "TASK_STATE_WORKING" },
    });
    agent.once("ListTasks", answer.delay(5_000, page([before])));
    const listing = client.listTasks();
    await clock.advance(1_000);
    agent.step(task.id);
    await task.get();

    const { failures } = await inTime(listing);

    expect(task.state).toBe("TASK_STATE_COMPLETED");
    expect(failures).toEqual([]);
    expect(task.toJSON().memory.lateCount).toBe(1);
  });

  test("that breaks a rule is told with the page, and the others are taken over", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    const done = taskOf(await client.sendMessage("text", { blocking: true }));
    agent.on("ListTasks", () =>
      page([
        listed("t1"),
        listed(done.id, "TASK_STATE_WORKING", { contextId: done.contextId }),
        listed("t2", "TASK_STATE_PAUSED"),
        listed("t3", "TASK_STATE_COMPLETED"),
      ]),
    );

    const found = await client.listTasks();

    expect(idsOf(found.tasks)).toEqual(["t1", done.id, "t2", "t3"]);
    expect(statesOf(found.tasks)).toEqual([
      "TASK_STATE_WORKING",
      "TASK_STATE_COMPLETED",
      "TASK_STATE_UNSPECIFIED",
      "TASK_STATE_COMPLETED",
    ]);
    expect(
      found.failures.map(({ task, error }) => [
        task.id,
        error instanceof LifecycleMismatchError ? error.rule : error,
      ]),
    ).toEqual([
      [done.id, "terminal-is-final"],
      ["t2", "known-state"],
    ]);
    expect(client.trust.record?.history).toMatchObject([
      { reason: expect.stringContaining("terminal-is-final") },
    ]);
    // Also the iterator goes on, and the broken task throws where it is used.
    expect(idsOf(await all(found))).toEqual(idsOf(found.tasks));
  });

  test("of another context than it was known in is no news of it", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    const task = taskOf(await client.sendMessage("text", { blocking: true }));
    agent.once("ListTasks", page([listed(task.id, "TASK_STATE_COMPLETED", { contextId: "elsewhere" })]));

    const { failures } = await client.listTasks();

    expect(failures).toMatchObject([{ task: { id: task.id }, error: { rule: "identity" } }]);
  });

  test("is left out and told where the filters exclude it", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    const later = "2026-11-30T09:00:00.000Z";
    agent.on("ListTasks", () =>
      page([
        listed("ours"),
        listed("theirs", "TASK_STATE_WORKING", { contextId: "c2" }),
        listed("over", "TASK_STATE_COMPLETED"),
        listed("nowhere", "TASK_STATE_WORKING", { contextId: undefined }),
        listed("new", "TASK_STATE_WORKING", { status: { state: "TASK_STATE_WORKING", timestamp: later } }),
      ]),
    );

    const found = await client.listTasks({ contextId: "c1", status: "TASK_STATE_WORKING" });
    const newer = await client.listTasks({ statusTimestampAfter: later });

    expect(idsOf(found.tasks)).toEqual(["ours", "nowhere", "new"]);
    expect(found.deviations.map(({ kind, path }) => [kind, path])).toEqual([
      ["filter-ignored", "$.tasks[1]"],
      ["filter-ignored", "$.tasks[2]"],
    ]);
    expect(idsOf(newer.tasks)).toEqual(["new"]);
  });

  test("comes once, however often the page has it, and what was odd about it is its own", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    agent.once("ListTasks", page([listed("t1", "completed"), listed("t2"), listed("t1")]));

    const found = await client.listTasks();

    expect(idsOf(found.tasks)).toEqual(["t1", "t2"]);
    expect(found.deviations.map(({ kind }) => kind)).toEqual(["legacy-state", "duplicate-task"]);
    expect(found.tasks.map(({ deviations }) => deviations.map(({ kind }) => kind))).toEqual([
      ["legacy-state"],
      [],
    ]);
  });
});

describe("the card and a list", () => {
  test("is withheld when the card has changed, and nothing of it is taken over", async () => {
    const { client, agent, connect } = await withTasks(2);
    agent.rotateCard((card) => ({ ...card, description: "another card" }));

    const error = await caught(client.listTasks(), CardDriftError);

    expect(error.drift.phase).toEqual({ operation: "ListTasks", check: "alongside" });
    agent.clearTranscript();
    expect(await caught(client.listTasks())).toBe(error);
    expect(agent.transcript).toEqual([]);
    // A task that the withheld page showed is under the card of the moment when it is asked for.
    await client.renegotiate();
    const task = await client.task("task-1");
    expect(task.pin.digest).toBe((await connect()).pin.digest);
    expect(task.task).toBeUndefined();
  });

  test("one look at the card serves a page of questions, and comes before any of them is seen", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    const questions = Array.from({ length: 50 }, (_, nth) => listed(`t${nth}`, "TASK_STATE_INPUT_REQUIRED"));
    agent.on("ListTasks", () => page(questions));
    agent.clearTranscript();

    const found = await client.listTasks();

    expect(found.tasks).toHaveLength(50);
    expect(found.failures).toEqual([]);
    expect(agent.cardReads()).toHaveLength(2);
    // What is asked once more is no surprise.
    agent.clearTranscript();
    await client.listTasks();
    expect(agent.cardReads()).toHaveLength(1);
  });

  test("a question under another card is drift, and the whole page is withheld", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    agent.once("ListTasks", () => {
      agent.rotateCard((card) => ({ ...card, description: "another card" }));
      return page([listed("t1"), listed("t2", "TASK_STATE_INPUT_REQUIRED")]);
    });

    const error = await caught(client.listTasks(), CardDriftError);

    expect(error.drift.phase).toEqual({ operation: "ListTasks", check: "forced" });
  });

  test("a task with a pin of its own is judged by it, and does not take the others along", async () => {
    const { agent, connect } = setUp();
    agent.plan([step.working(), step.hold(), step.completed()]);
    const client = await connect();
    const old = taskOf(await client.sendMessage("one"));
    agent.rotateCard((card) => ({ ...card, description: "another card" }));
    await client.renegotiate();
    const fresh = taskOf(await client.sendMessage("two"));
    agent.step(old.id);
    agent.step(fresh.id);

    const found = await client.listTasks();

    expect(found.tasks).toEqual([fresh, old]);
    expect(fresh.state).toBe("TASK_STATE_COMPLETED");
    expect(old.state).toBe("TASK_STATE_SUBMITTED");
    expect(old.signal.reason).toBeInstanceOf(CardDriftError);
    expect(found.failures).toEqual([{ task: old, error: old.signal.reason }]);
    expect(client.signal.aborted).toBe(false);
  });

  test("a page that is read after a renegotiation is under the new plan", async () => {
    const { client, agent } = await withTasks(3);
    const first = await client.listTasks({ pageSize: 2 });
    agent.rotateCard((card) => ({ ...card, description: "another card" }));
    await caught(first.next(), CardDriftError);
    await client.renegotiate();

    const second = await first.next();

    expect(idsOf(second?.tasks ?? [])).toEqual(["task-1"]);
    expect(second?.tasks[0]?.pin.digest).toBe(client.pin.digest);
  });

  test("a card that can't be read withholds the page", async () => {
    const { agent, connect } = await withTasks(1);
    const client = await connect({ retries: false });
    agent.on("card", answer.http(503));

    await caught(client.listTasks(), LeaseUnverifiableError);
  });

  test("an agent that does not list says so, after a look at its card", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    agent.on("ListTasks", answer.error(-32601, "Method not found"));
    agent.clearTranscript();

    await caught(client.listTasks(), MethodNotFoundError);

    expect(agent.cardReads()).toHaveLength(2);
  });

  test("a ledger that fails fails the list, which can be asked for again", async () => {
    const { agent, connect } = setUp();
    const { ledger, hand } = createHandledLedger();
    const client = await connect({ ledger });
    agent.on("ListTasks", () => page([listed("t1"), listed("t2")]));
    hand.write = () => Promise.reject(new LedgerUnavailableError("write a record", "down"));

    await caught(client.listTasks(), LedgerUnavailableError);
    delete hand.write;

    expect(statesOf((await client.listTasks()).tasks)).toEqual(["TASK_STATE_WORKING", "TASK_STATE_WORKING"]);
  });
});

describe("an agent that leads on", () => {
  test("in a circle is told as such, and every page that came is kept", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    const tokens = ["b", "c", "b"];
    agent.on("ListTasks", ({ nth }) => page([listed(`t${nth}`)], tokens[nth - 1] ?? "c"));
    const seen: string[] = [];

    const error = await caught(
      (async () => {
        for await (const task of await client.listTasks()) seen.push(task.id);
      })(),
      MalformedResponseError,
    );

    expect(seen).toEqual(["t1", "t2", "t3"]);
    expect(error.issues).toMatchObject([{ path: "$.nextPageToken" }]);
    expect(agent.calls("ListTasks")).toHaveLength(3);
  });

  test("to the page that it was asked for is in a circle as well", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    agent.on("ListTasks", page([listed("t1")], "same"));
    const first = await client.listTasks({ pageToken: "same" });

    await caught(first.next(), MalformedResponseError);

    expect(agent.calls("ListTasks")).toHaveLength(1);
  });

  test("a page may be asked for again: that is no circle", async () => {
    const { client } = await withTasks(3);
    const first = await client.listTasks({ pageSize: 1 });

    const once = await first.next();
    const twice = await first.next();

    expect(idsOf(once?.tasks ?? [])).toEqual(idsOf(twice?.tasks ?? []));
    expect(idsOf((await twice?.next())?.tasks ?? [])).toEqual(["task-1"]);
  });

  test.each([
    ["pages without a task", () => []],
    ["pages that show the same tasks again", () => [listed("t1")]],
  ])("through %s is left after a few", async (_title, tasks) => {
    const { agent, connect } = setUp();
    const client = await connect({ limits: { emptyPages: 3 } });
    agent.on("ListTasks", ({ nth }) => page(tasks(), `token-${nth}`));

    const error = await caught(all(await client.listTasks()), LimitExceededError);

    expect(error).toMatchObject({ limit: "emptyPages", max: 3 });
    expect(agent.calls("ListTasks").length).toBeLessThanOrEqual(4);
  });

  test("a few empty pages in between are none of that", async () => {
    const { agent, connect } = setUp();
    const client = await connect({ limits: { emptyPages: 3 } });
    agent.on("ListTasks", ({ nth }) =>
      page(nth % 3 === 0 ? [listed(`t${nth}`)] : [], nth < 9 ? `token-${nth}` : ""),
    );

    expect(idsOf(await all(await client.listTasks()))).toEqual(["t3", "t6", "t9"]);
  });

  test("without end meets a bound", async () => {
    const { agent, connect } = setUp();
    const client = await connect({ limits: { pages: 5 } });
    agent.on("ListTasks", ({ nth }) => page([listed(`t${nth}`)], `token-${nth}`));

    const error = await caught(all(await client.listTasks()), LimitExceededError);

    expect(error).toMatchObject({ limit: "pages", max: 5 });
    expect(agent.calls("ListTasks")).toHaveLength(5);
  });

  test("a list that moves while it is read gives each task once", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    agent.once("ListTasks", page([listed("t3"), listed("t2")], "2"), page([listed("t2"), listed("t1")]));

    expect(idsOf(await all(await client.listTasks()))).toEqual(["t3", "t2", "t1"]);
  });
});
