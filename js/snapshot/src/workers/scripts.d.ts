/** The scripts of the workers, which the build writes: each `*-worker.ts`, bundled with its imports. */
export const DECODE_WORKER: string;
export const DELTA_WORKER: string;
export const ENCODE_WORKER: string;
export const FETCH_WORKER: string;
