import { setImmediate } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import type { OpenDelta } from "../../src/cache/bases.js";
import type { Lease } from "../../src/cache/leases.js";
import { type LoadedImage, Singleflight } from "../../src/cache/singleflight.js";
import type { Progress } from "../../src/progress.js";

/** The number of users of the lease: the load itself, and each waiter. */
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
type JoinOptions = Join[1];
/** The options that a load receives. */
type SharedOptions = Parameters<Join[2]>[0];

/** A load that the test ends. */
interface ManualLoad {
  readonly options: SharedOptions;
  finish(): void;
  fail(error: unknown): void;
}

let [singleflight, loads] = [new Singleflight(release), [] as ManualLoad[]];

beforeEach(() => {
  [users, singleflight, loads] = [0, new Singleflight(release), []];
});

function join(name: string, options: JoinOptions = {}): Promise<LoadedImage> {
  const load = (shared: SharedOptions) =>
    new Promise<LoadedImage>((resolve, reject) => {
      const finish = () => {
        users += 1;
        resolve({ lease, hit: false });
      };
      loads.push({ options: shared, finish, fail: reject });
    });
  return singleflight.join(name, options, load);
}

test("shares one load among callers with the same key only", async () => {
  const all = [join("a"), join("a"), join("b")];
  await setImmediate();
  expect(loads.length).toBe(2);
  loads[0]?.finish();
  expect(await all[0]).toEqual({ lease, hit: false });
  expect(await all[1]).toEqual({ lease, hit: false });
  await setImmediate();
  // The load releases its own use after all waiters have theirs.
  expect(users).toBe(2);
  loads[1]?.finish();
  await all[2];
  await setImmediate();
  expect(users).toBe(3);
});

test("starts a new load for a caller that comes after the last one has ended", async () => {
  const first = join("a");
  await setImmediate();
  loads[0]?.finish();
  await first;
  void join("a");
  await setImmediate();
  expect(loads.length).toBe(2);
});

test("rejects all waiters with the error of the load", async () => {
  const all = [join("a"), join("a")];
  await setImmediate();
  const error = new Error("no");
  loads[0]?.fail(error);
  for (const one of all) await expect(one).rejects.toBe(error);
});

test("aborts a load when its last waiter has left", async () => {
  const controllers = [new AbortController(), new AbortController()];
  const all = controllers.map(({ signal }) => join("a", { signal }));
  await setImmediate();
  const { options, finish } = loads[0]!;
  controllers[0]?.abort("first");
  await expect(all[0]).rejects.toBe("first");
  expect(options.signal?.aborted).toBe(false);
  controllers[1]?.abort("second");
  await expect(all[1]).rejects.toBe("second");
  expect(options.signal?.aborted).toBe(true);
  // A new caller does not join the aborted load.
  void join("a");
  await setImmediate();
  expect(loads.length).toBe(2);
  // The lease of the aborted load is released.
  finish();
  await setImmediate();
  expect(users).toBe(0);
});

test("sends no progress to a waiter that has left", async () => {
  const controller = new AbortController();
  let count = 0;
  const onProgress = () => {
    count += 1;
    if (count === 2) throw new Error("enough");
  };
  const first = join("a", { onProgress });
  const second = join("a", { signal: controller.signal });
  await setImmediate();
  const { options, finish } = loads[0]!;
  for (let time = 0; time < 5; time += 1) options.onProgress?.({} as Progress);
  await expect(first).rejects.toThrow("enough");
  expect(count).toBe(2);
  finish();
  await second;
  controller.abort();
  expect(options.signal?.aborted).toBe(true);
});

test("shares an open delta until all callers have released it", async () => {
  const controller = new AbortController();
  let hasEnded = false;
  const load = async ({ share }: SharedOptions) => {
    await share({ base: { lease } } as unknown as OpenDelta);
    hasEnded = true;
    return undefined;
  };
  const [one, other] = await Promise.all([
    singleflight.join("a", { signal: controller.signal }, load),
    singleflight.join("a", {}, load),
  ]);
  expect(users).toBe(2);
  // A caller that is cancelled says itself when it no longer uses the delta.
  controller.abort("cancelled");
  other.delta?.release();
  const end = singleflight.end("closed");
  await setImmediate();
  expect(hasEnded).toBe(false);
  // A later caller does not join.
  await expect(singleflight.join("a", {}, load)).rejects.toBe("closed");
  one.delta?.release();
  await end;
  expect(hasEnded).toBe(true);
});

test("starts no load for a caller whose signal is already aborted", async () => {
  const signal = AbortSignal.abort("no");
  await expect(join("a", { signal })).rejects.toBe("no");
  await setImmediate();
  expect(loads.length).toBe(0);
});

test("waits for all loads when closing, including abandoned ones", async () => {
  const controller = new AbortController();
  const left = join("a", { signal: controller.signal });
  const wanted = join("b");
  await setImmediate();
  controller.abort("left");
  await expect(left).rejects.toBe("left");
  let isOver = false;
  const end = singleflight.end("closed").then(() => {
    isOver = true;
  });
  await expect(wanted).rejects.toBe("closed");
  await expect(join("c")).rejects.toBe("closed");
  loads[1]?.fail(new Error("aborted"));
  await setImmediate();
  expect(isOver).toBe(false);
  loads[0]?.finish();
  await end;
  expect(users).toBe(0);
});
