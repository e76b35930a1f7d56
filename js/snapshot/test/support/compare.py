"""Compares two sparse files, skipping what is a hole in both.

Finds holes by itself, independently of the package under test.

usage: compare.py ONE OTHER
"""

import errno
import os
import sys

CHUNK = 1 << 20


def extents(file, size):
    """Yields the start and end of each run of data."""
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
            sys.exit(f"{sys.argv[2]}: the {len(one)} bytes from offset {at} differ")
    done = max(done, end)
