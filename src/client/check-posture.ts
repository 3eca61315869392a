import type { Posture } from "../model/posture.ts";
import { checkOptions } from "../util/options.ts";

/** A posture as an object, whichever of the two it is. */
interface PostureObject {
  readonly onDrift: unknown;
  readonly restartable?: true;
}

/**
 * Checks a posture.
 *
 * @throws TypeError when it is none.
 */
export function checkPosture(posture: Posture | undefined): void {
  if (posture === undefined || posture === "fail-closed") return;
  if (typeof posture === "object") {
    checkOptions<PostureObject>(posture as PostureObject, { onDrift: "any", restartable: "flag" }, "posture");
  }
  if (typeof posture === "object" && typeof posture.onDrift === "function") return;
  if (typeof posture === "object" && posture.onDrift === "degrade" && posture.restartable === true) return;
  throw new TypeError(
    'posture: wanted "fail-closed", { onDrift: "degrade", restartable: true }, or { onDrift: a function }',
  );
}
