import { normalizePath } from "hedgerow";
import { expect } from "vitest";

import { CliError } from "../../src/error.js";
import type { SourceOptions } from "../../src/paths/sources/index.js";

/** Options of sources, and the warnings collected. */
export function options(own: Partial<SourceOptions> = {}) {
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  return { cleanUrls: false, ignoreHosts: false, ignoreMiddleware: false, warn, ...own, warnings };
}

/** Returns the distinct normalised keys of a source, in order. */
export async function keysIn(source: AsyncIterable<string>): Promise<string[]> {
  const keys = new Set<string>();
  for await (const key of source) keys.add(normalizePath(key));
  return [...keys].sort();
}

/** Asserts that a source fails with an expected error. */
export async function expectError(source: AsyncIterable<string>, message: string): Promise<void> {
  const error = await keysIn(source).then(
    (keys) => expect.fail(`expected an error, found ${keys.length} keys`),
    (error: unknown) => error,
  );
  if (!(error instanceof CliError)) throw error;
  expect(error.message).toContain(message);
  expect(error).toMatchObject({ code: "ERR_SOURCE", exitCode: 3 });
}
