import type { Command } from "commander";

import { EXIT } from "../error.js";
import { jsonOf } from "../one-line.js";
import { jsonOption, type OutputFlags, parseSize } from "../options.js";
import { grouped, print, table } from "../print.js";
import { doWork } from "../snapshot/work.js";
import { directoryArgument, withCache } from "./open.js";

interface VerifyFlags extends OutputFlags {
  readonly bytesPerSecond?: number;
}

/** Adds `hedgerow cache verify`. */
export function addVerifyCommand(cache: Command): void {
  cache
    .command("verify")
    .description("read all images and remove damaged ones")
    .addArgument(directoryArgument())
    .option(
      "--bytes-per-second <size>",
      "maximum read rate per second, such as 100MiB (default: unlimited)",
      parseSize,
    )
    .addOption(jsonOption())
    .action(verify);
}

async function verify(directory: string, { json, bytesPerSecond }: VerifyFlags): Promise<void> {
  const found = await doWork("verify", ({ signal }) =>
    withCache(directory, (cache) => cache.verify({ signal, bytesPerSecond })),
  );
  const { good, damaged } = found;
  const digests = damaged.map((digest) => `${digest}\n`).join("");
  const rows = { good: grouped(good), damaged: grouped(damaged.length) };
  await print(json ? jsonOf(found) : table(rows) + digests);
  process.exitCode = damaged.length > 0 ? EXIT.damaged : EXIT.done;
}
