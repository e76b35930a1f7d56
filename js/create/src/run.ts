import { relative } from "node:path";
import { parseArgs } from "node:util";

import { cancel, intro, isCancel, outro, select, text } from "@clack/prompts";

import { CreateError } from "./error.js";
import { isTemplate, TEMPLATES, type Template } from "./templates.js";
import { checkDirectory, commandsOf, writeProject } from "./write-project.js";

const NAMES = Object.keys(TEMPLATES) as Template[];

const HELP = `Usage: npm create hedgerow [directory] -- [options]

Creates a project that uses Hedgerow. Asks for what is missing, in a terminal.

Options:
  -t, --template <name>  the template
  -h, --help             display this help

Templates:
${NAMES.map((name) => `  ${name.padEnd(9)}${TEMPLATES[name]}`).join("\n")}

Example:
  npm create hedgerow my-app -- --template hono
`;

/** The user has cancelled. */
class Cancelled extends Error {}

/** Runs a command line without the program. Returns the exit code: 0, or 1 if cancelled, or 2 if nothing was written. */
export async function run(args: readonly string[]): Promise<number> {
  try {
    await create(args);
    return 0;
  } catch (error) {
    if (error instanceof Cancelled) return 1;
    const isExpected = error instanceof CreateError || isSystem(error) || isUsage(error);
    if (!isExpected) throw error;
    process.stderr.write(`create-hedgerow: ${(error as Error).message}\n`);
    return 2;
  }
}

async function create(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      template: { type: "string", short: "t" },
      help: { type: "boolean", short: "h" },
    },
    allowPositionals: true,
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  if (positionals.length > 1) {
    throw new CreateError(`expected one directory, found ${positionals.length}`);
  }
  const { template: name } = values;
  if (name !== undefined && !isTemplate(name)) {
    throw new CreateError(
      `--template: expected ${NAMES.join(", ")}, found ${JSON.stringify(name)}`,
    );
  }
  const [given] = positionals;
  if (given !== undefined) await checkDirectory(given);
  const asks = given === undefined || name === undefined;
  if (asks && !process.stdin.isTTY) {
    throw new CreateError(
      "expected a directory and --template, since there is no terminal to ask in",
    );
  }
  if (asks) intro("create-hedgerow");
  const directory = given ?? (await askDirectory());
  const template = name ?? (await askTemplate());
  const scripts = await writeProject(template, directory);
  const change = relative(process.cwd(), directory);
  const commands = [
    ...(change === "" ? [] : [`cd ${/\s/.test(change) ? JSON.stringify(change) : change}`]),
    ...commandsOf(scripts),
  ];
  const next = commands.map((command) => `  ${command}`).join("\n");
  if (asks) outro(`Created ${directory}`);
  process.stdout.write(`${asks ? "" : `Created ${directory}\n`}\nNext:\n${next}\n`);
}

async function askDirectory(): Promise<string> {
  const directory = await text({
    message: "Directory",
    placeholder: "my-app",
    defaultValue: "my-app",
  });
  const chosen = orCancel(directory);
  await checkDirectory(chosen);
  return chosen;
}

async function askTemplate(): Promise<Template> {
  const options = NAMES.map((value) => ({ value, label: value, hint: TEMPLATES[value] }));
  return orCancel(await select({ message: "Template", options }));
}

function orCancel<T>(answer: T): Exclude<T, symbol> {
  if (isCancel(answer)) {
    cancel("Nothing was written");
    throw new Cancelled();
  }
  return answer as Exclude<T, symbol>;
}

const isSystem = (error: unknown) => error instanceof Error && "syscall" in error;

/** Whether `parseArgs` refuses the command line. */
const isUsage = (error: unknown) =>
  error instanceof Error &&
  String((error as NodeJS.ErrnoException).code).startsWith("ERR_PARSE_ARGS");
