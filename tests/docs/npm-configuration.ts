/** npm's configuration on this machine. */
import { capture } from "../../scripts/lib/run.mjs";

export interface NpmConfiguration {
  readonly registry: string;
  readonly cache: string;
  readonly userconfig: string;
}

let known: NpmConfiguration | undefined;

export function npmConfiguration(): NpmConfiguration {
  known ??= JSON.parse(capture("npm", ["config", "list", "--long", "--json"]) ?? "{}");
  if (!known?.registry) throw new Error("npm has no registry configured");
  return known;
}
