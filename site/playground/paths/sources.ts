/** Reads paths from what people have: a list, a sitemap, a folder, or a filter. */
import type { FileWithPath } from "file-selector";
import { SaxesParser } from "saxes";

/** What was dropped: paths, or a filter. */
export type Source =
  | { readonly name: string; readonly paths: readonly string[] }
  | { readonly name: string; readonly filter: Uint8Array };

/** Returns the lines of a list that are not empty. */
export function pathsOfList(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line !== "");
}

/** Reads files that were dropped or chosen together. */
export async function sourceOf(files: readonly FileWithPath[], isFolder: boolean): Promise<Source> {
  const [file] = files;
  if (file === undefined) throw new RangeError("no files");
  if (isFolder || files.length > 1)
    return { name: `${files.length} files`, paths: files.flatMap(pathsOfFile) };
  const { name } = file;
  // Filters begin with a JSON object.
  const start = await file.slice(0, 1).text();
  if (start === "{") return { name, filter: new Uint8Array(await file.arrayBuffer()) };
  const text = await file.text();
  return {
    name,
    paths: start === "<" || start === "\ufeff" ? pathsOfSitemap(text) : pathsOfList(text),
  };
}

/** Returns the paths of a sitemap. */
function pathsOfSitemap(text: string): string[] {
  const paths: string[] = [];
  let content = "";
  const add = (part: string) => {
    content += part;
  };
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", () => {
    content = "";
  });
  parser.on("text", add);
  parser.on("cdata", add);
  parser.on("closetag", ({ name }) => {
    if (/^(.+:)?loc$/.test(name)) paths.push(new URL(content.trim()).pathname);
  });
  parser.write(text).close();
  return paths;
}

/** Returns the paths of a file in a folder: its own and, if it is an index, that of its directory. */
function pathsOfFile(file: FileWithPath): string[] {
  const path = `/${(file.relativePath ?? file.name).split("/").slice(2).join("/") || file.name}`;
  const directory = path.replace(/\/index\.html?$/, "") || "/";
  return directory === path ? [path] : [path, directory];
}
