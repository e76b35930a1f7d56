import type { Completed, Value } from "./tree.js";

/** Returns the script for fish 3.4 and newer. */
export function fish(commands: readonly Completed[]): string {
  const names = commands.map(({ path }) => quoted(path.join(" "))).slice(1);
  return `# Completions of hedgerow for fish.

function __hedgerow_command -d 'Print the words of the command line that name a command'
    set -l command
    for word in (commandline -opc)[2..]
        if contains -- "$(string join ' ' -- $command $word)" ${names.join(" ")}
            set -a command $word
        end
    end
    string join ' ' -- $command
end

function __hedgerow_is
    test "$(__hedgerow_command)" = "$argv"
end

complete -c hedgerow -f
${commands.flatMap(linesOf).join("\n")}
`;
}

function linesOf({ path, options, arguments: list, commands }: Completed): string[] {
  const line = `complete -c hedgerow -n ${quoted(`__hedgerow_is ${path.join(" ")}`.trimEnd())}`;
  const values = list.map(({ value }) => value);
  return [
    ...commands.map(
      ({ name, description }) => `${line} -a ${quoted(name)} -d ${quoted(description)}`,
    ),
    ...(values.includes("file") ? [`${line} -F`] : []),
    ...values
      .filter((value) => typeof value !== "string")
      .map((words) => `${line} -a ${quoted(words.join(" "))}`),
    ...options.map(({ flags, description, value }) => {
      const names = flags.map((flag) => flag.replace(/^--/, "-l ").replace(/^-(?=.$)/, "-s "));
      return `${line} ${names.join(" ")}${flagsOf(value)} -d ${quoted(description)}`;
    }),
  ];
}

function flagsOf(value: Value | undefined): string {
  if (value === undefined) return "";
  if (value === "file") return " -r -F";
  return value === "nothing" ? " -x" : ` -x -a ${quoted(value.join(" "))}`;
}

/** Returns a text in single quotation marks. */
const quoted = (text: string) => `'${text.replace(/[\\']/g, "\\$&")}'`;
