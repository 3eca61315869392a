import { expect } from "vitest";

type Class<E> = abstract new (...args: never[]) => E;

/** What a promise rejects with; fails the test when it resolves, or rejects with something of another class. */
export async function caught<E = unknown>(promise: Promise<unknown>, type?: Class<E>): Promise<E> {
  let error: unknown;
  try {
    error = { resolved: await promise };
  } catch (thrown) {
    if (type && !(thrown instanceof type)) expect(thrown).toBeInstanceOf(type);
    // The class, where one was named, was checked a line above.
    return thrown as E;
  }
  return expect.fail(`wanted a rejection, found ${JSON.stringify(error)}`);
}
