import type { Sources } from "./sources.ts";

/** Text of the map of the house. */
export const map = (sources: Sources) => sources["src/README.md"] ?? "";

/** A cell without its code quotes. */
export const unquote = (cell: string) => cell.replaceAll("`", "").trim();

/** The items of a cell, without code quotes. */
export const list = (cell: string) => cell.split(",").map(unquote);

/** A map for samples. */
const smallMap = `## Doors
| door | imported as | opens |
| --- | --- | --- |
| \`src/index.ts\` | \`a2a-lease\` | all |
| \`src/sql.ts\` | \`a2a-lease/sql\` | later: a ledger |

## Rooms
| room | may import | what |
| --- | --- | --- |
| \`util/\` | nothing | tools |
| \`wire/\` | util | bytes |
| \`client/\` | all of the above | calls |
| \`cli/\` | the doors only | later: commands |

## Outside packages
| package | only in | note |
| --- | --- | --- |
| \`ofetch\` | \`wire/http.ts\` | |
| \`zod/mini\` | \`model/\`, \`card/\` | |
| \`node:*\` | \`testing/\` | |
`;

/** A sample with that map. */
export const withMap = (files: Sources): Sources => ({ ...files, "src/README.md": smallMap });
