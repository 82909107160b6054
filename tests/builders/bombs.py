#!/usr/bin/env python3
"""Small files that ask for much: memory, time or output out of proportion to their bytes.

usage: bombs.py FOLDER [SCALE]

Each bomb is a function that returns the bytes of a file; SCALE multiplies what it repeats. They are written
without the C code, and most are as wrong as they can be while a reader still believes them.
"""
import gzip
import os
import struct
import sys

import coredump as cd
import dwarf as dw

CODE_AT = 0x7f0000001000
EXIT = struct.pack("<QQ", 0x000000000000794d, 0x000fea0003800000)
SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_NOBITS, SHT_NV_INFO = 1, 2, 3, 4, 8, 0x70000000


def elf(sections, machine=190, kind=2, sm=90):
    """A cubin of (name, type, flags, addr, link, info, entsize, data); the section numbers count from 1."""
    names = bytearray(b"\0")
    sections = list(sections) + [(".shstrtab", SHT_STRTAB, 0, 0, 0, 0, 0, None)]
    headers, body, at, offsets = [bytes(64)], [], 64, {}
    for name, type_, flags, addr, link, info, entsize, data in sections:
        if name not in offsets:
            offsets[name] = len(names)
            names += name.encode() + b"\0"
        data = bytes(names) if data is None else data
        size = data if isinstance(data, int) else len(data)
        content = b"" if isinstance(data, int) else data
        headers.append(struct.pack("<IIQQQQIIQQ", offsets[name], type_, flags, addr, at, size, link, info, 8, entsize))
        body.append(content)
        at += len(content)
    count = len(headers)
    escape = count >= 0xff00
    if escape:
        headers[0] = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, count, count - 1, 0, 0, 0)
    ident = b"\x7fELF\x02\x01\x01\x33\x07".ljust(16, b"\0")
    head = ident + struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 0, at, sm | sm << 16, 64, 0, 0, 64,
                               0 if escape else count, 0xffff if escape else count - 1)
    return head + b"".join(body) + b"".join(headers)


def symbol(name, info, other, section, value, size):
    return struct.pack("<IBBHQQ", name, info, other, section, value, size)


def code_sections(code=EXIT * 64, addr=CODE_AT, name=b"kernel"):
    """1: code; 2: symbols; 3: their names."""
    strings = b"\0" + name + b"\0"
    return [(".text.kernel", SHT_PROGBITS, 6, addr, 2, 1 | 8 << 24, 0, code),
            (".symtab", SHT_SYMTAB, 0, 0, 3, 1, 24,
             symbol(0, 0, 0, 0, 0, 0) + symbol(1, 0x12, 0x10, 1, addr, len(code))),
            (".strtab", SHT_STRTAB, 0, 0, 0, 0, 0, strings)]


def line_table(program, files=b"a.cu\0\0\0\0", dirs=b"", names=True):
    """A table of DWARF 2 with NVIDIA's word."""
    rest = struct.pack("<BBbBB9B", 1, 1, -5, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1) + dirs + b"\0" + files + b"\0"
    rest += bytes(4) if names else b""
    body = struct.pack("<HI", 2, len(rest)) + rest + program
    return struct.pack("<I", len(body)) + body


def line_image(lines, strings=b"\0inlined\0", **code):
    return elf(code_sections(**code) + [(".debug_line", SHT_PROGBITS, 0, 0, 0, 0, 0, lines),
                                        (".debug_str", SHT_PROGBITS, 0, 0, 0, 0, 0, strings)])


def set_address(addr=CODE_AT):
    return b"\0\x09\x02" + struct.pack("<Q", addr)


END = b"\0\1\1"


def uleb(value):
    return dw.uleb(value)


# ---- line maps ----

def line_sequences(n):
    """One row each, each at an address: a part of its own."""
    return line_image(line_table((set_address() + b"\x1a" + END) * n))


def line_ends(n):
    """The smallest sequence: three bytes."""
    return line_image(line_table(set_address() + END * n))


def line_unknown(n):
    """Sequences without an address, in a table that nobody can divide."""
    return line_image(line_table((b"\x14\x24" + END) * n), addr=0)


def line_special(n):
    """A byte a row."""
    return line_image(line_table(set_address() + b"\x14" * n + END))


def line_wide(n):
    """A byte a row, each with a column."""
    return line_image(line_table(set_address() + b"\5\7" + b"\x14" * n + END))


def line_unsorted(n):
    """Rows that go up and down."""
    step = b"\2" + uleb(2) + b"\1" + b"\2" + uleb((1 << 64) - 1) + b"\1"
    return line_image(line_table(set_address() + step * n + END))


