/** Reads paths from what people have: a list, a sitemap, a folder, or a filter. */
import type { FileWithPath } from "file-selector";
import { SaxesParser } from "saxes";

/** The content of the text field, or of files that were dropped: paths, or a filter. */
export type Source =
  | { readonly name: string; readonly paths: readonly string[] }
  | { readonly name: string; readonly filter: Uint8Array };

/** The scheme and host of a URL. */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;

/** Returns the lines of a list that are not empty, without the hosts of URLs. */
export function pathsOfList(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.replace(ORIGIN, ""));
  return lines.filter((line) => line !== "");
}

/** Reads files that were dropped or chosen together: a folder, or one file. */
export async function sourceOf(files: readonly FileWithPath[]): Promise<Source> {
  const [file, ...others] = files;
  if (file === undefined) throw new RangeError("no files");
  if (segmentsOf(file).length > 1) {
    return { name: `${files.length} files`, paths: files.flatMap(pathsOfFile) };
  }
  if (others.length > 0)
    throw new RangeError(`expected one file or a folder, found ${files.length} files`);
  const { name } = file;
  // Filters begin with a JSON object; nothing else does.
  if ((await file.slice(0, 1).text()) === "{") {
    return { name, filter: new Uint8Array(await file.arrayBuffer()) };
  }
  const text = (await file.text()).trimStart();
  return { name, paths: text.startsWith("<") ? pathsOfSitemap(text) : pathsOfList(text) };
}

/** Returns the paths of a sitemap. @throws if it is another kind of XML, or none */
function pathsOfSitemap(text: string): string[] {
  const paths: string[] = [];
  const open: string[] = [];
  let content = "";
  const add = (part: string) => {
    content += part;
  };
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name }) => {
    if (open.length === 0 && !/^(.+:)?urlset$/.test(name)) {
      throw new SyntaxError(`expected a sitemap with a urlset, found <${name}>`);
    }
    open.push(name);
    content = "";
  });
  parser.on("text", add);
  parser.on("cdata", add);
  parser.on("closetag", () => {
    // A `loc` elsewhere may be that of an image.
    const [, url = "", location = "", ...deeper] = open;
    const isLocation = /^(.+:)?url$/.test(url) && location === url.replace(/url$/, "loc");
    if (isLocation && deeper.length === 0) paths.push(new URL(content.trim()).pathname);
    open.pop();
  });
  parser.write(text).close();
  return paths;
}

/** Folders of version control, which no site has on purpose. */
const VERSION_CONTROL = new Set([".git", ".hg", ".svn"]);

/** Returns the names of the folders of a file, from the one that was dropped, and its own. */
function segmentsOf({ relativePath, name }: FileWithPath): string[] {
  const segments = (relativePath ?? name).split("/");
  return segments.filter((segment) => segment !== "" && segment !== ".");
}

/** Returns the paths of a file in a folder: its own and, if it is an index, that of its directory. */
function pathsOfFile(file: FileWithPath): string[] {
  const segments = segmentsOf(file).slice(1);
  if (segments.some((segment) => VERSION_CONTROL.has(segment))) return [];
  // Percent-encodes characters that are special in paths and keys, as the CLI does.
  const path = `/${segments.map((segment) => segment.replace(/[%?#*]/g, encode)).join("/")}`;
  const directory = path.replace(/\/index\.html?$/, "") || "/";
  return directory === path ? [path] : [path, directory];
}

const encode = (character: string) =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
