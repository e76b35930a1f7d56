import ora from "ora";

import { grouped } from "../print.js";

/** How often the count is looked at; to ask for the time at each path would take longer than it. */
const PATHS_A_STEP = 1 << 12;

/** Shows on standard error how many paths there are so far, if it is a terminal. */
export class Progress {
  #paths = 0;
  readonly #spinner = ora({
    text: "collecting paths",
    stream: process.stderr,
    color: process.env.NO_COLOR ? false : "cyan",
    // Only terminals have columns; with none of them, ora would clear lines without end.
    isSilent: !process.stderr.columns,
    // Standard input may be a source.
    discardStdin: false,
  }).start();

  /** Counts a path. */
  count(): void {
    this.#paths += 1;
    if (this.#paths % PATHS_A_STEP === 0) this.#spinner.text = `${grouped(this.#paths)} paths`;
  }

  stop(): void {
    this.#spinner.stop();
  }
}
