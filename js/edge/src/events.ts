/** Events on channels of `node:diagnostics_channel`. Loads nothing in runtimes without that module. */
import type { AdapterReport } from "./adapters/adapter.js";

/** The events of this package, by the name of their channel. */
export interface Events {
  /** An adapter received a request, or examined the head of a response. */
  readonly "hedgerow:edge:message": AdapterEvent & Pick<AdapterReport, "direction">;
  /** An adapter stripped fields or refused a request, or would have in a dry run. */
  readonly "hedgerow:edge:report": AdapterEvent & AdapterReport;
  /** A `PathFilterStore` loaded a filter, failed to, or stopped waiting for it. */
  readonly "hedgerow:edge:load": {
    /** The key of the filter. */
    readonly key: string;
    /** The duration of the load, in milliseconds. */
    readonly duration: number;
    /** The error of a failed load; undefined if it succeeded. */
    readonly error: unknown;
  };
}

/** An event of an adapter. */
export interface AdapterEvent {
  /** The import path of the adapter, such as `hedgerow/connect`. */
  readonly adapter: string;
  /** Whether the adapter changes nothing. */
  readonly dryRun: boolean;
}

/** The part of a channel that this package uses. */
interface Channel<Event> {
  readonly hasSubscribers: boolean;
  publish(event: Event): void;
}

type Runtime = {
  process?: {
    getBuiltinModule?(
      name: "node:diagnostics_channel",
    ): { channel(name: string): Channel<never> } | undefined;
  };
};

/** Returns a channel, or undefined in runtimes without `node:diagnostics_channel`. */
export function channelOf<Name extends keyof Events>(
  name: Name,
): Channel<Events[Name]> | undefined {
  const { process } = globalThis as Runtime;
  try {
    // Not an import, which fails in browsers and on edge platforms.
    return process?.getBuiltinModule?.("node:diagnostics_channel")?.channel(name);
  } catch {
    // The edge runtime of Next.js has functions of `process` that only throw.
    return undefined;
  }
}
