import { systemClock } from "../../src/util/clock.ts";
import { startFaultProxy } from "../flow/fault-proxy.ts";

// The network of follows.ts, in a process of its own: four of five streams are cut, somewhere in their first bytes.

const [target = ""] = process.argv.slice(2);
const kinds = ["end", "close", "reset"] as const;
const proxy = await startFaultProxy({
  target,
  clock: systemClock,
  fault: () =>
    Math.random() < 0.8
      ? {
          cutAfterBytes: Math.floor(Math.random() * 4_000),
          how: kinds[Math.floor(Math.random() * 3)] ?? "end",
        }
      : {},
});
process.on("message", (question) => {
  if (question === "counts") {
    const { socketCount, cutCount, passedBytes } = proxy;
    process.send?.({ socketCount, cutCount, passedBytes });
  } else {
    void proxy.close();
    process.disconnect();
  }
});
process.send?.({ url: proxy.url });
