// What operations write: each sector says which operation wrote it, and where.

/** The bytes that a disk writes at once or not at all. */
export const SECTOR = 512;

/** Returns the data of an operation. @param {number} step @param {number} first its first sector @param {number} count */
export function contentOf(step, first, count) {
  const sectors = Array.from({ length: count }, (_, at) =>
    Buffer.alloc(SECTOR, `step ${step} sector ${first + at};`),
  );
  return Buffer.concat(sectors);
}
