/** Random clients of the NBD server: nothing that they send crashes it, stalls it, or makes it grow. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { Random } from "../../../edge/test/support/random.js";
import { NbdServer } from "../../dist/nbd/server.js";
import { listenOf } from "../../src/nbd/server.js";
import { MemoryExport } from "../support/memory-export.js";
import {
  checkReplies,
  flipped,
  NAME,
  randomScript,
  type Script,
  SIZE,
} from "../support/nbd-scripts.js";

/** How many clients there are at a time. */
const CLIENTS = 8;

/** The most requests of a client. */
const MOST = 150;

/** How long a connection may take, in milliseconds: it waits for nothing. */
const DEADLINE = 30_000;

/** By how much the memory of the process may grow, in bytes: clients are part of it. */
const MAX_GROWTH = 256 * 2 ** 20;

const path = temporaryFolder();
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A block device that makes some calls wait, and fails at random. */
class FlakyExport extends MemoryExport {
  readonly #random = new Random(1);

  override readNow(offset: number, target: Uint8Array): boolean {
    this.#next();
    return super.readNow(offset, target);
  }

  override async write(offset: number, bytes: Uint8Array): Promise<void> {
    this.#next();
    await super.write(offset, bytes);
  }

  #next(): void {
    this.calls.length = 0;
    this.pending = this.#random.below(4) === 0 ? turn() : undefined;
    this.error = this.#random.below(100) === 0 ? new Error("at random") : undefined;
  }
}

const exported = new FlakyExport(SIZE);
let server: NbdServer;

beforeAll(async () => {
  const listen = listenOf({ path: path("socket"), name: NAME });
  server = await NbdServer.listen(exported, listen);
});

afterAll(() => server.close());

/** How a client leaves. */
type Leaving = "waits" | "ends" | "vanishes";

/** Sends bytes in random parts, and returns what arrives until the connection is closed. */
async function converse(
  random: Random,
  bytes: Buffer,
  leaving: Leaving,
  socketPath = path("socket"),
): Promise<Buffer> {
  const received: Buffer[] = [];
  const socket = connect({ path: socketPath, allowHalfOpen: true });
  socket.on("data", (chunk: Buffer) => received.push(chunk));
  // The server disconnects those who break the rules.
  socket.on("error", () => {});
  socket.on("end", () => socket.destroy());
  const closed = once(socket, "close").catch(() => {});
  const end = leaving === "vanishes" ? random.below(bytes.length) : bytes.length;
  // Long scripts are not sent in tiny parts, which would take long.
  const wanted = [2 ** 20, 2 ** 20, 2 ** 16, 4096, 16][random.below(5)] as number;
  const longest = Math.max(wanted, Math.ceil(bytes.length / 300));
  const isSlow = random.below(4) === 0;
  for (let at = 0; at < end && !socket.destroyed; ) {
    const part = bytes.subarray(at, Math.min(at + 1 + random.below(longest), end));
    socket.write(part);
    at += part.length;
    if (isSlow) socket.pause();
    if (random.below(3) > 0) await turn();
    if (isSlow) socket.resume();
  }
  if (leaving === "ends") socket.end();
  if (leaving === "vanishes") socket.destroy();
  await closed;
  return Buffer.concat(received);
}

/** Runs an action, and throws an error with its seed if it fails or hangs. */
async function within<T>(seed: number, action: (random: Random) => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("hangs")), DEADLINE);
  });
  try {
    return await Promise.race([action(new Random(seed)), late]);
  } catch (cause) {
    throw new Error(`seed ${seed}: ${(cause as Error).message}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** Runs clients with seeds from `first` on, several at a time, until they have sent that many messages. */
async function fuzz(
  messages: number,
  first: number,
  client: (random: Random) => Promise<number>,
): Promise<void> {
  let [sent, seed, before] = [0, first, 0];
  const one = async () => {
    while (sent < messages) {
      seed += 1;
      sent += await within(seed, client);
      // The process keeps what it needs for the first ones.
      if (before === 0 && sent > messages / 10) before = process.memoryUsage().rss;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, one));
  expect(process.memoryUsage().rss - before).toBeLessThan(MAX_GROWTH);
}

/** Throws if the server does not answer any more. */
const expectAlive = () =>
  within(0, async () => {
    // Changed scripts have written anything.
    exported.bytes.fill(0);
    let script: Script;
    const random = new Random(7);
    do script = randomScript(random, MOST);
    while (!script.isComplete || script.requests.size === 0);
    checkReplies(script, await converse(random, script.bytes, "waits"), true);
  });

test("every request gets exactly one reply, however it is sent", minutes({ all: 20 }), async () => {
  await fuzz(trials({ few: 2_000, all: 60_000 }), 0, async (random) => {
    const script = randomScript(random, MOST);
    const leaving = (["waits", "waits", "waits", "ends", "vanishes"] as const)[random.below(5)]!;
    // A script that is cut off in a write waits for the rest of it.
    const how = script.isComplete || leaving === "vanishes" ? leaving : "ends";
    const received = await converse(random, script.bytes, how);
    checkReplies(script, received, how === "waits");
    return script.messages;
  });
  await expectAlive();
});

test("scripts of which some bytes are changed harm nobody", minutes({ all: 10 }), async () => {
  await fuzz(trials({ few: 600, all: 20_000 }), 1e6, async (random) => {
    const { bytes, messages } = randomScript(random, MOST);
    const changes = 1 + random.below(20);
    await converse(random, flipped(random, bytes, changes), "ends");
    return messages;
  });
  await expectAlive();
});

test("random bytes harm nobody", minutes({ all: 5 }), async () => {
  await fuzz(trials({ few: 250, all: 8_000 }), 2e6, async (random) => {
    const { bytes } = randomScript(random, 0);
    const noise = Buffer.from(Array.from({ length: random.below(600) }, () => random.below(256)));
    const prefix = bytes.subarray(0, random.below(2) * random.below(bytes.length + 1));
    await converse(random, Buffer.concat([prefix, noise]), "ends");
    return 1 + noise.length / 28;
  });
  await expectAlive();
});

test(
  "a server that is closed amid requests ends all connections",
  minutes({ all: 5 }),
  async () => {
    let round = 0;
    await fuzz(trials({ few: 250, all: 4_000 }), 3e6, async (random) => {
      round += 1;
      const socket = path(`closing-${round % CLIENTS}-${round}`);
      const listen = listenOf({ path: socket, name: NAME });
      const closing = await NbdServer.listen(new FlakyExport(SIZE), listen);
      const scripts = [randomScript(random, MOST), randomScript(random, MOST)];
      const clients = scripts.map(async (script) => {
        const how = script.isComplete ? "waits" : "ends";
        checkReplies(script, await converse(random, script.bytes, how, socket), false);
      });
      for (let turns = random.below(12); turns > 0; turns -= 1) await turn();
      await closing.close();
      await Promise.all(clients);
      return scripts.reduce((sum, { messages }) => sum + messages, 0);
    });
  },
);
