/** Finds out what a source is, and opens its layers. Other programs fetch images and read folders. */
import { realpath, stat, symlink } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

import { engineOutput, runEngine } from "../engine.js";
import { CliError } from "../error.js";
import { expecting } from "../files/input.js";
import { Json } from "../files/json.js";
import {
  fileChunks,
  kindOf,
  Layer,
  openLayout,
  type Platform,
  readBounded,
  type Source,
} from "./layout.js";
import { readTar, type TarEntry } from "./tar.js";

/** Prefixes of what skopeo fetches and converts to a layout. */
const FETCHED = ["docker://", "docker-daemon:", "containers-storage:"];

/** Matches `FORMAT:FILE` and `FORMAT:FILE:REFERENCE`, which skopeo fetches, too. */
const ARCHIVE = /^(docker-archive|oci-archive):([^:]*)(.*)$/s;

/** Where skopeo finds which signatures are needed. Without either it fails. */
const POLICIES = [
  "/etc/containers/policy.json",
  join(process.env.HOME ?? "/", ".config/containers/policy.json"),
];

/** The tag of an image in a layout of our own. */
const TAG = "image";

export interface SourceOptions {
  /** A private folder. */
  readonly folder: string;
  readonly platform: Platform;
  readonly signal: AbortSignal;
}

/** Opens a source: an image, an archive, or a folder. @throws {CliError} `ERR_SOURCE` */
export async function openSource(source: string, options: SourceOptions): Promise<Source> {
  if (source.startsWith("oci:")) return openOci(source.slice("oci:".length), options.platform);
  const [, archive, file = "", reference = ""] = ARCHIVE.exec(source) ?? [];
  if (archive !== undefined) return fetchArchive(archive, file, reference, options);
  if (FETCHED.some((prefix) => source.startsWith(prefix))) return fetchImage(source, options);
  const found = await expecting(source, "a folder, a tar archive or an image", () => stat(source));
  if (found.isDirectory()) {
    await checkOutside(source, options.folder);
    return { layers: [folderLayer(source)], config: undefined };
  }
  // An archive is read twice, which a pipe does not allow.
  const kind = found.isFile() ? await kindOf(source) : "other";
  if (kind === "other") {
    const message = `${source}: expected a folder, a tar archive or an image such as oci:DIRECTORY, found another file; hedgerow snapshot create stores disk images`;
    throw new CliError("ERR_SOURCE", message);
  }
  const compression = kind === "tar" ? "none" : kind;
  const layer = new Layer({ name: source, open: () => fileChunks(source), compression });
  const format = await formatOf(layer, options.signal);
  if (format !== undefined) return fetchArchive(format, source, "", options);
  return { layers: [layer], config: undefined };
}

/** Returns the format of an image in a tar archive, or undefined for the files of a system. */
async function formatOf(archive: Layer, signal: AbortSignal): Promise<string | undefined> {
  let format: string | undefined;
  for await (const entry of readTar(archive.read(signal), archive.name)) {
    const path = entry.path.replace(/^(\.?\/)+/, "");
    const [name = ""] = path.split("/", 1);
    if (["bin", "etc", "usr"].includes(name)) return undefined;
    if (path === "oci-layout") format ??= "oci-archive";
    if (path === "manifest.json" && (await listsImages(entry))) format = "docker-archive";
  }
  return format;
}

/** Whether a file is the list of images in an archive of Docker. A web app may have a `manifest.json`, too. */
async function listsImages({ path, data }: TarEntry): Promise<boolean> {
  try {
    const images = Json.parse((await readBounded(data, path)).toString(), path).items();
    return images.some((image) => image.get("Config").isString && image.get("Layers").isList);
  } catch (error) {
    if (error instanceof CliError) return false;
    throw error;
  }
}

/** Opens `DIRECTORY` or `DIRECTORY:TAG`. */
async function openOci(place: string, platform: Platform): Promise<Source> {
  const found = await stat(place).catch(() => undefined);
  const colon = place.lastIndexOf(":");
  if (found !== undefined || colon < 0) return openLayout(place, undefined, platform);
  return openLayout(place.slice(0, colon), place.slice(colon + 1), platform);
}

/** Fetches an image in an archive, under a name without colons: to skopeo, a reference follows a colon. */
async function fetchArchive(
  format: string,
  file: string,
  reference: string,
  options: SourceOptions,
): Promise<Source> {
  await symlink(resolve(file), join(options.folder, "archive"));
  return fetchImage(`${format}:archive${reference}`, options, file);
}

/** Has skopeo convert an image to a layout. It runs in the private folder, whose path may have colons, too. */
async function fetchImage(
  source: string,
  { folder, platform, signal }: SourceOptions,
  name = source,
): Promise<Source> {
  const { os, architecture, variant } = platform;
  const policies = await Promise.all(POLICIES.map((path) => stat(path).catch(() => undefined)));
  const args = [
    ...(policies.every((found) => found === undefined) ? ["--insecure-policy"] : []),
    ...["--override-os", os, "--override-arch", architecture],
    ...(variant === undefined ? [] : ["--override-variant", variant]),
    ...["--tmpdir", "."],
    ...["copy", "--quiet", "--dest-oci-accept-uncompressed-layers", source, `oci:layout:${TAG}`],
  ];
  const what = `fetch ${name}`;
  await runEngine("skopeo", args, { what, code: "ERR_SOURCE", signal, cwd: folder });
  return openLayout(join(folder, "layout"), TAG, platform);
}

/** Throws if a source holds the folder in which the image is made, and would become a part of itself. */
async function checkOutside(source: string, folder: string): Promise<void> {
  const path = relative(await realpath(source), await realpath(folder));
  if (/^\.\.(\/|$)/.test(path)) return;
  const message = `${source}: expected a folder without the image, which is made in ${dirname(folder)}`;
  throw new CliError("ERR_SOURCE", message);
}

/** Has GNU tar read a folder. It leaves out sockets, which no archive can hold. */
function folderLayer(folder: string): Layer {
  const args = [
    ...["--create", "--file=-", "--sort=name", "--sparse", "--numeric-owner"],
    ...["--xattrs", "--xattrs-include=*", "--format=posix"],
    "--pax-option=delete=atime,delete=ctime",
    ...[`--directory=${folder}`, "."],
  ];
  const open = () => engineOutput("tar", args, `read ${folder}`);
  return new Layer({ name: folder, open, compression: "none" });
}
