/** Filter files that the cases read. */
import { bytesOf } from "../../support/text.js";

/** The paths in {@link PATHMAP}. */
export const PATHMAP_PATHS = ["/foo", "/foo/bar", "/foo/baz/", "/apple/pie"];

export const PATHMAP_LINE_1 = '{"version":"test","bloom":{"n":4,"p":1e-7,"m":138,"k":23,"s":0}}';
export const PATHMAP_LINE_2 = '"/qqpVeKKgABfaKAFV6qqii/A"';

/** The filter file published for PathMap. */
export const PATHMAP = `${PATHMAP_LINE_1}\n${PATHMAP_LINE_2}`;

/** The filter file published for bulk redirects. It has `/old-path` and `/another-old-path`. */
export const REDIRECTS = [
  '{"version":"bulk-redirects","bloom":{"n":3,"p":1e-7,"m":102,"k":23,"s":0}}',
  '"Mec7FxGVcJ0fHdj8HA=="',
].join("\n");

/** The filter file published for routing. It has the empty path, but neither `/` nor `/index`. */
export const ROUTING = [
  '{"version":"test","bloom":{"n":10,"p":1e-7,"m":336,"k":23,"s":0}}',
  '"0kxC4anU4awVOYSs54vsAL7gBNGK/PrLjKrAJRil64mMxmiig1S+jqyC"',
].join("\n");

/** A filter of the kind fuse, of the paths in {@link PATHMAP}. */
export const FUSE = [
  '{"version":"test","fuse":{"n":4,"m":20,"l":4,"q":6019636495693593,"s":0}}',
  '"XV0YE52pEEf5AAAAAAAAAAAAGMH1AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"',
].join("\n");

/** Returns a stream of `file` in chunks of `length` bytes. */
export function streamOf(file: Uint8Array | string, length: number): ReadableStream<Uint8Array> {
  const bytes = typeof file === "string" ? bytesOf(file) : file;
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, at + length));
      at += length;
    },
  });
}
