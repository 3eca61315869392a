import { Refused, refusals } from "./answer.ts";

/** Bounds what is under way at once. */
export interface WebhookGate {
  /**
   * Lets one notification in; the returned function lets it out.
   *
   * @throws Refused when too many are in.
   */
  enter(): () => void;
  /**
   * Holds bytes of a body; the returned function lets go of them.
   *
   * @throws Refused when too many are held.
   */
  hold(bytes: number): () => void;
}

/** Makes a gate. */
export function createGate(maxPending: number, maxBytes: number): WebhookGate {
  const take = (count: number, max: number) => {
    let taken = 0;
    return (amount = count) => {
      if (taken + amount > max) throw new Refused(refusals.busy);
      taken += amount;
      return () => {
        taken -= amount;
      };
    };
  };
  return { enter: take(1, maxPending), hold: take(0, maxBytes) };
}

/** Does one thing after the other for each key, and things of different keys side by side. */
export function createLines(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const lines = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = lines.get(key) ?? Promise.resolve();
    const done = before.then(work, work);
    const settled = done.catch(() => {});
    lines.set(key, settled);
    settled.then(() => {
      if (lines.get(key) === settled) lines.delete(key);
    });
    return done;
  };
}
