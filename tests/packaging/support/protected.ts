/** Checks the behaviour of every project: it strips `x-internal-*` both ways, and has no path but `/known`. */
import { expect } from "vitest";

/** The body of `/known`: the headers that it received. */
interface Echo {
  readonly headers: Readonly<Record<string, string>>;
}

/** The response to a request for `/known`. */
export interface KnownResponse {
  readonly status: number;
  readonly body: Echo;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
}

const internal = (headers: object) =>
  Object.keys(headers).filter((name) => name.toLowerCase().startsWith("x-internal-"));

/** Asserts that `/known` received no forged field, and that its response has no internal one. */
export function expectStripped({ status, body, headers, cookies }: KnownResponse): void {
  expect(status).toBe(200);
  expect(body.headers).toMatchObject({ "x-kept": "kept" });
  expect(internal(body.headers)).toEqual([]);
  expect(internal(headers)).toEqual([]);
  expect(cookies).toEqual(["a=1", "b=2"]);
}

/** Asserts that a server strips headers and guards paths. */
export async function expectProtected(url: URL): Promise<void> {
  const headers = { "X-Internal-User": "forged", "x-internal-trace": "1", "x-kept": "kept" };
  const response = await fetch(new URL("/known", url), { headers });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.stringContaining("headers")]);
  expectStripped({
    status: response.status,
    body: JSON.parse(text) as Echo,
    headers: Object.fromEntries(response.headers),
    cookies: response.headers.getSetCookie(),
  });
  const unknown = await fetch(new URL("/unknown", url));
  await unknown.arrayBuffer();
  expect(unknown.status).toBe(404);
}
