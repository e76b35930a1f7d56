/** `hedgerow fleet simulate`, on made workloads and on traces. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hedgerow, hedgerowProcess } from "./support/bin.js";
import { makeTree } from "./support/tree.js";

const POLICIES = [
  ...["random", "least loaded", "best of two", "consistent hashing", "bounded loads"],
  ...["rendezvous", "ImageLocality", "hedgerow", "hedgerow, bound 1.05"],
];

const simulate = (args: readonly string[], input = "") =>
  hedgerow(["fleet", "simulate", ...args], input);

const SMALL = ["--workload", "flash-crowd", "--hosts", "8", "--starts", "1200"];

/** Returns the text of a trace whose starts alternate between two images. */
function traceOf(starts: number): string {
  const lines = Array.from({ length: starts }, (_, index) => {
    const image = { identity: `image-${index % 2}`, bytes: 1_000_000 };
    return JSON.stringify({ time: 1_000 * index, ...image, duration: 500 });
  });
  return `${lines.join("\n")}\n`;
}

describe("hedgerow fleet simulate", () => {
  test("prints a row for each policy", async () => {
    const { code, out, err } = await hedgerowProcess(["fleet", "simulate", ...SMALL]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const [head, ...rows] = out.trimEnd().split("\n");
    expect(head).toMatch(
      /^policy +hits +load +placements +from origin +fetches +from tier +median +worst +moved +flash fetches +flash worst$/,
    );
    expect(rows.map((row) => row.split(/ {2,}/)[0])).toEqual(POLICIES);
    for (const row of rows)
      expect(row).toMatch(/^[\w ,.]+? {2,}\d+\.\d % +\d+\.\d\d +\d+\.\d\d +\d/);
  });

  test("prints the same JSON object for the same seed", async () => {
    const { code, out, err } = await simulate([...SMALL, "--seed", "4", "--json"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(await hedgerowProcess(["fleet", "simulate", ...SMALL, "--seed", "4", "--json"])).toEqual(
      {
        ...{ code, out, err },
      },
    );
    expect((await simulate([...SMALL, "--seed", "5", "--json"])).out).not.toBe(out);
    const { results, ...summary } = JSON.parse(out);
    expect(summary).toMatchObject({
      workload: "flash-crowd",
      hosts: 8,
      images: 1_001,
      starts: 1_200,
    });
    expect(results.map(({ policy }: { policy: string }) => policy)).toEqual(POLICIES);
    for (const { hits, misses, flash } of results) {
      expect(hits + misses).toBe(1_200);
      expect(flash.starts).toBe(1_000);
    }
  });

  test("reads a trace from a file or from standard input", async () => {
    const trace = traceOf(100);
    const file = join(makeTree({ "trace.jsonl": trace }), "trace.jsonl");
    const { code, out } = await simulate([file, "--hosts", "2", "--json"]);
    expect(code).toBe(0);
    const { results, ...summary } = JSON.parse(out);
    expect(summary).toMatchObject({ workload: file, hosts: 2, images: 2, starts: 100 });
    // Each image is fetched once, and hit from then on.
    expect(results.at(-2)).toMatchObject({ policy: "hedgerow", hits: 98, originFetches: 2 });
    const piped = await simulate(["-", "--hosts", "2", "--json"], trace);
    expect(JSON.parse(piped.out)).toEqual({ ...JSON.parse(out), workload: "standard input" });
  });

  test("uses the given size of the caches", async () => {
    const args = ["-", "--hosts", "1", "--cache-bytes", "1100000", "--json"];
    const { results } = JSON.parse((await simulate(args, traceOf(100))).out);
    expect(results.at(-1)).toMatchObject({ hits: 0 });
  });

  test.for([
    [[], 2, "ERR_USAGE", "expected either a trace or --workload"],
    [["x", "--workload", "bases"], 2, "ERR_USAGE", "expected either a trace or --workload"],
    [["--workload", "none"], 2, "ERR_USAGE", "Allowed choices are zipf-0.7"],
    [["--workload", "bases", "--hosts", "0"], 2, "ERR_ARGUMENT", "hosts: expected a number from 1"],
    [["--workload", "bases", "--hosts", "10001"], 2, "ERR_ARGUMENT", "found 10001"],
    [["--workload", "bases", "--starts", "0"], 2, "ERR_ARGUMENT", "starts: expected a number"],
    [["--workload", "bases", "--seed", "x"], 2, "ERR_USAGE", "expected a whole number"],
    [["--workload", "bases", "--cache-bytes", "1"], 2, "ERR_ARGUMENT", "cacheBytes: expected"],
    [["/nowhere/trace"], 3, "ENOENT", "/nowhere/trace: expected a trace of a fleet: "],
  ] as const)("refuses %j", async ([args, exit, code, message]) => {
    const found = await simulate([...args, "--json"]);
    expect({ code: found.code, out: found.out }).toEqual({ code: exit, out: "" });
    const { error } = JSON.parse(found.err);
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });

  test("refuses a trace that is invalid, and names the start", async () => {
    const { code, out, err } = await simulate(["-"], `${traceOf(2)}{"time":2000}\n`);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toBe(
      "hedgerow: standard input: start 3: identity: expected a text of 1 to 256 characters, found nothing\n",
    );
    expect(await simulate(["-"], "\xff")).toMatchObject({ code: 3 });
  });

  test("prints its help", async () => {
    for (const args of [
      ["fleet", "--help"],
      ["fleet", "simulate", "--help"],
    ]) {
      const { code, out } = await hedgerow(args);
      expect(code).toBe(0);
      expect(out).toContain("Exit codes:");
    }
  });
});
