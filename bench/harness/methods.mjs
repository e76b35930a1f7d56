// Methods to be timed on fresh inputs. Imports nothing, as it runs in every engine, workerd included.

/**
 * A method. `make` builds the objects that a run consumes; it is not timed.
 *
 * @template Input, Fresh
 * @typedef {{ name: string, make: (input: Input) => Fresh, run: (fresh: Fresh, input: Input) => unknown }} Method
 */

/**
 * Returns methods that run on the same kind of fresh objects.
 *
 * @template Input, Fresh
 * @param {(input: Input) => Fresh} make
 * @param {Record<string, (fresh: Fresh, input: Input) => unknown>} runs by name
 * @returns {Method<Input, Fresh>[]}
 */
export const methodsOf = (make, runs) =>
  Object.entries(runs).map(([name, run]) => ({ name, make, run }));
