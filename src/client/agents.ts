import { type CardVerifier, createCardVerifier } from "../card/verifier.ts";
import type { A2AClient } from "./client.ts";
import { type CardSourceInput, connectClient } from "./create.ts";
import { checkClientOptions } from "./option-names.ts";
import type { ClientOptions } from "./options.ts";
import { resolveOptions } from "./resolve-options.ts";

/** Clients of many agents, one for each, that share their options, the key sets that were read, and one `close()`. */
export interface Agents extends AsyncDisposable {
  /**
   * The client of an agent. The card is read once: callers that ask at the same time share the reading, and later ones
   * the client. Two addresses that lead to one card are one agent. A failure is not kept, but the time that a server
   * asked to wait is.
   *
   * Throws as `createClient` does.
   */
  get(source: string | URL): Promise<A2AClient>;
  /** Closes every client. */
  close(): Promise<void>;
}

/**
 * Makes a registry of clients.
 *
 * @param options - options of every client; a `pin` or a card that is handed in belongs to one agent, and to
 * `createClient`.
 * @throws TypeError naming the option for a wrong option, and for one that belongs to one agent.
 */
export function createAgents(
  options: Omit<ClientOptions, "pin" | "expectedDigest" | "revalidateAt" | "immutable" | "signal"> = {},
): Agents {
  checkClientOptions(options);
  const given: Readonly<Record<string, unknown>> = { ...options };
  for (const name of ["pin", "expectedDigest", "revalidateAt", "immutable", "signal"]) {
    if (given[name] === undefined) continue;
    throw new TypeError(`${name}: belongs to one agent, give it to createClient`);
  }
  resolveOptions(options);
  const bySource = new Map<string, Promise<A2AClient>>();
  const byCardUrl = new Map<string, A2AClient>();
  let verifier: Promise<CardVerifier> | undefined;
  let isClosed = false;

  // All clients have the same options, so one verifier reads the keys and key sets for them all.
  const sharedVerifier: typeof createCardVerifier = (rules, parts) => {
    verifier ??= createCardVerifier(rules, parts);
    return verifier;
  };

  async function connect(source: CardSourceInput): Promise<A2AClient> {
    const client = await connectClient(source, options, sharedVerifier);
    const { url } = client.lease;
    const known = byCardUrl.get(url);
    if (known || isClosed) await client.close();
    if (isClosed) throw new DOMException("the registry was closed", "AbortError");
    byCardUrl.set(url, known ?? client);
    return known ?? client;
  }

  async function close(): Promise<void> {
    isClosed = true;
    const clients = [...byCardUrl.values()];
    bySource.clear();
    byCardUrl.clear();
    await Promise.all(clients.map((client) => client.close()));
  }

  return {
    async get(source) {
      if (isClosed) throw new DOMException("the registry was closed", "AbortError");
      const key = String(source);
      const known = bySource.get(key);
      if (known) return known;
      const made = connect(source);
      bySource.set(key, made);
      made.catch(() => {
        if (bySource.get(key) === made) bySource.delete(key);
      });
      return made;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
