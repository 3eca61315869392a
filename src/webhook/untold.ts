import type { PushVerdict } from "./judge.ts";

/** A verdict, and whether somebody is to hear of it. */
export type FollowedVerdict = PushVerdict & { readonly isNews: boolean };

/** Notifications that the ledger may have kept although it failed, so that nobody heard of them. */
export interface Untold {
  /**
   * Stores a notification. When its sender tries again after a failure, and it turns out to be kept already, it is the
   * news that it was. Throws what storing throws.
   */
  follow(id: string, keep: () => Promise<PushVerdict>): Promise<FollowedVerdict>;
}

/** Most of them that are remembered; the oldest one goes first. */
const maxRemembered = 1_000;

/** Makes an {@link Untold}. */
export function createUntold(): Untold {
  const ids = new Set<string>();
  return {
    async follow(id, keep) {
      try {
        const verdict = await keep();
        const wasUntold = ids.delete(id);
        const isNews = verdict.outcome === "new" || (verdict.outcome === "duplicate" && wasUntold);
        return { ...verdict, isNews };
      } catch (error) {
        ids.add(id);
        const [oldest] = ids.size > maxRemembered ? ids : [];
        if (oldest !== undefined) ids.delete(oldest);
        throw error;
      }
    },
  };
}
