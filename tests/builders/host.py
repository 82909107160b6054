#!/usr/bin/env python3
"""Wraps GPU code as it lies in files of the host: a minimal ELF program or object, an archive.

usage: host.py KIND OUTPUT FILE...

KIND: program   an ELF program whose .nv_fatbin holds the fatbins, each padded to 8 bytes
      object    an ELF object with them in __nv_relfatbin
      archive   an ar archive of the files, with GNU's table of long names
"""
import os
import struct
import sys


def elf(section, content, kind):
    names = b"\0.shstrtab\0" + section.encode() + b"\0"
    data_at = 64
    names_at = data_at + len(content)
    headers_at = (names_at + len(names) + 7) // 8 * 8
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    out = ident + struct.pack("<HHIQQQIHHHHHH", kind, 62, 1, 0, 0, headers_at, 0, 64, 0, 0, 64, 3, 1)
    out += content + names
    out = out.ljust(headers_at, b"\0")

    def header(name, type_, at, size):
        return struct.pack("<IIQQQQIIQQ", name, type_, 0, 0, at, size, 0, 0, 8, 0)

    return out + bytes(64) + header(1, 3, names_at, len(names)) + header(11, 1, data_at, len(content))


def archive(members):
    long_names, table = b"", []
    for name, _ in members:
        table.append(len(long_names))
        long_names += name.encode() + b"/\n"

    def member(name, content):
        out = name.encode().ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"100644".ljust(8)
        out += str(len(content)).encode().ljust(10) + b"`\n" + content
        return out + b"\n" * (len(content) % 2)

    out = b"!<arch>\n" + member("/", bytes(4)) + member("//", long_names)
    for (_, content), at in zip(members, table):
        out += member(f"/{at}", content)
    return out


def main():
    kind, output, *paths = sys.argv[1:]
    contents = []
    for path in paths:
        with open(path, "rb") as file:
            contents.append(file.read())
    if kind == "archive":
        data = archive([("a-long-member-name-of-" + os.path.basename(p), c) for p, c in zip(paths, contents)])
    else:
        joined = b"".join(c + bytes(-len(c) % 8) for c in contents)
        data = elf("__nv_relfatbin" if kind == "object" else ".nv_fatbin", joined, 1 if kind == "object" else 2)
    with open(output, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()
