/** What errors of the engine show of the messages of clients, which may name its URL. */
import { fillLease } from "@hedgerow/fleet";
import { expect, test } from "vitest";

const REFUSED = "connect ECONNREFUSED ";

/** Returns the message of the error for one that a client rejects with. */
async function shown(message: string): Promise<string> {
  const messages: string[] = [];
  const client = { sendCommand: () => Promise.reject(new Error(message)), duplicate: () => client };
  const onError = (error: Error) => messages.push(error.message);
  await fillLease("sha256:image", { client: client as never, onError });
  return messages[0]!;
}

test.each([
  ["a short one", "secret"],
  ["a token of 2,000 characters", "secret".repeat(333)],
  ["one with slashes", "se/cret//secret"],
  ["one with @ and colons", "se@cret:6379@secret"],
])("an error shows the host of a URL, and not its password: %s", async (_, password) => {
  expect(await shown(`${REFUSED}rediss://fleet:${password}@cache.example:6379 (1)`)).toBe(
    `Redis: ${REFUSED}rediss://cache.example:6379 (1)`,
  );
});

test.each([
  "rediss://fleet:secret",
  "redis://:secret-6379/",
  "redis://a.example:1,redis://b:secret",
])("an error shows no password of a URL that was cut before its host: %s", async (url) => {
  expect(await shown(REFUSED + url)).not.toContain("secret");
});

test.each(["redis://cache.example:6379", "redis://[::1]:6379/0", "redis://cache.example/0, and"])(
  "an error shows a URL without a user as it is: %s",
  async (url) => {
    expect(await shown(REFUSED + url)).toBe(`Redis: ${REFUSED}${url}`);
  },
);

test("a message of any length is shown in part", async () => {
  expect(await shown("//".repeat(1_000_000))).toHaveLength("Redis: ".length + 200);
});
