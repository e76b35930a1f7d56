import { buildPathFilter, PathFilter } from "hedgerow";
import { equal, isRefusal, rejectionOf } from "../../support/assert.js";
import { bytesOf } from "../../support/text.js";
import type { Cases } from "../case.js";
import { PATHMAP, streamOf } from "./files.js";

/** Returns a stream of these chunks, and whether its reader cancelled it. */
function pieces(list: Iterable<unknown>) {
  const state = { isCancelled: false };
  const iterator = list[Symbol.iterator]();
  const stream = new ReadableStream({
    pull(controller) {
      const { done, value } = iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      state.isCancelled = true;
    },
  });
  return { stream, state };
}

export const filterLoading: Cases = {
  "PathFilter.load reads responses and streams in chunks of any size": async () => {
    const paths = Array.from({ length: 500 }, (_, number) => `/${number}`);
    const file = buildPathFilter(paths);
    for (const length of [1, 2, 63, 64, 1000, file.length - 1, file.length]) {
      for (const source of [streamOf(file, length), new Response(streamOf(file, length))]) {
        const filter = await PathFilter.load(source);
        equal(
          paths.every((path) => filter.has(path)),
          true,
        );
        equal([filter.byteLength, filter.has("/x")], [file.length, false]);
        filter.free();
      }
    }
  },

  "PathFilter.load accepts either line end, split at any byte": async () => {
    const file = `${PATHMAP.replace("\n", "\r\n")}\r\n`;
    for (let length = 1; length < file.length; length += 1) {
      const filter = await PathFilter.load(streamOf(file, length));
      equal(filter.has("/foo"), true);
      filter.free();
    }
  },

  "PathFilter.load refuses a truncated stream and names its end": async () => {
    for (let length = 0; length < PATHMAP.length; length += 1) {
      const error = await rejectionOf(PathFilter.load(streamOf(PATHMAP.slice(0, length), 16)));
      isRefusal(error, "ERR_FILTER_FORMAT", "at byte");
    }
    isRefusal(await rejectionOf(PathFilter.load(new Response(null))), "ERR_FILTER_FORMAT");
  },

  "PathFilter.load stops reading an endless stream at the longest possible file": async () => {
    function* endless(): Generator<Uint8Array> {
      yield bytesOf(PATHMAP.slice(0, -1));
      for (let count = 0; count < 1_000_000; count += 1) yield bytesOf("A".repeat(10));
      throw new Error("expected to be cancelled");
    }
    const { stream, state } = pieces(endless());
    const error = await rejectionOf(PathFilter.load(stream));
    isRefusal(error, "ERR_FILTER_FORMAT", "the quote that closes line 2");
    equal(state.isCancelled, true);

    function* blank(): Generator<Uint8Array> {
      for (let count = 0; count < 1_000_000; count += 1) yield bytesOf(" ".repeat(1000));
      throw new Error("expected to be cancelled");
    }
    const other = pieces(blank());
    isRefusal(await rejectionOf(PathFilter.load(other.stream)), "ERR_FILTER_FORMAT");
    equal(other.state.isCancelled, true);
  },

  "PathFilter.load stops reading at an invalid first line": async () => {
    const cases = {
      "{}": "the member version, found 0x7d at byte 1",
      '{"version":"","bloom":{"m":1e300}}': "a number of bits m",
      '{"version":"","bloom":{"n":1,"p":0.1,"k":1,"s":0}}': "the member m of bloom",
    };
    for (const [line, said] of Object.entries(cases)) {
      const list = [bytesOf(line.slice(0, 2)), bytesOf(line.slice(2)), bytesOf('\n"AAAA')];
      const { stream, state } = pieces([...list, bytesOf("AAAA"), bytesOf("AAAA")]);
      isRefusal(await rejectionOf(PathFilter.load(stream)), "ERR_FILTER_FORMAT", said);
      equal(state.isCancelled, true, line);
    }
    const unquoted = pieces([bytesOf(`${PATHMAP.replace('"/', "/")}`), bytesOf("A"), bytesOf("A")]);
    const error = await rejectionOf(PathFilter.load(unquoted.stream));
    isRefusal(error, "ERR_FILTER_FORMAT", "the quote that opens line 2, found 0x2f at byte 65");
    equal(unquoted.state.isCancelled, true);
  },

  "PathFilter.load does not wait for the cancellation of a stream": async () => {
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(bytesOf("{}\n!")),
      cancel: () => new Promise(() => {}),
    });
    isRefusal(await rejectionOf(PathFilter.load(stream)), "ERR_FILTER_FORMAT");
  },

  "PathFilter.load propagates the errors of a stream": async () => {
    const failure = new RangeError("the stream's own");
    function* failing(): Generator<Uint8Array> {
      yield bytesOf(PATHMAP.slice(0, 70));
      throw failure;
    }
    equal((await rejectionOf(PathFilter.load(pieces(failing()).stream))) === failure, true);
  },

  "PathFilter.load refuses an argument that is not a stream of bytes": async () => {
    const { stream, state } = pieces([bytesOf(PATHMAP.slice(0, 70)), "text", "more", "more"]);
    isRefusal(await rejectionOf(PathFilter.load(stream)), "ERR_ARGUMENT", "found string");
    equal(state.isCancelled, true);
    const other = "file" as unknown as Response;
    isRefusal(await rejectionOf(PathFilter.load(other)), "ERR_ARGUMENT", "found string");
  },

  "PathFilter.load refuses a response whose status is not 2xx": async () => {
    const { stream, state } = pieces([bytesOf(PATHMAP), bytesOf(PATHMAP)]);
    const missing = new Response(stream, { status: 404 });
    isRefusal(await rejectionOf(PathFilter.load(missing)), "ERR_FILTER_RESPONSE", "status 404");
    equal(state.isCancelled, true);
  },
};
