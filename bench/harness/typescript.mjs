// Lets scripts import the TypeScript of tests, as compilers do: `./name.js` may be `./name.ts`. Node removes the types.
import * as modules from "node:module";

// The declarations are of the oldest Node that is supported, and benchmarks run on Node 24.
/** @type {any} */ (modules).registerHooks({
  /** @param {string} specifier @param {unknown} context @param {(specifier: string, context: unknown) => unknown} next */
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      if (!/^\.{1,2}\/.*\.js$/.test(specifier)) throw error;
      return next(specifier.replace(/js$/, "ts"), context);
    }
  },
});
