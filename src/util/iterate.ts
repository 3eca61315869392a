/**
 * An iterable over an iterator that can be walked once. A second walk is an error, since it would look like a sequence
 * that has ended.
 */
export function iterableOnce<T>(what: string, iterator: AsyncIterator<T>): AsyncIterable<T> {
  let isTaken = false;
  return {
    [Symbol.asyncIterator]() {
      if (isTaken) throw new TypeError(`${what} can be iterated once`);
      isTaken = true;
      return iterator;
    },
  };
}
