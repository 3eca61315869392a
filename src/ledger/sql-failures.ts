import { reasonText } from "../errors/base.ts";
import type { LedgerFailure } from "../errors/ledger.ts";
import { certificateCodes, codeOf, type Diagnose, firstDiagnosis } from "./failures.ts";

type Known = readonly (readonly [RegExp, LedgerFailure, string])[];

const tables =
  "found no tables, wanted them: call ledger.migrate(), or make the ledger without migrate: false";
const login = "wanted a role and a password that the server takes";

/** What SQLite says where waiting changes nothing, by its codes. */
const sqliteCodes: Known = [
  [/^SQLITE_CANTOPEN/, "path", "wanted a path to a file, in a folder that exists and may be written to"],
  [/^SQLITE_(?:NOTADB|CORRUPT)/, "path", "wanted a file of SQLite, or none at all"],
  [/^SQLITE_(?:READONLY|PERM|AUTH)/, "path", "wanted a file and a folder that may be written to"],
];

const sqliteTexts: Known = [
  [/\bno such table: a2a_lease_/, "no-tables", tables],
  [/database connection is not open/i, "closed", "wanted an open database"],
];

/** Tells what lasts of the failures of SQLite. */
export const diagnoseSqlite: Diagnose = (thrown) =>
  firstDiagnosis(codeOf(thrown), sqliteCodes) ?? firstDiagnosis(reasonText(thrown), sqliteTexts);

/** What PostgreSQL says where waiting changes nothing, by its SQLSTATE. */
const postgresCodes: Known = [
  [/^(?:3D000|57P04)$/, "refused", "wanted a database that exists"],
  [/^28/, "refused", login],
  [
    /^42501$/,
    "refused",
    "wanted a role that may read and write the rows, and make the tables where there are none",
  ],
  [/^3F000$/, "refused", "wanted a schema for the tables, on the search path"],
  [/^42P01$/, "no-tables", tables],
  certificateCodes,
];

const postgresTexts: Known = [
  [/^SASL:/, "refused", login],
  [/does not support SSL/, "refused", "wanted a server with TLS, or a connection without"],
  [/pool after calling end/, "closed", "wanted a pool that was not ended"],
];

/** Tells what lasts of the failures of PostgreSQL. */
export const diagnosePostgres: Diagnose = (thrown) =>
  firstDiagnosis(codeOf(thrown), postgresCodes) ?? firstDiagnosis(reasonText(thrown), postgresTexts);
