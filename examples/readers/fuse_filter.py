"""Reads a path filter of the kind fuse: b"/key" in FuseFilter(path).
From a shell, `python3 fuse_filter.py FILE < keys` prints 1 (may be in it) or 0 (is not)."""
import json, re, struct, sys
from base64 import b64decode
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5, MASK = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5, (1 << 64) - 1

def spin(x, turn, by=1):  # takes 64 bits and gives more: the caller masks, and only where it must
    return (x << turn | x >> 64 - turn) * by

def xxh64(key, seed):
    size, h = len(key), seed + P5
    words, whole = struct.unpack_from("<%dQ" % (size // 8), key), size // 32 * 4
    if whole:
        lanes = [seed + P1 + P2, seed + P2, seed, seed - P1]
        for i in range(whole):
            lanes[i & 3] = spin(lanes[i & 3] + words[i] * P2 & MASK, 31, P1) & MASK
        h = sum(map(spin, lanes, (1, 7, 12, 18)))
        for lane in lanes:
            h = (h ^ spin(lane * P2 & MASK, 31, P1)) * P1 + P4 & MASK
    h += size
    for word in words[whole:]:
        h = spin((h ^ spin(word * P2 & MASK, 31, P1)) & MASK, 27, P1) + P4
    if size & 4:
        h = spin((h ^ struct.unpack_from("<I", key, size & ~7)[0] * P1) & MASK, 23, P2) + P3
    for byte in key[size & ~3:]:
        h = spin((h ^ byte * P5) & MASK, 11, P1)
    h = (h ^ (h & MASK) >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32

class FuseFilter:
    def __init__(self, path):
        with open(path, "rb") as file:
            line = file.readline((1 << 16) + 2)  # the longest, with its end
            fuse = json.loads(line.decode())["fuse"] if line.endswith(b"\n") else {}
            self.m, self.l, self.q, self.s = m, l, q, s = [fuse.get(name) for name in "mlqs"]
            if not ({type(m), type(l), type(q), type(s)} == {int} and 0 <= min(q, s) and
                    max(q, s) < 2**53 and 1 <= l <= 2**16 and 3 * l <= m <= 2**28 and m % l == 0):
                raise ValueError(f"{path}: no path filter of the kind fuse")
            self.text = file.read(4 * m + 6)  # with quotes, a line end and one byte more
        if not re.fullmatch(rb'"[A-Za-z0-9+/]{%d}"\r?\n?' % (4 * m), self.text):
            raise ValueError(f"{path}: part of a path filter, or more than one")
    def has(self, key):
        h = xxh64(key, self.s)
        high, low = divmod(h * self.q & MASK, 1 << 32)
        start, first = divmod(high * (self.m // self.l - 2), 1 << 32)
        for segment, fraction in enumerate((first, low, low * self.l & 0xFFFFFFFF), start):
            at = 1 + 4 * (segment * self.l + (fraction * self.l >> 32))
            h ^= int.from_bytes(b64decode(self.text[at:at + 4]), "big") << 40
        return h >> 40 == 0
    __contains__ = has

if __name__ == "__main__":
    try:
        paths = FuseFilter(sys.argv[1])
    except Exception as error:
        sys.exit(print("cannot read it:", repr(error), file=sys.stderr) or 2)
    for line in sys.stdin.buffer:
        print(int(paths.has(line.rstrip(b"\n"))))
