import { type Place, SnapshotError, type SnapshotErrorCode } from "../error.js";

/** An error of a WebAssembly module: the addresses and lengths of its texts in linear memory. */
export interface WasmError {
  message(): number;
  message_length(): number;
  field(): number;
  field_length(): number;
  offset(): number;
  free(): void;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Converts an error of a module to a `SnapshotError`, and frees it. @param prefix start of the message */
export function errorOf(
  code: SnapshotErrorCode,
  prefix: string,
  error: WasmError | undefined,
  memory: WebAssembly.Memory,
): SnapshotError {
  if (error === undefined) return new SnapshotError(code, `${prefix}invalid`);
  const text = (start: number, length: number) =>
    decoder.decode(new Uint8Array(memory.buffer, start, length));
  const message = text(error.message(), error.message_length());
  const field = text(error.field(), error.field_length());
  const place: Place = { field, offset: error.offset() };
  error.free();
  return new SnapshotError(code, `${prefix}${message}`, field === "" ? {} : { place });
}
