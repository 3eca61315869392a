import type { ProbeCheck, ProbeReport } from "../model/probe.ts";

/** Makes the frozen report of a probe. */
export function createProbeReport(facts: Omit<ProbeReport, "toString" | "passed">): ProbeReport {
  const passed = facts.checks.every(({ outcome }) => outcome !== "failed");
  const report = { ...facts, passed };
  Object.defineProperty(report, "toString", { value: () => tableOf(facts.checks, facts.obstacles) });
  return Object.freeze(report) as ProbeReport;
}

const marks = Object.freeze({ passed: "ok", failed: "FAILED", "not-run": "-" } as const);

function tableOf(checks: readonly ProbeCheck[], obstacles: readonly string[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(
    ({ name, outcome, detail }) => `${name.padEnd(width)}  ${marks[outcome].padEnd(6)}  ${detail}`,
  );
  return [...lines, ...obstacles.map((obstacle) => `not promoted: ${obstacle}`)].join("\n");
}
