"""Changes a file in ways that Node has no calls for.

usage: change-file.py map FILE OFFSET TEXT            writes through mapped memory, without a flush
       change-file.py clone FILE FROM OFFSET TO LENGTH  shares a range of the file FROM
"""

import fcntl
import mmap
import os
import struct
import sys

FICLONERANGE = 0x4020940D

how, path, *args = sys.argv[1:]
file = os.open(path, os.O_RDWR)
if how == "map":
    text = args[1].encode()
    memory = mmap.mmap(file, 0)
    memory[int(args[0]) : int(args[0]) + len(text)] = text
else:
    source = os.open(args[0], os.O_RDONLY)
    offset, to, length = map(int, args[1:])
    fcntl.ioctl(file, FICLONERANGE, struct.pack("qQQQ", source, offset, length, to))
