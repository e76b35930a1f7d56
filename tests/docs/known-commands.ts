/** Checks commands that are not run: the scripts, files and crates they name must exist. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { inRoot } from "../../scripts/lib/paths.mjs";

const readText = (path: string) => readFileSync(inRoot(path), "utf8");

/** @throws an error that names what a command refers to and does not exist */
export function expectKnown(command: string): void {
  const [program, subject = "", ...args] = command.split(/\s+/);
  if (program === "npm" && subject === "test") expectScript("test", args);
  else if (program === "npm" && subject === "run") expectScript(args[0] ?? "", args.slice(1));
  else if (program === "cargo") expectCrates(command);
  for (const [path = ""] of command.matchAll(
    /(?<=[\s=])(js|crates|examples|tests|scripts)\/[\w./-]+/g,
  )) {
    if (!existsSync(inRoot(path))) throw new Error(`${command}: expected ${path}`);
  }
}

/** Checks that a script exists and knows its arguments. */
function expectScript(script: string, args: readonly string[]): void {
  const command: string | undefined = JSON.parse(readText("package.json")).scripts[script];
  if (command === undefined) throw new Error(`expected a script "${script}" in package.json`);
  const file = /scripts\/[\w-]+\.mjs/.exec(command)?.[0] ?? "package.json";
  const source = sourceOf(file);
  for (const arg of args.filter((arg) => arg !== "--" && !arg.startsWith("\u2026"))) {
    const [option = ""] = arg.split("=");
    if (!source.includes(option.replace(/^--/, "")))
      throw new Error(`${file} has no option ${option}`);
  }
}

/** Returns the source of a script and of all modules that it imports statically. */
function sourceOf(file: string, seen = new Set<string>()): string {
  if (seen.has(file)) return "";
  seen.add(file);
  const source = readText(file);
  const imports = [...source.matchAll(/ from "(\.[^"]+)"/g)].map(([, name = ""]) => name);
  return [source, ...imports.map((name) => sourceOf(join(dirname(file), name), seen))].join("\n");
}

function expectCrates(command: string): void {
  const lock = readText("Cargo.lock");
  for (const [, name = ""] of command.matchAll(/(?:-p|--package)[ =](\S+)/g)) {
    if (!lock.includes(`name = "${name}"`))
      throw new Error(`${command}: expected the crate ${name}`);
  }
}
