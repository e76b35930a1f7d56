import type { Command } from "commander";

import { addPlaceCommand } from "./place.js";
import { addStatusCommand } from "./status.js";

/** Adds `hedgerow fleet …`. */
export function addFleetCommands(hedgerow: Command): void {
  const fleet = hedgerow
    .command("fleet")
    .description("Fleets of hosts: decide where sandboxes start, and see which host has what");
  addPlaceCommand(fleet);
  addStatusCommand(fleet);
}
