/** The scenario: the edge and the sandboxes of a platform run together, in rounds, over one object store. */
import { startS3 } from "../support/s3/server.js";
import { Store } from "../support/s3/store.js";
import { Coverage } from "./coverage.js";
import { EDGE_KINDS, Edge } from "./edge/edge.js";
import { bundleWorker } from "./edge/site-worker.js";
import { LeakWatch } from "./leaks.js";
import { descendants, expectNothingOpened, openFiles } from "./processes.js";
import { SANDBOX_KINDS, Sandboxes } from "./sandboxes/sandboxes.js";

/** The maximum duration of a scenario, in seconds. */
export const MAX_SECONDS = 3600;

/** The number of rounds that covers every kind of event. Fewer rounds only reproduce failures. */
export const FULL_COVERAGE_ROUNDS = 4;

export interface ScenarioOptions {
  readonly seed: number;
  readonly rounds: number;
  /** Returns a path in the folder of the scenario. */
  readonly path: (...parts: string[]) => string;
  /** Receives progress and results. */
  readonly log: (text: string) => void;
}

/** Deployments in each round. */
const DEPLOYMENTS = 3;

/** Runs the scenario. Throws the first failure, with the command that reproduces it. */
export async function runScenario(options: ScenarioOptions): Promise<void> {
  // The bundler starts a process that stays, so it has to run before the processes are counted.
  const modules = await bundleWorker();
  const [openBefore, childrenBefore] = [openFiles(process.pid), descendants(process.pid).length];
  const coverage = new Coverage([...EDGE_KINDS, ...SANDBOX_KINDS]);
  const store = new Store(await startS3());
  const edge = new Edge(options.seed, coverage, store, options.path);
  const sandboxes = new Sandboxes(options.seed, coverage, store, options.path);
  let closed: PromiseSettledResult<void>[] = [];
  try {
    await both(edge.start(modules), sandboxes.start());
    await runRounds(options, edge, sandboxes, coverage);
  } finally {
    closed = await Promise.allSettled([edge.close(), sandboxes.close()]);
    store.close();
    await store.server.close();
  }
  for (const result of closed) if (result.status === "rejected") throw result.reason;
  const children = descendants(process.pid);
  if (children.length > childrenBefore) {
    throw new Error(`processes are still running: ${children.map(({ name }) => name)}`);
  }
  await expectNothingOpened(process.pid, openBefore);
}

async function runRounds(
  { seed, rounds, log }: ScenarioOptions,
  edge: Edge,
  sandboxes: Sandboxes,
  coverage: Coverage,
): Promise<void> {
  let round = 0;
  try {
    const watch = watchOver(edge, sandboxes);
    const start = performance.now();
    for (; round < rounds; round += 1) {
      await both(deploy(edge, round), sandboxes.round(round));
      await watch.sample(round);
      const taken = (performance.now() - start) / 1000;
      const remaining = (taken / (round + 1)) * (rounds - round - 1);
      log(`round ${round + 1} of ${rounds}, ${taken.toFixed()} s, ${remaining.toFixed()} s left`);
    }
    await sandboxes.finish();
    edge.absent.check();
    log(watch.table());
    watch.check();
    log(coverage.table());
    const missing = coverage.missing();
    if (rounds >= FULL_COVERAGE_ROUNDS && missing.length > 0) {
      throw new Error(`some kinds of events did not occur: ${missing.join(", ")}`);
    }
  } catch (cause) {
    const command = `npm run verify -- soak --seed ${seed} --rounds ${Math.min(rounds, round + 1)}`;
    const { message } = cause as Error;
    throw new Error(`seed ${seed}, round ${round + 1}: ${message}\nreproduce it with: ${command}`, {
      cause,
    });
  }
}

async function deploy(edge: Edge, round: number): Promise<void> {
  for (let index = 0; index < DEPLOYMENTS; index += 1) {
    await edge.round(DEPLOYMENTS * round + index);
  }
}

/** Waits for both even if one fails, since closing everything would make the other fail for the wrong reason. */
async function both(one: Promise<unknown>, other: Promise<unknown>): Promise<void> {
  const results = await Promise.allSettled([one, other]);
  const failed = results.find(({ status }) => status === "rejected") as
    | PromiseRejectedResult
    | undefined;
  if (failed !== undefined) throw failed.reason;
}

function watchOver({ worker }: Edge, { service }: Sandboxes): LeakWatch {
  return new LeakWatch([
    {
      name: "the worker",
      pid: worker.pid,
      measure: async () => ({ webAssembly: (await worker.state()).memoryBytes }),
    },
    {
      name: "the service",
      pid: service.pid,
      measure: async () => {
        const { heap, isCollected } = await service.call("memory");
        if (!isCollected) throw new Error("the service has to run with --expose-gc");
        return { heap };
      },
    },
  ]);
}
