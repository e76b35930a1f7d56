"""Builds path filters with hedgerow's build.wasm, in Wasmtime."""
import json
import struct

from wasmtime import Engine, Linker, Module, Store, WasmtimeError


class BuildModule:
    """The module, compiled once per process."""

    def __init__(self, path):
        self.engine = Engine()
        self.module = Module.from_file(self.engine, path)

    def instantiate(self):
        """Returns a store, and the exports of a new instance in it."""
        store, linker = Store(self.engine), Linker(self.engine)
        for one in self.module.imports:
            # The module imports only what JavaScript's glue needs: to throw, and to hold values.
            throws = one.name.startswith("__wbg___wbindgen_throw")
            linker.define_func(one.module, one.name, one.type, fail if throws else lambda *_: None)
        exports = linker.instantiate(store, self.module).exports(store)
        exports["__wbindgen_start"](store)
        return store, exports


def fail(*_):
    raise WasmtimeError("build.wasm failed")


class FilterBuilder:
    """Collects the paths of one filter. `rate` is text, because it is written as it is: "1e-7"."""

    def __init__(self, build_module, *, capacity, rate="1e-7", seed=0):
        self.store, self.exports = build_module.instantiate()
        self.rate, self.seed = rate, seed
        self.this = self.call("new", float(rate), float(seed), 0, float(capacity), 0)

    def call(self, method, *args):
        return self.exports[f"filterbuilder_{method}"](self.store, *args)

    def add_netstrings(self, buffer):
        """Adds many paths in one call: b"6:/about,7:/blog/*," has two. Lengths are in bytes."""
        address = self.call("reserve_key", self.this, len(buffer))
        if address == 0:
            raise MemoryError(f"build.wasm has no memory for {len(buffer)} bytes")
        self.exports["memory"].write(self.store, buffer, address)
        if not self.call("add_netstrings", self.this, len(buffer)):
            raise ValueError("expected a buffer of netstrings")

    def build(self, version=""):
        """Returns the file. The builder must not be used afterwards."""
        memory = self.exports["memory"]
        numbers = self.call("build", self.this)
        values = struct.unpack("<6d", memory.read(self.store, numbers, numbers + 48))
        start, length, n, m, k, wildcards = map(int, values)
        if start == 0:
            raise ValueError("expected at most as many different paths as the capacity")
        bloom = f'{{"n":{n},"p":{self.rate},"m":{m},"k":{k},"s":{self.seed}}}'
        deepest = f',"wildcards":{wildcards}' if wildcards else ""
        text = json.dumps(version, ensure_ascii=False)
        header = f'{{"version":{text},"bloom":{bloom}{deepest}}}\n"'
        body = memory.read(self.store, start, start + length)
        return b"".join([header.encode(), body, b'"'])
