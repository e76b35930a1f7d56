import { setImmediate } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";

import { type LoadedImage, Singleflight } from "../../src/cache/loading/singleflight.js";
import type { Lease } from "../../src/cache/locks/leases.js";
import type { Progress } from "../../src/progress.js";

/** Who uses what was got: the flight itself, and each who wanted it. */
let users = 0;

const lease = {
  share() {
    users += 1;
    return lease;
  },
} as unknown as Lease;

const release = async () => {
  users -= 1;
};

type Join = Parameters<Singleflight["join"]>;
type Wanting = Join[1];
/** What whoever gets it is given. */
type Wanted = Parameters<Join[2]>[0];

/** The getting of something, which ends when the test has it end. */
interface Getting {
  readonly wanting: Wanted;
  land(): void;
  fail(error: unknown): void;
}

let [flights, gettings] = [new Singleflight(release), [] as Getting[]];

beforeEach(() => {
  [users, flights, gettings] = [0, new Singleflight(release), []];
});

function join(name: string, wanting: Wanting = {}): Promise<LoadedImage> {
  const get = (all: Wanted) =>
    new Promise<LoadedImage>((resolve, reject) => {
      const land = () => {
        users += 1;
        resolve({ lease, hit: false });
      };
      gettings.push({ wanting: all, land, fail: reject });
    });
  return flights.join(name, wanting, get);
}

test("those who want the same share it, and others do not", async () => {
  const all = [join("a"), join("a"), join("b")];
  await setImmediate();
  expect(gettings.length).toBe(2);
  gettings[0]?.land();
  expect(await all[0]).toEqual({ lease, hit: false });
  expect(await all[1]).toEqual({ lease, hit: false });
  await setImmediate();
  // What is got for all is let go of by the flight, and not before they have it.
  expect(users).toBe(2);
  gettings[1]?.land();
  await all[2];
  await setImmediate();
  expect(users).toBe(3);
});

test("who comes when it is over has it got anew", async () => {
  const first = join("a");
  await setImmediate();
  gettings[0]?.land();
  await first;
  void join("a");
  await setImmediate();
  expect(gettings.length).toBe(2);
});

test("all fail with the same error", async () => {
  const all = [join("a"), join("a")];
  await setImmediate();
  const error = new Error("no");
  gettings[0]?.fail(error);
  for (const one of all) await expect(one).rejects.toBe(error);
});

test("it ends when the last one does not want it any more", async () => {
  const controllers = [new AbortController(), new AbortController()];
  const all = controllers.map(({ signal }) => join("a", { signal }));
  await setImmediate();
  const { wanting, land } = gettings[0]!;
  controllers[0]?.abort("first");
  await expect(all[0]).rejects.toBe("first");
  expect(wanting.signal?.aborted).toBe(false);
  controllers[1]?.abort("second");
  await expect(all[1]).rejects.toBe("second");
  expect(wanting.signal?.aborted).toBe(true);
  // Who comes now does not get what is being ended.
  void join("a");
  await setImmediate();
  expect(gettings.length).toBe(2);
  // What came all the same is let go of.
  land();
  await setImmediate();
  expect(users).toBe(0);
});

test("who has it, or has left, is told nothing any more", async () => {
  const controller = new AbortController();
  let count = 0;
  const onProgress = () => {
    count += 1;
    if (count === 2) throw new Error("enough");
  };
  const first = join("a", { onProgress });
  const second = join("a", { signal: controller.signal });
  await setImmediate();
  const { wanting, land } = gettings[0]!;
  for (let time = 0; time < 5; time += 1) wanting.onProgress?.({} as Progress);
  await expect(first).rejects.toThrow("enough");
  expect(count).toBe(2);
  land();
  await second;
  controller.abort();
  expect(wanting.signal?.aborted).toBe(true);
});

test("who does not want it in the first place has nothing begin", async () => {
  const signal = AbortSignal.abort("no");
  await expect(join("a", { signal })).rejects.toBe("no");
  await setImmediate();
  expect(gettings.length).toBe(0);
});

test("the end is when all are over, also those that nobody wants any more", async () => {
  const controller = new AbortController();
  const left = join("a", { signal: controller.signal });
  const wanted = join("b");
  await setImmediate();
  controller.abort("left");
  await expect(left).rejects.toBe("left");
  let isOver = false;
  const end = flights.end("closed").then(() => {
    isOver = true;
  });
  await expect(wanted).rejects.toBe("closed");
  await expect(join("c")).rejects.toBe("closed");
  gettings[1]?.fail(new Error("aborted"));
  await setImmediate();
  expect(isOver).toBe(false);
  gettings[0]?.land();
  await end;
  expect(users).toBe(0);
});
