import type { BindingCall } from "../binding/binding.ts";
import { isSameOrigin, originOf } from "../card/interface.ts";
import { SendOutcomeUnknownError } from "../errors/sending.ts";
import { TimeoutError } from "../errors/transport.ts";
import { joinRequirements } from "../lease/requirements.ts";
import { calleeOf } from "../ledger/callee.ts";
import { taskKey } from "../ledger/ledger.ts";
import type { Observation } from "../model/observation.ts";
import type { OperationName, Operations } from "../model/operations.ts";
import type { CardPin } from "../model/pin.ts";
import type { ProbeCheck, ProbeReport } from "../model/probe.ts";
import type { ProbedCapability } from "../model/trust.ts";
import { createProbeReport } from "../probe/report.ts";
import { type ProbeAgent, runProbe } from "../probe/run.ts";
import { check, checkProbe } from "../probe/verdict.ts";
import { createScope } from "../util/abort.ts";
import { isoTime, readInstant } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { createUuid } from "../util/uuid.ts";
import { attemptCall } from "./attempt.ts";
import type { Call, CallOptions } from "./call.ts";
import { checkLease, requirePinned } from "./check.ts";
import { openIntent } from "./intent.ts";
import { createMessage, impliedRequirements } from "./message.ts";
import { claimsHistory, effectiveCard } from "./pinned.ts";
import { checkProbeOptions, type ProbeOptions } from "./probe-options.ts";
import { createPushProbe, type PushProbe } from "./probe-push.ts";
import type { LeaseHolder, Session } from "./session.ts";
import { isUnknownOutcome } from "./surprise.ts";

const defaultDeadlineMs = 120_000;

/** Drives one task through its whole life, judges what was seen, and writes down what the agent earned by it. */
export async function probeAgent(
  session: Session,
  plan: LeaseHolder,
  options: ProbeOptions,
): Promise<ProbeReport> {
  checkProbeOptions(options);
  const { clock, trust } = session;
  const { pin } = plan;
  const { deadlineMs = defaultDeadlineMs, onProgress } = options;
  if (plan.ended) throw plan.ended;
  const startedAt = isoTime(clock.now());
  const capabilities = options.capabilities ?? claimed(pin);
  const scope = createScope(clock, [options.signal, session.closed]);
  scope.deadline(deadlineMs, () => new TimeoutError(pin.interface.url, "deadline", deadlineMs));
  try {
    const callOptions = { signal: scope.signal, ...defined({ headers: options.headers }) };
    const isWanted = capabilities.includes("pushNotifications");
    const { receiver } = options;
    const push = createPushProbe(session, plan, { isWanted, receiver, options: callOptions });
    const agent = await reach(session, plan, { options, callOptions, push });
    const streams = capabilities.includes("streaming");
    const run = await runProbe(agent, {
      streams,
      claimsHistory: claimsHistory(pin),
      onProgress(progress) {
        if (progress.observation) push.seen(progress.observation);
        onProgress?.(progress);
      },
    });
    const pushed = await push.finish(run.transitions.at(-1));
    const answered = await answeredCheck(session, run.transitions);
    const judged = checkProbe(effectiveCard(pin), run.transitions);
    const checks = [...judged, answered, ...run.checks, pushed];
    const obstacles = obstaclesTo(session, pin, checks);
    const covered = capabilities.filter((name) => isCovered(name, checks));
    const promoted = obstacles.length === 0;
    if (promoted) await trust.promote({ pin, capabilities: covered, originWaived: !isHome(session, pin) });
    else trust.demote(pin, `a probe failed: ${obstacles.join("; ")}`);
    await trust.settled();
    return createProbeReport({
      callee: calleeOf(pin),
      protocolVersion: pin.protocolVersion,
      digest: pin.digest,
      startedAt,
      endedAt: isoTime(clock.now()),
      promoted,
      obstacles: Object.freeze(obstacles),
      capabilities: Object.freeze(covered),
      checks: Object.freeze(checks),
      transitions: Object.freeze([...run.transitions]),
    });
  } catch (error) {
    throw scope.signal.aborted ? scope.signal.reason : error;
  } finally {
    scope.release();
  }
}

