import { validateHeaderName, validateHeaderValue } from "node:http";

import type { TransferOptions } from "@hedgerow/snapshot";
import type { Command } from "commander";

import { CliError } from "../error.js";
import { parseSize, parseWhole } from "../options.js";

/** What all commands can be told of servers. Who one is, to S3, is for the environment to say. */
export interface TransferFlags {
  readonly connections?: number;
  readonly partSize?: number;
  readonly retries?: number;
  readonly header?: Headers;
  readonly endpoint?: string;
  readonly region?: string;
  readonly pathStyle?: boolean;
}

type Headers = Readonly<Record<string, string>>;

/** Adds the options of servers to a command, below its others. */
export function addTransferOptions(command: Command): Command {
  return command
    .optionsGroup("Options of servers:")
    .option(
      "--connections <number>",
      "how many there are at a time, 1 to 256 (default: to read, as many as pay; to write, 4)",
      parseWhole,
    )
    .option(
      "--part-size <size>",
      "about how much is asked for or sent at a time, 64KiB to 1GiB (default: 8MiB)",
      parseSize,
    )
    .option(
      "--retries <number>",
      "how often in a row something is tried again that brings nothing (default: 6)",
      parseWhole,
    )
    .option(
      "--header <name: value>",
      "what requests to http: and https: carry besides; may be given again",
      parseHeader,
    )
    .option(
      "--endpoint <url>",
      "where s3: leads to, if not to AWS; credentials are those of the environment, or of the AWS configuration",
    )
    .option("--region <name>", "the region of s3: (default: that of the AWS configuration)")
    .option(
      "--path-style",
      "the bucket of s3: is in the path, and not in the host (default where there is an endpoint)",
    );
}

/** What the flags of servers mean. */
export function transferOf(flags: TransferFlags): TransferOptions {
  const { connections, partSize, retries, header, endpoint, region, pathStyle } = flags;
  const s3 = { endpoint, region, forcePathStyle: pathStyle };
  return { connections, partSize, retries, headers: header, s3 };
}

/** Takes one more header. What is wrong with it is told without it: it may be secret. */
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
