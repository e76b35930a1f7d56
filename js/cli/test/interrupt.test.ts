import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";

import { bundleModule } from "./support/bundle.js";
import { makeTree } from "./support/tree.js";

/**
 * Starts a process whose work a signal aborts and whose clean-up takes a while.
 *
 * @param reason the JavaScript of the error that the work ends with
 */
async function startWork(tidying: number, reason = "signal.reason") {
  const module = bundleModule("interrupt.ts", makeTree());
  const script = `
    import { interruptible } from ${JSON.stringify(module)};
    await interruptible((signal) => new Promise((resolve, reject) => {
      const work = setInterval(() => {}, 1000);
      signal.addEventListener("abort", () => {
        clearInterval(work);
        // Longer than the window in which repeated signals count as one.
        setTimeout(() => process.stdout.write("later "), 600);
        setTimeout(() => {
          process.stdout.write("tidy");
          reject(${reason});
        }, ${tidying});
      });
      process.stdout.write("start ");
    }));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script]);
  let out = "";
  child.stdout.on("data", (data) => {
    out += data;
  });
  const closed = once(child, "close");
  await once(child.stdout, "data");
  return { child, end: closed.then(([code, signal]) => ({ code, signal, out })) };
}

test("cleans up and then ends by the signal", async () => {
  const { child, end } = await startWork(100);
  child.kill("SIGTERM");
  expect(await end).toEqual({ code: null, signal: "SIGTERM", out: "start tidy" });
});

test("fails if the work fails for another reason after the signal", async () => {
  const { child, end } = await startWork(100, 'new Error("not saved")');
  child.kill("SIGTERM");
  expect(await end).toEqual({ code: 1, signal: null, out: "start tidy" });
});

test("treats a signal repeated at once as one signal", async () => {
  const { child, end } = await startWork(400);
  for (const wait of [20, 20, 0]) {
    child.kill("SIGINT");
    await delay(wait);
  }
  expect(await end).toEqual({ code: null, signal: "SIGINT", out: "start tidy" });
});

test("ends at once on a second signal", async () => {
  const { child, end } = await startWork(20_000);
  child.kill("SIGINT");
  await once(child.stdout, "data");
  child.kill("SIGTERM");
  expect(await end).toEqual({ code: null, signal: "SIGTERM", out: "start later " });
});
