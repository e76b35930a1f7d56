import { PathFilter } from "hedgerow";
import { equal, refused } from "../../support/assert.js";
import { bytesOf } from "../../support/text.js";
import type { Cases } from "../case.js";
import { FUSE, PATHMAP, PATHMAP_LINE_1, PATHMAP_LINE_2, PATHMAP_PATHS } from "./files.js";

/** Asserts the message for an invalid file: what was expected, what was found, and the offset. */
function assertRefused(file: Uint8Array | string, said: string): void {
  const code = "ERR_FILTER_FORMAT";
  for (const reading of [{}, { validate: true }]) {
    refused(() => PathFilter.parse(file, reading), code, `path filter: expected ${said}`);
  }
}

export const filterErrors: Cases = {
  "a filter whose first line is not JSON is refused": () => {
    assertRefused("", "{ and a member, found the end at byte 0");
    assertRefused("<!doctype html>", "{ and a member, found 0x3c at byte 0");
    assertRefused(PATHMAP.replace(":4", ":4 4"), ", or }, found 0x34 at byte 33");
    for (const depth of [33, 30_000]) {
      const nested = `{"a":${"[".repeat(depth)}`;
      assertRefused(nested, "no deeper nesting, found 0x5b at byte 37");
      assertRefused(`${nested}${"]".repeat(depth)}}\n`, "no deeper nesting, found 0x5b at byte 37");
    }
  },

  "a filter with missing, negative or fractional parameters is refused": () => {
    assertRefused(PATHMAP.replace('"m":138,', ""), "the member m of bloom, found 0x7d at byte 54");
    const integer = "an integer from 0 to 2^53 - 1, found";
    assertRefused(PATHMAP.replace(":4", ":-4"), `${integer} 0x2d at byte 31`);
    assertRefused(PATHMAP.replace(":4", ":4.5"), `${integer} 0x2e at byte 32`);
  },

  "a filter with too many bits or hashes is refused": () => {
    const bits = "a number of bits m from 1 to 2^32 - 1, found";
    assertRefused(PATHMAP.replace("138", "0"), `${bits} 0 at byte 46`);
    assertRefused(PATHMAP.replace("138", "4294967296"), `${bits} 4294967296 at byte 46`);
    const largest = "9007199254740991";
    assertRefused(PATHMAP.replace("138", largest), `${bits} ${largest} at byte 46`);
    const hashes = "a number of hashes k from 1 to 64, found";
    assertRefused(PATHMAP.replace("23", "0"), `${hashes} 0 at byte 54`);
    assertRefused(PATHMAP.replace("23", "65"), `${hashes} 65 at byte 54`);
  },

  "a filter whose second line is too short or too long is refused": () => {
    assertRefused(
      PATHMAP.replace("138", "4294967295"),
      "715827883 characters of Base64 in line 2, or more, found 24 at byte 73",
    );
    assertRefused(
      PATHMAP.replace("/A", "/AA"),
      "24 characters of Base64 in line 2, or fewer, found 25 at byte 66",
    );
  },

  "a filter whose second line has no quotes is refused": () => {
    assertRefused(PATHMAP.replace('"/', "/"), "the quote that opens line 2, found 0x2f at byte 65");
    const unclosed = PATHMAP.slice(0, -1);
    assertRefused(unclosed, "the quote that closes line 2, found the end at byte 90");
    assertRefused(`${PATHMAP}\n{}`, "the end of the file, found 0x0a at byte 91");
  },

  "a filter with a character that is not Base64 is refused unless validate is false": () => {
    const file = PATHMAP.replace('"/q', '"-q');
    assertRefused(file, "a character of Base64, found 0x2d at byte 66");
    const trusted = PathFilter.parse(file, { validate: false });
    equal(
      PATHMAP_PATHS.every((path) => trusted.has(path)),
      false,
    );
    trusted.free();
  },

  "a filter with bytes that are not UTF-8 or a byte order mark is refused": () => {
    const bytes = bytesOf(PATHMAP);
    bytes[13] = 0xff;
    assertRefused(bytes, "UTF-8, found 0xff at byte 13");
    assertRefused(`\ufeff${PATHMAP}`, "no byte order mark, found 0xef at byte 0");
  },

  "a filter of the kind fuse whose parameters contradict each other is refused": () => {
    const segments = "a number of slots m that is a multiple of l, at least 3 l, found";
    assertRefused(FUSE.replace('"l":4', '"l":3'), `${segments} 20 at byte 71`);
    assertRefused(FUSE.replace('"l":4', '"l":10'), `${segments} 20 at byte 72`);
    assertRefused(
      FUSE.replace('"m":20', '"m":24'),
      "96 characters of Base64 in line 2, or more, found 80 at byte 75",
    );
    const once = "one of the members bloom and fuse, only once, found 0x7b";
    assertRefused(FUSE.replace("}}", '},"bloom":{}}'), `${once} at byte 81`);
    assertRefused(FUSE.replace('"fuse"', '"fuze"'), "the member bloom or fuse, found");
  },

  "every truncation of a filter is refused": () => {
    for (const bytes of [PATHMAP, FUSE].map(bytesOf)) {
      for (let length = 0; length < bytes.length; length += 1) {
        refused(() => PathFilter.parse(bytes.subarray(0, length)), "ERR_FILTER_FORMAT", "at byte");
      }
    }
  },

  "every flipped bit of a filter is refused or answered": () => {
    for (const bytes of [PATHMAP, FUSE].map(bytesOf)) {
      for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
        const flipped = bytes.slice();
        flipped[bit >> 3]! ^= 1 << (bit & 7);
        for (const validate of [true, false]) {
          try {
            const filter = PathFilter.parse(flipped, { validate });
            equal(typeof filter.has("/foo"), "boolean");
            filter.free();
          } catch (error) {
            equal((error as { code?: string }).code, "ERR_FILTER_FORMAT", `bit ${bit}`);
          }
        }
      }
    }
  },

  "a filter may have either line end": () => {
    for (const end of ["\n", "\r\n"]) {
      for (const last of ["", "\n", "\r\n"]) {
        const filter = PathFilter.parse(`${PATHMAP_LINE_1}${end}${PATHMAP_LINE_2}${last}`);
        equal([filter.has("/foo"), filter.params.version], [true, "test"]);
        filter.free();
      }
    }
  },

  "PathFilter.parse refuses an argument that is not a file": () => {
    for (const other of [7, null, undefined, {}, []] as unknown as string[]) {
      refused(() => PathFilter.parse(other), "ERR_ARGUMENT", "expected a Uint8Array");
    }
  },
};
