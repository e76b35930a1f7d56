/** How many received bytes stand for one slot of the allocated array. */
const BYTES_PER_SLOT = 16;

const held: { ballast: unknown[] } = { ballast: [] };

/**
 * Creates garbage-collection pressure in proportion to received bytes. V8 collects when its own heap grows, to
 * which socket buffers hardly add: without this, 60 MB more of them would pile up in two workers.
 */
export function addGcPressure(bytes: number): void {
  held.ballast = new Array(Math.ceil(bytes / BYTES_PER_SLOT));
}
