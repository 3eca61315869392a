import { describe, expect, test } from "vitest";
import tsup from "../../tsup.config.ts";
import { map, unquote, withMap } from "./map.ts";
import { type Rule, testRules } from "./rule.ts";
import { placeOf, readSources, type Sources, tableUnder } from "./sources.ts";

const doorsOf = (sources: Sources) =>
  Object.keys(sources).filter((path) => path.endsWith(".ts") && placeOf(path) && !placeOf(path)?.room);

/** The map names each room and door that is there, and says "later" of each one that is not. */
function findMapErrors(sources: Sources): string[] {
  const paths = Object.keys(sources);
  const judge = (name: string, words: string, exists: boolean) => {
    if (exists === !/^later:/.test(words)) return [];
    return [`src/README.md: ${name} ${exists ? "is there, yet" : "is not there, and not"} marked "later:"`];
  };
  const doors = tableUnder(map(sources), "Doors");
  const named = doors.map(([door = ""]) => unquote(door));
  return [
    ...tableUnder(map(sources), "Rooms").flatMap(([room = "", , words = ""]) =>
      judge(
        room,
        words,
        paths.some((path) => path.startsWith(`src/${unquote(room)}`)),
      ),
    ),
    ...doors.flatMap(([door = "", , words = ""]) => judge(door, words, unquote(door) in sources)),
    ...doorsOf(sources)
      .filter((door) => !named.includes(door))
      .map((door) => `src/README.md: the door ${door} is not on the map`),
  ];
}

function findLooseDoors(sources: Sources): string[] {
  return doorsOf(sources).flatMap((door) =>
    [...(sources[door] ?? "").matchAll(/\bexport\s*(?:type\s*)?\*/g)].map(
      () => `${door} must list the names that it opens`,
    ),
  );
}

const house = { "src/util/a.ts": "", "src/wire/a.ts": "", "src/client/a.ts": "", "src/index.ts": "" };

const rules: readonly Rule[] = [
  {
    title: "the map shows what is there",
    find: findMapErrors,
    bad: [
      withMap({ ...house, "src/cli/a.ts": "" }),
      withMap({ ...house, "src/sql.ts": "" }),
      withMap({ ...house, "src/extra.ts": "" }),
      withMap({ "src/index.ts": "", "src/util/a.ts": "", "src/wire/a.ts": "" }),
    ],
    good: [withMap(house)],
  },
  {
    title: "a door lists its names one by one",
    find: findLooseDoors,
    bad: [
      { "src/index.ts": `export * from "./util/a.ts";` },
      { "src/index.ts": `export type * from "./util/a.ts";` },
      { "src/index.ts": `export * as util from "./util/a.ts";` },
    ],
    good: [{ "src/index.ts": `export { a } from "./util/a.ts";` }],
  },
];

testRules("the map and the doors", rules, "src");

describe("the doors", () => {
  const sources = readSources("src", "package.json");
  const manifest = JSON.parse(sources["package.json"] ?? "{}");
  const entries = (tsup as { entry: string[] }).entry;

  test("tsup builds each door and package.json exports it", () => {
    expect(compareDoors(doorsOf(sources), entries, manifest)).toEqual([]);
  });

  test("the check sees a door that is not built, not exported, or exported under a wrong name", () => {
    const door = {
      import: { types: "./dist/index.d.ts", default: "./dist/index.js" },
      require: { types: "./dist/index.d.cts", default: "./dist/index.cjs" },
    };
    const doors = ["src/index.ts"];
    expect(compareDoors(doors, doors, { exports: { ".": door } })).toEqual([]);
    expect(compareDoors(doors, [], { exports: { ".": door } })).not.toEqual([]);
    expect(compareDoors(doors, doors, { exports: {} })).not.toEqual([]);
    expect(compareDoors(doors, doors, { exports: { ".": door, "./sql": door } })).not.toEqual([]);
    expect(compareDoors(["src/sql.ts"], ["src/sql.ts"], { exports: { "./sql": door } })).not.toEqual([]);
  });
});

interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly bin?: Readonly<Record<string, string>>;
}

function compareDoors(doors: readonly string[], entries: readonly string[], manifest: Manifest): string[] {
  const names = doors.map((door) => door.slice("src/".length, -".ts".length));
  const commands = Object.values(manifest.bin ?? {});
  const wanted = Object.fromEntries(
    names
      .filter((name) => !commands.includes(`./dist/${name}.js`))
      .map((name) => [
        name === "index" ? "." : `./${name}`,
        {
          import: { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
          require: { types: `./dist/${name}.d.cts`, default: `./dist/${name}.cjs` },
        },
      ]),
  );
  const { "./package.json": _manifest, ...exported } = manifest.exports;
  const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  return [
    ...(same([...doors].sort(), [...entries].sort())
      ? []
      : [`tsup.config.ts builds ${entries}, wanted ${doors}`]),
    ...[...new Set([...Object.keys(wanted), ...Object.keys(exported)])]
      .filter((door) => !same(wanted[door], exported[door]))
      .map(
        (door) =>
          `package.json#exports["${door}"] must be ${JSON.stringify(wanted[door]) ?? "left out: it is no door"}`,
      ),
  ];
}
