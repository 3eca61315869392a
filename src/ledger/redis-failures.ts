import { reasonText } from "../errors/base.ts";
import type { LedgerFailure } from "../errors/ledger.ts";
import { certificateCodes, codeOf, type Diagnose, firstDiagnosis } from "./failures.ts";

const login = "wanted a user and a password that the server takes";
const rights = "wanted a user who may run scripts, and read and write the ledger's keys in them";

/** What Redis, or its client, says where waiting changes nothing. A script that may not do a thing says so in prose. */
const known: readonly (readonly [RegExp, LedgerFailure, string])[] = [
  [/^(?:WRONGPASS|NOAUTH)\b|^ERR (?:invalid password|.*\bAUTH\b)/, "refused", login],
  [/^NOPERM\b|can't run this command|can't access (?:at least )?one of the keys/, "refused", rights],
  [/^ERR (?:DB index is out of range|invalid DB index)/, "refused", "wanted the number of a database"],
  [/^(?:-?DENIED)\b/, "refused", "wanted a server that takes connections from here"],
  [/^The client is closed$/, "closed", "wanted a connected client"],
];

/** Tells what lasts of the failures of Redis. */
export const diagnoseRedis: Diagnose = (thrown) =>
  firstDiagnosis(codeOf(thrown), [certificateCodes]) ?? firstDiagnosis(reasonText(thrown), known);
