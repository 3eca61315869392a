import { LedgerConflictError, LedgerUnavailableError } from "../errors/ledger.ts";
import { MalformedResponseError } from "../errors/transport.ts";
import { boundLedger } from "../ledger/bound.ts";
import { cardKeyOf } from "../ledger/card-key.ts";
import type { PushUpdate } from "../model/push-update.ts";
import { isoTime } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { sha256Hex } from "../util/hash.ts";
import { isSameFingerprint } from "../util/secret.ts";
import { Refused, refusals, responseOf, type WebhookAnswer } from "./answer.ts";
import { checkHead, readBody, readJsonBody } from "./body.ts";
import { createGate, createLines } from "./gate.ts";
import { createJwtVerifier, type VerifiedToken } from "./jwt.ts";
import { locate } from "./locate.ts";
import { resolveWebhookOptions, type WebhookOptions } from "./options.ts";
import { type ReadPush, readPush } from "./payload.ts";
import { type PushSender, presentedIn, verifySecret, verifyToken } from "./sender.ts";
import { demote, type Incoming, mismatchOf, storePush } from "./store.ts";
import { createUntold } from "./untold.ts";

/** Takes one push notification and answers it. Never rejects. */
export type WebhookReceiver = (request: Request) => Promise<Response>;

/** A sender that was verified. */
interface Verified {
  readonly sender: PushSender;
  /** What it was verified by. */
  readonly secrets: readonly string[];
  readonly token?: VerifiedToken;
}

/**
 * Makes the receiver of push notifications (4.3.3, 13.2): a web `Request` in, a `Response` out. It verifies who sends,
 * judges what is sent by the rules of a task's life, and answers 2xx only when the ledger has it. Nothing that it takes
 * is delivered: the client whose task it is reads the task, under its lease.
 *
 * @throws TypeError naming the option.
 */
export function createWebhookReceiver(options: WebhookOptions): WebhookReceiver {
  const resolved = resolveWebhookOptions(options);
  const { verify, clock, limits, onUpdate, onError, waitUntil } = resolved;
  const ledger = boundLedger(resolved.ledger, clock, new AbortController().signal);
  const gate = createGate(limits.pending, limits.pendingBytes);
  const inLine = createLines();
  const signed = verify === "secret" ? undefined : { verify: createJwtVerifier(verify, clock), ...verify };
  const store = { ledger, clock };
  const untold = createUntold();

  async function authenticate(headers: Headers): Promise<Verified> {
    const secrets = presentedIn(headers);
    if (!signed) return { sender: await verifySecret(headers, ledger), secrets };
    const cardUrl = cardKeyOf(signed.cardUrl);
    const { principal = "default" } = signed;
    const token = await signed.verify(headers);
    try {
      const record = await verifyToken(headers, ledger);
      const isOther = record && (record.cardUrl !== cardUrl || record.principal !== principal);
      if (isOther) throw new Refused(refusals.unauthorized);
      return { sender: { cardUrl, principal, record }, secrets, token };
    } catch (error) {
      token.release();
      throw error;
    }
  }

  async function take(request: Request): Promise<WebhookAnswer> {
    checkHead(request, limits);
    const verified = await authenticate(request.headers);
    const { token } = verified;
    try {
      const body = await readBody(request, { clock, limits, gate });
      try {
        const answer = await takeBody(body.bytes, verified);
        token?.keep();
        return answer;
      } finally {
        body.release();
      }
    } finally {
      token?.release();
    }
  }

  async function takeBody(bytes: Uint8Array, { sender, secrets, token }: Verified): Promise<WebhookAnswer> {
    const hash = sha256Hex(bytes);
    const { bodyHash } = token ?? {};
    if (bodyHash !== undefined && !isSameFingerprint(bodyHash, hash))
      throw new Refused(refusals.unauthorized);
    const reading = readPush(readJsonBody(bytes, limits.bodyDepth), {
      seenAt: isoTime(clock.now()),
      secrets,
    });
    if (!reading.ok) {
      const error = "wanted exactly one of task, message, statusUpdate, artifactUpdate (4.3.3)";
      const body = { error, issues: reading.issues.slice(0, 5) };
      throw new Refused({ status: 422, body }, new MalformedResponseError(reading.issues));
    }
    const { push } = reading;
    const taskId = push.taskId ?? sender.record?.taskId ?? token?.taskId;
    if (taskId === undefined) throw new Refused(refusals.unknownTask);
    if (token?.taskId !== undefined && token.taskId !== taskId) throw new Refused(refusals.unauthorized);
    const key = JSON.stringify([sender.cardUrl, sender.principal, taskId]);
    return inLine(key, () => keep({ sender, push, taskId, hash }));
  }

  async function keep(found: Omit<Incoming, "task">): Promise<WebhookAnswer> {
    const { sender, push, taskId } = found;
    const located = await locate(store, sender, taskId);
    if (located.kind === "foreign") {
      const reason = `identity: found task ${taskId} in a notification of task ${located.wanted}`;
      await demote(store, { ...found, task: undefined }, reason);
      throw new Refused(refusals.unknownTask);
    }
    if (located.kind === "unknown") throw new Refused(refusals.unknownTask);
    const incoming: Incoming = { ...found, task: located.task };
    const verdict = await untold.follow(JSON.stringify([sender.cardUrl, taskId, found.hash]), () =>
      storePush(store, incoming),
    );
    if (verdict.outcome === "broken") {
      const body = { error: "lifecycle", rule: verdict.rule, message: verdict.message };
      throw new Refused({ status: 409, body }, mismatchOf(verdict, incoming));
    }
    if (verdict.isNews) {
      const more = verdict.outcome === "new" ? verdict.deviations : [];
      const deviations = Object.freeze([...push.deviations, ...more]);
      tell(updateOf(sender, push, { taskId, deviations, receivedAt: isoTime(clock.now()) }));
    }
    return { status: 200, body: { outcome: verdict.outcome } };
  }

  /** Tells of news. What comes of it is no matter of the sender's. */
  function tell(update: PushUpdate): void {
    const work = (async () => {
      await onUpdate(update);
    })().catch(report);
    try {
      waitUntil(work);
    } catch (error) {
      // It is stored, whatever becomes of the worker.
      report(error);
    }
  }

  function report(error: unknown): void {
    try {
      Promise.resolve(onError(error)).catch(() => {});
    } catch {
      // One that fails at hearing of failures is not told of that.
    }
  }

  function answerTo(error: unknown): WebhookAnswer {
    if (error instanceof Refused) {
      if (error.cause !== undefined) report(error.cause);
      return error.answer;
    }
    report(error);
    const isLedgers = error instanceof LedgerUnavailableError || error instanceof LedgerConflictError;
    return isLedgers ? refusals.unavailable : { status: 500, body: { error: "internal" } };
  }

  return async (request) => {
    let leave = () => {};
    try {
      leave = gate.enter();
      return responseOf(await take(request));
    } catch (error) {
      return responseOf(answerTo(error));
    } finally {
      leave();
    }
  };
}

function updateOf(
  { cardUrl, principal }: PushSender,
  { event, contextId, observation }: ReadPush,
  facts: Pick<PushUpdate, "taskId" | "deviations" | "receivedAt">,
): PushUpdate {
  const { state } = observation ?? {};
  return Object.freeze({
    cardUrl,
    principal,
    event,
    ...defined({ contextId, observation, state }),
    ...facts,
  });
}
