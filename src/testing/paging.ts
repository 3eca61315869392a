/** What a caller asks of a list: how much, and from where on. */
export interface Paging {
  /** Items a page. */
  readonly size: number;
  /** Place of the last item of the page before. */
  readonly after: readonly number[] | undefined;
}

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Token of the next page; empty on the last. */
  readonly nextPageToken: string;
}

const largestSize = 100;

/** Reads the paging parameters of a list; a text says what is wrong with them. */
export function readPaging(params: Readonly<Record<string, unknown>>, defaultSize: number): Paging | string {
  const { pageSize: size = defaultSize, pageToken = "" } = params;
  if (typeof size !== "number" || !Number.isInteger(size) || size < 1 || size > largestSize) {
    return `pageSize must be from 1 to ${largestSize}.`;
  }
  if (pageToken === "") return { size, after: undefined };
  const after = placeOf(pageToken);
  return after ? { size, after } : "pageToken is none of this agent's.";
}

/**
 * Takes a page of items that are in order of their places, the largest first. A token names the last item of its page
 * and no position, so that items which come and go in between neither repeat nor hide others (3.1.4).
 */
export function takePage<T>(
  items: readonly T[],
  placeOfItem: (item: T) => readonly number[],
  { size, after }: Paging,
): Page<T> {
  const rest = after ? items.filter((item) => comparePlaces(placeOfItem(item), after) < 0) : items;
  const page = rest.slice(0, size);
  const last = page.at(-1);
  const hasMore = rest.length > page.length && last !== undefined;
  return { items: page, nextPageToken: hasMore ? btoa(`after ${placeOfItem(last).join(" ")}`) : "" };
}

/** Compares places part by part. */
export function comparePlaces(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

function placeOf(token: unknown): readonly number[] | undefined {
  if (typeof token !== "string" || !/^[A-Za-z0-9+/]+=*$/.test(token) || token.length % 4 !== 0)
    return undefined;
  const text = atob(token);
  return /^after( -?\d+)+$/.test(text) ? text.slice(6).split(" ").map(Number) : undefined;
}
