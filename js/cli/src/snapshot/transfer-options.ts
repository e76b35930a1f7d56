import { validateHeaderName, validateHeaderValue } from "node:http";

import type { TransferOptions } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { CliError } from "../error.js";
import { parseSize, parseWhole } from "../options.js";

/** Flags for HTTP and S3. S3 credentials come from the environment. */
export interface TransferFlags {
  readonly connections?: number;
  readonly partSize?: number;
  readonly retries?: number;
  readonly header?: Headers;
  readonly endpoint?: string;
  readonly region?: string;
}

type Headers = Readonly<Record<string, string>>;

/** Adds the transfer options to a command, in a help section of their own. */
export function addTransferOptions(command: Command): Command {
  return addStoreTransferOptions(command).option(
    "--header <name: value>",
    "header to add to http: and https: requests; repeatable",
    parseHeader,
  );
}

/** Adds those of commands that open a store of disks, which is never read from an `http:` or `https:` URL. */
export function addStoreTransferOptions(command: Command): Command {
  return command
    .optionsGroup("Transfer options:")
    .option(
      "--connections <number>",
      "concurrent connections, 1 to 256 (default: adaptive for reading, 4 for writing)",
      parseWhole,
    )
    .option(
      "--part-size <size>",
      "approximate size of a range request or uploaded part, 64KiB to 1GiB (default: 8MiB)",
      parseSize,
    )
    .option(
      "--retries <number>",
      "consecutive failed attempts before giving up (default: 6)",
      parseWhole,
    )
    .option(
      "--endpoint <url>",
      "S3 endpoint, if not AWS; credentials come from the environment or the AWS configuration",
    )
    .option("--region <name>", "S3 region (default: from the AWS configuration)");
}

/** Converts the flags to transfer options. */
export function transferOf(flags: TransferFlags): TransferOptions {
  const { connections, partSize, retries, header, endpoint, region } = flags;
  return { connections, partSize, retries, headers: header, s3: { endpoint, region } };
}

/** Adds a header. Its value may be secret and is not repeated in errors. */
function parseHeader(text: string, others: Headers = {}): Headers {
  const [, name = "", value = ""] = /^([^:]*):(.*)$/s.exec(text) ?? [];
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value.trim());
  } catch {
    throw new CliError("ERR_USAGE", "--header: expected a name and a value, such as 'name: value'");
  }
  return { ...others, [name.toLowerCase()]: value.trim() };
}
