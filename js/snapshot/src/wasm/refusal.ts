import { type Place, SnapshotError, type SnapshotErrorCode } from "../error.js";

/** Why a module refused something: its texts lie in its memory. */
export interface Refusal {
  message(): number;
  message_length(): number;
  field(): number;
  field_length(): number;
  offset(): number;
  free(): void;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The error that a refusal is, which is freed. `prefix` says what was refused. */
export function errorOf(
  code: SnapshotErrorCode,
  prefix: string,
  refusal: Refusal | undefined,
  memory: WebAssembly.Memory,
): SnapshotError {
  if (refusal === undefined) return new SnapshotError(code, `${prefix}refused`);
  const text = (start: number, length: number) =>
    decoder.decode(new Uint8Array(memory.buffer, start, length));
  const message = text(refusal.message(), refusal.message_length());
  const field = text(refusal.field(), refusal.field_length());
  const place: Place = { field, offset: refusal.offset() };
  refusal.free();
  return new SnapshotError(code, `${prefix}${message}`, field === "" ? {} : { place });
}
