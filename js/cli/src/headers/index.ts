import type { Command } from "commander";

import { addCheckCommand } from "./check.js";

/** Adds `hedgerow headers …`. */
export function addHeadersCommands(hedgerow: Command): void {
  const headers = hedgerow
    .command("headers")
    .description("Header rules: which fields are stripped from messages");
  addCheckCommand(headers);
}