/** The agent as the probe reaches it: under the plan's lease, and below handles. */
async function reach(
  session: Session,
  plan: LeaseHolder,
  how: {
    readonly options: ProbeOptions;
    readonly callOptions: CallOptions & { readonly signal: AbortSignal };
    readonly push: PushProbe;
  },
): Promise<ProbeAgent> {
  const { callOptions, push } = how;
  const { signal } = callOptions;
  const { message: input } = how.options;
  const message = createMessage(input, {}, { random: session.options.random });
  const requirements = joinRequirements(plan.requirements, impliedRequirements(message, {}, plan.pin));
  const inline = defined({ taskPushNotificationConfig: push.config });
  const callOf = <O extends OperationName>(operation: O, request: Operations[O]["request"]): Call<O> => ({
    operation,
    request,
    holder: plan,
    requirements,
    options: callOptions,
    knowsTask: false,
  });
  requirePinned(session, "SendMessage", plan.pin, requirements);
  const phase = { operation: "SendMessage", check: "before" } as const;
  await checkLease(session, { holder: plan, requirements, phase, signal });

  /** A probe is a send like any other: its intent is written down, and its outcome may be unknown. */
  async function send<T>(exchange: () => Promise<T>): Promise<T> {
    await push.open(message.messageId);
    const intent = await openIntent(session, message, plan, requirements);
    try {
      const answer = await exchange();
      await intent.close("answered");
      return answer;
    } catch (error) {
      const isLost = isUnknownOutcome(error);
      if (!signal.aborted) await intent.close(isLost ? "unknown" : "refused");
      throw isLost ? new SendOutcomeUnknownError(message, error) : error;
    }
  }

  return {
    clock: session.clock,
    signal,
    unknownId: createUuid(session.options.random),
    stream: () =>
      send(() => {
        requirePinned(session, "SendStreamingMessage", plan.pin, requirements);
        const call = {
          ...callOf("SendStreamingMessage", { message, ...(push.config ? { configuration: inline } : {}) }),
          message,
        };
        const exchange = (wire: BindingCall) =>
          session.bindings.of(wire.interface).open("SendStreamingMessage", call.request, wire);
        return attemptCall(session, call, { exchange, signal, since: readInstant(session.clock) });
      }),
    send: () =>
      send(async () => {
        const call = {
          ...callOf("SendMessage", { message, configuration: { returnImmediately: true, ...inline } }),
          message,
        };
        const exchange = (wire: BindingCall) =>
          session.bindings.of(wire.interface).call("SendMessage", call.request, wire);
        return (await attemptCall(session, call, { exchange, signal, since: readInstant(session.clock) }))
          .value;
      }),
    async get(id) {
      const call = callOf("GetTask", { id });
      const exchange = (wire: BindingCall) =>
        session.bindings.of(wire.interface).call("GetTask", call.request, wire);
      return (await attemptCall(session, call, { exchange, signal, since: readInstant(session.clock) }))
        .value;
    },
  };
}

/** What the card claims and a probe can show. */
function claimed(pin: CardPin): ProbedCapability[] {
  const { capabilities } = effectiveCard(pin);
  return [
    ...(capabilities.streaming ? (["streaming"] as const) : []),
    ...(capabilities.pushNotifications ? (["pushNotifications"] as const) : []),
    ...(claimsHistory(pin) ? (["history"] as const) : []),
  ];
}

/** Whether the answer was a task of this message; one that was over before the probe began can be none. */
async function answeredCheck(session: Session, seen: readonly Observation[]): Promise<ProbeCheck> {
  const [first] = seen;
  if (!first) return check("answered", "not-run", "there was no task");
  const { ledger, options, cardKey } = session;
  const entry = await ledger.read(taskKey(cardKey, options.principal, first.taskId));
  const before = entry?.record.kind === "task" ? entry.record.memory.terminal : undefined;
  if (!before) return check("answered", "passed", "kept");
  const found = `found task ${first.taskId}, which was in ${before.state} before, wanted one of the message`;
  return check("answered", "failed", found, [before, first]);
}

function isCovered(name: ProbedCapability, checks: readonly ProbeCheck[]): boolean {
  const shownBy = {
    streaming: "streaming-emits",
    pushNotifications: "push-calls-back",
    history: "history-grows",
  } as const;
  return checks.some((item) => item.name === shownBy[name] && item.outcome === "passed");
}

/** Why an agent is not promoted: a failed check, or an interface at another origin that nobody allowed. */
function obstaclesTo(session: Session, pin: CardPin, checks: readonly ProbeCheck[]): string[] {
  const failed = checks
    .filter(({ outcome }) => outcome === "failed")
    .map(({ name, detail }) => `${name}: ${detail}`);
  const origin = originOf(pin.interface.url);
  const isKnown = isHome(session, pin) || session.options.allowedOrigins.includes(origin);
  return isKnown ? failed : [...failed, `the interface is at ${origin}, not at the card's own origin`];
}

function isHome(session: Session, pin: CardPin): boolean {
  return isSameOrigin(session.source.url, pin.interface.url);
}
