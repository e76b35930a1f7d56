import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Linux gives clients, and servers that ask for any port, one above these: nobody takes one of these by chance. */
const [FIRST, END] = [20_000, 32_768];

/** Returns a port that nothing listens on, for programs that cannot choose one. @returns {Promise<number>} */
export async function freePort() {
  for (;;) {
    const port = randomInt(FIRST, END);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === "EADDRINUSE") continue;
      throw error;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
