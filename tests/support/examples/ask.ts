/** Assertions for examples. Each has a route `/headers`, which returns the received fields as JSON. */
import { expect } from "vitest";

/** Asserts that forged fields do not arrive, that others do, and that internal fields are not returned. */
export async function expectStripped(url: URL): Promise<void> {
  const response = await fetch(new URL("/headers", url), {
    headers: {
      "X-Internal-User": "admin",
      "x-middleware-subrequest": "src/middleware",
      "x-kept": "1",
    },
  });
  expect(response.status).toBe(200);
  const arrived = (await response.json()) as Record<string, string>;
  expect(arrived).toMatchObject({ "x-kept": "1" });
  const names = [...Object.keys(arrived), ...response.headers.keys()];
  expect(names.filter((name) => /^x-(internal|middleware)-/i.test(name))).toEqual([]);
}

/** Asserts that these paths are answered with 200. */
export async function expectFound(url: URL, paths: readonly string[]): Promise<void> {
  expect(await statuses(url, paths)).toEqual(paths.map((path) => [path, 200]));
}

/** Asserts that these paths are answered with 404, and with `text` if given. */
export async function expectRefused(
  url: URL,
  paths: readonly string[],
  text?: string,
): Promise<void> {
  expect(await statuses(url, paths)).toEqual(paths.map((path) => [path, 404]));
  if (text === undefined) return;
  for (const path of paths) expect(await (await fetch(new URL(path, url))).text()).toBe(text);
}

function statuses(url: URL, paths: readonly string[]): Promise<(readonly [string, number])[]> {
  const statusOf = async (path: string) => {
    const response = await fetch(new URL(path, url));
    await response.arrayBuffer();
    return [path, response.status] as const;
  };
  return Promise.all(paths.map(statusOf));
}
