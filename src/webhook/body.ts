import { createScope, withSignal } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { isDeeperThan, parseJson } from "../util/json.ts";
import { Refused, refusals } from "./answer.ts";
import type { WebhookGate } from "./gate.ts";
import type { WebhookLimits } from "./options.ts";

/** What reading a body depends on. */
export interface BodyReader {
  readonly clock: Clock;
  readonly limits: Required<WebhookLimits>;
  readonly gate: WebhookGate;
}

/** A body that was read; its bytes are held until they are let go of. */
export interface HeldBody {
  readonly bytes: Uint8Array;
  readonly release: () => void;
}

/** Looks at the head of a request: a POST of plain JSON, that is not too long by its own word. */
export function checkHead({ method, headers }: Request, { bodyBytes }: Required<WebhookLimits>): void {
  if (method !== "POST") throw new Refused(refusals.method);
  const [mediaType = ""] = (headers.get("content-type") ?? "").split(";");
  if (!/^[\w.+-]+\/(?:[\w.-]+\+)?json$/i.test(mediaType.trim())) throw new Refused(refusals.mediaType);
  const coding = headers.get("content-encoding")?.trim() ?? "";
  if (!/^(?:identity)?$/i.test(coding)) throw new Refused(refusals.coding);
  const length = headers.get("content-length");
  if (length !== null && !(Number(length) <= bodyBytes)) throw new Refused(refusals.tooLarge);
}

/**
 * Reads a body, bounded in size and time.
 *
 * @throws Refused.
 */
export async function readBody(request: Request, { clock, limits, gate }: BodyReader): Promise<HeldBody> {
  const { bodyBytes, bodyMs } = limits;
  const chunks: Uint8Array[] = [];
  const releases: (() => void)[] = [];
  const release = () => {
    for (const letGo of releases.splice(0)) letGo();
  };
  const reader = request.body?.getReader();
  const scope = createScope(clock, [request.signal]);
  scope.deadline(bodyMs, () => new Refused(refusals.tooSlow));
  let length = 0;
  try {
    for (;;) {
      const read = reader?.read() ?? Promise.resolve({ done: true as const, value: undefined });
      const { done, value } = await withSignal(read, scope.signal);
      if (done) break;
      length += value.length;
      if (length > bodyBytes) throw new Refused(refusals.tooLarge);
      releases.push(gate.hold(value.length));
      chunks.push(value);
    }
  } catch (error) {
    release();
    // What is still to come is let by; a sender that never ends is the server's to end.
    reader?.cancel().catch(() => {});
    throw error instanceof Refused ? error : new Refused(refusals.gone);
  } finally {
    scope.release();
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return { bytes, release };
}

/** Reads JSON of a bounded depth. Throws {@link Refused}. */
export function readJsonBody(bytes: Uint8Array, maxDepth: number): unknown {
  let json: unknown;
  try {
    json = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Refused(refusals.notJson);
  }
  if (isDeeperThan(json, maxDepth)) throw new Refused(refusals.notJson);
  return json;
}
