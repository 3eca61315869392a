import * as z from "zod/mini";
import { jsonObjectSchema, optional, stringsSchema } from "./schema.ts";
import { taskStates } from "./states.ts";
import { taskSchema } from "./task.ts";

const time = z.string().check(z.maxLength(64));
const name = z.string().check(z.minLength(1), z.maxLength(4_096));
const states: readonly unknown[] = [...taskStates, "TASK_STATE_UNSPECIFIED", "unknown"];

const observationSchema = z.looseObject({
  taskId: name,
  contextId: optional(z.string()),
  state: z.string().check(z.refine((state) => states.includes(state))),
  raw: optional(z.string()),
  timestamp: optional(z.string()),
  statusMessageId: optional(z.string()),
  question: optional(z.string()),
  isSnapshot: z.boolean(),
  historyLength: optional(z.number()),
  newestMessageId: optional(z.string()),
  source: z.enum(["send", "get", "list", "cancel", "stream", "push"]),
  seenAt: time,
});

/** Schema of a task's record as another process, or nobody knows who, hands it in. The pin's card is judged apart. */
export const taskRecordSchema = z.looseObject({
  kind: z.literal("task"),
  schema: z.literal(1),
  cardUrl: z.string(),
  principal: z.string(),
  taskId: name,
  contextId: optional(z.string()),
  pin: z.looseObject({
    digest: z.string(),
    structuralDigest: z.string(),
    interface: z.looseObject({ url: z.string(), protocolBinding: z.string(), protocolVersion: z.string() }),
    pinnedAt: time,
    card: jsonObjectSchema,
    extended: optional(
      z.looseObject({ digest: z.string(), structuralDigest: z.string(), card: jsonObjectSchema }),
    ),
    signer: optional(z.string()),
  }),
  formerPins: z.array(z.looseObject({ digest: z.string(), until: time })).check(z.maxLength(20)),
  requirements: z.looseObject({
    skills: optional(stringsSchema),
    streaming: optional(z.boolean()),
    pushNotifications: optional(z.boolean()),
    inputModes: optional(stringsSchema),
    outputModes: optional(stringsSchema),
    extensions: optional(stringsSchema),
    securitySchemes: optional(stringsSchema),
  }),
  task: optional(taskSchema),
  memory: z.looseObject({
    observations: z.array(observationSchema).check(z.maxLength(20)),
    terminal: optional(observationSchema),
    idle: optional(z.looseObject({ question: z.string(), rounds: z.number() })),
    history: optional(jsonObjectSchema),
    replayCount: z.number(),
    lateCount: z.number(),
  }),
  deviations: z
    .array(z.looseObject({ kind: z.string(), message: z.string(), path: optional(z.string()) }))
    .check(z.maxLength(100)),
  updatedAt: time,
});
