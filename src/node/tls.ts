import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { checkOptions } from "../util/options.ts";

/** Certificates of a connection, all as PEM. */
export interface TlsOptions {
  /** Authorities to trust in place of the system's. @default the system's */
  readonly ca?: string;
  /** The client's own certificate, with those between it and its authority, for mutual TLS; wants `key`. @default none */
  readonly cert?: string;
  /** Private key of `cert`, without a passphrase. @default none */
  readonly key?: string;
}

const certificatePem = /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END \1?CERTIFICATE-----/g;

/**
 * Checks certificates and their key, so that a wrong one is told where it is given and not by the first call.
 *
 * @returns the members that were given.
 * @throws TypeError naming the member, without anything of what it holds.
 */
export function checkTls(given: TlsOptions | undefined): TlsOptions {
  checkOptions(given, { ca: "text", cert: "text", key: "text" }, "tls");
  const { ca, cert, key } = given ?? {};
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
  const tls: TlsOptions = Object.freeze(Object.fromEntries(members));
  try {
    createSecureContext(tls);
  } catch (error) {
    // OpenSSL's own text is not repeated: what it quotes is its own matter.
    const { code = "without a code" } = error as { readonly code?: string };
    throw new TypeError(`tls: found certificates that TLS refuses (${code})`);
  }
  return tls;
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
