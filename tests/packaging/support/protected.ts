/** What every project does: it strips `x-internal-*` both ways, and has no path but `/known`. */
import { expect } from "vitest";

/** What `/known` was asked for with, as it says itself. */
interface Echo {
  readonly headers: Readonly<Record<string, string>>;
}

/** What a project was asked, and what came of it. */
export interface Known {
  readonly status: number;
  readonly body: Echo;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
}

const internal = (headers: object) =>
  Object.keys(headers).filter((name) => name.toLowerCase().startsWith("x-internal-"));

/** Asserts that a request got through and its forged field did not, nor an internal one back. */
export function expectKept({ status, body, headers, cookies }: Known): void {
  expect(status).toBe(200);
  expect(body.headers).toMatchObject({ "x-kept": "kept" });
  expect(internal(body.headers)).toEqual([]);
  expect(internal(headers)).toEqual([]);
  expect(cookies).toEqual(["a=1", "b=2"]);
}

/** Asserts that a server does the job. */
export async function expectJob(url: URL): Promise<void> {
  const headers = { "X-Internal-User": "forged", "x-internal-trace": "1", "x-kept": "kept" };
  const response = await fetch(new URL("/known", url), { headers });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.stringContaining("headers")]);
  expectKept({
    status: response.status,
    body: JSON.parse(text) as Echo,
    headers: Object.fromEntries(response.headers),
    cookies: response.headers.getSetCookie(),
  });
  const unknown = await fetch(new URL("/unknown", url));
  await unknown.arrayBuffer();
  expect(unknown.status).toBe(404);
}
