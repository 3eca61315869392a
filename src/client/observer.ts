import type { ClientEventName, ClientEvents } from "../model/client-events.ts";
import { type Clock, isoTime } from "../util/clock.ts";
import { redactUrl } from "../util/redact.ts";

/** Hears one kind of event. What it throws is dropped: watching must not change what is watched. */
export type Listener<N extends ClientEventName> = (event: ClientEvents[N]) => void;

/** What an emitter fills in itself. */
type Stamped = "at" | "cardUrl";

/** The one place where events come from and go to. */
export interface Observer {
  /** Adds a listener; the returned function removes it. */
  on<N extends ClientEventName>(name: N, listener: Listener<N>): () => void;
  /** Tells the listeners of one kind, at once and in the order they were added. */
  emit<N extends ClientEventName>(name: N, event: Omit<ClientEvents[N], Stamped>): void;
}

/** Makes an observer for the agent whose card is at a URL. */
export function createObserver(clock: Clock, cardUrl: string | undefined): Observer {
  const listeners = new Map<ClientEventName, Set<(event: never) => unknown>>();
  const shownUrl = cardUrl === undefined ? "" : redactUrl(cardUrl);
  return {
    on(name, listener) {
      const entry = (event: never) => listener(event);
      const known = listeners.get(name);
      if (known) known.add(entry);
      else listeners.set(name, new Set([entry]));
      return () => void listeners.get(name)?.delete(entry);
    },
    emit(name, event) {
      const heard = listeners.get(name);
      if (!heard || heard.size === 0) return;
      const stamped = Object.freeze({ ...event, at: isoTime(clock.now()), cardUrl: shownUrl });
      for (const listener of [...heard]) {
        try {
          // An async listener's failure is dropped like any other.
          Promise.resolve(listener(stamped as never)).catch(() => {});
        } catch {
          // A listener that fails is the caller's own matter.
        }
      }
    },
  };
}
