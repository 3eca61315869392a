import { hasLoneSurrogate, type JsonPathSteps } from "./json.ts";

/** One thing in a JSON text that I-JSON (RFC 7493) forbids. */
export interface IJsonProblem {
  /** What was found. */
  readonly kind: "duplicate-name" | "lone-surrogate" | "number-overflow" | "unsafe-integer" | "proto-member";
  /** Where it stands. */
  readonly steps: JsonPathSteps;
  /** The offending token, cut to 80 characters. */
  readonly found: string;
}

/** What a look through a JSON text showed. */
export interface IJsonReport {
  /** Whether objects and arrays nest deeper than was allowed; the look stops there. */
  readonly tooDeep: boolean;
  /** What I-JSON forbids, in order, at most 100. */
  readonly problems: readonly IJsonProblem[];
}

interface Level {
  readonly names: Set<string> | undefined;
  step: string | number;
}

const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\],:]|[a-z]+/gsy;
const whitespace = /[ \t\r\n]*/y;
const maxProblems = 100;

/**
 * Looks through a JSON text, without building it, for what `JSON.parse` hides: duplicate names, lone surrogates,
 * numbers that a double can't hold, `__proto__` members, and nesting beyond `maxDepth`. A text that is no JSON ends
 * the look early; `JSON.parse` then says so.
 */
export function inspectIJson(text: string, maxDepth: number): IJsonReport {
  const problems: IJsonProblem[] = [];
  const levels: Level[] = [];
  let expectsName = false;
  const report = (kind: IJsonProblem["kind"], found: string) => {
    if (problems.length >= maxProblems) return;
    problems.push({ kind, steps: levels.map((level) => level.step), found: found.slice(0, 80) });
  };
  for (let at = 0; at < text.length; at = token.lastIndex) {
    whitespace.lastIndex = at;
    whitespace.test(text);
    token.lastIndex = whitespace.lastIndex;
    const lexeme = token.exec(text)?.[0];
    if (lexeme === undefined) break;
    const top = levels.at(-1);
    const first = lexeme.charAt(0);
    if (first === "{" || first === "[") {
      if (levels.length >= maxDepth) return { tooDeep: true, problems };
      levels.push(first === "{" ? { names: new Set(), step: "" } : { names: undefined, step: 0 });
      expectsName = first === "{";
    } else if (first === "}" || first === "]") {
      levels.pop();
      expectsName = false;
    } else if (first === ",") {
      if (top?.names) expectsName = true;
      else if (top) top.step = Number(top.step) + 1;
    } else if (first === '"') {
      const value = unquote(lexeme);
      if (value === undefined) break;
      const isName = expectsName && top?.names;
      if (isName) {
        top.step = value;
        if (top.names?.has(value)) report("duplicate-name", value);
        if (value === "__proto__") report("proto-member", value);
        top.names?.add(value);
        expectsName = false;
      }
      if (hasLoneSurrogate(value)) report("lone-surrogate", lexeme);
    } else if (first === "-" || (first >= "0" && first <= "9")) {
      const kind = numberProblem(lexeme);
      if (kind) report(kind, lexeme);
    }
  }
  return { tooDeep: false, problems };
}

function unquote(lexeme: string): string | undefined {
  if (!lexeme.includes("\\")) return lexeme.slice(1, -1);
  try {
    return JSON.parse(lexeme);
  } catch {
    return undefined;
  }
}

function numberProblem(lexeme: string): IJsonProblem["kind"] | undefined {
  if (!Number.isFinite(Number(lexeme))) return Number.isNaN(Number(lexeme)) ? undefined : "number-overflow";
  // RFC 7493 2.2: an integer past 2^53 - 1 is not exact, so two cards could share a digest.
  const isInteger = /^-?\d+$/.test(lexeme);
  return isInteger && !Number.isSafeInteger(Number(lexeme)) ? "unsafe-integer" : undefined;
}
