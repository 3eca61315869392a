/**
 * `a2a-lease/node`: a `fetch` for Node that judges every address that a name resolves to, and connects to no other. Needs
 * the package `undici`.
 *
 * @packageDocumentation
 */
export { createNodeFetch, type NodeFetch } from "./node/fetch.ts";
export type { AddressLookup, NodeFetchOptions, ResolvedAddress } from "./node/lookup.ts";
export type { TlsOptions } from "./node/tls.ts";
