// An esbuild plugin that loads Node's own modules by `require`. An `import` reads all their members, and some are loaded
// when they are first read: from Node 22 on, importing `node:http` takes ten times as long, because it loads a WebSocket
// client, in each thread.

/** Modules with such members, which only code for Node imports. */
const LAZY = /^node:(crypto|http|https|tls|util)$/;

/** @type {import("esbuild").Plugin} */
export const builtins = {
  name: "builtins",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: LAZY }, ({ path }) => ({ path, namespace: "builtin" }));
    onLoad({ filter: LAZY, namespace: "builtin" }, ({ path }) => {
      // esbuild removes the calls whose result nothing imports.
      const names = Object.keys(Object(process.getBuiltinModule(path))).map(
        (name) => `export const ${name} = /* @__PURE__ */ member("${name}");`,
      );
      // Any file will do, and in a thread `import.meta.url` is none. Node 22.2 has no `process.getBuiltinModule`.
      // webpack replaces a call of the export `createRequire` by nothing.
      const contents = `import Module from "node:module";
        const module = Module.createRequire(process.execPath)("${path}");
        const member = (name) => module[name];
        export default module;
        ${names.join("\n")}`;
      return { contents };
    });
  },
};
