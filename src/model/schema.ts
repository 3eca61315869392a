import * as z from "zod/mini";

/** A free-form JSON object, as `metadata` and `params` are. */
export type JsonObject = Readonly<Record<string, unknown>>;

type Shape = Readonly<Record<string, z.ZodMiniType>>;

/**
 * Schema of one wire object: the members of `shape` are checked, unknown members are kept, and a known member that is
 * `null` counts as absent (some serializers write `null` for every unset member). Members in `nullable` keep their
 * `null`, since for them it is a value.
 */
export function wireObject<T extends Shape>(shape: T, nullable: readonly string[] = []) {
  const droppable = new Set(Object.keys(shape).filter((name) => !nullable.includes(name)));
  const dropNulls = z.transform((value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value);
    if (!entries.some(([name, member]) => member === null && droppable.has(name))) return value;
    return Object.fromEntries(entries.filter(([name, member]) => member !== null || !droppable.has(name)));
  });
  return z.pipe(dropNulls, z.looseObject(shape));
}

/**
 * Schema of a map: every member is what `schema` says. A member that is `null` counts as absent, or as `unset` where
 * the name alone means something.
 */
export function wireMap<T>(schema: z.ZodMiniType<T>, unset?: T): z.ZodMiniType<Readonly<Record<string, T>>> {
  const dropNulls = z.transform((value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value);
    if (!entries.some(([, member]) => member === null)) return value;
    const kept = entries.filter(([, member]) => member !== null || unset !== undefined);
    return Object.fromEntries(kept.map(([name, member]) => [name, member ?? unset]));
  });
  return z.pipe(dropNulls, z.record(z.string(), schema)) as z.ZodMiniType<Readonly<Record<string, T>>>;
}

/** Refines an object with optional members to one that has exactly one of them. */
export function exactlyOne<T extends object>(
  schema: z.ZodMiniType,
  names: readonly string[],
): z.ZodMiniType<T> {
  const checked = schema.check(
    z.check((payload) => {
      const value = payload.value as object;
      const found = names.filter((name) => name in value);
      if (found.length === 1) return;
      payload.issues.push({
        code: "custom",
        input: value,
        message: `found ${found.length === 0 ? "none" : found.join(" and ")} of ${names.join(", ")}; wanted exactly one`,
      });
    }),
  );
  return checked as z.ZodMiniType<T>;
}

/** An optional member: absent, or what `schema` says; never `undefined`. */
export const optional = z.exactOptional;

/** Schema of a free-form JSON object. */
export const jsonObjectSchema = z.record(z.string(), z.unknown());

/** A list of strings. */
export const stringsSchema = z.array(z.string());

/** An int32; ProtoJSON lets a reader accept it as a decimal string too. */
export const intSchema = z.pipe(
  z.transform((value: unknown) =>
    typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value,
  ),
  z.int(),
);

/** Longest id of a task, a context, a message or an artifact, in characters: it is written down again and again. */
export const maxIdLength = 2_048;

/** Schema of an id. */
export const idSchema = z.string().check(z.maxLength(maxIdLength));
