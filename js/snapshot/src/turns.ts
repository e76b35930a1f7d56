/** A queue of actions, each of which runs when those before it have ended. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs an action in its turn. Settles as the action does; the next one runs in either case. */
  run<T>(action: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(action);
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Waits until the actions that were added before have ended. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
