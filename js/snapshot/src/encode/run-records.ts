/** Length of the record of a run in `encode.wasm`, in bytes. */
export const RUN_LENGTH = 48;

/** Offset of the compressed length in the record of a run, in bytes. */
export const RUN_COMPRESSED_LENGTH = 8;

/** Offset of the digest in the record of a run, in bytes. */
export const RUN_DIGEST = 16;

/** Returns the record of a run of zeros. */
export function zeros(length: number): ArrayBuffer {
  const record = new ArrayBuffer(RUN_LENGTH);
  new Float64Array(record)[0] = length;
  return record;
}
