"""Reads a file with each of several readers of pyzstd, and prints a line of JSON for each: the number of bytes that it
returned, and the name of its error.

usage: read-whole.py FILE
"""

import json
import sys

import pyzstd

path = sys.argv[1]
with open(path, "rb") as file:
    data = file.read()


def whole(take):
    take(pyzstd.decompress(data))


def stream(take):
    decompressor = pyzstd.EndlessZstdDecompressor()
    for start in range(0, len(data), 4096):
        take(decompressor.decompress(data[start : start + 4096]))
    if not decompressor.at_frame_edge:
        raise EOFError("in a frame")


def file_like(take):
    with pyzstd.ZstdFile(path) as file:
        while part := file.read(4096):
            take(part)


def seekable(take):
    with pyzstd.SeekableZstdFile(path, "r") as file:
        while part := file.read(4096):
            take(part)


for reader in whole, stream, file_like, seekable:
    parts = []
    try:
        reader(parts.append)
        error = None
    except Exception as raised:
        error = type(raised).__name__
    print(json.dumps({"reader": reader.__name__, "bytes": sum(map(len, parts)), "error": error}))
