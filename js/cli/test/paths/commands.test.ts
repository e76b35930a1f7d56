import { once } from "node:events";
import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildPathFilter, PathFilter } from "hedgerow";
import { describe, expect, test } from "vitest";
import { ended, hedgerow, hedgerowProcess, start } from "../support/bin.js";
import { makeTree } from "../support/tree.js";

/** Builds a filter of these lines and returns its path. */
async function filterOf(lines: string, ...args: string[]): Promise<string> {
  const file = join(makeTree(), "filter");
  const { code, err } = await hedgerow(["paths", "build", "-", "-o", file, ...args], lines);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return file;
}

describe("hedgerow paths build", () => {
  test("builds one filter from several sources", async () => {
    const root = makeTree({
      "public/index.html": "",
      "public/100%.txt": "",
      "paths.txt": "/blog/*\nhttps://example.com/caf%C3%A9?x\n",
      "sitemap.xml": "<urlset><url><loc>https://example.com/map</loc></url></urlset>",
    });
    const file = join(root, "filter");
    const sources = ["public", "paths.txt", "sitemap.xml"].map((name) => join(root, name));
    const { code, out, err } = await hedgerow(["paths", "build", ...sources, "-o", file]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(
      /^6 paths → [\d,]+ bytes \([\d.]+ bytes a path\), p = 1e-7, m = [\d,]+, k = \d+\n$/,
    );
    const filter = PathFilter.parse(readFileSync(file));
    const keys = ["/", "/100%25.txt", "/blog/*", "/café", "/index.html", "/map"];
    expect(keys.filter((key) => !filter.has(key))).toEqual([]);
    expect(filter.has("/absent")).toBe(false);
    expect(readdirSync(root).sort()).toEqual(["filter", "paths.txt", "public", "sitemap.xml"]);
  });

  test("stores the rate that an option sets", async () => {
    const args = ["-p", "0.001", "--base-path", "/base/"];
    const file = await filterOf("/a\n/b\n/", ...args);
    const { params, has } = PathFilter.parse(readFileSync(file));
    expect(params).toMatchObject({ version: "", bloom: { n: 3, p: 0.001, s: 0 } });
    expect(has).toBeTypeOf("function");
    const query = await hedgerow(["paths", "query", file, "/base/a", "/base", "/a"]);
    expect(query).toMatchObject({
      code: 1,
      out: "present  /base/a\npresent  /base\nabsent   /a\n",
    });
  });

  test("adds the base path to paths without a leading slash too", async () => {
    const file = await filterOf("about\n//b\n", "--base-path", "/base");
    const query = await hedgerow(["paths", "query", file, "/base/about", "/base/b"]);
    expect(query).toMatchObject({ code: 0 });
  });

  test("accepts an empty base path, which is the default", async () => {
    const files = [await filterOf("/about\n", "--base-path", ""), await filterOf("/about\n")];
    const [empty, none] = files.map((file) => readFileSync(file));
    expect(empty).toEqual(none);
  });

  test("warns that a filter of sitemaps alone rejects assets", async () => {
    const root = makeTree({
      "map.xml": "<urlset><url><loc>https://example.com/map</loc></url></urlset>",
      "dist/app.js": "",
    });
    const [map, dist, file] = ["map.xml", "dist", "filter"].map((name) => join(root, name));
    const alone = await hedgerow(["paths", "build", map!, map!, "-o", file!]);
    expect(alone.err).toBe(
      "hedgerow: a sitemap lists pages only: the filter rejects scripts, styles and images; " +
        "add their directory as a source\n",
    );
    const both = await hedgerow(["paths", "build", map!, dist!, "-o", file!]);
    expect([alone.code, both.code, both.err]).toEqual([0, 0, ""]);
  });

  test("builds a filter of the kind fuse with --kind", async () => {
    const file = await filterOf("/a\n/b/*", "--kind", "fuse");
    const filter = PathFilter.parse(readFileSync(file));
    expect(filter.params).toMatchObject({ fuse: { n: 2, s: 0 }, wildcards: 2 });
    const { out } = await hedgerow(["paths", "info", file]);
    expect(out).toMatch(/^kind +fuse$/m);
    expect(out).toMatch(/^false positives, expected +5.96e-8$/m);
    const facts = JSON.parse((await hedgerow(["paths", "info", file, "--json"])).out);
    expect(facts).toMatchObject({ kind: "fuse", n: 2, s: 0, falsePositiveRate: 2 ** -24 });
    const list = join(makeTree({ "a.txt": "/a" }), "a.txt");
    const build = ["paths", "build", list, "-o", join(list, "..", "out"), "--kind", "fuse"];
    expect((await hedgerow(build)).out).toMatch(/^1 path → .*, p = 2\^-24, m = [\d,]+, fuse\n$/);
    const rate = await hedgerow([...build, "-p", "0.1"]);
    expect(rate.err).toContain('falsePositiveRate: expected none with kind "fuse", found 0.1');
  });

  test("reads a source as the kind that --source-kind names", async () => {
    const root = makeTree({ "paths.csv": "/a\n" });
    const build = ["paths", "build", join(root, "paths.csv"), "-o", join(root, "filter")];
    expect(await hedgerow(build)).toMatchObject({ code: 2 });
    expect(await hedgerow([...build, "--source-kind", "list"])).toMatchObject({ code: 0 });
  });

  test("prints one JSON object that includes the warnings", async () => {
    const root = makeTree({
      "config.json": { json: { version: 3, routes: [{ src: "/(.*)", dest: "/index" }] } },
    });
    const file = join(root, "filter");
    const build = ["paths", "build", root, "--source-kind", "build-output", "-o", file];
    const { code, out, err } = await hedgerow([...build, "--json"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(JSON.parse(out)).toEqual({
      ...{ output: file, version: "", kind: "bloom", n: 3, p: 1e-7, s: 0, wildcards: 2 },
      ...{ m: expect.any(Number), k: expect.any(Number), bytes: readFileSync(file).length },
      warnings: [
        "the route ^/(.*)$ may answer any path",
        "the filter rejects nothing: a source says that any path may exist",
      ],
    });
    const human = await hedgerowProcess(build);
    expect(human.err).toBe(
      "hedgerow: the route ^/(.*)$ may answer any path\n" +
        "hedgerow: the filter rejects nothing: a source says that any path may exist\n",
    );
  });

  test("writes the filter to standard output", async () => {
    const child = start(["paths", "build", "-", "-o", "-"]);
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stdin.end("/a\n/b\n");
    const { code, err } = await ended(child);
    expect(code).toBe(0);
    expect(err).toMatch(/^2 paths → /);
    expect(PathFilter.parse(Buffer.concat(chunks)).has("/a")).toBe(true);
  });

  test("keeps the old filter when a build fails", async () => {
    const root = makeTree({
      "bad.txt": Uint8Array.of(0x2f, 0x61, 0x0a, 0xff, 0x0a),
      "empty.txt": "",
      "site/config.json": "{",
      filter: "old",
    });
    const failures = [
      [join(root, "bad.txt")],
      [join(root, "empty.txt")],
      [join(root, "missing")],
      [join(root, "site"), "--source-kind", "build-output"],
      [join(root, "site"), "--source-kind", "next"],
      [join(root, "site"), "--source-kind", "list"],
    ];
    for (const args of failures) {
      const { code, out, err } = await hedgerow([
        "paths",
        "build",
        ...args,
        "-o",
        join(root, "filter"),
      ]);
      expect({ code, out }, args.join(" ")).toEqual({ code: 3, out: "" });
      expect(err, args.join(" ")).toMatch(/^hedgerow: [^\n]+\n$/);
    }
    expect(readFileSync(join(root, "filter"), "utf8")).toBe("old");
    expect(readdirSync(root).sort()).toEqual(["bad.txt", "empty.txt", "filter", "site"]);
  });

  test("refuses an output that cannot be written before it reads sources", async () => {
    const root = makeTree();
    const build = (output: string) => hedgerow(["paths", "build", "-", "-o", output], "/a\n");
    expect(await build(root)).toMatchObject({ code: 3, err: expect.stringContaining("directory") });
    expect(await build("/dev/null")).toMatchObject({ code: 3 });
    expect(await build(join(root, "missing", "filter"))).toMatchObject({ code: 3 });
    expect(readdirSync(root)).toEqual([]);
  });

  test.for(["SIGINT", "SIGTERM"] as const)(
    "leaves nothing behind on %s while it builds a filter",
    async (signal) => {
      const root = makeTree();
      const child = start(["paths", "build", "-", "-o", join(root, "filter")]);
      const end = ended(child);
      child.stdin.on("error", () => {});
      child.stdin.write("/a\n");
      await once(child, "spawn");
      await new Promise((resolve) => setTimeout(resolve, 500));
      child.kill(signal);
      expect(await end).toMatchObject({ code: signal, out: "" });
      expect(readdirSync(root)).toEqual([]);
    },
  );
});

describe("hedgerow paths query", () => {
  test("prints which paths may be present", async () => {
    const file = await filterOf("/a\n/caf%C3%A9\n/blog/*\n/%2A/b\n");
    const query = (...args: string[]) => hedgerow(["paths", "query", file, ...args]);
    expect(await query("/a", "//a/?x", "https://example.com/caf%c3%a9", "/blog/x/y")).toEqual({
      code: 0,
      out: "present  /a\npresent  //a/?x\npresent  https://example.com/caf%c3%a9\npresent  /blog/x/y\n",
      err: "",
    });
    expect(await query("/a", "/b", "/blog")).toEqual({
      code: 1,
      out: "present  /a\nabsent   /b\nabsent   /blog\n",
      err: "",
    });
  });

  test("prints one JSON object per line", async () => {
    const file = await filterOf("/a\n");
    const { code, out } = await hedgerow(["paths", "query", file, "/a/", "/b", "--json"]);
    expect(code).toBe(1);
    const lines = out.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { path: "/a/", key: "/a", present: true },
      { path: "/b", key: "/b", present: false },
    ]);
  });

  test("queries paths from standard input", async () => {
    const file = await filterOf("/a\n");
    const lines = Array.from({ length: 20_000 }, (_, number) =>
      number === 7 ? "/a" : `/${number}`,
    );
    const { code, out } = await hedgerowProcess(
      ["paths", "query", file, "-"],
      `${lines.join("\r\n")}\r\n`,
    );
    expect(code).toBe(1);
    expect(out.trimEnd().split("\n")).toHaveLength(20_000);
    expect(out).toContain("present  /a\n");
  });

  test("stops quietly when the reader closes the pipe", async () => {
    const file = await filterOf("/a\n");
    const child = start(["paths", "query", file, "-"]);
    child.stdin.on("error", () => {});
    let err = "";
    child.stderr.on("data", (data) => {
      err += data;
    });
    child.stdout.once("data", () => child.stdout.destroy());
    child.stdin.end("/a\n".repeat(200_000));
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    expect({ code, signal, err }).toEqual({ code: 0, signal: null, err: "" });
  });

  test("refuses to query a file that is not a filter", async () => {
    const root = makeTree({ filter: "{}\n" });
    const { code, out, err } = await hedgerow(["paths", "query", join(root, "filter"), "/a"]);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(/^hedgerow: [^\n]+\n$/);
  });
});

test.each([["query", "/a"], ["info"]])(
  "paths %s names a file that is no filter",
  async (...args) => {
    const [command = "", ...others] = args;
    const file = join(makeTree({ "other.json": '{"a":1}' }), "other.json");
    const { code, err } = await hedgerow(["paths", command, file, ...others]);
    expect([code, err]).toEqual([
      3,
      expect.stringMatching(/^hedgerow: \S+other\.json: path filter: /),
    ]);
  },
);

describe("hedgerow paths info", () => {
  test("prints the parameters of a filter", async () => {
    const lines = Array.from({ length: 1000 }, (_, number) => `/page/${number}`).join("\n");
    const file = join(makeTree(), "filter");
    writeFileSync(file, buildPathFilter([...lines.split("\n"), "/blog/*"], { version: "v1" }));
    const { code, out, err } = await hedgerowProcess(["paths", "info", file]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    for (const row of [/^version +v1$/m, /^paths +1,001$/m, /^wildcards +to depth 2$/m]) {
      expect(out).toMatch(row);
    }
    const facts = JSON.parse((await hedgerow(["paths", "info", file, "--json"])).out) as {
      [name: string]: number;
    };
    const { bytes } = facts;
    expect(facts).toMatchObject({ version: "v1", n: 1001, p: 1e-7, s: 0, wildcards: 2 });
    expect(bytes).toBe(readFileSync(file).length);
    expect(facts.bitsSet).toBeGreaterThan(1001);
    expect(facts.bitsSet).toBeLessThan(facts.m!);
    expect(facts.falsePositiveRate).toBeLessThanOrEqual(1e-7);
  });

  test("refuses a truncated filter", async () => {
    const file = await filterOf("/a\n/b\n");
    writeFileSync(file, readFileSync(file).subarray(0, -1));
    expect(await hedgerow(["paths", "info", file])).toMatchObject({ code: 3, out: "" });
  });

  test("stops reading a huge sparse file after its first line", async () => {
    const root = makeTree({ small: "{}\n", sparse: "{}\n" });
    truncateSync(join(root, "sparse"), 2 ** 30);
    const [small, sparse] = [await peakOf(join(root, "small")), await peakOf(join(root, "sparse"))];
    expect(sparse - small).toBeLessThan(2 ** 18);
  });
});

/** Maximum memory that `hedgerow paths info` may use to refuse a file, in KiB. */
async function peakOf(file: string): Promise<number> {
  const report = join(makeTree(), "peak");
  const script = `import { writeFileSync } from "node:fs";
    process.on("exit", () => {
      writeFileSync(${JSON.stringify(report)}, String(process.resourceUsage().maxRSS));
    });`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(script)}`;
  expect(await hedgerowProcess(["paths", "info", file], "", { NODE_OPTIONS })).toMatchObject({
    code: 3,
  });
  return Number(readFileSync(report, "utf8"));
}
