/** The command `hedgerow completion`, and the scripts that it prints for shells. */
import { Argument, type Command } from "commander";

import { print } from "../print.js";
import { type Completed, commandsOf, patternOf, type Value } from "./tree.js";

const SHELLS = { bash, zsh, fish };

const HELP = `
Where shells look for the script:
  bash  ~/.local/share/bash-completion/completions/hedgerow, with the package bash-completion; or
        eval "$(hedgerow completion bash)" in ~/.bashrc
  zsh   _hedgerow, in a directory of $fpath; or eval "$(hedgerow completion zsh)" in ~/.zshrc, after
        compinit
  fish  ~/.config/fish/completions/hedgerow.fish`;

/** Adds `hedgerow completion`. */
export function addCompletionCommand(hedgerow: Command): void {
  hedgerow
    .command("completion")
    .description("print a script that completes commands, options and values in a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SHELLS)))
    .addHelpText("after", HELP)
    .action((shell: keyof typeof SHELLS) => print(SHELLS[shell](commandsOf(hedgerow))));
}

/** Returns the script for bash 3.2 and newer. Where it completes nothing, readline completes names of files. */
function bash(commands: readonly Completed[]): string {
  const names = commands.filter(({ path }) => path.length > 0).map(patternOf);
  return `# Completions of hedgerow for bash.

_hedgerow() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]}
  local command='' word words='' options=yes prefix=''
  COMPREPLY=()
  # The target of a redirection is a file.
  if [[ $before == *[\\<\\>]* ]]; then return; fi
  # Some versions divide --name=value into three words.
  if [[ $current == --*=* ]]; then
    before=\${current%%=*}
    current=\${current#*=}
    # Readline replaces the text after the equals sign, or the whole word.
    [[ $COMP_WORDBREAKS == *=* ]] || prefix=$before=
  elif [[ $current == = ]]; then
    current=''
  elif [[ $before == = ]]; then
    before=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$command $word" in
      *' --') options='' ;;
      ${names.join(" | ")}) command+=" $word" ;;
    esac
  done
  case "$command $before" in
${commands.flatMap(valueCases).join("\n")}
    *)
      case "$command" in
${commands.map(wordCase).join("\n")}
      esac
      ;;
  esac
  # shellcheck disable=SC2207 # No word has spaces.
  COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "$current"))
}

# Completes no names of files where none is expected.
_hedgerow_no_files() {
  compopt +o default 2>/dev/null
}

complete -o default -F _hedgerow hedgerow
`;
}

/** Returns the cases of the values of options. */
function valueCases(command: Completed): string[] {
  return command.options.flatMap(({ flags, value }) => {
    if (value === undefined) return [];
    const patterns = flags.map((flag) => `${patternOf(command).slice(0, -1)} ${flag}'`);
    return [`    ${patterns.join(" | ")}) ${wordsOf([value])} ;;`];
  });
}

/** Returns the case of the words that may follow a command: options after a hyphen, or else commands and arguments. */
function wordCase(command: Completed): string {
  const flags = command.options.flatMap((option) => option.flags).join(" ");
  const names = command.commands.map(({ name }) => name);
  const values = command.arguments.map(({ value }) => value);
  return `        ${patternOf(command)})
          if [[ $options && $current == -* ]]; then
            words='${flags}'
          else
            ${wordsOf(names.length > 0 ? [names] : values)}
          fi
          ;;`;
}

function wordsOf(values: readonly Value[]): string {
  const words = values.filter((value) => typeof value !== "string").flat();
  const files = values.includes("file") ? "" : "_hedgerow_no_files";
  const offered = words.length > 0 ? `words='${words.join(" ")}'` : "";
  return [files, offered].filter((part) => part !== "").join("; ") || ":";
}

/** Returns the script for zsh: to be autoloaded, or evaluated after `compinit`. */
function zsh(commands: readonly Completed[]): string {
  const names = commands.filter(({ path }) => path.length > 0).map(patternOf);
  return `#compdef hedgerow

# Completions of hedgerow for zsh.
_hedgerow() {
  local command=''
  local -i at=1 position
  local -a subcommands
  for ((position = 2; position < CURRENT; position += 1)); do
    case "$command $words[position]" in
      (${names.join("|")}) command="$command $words[position]"; at=position ;;
    esac
  done
  # The arguments of the command follow it.
  words=("\${(@)words[at,-1]}")
  ((CURRENT -= at - 1))
  case "$command" in
${commands.map(zshCase).join("\n")}
  esac
}

if [[ "$funcstack[1]" == _hedgerow ]]; then
  _hedgerow "$@"
else
  compdef _hedgerow hedgerow
fi
`;
}

function zshCase(command: Completed): string {
  const { options, arguments: list, commands } = command;
  const specifications = [
    ...options.flatMap(({ flags, description, value, isRepeatable }) =>
      flags.map((flag) => {
        const others = isRepeatable ? "*" : `(${flags.join(" ")})`;
        const name = value === undefined ? flag : `${flag}${flag.startsWith("--") ? "=" : "+"}`;
        return `${others}${name}[${escapedForZsh(description)}]${value === undefined ? "" : `:value:${zshAction(value)}`}`;
      }),
    ),
    ...list.map(
      ({ name, value, isVariadic }) =>
        `${isVariadic ? "*" : ""}:${escapedForZsh(name)}:${zshAction(value)}`,
    ),
  ];
  const lines = specifications.map((text) => ` \\\n          ${quotedForZsh(text)}`).join("");
  if (commands.length === 0) {
    return `    (${patternOf(command)})
      _arguments -S${lines}
      ;;`;
  }
  const described = commands.map(({ name, description }) => quotedForZsh(`${name}:${description}`));
  return `    (${patternOf(command)})
      if [[ $PREFIX == -* ]]; then
        _arguments -S${lines}
      else
        subcommands=(${described.map((one) => `\n          ${one}`).join("")}
        )
        _describe -t commands command subcommands
      fi
      ;;`;
}

function zshAction(value: Value): string {
  if (value === "file") return "_files";
  return value === "nothing" ? " " : `(${value.join(" ")})`;
}

/** Escapes the special characters of `_arguments`. */
const escapedForZsh = (text: string) => text.replace(/[\\[\]:]/g, "\\$&");

/** Returns a text in single quotation marks. */
const quotedForZsh = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Returns the script for fish 3.4 and newer. */
function fish(commands: readonly Completed[]): string {
  const names = commands.map(({ path }) => quotedForFish(path.join(" "))).slice(1);
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
${commands.flatMap(fishLines).join("\n")}
`;
}

function fishLines({ path, options, arguments: list, commands }: Completed): string[] {
  const line = `complete -c hedgerow -n ${quotedForFish(`__hedgerow_is ${path.join(" ")}`.trimEnd())}`;
  const values = list.map(({ value }) => value);
  return [
    ...commands.map(
      ({ name, description }) =>
        `${line} -a ${quotedForFish(name)} -d ${quotedForFish(description)}`,
    ),
    ...(values.includes("file") ? [`${line} -F`] : []),
    ...values
      .filter((value) => typeof value !== "string")
      .map((words) => `${line} -a ${quotedForFish(words.join(" "))}`),
    ...options.map(({ flags, description, value }) => {
      const names = flags.map((flag) => flag.replace(/^--/, "-l ").replace(/^-(?=.$)/, "-s "));
      return `${line} ${names.join(" ")}${fishFlags(value)} -d ${quotedForFish(description)}`;
    }),
  ];
}

function fishFlags(value: Value | undefined): string {
  if (value === undefined) return "";
  if (value === "file") return " -r -F";
  return value === "nothing" ? " -x" : ` -x -a ${quotedForFish(value.join(" "))}`;
}

/** Returns a text in single quotation marks. */
const quotedForFish = (text: string) => `'${text.replace(/[\\']/g, "\\$&")}'`;
