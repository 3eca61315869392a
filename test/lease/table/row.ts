import { contentDigest } from "../../../src/card/digest.ts";
import { type JudgeOptions, judgeCard } from "../../../src/lease/judge.ts";
import { pinCard } from "../../../src/lease/pin.ts";
import { decideDrift } from "../../../src/lease/posture.ts";
import type {
  CardChangeImpact,
  CardChangeKind,
  CardComparison,
  DriftReason,
} from "../../../src/model/drift.ts";
import type { CardPin } from "../../../src/model/pin.ts";
import type { DriftDecision, Posture } from "../../../src/model/posture.ts";
import type { CardRequirements, RequirementName } from "../../../src/model/requirements.ts";
import { baseCard, type CardJson, type Edit, edited } from "./cards.ts";

/** Postures by the names that rows give them; a function says the same whatever it is asked. */
export const postures = {
  "fail-closed": "fail-closed",
  degrade: { onDrift: "degrade", restartable: true },
  "says repin": { onDrift: () => "repin" },
  "says fail": { onDrift: () => "fail" },
} as const satisfies Record<string, Posture>;

/** One row of the table: a pin, a live card, a plan, a posture, and what must come of them. */
export interface Row {
  /** What the row shows, as a sentence. */
  readonly says: string;
  /** What makes the pinned card of the base card. @default nothing, the base card is pinned */
  readonly was?: readonly Edit[];
  /** What makes the live card of the pinned one. */
  readonly now: readonly Edit[] | "withdrawn";
  /** What the plan needs. @default nothing */
  readonly needs?: CardRequirements;
  /** The posture. */
  readonly under: keyof typeof postures;
  /** Which digest decides. @default content */
  readonly compare?: CardComparison;
  /** Key of the pin's signer, and of every valid signature on the live card. */
  readonly keys?: { readonly pinned: string; readonly live: readonly string[] };
  /** Whether a later card was seen before. */
  readonly rolledBack?: boolean;
  /** Whose digest is as good as the pinned one. */
  readonly accepts?: "the live card" | "another card";
  /** Extensions that the caller declares. */
  readonly declares?: readonly string[];
  /** Bindings of the client. @default JSON-RPC alone */
  readonly bindings?: readonly string[];
  /** The same card, or what the posture says to the reason. */
  readonly result: "same" | `${DriftDecision} ${DriftReason}`;
  /** Requirements that no longer hold, and what each wanted. @default none */
  readonly breaks?: readonly `${RequirementName}:${string}`[];
  /** The changes in their order: kind, impact, pointer. @default none */
  readonly changes?: readonly `${CardChangeKind} ${CardChangeImpact} ${string}`[];
}

/** What a row expects, or what came of it. */
export interface Result {
  readonly result: string;
  readonly breaks: readonly string[];
  readonly changes: readonly string[];
}

/** A row with its pin and its live card made. */
export interface Case {
  readonly row: Row;
  readonly pinned: CardJson;
  readonly pin: CardPin;
  readonly live: CardJson | undefined;
  readonly options: JudgeOptions;
  readonly expected: Result;
}

/** The judgement that the rows are run against. */
export interface Judgement {
  readonly judgeCard: typeof judgeCard;
  readonly decideDrift: typeof decideDrift;
}

const cardUrl = "https://agent.example/.well-known/agent-card.json";
const atMs = Date.UTC(2026, 0, 1);

/** Makes the pin and the live card of a row. */
export function createCase(row: Row): Case {
  const pinned = edited(baseCard, row.was ?? []);
  const live = row.now === "withdrawn" ? undefined : edited(pinned, row.now);
  const { bindings, keys, declares, compare, accepts, rolledBack } = row;
  const pin = pinCard(pinned, { cardUrl, pinnedAtMs: atMs, ...(bindings && { bindings }) });
  const accepted = accepts === "the live card" ? live : { ...baseCard, name: "Another" };
  return {
    row,
    pinned,
    pin: keys ? { ...pin, signer: keys.pinned } : pin,
    live,
    options: {
      cardUrl,
      atMs,
      ...(bindings && { bindings }),
      ...(keys && { signers: keys.live }),
      ...(declares && { extensions: declares }),
      ...(compare && { compare }),
      ...(accepts && accepted && { acceptDigests: [contentDigest(accepted)] }),
      ...(rolledBack && { rolledBack }),
    },
    expected: { result: row.result, breaks: row.breaks ?? [], changes: row.changes ?? [] },
  };
}

/** Judges a case, then asks the posture. */
export function resultOf(
  { row, pin, live, options }: Case,
  judgement: Judgement = { judgeCard, decideDrift },
): Result {
  const verdict = judgement.judgeCard(pin, live, row.needs, options);
  if (verdict.outcome === "same") return { result: "same", breaks: [], changes: verdict.changes.map(brief) };
  const { drift } = verdict;
  return {
    result: `${judgement.decideDrift(postures[row.under], drift, undefined)} ${drift.reason}`,
    breaks: drift.breaks.map(({ requirement, wanted }) => `${requirement}:${wanted}`),
    changes: drift.changes.map(brief),
  };
}

function brief(item: { kind: string; impact: string; pointer: string }): string {
  return `${item.kind} ${item.impact} ${item.pointer}`;
}
