import { createScriptedAgent, step } from "a2a-lease/testing";

// The agent of follows.ts, in a process of its own: each task works for as long as it is told, with a piece of its
// output each second, and completes.

const seconds = Number(process.env.WORK_SECONDS ?? 60);
const agent = createScriptedAgent({
  plan: () => {
    const length = Math.round(seconds * (0.5 + 0.4 * Math.random()));
    const pieces = Array.from({ length }, (_, at) => [
      step.wait(1_000),
      step.artifact("a", `${at};`, { append: at > 0, lastChunk: at === length - 1 }),
    ]);
    return [step.working(), ...pieces.flat(), step.completed()];
  },
});
const listener = await agent.listen();
process.on("message", (question) => {
  if (question === "counts") {
    const { openRequestCount, openStreamCount } = agent;
    const subscribed = agent.calls("SubscribeToTask").length;
    const read = agent.calls("GetTask").length;
    const { openSocketCount } = listener;
    process.send?.({ openSocketCount, openRequestCount, openStreamCount, subscribed, read });
  } else {
    void listener.close();
    process.disconnect();
  }
});
process.send?.({ url: listener.url });
