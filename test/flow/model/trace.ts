import { type Exchange, endOf, type RunRecord, type Settled, type Sighting, type Step } from "./record.ts";

interface Line {
  readonly at: number;
  readonly line: string;
}

/** Everything that happened in a run, one line each, in order. */
export function traceOf({ exchanges, steps, settings }: RunRecord, script: readonly Line[]): string {
  const lines = [
    ...script.map(({ at, line }) => ({ at, line: `> ${line}` })),
    ...steps.flatMap(linesOfStep),
    ...exchanges.flatMap(linesOfExchange),
  ];
  const sorted = lines.sort((a, b) => a.at - b.at).map(({ at, line }) => `${String(at).padStart(4)} ${line}`);
  return [JSON.stringify(settings), ...sorted].join("\n");
}

function linesOfStep(step: Step): Line[] {
  const { id, label, startedAt, settled, aborted, holder } = step;
  return [
    { at: startedAt, line: `  ${id} ${label}${holder ? ` under ${holder}` : ""}` },
    ...(settled ? [{ at: endOf(step), line: `  ${id} = ${endText(settled)}` }] : []),
    ...(aborted ? [{ at: aborted.at, line: `  ${id} is aborted` }] : []),
  ];
}

function endText(settled: Settled): string {
  if (settled.isOk) return settled.state ?? "ok";
  const texts: string[] = [];
  for (let error = settled.error; error instanceof Error && texts.length < 4; error = error.cause) {
    texts.push(`${error.name}: ${error.message}`);
  }
  return texts.length > 0 ? texts.join("\n         because ") : String(settled.error);
}

function linesOfExchange(exchange: Exchange): Line[] {
  const { at, atMs, answer, failure } = exchange;
  const isCard = exchange.kind === "card";
  const what = isCard
    ? exchange.isFull
      ? "card, in full"
      : "card"
    : `${exchange.operation} of ${exchange.stepId}`;
  const time = new Date(atMs).toISOString().slice(11);
  const digest = isCard && exchange.digests ? ` ${exchange.digests.digest.slice(7, 13)}` : "";
  return [
    { at, line: `    ${what} -> (${time})` },
    ...(answer
      ? [{ at: answer.at, line: `    ${what} of ${at} <- ${answer.status} ${answer.mediaType}${digest}` }]
      : []),
    ...(failure ? [{ at: failure.at, line: `    ${what} of ${at} <- ${failure.how}` }] : []),
    ...(isCard ? [] : exchange.sightings.map((seen) => ({ at: seen.at, line: `      ${seenText(seen)}` }))),
    ...(!isCard && exchange.stalledAt
      ? [{ at: exchange.stalledAt, line: `      ${what} of ${at} is given up` }]
      : []),
  ];
}

function seenText({ code, taskId, status, before }: Sighting): string {
  if (code !== undefined) return `error ${code}`;
  if (!status) return "something without a status";
  return `${taskId}: ${status.state}${before ? `, before ${before.state}` : ""}`;
}
