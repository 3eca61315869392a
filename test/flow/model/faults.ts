import type { JsonObject, OperationName, Task } from "a2a-lease";
import {
  answer,
  type Behaviour,
  event,
  frame,
  type Handler,
  type Reply,
  type ScriptedRequest,
} from "a2a-lease/testing";

/** Something that an agent can do in place of what it should. */
export interface Fault {
  readonly name: string;
  readonly behaviour: Behaviour;
  /** The operations that it can happen to. */
  readonly fits: readonly OperationName[];
}

const sends: readonly OperationName[] = ["SendMessage", "SendStreamingMessage"];
const streams: readonly OperationName[] = ["SendStreamingMessage", "SubscribeToTask"];
const all: readonly OperationName[] = [...sends, "GetTask", "SubscribeToTask", "CancelTask"];
const page = { "content-type": "text/html" };

const faults = (fits: readonly OperationName[], named: Readonly<Record<string, Behaviour>>): Fault[] =>
  Object.entries(named).map(([name, behaviour]) => ({ name, behaviour, fits }));

const surprisingCodes = [
  -32602, -32601, -32003, -32004, -32005, -32006, -32007, -32008, -32009, 401, 404, 502,
];

/** The faults of calls. */
export const callFaults: readonly Fault[] = [
  ...faults(
    all,
    Object.fromEntries(surprisingCodes.map((code) => [String(code), answer.error(code, "scripted")])),
  ),
  ...faults(all, {
    "HTTP 401": answer.http(401, "", { "www-authenticate": 'Bearer realm="agent"' }),
    "HTTP 403": answer.http(403),
    "HTTP 404": answer.http(404),
    "a page": answer.http(200, "<!doctype html><p>Sign in</p>", page),
    "a page with 502": answer.http(502, "<html>Bad gateway</html>", page),
    "-32602, late": answer.delay(2_000, answer.error(-32602, "scripted")),
    "-32001": answer.error(-32001, "scripted"),
    "-32603": answer.error(-32603, "scripted"),
    "HTTP 500": answer.http(500, "oops"),
    "HTTP 503": answer.http(503, "", { "retry-after": "5" }),
    "HTTP 429": answer.http(429),
    "a reset": answer.reset(),
    "a refused connection": answer.refuse(),
    "a reset after it was accepted": answer.acceptThenReset(),
    "no answer": answer.silence(),
    "a late answer": answer.delay(2_000, answer.honest()),
    "a very late answer": answer.delay(45_000, answer.honest()),
  }),
  ...faults([...sends, "GetTask"], {
    "a question": shown("TASK_STATE_INPUT_REQUIRED", answer.result),
    "a demand for credentials": shown("TASK_STATE_AUTH_REQUIRED", answer.result),
    "a rejection": shown("TASK_STATE_REJECTED", answer.result),
    "a state unheard of": shown("TASK_STATE_PAUSED", answer.result),
  }),
  ...faults(sends, { "a message": answer.message("just so") }),
  ...faults(streams, {
    "JSON in place of a stream": shown("TASK_STATE_WORKING", answer.result),
    "a question as JSON in place of a stream": shown("TASK_STATE_INPUT_REQUIRED", answer.result),
    "a silent stream": answer.stream([], { end: "silence" }),
    "one event and silence": answer.honest({ endAfterEvents: 1, end: "silence" }),
    "one event and a cut": answer.honest({ endAfterEvents: 1, end: "cut" }),
    "an empty stream": answer.stream([]),
    "an error frame -32602": answer.stream([frame.error(-32602, "scripted")]),
    "one event and an error frame -32602": streamed((task) => [{ task }, frame.error(-32602, "scripted")]),
    "one event and an error frame -32001": streamed((task) => [{ task }, frame.error(-32001, "scripted")]),
    "one event and an error frame -32603": streamed((task) => [{ task }, frame.error(-32603, "scripted")]),
    "one event and a state unheard of": streamed((task) => [
      { task },
      event.status("TASK_STATE_PAUSED", placeOf(task)),
    ]),
    "a question, told twice": streamed((task) => [
      { task },
      event.status("TASK_STATE_WORKING", { ...placeOf(task), text: "on it" }),
      event.status("TASK_STATE_INPUT_REQUIRED", { ...placeOf(task), text: "Which region?" }),
      event.status("TASK_STATE_INPUT_REQUIRED", { ...placeOf(task), text: "Which region?" }),
    ]),
  }),
];

/** The faults of card reads, each in as many answers as it takes. */
export const cardFaults: Readonly<Record<string, readonly Reply[]>> = Object.freeze({
  "HTTP 503": [answer.http(503)],
  "HTTP 503, Retry-After: 30": [answer.http(503, "", { "retry-after": "30" })],
  "HTTP 404": [answer.http(404)],
  "HTTP 410 twice": answer.repeat(2, answer.http(410)),
  "a page": [answer.http(200, "<html>Maintenance</html>", page)],
  "no answer": [answer.silence()],
  "a reset": [answer.reset()],
  "a late answer": [answer.delay(2_000, answer.honest())],
});

/** Answers with the task that is asked about, or a new one, as if it were in another state. */
function shown(state: string, tell: (value: unknown) => Reply): Handler {
  return (request) => {
    const { timestamp } = taskOf(request).status;
    const status = { state, ...(timestamp === undefined ? {} : { timestamp }) };
    const task = { ...taskOf(request), status };
    return tell(request.operation === "GetTask" ? task : { task });
  };
}

function streamed(items: (task: Task) => readonly object[]): Handler {
  return (request) => answer.stream(items(taskOf(request)));
}

/** The task that a request is about; a send without one starts one that no plan moves. */
function taskOf({ params, tasks, step }: ScriptedRequest): Task {
  const { id, message } = params as { id?: string; message?: JsonObject };
  const taskId = id ?? message?.taskId;
  const known = typeof taskId === "string" ? tasks.get(taskId) : undefined;
  if (known) return known;
  const task: Task = {
    id: `scripted-${step}`,
    contextId: `context-${step}`,
    status: { state: "TASK_STATE_WORKING" },
  };
  // What was asked about and is gone stays gone.
  if (taskId === undefined) tasks.put(task);
  return tasks.get(task.id) ?? task;
}

function placeOf({ id, contextId }: Task) {
  return { taskId: id, ...(contextId === undefined ? {} : { contextId }) };
}
