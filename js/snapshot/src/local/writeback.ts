import type { FileHandle } from "node:fs/promises";

import { libc } from "./libc.js";

/** How often the kernel is asked to write, in milliseconds. */
const INTERVAL = 50;

/**
 * Calls `use`, which fills a file, and lets the kernel write it to the disk meanwhile: else it would wait for the
 * fsync, and the disk would be idle until then. An fsync is still needed, and reports failures.
 */
export async function withWriteback<T>(file: FileHandle, use: () => Promise<T>): Promise<T> {
  let running: Promise<void> | undefined;
  const start = async () => {
    // If it fails, the fsync says why.
    await (await libc())?.startWriteback(file.fd).catch(() => {});
    running = undefined;
  };
  const timer = setInterval(() => {
    running ??= start();
  }, INTERVAL);
  try {
    return await use();
  } finally {
    clearInterval(timer);
    // The file must stay open until then.
    await running;
  }
}
