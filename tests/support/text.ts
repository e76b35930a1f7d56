/** Conversion between bytes and strings with one character per byte, for field blocks. */

export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  // Some blocks have megabytes, for which `Uint8Array.from` takes ten times as long.
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

export function textOf(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += 4096) {
    text += String.fromCharCode(...bytes.subarray(start, start + 4096));
  }
  return text;
}
