import type { DeltaResult, RestoreInfo, SnapshotInfo } from "@hedgerow/snapshot";
import prettyBytes from "pretty-bytes";

import { escapeControls, jsonOf } from "../one-line.js";
import { grouped, print, size, table } from "../print.js";

/** The result of a command, with its duration, cache hit and changes where it reports them. */
type Result = SnapshotInfo & Partial<Pick<RestoreInfo, "duration" | "hit">> & Partial<DeltaResult>;

/** Prints a result as a table or as one JSON object. */
export async function printResult(result: Result, { json }: { json: boolean }): Promise<void> {
  const rows = [facts, delta, changes, cached, speed].map((rowsOf) => rowsOf(result));
  await print(json ? jsonOf(result) : table(Object.assign({}, ...rows)));
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
    identity: info.digest,
  };
}

function delta({ delta }: Result): Record<string, string> {
  if (delta === undefined) return {};
  const objects = delta.objects.map(({ digest, size: bytes, usedBytes, reference }, at) => {
    const place = reference === "" ? "elsewhere" : escapeControls(reference);
    return [`object ${at + 1}`, `${digest}, ${size(bytes)}, used ${size(usedBytes)}: ${place}`];
  });
  return {
    depth: grouped(delta.generation),
    "own frames": size(delta.ownBytes),
    "shared frames": size(delta.sharedBytes),
    ...Object.fromEntries(objects),
  };
}

function changes({ detection, changedBytes, rewrittenBytes }: Result): Record<string, string> {
  if (changedBytes === undefined || rewrittenBytes === undefined) return {};
  return {
    changed: `${size(changedBytes)}, found by ${detection}`,
    ...(rewrittenBytes > 0 ? { rewritten: size(rewrittenBytes) } : {}),
  };
}

function cached({ hit }: Result): Record<string, string> {
  return hit === undefined ? {} : { cache: hit ? "hit" : "miss" };
}

function speed({ dataSize, duration }: Result): Record<string, string> {
  if (duration === undefined) return {};
  const seconds = duration / 1000;
  return {
    time: `${grouped(Number(seconds.toPrecision(3)))} s`,
    rate: `${prettyBytes(dataSize / seconds)}/s (data)`,
  };
}
