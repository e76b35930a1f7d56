"""Builds a part of a path filter from each partition of a Parquet data set, in parallel:

python3 build_parts.py DATA_SET PARTS BUILD_WASM"""
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import duckdb

from filter_builder import BuildModule, FilterBuilder

# DuckDB writes the netstrings, and Python passes them on without looking at them.
NETSTRINGS = "SELECT strlen(path) || ':' || path || ',' FROM read_parquet(?)"
BATCH = 100_000


@cache
def build_module(path):
    return BuildModule(path)


def build_part(partition, part, wasm, capacity):
    """The partition function: reads a partition, and writes the filter of its paths."""
    builder = FilterBuilder(build_module(wasm), capacity=capacity)
    with duckdb.connect(config={"threads": 1}) as engine:
        netstrings = engine.execute(NETSTRINGS, [f"{partition}/*.parquet"])
        while rows := netstrings.fetchmany(BATCH):
            builder.add_netstrings("".join(text for (text,) in rows).encode())
    part.write_bytes(builder.build())


def main(data_set, parts, wasm):
    partitions = sorted(Path(data_set).iterdir())
    # From the metadata of the files. Duplicates make the filter larger than it needs to be.
    count = "SELECT count(*) FROM read_parquet(?)"
    capacity = duckdb.execute(count, [f"{data_set}/*/*.parquet"]).fetchone()[0]
    Path(parts).mkdir(exist_ok=True)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        tasks = [
            pool.submit(build_part, one, Path(parts, f"{one.name}.filter"), wasm, capacity)
            for one in partitions
        ]
        for task in tasks:
            task.result()
    print(f"{len(partitions)} parts, with a capacity of {capacity} paths")


if __name__ == "__main__":
    main(*sys.argv[1:])
