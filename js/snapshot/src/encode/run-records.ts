/** How long the record of a run is, in bytes, as `encode.wasm` has it. */
export const RUN_LENGTH = 48;

/** Where in the record of a run its length in the file is, in bytes. */
export const RUN_COMPRESSED_LENGTH = 8;

/** The record of a run of zeros. */
export function zeros(length: number): ArrayBuffer {
  const record = new ArrayBuffer(RUN_LENGTH);
  new Float64Array(record)[0] = length;
  return record;
}
