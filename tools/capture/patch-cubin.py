#!/usr/bin/env python3
"""Makes one instruction of a cubin invalid: patch-cubin.py IN OUT [NUMBER].

The low 12 bits of instruction NUMBER (default 6) of the first code section become 0xfff, an operation that no GPU has.
"""

import struct
import sys


def text_section(data):
    """(offset, size) of the first section called .text.*"""
    at, count, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, at + 64 * i) for i in range(count)]
    strings = headers[names][4]
    for name, _, _, _, offset, size, *_ in headers:
        if data.startswith(b".text.", strings + name):
            return offset, size
    sys.exit("no code section")


def main(arguments):
    with open(arguments[0], "rb") as cubin:
        data = bytearray(cubin.read())
    offset, size = text_section(data)
    number = int(arguments[2]) if len(arguments) > 2 else 6
    if 16 * number >= size:
        sys.exit(f"only {size // 16} instructions")
    at = offset + 16 * number
    struct.pack_into("<H", data, at, struct.unpack_from("<H", data, at)[0] | 0xfff)
    with open(arguments[1], "wb") as out:
        out.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
