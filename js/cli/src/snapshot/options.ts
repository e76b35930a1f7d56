/** Options that commands with snapshots and disks share: locations, caches, servers. */
import { validateHeaderName, validateHeaderValue } from "node:http";

import { ImageCache, type TransferOptions } from "@hedgerow/snapshot";
import { type Command, InvalidArgumentError, Option } from "commander";

import { CliError } from "../error.js";
import { type OutputFlags, parseSize, parseWhole } from "../options.js";

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
  new Option("--digest <identity>", "fail unless the snapshot has this identity");

export const workersOption = () =>
  new Option(
    "--workers <number>",
    "number of threads (default: number of cores, fewer for small images)",
  ).argParser(parseWhole);

export const formatOption = () =>
  new Option(
    "--format <format>",
    "raw: store the image as it is, even if it looks like another kind of file",
  ).choices(["raw"]);

export const overwriteOption = () => new Option("--no-overwrite", "fail if the destination exists");

/** Forms of a source or destination. */
export const PLACE =
  "a file, or a URL: https://…, http://…, s3://bucket/key, gs://bucket/key or az://account/container/key";

/** Forms of a store. */
export const STORE_PLACE =
  "a folder, or a URL: s3://bucket/key, gs://bucket/key or az://account/container/key";

/** Parses a file or a URL. Rejects `-`: snapshots need random access. */
export function parsePlace(text: string): string {
  if (text !== "-") return text;
  throw new InvalidArgumentError("expected a file or a URL, not standard input or output");
}

/** Flags that name an image cache. */
export interface CacheFlags {
  readonly cache?: string;
  readonly cacheMaxBytes?: number;
}

/** Adds the cache options to a command, in a separate help section. @param use the description of `--cache` */
export function addCacheOptions(command: Command, use: string): void {
  command
    .optionsGroup("Cache options:")
    .option("--cache <directory>", use)
    .option(
      "--cache-max-bytes <size>",
      "size limit of the cache on disk, at least 1MiB, such as 10GiB",
      parseSize,
    );
}

/** Opens the cache that the flags name, if any. */
export async function openCache({
  cache: directory,
  cacheMaxBytes: maxBytes,
}: CacheFlags): Promise<ImageCache | undefined> {
  if (directory === undefined && maxBytes === undefined) return undefined;
  if (directory === undefined || maxBytes === undefined) {
    const message = "--cache and --cache-max-bytes: expected both or neither, found one";
    throw new CliError("ERR_USAGE", message);
  }
  return ImageCache.open(directory, { maxBytes });
}

/** Flags for HTTP and object services, whose credentials come from the environment. */
export interface TransferFlags {
  readonly connections?: number;
  readonly partSize?: number;
  readonly retries?: number;
  readonly header?: Headers;
  readonly endpoint?: string;
  readonly region?: string;
}

type Headers = Readonly<Record<string, string>>;

/** Adds the transfer options to a command, in a separate help section. */
export function addTransferOptions(command: Command): Command {
  return addStoreTransferOptions(command).option(
    "--header <name: value>",
    "header to add to http: and https: requests; repeatable",
    parseHeader,
  );
}

/** Adds the transfer options of commands that open a store of disks, which never has an `http:` or `https:` URL. */
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
      "URL of the object service, if not that of the cloud; credentials come from the environment",
    )
    .option("--region <name>", "S3 region (default: from the AWS configuration)");
}

/** Converts the flags to transfer options. */
export function transferOf(flags: TransferFlags): TransferOptions {
  const { connections, partSize, retries, header, endpoint, region } = flags;
  const services = { s3: { endpoint, region }, gcs: { endpoint }, azure: { endpoint } };
  return { connections, partSize, retries, headers: header, ...services };
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
