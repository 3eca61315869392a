import * as z from "zod/mini";
import { type Part, partSchema } from "./part.ts";
import {
  idSchema,
  type JsonObject,
  jsonObjectSchema,
  optional,
  stringsSchema,
  wireObject,
} from "./schema.ts";

/** Who sent a message (4.1.5). */
export type Role = "ROLE_USER" | "ROLE_AGENT" | "ROLE_UNSPECIFIED";

/** One unit of communication between client and agent (4.1.4). */
export interface Message {
  /** Identifier made by the sender; two sends with one id may still make two tasks. */
  readonly messageId: string;
  /** Context that the message belongs to. */
  readonly contextId?: string;
  /** Task that the message belongs to. */
  readonly taskId?: string;
  /** Who sent it. */
  readonly role: Role;
  /** The content. */
  readonly parts: readonly Part[];
  /** Free-form metadata. */
  readonly metadata?: JsonObject;
  /** URIs of the extensions that contributed to the message. */
  readonly extensions?: readonly string[];
  /** Tasks that the message refers to. */
  readonly referenceTaskIds?: readonly string[];
}

const roles: Readonly<Record<string, Role>> = Object.freeze({
  ROLE_USER: "ROLE_USER",
  ROLE_AGENT: "ROLE_AGENT",
  user: "ROLE_USER",
  agent: "ROLE_AGENT",
  "1": "ROLE_USER",
  "2": "ROLE_AGENT",
});

/** Schema of {@link Role}; the 0.x spellings and the enum numbers are read, anything else is unspecified. */
const roleSchema: z.ZodMiniType<Role> = z.pipe(
  z.transform((value: unknown) => {
    if (typeof value !== "string" && typeof value !== "number") return value;
    return Object.hasOwn(roles, value) ? roles[value] : "ROLE_UNSPECIFIED";
  }),
  z.enum(["ROLE_USER", "ROLE_AGENT", "ROLE_UNSPECIFIED"]),
);

/** Schema of {@link Message}. */
export const messageSchema: z.ZodMiniType<Message> = wireObject({
  messageId: idSchema,
  contextId: optional(idSchema),
  taskId: optional(idSchema),
  role: roleSchema,
  parts: z.array(partSchema),
  metadata: optional(jsonObjectSchema),
  extensions: optional(stringsSchema),
  referenceTaskIds: optional(stringsSchema),
});
