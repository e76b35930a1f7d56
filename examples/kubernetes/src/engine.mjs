// The connection to Redis or Valkey, which both programs can do without for a while.
import { createClient } from "@redis/client";

/** The delay before another attempt to connect, in milliseconds: the first one, and the maximum. */
const [FIRST_DELAY, MAX_DELAY] = [100, 2_000];

/** Returns a client that connects in the background, again and again. @param {string} url */
export function connectEngine(url) {
  const reconnectStrategy = (/** @type {number} */ attempt) =>
    Math.min(MAX_DELAY, FIRST_DELAY * 2 ** Math.min(attempt, 10));
  const client = createClient({ url, socket: { connectTimeout: 2_000, reconnectStrategy } });
  // The users of the client report their own errors.
  client.on("error", () => {});
  client.connect().catch(() => {});
  return client;
}
