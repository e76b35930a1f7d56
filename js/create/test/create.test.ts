/** `npm create hedgerow`, from the built package. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { beforeEach, describe, expect, test, vi } from "vitest";

import { inRoot } from "../../../scripts/lib/paths.mjs";
import { listFiles } from "../../../scripts/lib/run.mjs";
import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { TEMPLATES } from "../src/templates.js";

const BIN = fileURLToPath(new URL("../bin/create-hedgerow.js", import.meta.url));
const TERMINAL = inRoot("js/cli/test/support/terminal.py");

const path = temporaryFolder();
let folder: string;
let rounds = 0;

beforeEach(() => {
  rounds += 1;
  folder = path(`folder ${rounds}`);
  mkdirSync(folder);
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
}

/** Runs a command in the folder. Returns all that it prints. */
async function run(command: readonly string[]): Promise<Ended> {
  const child = spawn(command[0]!, command.slice(1), { cwd: folder });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      out += data;
    });
  }
  child.stdin.end();
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out };
}

const create = (...args: string[]) => run([process.execPath, BIN, ...args]);

/** Returns the files below a folder. */
const filesIn = (root: string) =>
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(root, name)).isFile())
    .sort();

test("lists the templates in its help", async () => {
  const { code, out } = await create("--help");
  expect(code).toBe(0);
  for (const name of Object.keys(TEMPLATES)) expect(out).toContain(`\n  ${name} `);
});

describe.each(Object.keys(TEMPLATES))("the template %s", (template) => {
  test("is the example, under the name of the project", async () => {
    const { code, out } = await create("My App", "--template", template);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("cd 'My App'") });
    const example = `examples/${template}/`;
    const files = listFiles(example).map((file) => file.slice(example.length));
    const expected = files.filter((file) => file !== "README.md");
    const project = join(folder, "My App");
    expect(filesIn(project)).toEqual(expected.sort());
    expect(expected.length).toBeLessThanOrEqual(8);
    expect(expected.filter((file) => file.startsWith("test/"))).toHaveLength(1);
    for (const file of expected) {
      const written = readFileSync(join(project, file), "utf8");
      const original = readFileSync(inRoot(example, file), "utf8");
      if (file === "package.json") {
        const { license: _, description: __, ...others } = JSON.parse(original);
        expect(JSON.parse(written)).toEqual({ ...others, name: "my-app" });
      } else if (file === ".gitignore") {
        expect(written).toBe(`${original}# Packages.\nnode_modules/\n`);
      } else {
        expect(written).toBe(original.replaceAll(`hedgerow-example-${template}`, "my-app"));
      }
    }
  });
});

test("writes to the current directory, and to one beside it", async () => {
  expect(await create(".", "-t", "sandbox")).toMatchObject({ code: 0 });
  const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  expect(name).toBe(`folder-${rounds}`);
  expect(readdirSync(folder)).not.toContainEqual(expect.stringMatching(/create-hedgerow/));
  expect(await create("test/app", "-t", "hono")).toMatchObject({ code: 0 });
  expect(filesIn(join(folder, "test"))).toContain("app/src/app.js");
});

test.each([
  ["my.app", "my-app", "my.app"],
  ["My App!", "my-app", "'My App!'"],
  ["it's $HOME", "it-s-home", "'it'\\''s $HOME'"],
  ["-x", "x", "./-x"],
  ["!", "hedgerow-app", "'!'"],
])("names the project in %s %s, and quotes its path as %s", async (directory, name, path) => {
  const { code, out } = await create("-t", "worker", "--", `./${directory}`);
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining(`  cd ${path}\n`) });
  const manifest = readFileSync(join(folder, directory, "package.json"), "utf8");
  expect(JSON.parse(manifest)).toMatchObject({ name });
  const worker = readFileSync(join(folder, directory, "wrangler.jsonc"), "utf8");
  expect(worker).toContain(`"name": "${name}"`);
});

test.each(["app", "."])("writes one of two projects to %s at the same time", async (directory) => {
  const both = ["express", "fastify"].map((template) => create(directory, "-t", template));
  const ended = await Promise.all(both);
  expect(ended.map(({ code }) => code).sort()).toEqual([0, 2]);
  const project = filesIn(join(folder, directory));
  const winner = ended[0]?.code === 0 ? "express" : "fastify";
  const files = listFiles(`examples/${winner}/`).map((file) => file.slice(winner.length + 10));
  expect(project).toEqual(files.filter((file) => file !== "README.md").sort());
});

