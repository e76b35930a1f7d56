import { InvalidArgumentError, Option } from "commander";

import { type OutputFlags, parseWhole } from "../options.js";

/** Flags of commands that read a snapshot. */
export interface ReadFlags extends OutputFlags {
  readonly digest?: string;
}

/** Flags of commands that use worker threads. */
export interface WorkFlags {
  readonly workers?: number;
}

/** Flags of commands that write a file or object. */
export interface WriteFlags {
  readonly overwrite: boolean;
}

export const digestOption = () =>
  new Option("--digest <hex>", "fail unless the snapshot has this digest");

export const workersOption = () =>
  new Option("--workers <number>", "number of threads (default: number of cores)").argParser(
    parseWhole,
  );

export const formatOption = () =>
  new Option(
    "--format <format>",
    "raw: store the image as it is, even if it looks like another kind of file",
  ).choices(["raw"]);

export const overwriteOption = () => new Option("--no-overwrite", "fail if the destination exists");

/** Forms of a source or destination. */
export const PLACE = "a file, or a URL: https://…, http://… or s3://bucket/key";

/** Parses a file or a URL. Rejects `-`: snapshots need random access. */
export function parsePlace(text: string): string {
  if (text !== "-") return text;
  throw new InvalidArgumentError("expected a file or a URL, not standard input or output");
}