def line_headers(n):
    """Tables without a program."""
    rest = struct.pack("<BBbBB", 1, 1, -5, 14, 1) + b"\0\0"
    body = struct.pack("<HI", 2, len(rest)) + rest
    return line_image((struct.pack("<I", len(body)) + body) * n)


def line_files(n):
    return line_image(line_table(b"", files=b"a\0\0\0\0" * n))


def line_folders(n):
    return line_image(line_table(b"", dirs=b"a\0" * n))


def line_files_5(n):
    """DWARF 5: entries of no fields take no bytes."""
    rest = struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 1) + b"\0" + uleb(1) + b"\0" + uleb(n)
    body = struct.pack("<HBB", 5, 8, 0) + struct.pack("<I", len(rest) + n) + rest + bytes(n)
    return line_image(struct.pack("<I", len(body)) + body)


def line_defined(n):
    return line_image(line_table(set_address() + b"\0\6\3a\0\0\0\0" * n + b"\1" + END))


def line_broken(n):
    """Damage in every sequence."""
    return line_image(line_table((set_address() + b"\x1a\0\0") * n + END))


def line_chains(n, code=EXIT * 4096):
    """Each row is inlined at the one before."""
    rows = b"\x1a"
    for number in range(1, n + 1):
        context = 1 + (number - 1) % 500
        rows += b"\0" + bytes([1 + len(uleb(context)) + 1]) + b"\x90" + uleb(context) + b"\1" + b"\x1a"
    return line_image(line_table(set_address() + rows + END), code=code)


def line_names(n):
    """Chains of functions with long names."""
    rows = b"\x1a"
    for number in range(1, n + 1):
        rows += b"\0" + bytes([1 + len(uleb(number)) + 1]) + b"\x90" + uleb(min(number, 400)) + b"\1" + b"\x1a"
    return line_image(line_table(set_address() + rows + END), strings=b"\0" + b"n" * 60000 + b"\0", code=EXIT * 4096)


def line_paths(n):
    """Every row names a file with a long name."""
    long = b"/".join([b"f"] * 50000)
    return line_image(line_table(set_address() + b"\x1a" * n + END, files=long + b"\0\0\0\0"), code=EXIT * 4096)


def line_many_folders(n):
    """A path of a million components."""
    return line_image(line_table(set_address() + b"\x1a" * 4 + END, files=b"a/" * n + b"b.cu\0\0\0\0"))


# ---- images ----

def many_symbols(n):
    sections = code_sections()
    table = symbol(0, 0, 0, 0, 0, 0) + symbol(1, 0x12, 0x10, 1, CODE_AT, 0) * n
    sections[1] = sections[1][:7] + (table,)
    return elf(sections)


def spread_symbols(n):
    """Each at a place of its own."""
    sections = code_sections(code=EXIT * n)
    table = symbol(0, 0, 0, 0, 0, 0) + b"".join(symbol(1, 0x12, 0x10, 1, CODE_AT + 16 * i, 16) for i in range(n))
    sections[1] = sections[1][:7] + (table,)
    return elf(sections)


def long_symbols(n):
    """Symbols that share one long name, each from another place of it."""
    sections = code_sections(name=b"_Z" + b"1a" * 200000)
    table = symbol(0, 0, 0, 0, 0, 0) + b"".join(symbol(1 + i % 400000, 0x12, 0x10, 1, CODE_AT + i % 256, 1)
                                                for i in range(n))
    sections[1] = sections[1][:7] + (table,)
    return elf(sections)


def hostile_names(n):
    """Names that double with every letter."""
    name = b"_Z1fI" + b"1aIS" * 40 + b"".join(b"S%c_S%c_" % (48 + i % 10, 48 + i % 10) for i in range(300)) + b"E" * 60
    deep = b"_Z1f" + b"PF" * 4000 + b"v" + b"E" * 4000
    double = b"_Z1fSt4pairI" + b"".join(b"St4pairIS%s_S%s_E" % (b"%d" % i, b"%d" % i) for i in range(9)) + b"E"
    strings = b"\0kernel\0" + name + b"\0" + deep + b"\0" + double + b"\0"
    at = [1, 8, 8 + len(name) + 1, 8 + len(name) + len(deep) + 2]
    sections = code_sections()
    table = symbol(0, 0, 0, 0, 0, 0) + b"".join(
        symbol(at[i % 4], 0x12, 0x10, 1, CODE_AT + 16 * (i % 64), 16) for i in range(n))
    sections[1] = sections[1][:7] + (table,)
    sections[2] = sections[2][:7] + (strings,)
    return elf(sections)


