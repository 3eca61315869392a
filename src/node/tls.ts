import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { checkOptions } from "../util/options.ts";

/** Certificates of a connection, all as PEM: text, or its bytes as a file has them. */
export interface TlsOptions {
  /** Authorities to trust in place of the system's. @default the system's */
  readonly ca?: string | Uint8Array;
  /** The client's own certificate, with those between it and its authority, for mutual TLS; wants `key`. @default none */
  readonly cert?: string | Uint8Array;
  /** Private key of `cert`, without a passphrase. @default none */
  readonly key?: string | Uint8Array;
}

const certificatePem = /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END \1?CERTIFICATE-----/g;

/**
 * Checks certificates and their key, so that a wrong one is told where it is given and not by the first call.
 *
 * @returns the members that were given.
 * @throws TypeError naming the member, without anything of what it holds.
 */
export function checkTls(given: TlsOptions | undefined): TlsTexts {
  checkOptions(given, { ca: "any", cert: "any", key: "any" }, "tls");
  const { ca, cert, key } = textsOf(given ?? {});
  if (ca !== undefined) readCertificates("tls.ca", ca);
  if (cert !== undefined && key === undefined) {
    throw new TypeError("tls.key: found none, wanted the private key of tls.cert");
  }
  if (key !== undefined) {
    if (cert === undefined) throw new TypeError("tls.cert: found none, wanted the certificate of tls.key");
    const own = readCertificates("tls.cert", cert);
    if (!own.checkPrivateKey(readKey(key))) {
      throw new TypeError("tls.key: found the key of another certificate, wanted that of tls.cert");
    }
  }
  const members = Object.entries({ ca, cert, key }).filter(([, value]) => value !== undefined);
  const tls: TlsTexts = Object.freeze(Object.fromEntries(members));
  try {
    createSecureContext(tls);
  } catch (error) {
    // OpenSSL's own text is not repeated: what it quotes is its own matter.
    const { code = "without a code" } = error as { readonly code?: string };
    throw new TypeError(`tls: found certificates that TLS refuses (${code})`);
  }
  return tls;
}

/** The same as texts. */
type TlsTexts = { readonly [Name in keyof TlsOptions]: string };

function textsOf(given: TlsOptions): TlsTexts {
  const texts = Object.entries(given).map(([name, value]) => {
    if (value === undefined || typeof value === "string") return [name, value];
    if (value instanceof Uint8Array) return [name, new TextDecoder().decode(value)];
    throw new TypeError(`tls.${name}: found ${typeof value}, wanted PEM as a text or as bytes`);
  });
  return Object.fromEntries(texts);
}

/** The first of some certificates, once all of them were read. */
function readCertificates(name: string, pem: string): X509Certificate {
  const found = (pem.match(certificatePem) ?? []).map((text) => {
    try {
      return new X509Certificate(text);
    } catch {
      throw new TypeError(`${name}: found a certificate that can't be read`);
    }
  });
  const [first] = found;
  if (!first) throw new TypeError(`${name}: found no certificate, wanted PEM`);
  return first;
}

function readKey(pem: string): KeyObject {
  const isEncrypted = /ENCRYPTED/.test(pem);
  try {
    if (!isEncrypted) return createPrivateKey(pem);
  } catch {
    throw new TypeError("tls.key: found no private key that can be read, wanted PEM");
  }
  throw new TypeError("tls.key: found an encrypted key, wanted one without a passphrase");
}
