import { secretsOf } from "../binding/answer.ts";
import type { BindingCall } from "../binding/binding.ts";
import { MalformedResponseError } from "../errors/transport.ts";
import type { Deviation } from "../model/deviation.ts";
import { isRecord } from "../util/freeze.ts";
import { strikeSecrets } from "../util/redact.ts";

/** An error about an answer quotes it: what the agent gives back of our secrets is struck out. */
export function strikeError(error: unknown, call: BindingCall): unknown {
  if (!(error instanceof MalformedResponseError)) return error;
  const secrets = secretsOf(call);
  const issues = error.issues.map(({ path, message }) => ({
    path: strikeSecrets(path, secrets),
    message: strikeSecrets(message, secrets),
  }));
  return new MalformedResponseError(issues, error.body && strikeSecrets(error.body, secrets));
}

/** An answer whose deviations hold none of our secrets; anything else as it is. */
export function strikeDeviations<T>(answer: T, call: BindingCall): T {
  if (!isRecord(answer) || !("value" in answer) || !Array.isArray(answer.deviations)) return answer;
  const deviations = answer.deviations as readonly Deviation[];
  if (deviations.length === 0) return answer;
  const secrets = secretsOf(call);
  const struck = deviations.map((item) => ({ ...item, message: strikeSecrets(item.message, secrets) }));
  return Object.freeze({ ...answer, deviations: Object.freeze(struck) });
}
