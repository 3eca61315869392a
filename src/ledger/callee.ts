import type { CardPin } from "../model/pin.ts";

/** Who is called under a pin: interface URL, binding and tenant. Trust is earned by each of them apart. */
export function calleeOf({ interface: { url, protocolBinding, tenant = "" } }: CardPin): string {
  return tenant === "" ? `${protocolBinding} ${url}` : `${protocolBinding} ${url} ${tenant}`;
}
