/** Compares the preset `next` with the installed Next.js, to notice when a release adds an internal field. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { HeaderStripper, preset } from "hedgerow";
import { expect, test } from "vitest";

const require = createRequire(import.meta.url);
const next = join(dirname(require.resolve("next/package.json")), "dist");

const requests = new HeaderStripper(preset("next", "requests"));
const responses = new HeaderStripper(preset("next", "responses"));

function textOf(file: string): string {
  return readFileSync(join(next, file), "utf8");
}

/** Returns the field names among the string literals of a source. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/(['"])([a-z][a-z-]+)\1/g)].map(([, , name]) => name!);
}

/**
 * Returns the fields that the client code names, by string literals or constants, where a pattern matches.
 *
 * @param pattern captures a literal, or the name of a constant
 */
function namedByClient(pattern: RegExp): string[] {
  const constants = ["client/components/app-router-headers.js", "lib/constants.js"].map(textOf);
  const values = new Map<string, string>();
  for (const [, name, value] of constants.join("").matchAll(/const (\w+) = '([^']+)'/g)) {
    values.set(name!, value!);
  }
  const folders = ["client", "shared/lib/router"];
  const names = folders.flatMap((folder) => {
    const files = readdirSync(join(next, folder), { recursive: true, encoding: "utf8" });
    const sources = files.filter((file) => file.endsWith(".js"));
    return sources.flatMap((file) => {
      const text = textOf(join(folder, file));
      return [...text.matchAll(pattern)].map(
        ([, name, constant]) => name ?? values.get(constant!) ?? `? ${constant}`,
      );
    });
  });
  return [...new Set(names)].sort();
}

/** Returns the fields that the server lists as internal. */
function internal(): string[] {
  const [, list] = /INTERNAL_HEADERS = \[([^\]]+)\]/.exec(
    textOf("server/lib/server-ipc/utils.js"),
  )!;
  return namesIn(list!);
}

test("strips from requests every field that Next.js lists as internal", () => {
  const names = internal();
  expect(names).toContain("x-matched-path");
  expect(names.filter((name) => !requests.matches(name))).toEqual([]);
});

test("keeps on requests every field that the client sends in production, except internal ones", () => {
  const assigned = namedByClient(/headers\[(?:'([^']+)'|\w+\.([A-Z_]+))\] = /g);
  const literal = namedByClient(/(?:'([a-z]+(?:-[a-z]+)+)'|\[\w+\.([A-Z_]+)\]): /g);
  const names = [...new Set([...assigned, ...literal])];
  expect(names).toEqual(
    expect.arrayContaining([
      ...["x-middleware-prefetch", "x-nextjs-data", "x-deployment-id", "rsc"],
      ...["next-router-prefetch", "next-router-state-tree", "next-url", "next-action"],
    ]),
  );
  // The development server distinguishes its requests by these; a later version lists them as internal.
  const development = ["x-nextjs-request-id", "x-nextjs-html-request-id"];
  const known = [...internal(), ...development];
  expect(names.filter((name) => !known.includes(name) && requests.matches(name))).toEqual([]);
});

test("strips from responses the fields that the middleware sends to Next.js", () => {
  const files = [
    "server/web/spec-extension/response.js",
    "server/lib/router-utils/resolve-routes.js",
  ];
  const names = namesIn(files.map(textOf).join("")).filter((name) =>
    name.startsWith("x-middleware-"),
  );
  expect(names).toContain("x-middleware-set-cookie");
  expect(names.filter((name) => !responses.matches(name))).toEqual([]);
});

test("keeps on responses every field that client navigation reads", () => {
  const names = namedByClient(/headers\.get\((?:'([^']+)'|\w+\.([A-Z_]+))\)/g);
  expect(names).toEqual(
    expect.arrayContaining([
      ...["x-matched-path", "x-middleware-cache", "x-middleware-skip", "x-nextjs-rewrite"],
      ...["x-nextjs-redirect", "x-nextjs-matched-path", "x-nextjs-rewritten-path"],
    ]),
  );
  expect(names.filter((name) => name.startsWith("?") || responses.matches(name))).toEqual([]);
});
