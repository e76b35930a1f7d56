/** Opens, reads and verifies a snapshot outside the page's thread. */
import { SnapshotReader } from "@hedgerow/snapshot/reader";
import type { Answer, Request } from "./protocol.js";

/** The most frames that the page shows: it keeps all of them. */
const MAX_FRAMES = 100_000;

let opened: SnapshotReader | undefined;
let verifying: AbortController | undefined;

const answer = (message: Answer) => postMessage(message);

addEventListener("message", async ({ data }: MessageEvent<Request>) => {
  try {
    await handle(data);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    answer({ kind: "error", request: data.kind, error: { message, ...(code && { code }) } });
  }
});

async function handle(request: Request): Promise<void> {
  if (request.kind === "open") {
    opened = await open(request.source);
    const { frameCount } = opened;
    if (frameCount > MAX_FRAMES) {
      throw new RangeError(
        `this page shows up to ${MAX_FRAMES} frames; the snapshot has ${frameCount}`,
      );
    }
    const frames = Array.from({ length: opened.frameCount }, (_, index) => opened!.frame(index));
    answer({ kind: "opened", info: opened.info, frames });
  } else if (request.kind === "cancel") {
    verifying?.abort();
  } else if (opened !== undefined) {
    if (request.kind === "verify") await verify(opened);
    else {
      const { offset, length } = request;
      answer({ kind: "bytes", offset, bytes: await opened.read(offset, length) });
    }
  }
}

/** Opens a URL, or of several files the last delta, with the others as its base objects. */
async function open(source: string | readonly File[]): Promise<SnapshotReader> {
  if (typeof source === "string") return await SnapshotReader.open(source);
  const files = new Map<string, File>();
  const resolve = (digest: string) => files.get(digest);
  const readers: SnapshotReader[] = [];
  for (const file of source) {
    const reader = await SnapshotReader.open(file, { resolve });
    files.set(reader.info.digest, file);
    readers.push(reader);
  }
  const depth = ({ info }: SnapshotReader) => info.delta?.depth ?? 0;
  return readers.reduce((last, reader) => (depth(reader) > depth(last) ? reader : last));
}

async function verify(snapshot: SnapshotReader): Promise<void> {
  verifying = new AbortController();
  const { signal } = verifying;
  let reported = 0;
  try {
    const onFrame = (verified: number) => {
      // Ten times a second is enough for a progress bar.
      if (performance.now() - reported < 100) return;
      reported = performance.now();
      answer({ kind: "progress", verified });
    };
    await snapshot.verify({ signal, onFrame });
    answer({ kind: "verified" });
  } catch (error) {
    if (!signal.aborted) throw error;
    answer({ kind: "cancelled" });
  }
}
