import { parseTime } from "../util/clock.ts";

/** From when until when an X.509 certificate is valid, in milliseconds since the epoch. */
export interface CertificateTerm {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

interface Element {
  readonly tag: number;
  /** Where the content begins. */
  readonly start: number;
  /** Where the next element begins. */
  readonly end: number;
}

const sequence = 0x30;
const version = 0xa0;

/** The term of a certificate in PEM (RFC 5280, 4.1); `undefined` where it can't be read. */
export function certificateTerm(pem: string): CertificateTerm | undefined {
  const base64 = /-----BEGIN CERTIFICATE-----([\s\w+/=]+)-----END CERTIFICATE-----/.exec(pem)?.[1];
  if (base64 === undefined) return undefined;
  let der: Uint8Array;
  try {
    der = Uint8Array.from(atob(base64.replace(/\s/g, "")), (unit) => unit.charCodeAt(0));
  } catch {
    return undefined;
  }
  const signed = childrenOf(der, childrenOf(der, elementAt(der, 0))[0]);
  // Its version may be left out; then come serial number, algorithm, issuer, and the term.
  const term = signed[signed[0]?.tag === version ? 4 : 3];
  const [notBeforeMs, notAfterMs] = childrenOf(der, term).map((time) => timeOf(der, time));
  return notBeforeMs === undefined || notAfterMs === undefined ? undefined : { notBeforeMs, notAfterMs };
}

/** One element of DER; `undefined` where there is none, or where it goes on past the end. */
function elementAt(der: Uint8Array, at: number): Element | undefined {
  const tag = der[at];
  const first = der[at + 1];
  if (tag === undefined || first === undefined) return undefined;
  const more = first < 0x80 ? 0 : first - 0x80;
  if (more > 3) return undefined;
  const length =
    more === 0 ? first : der.subarray(at + 2, at + 2 + more).reduce((sum, byte) => sum * 256 + byte, 0);
  const start = at + 2 + more;
  return start + length > der.length ? undefined : { tag, start, end: start + length };
}

function childrenOf(der: Uint8Array, parent: Element | undefined): readonly Element[] {
  const children: Element[] = [];
  if (parent?.tag !== sequence) return children;
  for (let at = parent.start; at < parent.end; ) {
    const child = elementAt(der, at);
    if (!child || child.end > parent.end || children.length > 20) break;
    children.push(child);
    at = child.end;
  }
  return children;
}

/** A UTCTime, whose years are those from 1950 on, or a GeneralizedTime. */
function timeOf(der: Uint8Array, { start, end }: Element): number | undefined {
  const text = String.fromCharCode(...der.subarray(start, Math.min(end, start + 20)));
  const [, year = "", month, day, hour, minute, second] =
    /^(\d{2}|\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  if (year === "") return undefined;
  const century = year.length === 4 ? "" : Number(year) < 50 ? "20" : "19";
  return parseTime(`${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
