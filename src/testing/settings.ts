import { checkOptions, type OptionKinds } from "../util/options.ts";
import type { CardLike } from "./answers.ts";
import type { DeleteAnswer } from "./dialect.ts";
import {
  changePushes,
  defaultPushes,
  given,
  type PushBehaviour,
  type ResolvedPushes,
} from "./push-settings.ts";

/** What can be changed on a scripted agent at any time. */
export interface AgentSettings {
  /** Token that every call must bear; without it the answer is 401. @default none is asked for */
  readonly bearer?: string | undefined;
  /** Token that every card read must bear. @default none is asked for */
  readonly cardBearer?: string | undefined;
  /**
   * ETag of the card: a strong one from its content, the weak `W/"<version>"` that stays when only the content
   * changes, or none. @default "content"
   */
  readonly etag?: "content" | "weak-version" | "none";
  /** Whether card answers carry `Last-Modified`, the moment of the last rotation. @default false */
  readonly lastModified?: boolean;
  /** `Cache-Control` of card answers. @default none */
  readonly cacheControl?: string | undefined;
  /** `Age` of card answers in seconds, as a shared cache adds it. @default none */
  readonly ageSeconds?: number | undefined;
  /** Other headers of card answers. @default none */
  readonly cardHeaders?: Readonly<Record<string, string>>;
  /** Whether `If-None-Match` is answered with 304 even though the card has changed. @default false */
  readonly liesWith304?: boolean;
  /** Spaces of indentation in the card's JSON. @default 0 */
  readonly indent?: number;
  /** Whether streams also end when the task asks for input or authentication. @default false */
  readonly endStreamsOnQuestion?: boolean;
  /** Whether statuses carry a timestamp. @default true */
  readonly timestamps?: boolean;
  /**
   * What a task's history keeps: the caller's messages and the agent's, the caller's alone, or nothing at all. What
   * the agent said with a status moves there when the next status comes. @default "all"
   */
  readonly history?: "all" | "caller" | "none";
  /** HTTP+JSON: methods that `:subscribe` takes. The spec's prose says POST, its proto GET. @default both */
  readonly subscribeMethods?: readonly ("GET" | "POST")[];
  /** HTTP+JSON: answer to `:subscribe` by a method that it does not take. @default 405 */
  readonly refusedMethodStatus?: 404 | 405;
  /** HTTP+JSON: media type of answers that are no stream. @default "application/a2a+json" */
  readonly restMediaType?: string;
  /**
   * Answer to a deleted push configuration: over HTTP+JSON 204, 200 with an empty body, or `{}`; over JSON-RPC the
   * result is `{}` for `"object"`, and null else. @default "object"
   */
  readonly deleteAnswer?: "no-content" | "empty" | "object";
  /** The extended card, served as it is where the card declares one. @default none, which is error -32007 (3.3.4) */
  readonly extendedCard?: CardLike | undefined;
  /** How push notifications are sent; members that are left out stay as they are. @default as the spec asks for it */
  readonly pushes?: PushBehaviour;
}

/** The settings with nothing left out. */
export type ResolvedSettings = {
  readonly [K in keyof Omit<AgentSettings, "pushes">]-?: AgentSettings[K];
} & { readonly pushes: ResolvedPushes };

/** The settings that hold where none is given. */
export const defaultSettings: ResolvedSettings = Object.freeze({
  bearer: undefined,
  cardBearer: undefined,
  etag: "content",
  lastModified: false,
  cacheControl: undefined,
  ageSeconds: undefined,
  cardHeaders: Object.freeze({}),
  liesWith304: false,
  indent: 0,
  endStreamsOnQuestion: false,
  timestamps: true,
  history: "all",
  subscribeMethods: Object.freeze(["GET", "POST"] as const),
  refusedMethodStatus: 405,
  restMediaType: "application/a2a+json",
  deleteAnswer: "object",
  extendedCard: undefined,
  pushes: defaultPushes,
});

/** What each setting has to be. */
export const settingKinds: OptionKinds<AgentSettings> = Object.freeze({
  bearer: "text",
  cardBearer: "text",
  etag: ["content", "weak-version", "none"],
  lastModified: "flag",
  cacheControl: "text",
  ageSeconds: "amount",
  cardHeaders: "object",
  liesWith304: "flag",
  indent: "amount",
  endStreamsOnQuestion: "flag",
  timestamps: "flag",
  history: ["all", "caller", "none"],
  subscribeMethods: "list",
  refusedMethodStatus: [404, 405],
  restMediaType: "text",
  deleteAnswer: ["no-content", "empty", "object"] satisfies DeleteAnswer[],
  extendedCard: "object",
  pushes: "object",
});

/**
 * Lays changes over settings.
 *
 * @throws TypeError for a setting that does not exist, and for a value that it can't have.
 */
export function changeSettings(settings: ResolvedSettings, changes: AgentSettings): ResolvedSettings {
  checkOptions(changes, settingKinds);
  const pushes = changePushes(settings.pushes, changes.pushes ?? {});
  return Object.freeze({ ...settings, ...given(changes, defaultSettings), pushes });
}
