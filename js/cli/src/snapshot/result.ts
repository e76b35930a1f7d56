import type { RestoreInfo, SnapshotInfo } from "@hedgerow/snapshot";
import prettyBytes from "pretty-bytes";

import { jsonOf } from "../one-line.js";
import { grouped, print, size, table } from "../print.js";

/** The result of a command, with its duration and cache hit where it reports them. */
type Result = SnapshotInfo & Partial<Pick<RestoreInfo, "duration" | "hit">>;

/** Prints a result as a table or as one JSON object. */
export async function printResult(result: Result, { json }: { json: boolean }): Promise<void> {
  await print(
    json ? jsonOf(result) : table({ ...facts(result), ...cached(result), ...speed(result) }),
  );
}

function facts(info: SnapshotInfo): Record<string, string> {
  const { dataSize, fileSize, dataFrames, holeFrames } = info;
  return {
    "image size": size(info.imageSize),
    data: size(dataSize),
    holes: size(info.holeSize),
    "file size": size(fileSize),
    frames: `${grouped(dataFrames + holeFrames)} (data ${grouped(dataFrames)}, holes ${grouped(holeFrames)})`,
    ratio: `${(dataSize / fileSize).toFixed(2)} (data / file)`,
    "piece size": size(info.pieceSize, { binary: true }),
    digest: info.digest,
  };
}

function cached({ hit }: Result): Record<string, string> {
  return hit === undefined ? {} : { cache: hit ? "hit" : "miss, now cached" };
}

function speed({ dataSize, duration }: Result): Record<string, string> {
  if (duration === undefined) return {};
  const seconds = duration / 1000;
  return {
    time: `${grouped(Number(seconds.toPrecision(3)))} s`,
    rate: `${prettyBytes(dataSize / seconds)}/s (data)`,
  };
}
