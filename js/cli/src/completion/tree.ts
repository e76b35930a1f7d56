import type { Command } from "commander";

/** How a shell completes a value: with one of some words, the name of a file, or nothing. */
export type Value = readonly string[] | "file" | "nothing";

/** An option of a command. */
interface CompletedOption {
  /** Its names, such as `-o` and `--output`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** `undefined` if it takes none. */
  readonly value: Value | undefined;
  readonly isRepeatable: boolean;
}

/** An argument of a command. */
interface CompletedArgument {
  readonly name: string;
  readonly value: Value;
  readonly isVariadic: boolean;
}

/** A command, as shells complete it. */
export interface Completed {
  /** The words that name it, without the program: `["paths", "build"]`. */
  readonly path: readonly string[];
  readonly description: string;
  readonly options: readonly CompletedOption[];
  readonly arguments: readonly CompletedArgument[];
  /** The commands of a group: their last words and descriptions. */
  readonly commands: readonly { readonly name: string; readonly description: string }[];
}

/** Names of values in usages that are names of files. */
const FILES = new Set([
  "destination",
  "directory",
  "file",
  "filter",
  "image",
  "place",
  "snapshot",
  "source",
  "store",
]);

/** Returns a command and all below it, in the order of the help. */
export function commandsOf(command: Command, path: readonly string[] = []): Completed[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const options = help.visibleOptions(command).map((option) => {
    const [, name = ""] = /[<[]([^>\].]+)/.exec(option.flags) ?? [];
    const { short, long, description, argChoices: words } = option;
    const takesValue = option.required || option.optional;
    return {
      flags: [short, long].filter((flag) => flag !== undefined),
      description,
      isRepeatable: description.includes("repeatable"),
      value: takesValue ? completionOf(name === "path" ? "file" : name, words) : undefined,
    };
  });
  const completed = {
    path,
    description: command.description(),
    options,
    arguments: help.visibleArguments(command).map((argument) => ({
      name: argument.name(),
      value: completionOf(argument.name(), argument.argChoices),
      isVariadic: argument.variadic,
    })),
    commands: commands.map((below) => ({ name: below.name(), description: below.description() })),
  };
  const below = command.commands.flatMap((one) => commandsOf(one, [...path, one.name()]));
  return [completed, ...below];
}

/** Returns the words of a command as scripts collect them, each after a space, in quotation marks. */
export const patternOf = ({ path }: Completed) => `'${path.map((word) => ` ${word}`).join("")}'`;

function completionOf(name: string, words?: readonly string[]): Value {
  return words ?? (FILES.has(name) ? "file" : "nothing");
}
