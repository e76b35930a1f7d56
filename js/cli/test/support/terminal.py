"""Runs a command in a terminal of so many columns.

What is typed there comes from standard input. If this process is killed, the terminal hangs up.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

columns, *command = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(columns), 0, 0))
    os.execvp(command[0], command)

copies = {0: terminal, terminal: 1}
while terminal in copies:
    for source in select.select(list(copies), [], [])[0]:
        try:
            data = os.read(source, 1 << 16)
        except OSError:  # Linux says so when nobody has the terminal open any more.
            data = b""
        if data:
            os.write(copies[source], data)
        else:
            del copies[source]

code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(code if code >= 0 else 128 - code)
