import { subscribe } from "node:diagnostics_channel";

import type { AttachedDisk, Events, Generation, ListenOptions } from "@hedgerow/snapshot";

import { jsonOf } from "../../one-line.js";
import { print } from "../../print.js";
import { report } from "../../run.js";
import { showFill, untilAborted } from "../serve.js";
import { type ControlActions, type ControlServer, listenForControl } from "./control/server.js";
import { socketPath } from "./control/socket-path.js";
import { detachWithin } from "./detach-within.js";
import { isLost, lostError } from "./local-image.js";

/** How an attached disk is served. */
export interface AttachedServing {
  /** The store, as in the command line. */
  readonly place: string;
  readonly listen: ListenOptions;
  /** How long saving and detaching may take, in milliseconds. */
  readonly deadline: number;
  readonly json: boolean;
  /** Aborted by a signal. */
  readonly signal: AbortSignal;
}

/**
 * Serves an attached disk until a signal arrives or another process asks to detach it. Then saves and detaches it. If
 * that fails, ends the process with an error.
 */
export async function serveAttached(disk: AttachedDisk, serving: AttachedServing): Promise<void> {
  const { place, deadline, json, signal } = serving;
  const local = { place, image: disk.image };
  const asked = new AbortController();
  let detaching: Promise<Generation> | undefined;
  const detach = () => {
    detaching ??= detachWithin(disk, deadline, local);
    asked.abort();
    return detaching;
  };
  const save: ControlActions["save"] = ({ label }) =>
    disk.save({ label }).catch((error: unknown) => {
      throw isLost(error) ? lostError(error, local) : error;
    });
  warnOf(disk, place);
  const control = await started(disk, serving, { save, detach });
  const shown = new AbortController();
  const showing = showFill(disk, shown.signal);
  await Promise.race([untilAborted(signal), untilAborted(asked.signal)]);
  shown.abort();
  await showing;
  try {
    await detach();
  } catch (error) {
    await control.close();
    // A transfer that hangs must not keep the process.
    process.exit(report(error, json));
  }
  await control.close();
}

/** Starts to listen, and prints the URI. */
async function started(
  disk: AttachedDisk,
  { place, listen, deadline, json }: AttachedServing,
  actions: ControlActions,
): Promise<ControlServer> {
  let control: ControlServer | undefined;
  try {
    const { uri } = await disk.listen(listen);
    control = await listenForControl(await socketPath(place, disk.name), actions);
    const { name, epoch, size, image: path } = disk;
    const { number: generation } = disk.generation;
    await print(json ? jsonOf({ uri, name, generation, epoch, size, path }) : `${uri}\n`);
    return control;
  } catch (error) {
    await control?.close();
    await detachWithin(disk, deadline, { place, image: disk.image });
    throw error;
  }
}

/** Warns when the disk is lost, and when it cannot be saved for the time being. */
function warnOf(disk: AttachedDisk, place: string): void {
  const { lost, image } = disk;
  const warn = () => process.emitWarning(lostError(lost.reason, { place, image }).message);
  lost.addEventListener("abort", warn, { once: true });
  subscribe("hedgerow:store:save-failed", (event) => {
    const { reason } = event as Events["hedgerow:store:save-failed"];
    process.emitWarning(`cannot save ${disk.name} for now: ${reason}`);
  });
}
