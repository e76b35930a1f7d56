/** All output of jobs in a child process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

import type { Job } from "./job.js";
import { END } from "./print-end.mjs";

/** Returns a function that reads the lines of a stream up to the end of a job. */
function outputsOf(stream: Readable): () => Promise<string> {
  const lines = createInterface({ input: stream })[Symbol.asyncIterator]();
  return async () => {
    let text = "";
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`expected the end of a job, found the end of the process: ${text}`);
      if (value === END) return text;
      text += `${value}\n`;
    }
  };
}

/**
 * Returns a function that runs jobs, one after the other, in a process that they share, and returns all output of each.
 * The process must end by itself, with code 0 after the tests of the file.
 */
export function sharedOutput(): (job: Job) => Promise<string> {
  let shared: ReturnType<typeof start> | undefined;
  const start = () => {
    const script = fileURLToPath(new URL("print-all.mjs", import.meta.url));
    const { NODE_DEBUG: _, ...env } = process.env;
    const child = spawn(process.execPath, [script], { env });
    const exit = once(child, "close");
    return { child, exit, outputs: [child.stdout, child.stderr].map(outputsOf) };
  };
  afterAll(async () => {
    if (shared === undefined) return;
    shared.child.stdin.end();
    const [code, signal] = await shared.exit;
    if (code !== 0) throw new Error(`expected a process to end well, found ${code ?? signal}`);
  });
  return async (job) => {
    shared ??= start();
    shared.child.stdin.write(`${JSON.stringify(job)}\n`);
    return (await Promise.all(shared.outputs.map((read) => read()))).join("");
  };
}
