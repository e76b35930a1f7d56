/** A wait that something else may end early. */
export class Pause {
  #end = () => {};
  #wake = () => {};
  #isClosed = false;

  /** Waits for a number of milliseconds. @param isWoken whether {@link wake} ends it */
  async wait(delay: number, isWoken = false): Promise<void> {
    if (this.#isClosed) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, delay));
      this.#end = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#wake = isWoken ? this.#end : () => {};
    });
  }

  wake(): void {
    this.#wake();
  }

  /** Ends the wait, and all later ones. */
  close(): void {
    this.#isClosed = true;
    this.#end();
  }
}
