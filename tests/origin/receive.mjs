// Receives uploads.
import { once } from "node:events";
import { open, rm } from "node:fs/promises";

import { tick } from "./pace.mjs";
import { openResource } from "./resource.mjs";

/**
 * Receives the body of a request into memory or into a file, which is deleted. Returns it, or `undefined` if it
 * is incomplete.
 *
 * @param {import("node:http").IncomingMessage} request
 * @param {string | undefined} path
 * @param {import("./fault.mjs").Fault} fault
 * @param {import("./pace.mjs").Pace | undefined} pace
 * @param {(bytes: number) => void} onReceived
 * @returns {Promise<import("./resource.mjs").Resource | undefined>}
 */
export async function receiveBody(request, path, fault, pace, onReceived) {
  /** @type {Buffer[]} */
  const chunks = [];
  const file = path === undefined ? undefined : await open(path, "wx");
  try {
    await receive(request, fault, pace, async (chunk) => {
      onReceived(chunk.length);
      if (file === undefined) chunks.push(chunk);
      else await file.writeFile(chunk);
    });
    return request.complete ? openResource(path ?? Buffer.concat(chunks)) : undefined;
  } catch (error) {
    if (!request.destroyed) throw error;
    return undefined;
  } finally {
    await file?.close();
    if (path !== undefined) await rm(path);
  }
}

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {import("./fault.mjs").Fault} fault
 * @param {import("./pace.mjs").Pace | undefined} pace
 * @param {(chunk: Buffer) => Promise<void>} onChunk
 */
async function receive(request, fault, pace, onChunk) {
  const { cutAfter = Infinity, stallAfter = Infinity } = fault;
  let received = 0;
  pace?.begin();
  for await (const chunk of request) {
    received += chunk.length;
    await onChunk(chunk);
    if (received >= cutAfter) request.destroy();
    if (received >= stallAfter) await once(request, "close");
    pace?.spend(chunk.length);
    while (pace?.allowance(1) === 0 && !request.destroyed) await tick();
  }
}
