import { answer, event } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { setUp } from "./rig.ts";

describe("an agent that streams without end", () => {
  test("meets a bound on what is kept of the artifacts of one task", async () => {
    const { agent, connect } = setUp();
    const client = await connect({ limits: { responseBytes: 1_000_000, eventBytes: 1_000_000 } });
    const text = "x".repeat(500_000);
    function* items() {
      yield event.task("TASK_STATE_WORKING");
      for (let index = 0; index < 20; index++) yield event.artifact("a", text, { append: index > 0 });
      yield event.status("TASK_STATE_COMPLETED", { timestamp: "2026-01-01T00:00:00Z" });
    }
    agent.once("SendStreamingMessage", answer.stream(items()));
    const stream = await client.sendStreamingMessage("x");

    const error = await caught<Error>(
      (async () => {
        for await (const _ of stream);
      })(),
    );

    expect(error.name).toBe("LimitExceededError");
  });
});
