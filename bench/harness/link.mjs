// A slow link to a server of this machine, in a process of its own: `link.mjs PORT MILLISECONDS
// BYTES_PER_SECOND`. Responses
// are delayed, and each connection has its own rate in both directions. Prints the port that it listens on. Ends when
// its input ends.
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** @import { Socket } from "node:net" */

/** Bytes that are on their way in one direction of a connection beyond which no more are read. */
const MAX_QUEUED = 2 ** 22;

const [port = 0, latency = 0, rate = 0] = process.argv.slice(2).map(Number);

/** Passes bytes on, later. @param {Socket} from @param {Socket} to @param {number} delay in milliseconds */
function pass(from, to, delay) {
  const queue = /** @type {{ due: number, chunk: Buffer | undefined }[]} */ ([]);
  let [free, queued] = [0, 0];
  const send = () => {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const wait = next.due - performance.now();
      if (wait > 0) return setTimeout(send, wait);
      queue.shift();
      if (next.chunk === undefined) return to.end();
      to.write(next.chunk);
      queued -= next.chunk.length;
      if (queued <= MAX_QUEUED) from.resume();
    }
  };
  const add = (/** @type {Buffer | undefined} */ chunk) => {
    const length = chunk?.length ?? 0;
    // The line is free when the bytes before have passed.
    free = Math.max(free, performance.now() + delay) + (length / rate) * 1000;
    queued += length;
    if (queued > MAX_QUEUED) from.pause();
    queue.push({ due: free, chunk });
    if (queue.length === 1) send();
  };
  from.on("data", add);
  from.on("end", () => add(undefined));
  for (const event of ["error", "close"]) from.on(event, () => from.errored && to.destroy());
}

const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
  const upstream = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
  pass(client, upstream, 0);
  pass(upstream, client, latency);
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
console.log(/** @type {import("node:net").AddressInfo} */ (server.address()).port);
process.stdin.resume().on("end", () => process.exit());
