/**
 * Counts the WebAssembly memory of all instances, which is visible in the exports of each
 * instance. Import this before anything that instantiates a module.
 */
const memories: WebAssembly.Memory[] = [];

WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
  construct(Instance, args, target) {
    const instance: WebAssembly.Instance = Reflect.construct(Instance, args, target);
    for (const exported of Object.values(instance.exports)) {
      if (exported instanceof WebAssembly.Memory) memories.push(exported);
    }
    return instance;
  },
});

/** Returns the total memory of all instances, in bytes. It never shrinks. */
export function memoryBytes(): number {
  return memories.reduce((bytes, { buffer }) => bytes + buffer.byteLength, 0);
}
