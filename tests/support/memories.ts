/**
 * Counts the memory that WebAssembly has, as whoever embeds a module can see it: in the exports of its
 * instance. To be imported before what instantiates one.
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

/** The bytes of all memories of the instances that were made. They never become fewer. */
export function memoryBytes(): number {
  return memories.reduce((bytes, { buffer }) => bytes + buffer.byteLength, 0);
}
