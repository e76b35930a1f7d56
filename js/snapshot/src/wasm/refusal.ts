import { type Place, SnapshotError, type SnapshotErrorCode } from "../error.js";

/** An error of a WebAssembly module: the addresses and lengths of its texts in linear memory. */
export interface Refusal {
  message(): number;
  message_length(): number;
  field(): number;
  field_length(): number;
  offset(): number;
  free(): void;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Converts a refusal to an error, and frees it. @param prefix what was refused */
export function errorOf(
  code: SnapshotErrorCode,
  prefix: string,
  refusal: Refusal | undefined,
  memory: WebAssembly.Memory,
): SnapshotError {
  if (refusal === undefined) return new SnapshotError(code, `${prefix}invalid`);
  const text = (start: number, length: number) =>
    decoder.decode(new Uint8Array(memory.buffer, start, length));
  const message = text(refusal.message(), refusal.message_length());
  const field = text(refusal.field(), refusal.field_length());
  const place: Place = { field, offset: refusal.offset() };
  refusal.free();
  return new SnapshotError(code, `${prefix}${message}`, field === "" ? {} : { place });
}
