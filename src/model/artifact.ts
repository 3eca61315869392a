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

/** One output of a task (4.1.7). */
export interface Artifact {
  /** Identifier, unique within the task. */
  readonly artifactId: string;
  /** Name for people. */
  readonly name?: string;
  /** Description for people. */
  readonly description?: string;
  /** The content. */
  readonly parts: readonly Part[];
  /** Free-form metadata. */
  readonly metadata?: JsonObject;
  /** URIs of the extensions that contributed to the artifact. */
  readonly extensions?: readonly string[];
}

/** Schema of {@link Artifact}. */
export const artifactSchema: z.ZodMiniType<Artifact> = wireObject({
  artifactId: idSchema,
  name: optional(z.string()),
  description: optional(z.string()),
  parts: z.array(partSchema),
  metadata: optional(jsonObjectSchema),
  extensions: optional(stringsSchema),
});
