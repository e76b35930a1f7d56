"""Reads random pieces of a snapshot with an independent reader, and compares them with the image.

usage: read-pieces.py SNAPSHOT IMAGE COUNT SEED
"""

import os
import random
import sys

from pyzstd import SeekableZstdFile

LONGEST = 1 << 17

snapshot, image, count, seed = sys.argv[1:]
numbers = random.Random(int(seed))
size = os.path.getsize(image)
data = 0
with SeekableZstdFile(snapshot, "r") as found, open(image, "rb") as expected:
    if found.seek(0, os.SEEK_END) != size:
        sys.exit(f"expected {size} bytes, found {found.tell()}")
    for _ in range(int(count)):
        start, length = numbers.randrange(size), numbers.randint(1, LONGEST)
        found.seek(start)
        expected.seek(start)
        piece = expected.read(length)
        if found.read(length) != piece:
            sys.exit(f"the {length} bytes from offset {start} differ")
        data += any(piece)
print(data)