test.each([20, 40, 60, 80, 100, 120, 140, 160])(
  "leaves a whole project or nothing if it gets SIGINT after %i ms",
  async (delay) => {
    const args = [BIN, "app", "-t", "express"];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: "ignore" });
    setTimeout(() => child.kill("SIGINT"), delay);
    const [code] = await once(child, "close");
    const files = readdirSync(folder);
    expect(files).toEqual(files.length === 0 ? [] : ["app"]);
    if (files.length > 0) expect(filesIn(join(folder, "app"))).toHaveLength(8);
    expect(code === 0 || code === null).toBe(true);
  },
);

test.each([
  [["app", "--template", "toString"], '--template: expected worker, next, .*, found "toString"'],
  [["app", "--template"], "argument missing"],
  [["app", "--wrong"], "Unknown option '--wrong'"],
  [["app", "other", "--template", "hono"], "expected one directory, found 2"],
  [["app"], "there is no terminal to ask in"],
  [["--template", "hono"], "there is no terminal to ask in"],
  [["taken", "--template", "hono"], "taken: expected an empty directory, found mine.txt"],
  [["taken/mine.txt", "--template", "hono"], "mine.txt: expected a directory"],
  [["taken/mine.txt/app", "--template", "hono"], "mine.txt.*: expected a directory"],
  [["none/app", "--template", "hono"], "none: expected a directory"],
  [["", "--template", "hono"], "expected a directory, found no name"],
])("refuses %j, and writes nothing", async (args, message) => {
  mkdirSync(join(folder, "taken"));
  writeFileSync(join(folder, "taken", "mine.txt"), "mine");
  const { code, out } = await create(...args);
  expect({ code, out }).toEqual({ code: 2, out: expect.stringMatching(message) });
  expect(out).toMatch(/^create-hedgerow: [^\n]+\n$/);
  expect(filesIn(folder)).toEqual(["taken/mine.txt"]);
  expect(readFileSync(join(folder, "taken", "mine.txt"), "utf8")).toBe("mine");
});

test("keeps a file that appears after the directory was found empty, and writes nothing", async () => {
  // The directory is checked before the project is written to a temporary one.
  const preload = `
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    const { mkdtemp } = fs.promises;
    fs.promises.mkdtemp = (...args) => {
      fs.writeFileSync("package.json", "mine");
      return mkdtemp(...args);
    };
    syncBuiltinESMExports();`;
  const url = `data:text/javascript,${encodeURIComponent(preload)}`;
  const command = [process.execPath, "--import", url, BIN, ".", "--template", "express"];
  const { code, out } = await run(command);
  expect({ code, out }).toEqual({ code: 2, out: expect.stringContaining("EEXIST") });
  expect(readdirSync(folder)).toEqual(["package.json"]);
  expect(readFileSync(join(folder, "package.json"), "utf8")).toBe("mine");
});

test.each(["app", "."])("leaves nothing in %s if a file cannot be written", async (directory) => {
  const script = `trap '' XFSZ; ulimit -f 0; exec "$@"`;
  const command = [process.execPath, BIN, directory, "--template", "express"];
  const { code, out } = await run(["sh", "-c", script, "sh", ...command]);
  expect({ code, out }).toEqual({ code: 2, out: expect.stringContaining("EFBIG") });
  expect(readdirSync(folder)).toEqual([]);
});

describe("in a terminal", () => {
  /** Types into the terminal of the command whenever it prints a text. */
  async function answer(answers: readonly (readonly [prompt: string, typed: string])[]) {
    const command = [TERMINAL, "80", process.execPath, BIN];
    const child = spawn("python3", command, { cwd: folder, env: { ...process.env, CI: "" } });
    let out = "";
    child.stdout.on("data", (data) => {
      out += data;
    });
    const ended = once(child, "close");
    for (const [prompt, typed] of answers) {
      await vi.waitUntil(() => out.includes(prompt), { timeout: 30_000 });
      child.stdin.write(typed);
    }
    const [code] = (await ended) as [number | null];
    return { code, out };
  }

  test("asks for the directory and the template", async () => {
    const down = "\u001b[B";
    const { code, out } = await answer([
      ["Directory", "app\r"],
      ["Template", `${down}${down}\r`],
    ]);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("npm install") });
    expect(filesIn(join(folder, "app"))).toContain("src/app.js");
  });

  test("writes nothing if it is cancelled", async () => {
    const { code } = await answer([
      ["Directory", "app\r"],
      ["Template", "\u0003"],
    ]);
    expect(code).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });
});
