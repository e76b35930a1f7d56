import { relative } from "node:path";
import { parseArgs } from "node:util";

import { cancel, intro, isCancel, outro, select, text } from "@clack/prompts";

import { isTemplate, TEMPLATES, type Template } from "./templates.js";
import { CreateError, checkDirectory, type Scripts, writeProject } from "./write-project.js";

const NAMES = Object.keys(TEMPLATES) as Template[];

const HELP = `Usage: npm create hedgerow [directory] -- [options]

Creates a project that uses Hedgerow. In a terminal, it asks for missing values.

Options:
  -t, --template <name>  the template
  -h, --help             display this help

Templates:
${NAMES.map((name) => `  ${name.padEnd(9)}${TEMPLATES[name]}`).join("\n")}

Example:
  npm create hedgerow my-app -- --template hono
`;

/** Signals that wait until the project is written, which takes milliseconds, so that none is left half written. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The user has cancelled. */
class Cancelled extends Error {}

/** Runs a command line without the program. Returns the exit code: 0, 1 if the user has cancelled, or 2 if it fails. */
export async function run(args: readonly string[]): Promise<number> {
  try {
    await create(args);
    return 0;
  } catch (error) {
    if (error instanceof Cancelled) return 1;
    const [line] = (error as Error).message.split("\n");
    process.stderr.write(isExpected(error) ? `create-hedgerow: ${line}\n` : `${error}\n`);
    return 2;
  }
}

/** Whether the message of an error suffices: a command line that is refused, or a failure of the file system. */
const isExpected = (error: unknown) =>
  error instanceof CreateError ||
  (error instanceof Error && ("syscall" in error || /^ERR_PARSE_ARGS/.test(codeOf(error))));

const codeOf = (error: Error) => String((error as NodeJS.ErrnoException).code);

async function create(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    // pnpm passes on the `--` that npm needs.
    args: args.filter((arg) => arg !== "--"),
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
  const [given, ...others] = positionals;
  if (others.length > 0) {
    throw new CreateError(`expected one directory, found ${positionals.length}`);
  }
  const { template: name } = values;
  if (name !== undefined && !isTemplate(name)) {
    throw new CreateError(
      `--template: expected ${NAMES.join(", ")}, found ${JSON.stringify(name)}`,
    );
  }
  if (given !== undefined) checkDirectory(given);
  const asks = given === undefined || name === undefined;
  if (asks && !process.stdin.isTTY) {
    throw new CreateError("expected a directory and --template, as there is no terminal to ask in");
  }
  if (asks) intro("create-hedgerow");
  const directory = given ?? (await askDirectory());
  const template = name ?? (await askTemplate());
  const scripts = await writeWhole(template, directory);
  if (asks) outro(`Created ${directory}`);
  else process.stdout.write(`Created ${directory}\n`);
  const commands = commandsOf(directory, scripts).map((command) => `  ${command}\n`);
  process.stdout.write(`\nNext:\n${commands.join("")}`);
}

async function writeWhole(template: Template, directory: string): Promise<Scripts> {
  const wait = () => {};
  for (const signal of SIGNALS) process.on(signal, wait);
  try {
    return await writeProject(template, directory);
  } finally {
    for (const signal of SIGNALS) process.off(signal, wait);
  }
}

/** Returns the commands that install, build, test and start a project. */
function commandsOf(directory: string, scripts: Scripts): string[] {
  const path = relative(process.cwd(), directory);
  return [
    ...(path === "" ? [] : [`cd ${quoted(path)}`]),
    "npm install",
    ...(scripts.build === undefined ? [] : ["npm run build"]),
    "npm test",
    "npm start",
  ];
}

/** Quotes a path for a shell, if necessary. */
function quoted(path: string): string {
  const safe = path.startsWith("-") ? `./${path}` : path;
  return /^[\w./@+-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", "'\\''")}'`;
}

async function askDirectory(): Promise<string> {
  const placeholder = "my-app";
  const validate = (answer = "") => {
    try {
      if (answer.trim().startsWith("~")) return "a path does not begin with ~ here";
      checkDirectory(answer.trim() || placeholder);
    } catch (error) {
      return (error as Error).message;
    }
    return undefined;
  };
  const answer = await text({
    message: "Directory",
    placeholder,
    defaultValue: placeholder,
    validate,
  });
  return orCancel(answer).trim() || placeholder;
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
