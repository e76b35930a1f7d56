/** How many bytes off a network come for each slot of the array that is made because of them. */
const BYTES_PER_SLOT = 16;

const held: { ballast: unknown[] } = { ballast: [] };

/**
 * Has the garbage collector notice bytes that came off a network. It runs when its own heap has grown, to
 * which buffers of sockets hardly add: 60 MB of them more would pile up in two threads.
 */
export function reportExternalMemory(bytes: number): void {
  held.ballast = new Array(Math.ceil(bytes / BYTES_PER_SLOT));
}
