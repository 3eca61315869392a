// A small planner as a user would write it. The package check compiles it in each module system and runs it.

import type { A2AClient, AnyA2ALeaseError, Message, Part, Task, TaskHandle } from "a2a-lease";
import { CardDriftError, cardDigest, createClient, isA2ALeaseError } from "a2a-lease";
import { createTestCard } from "a2a-lease/testing";

let card = createTestCard();
const sent: string[] = [];

/** An agent that fits on a page: it serves its card, and each message becomes a finished task. */
async function agent(url: string, init?: RequestInit): Promise<Response> {
  if (url.endsWith("agent-card.json")) return Response.json(card);
  const request: { id: string; method: string } = JSON.parse(String(init?.body));
  sent.push(request.method);
  const task: Task = {
    id: "task-1",
    contextId: "context-1",
    status: { state: "TASK_STATE_COMPLETED", timestamp: "2026-01-01T00:00:00.000Z" },
    artifacts: [{ artifactId: "a", parts: [{ text: "done" }] }],
  };
  return Response.json({ jsonrpc: "2.0", id: request.id, result: { task } });
}

/** What a planner does about each error; the union narrows by code. */
function plan(error: AnyA2ALeaseError): string {
  switch (error.code) {
    case "CARD_DRIFT":
      return `${error.reason}: ${error.drift.changes.map((change) => change.kind).join(", ")}`;
    case "LIMIT_EXCEEDED":
      return `more than ${error.max.toFixed()}`;
    default:
      return error.nextStep;
  }
}

async function ask(client: A2AClient, text: string): Promise<TaskHandle | Message> {
  const part: Part = { text };
  const reply = await client.sendMessage([part]);
  return "task" in reply ? reply.task : reply.message;
}

function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`not so: ${what}`);
}

async function main() {
  const client = await createClient("https://agent.example.com", { fetch: agent });
  const first = await ask(client, "Summarise this");
  check("pin" in first && first.pin.digest === cardDigest(card), "the handle pins the card");
  check(first.state === "TASK_STATE_COMPLETED", "the task is done");

  card = { ...card, description: `${card.description} And more.` };
  try {
    await ask(client, "Summarise that");
    check(false, "a drifted card refuses the message");
  } catch (error) {
    if (!isA2ALeaseError(error)) throw error;
    check(error instanceof CardDriftError, `it is a drift, not ${error.name}`);
    check(sent.length === 1, "nothing was sent");
    console.log(plan(error));
  }
}

void main();
