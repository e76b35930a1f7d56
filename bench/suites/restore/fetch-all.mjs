// Fetches a file over several connections and discards it: `fetch-all.mjs URL BYTES CONNECTIONS`. All sockets are read
// into one buffer, so that receiving costs as little as possible. Prints the milliseconds from the first byte to the
// last as JSON.
import { connect } from "node:net";

const { hostname, port, pathname } = new URL(process.argv[2] ?? "");
const [bytes, connections] = process.argv.slice(3).map(Number);
const HEAD_END = "\r\n\r\n";

/** Shared by all connections. */
const buffer = Buffer.alloc(2 ** 18);
let begin = 0;

/**
 * Fetches a range over one connection. Returns the number of bytes before it ended.
 *
 * @param {number} start
 * @param {number} end
 */
function fetchOnce(start, end) {
  return new Promise((/** @type {(count: number) => void} */ resolve, reject) => {
    let head = "";
    let isBody = false;
    let count = 0;
    const receive = (/** @type {number} */ length) => {
      if (isBody) {
        count += length;
        return true;
      }
      const before = head.length;
      head += buffer.toString("latin1", 0, length);
      const headEnd = head.indexOf(HEAD_END);
      if (headEnd === -1) return true;
      if (!head.startsWith("HTTP/1.1 206")) reject(new Error(head.slice(0, headEnd)));
      isBody = true;
      count = before + length - headEnd - HEAD_END.length;
      begin ||= performance.now();
      return true;
    };
    const socket = connect({
      host: hostname,
      port: Number(port),
      onread: { buffer, callback: receive },
    });
    socket.on("close", () => resolve(count));
    // The rest of a cut response is requested again.
    socket.on("error", () => {});
    const range = `Range: bytes=${start}-${end - 1}`;
    const lines = [
      `GET ${pathname} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      range,
      "Connection: close",
    ];
    socket.write(`${lines.join("\r\n")}${HEAD_END}`);
  });
}

/** @param {number} first @param {number} end */
async function fetchAll(first, end) {
  let start = first;
  while (start < end) start += await fetchOnce(start, end);
}

const share = Math.ceil((bytes ?? 0) / (connections ?? 1));
const starts = Array.from({ length: connections ?? 1 }, (_, index) => index * share);
await Promise.all(starts.map((start) => fetchAll(start, Math.min(start + share, bytes ?? 0))));
console.log(JSON.stringify({ fetch: performance.now() - begin }));
