import { list, map, unquote, withMap } from "./map.ts";
import { type Rule, testRules } from "./rule.ts";
import { importsOf, placeOf, type Sources, sourceFiles, tableUnder } from "./sources.ts";

/** Room to the rooms that it may import; `doors` for one that may import doors only. */
function readRooms(readme: string): ReadonlyMap<string, readonly string[] | "doors"> {
  const rooms = new Map<string, readonly string[] | "doors">();
  for (const [name = "", may = ""] of tableUnder(readme, "Rooms")) {
    const above = [...rooms.keys()];
    const named = may === "nothing" ? [] : may === "all of the above" ? above : list(may);
    rooms.set(unquote(name).replace(/\/$/, ""), may === "the doors only" ? "doors" : named);
  }
  return rooms;
}

function findForbiddenImports(sources: Sources): string[] {
  const rooms = readRooms(map(sources));
  return sourceFiles(sources).flatMap((file) => {
    const room = placeOf(file.fileName)?.room;
    const may = room === undefined ? [...rooms.keys()] : rooms.get(room);
    if (may === undefined) return [`${file.fileName}: the room ${room}/ is not on the map`];
    return importsOf(file).flatMap(({ at, specifier, path }) => {
      if (specifier === undefined) return [`${at} imports something that is computed`];
      if (path === undefined) return [];
      const target = placeOf(path);
      if (!target || !(path in sources)) return [`${at} imports ${specifier}, which is no file of src/`];
      if (target.room === undefined) return may === "doors" ? [] : [`${at} imports the door ${path}`];
      if (target.room === room || (may !== "doors" && may.includes(target.room))) return [];
      return [`${at} imports ${path}: ${room}/ may import ${may}`];
    });
  });
}

function findCycles(sources: Sources): string[] {
  const edges = new Map(
    sourceFiles(sources).map((file) => [
      file.fileName,
      importsOf(file).flatMap(({ path }) => (path !== undefined && path in sources ? [path] : [])),
    ]),
  );
  const done = new Set<string>();
  const cycles = new Set<string>();
  const visit = (path: string, trail: readonly string[]) => {
    const since = trail.indexOf(path);
    if (since >= 0) cycles.add([...trail.slice(since), path].join(" -> "));
    if (since >= 0 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return [...cycles];
}

function findStrayPackages(sources: Sources): string[] {
  const packages = tableUnder(map(sources), "Outside packages").map(([name = "", where = ""]) => ({
    name: unquote(name),
    places: list(where).map((place) => `src/${place}`),
  }));
  const owns = (name: string, specifier: string) =>
    name.endsWith("*")
      ? specifier.startsWith(name.slice(0, -1))
      : specifier === name || specifier.startsWith(`${name}/`);
  return sourceFiles(sources).flatMap((file) =>
    importsOf(file).flatMap(({ at, specifier }) => {
      if (specifier === undefined || specifier.startsWith(".")) return [];
      const known = packages.find(({ name }) => owns(name, specifier));
      if (!known) return [`${at} imports ${specifier}, which is not on the map`];
      const allowed = known.places.some((place) =>
        place.endsWith("/") ? file.fileName.startsWith(place) : file.fileName === place,
      );
      return allowed ? [] : [`${at} imports ${specifier}: only in ${known.places.join(", ")}`];
    }),
  );
}

function findNodeReachable(sources: Sources): string[] {
  const files = new Map(sourceFiles(sources).map((file) => [file.fileName, file]));
  const queue = [["src/index.ts"]];
  const seen = new Set(queue[0]);
  const found: string[] = [];
  for (let trail = queue.shift(); trail; trail = queue.shift()) {
    const file = files.get(trail.at(-1) ?? "");
    for (const { specifier, path } of file ? importsOf(file) : []) {
      if (specifier?.startsWith("node:") || specifier === "node")
        found.push([...trail, specifier].join(" -> "));
      if (path === undefined || seen.has(path)) continue;
      seen.add(path);
      queue.push([...trail, path]);
    }
  }
  return found;
}

const wire = { "src/wire/http.ts": "export const answer = 1;", "src/index.ts": "" };
const rules: readonly Rule[] = [
  {
    title: "a room imports only the rooms that the map lets it, and never a door",
    find: findForbiddenImports,
    bad: [
      `import { answer } from "../wire/http.ts";`,
      `import type { answer } from "../wire/http.ts";`,
      `import {\n  type answer,\n} from "../wire/http.ts";`,
      `export { answer } from "../wire/http.ts";`,
      `export type * from "../wire/http.ts";`,
      `const answer = await import("../wire/http.ts");`,
      `const { answer } = require("../wire/http.ts");`,
      `type Answer = import("../wire/http.ts").Answer;`,
      `import "../wire/http.ts";`,
      `import "../index.ts";`,
      `import "./missing.ts";`,
      `import info from "../../package.json";`,
      "const answer = await import(name);",
    ]
      .map((text) => withMap({ ...wire, "src/util/a.ts": text }))
      .concat(
        withMap({ "src/lost/a.ts": "" }),
        withMap({ ...wire, "src/cli/a.ts": `import "../wire/http.ts";` }),
      ),
    good: [
      withMap({ ...wire, "src/client/a.ts": `import { answer } from "../wire/http.ts";` }),
      withMap({
        ...wire,
        "src/client/a.ts": `// import { answer } from "../index.ts";\nimport "./b.ts"`,
        "src/client/b.ts": "",
      }),
      withMap({ ...wire, "src/cli/a.ts": `import { createClient } from "../index.ts";` }),
      withMap({ ...wire, "src/index.ts": `export { answer } from "./wire/http.ts";` }),
    ],
  },
  {
    title: "no file imports itself by a detour, types included",
    find: findCycles,
    bad: [
      { "src/util/a.ts": `import "./b.ts";`, "src/util/b.ts": `import type { A } from "./a.ts";` },
      {
        "src/util/a.ts": `import "./b.ts";`,
        "src/util/b.ts": `import "./c.ts";`,
        "src/util/c.ts": `export { a } from "./b.ts";`,
      },
      { "src/util/a.ts": `type A = import("./a.ts").A;` },
    ],
    good: [
      {
        "src/util/a.ts": `import "./b.ts"; import "./c.ts";`,
        "src/util/b.ts": `import "./c.ts";`,
        "src/util/c.ts": "",
      },
    ],
  },
  {
    title: "an outside package is imported only where the map lets it",
    find: findStrayPackages,
    bad: [
      `import { ofetch } from "ofetch";`,
      `import type { FetchError } from "ofetch";`,
      `import { z } from "zod";`,
      `import * as z from "zod/mini";`,
      `import { get } from "node:http";`,
      `const lodash = await import("lodash");`,
      `import { createClient } from "a2a-lease";`,
      `/// <reference types="node" />`,
    ].map((text) => withMap({ "src/util/a.ts": text })),
    good: [
      withMap({ "src/wire/http.ts": `import { ofetch } from "ofetch/node";` }),
      withMap({ "src/model/task.ts": `import * as z from "zod/mini";` }),
      withMap({ "src/testing/loopback.ts": `import { createServer } from "node:http";` }),
    ],
  },
  {
    title: "nothing that the root door reaches imports a node: module",
    find: findNodeReachable,
    bad: [`import "node:http";`, `await import("node:http");`, `type S = import("node:http").Server;`].map(
      (text) => ({ "src/index.ts": `export { a } from "./util/a.ts";`, "src/util/a.ts": text }),
    ),
    good: [{ "src/index.ts": "", "src/testing.ts": `import "node:http";` }],
  },
];

testRules("the house", rules, "src");
