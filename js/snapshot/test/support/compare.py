"""Compares two sparse files, byte for byte, without reading what both have as a hole.

It asks the system itself where data is, so that it does not depend on what is tested.

usage: compare.py ONE OTHER
"""

import errno
import os
import sys

CHUNK = 1 << 20


def extents(file, size):
    """Where a file holds data: pairs of start and end, in order."""
    end = 0
    while end < size:
        try:
            start = os.lseek(file, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return
        end = os.lseek(file, start, os.SEEK_HOLE)
        yield start, end


files = [os.open(path, os.O_RDONLY) for path in sys.argv[1:]]
sizes = [os.fstat(file).st_size for file in files]
if sizes[0] != sizes[1]:
    sys.exit(f"{sys.argv[2]}: expected {sizes[0]} bytes, found {sizes[1]}")
done = 0
for start, end in sorted(extent for file in files for extent in extents(file, sizes[0])):
    for at in range(max(start, done), end, CHUNK):
        one, other = (os.pread(file, min(CHUNK, end - at), at) for file in files)
        if one != other:
            sys.exit(f"{sys.argv[2]}: of {len(one)} bytes from {at} on, some are wrong")
    done = max(done, end)
