import { grouped } from "../print.js";
import { type Spinner, startSpinner } from "../progress/spinner.js";

/** How often the count is looked at; to ask for the time at each path would take longer than it. */
const PATHS_A_STEP = 1 << 12;

/** Shows on standard error how many paths there are so far, if it is a terminal. */
export class Progress {
  #paths = 0;

  private constructor(private readonly spinner: Spinner) {}

  static async start(): Promise<Progress> {
    return new Progress(await startSpinner("collecting paths"));
  }

  /** Counts a path. */
  count(): void {
    this.#paths += 1;
    if (this.#paths % PATHS_A_STEP === 0) this.spinner.text = `${grouped(this.#paths)} paths`;
  }

  stop(): void {
    this.spinner.stop();
  }
}
