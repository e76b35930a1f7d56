"""Uses every command of NBD by libnbd, on an open handle `h`, and checks what the server says and does.

Run by nbdsh. The disk has at least 1 MiB, which the script overwrites.
"""

import errno

BLOCK = 4096


def fails(number, call, *args, **options):
    try:
        call(*args, **options)
    except nbd.Error as error:
        assert error.errnum == number, (error.errnum, number, args)
        return
    raise AssertionError(f"expected the error {number} of {call}{args}")


assert h.get_protocol() == "newstyle-fixed"
assert h.get_structured_replies_negotiated()
for can in ("flush", "fua", "trim", "zero", "cache", "df", "multi_conn", "fast_zero"):
    assert getattr(h, f"can_{can}")(), can
assert not h.is_read_only()
assert h.can_meta_context("base:allocation")
size = h.get_size()
assert [h.get_block_size(what) for what in range(3)] == [1, 4096, 2**25]

data = bytes(range(256)) * 32
h.pwrite(data, BLOCK)
assert h.pread(len(data), BLOCK) == data
h.pwrite(b"x" * 700, BLOCK + 100, flags=nbd.CMD_FLAG_FUA)
expected = data[:100] + b"x" * 700 + data[800:]
assert h.pread(len(data), BLOCK) == expected
for flags in (0, nbd.CMD_FLAG_DF):
    chunks = []
    note = lambda part, offset, status, error: chunks.append((offset, bytes(part), status))
    h.pread_structured(len(data), BLOCK, note, flags=flags)
    assert b"".join(part for _, part, _ in sorted(chunks)) == expected
    assert all(status == nbd.READ_DATA for _, _, status in chunks)

h.zero(2 * BLOCK, 2 * BLOCK, flags=nbd.CMD_FLAG_NO_HOLE)
h.zero(BLOCK, 4 * BLOCK)
h.trim(BLOCK, BLOCK)
assert h.pread(4 * BLOCK, BLOCK) == bytes(4 * BLOCK)
h.cache(2**20, 0)
h.flush()

extents = {}
note = lambda context, offset, entries, error: extents.update({context: entries})
h.block_status(2**20, 0, note)
assert set(extents) == {"base:allocation"}
assert 3 in extents["base:allocation"][1::2], extents
one = []
note = lambda context, offset, entries, error: one.append(len(entries))
h.block_status(2**20, 0, note, flags=nbd.CMD_FLAG_REQ_ONE)
assert one == [2]

h.set_strict_mode(0)
fails(errno.EINVAL, h.pread, 1, size)
fails(errno.ENOSPC, h.pwrite, b"x", size)
fails(errno.EINVAL, h.trim, 1, size)
fails(errno.ENOSPC, h.zero, 1, size)
fails(errno.EINVAL, h.cache, 1, size)
fails(errno.EINVAL, h.block_status, 1, size, lambda *_: None)
fails(errno.ENOTSUP, h.zero, BLOCK, 0, flags=nbd.CMD_FLAG_FAST_ZERO)
assert h.pread(1, 0) is not None
