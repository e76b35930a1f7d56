/** Internals that the bundle exports without declaring them. */
import * as hedgerow from "hedgerow";
import * as block from "hedgerow/block";

type Bundle = typeof import("../../dist/entries/bundle-with-build.js");
type BlockBundle = typeof import("../../dist/block/strip-block.js");

export const { buildMemory, FilterFile } = hedgerow as unknown as Bundle;
export const { blockModule } = block as unknown as BlockBundle;
