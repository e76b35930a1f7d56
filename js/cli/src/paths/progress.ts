import { grouped } from "../print.js";
import { type Spinner, startSpinner } from "../progress.js";

/** Paths between two updates: checking the clock for each path would cost more than the path. */
const PATHS_PER_UPDATE = 1 << 12;

/** Shows the number of paths read so far on standard error, if it is a terminal. */
export class Progress {
  #paths = 0;

  private constructor(private readonly spinner: Spinner) {}

  static async start(): Promise<Progress> {
    return new Progress(await startSpinner("collecting paths"));
  }

  /** Counts a path. */
  count(): void {
    this.#paths += 1;
    if (this.#paths % PATHS_PER_UPDATE === 0) this.spinner.text = `${grouped(this.#paths)} paths`;
  }

  stop(): void {
    this.spinner.stop();
  }
}
