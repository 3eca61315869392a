import { isIP, type LookupFunction, type Socket } from "node:net";
import { Agent, buildConnector, fetch as undiciFetch } from "undici";
import { AddressRefusedError, ConnectionError } from "../errors/transport.ts";
import type { FetchLike } from "../wire/http.ts";
import { type AddressGate, createAddressGate, type NodeFetchOptions, type ResolvedName } from "./lookup.ts";
import { checkTls } from "./tls.ts";

/** A `fetch` of {@link createNodeFetch}, and its connections. */
export interface NodeFetch extends FetchLike {
  /** Closes its connections once they are idle; every later request fails. */
  close(): Promise<void>;
}

/**
 * Makes a `fetch` that resolves a name once for each connection, judges every address that it finds, and connects to one
 * of these and to nothing else. So DNS can't change between the check and the connection, and a name can't lead into a
 * network where `addressPolicy` would not let the same address lead. The name stays what TLS asks the server for.
 * Redirects are never followed.
 *
 * It rejects with AddressRefusedError before anything is sent, and with ConnectionError once it was closed; else as
 * `fetch` does.
 *
 * @throws TypeError naming the option for a wrong option.
 */
export function createNodeFetch(options: NodeFetchOptions = {}): NodeFetch {
  const gate = createAddressGate(options);
  const tls = checkTls(options.tls);
  const refusals = new WeakSet<object>();
  const refuse = (problem: string) => {
    const refusal = new TypeError(problem);
    refusals.add(refusal);
    return refusal;
  };
  const connect = buildConnector({ ...tls, lookup: lookupThrough(gate, refuse) });
  const dispatcher = new Agent({
    connect(target, callback) {
      // A literal address is connected to without a lookup.
      const host = target.hostname.replace(/^\[(.*)\]$/, "$1");
      const problem = isIP(host) === 0 ? undefined : gate.judgeLiteral(host);
      if (problem !== undefined) return callback(refuse(problem), null);
      connect(target, (...made) => {
        if (made[1]) keepFirstFailure(made[1]);
        callback(...made);
      });
    },
  });
  let isClosed = false;

  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    if (isClosed) throw closed(url);
    const request = { ...init, redirect: "manual", dispatcher } as Parameters<typeof undiciFetch>[1];
    try {
      return (await undiciFetch(url, request)) as unknown as Response;
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      const isRefusal = cause instanceof TypeError && refusals.has(cause);
      throw isRefusal ? new AddressRefusedError(url, cause.message) : error;
    }
  };
  let closing: Promise<void> | undefined;
  const close = () => {
    isClosed = true;
    closing ??= dispatcher.close();
    return closing;
  };
  return Object.assign(fetch, { close });
}

/**
 * What broke a connection comes first. An alert of TLS is followed by the end of the connection, which would be told in
 * its place, and says nothing.
 */
function keepFirstFailure(socket: Socket): void {
  socket.prependOnceListener("error", (first) => {
    const destroy = socket.destroy.bind(socket);
    socket.destroy = (error) => destroy(error === undefined ? undefined : first);
  });
}

function closed(url: string): ConnectionError {
  const message = "this fetch of createNodeFetch was closed";
  return new ConnectionError(url, { reason: "closed", neverSent: true, message });
}

/** The lookup that a socket makes: what it is given is what was judged. */
function lookupThrough(gate: AddressGate, refuse: (problem: string) => TypeError): LookupFunction {
  return (hostname, { all, family }, callback) => {
    const wanted = family === "IPv4" ? 4 : family === "IPv6" ? 6 : family;
    const deliver = (name: ResolvedName) => {
      if (!name.ok) return callback(refuse(name.problem), "", 0);
      const fitting = name.addresses.filter((item) =>
        wanted !== 4 && wanted !== 6 ? true : item.family === wanted,
      );
      const [first] = fitting;
      if (!first) return callback(notFound(hostname), "", 0);
      if (all === true) callback(null, fitting as { address: string; family: number }[]);
      else callback(null, first.address, first.family);
    };
    gate.resolve(hostname).then(deliver, (error) => callback(error, "", 0));
  };
}

/** As the system's resolver says it: the request provably never left. */
function notFound(hostname: string): TypeError {
  const details = { code: "ENOTFOUND", syscall: "getaddrinfo" };
  return Object.assign(new TypeError(`${hostname} has no address that fits`), details);
}
