import type { CardDrift, DriftReason } from "../model/drift.ts";
import type { CapabilityName, OperationName } from "../model/operations.ts";
import type { CardRequirements, UnmetRequirement } from "../model/requirements.ts";
import { redactUrl } from "../util/redact.ts";
import { A2ALeaseError, type ErrorAdvice, reasonText } from "./base.ts";
import { lastingAdvice } from "./lasting.ts";
import { SendOutcomeUnknownError } from "./sending.ts";

/** What a renegotiation gives: the client before a task exists, else a new handle of the task. */
export type Renegotiated<Client = unknown, Handle = unknown> =
  | { readonly client: Client; readonly handle?: never }
  | { readonly handle: Handle; readonly client?: never };

/** Adopts the live card on behalf of whoever holds the lease. */
export type Renegotiate<Client = unknown, Handle = unknown> = (options: {
  readonly requires?: CardRequirements;
}) => Promise<Renegotiated<Client, Handle>>;

/**
 * The live card is not the one that was planned against. Nothing was sent, or what came back was withheld.
 *
 * @typeParam Client - the client, which `renegotiate` resolves to before a task exists.
 * @typeParam Handle - the new handle, which it resolves to after that.
 */
export class CardDriftError<Client = unknown, Handle = unknown> extends A2ALeaseError {
  static readonly code = "CARD_DRIFT";
  override readonly name = "CardDriftError";
  override readonly code = "CARD_DRIFT";
  /** Why, in one word. */
  readonly reason: DriftReason;
  /** Change by change, and which requirements broke. */
  readonly drift: CardDrift;
  /** Task whose lease ended, when a task exists. */
  declare readonly taskId?: string;
  readonly #renegotiate: Renegotiate<Client, Handle>;

  constructor(
    drift: CardDrift,
    details: { taskId?: string; cause?: unknown; renegotiate: Renegotiate<Client, Handle> },
  ) {
    const broken = drift.breaks.map((unmet) => `${unmet.requirement} ${unmet.wanted}`).join(", ");
    super(
      `the agent card drifted (${drift.reason}) at ${drift.phase.operation}, ${drift.phase.check} check: ` +
        `${foundAndWanted(drift)}${broken ? `; no longer met: ${broken}` : ""}`,
      // What left before the drift was seen may be under way: that comes first.
      details.cause instanceof SendOutcomeUnknownError
        ? { retry: "unknown-outcome", nextStep: "recover", cause: details.cause }
        : { retry: "after-renegotiation", nextStep: "renegotiate", cause: details.cause },
    );
    this.reason = drift.reason;
    this.drift = drift;
    if (details.taskId !== undefined) this.taskId = details.taskId;
    this.#renegotiate = details.renegotiate;
  }

  /**
   * Adopts the live card. Resolves to `{ client }` when no task existed yet, else to `{ handle }`, a new handle pinned
   * to the live card. Where requirements broke, say what the plan needs from now on.
   *
   * @throws {@link LeaseUnverifiableError} when the card can't be read now; the card errors when it is gone or can't be
   * used; {@link RequirementUnmetError} when it does not meet the plan.
   */
  renegotiate(options: { readonly requires?: CardRequirements } = {}): Promise<Renegotiated<Client, Handle>> {
    return this.#renegotiate(options);
  }
}

/** The signers, where they are what drifted, and the digests, where they differ. */
function foundAndWanted({ changes, live, pinned }: CardDrift): string {
  const digests = live
    ? `found ${live.digest}, wanted ${pinned.digest}`
    : `found no card, wanted ${pinned.digest}`;
  const signer = changes.find(({ kind, before }) => isSignature(kind) && before === pinned.signer);
  if (!signer || pinned.signer === undefined) return digests;
  const found = Array.isArray(signer.after) && signer.after.length > 0 ? signer.after.join(", ") : undefined;
  const by =
    found ?? (signer.kind === "signature-removed" ? "no signature" : "no valid signature of a trusted key");
  const told = `${found ? `found a signature by ${by}` : `found ${by}`}, wanted one by ${pinned.signer}`;
  return live?.digest === pinned.digest
    ? `${told}; the content is the same, ${pinned.digest}`
    : `${told}; ${digests}`;
}