def many_sections(n):
    return elf(code_sections() + [(".nv.info.x", SHT_NV_INFO, 0, 0, 2, 1, 0, b"")] * n)


def code_headers(n):
    """Section headers that all are code."""
    return elf(code_sections() + [(".text.x", SHT_PROGBITS, 6, CODE_AT, 2, 1, 0, EXIT)] * n)


def shared_code(n):
    """Code sections that are the same bytes of the file."""
    image = bytearray(elf(code_sections(code=EXIT * 65536) + [(".text.x", SHT_PROGBITS, 6, 0, 2, 1, 0, b"")] * n))
    at, = struct.unpack_from("<Q", image, 40)
    for i in range(4, 4 + n):
        struct.pack_into("<QQQ", image, at + 64 * i + 16, CODE_AT + (i << 24), 64, 16 * 65536)
    return bytes(image)


def shared_relocations(n):
    """Tables of relocations that are the same bytes of the file."""
    entry = struct.pack("<QQQ", 0, 1 << 32 | 2, 0)  # R_CUDA_64 of the first symbol
    table = (".rela.text.kernel", SHT_RELA, 0, 0, 2, 1, 24, b"")
    image = bytearray(elf(code_sections() + [table] * n + [table[:7] + (entry * 4 * n,)]))
    at, = struct.unpack_from("<Q", image, 40)
    place = struct.unpack_from("<QQ", image, at + 64 * (4 + n) + 24)
    for i in range(4, 4 + n):
        struct.pack_into("<QQ", image, at + 64 * i + 24, *place)
    return bytes(image)


def long_section_names(n):
    """Sections that share one long name."""
    return elf(code_sections() + [(".nv.x" + "x" * 40 * n, SHT_PROGBITS, 2, 0, 2, 1, 0, b"")] * n)


def long_relocated_names(n):
    """Relocations with a symbol that has a long name."""
    sections = code_sections(name=b"_Z" + b"1a" * 10 * n)
    entry = struct.pack("<QQQ", 0, 1 << 32 | 2, 0)
    return elf(sections + [(".rela.text.kernel", SHT_RELA, 0, 0, 2, 1, 24, entry * n)])


def shared_functions(n):
    """Functions that are all the same code."""
    sections = code_sections(code=EXIT * 65536)
    table = symbol(0, 0, 0, 0, 0, 0) + symbol(1, 0x12, 0x10, 1, CODE_AT, 16 * 65536) * n
    sections[1] = sections[1][:7] + (table,)
    return elf(sections)


def branches(n):
    """Each instruction a block."""
    bra = struct.pack("<QQ", 0xfffffffc00fc7947, 0x000fc0000383ffff)
    return elf(code_sections(code=bra * n))


def attributes(n):
    info = struct.pack("<BBHI", 4, 0x17, 4, 0) * n
    return elf(code_sections() + [(".nv.info.kernel", SHT_NV_INFO, 0, 0, 2, 1, 0, info)])


def notes(n):
    note = struct.pack("<III", 4, 4, 1) + b"ABC\0" + bytes(4)
    return elf(code_sections() + [(".note.nv.tkinfo", 7, 0, 0, 0, 0, 0, note * n)])


def ptx_lines(n):
    """Text of empty lines."""
    return elf(code_sections() + [(".nv_debug_ptx_txt.1", SHT_PROGBITS, 0, 0, 0, 0, 0, b"\0" * n),
                                  (".nv_debug_line_sass", SHT_PROGBITS, 0, 0, 0, 0, 0,
                                   line_table(set_address() + b"\x14" * 200 + END))])


def debug_info(info, abbrev, strings):
    return elf(code_sections() + [(".debug_info", SHT_PROGBITS, 0, 0, 0, 0, 0, info),
                                  (".debug_abbrev", SHT_PROGBITS, 0, 0, 0, 0, 0, abbrev),
                                  (".debug_str", SHT_PROGBITS, 0, 0, 0, 0, 0, strings)])


def dwarf_functions(n):
    """Three bytes an entry."""
    abbrev = b"\1\x11\1\0\0" + b"\2\x2e\0\x03\x0e\0\0" + b"\0"
    entries = b"\1" + b"\2\1\0\0\0" * n + b"\0"
    body = struct.pack("<HIB", 2, 0, 8) + entries
    return debug_info(struct.pack("<I", len(body)) + body, abbrev, b"\0kernel\0")


