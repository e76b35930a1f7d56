import {
  makeWorkload,
  POLICIES,
  simulate,
  WORKLOADS,
  type Workload,
  type WorkloadName,
} from "@hedgerow/fleet/simulation";
import { Argument, type Command, Option } from "commander";

import { CliError } from "../error.js";
import { jsonOf } from "../one-line.js";
import { jsonOption, type OutputFlags, parseSize, parseWhole } from "../options.js";
import { columns, print } from "../print.js";
import { rowsOf } from "./simulation-rows.js";
import { traceIn } from "./trace-file.js";

interface SimulateFlags extends OutputFlags {
  readonly workload?: WorkloadName;
  readonly hosts: number;
  readonly starts?: number;
  readonly seed: number;
  readonly cacheBytes?: number;
}

/** How many starts a workload has by default. */
const STARTS = 100_000;

const HELP = `
A trace has one start per line, in the order of time, with times in milliseconds:
  {"time":0,"identity":"debian-13","bytes":536870912,"duration":60000}

Columns:
  hits        starts whose image was in the cache of their host
  load        running sandboxes on the most loaded host over the mean
  placements  starts on the host with the most over the mean
  moved       placements that change if one host is missing
  median, worst  start times; 1 is one cold start of the image alone`;

/** Adds `hedgerow fleet simulate`. */
export function addSimulateCommand(fleet: Command): void {
  fleet
    .command("simulate")
    .description("compare ways to place sandboxes, in a simulation of a fleet")
    .addArgument(new Argument("[trace]", "file of starts as JSON lines; - for standard input"))
    .addOption(
      new Option("--workload <name>", "made starts instead of a trace").choices([...WORKLOADS]),
    )
    .option("--hosts <number>", "number of hosts", parseWhole, 64)
    .option("--starts <number>", "number of starts of a workload (default: 100,000)", parseWhole)
    .option("--seed <number>", "seed of random choices", parseWhole, 1)
    .option(
      "--cache-bytes <size>",
      "maximum size of the cache of a host (default: a fifth of all images)",
      parseSize,
    )
    .addOption(jsonOption())
    .addHelpText("after", HELP)
    .action(run);
}

async function run(trace: string | undefined, flags: SimulateFlags): Promise<void> {
  const { seed, cacheBytes, json } = flags;
  const found = await workloadOf(trace, flags);
  const workload = cacheBytes === undefined ? found : { ...found, cacheBytes };
  const results = POLICIES.map((policy) => simulate(workload, policy, { seed }));
  const { name, hosts, images, starts } = workload;
  const size = { hosts: hosts.length, images: images.length, starts: starts.length };
  const summary = { workload: name, ...size, cacheBytes: workload.cacheBytes, seed };
  await print(json ? jsonOf({ ...summary, results }) : columns(rowsOf(results)));
}

async function workloadOf(
  trace: string | undefined,
  { workload, hosts, starts, seed }: SimulateFlags,
): Promise<Workload> {
  if ((trace === undefined) === (workload === undefined)) {
    throw new CliError("ERR_USAGE", "expected either a trace or --workload");
  }
  if (workload !== undefined)
    return makeWorkload(workload, { hosts, starts: starts ?? STARTS, seed });
  if (starts !== undefined) throw new CliError("ERR_USAGE", "--starts: expected no trace with it");
  return traceIn(trace!, hosts);
}
