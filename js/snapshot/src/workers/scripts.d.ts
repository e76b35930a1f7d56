/** What threads run, as texts: the build makes each of the worker beside this file, with all that it imports. */
export const DECODE_WORKER: string;
export const ENCODE_WORKER: string;
export const FETCH_WORKER: string;
