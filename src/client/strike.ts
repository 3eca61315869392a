import type { BindingCall } from "../binding/binding.ts";
import { secretsOf } from "../binding/secrets.ts";
import { MalformedResponseError } from "../errors/transport.ts";
import type { Deviation } from "../model/deviation.ts";
import { isRecord } from "../util/freeze.ts";
import { strikeJson, strikeSecrets } from "../util/strike.ts";

/** An error about an answer quotes it: what the agent gives back of our secrets is struck out. */
export function strikeError(error: unknown, call: BindingCall, request: object): unknown {
  if (!(error instanceof MalformedResponseError)) return error;
  const secrets = secretsOf(call, request);
  const body = error.body && strikeSecrets(error.body, secrets);
  return new MalformedResponseError(strikeJson(error.issues, secrets), body);
}

/** An answer whose deviations hold none of our secrets; anything else as it is. */
export function strikeDeviations<T>(answer: T, call: BindingCall, request: object): T {
  if (!isRecord(answer) || !("value" in answer) || !Array.isArray(answer.deviations)) return answer;
  const deviations = answer.deviations as readonly Deviation[];
  if (deviations.length === 0) return answer;
  const struck = strikeJson(deviations, secretsOf(call, request));
  return Object.freeze({ ...answer, deviations: Object.freeze(struck) });
}
