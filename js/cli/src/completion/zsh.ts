import { type Completed, patternOf, type Value } from "./tree.js";

/** Returns the script for zsh: to be autoloaded, or evaluated after `compinit`. */
export function zsh(commands: readonly Completed[]): string {
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
${commands.map(caseOf).join("\n")}
  esac
}

if [[ "$funcstack[1]" == _hedgerow ]]; then
  _hedgerow "$@"
else
  compdef _hedgerow hedgerow
fi
`;
}

function caseOf(command: Completed): string {
  const { options, arguments: list, commands } = command;
  const specifications = [
    ...options.flatMap(({ flags, description, value, isRepeatable }) =>
      flags.map((flag) => {
        const others = isRepeatable ? "*" : `(${flags.join(" ")})`;
        const name = value === undefined ? flag : `${flag}${flag.startsWith("--") ? "=" : "+"}`;
        return `${others}${name}[${escaped(description)}]${value === undefined ? "" : `:value:${actionOf(value)}`}`;
      }),
    ),
    ...list.map(
      ({ name, value, isVariadic }) =>
        `${isVariadic ? "*" : ""}:${escaped(name)}:${actionOf(value)}`,
    ),
  ];
  const lines = specifications.map((text) => ` \\\n          ${quoted(text)}`).join("");
  if (commands.length === 0) {
    return `    (${patternOf(command)})
      _arguments -S${lines}
      ;;`;
  }
  const described = commands.map(({ name, description }) => quoted(`${name}:${description}`));
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

function actionOf(value: Value): string {
  if (value === "file") return "_files";
  return value === "nothing" ? " " : `(${value.join(" ")})`;
}

/** Escapes the special characters of `_arguments`. */
const escaped = (text: string) => text.replace(/[\\[\]:]/g, "\\$&");

/** Returns a text in single quotation marks. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
