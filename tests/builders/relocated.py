#!/usr/bin/env python3
"""Writes the relocated image of a cubin, in each form that a reader must take for one.

usage: relocated.py CUBIN OUTPUT FORM [BASE]

FORM is made of words joined by "+":
  both     sections and symbols have device addresses (what a driver is believed to keep)
  symbols  only symbols have them, sh_addr stays 0
  sections only sections have them, symbols stay relative
  keep     relocation sections are left in place
  abi7     under the header of CUDA 12
"""
import struct
import sys

import cubin as cb


def main():
    path, output, form = sys.argv[1:4]
    base = int(sys.argv[4], 0) if len(sys.argv) > 4 else 0x7f3600010000
    words = set(form.split("+"))
    with open(path, "rb") as file:
        data = file.read()
    plain = cb.Cubin(data)
    image, address = cb.relocate(data, base, keep_relocs="keep" in words)
    image = bytearray(image)
    if "symbols" in words:
        for index in address:
            struct.pack_into("<Q", image, plain.shoff + 64 * index + 16, 0)
    if "sections" in words:
        table = next(s for s in plain.sections if s.type == cb.SHT_SYMTAB)
        for symbol in plain.symbols:
            struct.pack_into("<Q", image, table.offset + 24 * symbol.index + 8, symbol.value)
    if "abi7" in words:
        image = cb.to_abi7(bytes(image))
    with open(output, "wb") as file:
        file.write(image)


if __name__ == "__main__":
    main()
