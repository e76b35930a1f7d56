// Sends the body of a response, at a limited rate and with faults.
import { TLSSocket } from "node:tls";

import { tick } from "./pace.mjs";

/** @typedef {import("./fault.mjs").Fault} Fault */
/** @typedef {import("./resource.mjs").Resource} Resource */

/** How many bytes are read and written at a time: few enough for the cache of a processor. */
const CHUNK = 256 * 1024;

/** Idle buffers. @type {Buffer[]} */
const buffers = [];

/**
 * Sends bytes of a file, and ends the response as the fault says. Returns when it is sent, or the connection is
 * closed.
 *
 * @param {import("node:http").ServerResponse} response
 * @param {Resource} resource
 * @param {{ start: number, end: number }} range
 * @param {Fault} fault
 * @param {import("./pace.mjs").Pace | undefined} pace
 * @param {(bytes: number) => void} onSent
 */
export async function sendBody(response, resource, { start, end }, fault, pace, onSent) {
  const { extraBytes = 0, cutAfter = Infinity, stallAfter = Infinity, flipBit } = fault;
  const length = end - start + extraBytes;
  const stop = start + Math.min(length, cutAfter, stallAfter);
  const buffer = buffers.pop() ?? Buffer.allocUnsafe(CHUNK);
  pace?.begin();
  // Node sends the headers with the first bytes of the body, which may be empty.
  let isConnected = stop > start || (await write(response, Buffer.alloc(0)));
  let position = start;
  while (position < stop && isConnected) {
    const wanted = Math.min(stop - position, CHUNK);
    const allowed = pace?.allowance(wanted) ?? wanted;
    if (allowed === 0) {
      await tick();
      isConnected = !response.destroyed;
      continue;
    }
    const bytes = readSome(resource, buffer, position, Math.min(position + allowed, end), allowed);
    pace?.spend(bytes.length);
    const flip = flipBit === undefined ? -1 : start + flipBit - position;
    isConnected = await write(response, flip < 0 ? bytes : withFlip(bytes, flip));
    position += bytes.length;
    if (isConnected) onSent(bytes.length);
  }
  // The system may still read the buffer of a closed connection.
  if (!isConnected) return;
  buffers.push(buffer);
  if (stop - start === length) finish(response, extraBytes);
  else if (cutAfter <= stallAfter) cut(response, fault.reset);
}

/**
 * Reads some bytes of a file. Beyond its end there are zeros.
 *
 * @param {Resource} resource
 * @param {Buffer} buffer
 * @param {number} position
 * @param {number} end
 * @param {number} wanted
 */
function readSome(resource, buffer, position, end, wanted) {
  return position < end ? resource.read(buffer, position, end) : Buffer.alloc(wanted);
}

/**
 * Writes bytes. Returns whether the system accepted them.
 *
 * @param {import("node:http").ServerResponse} response
 * @param {Buffer} bytes
 * @returns {Promise<boolean>}
 */
function write(response, bytes) {
  if (response.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onClose = () => resolve(false);
    response.once("close", onClose);
    response.write(bytes, (error) => {
      response.off("close", onClose);
      resolve(!error);
    });
  });
}

/** @param {Buffer} bytes @param {number} offset */
function withFlip(bytes, offset) {
  if (offset >= bytes.length) return bytes;
  const flipped = Buffer.from(bytes);
  flipped[offset] = /** @type {number} */ (flipped[offset]) ^ 1;
  return flipped;
}

/** @param {import("node:http").ServerResponse} response @param {number} extraBytes */
function finish(response, extraBytes) {
  const { socket } = response;
  response.end();
  // No response can follow one of the wrong length.
  if (extraBytes !== 0) socket?.end();
}

/** @param {import("node:http").ServerResponse} response @param {boolean} [reset] */
function cut({ socket }, reset = false) {
  // Node neither resets nor closes a connection that it is ending, because the client has closed it.
  const canReset = !(socket instanceof TLSSocket) && !socket?.writableEnded;
  if (reset && canReset) socket?.resetAndDestroy();
  else socket?.destroy();
}
