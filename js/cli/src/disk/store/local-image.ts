/** Errors of attached disks, which name the local image and the command that saves it. */
import { SnapshotError } from "@hedgerow/snapshot";

import { CliError, type ErrorCode } from "../../error.js";

/** The hint of the API when another host has taken a disk. */
const HINT = "; salvage the local image as a new disk";

/** The local image of an attached disk. */
export interface LocalImage {
  /** The store, as in the command line. */
  readonly place: string;
  /** The path of the image. */
  readonly image: string;
}

/** Returns the error of a disk that is not served any more and has unsaved changes. */
export function unsavedError(
  code: ErrorCode,
  message: string,
  { place, image }: LocalImage,
): CliError {
  const hint = `its changes are in ${image}: run "hedgerow disk recover ${place} ${image} --as <new name>"`;
  return new CliError(code, `${message.replace(HINT, "")}; ${hint}`);
}

/** Returns the error of a disk that was lost, and is still served. */
export function lostError({ code, message }: SnapshotError, { place, image }: LocalImage) {
  const hint = `to save ${image} as a new disk, end this process and run "hedgerow disk recover ${place} ${image} --as <new name>"`;
  return new CliError(code, `${message.replace(HINT, "")}; ${hint}`);
}

/** Returns whether an error says that the disk was lost. */
export function isLost(error: unknown): error is SnapshotError {
  return error instanceof SnapshotError && error.code === "ERR_LEASE_LOST";
}
