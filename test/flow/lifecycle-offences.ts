import type { A2AClient, LifecycleRule, TaskHandle } from "a2a-lease";
import { answer, event, type ScriptedAgent } from "a2a-lease/testing";
import { wireTraces } from "../lifecycle/wire-traces.ts";

/** How an agent breaks one rule, and how a client comes to see it. */
export interface Offence {
  /** What was there before it began. */
  readonly before?: (agent: ScriptedAgent, client: A2AClient) => Promise<void>;
  /** Makes the agent break the rule with the next piece of work, and with every later one. */
  readonly begin: (agent: ScriptedAgent) => void;
  /** Work in which a client sees it. @default it is delegated and waited for to the end */
  readonly work?: (client: A2AClient, agent: ScriptedAgent) => Promise<unknown>;
  /** What the work comes to where rules are only observed. @default completed */
  readonly comesTo?: string;
  /** What a probe has to say beside the rule. @default nothing */
  readonly alsoFails?: readonly string[];
}

const at = (second: number) => `2027-01-01T00:00:${String(second).padStart(2, "0")}.000Z`;
const dated = (second: number, more: object = {}) => ({ timestamp: at(second), ...more });
const said = (messageId: string) => ({
  messageId,
  role: "ROLE_AGENT" as const,
  parts: [{ text: messageId }],
});

/** The task `t1` as the agent keeps it. */
const put = (agent: ScriptedAgent, state: string, second: number, history: readonly string[] = ["u"]) =>
  agent.tasks.put({
    ...{ id: "t1", contextId: "c1", status: { state: state as never, timestamp: at(second) } },
    history: history.map(said),
  });

/** A stream of `t1` that the agent tells, and what GetTask says of it afterwards. */
const streams =
  (...items: readonly object[]) =>
  (agent: ScriptedAgent) => {
    put(agent, "TASK_STATE_COMPLETED", 9);
    agent.on("SendStreamingMessage", answer.stream(items));
  };

const working = event.task("TASK_STATE_WORKING", dated(1));
const completed = event.status("TASK_STATE_COMPLETED", dated(9));
const ask = (second: number) =>
  event.status(
    "TASK_STATE_INPUT_REQUIRED",
    dated(second, { text: "Which region?", messageId: `ask-${second}` }),
  );

/** The task of a client, found again by its id. */
const again = (client: A2AClient): Promise<TaskHandle> => client.task("t1");

/** Every rule, broken. */
export const offences: Readonly<Record<LifecycleRule, Offence>> = {
  "known-state": {
    begin: streams(working, event.status("TASK_STATE_PAUSED", dated(2)), completed),
  },
  "terminal-is-final": {
    begin(agent) {
      streams(working, completed)(agent);
      put(agent, "TASK_STATE_WORKING", 10);
    },
  },
  "single-terminal": {
    begin: streams(
      working,
      completed,
      event.status("TASK_STATE_COMPLETED", dated(10, { text: "once more" })),
    ),
    // A client leaves its stream with the first end, so it takes a read beside the stream to see two of them.
    async work(client, agent) {
      put(agent, "TASK_STATE_WORKING", 1);
      const task = await client.getTask({ id: "t1" });
      agent.on(
        "SubscribeToTask",
        answer.stream([working, event.status("TASK_STATE_COMPLETED", dated(10, { text: "two" }))]),
      );
      const slow = (await task.subscribe())[Symbol.asyncIterator]();
      await slow.next();
      put(agent, "TASK_STATE_COMPLETED", 9, ["u", "a"]);
      await task.get();
      await slow.next();
      return task.result();
    },
  },
  "timestamp-present": {
    begin: streams(working, event.status("TASK_STATE_WORKING", { text: "half way" }), completed),
  },
  "timestamp-monotonic": {
    begin(agent) {
      streams(
        event.task("TASK_STATE_WORKING", dated(2)),
        event.status("TASK_STATE_COMPLETED", dated(1)),
      )(agent);
      put(agent, "TASK_STATE_COMPLETED", 1);
    },
  },
  "history-progress": {
    begin(agent) {
      put(agent, "TASK_STATE_WORKING", 1);
      agent.on("SendStreamingMessage", () => {
        put(agent, "TASK_STATE_COMPLETED", 9);
        return answer.stream([working, completed]);
      });
      agent.once(
        "GetTask",
        answer.result({
          id: "t1",
          contextId: "c1",
          status: { state: "TASK_STATE_WORKING", timestamp: at(1) },
          history: [said("u")],
        }),
      );
    },
    alsoFails: ["history-grows"],
    async work(client, agent) {
      put(agent, "TASK_STATE_WORKING", 1);
      const task = await client.getTask({ id: "t1" });
      put(agent, "TASK_STATE_COMPLETED", 9);
      return (await task.get()).result();
    },
  },
  progress: {
    begin: streams(working, ask(2), ask(3), ask(4), completed),
  },
  identity: {
    begin: streams(working, event.status("TASK_STATE_FAILED", dated(2, { taskId: "t2" })), completed),
  },
  answered: {
    async before(agent, client) {
      put(agent, "TASK_STATE_COMPLETED", 9);
      await client.getTask({ id: "t1" });
    },
    begin: streams(event.task("TASK_STATE_COMPLETED", dated(9))),
    alsoFails: ["streaming-emits"],
  },
  "stream-shape": {
    begin: streams(event.status("TASK_STATE_WORKING", dated(1)), completed),
  },
  "artifact-order": {
    begin: streams(
      ...(wireTraces["artifact-order"].breaking["an append after the last piece"] ?? []),
      completed,
    ),
  },
};

/** Delegates a piece of work and waits for its end, through whatever the agent asks. */
export const delegated = (client: A2AClient): Promise<unknown> =>
  client.delegate("hello", { until: "terminal" });

export { again };
