"""Reads a path filter: b"/key" in PathFilter(path), which is PathFilter(path).has(b"/key").
From a shell, `python3 path_filter.py FILE < keys` prints 1 (may be in it) or 0 (is not)."""
import json, re, struct, sys
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5, MASK = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5, (1 << 64) - 1
BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
VALUE = [BASE64.find(char) for char in range(256)]

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

class PathFilter:
    def __init__(self, path):
        with open(path, "rb") as file:
            line = file.readline((1 << 16) + 2)  # the longest, with its end
            bloom = json.loads(line.decode())["bloom"] if line.endswith(b"\n") else {}
            self.m, self.k, self.s = m, k, s = [bloom.get(name) for name in "mks"]
            if not ({type(m), type(k), type(s)} == {int} and 1 <= k <= 64 and 0 <= s < 2**53
                    and 1 <= m < 2**32):
                raise ValueError(f"{path}: no path filter")
            self.text = file.read(m // 6 + 9)  # with quotes, padding, a line end and one byte more
        body = re.fullmatch(rb'"([A-Za-z0-9+/]*)=*"\r?\n?', self.text)
        if not body or m > 6 * len(body[1]):
            raise ValueError(f"{path}: part of a path filter, or more than one")
    def has(self, key):
        h, step = xxh64(key, self.s), 0
        for i in range(self.k):
            b = (h + i * step & MASK) % self.m
            if not VALUE[self.text[1 + b // 6]] >> 5 - b % 6 & 1:
                return False
            step = step or xxh64(key, self.s + 1)  # half of all absent keys never need it
        return True
    __contains__ = has

if __name__ == "__main__":
    try:
        paths = PathFilter(sys.argv[1])
    except Exception as error:
        sys.exit(print("cannot read it:", repr(error), file=sys.stderr) or 2)
    for line in sys.stdin.buffer:
        print(int(paths.has(line.rstrip(b"\n"))))
