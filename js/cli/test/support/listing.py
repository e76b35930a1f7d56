"""Prints what is in a directory as JSON: each name with all that a file system keeps about it."""

import hashlib
import json
import os
import stat
import sys


def content_of(path, found):
    if stat.S_ISREG(found.st_mode):
        digest = hashlib.blake2b()
        with open(path, "rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        return digest.hexdigest()
    if stat.S_ISLNK(found.st_mode):
        return os.readlink(path).decode("latin1")
    return None


def xattrs_of(path):
    names = sorted(os.listxattr(path, follow_symlinks=False))
    return {name: os.getxattr(path, name, follow_symlinks=False).hex() for name in names}


def list_tree(root):
    first_names = {}
    entries = {}

    def add(path, name):
        found = os.lstat(path)
        is_directory = stat.S_ISDIR(found.st_mode)
        # Names of one file share its first name.
        first = first_names.setdefault((found.st_dev, found.st_ino), name)
        entries[name.decode("latin1")] = {
            "mode": oct(found.st_mode),
            "owner": [found.st_uid, found.st_gid],
            "time": found.st_mtime_ns,
            "size": 0 if is_directory else found.st_size,
            "names": 0 if is_directory else found.st_nlink,
            "device": found.st_rdev,
            "content": content_of(path, found),
            "first": first.decode("latin1"),
            "xattrs": xattrs_of(path),
        }
        if is_directory:
            for below in sorted(os.listdir(path)):
                add(path + b"/" + below, name + b"/" + below)

    add(os.fsencode(root), b"")
    return entries


json.dump(list_tree(sys.argv[1]), sys.stdout)
