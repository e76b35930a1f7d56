/** What the page and its worker say to each other. */
import type { FrameInfo, SnapshotInfo } from "@hedgerow/snapshot/reader";

/** What the page asks for. The first request opens a snapshot; a worker opens one only. */
export type Request =
  | { readonly kind: "open"; readonly source: string | readonly File[] }
  | { readonly kind: "verify" }
  | { readonly kind: "cancel" }
  | { readonly kind: "read"; readonly offset: number; readonly length: number };

/** What the worker answers. */
export type Answer =
  | { readonly kind: "opened"; readonly info: SnapshotInfo; readonly frames: readonly FrameInfo[] }
  | { readonly kind: "progress"; readonly verified: number }
  | { readonly kind: "verified" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "bytes"; readonly offset: number; readonly bytes: Uint8Array }
  | {
      readonly kind: "error";
      /** What failed. */
      readonly request: Request["kind"];
      readonly error: { readonly code?: string; readonly message: string };
    };
