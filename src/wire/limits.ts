/** How much of what comes from outside is taken. Over a limit the body is cancelled and a typed error says which. */
export interface Limits {
  /** Largest agent card in bytes. @default 1 MiB */
  readonly cardBytes: number;
  /** Deepest nesting of an agent card. @default 64 */
  readonly cardDepth: number;
  /** Largest key set (JWKS) for the signatures of cards, in bytes. @default 64 KiB */
  readonly keySetBytes: number;
  /** Most keys in such a set. @default 100 */
  readonly keySetKeys: number;
  /** Largest answer to a call in bytes. @default 64 MiB */
  readonly responseBytes: number;
  /** Deepest nesting of an answer or an event. @default 128 */
  readonly responseDepth: number;
  /** Largest body of an error answer that is read, in bytes. @default 64 KiB */
  readonly errorBytes: number;
  /** Largest stream event in bytes. @default 8 MiB */
  readonly eventBytes: number;
  /** Most redirects followed on a card read, all within one origin. @default 5 */
  readonly redirects: number;
  /** Most pages of one listing that are read. @default 10 000 */
  readonly pages: number;
  /** Most pages of one listing in a row that show nothing new. @default 10 */
  readonly emptyPages: number;
}

/** The limits that hold where the caller names none. */
export const defaultLimits: Limits = Object.freeze({
  cardBytes: 1024 * 1024,
  cardDepth: 64,
  keySetBytes: 64 * 1024,
  keySetKeys: 100,
  responseBytes: 64 * 1024 * 1024,
  responseDepth: 128,
  errorBytes: 64 * 1024,
  eventBytes: 8 * 1024 * 1024,
  redirects: 5,
  pages: 10_000,
  emptyPages: 10,
});

/** How long each phase of an exchange may take, in milliseconds. */
export interface Timeouts {
  /** From the request to the head of the answer. @default 30 000 for reads; sends have their whole budget */
  readonly firstByteMs: number;
  /** Longest silence in the middle of a body or a stream; any byte counts as life. @default 60 000 */
  readonly idleMs: number;
  /** From the head of a stream to its first event. @default 30 000 */
  readonly firstEventMs: number;
}
