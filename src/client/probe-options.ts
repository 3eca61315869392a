import type { ProbeProgress } from "../model/probe.ts";
import type { ProbedCapability } from "../model/trust.ts";
import { checkKind, checkOptions, type OptionKinds } from "../util/options.ts";
import { type CallOptions, checkSignal } from "./call.ts";
import type { MessageInput } from "./message.ts";
import type { ProbeReceiver } from "./probe-push.ts";

/** Options of a probe. */
export interface ProbeOptions extends CallOptions {
  /** The message that starts the task: something small and harmless that the agent can finish by itself. */
  readonly message: MessageInput;
  /** What to cover beside the lifecycle. @default what the card claims */
  readonly capabilities?: readonly ProbedCapability[];
  /** How long the task may take, in milliseconds. @default 120 000 */
  readonly deadlineMs?: number;
  /** Where it has notifications sent; without one, push is not probed. */
  readonly receiver?: ProbeReceiver;
  /** Hears each step. */
  readonly onProgress?: (progress: ProbeProgress) => void;
}

const kinds: OptionKinds<ProbeOptions> = Object.freeze({
  message: "any",
  capabilities: "list",
  deadlineMs: "amount",
  timeoutMs: "amount",
  receiver: "object",
  onProgress: "function",
  signal: "object",
  headers: "object",
});

const probed: readonly string[] = ["streaming", "pushNotifications", "history"] satisfies ProbedCapability[];

/**
 * Checks the options of a probe. A receiver may be an object of the caller's own, with more than is asked of it here.
 *
 * @throws TypeError naming the option.
 */
export function checkProbeOptions(options: ProbeOptions): void {
  if (options === undefined) throw new TypeError("options: found undefined, wanted an object with a message");
  checkOptions(options, kinds);
  checkSignal(options.signal);
  const wrong = options.capabilities?.find((name) => !probed.includes(name));
  if (wrong !== undefined) checkKind("capabilities", wrong, probed);
  checkKind("receiver.url", options.receiver?.url ?? null, options.receiver ? "text" : "any");
  checkKind("receiver.allowInsecureUrl", options.receiver?.allowInsecureUrl, "flag");
}
