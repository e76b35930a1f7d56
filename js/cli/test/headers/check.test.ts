/** `hedgerow headers check`. */
import { join } from "node:path";
import { preset } from "hedgerow";
import { describe, expect, test } from "vitest";
import { NEEDS } from "../../src/headers/needs.js";
import { hedgerow } from "../support/bin.js";
import { makeTree } from "../support/tree.js";

/** Checks a list, which is given on standard input. */
const check = (rules: string, ...args: string[]) =>
  hedgerow(["headers", "check", "-", ...args], rules);

/** Returns the findings of a list as JSON. */
async function findingsOf(rules: string, ...args: string[]): Promise<object[]> {
  const { code, out, err } = await check(rules, ...args, "--json");
  const { findings } = JSON.parse(out);
  expect({ code, err }).toEqual({ code: findings.length === 0 ? 0 : 1, err: "" });
  return findings;
}

describe("hedgerow headers check", () => {
  test("exits with 0 if a list has no findings", async () => {
    const rules = "# ours\n\nx-internal-*\r\n  x-debug # for support\r\n\t#x-old\n";
    expect(await check(rules)).toEqual({ code: 0, out: "2 rules, no findings\n", err: "" });
    expect(await findingsOf(rules)).toEqual([]);
  });

  test("names the file and the line of each finding, and exits with 1", async () => {
    const root = makeTree({
      "a.txt": "x-a\n\nX-A\nx-b\nx b\nx-b*\n",
      "b.json": '[\n  "x-a", "x-a",\n  "\\u0061*b"\n]\n',
    });
    const files = ["a.txt", "b.json"].map((name) => join(root, name));
    const [a, b] = files;
    const { code, out, err } = await hedgerow(["headers", "check", ...files]);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out.split("\n")).toEqual([
      `${a}:3: X-A: duplicate of line 1`,
      `${a}:4: x-b: covered by x-b* on line 6`,
      `${a}:5: x b: invalid: expected a token character, found U+0020 at index 1`,
      `${b}:2: x-a: duplicate of line 2`,
      `${b}:3: a*b: invalid: expected '*' only as the last character, found one at index 1`,
      "8 rules, 5 findings",
      "",
    ]);
  });

  test("says that an equivalent spelling matches", async () => {
    const rules = "x-a-*\nX_A_*\nx.a.b\nset_cookie\n";
    expect((await check(rules)).out.split("\n")).toEqual([
      "-:2: X_A_*: duplicate of line 1, an equivalent spelling",
      "-:3: x.a.b: covered by x-a-* on line 1, an equivalent spelling",
      "-:4: set_cookie: strips set-cookie from responses, an equivalent spelling: it starts and ends sessions",
      "4 rules, 3 findings",
      "",
    ]);
    expect(await findingsOf(rules, "--spelling", "exact")).toEqual([]);
    const kept = await findingsOf("x-a\nx_a\ncontent_length\n", "--mode", "keep");
    expect(kept.filter((finding) => "line" in finding)).toEqual([]);
  });

  test("prints one JSON object with --json", async () => {
    const { out } = await check("x-a\nSet-Cookie\n", "--json");
    const message = "strips set-cookie from responses: it starts and ends sessions";
    expect(JSON.parse(out)).toEqual({
      rules: 2,
      findings: [
        {
          ...{ file: "-", line: 2, rule: "Set-Cookie", kind: "strips" },
          ...{ field: "set-cookie", direction: "responses", message },
        },
      ],
    });
  });

  test("finds every rule that strips what a site needs, by its name or by a prefix", async () => {
    for (const { field, direction } of NEEDS) {
      const found = { kind: "strips", field, direction, line: 1 };
      for (const rule of [field, field.toUpperCase(), `${field.slice(0, -1)}*`]) {
        expect(await findingsOf(rule, "--direction", direction)).toContainEqual(
          expect.objectContaining({ ...found, rule }),
        );
      }
    }
    expect(await findingsOf("location*", "--direction", "requests")).toEqual([]);
  });

  test("the fields that --without names are not needed", async () => {
    const rules = "cookie\nauthorization\n";
    expect(await findingsOf(rules, "--without", "Cookie")).toHaveLength(1);
    expect(await findingsOf(rules, "--without", "cookie", "--without", "authorization")).toEqual(
      [],
    );
  });

  test("finds nothing in the presets that adapters accept", async () => {
    const names = ["hop-by-hop", "cloudflare", "vercel", "next"] as const;
    for (const direction of ["requests", "responses"] as const) {
      for (const name of names) {
        const rules = preset(name, direction).join("\n");
        expect([name, await findingsOf(rules, "--direction", direction)]).toEqual([name, []]);
      }
    }
    const reframed = await findingsOf(preset("hop-by-hop-reframed").join("\n"));
    expect(reframed).toContainEqual(expect.objectContaining({ field: "transfer-encoding" }));
  });

  test("an allow-list should have the fields that every site needs", async () => {
    const needed = NEEDS.filter(
      ({ direction, isOptional }) => direction === "requests" && !isOptional,
    );
    const args = ["--mode", "keep", "--direction", "requests"];
    const missing = needed
      .map(({ field }) => field)
      .filter((field) => !ALWAYS_KEPT.includes(field));
    const findings = await findingsOf("accept\nx-app-*\n", ...args);
    expect(findings).toEqual(
      missing.map((field) => expect.objectContaining({ kind: "missing", field, file: "-" })),
    );
    expect(await findingsOf(`content-*\n${missing.slice(2).join("\n")}\n`, ...args)).toEqual([]);
    const { out } = await check(missing.slice(1).join("\n"), ...args);
    expect(out).toContain("-: strips content-type from requests: it says what the body is\n");
  });

  test("a rule for a field that an allow-list keeps anyway is redundant", async () => {
    const all = NEEDS.flatMap(({ field }) => ["--without", field]);
    for (const name of ALWAYS_KEPT) {
      const finding = { kind: "covered", rule: name, message: "always kept, without a rule" };
      expect(await findingsOf(`${name}\nx-a`, "--mode", "keep", ...all)).toEqual([
        expect.objectContaining(finding),
      ]);
    }
  });

  test("refuses a file that is not a list of rules", async () => {
    for (const [rules, message] of [
      ["", "expected rules, found none"],
      ["# nothing\n", "expected rules, found none"],
      ["[]", "expected rules, found none"],
      ['["x-a", 7]', "[1]: expected a string, found 7"],
      ['["x-a"', "expected JSON: "],
      ["x".repeat(2 ** 24 + 1), "expected at most 16777216 characters"],
    ] as const) {
      const { code, out, err } = await check(rules);
      expect({ code, out }).toEqual({ code: 3, out: "" });
      expect(err).toContain(`standard input: ${message}`);
    }
  });

  test("refuses a missing file, a file that is not UTF-8, and an invalid command line", async () => {
    const root = makeTree({ binary: new Uint8Array([0xff]) });
    const missing = await hedgerow(["headers", "check", join(root, "missing")]);
    expect(missing).toMatchObject({
      code: 3,
      err: expect.stringContaining("expected a list of rules: ENOENT"),
    });
    const binary = await hedgerow(["headers", "check", join(root, "binary")]);
    expect(binary).toMatchObject({ code: 3, err: expect.stringContaining("expected UTF-8") });
    for (const args of [[], ["a", "--mode", "drop"], ["a", "--direction", "both"], ["a", "--x"]]) {
      expect(await hedgerow(["headers", "check", ...args])).toMatchObject({ code: 2, out: "" });
    }
  });

  test("escapes control characters of rules", async () => {
    const { out } = await check("x-\u001b[31m\n");
    expect(out).toContain("-:1: x-\\u001b[31m: invalid: ");
  });
});

const ALWAYS_KEPT = ["connection", "content-length", "host", "transfer-encoding"];
