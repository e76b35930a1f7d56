import { InvalidArgumentError, Option } from "commander";

import { type OutputFlags, parseWhole } from "../options.js";

/** What commands that read a snapshot can be told. */
export interface ReadFlags extends OutputFlags {
  readonly digest?: string;
}

/** What commands that work for long can be told. */
export interface WorkFlags {
  readonly workers?: number;
}

/** What commands that write something can be told. */
export interface WriteFlags {
  readonly overwrite: boolean;
}

export const digestOption = () =>
  new Option("--digest <hex>", "refuse the snapshot unless this is its digest");

export const workersOption = () =>
  new Option("--workers <number>", "how many threads work (default: the cores)").argParser(
    parseWhole,
  );

export const overwriteOption = () =>
  new Option("--no-overwrite", "refuse to take the place of what is there");

/** What a place of a snapshot may be. */
export const PLACE = "a file, or a URL: https://…, http://… or s3://bucket/key";

/** A file or a URL: there is no snapshot of what has no end and no size. */
export function parsePlace(text: string): string {
  if (text !== "-") return text;
  throw new InvalidArgumentError("expected a file or a URL, not standard input or output");
}
