import type { AgentCard } from "../model/card.ts";
import { type Clock, isoTime, parseTime } from "../util/clock.ts";
import { isRecord } from "../util/freeze.ts";
import { sha256HexOfText } from "../util/hash.ts";
import type { CardLike } from "./answers.ts";
import type { AgentAnswer, AgentRequest } from "./exchange.ts";
import type { ResolvedSettings } from "./settings.ts";
import { asksPastCaches } from "./transcript.ts";

/** The next card: itself, or made from the one before, which is handed on unchecked. */
export type NextCard = CardLike | ((card: AgentCard) => CardLike);

/** The cards of a scripted agent. */
export interface CardDesk {
  /** The card in force, as it reads at the agent's in-process URL. */
  current(): AgentCard;
  /** Puts the next card in force, as of a wall time in milliseconds. */
  rotate(next: NextCard, atMs: number): void;
  /** A card with its interfaces where the caller of a request knows them to be. */
  moved(card: CardLike, request: AgentRequest): unknown;
  /** Answers a card read, honestly as far as the settings let it. */
  serve(request: AgentRequest, card?: CardLike): AgentAnswer;
}

/** Makes the desk. `agentUrl` is where the interface URLs on cards point; a listener's answers are moved to its URL. */
export function createCardDesk(
  clock: Clock,
  settings: () => ResolvedSettings,
  { card: firstCard, agentUrl }: { readonly card: CardLike; readonly agentUrl: string },
): CardDesk {
  // A script may put anything in force; who looks at it knows what that was.
  let card = firstCard as AgentCard;
  let changedAtMs = clock.now();
  return {
    current: () => card,
    rotate(next, atMs) {
      card = (typeof next === "function" ? next(card) : next) as AgentCard;
      changedAtMs = atMs;
    },
    moved: (moving, { baseUrl }) => moveInterfaces(moving, agentUrl, baseUrl),
    serve(request, served: CardLike = card) {
      const given = settings();
      const json = JSON.stringify(moveInterfaces(served, agentUrl, request.baseUrl), null, given.indent);
      const tag = etagOf(given.etag, served, json);
      const headers: Record<string, string> = {
        ...given.cardHeaders,
        ...(tag === undefined ? {} : { etag: tag }),
        ...(given.lastModified ? { "last-modified": httpDate(changedAtMs) } : {}),
        ...(given.cacheControl === undefined ? {} : { "cache-control": given.cacheControl }),
        ...(given.ageSeconds === undefined ? {} : { age: String(given.ageSeconds) }),
      };
      const asked = request.headers["if-none-match"];
      const isLie = given.liesWith304 && asked !== undefined;
      // What the caller already has is named back to it by a lie, as a cache in between would.
      if (isLie) return { kind: "answer", status: 304, headers: { ...headers, etag: asked }, body: "" };
      if (isFresh(request.headers, tag, given.lastModified ? changedAtMs : undefined)) {
        return { kind: "answer", status: 304, headers, body: "" };
      }
      return {
        kind: "answer",
        status: 200,
        headers: { "content-type": "application/json", ...headers },
        body: json,
      };
    },
  };
}

function etagOf(kind: ResolvedSettings["etag"], card: CardLike, json: string): string | undefined {
  if (kind === "none") return undefined;
  if (kind === "weak-version") return `W/"${"version" in card ? card.version : ""}"`;
  return `"${sha256HexOfText(json).slice(0, 16)}"`;
}

/** Whether a conditional request may be answered with 304, by the rules that Express follows too. */
function isFresh(
  headers: Readonly<Record<string, string>>,
  tag: string | undefined,
  changedAtMs: number | undefined,
): boolean {
  if (asksPastCaches(headers)) return false;
  const noneMatch = headers["if-none-match"];
  if (noneMatch !== undefined) {
    if (noneMatch.trim() === "*") return true;
    const weak = (value: string) => value.trim().replace(/^W\//, "");
    return tag !== undefined && noneMatch.split(",").some((value) => weak(value) === weak(tag));
  }
  const since = parseTime(headers["if-modified-since"] ?? "");
  return since !== undefined && changedAtMs !== undefined && Math.floor(changedAtMs / 1000) * 1000 <= since;
}

function moveInterfaces(card: CardLike, from: string, to: string): unknown {
  const { supportedInterfaces } = card;
  if (from === to || !Array.isArray(supportedInterfaces)) return card;
  const moved = supportedInterfaces.map((entry: unknown) => {
    if (!isRecord(entry) || typeof entry.url !== "string") return entry;
    const isOurs = entry.url === from || entry.url.startsWith(`${from}/`);
    return isOurs ? { ...entry, url: to + entry.url.slice(from.length) } : entry;
  });
  return { ...card, supportedInterfaces: moved };
}

const weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A wall time in the form of HTTP headers (RFC 9110 5.6.7). */
export function httpDate(wallMs: number): string {
  const [date = "", time = ""] = isoTime(wallMs).split("T");
  const [year, month, day] = date.split("-");
  const weekday = weekdays[Math.floor(wallMs / 86_400_000) % 7];
  return `${weekday}, ${day} ${months[Number(month) - 1]} ${year} ${time.slice(0, 8)} GMT`;
}
