import CachePolicy from "http-cache-semantics";

/** For how long, in milliseconds from now, an answer may be used without asking, by RFC 9111. */
export function freshForMs(status: number, headers: Readonly<Record<string, string>>, nowMs: number): number {
  class PolicyAt extends CachePolicy {
    now(): number {
      return nowMs;
    }
  }
  const request = { url: "/", method: "GET", headers: {} };
  const policy = new PolicyAt(request, { status, headers }, { shared: false });
  return policy.storable() ? Math.max(0, policy.timeToLive()) : 0;
}