function isSignature(kind: string): boolean {
  return kind === "signer-changed" || kind === "signature-removed";
}

/**
 * The card could not be checked now, so nothing may depend on it. Waiting helps, but where the connection failed for
 * good: `checkFailure`, or `cause`, is a ConnectionError with a `reason` then.
 */
export class LeaseUnverifiableError extends A2ALeaseError {
  static readonly code = "LEASE_UNVERIFIABLE";
  override readonly name = "LeaseUnverifiableError";
  override readonly code = "LEASE_UNVERIFIABLE";
  /** URL of the card, redacted. */
  readonly url: string;
  /** The task, where the check was for one. */
  declare readonly taskId?: string;
  /** Why the check failed, when the cause is the surprise that asked for it. */
  readonly checkFailure?: unknown;

  constructor(
    url: string,
    details: {
      cause: unknown;
      checkFailure?: unknown;
      retryAfterMs?: number | undefined;
      taskId?: string | undefined;
      /** Whether the agent took a message, so that sending it again would do it twice. */
      isTaken?: boolean;
      /** Whether the lease is over by it, so that waiting does not help. */
      isOver?: boolean;
    },
  ) {
    const { cause, retryAfterMs } = details;
    const text = reasonText(details.checkFailure ?? cause);
    const advice: Pick<ErrorAdvice, "retry" | "nextStep"> =
      cause instanceof SendOutcomeUnknownError || details.isTaken
        ? { retry: "unknown-outcome", nextStep: "recover" }
        : details.isOver
          ? { retry: "after-renegotiation", nextStep: "renegotiate" }
          : (lastingAdvice(details.checkFailure ?? cause) ?? { retry: "safe", nextStep: "wait" });
    super(`the lease on the agent card at ${redactUrl(url)} could not be verified: ${text}`, {
      ...advice,
      retryAfterMs,
      cause,
    });
    this.url = redactUrl(url);
    if (details.taskId !== undefined) this.taskId = details.taskId;
    if (details.checkFailure !== undefined) this.checkFailure = details.checkFailure;
  }
}

/** The card does not meet what the plan requires. No request was made. */
export class RequirementUnmetError extends A2ALeaseError {
  static readonly code = "REQUIREMENT_UNMET";
  override readonly name = "RequirementUnmetError";
  override readonly code = "REQUIREMENT_UNMET";
  /** Each requirement that is not met, and what the card offers. */
  readonly unmet: readonly UnmetRequirement[];
  /** Content digest of the card that was judged. */
  readonly digest: string;

  constructor(unmet: readonly UnmetRequirement[], digest: string) {
    const listed = unmet.map((item) => {
      const offered =
        typeof item.offered === "boolean" ? String(item.offered) : item.offered.join(", ") || "none";
      return `${item.requirement}: wanted ${item.wanted}, found ${offered}`;
    });
    super(`the agent card does not meet the plan: ${listed.join("; ")}`, {
      retry: "never",
      nextStep: "replan",
    });
    this.unmet = unmet;
    this.digest = digest;
  }
}

/** The pinned card does not declare the capability that an operation needs. No request was made. */
export class CapabilityMissingError extends A2ALeaseError {
  static readonly code = "CAPABILITY_MISSING";
  override readonly name = "CapabilityMissingError";
  override readonly code = "CAPABILITY_MISSING";
  /** The capability. */
  readonly capability: CapabilityName;
  /** The operation. */
  readonly operation: OperationName;
  /** Content digest of the card that was judged. */
  readonly digest: string;

  constructor(capability: CapabilityName, operation: OperationName, digest: string) {
    super(
      `${operation} needs capabilities.${capability}: found false or nothing on the agent card, wanted true`,
      {
        retry: "never",
        nextStep: "replan",
      },
    );
    this.capability = capability;
    this.operation = operation;
    this.digest = digest;
  }
}
