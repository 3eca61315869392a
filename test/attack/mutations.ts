import fc from "fast-check";

/** What is done to one place of a JSON value, or to its text. */
export interface Mutation {
  readonly kind: "replace" | "delete" | "wrap" | "rename" | "repeat";
  /** Which place, counted through all of them. */
  readonly at: number;
  readonly value: unknown;
}

const nested = (depth: number): unknown => {
  let value: unknown = "deep";
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

/** Values that are known to hurt. */
const sharp = fc.constantFrom<unknown>(
  null,
  "",
  "\ud800",
  "__proto__",
  "constructor",
  "1.0",
  "JSONRPC",
  "http://127.0.0.1:1/rpc",
  "https://agent.example/rpc",
  "https://[::1]/",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_UNSPECIFIED",
  "2026-13-45T99:99:99Z",
  Number.MAX_SAFE_INTEGER + 2,
  -1,
  1e308,
  -32001,
  401,
  [],
  {},
  [[]],
  nested(70),
  nested(300),
  "x".repeat(5_000),
  Array.from({ length: 300 }, (_, index) => index),
  Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`k${index}`, index])),
);

/** Any value at all, sharp ones often. */
export const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: sharp },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
);

/** A few mutations. */
export const mutations = fc.array(
  fc.record<Mutation>({
    kind: fc.constantFrom("replace", "delete", "wrap", "rename", "repeat"),
    at: fc.nat(10_000),
    value: anyValue,
  }),
  { minLength: 1, maxLength: 4 },
);

type Holder = Record<string, unknown>;

/** The value with the mutations done to it; the value itself stays as it is. */
export function mutate(value: unknown, list: readonly Mutation[]): unknown {
  const root: Holder = { root: structuredClone(value) };
  for (const { kind, at, value: given } of list) {
    const places = placesIn(root).slice(0, 10_000);
    const place = places[at % places.length];
    if (!place) continue;
    const { holder, key } = place;
    if (kind === "replace") holder[key] = structuredClone(given);
    else if (kind === "wrap") holder[key] = [holder[key]];
    else if (kind === "repeat") holder[key] = Array.from({ length: 20 }, () => holder[key]);
    else if (kind === "delete" && Array.isArray(holder)) holder.splice(Number(key), 1);
    else if (kind === "delete") delete holder[key];
    else if (Array.isArray(holder)) holder[Number(key)] = { [String(given)]: holder[Number(key)] };
    else {
      const content = holder[key];
      delete holder[key];
      Object.defineProperty(holder, String(given), {
        value: content,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }
  // What JSON can't say, a hole in a list for instance, can't come in either.
  return JSON.parse(JSON.stringify(root.root ?? null));
}

function placesIn(root: Holder): readonly { readonly holder: Holder; readonly key: string }[] {
  const places: { holder: Holder; key: string }[] = [];
  const queue: Holder[] = [root];
  for (const holder of queue) {
    for (const key of Object.keys(holder)) {
      places.push({ holder, key });
      const child = holder[key];
      if (typeof child === "object" && child !== null && places.length < 10_000) queue.push(child as Holder);
    }
  }
  return places;
}

/** What is done to a text once it is bytes. */
export const damage = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  {
    weight: 1,
    arbitrary: fc.record({ at: fc.nat(5_000), remove: fc.nat(8), insert: fc.uint8Array({ maxLength: 8 }) }),
  },
);

/** A value as bytes, which may be damaged. A value that no JSON can say becomes `undefined`'s text. */
export function bytesOf(
  value: unknown,
  hurt: { readonly at: number; readonly remove: number; readonly insert: Uint8Array } | undefined,
): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(typeof value === "string" ? value : String(JSON.stringify(value)));
  if (!hurt) return bytes;
  const at = hurt.at % (bytes.length + 1);
  return Uint8Array.from([...bytes.subarray(0, at), ...hurt.insert, ...bytes.subarray(at + hurt.remove)]);
}

/** Cuts bytes into chunks. */
export function chunksOf(bytes: Uint8Array, sizes: readonly number[]): readonly Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (const size of sizes) {
    if (at >= bytes.length) break;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  if (at < bytes.length) chunks.push(bytes.subarray(at));
  return chunks;
}