def dwarf_units(n):
    body = struct.pack("<HIB", 2, 0, 8) + b"\1"
    return debug_info((struct.pack("<I", len(body)) + body) * n, b"\1\x11\0\0\0\0", b"\0")


def dwarf_abbrevs(n):
    """Abbreviations without attributes: five bytes each."""
    abbrev = b"".join(uleb(i + 1) + b"\x34\0\0\0" for i in range(n)) + b"\0"
    body = struct.pack("<HIB", 2, 0, 8) + b"\1"
    return debug_info(struct.pack("<I", len(body)) + body, abbrev, b"\0")


# ---- fatbins and archives ----

def fatbin_entry(payload, flags=0, packed=0, unpacked=0, kind=2):
    return struct.pack("<HHIQIIIIIIQQQ", kind, 0x101, 64, len(payload), packed, 0, 0, 90, 0, 0, flags, 0, unpacked) + \
        payload


def fatbin(entries):
    return struct.pack("<IHHQ", 0xba55ed50, 1, 16, len(entries)) + entries


def fatbin_empty(n):
    return fatbin(fatbin_entry(b"") * n)


def fatbin_cubins(n):
    return fatbin(fatbin_entry(elf([])) * n)


def lz4_block(first, n):
    """The bytes `first`, then n zeros, as one LZ4 block."""
    out = bytes([0xf0 | 0xf]) + bytes([255] * ((len(first) - 15) // 255)) + bytes([(len(first) - 15) % 255]) + first
    out += struct.pack("<H", 1) + b"\xff" * ((n - 19) // 255) + bytes([(n - 19) % 255])
    return out + b"\x50" + bytes(5)


def fatbin_lz4(n):
    """Images that unpack to 200 times their size."""
    head = elf(code_sections())
    packed = lz4_block(head + bytes(1), 1 << 20)
    size = len(head) + 1 + (1 << 20) + 5
    return fatbin(fatbin_entry(packed, 0x2000, len(packed), size) * n)


def archive_members(n):
    member = b"a/".ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"644".ljust(8) + b"%-10d" % 0 + b"`\n"
    one = elf(code_sections())
    last = b"b/".ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"644".ljust(8) + b"%-10d" % len(one) + b"`\n"
    return b"!<arch>\n" + member * n + last + one


# ---- dumps ----

def dump_of(image, options=None, sms=None, memory=(), device=(), grids=()):
    lane = cd.Lane({"virtualPC": CODE_AT + 0x40, "physPC": 0x40, "ln": 0, "threadIdxX": 0}, regs=[1, 2], preds=[1])
    warp = cd.Warp({"warpId": 0, "validLanesMask": 1, "activeLanesMask": 1, "errorPC": CODE_AT + 0x40,
                    "errorPCValid": 1}, lanes=[lane], uregs=[1], upreds=[1], barriers=[3])
    block = cd.Cta({"gridId64": 5, "clusterDimX": 1, "clusterDimY": 1, "clusterDimZ": 1}, warps=[warp])
    sms = sms or [cd.Sm({"smId": 0, "exception": 14, "errorPC": CODE_AT + 0x40, "errorPCValid": 1}, ctas=[block])]
    grid = cd.Grid({"gridId64": 5, "contextId": 9, "moduleHandle": 77, "functionEntry": CODE_AT,
                    **{f"{what}Dim{axis}": 1 for what in ("grid", "block") for axis in "XYZ"}, "gridDimX": 64, "blockDimX": 64})
    context = cd.Context({"contextId": 9}, modules=[cd.Module({"moduleHandle": 77}, image=image, relocated=image)])
    device = cd.Device({"devName": "GPU", "devType": "G", "smType": "sm_90", "numSMs": 1, "smMajor": 9, **dict(device)},
                       contexts=[context], grids=[grid, *grids], sms=sms)
    return cd.write(cd.Dump(devices=[device], memory=list(memory), meta={"generatorName": "seed"}),
                    options or cd.Options())


def dump_sequences(n):
    return dump_of(line_sequences(n))


def dump_headers(n):
    """Section headers of no content."""
    return dump_of(line_image(line_table(b"")), cd.Options(unknown=n))


def dump_lanes(n):
    """Lane tables and registers that overlap: rows that share their bytes."""
    image = bytearray(dump_of(line_image(line_table(b""))))
    return bytes(image)


def dump_overlaps(n):
    """Memory sections that all are the same bytes."""
    image = bytearray(dump_of(line_image(line_table(b"")), memory=[
        cd.Memory({"address": 0x7f1000000000 + (i << 20)}, data=b"") for i in range(n)] + [
            cd.Memory({"address": 0x7f2000000000}, data=bytes(1 << 20))]))
    at, = struct.unpack_from("<Q", image, 40)
    count, = struct.unpack_from("<Q", image, at + 32)
    big = None
    for i in range(count):
        name, kind, flags, addr, off, size = struct.unpack_from("<IIQQQQ", image, at + 64 * i)
        if addr == 0x7f2000000000:
            big = off
    for i in range(count):
        addr, = struct.unpack_from("<Q", image, at + 64 * i + 16)
        if addr >> 36 == 0x7f1:
            struct.pack_into("<QQ", image, at + 64 * i + 24, big, 1 << 20)
    return bytes(image)


def dump_path(n):
    """A fault in a file whose path has a million components."""
    return dump_of(line_image(line_table(set_address() + b"\x1a" + b"\2" + uleb(256) + END, files=b"a/" * n + b"b.cu\0\0\0\0")))


def dump_paths(n):
    """A fault in a chain of inlined calls, each in a file whose path goes in and out of a folder that is there."""
    files = b"".join(b"src/../" * 1000 + b"%d.cu\0\0\0\0" % i for i in range(n))
    rows = b"\x1a"
    for number in range(1, n + 1):
        context = uleb(min(number, 400))
        rows += b"\4" + uleb(number) + b"\0" + bytes([2 + len(context)]) + b"\x90" + context + b"\1" + b"\x1a"
    return dump_of(line_image(line_table(set_address() + rows + b"\2" + uleb(256) + END, files=files)))


# ---- other texts ----

def text_assembly(n):
    return b".arch sm_90\n.kernel k\n" + b"    EXIT ;\n" * n


def text_labels(n):
    return b".arch sm_90\n.kernel k\n" + b"".join(b"l%d:\n" % i for i in range(n)) + b"    EXIT ;\n"


def text_newlines(n):
    return b"\n" * n


def text_junk(n):
    return b"?\n" * n


IMAGE_VERBS = ("lines", "lines --json", "lines --raw", "disas", "symbolize", "disas --source", "disas --asm",
               "disas --cfg", "lines --pc 0x10", "lines --source a.cu:1")
# name: (function, repeats for about 1 MB, verbs)
BOMBS = {f.__name__.replace("_", "-"): (f, n, kind) for f, n, kind in (
    (line_sequences, 70000, "image"), (line_ends, 300000, "image"), (line_unknown, 200000, "image"),
    (line_special, 1000000, "image"), (line_wide, 1000000, "image"), (line_unsorted, 70000, "image"),
    (line_headers, 50000, "image"), (line_files, 200000, "image"), (line_folders, 500000, "image"),
    (line_files_5, 1000000, "image"), (line_defined, 120000, "image"), (line_broken, 70000, "image"),
    (line_chains, 60000, "image"), (line_names, 2000, "image"), (line_paths, 60000, "image"),
    (line_many_folders, 1000000, "image"),
    (many_symbols, 40000, "image"), (spread_symbols, 25000, "image"), (long_symbols, 30000, "image"),
    (hostile_names, 40000, "image"), (many_sections, 15000, "image"), (code_headers, 14000, "image"),
    (shared_code, 1000, "image"), (shared_relocations, 6000, "image"), (long_section_names, 9000, "image"),
    (long_relocated_names, 20000, "image"), (shared_functions, 1000, "image"), (branches, 60000, "image"),
    (attributes, 120000, "image"), (notes, 50000, "image"), (ptx_lines, 1000000, "image"),
    (dwarf_functions, 200000, "image"), (dwarf_units, 80000, "image"), (dwarf_abbrevs, 150000, "image"),
    (fatbin_empty, 15000, "image"), (fatbin_cubins, 4000, "image"), (fatbin_lz4, 200, "image"),
    (archive_members, 16000, "image"),
    (dump_sequences, 70000, "dump"), (dump_headers, 10000, "dump"), (dump_overlaps, 2000, "dump"),
    (dump_path, 1000000, "dump"), (dump_paths, 128, "dump"),
    (text_assembly, 100000, "text"), (text_labels, 100000, "text"), (text_newlines, 1000000, "text"),
    (text_junk, 500000, "text"),
)}


def build(name, scale=1.0):
    function, n, _ = BOMBS[name]
    return function(max(1, int(n * scale)))


def main():
    folder, scale = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    os.makedirs(folder, exist_ok=True)
    for name in BOMBS:
        with open(os.path.join(folder, name), "wb") as out:
            out.write(build(name, scale))


if __name__ == "__main__":
    main()
