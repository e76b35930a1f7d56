/**
 * Weighted rendezvous hashing: each host has a distance from each image, and an image belongs to the nearest hosts. The
 * distance of a host depends on no other host, so a host that joins or leaves moves only its own images.
 *
 * Sources: Thaler and Ravishankar, "Using name-based mappings to increase hit rates" (1998); for the weights,
 * Schindelhauer and Schomaker, "Weighted distributed hash tables" (2005). Distances are distributed exponentially, with
 * the capacity of the host as the rate.
 */

/** Returns a hash of a text, as an unsigned integer of 32 bits: FNV-1a, mixed. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return mix(hash) >>> 0;
}

/**
 * Returns a number between 0 and 1, exclusive, for an image and a host, from their hashes. The same two hashes give the
 * same number.
 */
export function uniform(image: number, host: number): number {
  return ((mix(image ^ host) >>> 0) + 0.5) / 2 ** 32;
}

/** Returns the distance of a host of this capacity, from its `uniform` number. */
export function distanceOf(uniform: number, capacity: number): number {
  return -Math.log(uniform) / capacity;
}

/** Permutes the integers of 32 bits so that each bit of the result depends on all bits: the end of MurmurHash3. */
function mix(hash: number): number {
  let mixed = hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
