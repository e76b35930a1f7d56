import { Argument, type Command } from "commander";

import { print } from "../print.js";
import { bash } from "./bash.js";
import { fish } from "./fish.js";
import { commandsOf } from "./tree.js";
import { zsh } from "./zsh.js";

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
