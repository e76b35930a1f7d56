/** Returns the location of a base object, relative to that of its delta. @param reference a valid one, as a manifest has */
export function referencedUrl(delta: URL, reference: string): URL {
  const url = new URL(delta);
  const path = reference.split("/").map(encodeURIComponent).join("/");
  [url.pathname, url.search, url.hash] = [folderOf(url.pathname) + path, "", ""];
  return url;
}

/** Returns a path up to its last slash. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}
