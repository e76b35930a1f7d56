import { type Completed, patternOf, type Value } from "./tree.js";

/** Returns the script for bash 3.2 and newer. Where it completes nothing, readline completes names of files. */
export function bash(commands: readonly Completed[]): string {
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
    return [`    ${patterns.join(" | ")}) ${completionOf([value])} ;;`];
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
            ${completionOf(names.length > 0 ? [names] : values)}
          fi
          ;;`;
}

function completionOf(values: readonly Value[]): string {
  const words = values.filter((value) => typeof value !== "string").flat();
  const files = values.includes("file") ? "" : "_hedgerow_no_files";
  const offered = words.length > 0 ? `words='${words.join(" ")}'` : "";
  return [files, offered].filter((part) => part !== "").join("; ") || ":";
}
