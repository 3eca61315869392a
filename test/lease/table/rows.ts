import type { Row } from "./row.ts";
import { capabilityRows, extensionRows } from "./rows/capabilities.ts";
import { interfaceRows } from "./rows/interfaces.ts";
import { modeRows } from "./rows/modes.ts";
import { precedenceRows } from "./rows/precedence.ts";
import { securityRows } from "./rows/security.ts";
import { signatureRows } from "./rows/signatures.ts";
import { sharedIdRows, skillRows } from "./rows/skills.ts";
import { textRows, wholeCardRows } from "./rows/whole-card.ts";

/** The rows by what they show. */
export const groups: Readonly<Record<string, readonly Row[]>> = {
  skills: skillRows,
  "skills that share an id": sharedIdRows,
  capabilities: capabilityRows,
  extensions: extensionRows,
  "media types": modeRows,
  interfaces: interfaceRows,
  security: securityRows,
  signatures: signatureRows,
  "texts and unknown members": textRows,
  "the card as a whole": wholeCardRows,
  "which reason is named": precedenceRows,
};

/** Every row. */
export const rows: readonly Row[] = Object.values(groups).flat();
