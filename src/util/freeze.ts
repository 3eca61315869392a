/** `T` with every member that may be `undefined` made optional instead. */
type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Freezes plain data all the way down and returns it. Data must come from JSON: no cycles, no classes. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

/** Copies `value` without the members that are `undefined`, so that "not given" is "not there". */
export function defined<T extends object>(value: T): Defined<T> {
  const kept = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(kept) as Defined<T>;
}

/** The member of an object by that name; `undefined` where only its prototype has one. */
export function own<T>(members: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Whether `value` is a JSON object: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
