/** All of it at once, round after round: the edge and the sandboxes of a platform, over one object store. */
import { startS3 } from "../support/s3/server.js";
import { Coverage } from "./coverage.js";
import { EDGE_KINDS, Edge } from "./edge/edge.js";
import { bundleWorker } from "./edge/site-worker.js";
import { LeakWatch } from "./leaks.js";
import { descendants, expectNothingOpened, openFiles } from "./processes.js";
import { SANDBOX_KINDS, Sandboxes } from "./sandboxes/sandboxes.js";
import { Store } from "./store.js";

/** The longest that a scenario may take, in seconds. */
export const MAX_SECONDS = 3600;

/** So many rounds have everything happen once. Fewer of them are for repeating what failed. */
export const ENOUGH_ROUNDS = 4;

export interface ScenarioOptions {
  readonly seed: number;
  readonly rounds: number;
  /** Where files are. */
  readonly path: (...parts: string[]) => string;
  /** Is told how far it is. */
  readonly tell: (text: string) => void;
}

/** How many deployments there are in each round of sandboxes. */
const DEPLOYMENTS = 3;

/** Runs it to its end, and throws the first thing that is wrong, and how to see it again. */
export async function runScenario(options: ScenarioOptions): Promise<void> {
  // What bundles keeps a process, which is not of the system.
  const modules = await bundleWorker();
  const [open, children] = [openFiles(process.pid), descendants(process.pid).length];
  const coverage = new Coverage([...EDGE_KINDS, ...SANDBOX_KINDS]);
  const store = new Store(await startS3(MAX_SECONDS));
  const edge = new Edge(options.seed, coverage, store, options.path);
  const sandboxes = new Sandboxes(options.seed, coverage, store, options.path);
  let ends: PromiseSettledResult<void>[] = [];
  try {
    await both(edge.start(modules), sandboxes.start());
    await runRounds(options, edge, sandboxes, coverage);
  } finally {
    ends = await Promise.allSettled([edge.close(), sandboxes.close()]);
    store.close();
    await store.server.close();
  }
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  const left = descendants(process.pid);
  if (left.length > children) {
    throw new Error(`expected all processes to have ended, found ${left.map(({ name }) => name)}`);
  }
  await expectNothingOpened(process.pid, open);
}

async function runRounds(
  { seed, rounds, tell }: ScenarioOptions,
  edge: Edge,
  sandboxes: Sandboxes,
  coverage: Coverage,
): Promise<void> {
  let round = 0;
  try {
    const watch = watchOver(edge, sandboxes);
    const begun = performance.now();
    for (; round < rounds; round += 1) {
      await both(deploy(edge, round), sandboxes.round(round));
      await watch.look(round);
      const taken = (performance.now() - begun) / 1000;
      const left = (taken / (round + 1)) * (rounds - round - 1);
      tell(`round ${round + 1} of ${rounds}, ${taken.toFixed()} s, ${left.toFixed()} s left`);
    }
    await sandboxes.finish();
    edge.absent.check();
    tell(watch.table());
    watch.check();
    tell(coverage.table());
    const missing = coverage.missing();
    if (rounds >= ENOUGH_ROUNDS && missing.length > 0) {
      throw new Error(`expected to have happened: ${missing.join(", ")}`);
    }
  } catch (cause) {
    const again = `npm run soak -- --seed ${seed} --rounds ${Math.min(rounds, round + 1)}`;
    const { message } = cause as Error;
    throw new Error(`seed ${seed}, round ${round + 1}: ${message}\nagain: ${again}`, { cause });
  }
}

async function deploy(edge: Edge, round: number): Promise<void> {
  for (let turn = 0; turn < DEPLOYMENTS; turn += 1) await edge.round(DEPLOYMENTS * round + turn);
}

/** Waits for both, also if one fails: what goes on would fail for another reason when all is closed. */
async function both(one: Promise<unknown>, other: Promise<unknown>): Promise<void> {
  const failed = (await Promise.allSettled([one, other])).find((end) => end.status === "rejected");
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
        if (!isCollected) throw new Error("expected a service whose garbage can be collected");
        return { heap };
      },
    },
  ]);
}
