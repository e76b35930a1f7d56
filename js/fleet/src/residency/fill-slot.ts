import { randomBytes } from "node:crypto";

import type { FleetEngine } from "./engine.js";
import { engineError, tell } from "./engine-error.js";

/** How long it is known that an image was filled, in milliseconds. */
const FILLED = 60_000;

/** The options of a slot, as of `fillLease`. */
export interface SlotOptions {
  readonly engine: FleetEngine;
  readonly slots: number;
  readonly ttl: number;
  readonly onError: ((error: Error) => void) | undefined;
}

/** A slot that a host takes, renews and releases. */
export class FillSlot {
  readonly #identity: string;
  readonly #options: SlotOptions;
  readonly #holder = randomBytes(16).toString("hex");
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<unknown> | undefined;
  #state: "free" | "held" | "unknown" = "free";
  #released: Promise<void> | undefined;

  constructor(identity: string, options: SlotOptions) {
    this.#identity = identity;
    this.#options = options;
  }

  /** Tries to take the slot, and then renews it until it is released. */
  async take(): Promise<"slot" | "filled" | "full" | "engine"> {
    try {
      const found = await this.#take();
      if (found !== "held") return found;
      this.#state = "held";
      this.#renewLater();
      return "slot";
    } catch (error) {
      // A late reply may still take the slot.
      this.#state = "unknown";
      this.#tell(error);
      return "engine";
    }
  }

  release(isFilled: boolean): Promise<void> {
    this.#released ??= this.#release(isFilled);
    return this.#released;
  }

  async #release(isFilled: boolean): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#state === "free" && !isFilled) return;
    try {
      await this.#renewing;
      const { engine } = this.#options;
      await engine.releaseSlot(this.#identity, this.#holder, isFilled ? FILLED : 0);
    } catch (error) {
      this.#tell(error);
    }
  }

  #take(): Promise<"held" | "filled" | "full"> {
    const { engine, slots, ttl } = this.#options;
    return engine.takeSlot({ identity: this.#identity, holder: this.#holder, slots, ttl });
  }

  #renewLater(): void {
    this.#timer = setTimeout(() => {
      this.#renewing = this.#take()
        .catch((error) => this.#tell(error))
        .finally(() => {
          if (this.#released === undefined) this.#renewLater();
        });
    }, this.#options.ttl / 3);
    // A process that ends keeps no slot.
    this.#timer.unref();
  }

  #tell(error: unknown): void {
    tell(this.#options.onError, engineError("a slot to fill an image", error));
  }
}
