#!/usr/bin/env python3
"""Fills what tests do not need of a cubin with zeros: debug sections, but for the line tables, and the second form of the code
that sm_100 has: drop_debug.py <CUBIN >CUBIN."""

import struct
import sys

KEPT = (".debug_line", ".debug_str")


def main():
    data = bytearray(sys.stdin.buffer.read())
    start, size, count, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * i) for i in range(count)]
    table = headers[names][4]
    for name, kind, _, _, offset, length, *_ in headers:
        name = data[table + name:data.index(0, table + name)].decode()
        base = "." + name.split(".", 2)[2] if name.startswith((".rel.", ".rela.")) else name
        debug = base.startswith((".debug_", ".nv_debug_")) and base not in KEPT
        if kind != 8 and (debug or name.startswith(".nv.merc")):
            data[offset:offset + length] = bytes(length)
    sys.stdout.buffer.write(data)


if __name__ == "__main__":
    main()
