"""Reads a cubin, decodes its line map, and makes the relocated image that a driver would keep of it.

Independent of the C library: the tests compare the two. Facts: docs/formats (cubin, line map); what a *relocated* image
looks like in detail is partly inferred, see relocate().
"""

import functools
import os
import re
import struct

SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_REL = 2, 4, 8, 9
SHF_ALLOC, SHF_EXECINSTR = 2, 4
STT_OBJECT, STT_FUNC, STT_SECTION = 1, 2, 3
STO_ENTRY = 0x10
INSTRUCTION = 16


class Section:
    def __init__(self, index, header):
        self.index = index
        (self.name_off, self.type, self.flags, self.addr, self.offset, self.size, self.link, self.info, self.align,
         self.entsize) = header
        self.name = ""


class Symbol:
    def __init__(self, index, name, info, other, shndx, value, size):
        self.index, self.name, self.info, self.other = index, name, info, other
        self.shndx, self.value, self.size = shndx, value, size

    @property
    def kind(self):
        return self.info & 15


class Reloc:
    def __init__(self, section, target, offset, symbol, kind, addend):
        self.section, self.target, self.offset = section, target, offset
        self.symbol, self.kind, self.addend = symbol, kind, addend


def cstring(data, at):
    return data[at:data.index(b"\0", at)].decode("utf-8", "surrogateescape")


class Cubin:
    """A bare ELF64 view of one cubin (bytes)."""

    def __init__(self, data):
        self.data = bytes(data)
        self.osabi, self.abi = data[7], data[8]
        self.type, = struct.unpack_from("<H", data, 16)
        self.phoff, self.shoff, self.flags = struct.unpack_from("<QQI", data, 32)
        self.phnum, _, self.shnum, self.shstrndx = struct.unpack_from("<HHHH", data, 56)
        self.sm = (self.flags >> 8 if self.abi >= 8 else self.flags) & 0xff
        self.sections = [Section(i, struct.unpack_from("<IIQQQQIIQQ", data, self.shoff + 64 * i))
                         for i in range(self.shnum)]
        names = self.bytes_of(self.sections[self.shstrndx])
        for section in self.sections:
            section.name = cstring(names, section.name_off)
        self.symbols = self._symbols()
        self.relocs = self._relocs()

    def bytes_of(self, section):
        if section.type == SHT_NOBITS:
            return b""
        return self.data[section.offset:section.offset + section.size]

    def section(self, name):
        """The first section of that name, or None."""
        return next((s for s in self.sections if s.name == name), None)

    def _symbols(self):
        table = next(s for s in self.sections if s.type == SHT_SYMTAB)
        strings = self.bytes_of(self.sections[table.link])
        raw = self.bytes_of(table)
        out = []
        for i in range(len(raw) // 24):
            name, info, other, shndx, value, size = struct.unpack_from("<IBBHQQ", raw, 24 * i)
            out.append(Symbol(i, cstring(strings, name), info, other, shndx, value, size))
        return out

    def _relocs(self):
        out = []
        for section in self.sections:
            if section.type not in (SHT_RELA, SHT_REL):
                continue
            raw, width = self.bytes_of(section), 24 if section.type == SHT_RELA else 16
            for at in range(0, len(raw), width):
                offset, info = struct.unpack_from("<QQ", raw, at)
                addend = struct.unpack_from("<q", raw, at + 16)[0] if width == 24 else None
                out.append(Reloc(section, section.info, offset, info >> 32, info & 0xffffffff, addend))
        return out

    @functools.cached_property
    def functions(self):
        """Symbols of type FUNC that lie in a section."""
        return [s for s in self.symbols if s.kind == STT_FUNC and 0 < s.shndx < self.shnum]

    def function(self, name):
        """The function with exactly that symbol name, or the only one whose name ends in it."""
        hits = [s for s in self.functions if s.name == name]
        hits = hits or [s for s in self.functions if s.name.endswith(name)]
        if len(hits) != 1:
            raise KeyError(f"{name}: {len(hits)} functions")
        return hits[0]

    def function_at(self, shndx, offset):
        """The innermost function that holds an offset of a section: callees lie inside their kernel's range."""
        hits = [s for s in self.functions if s.shndx == shndx and s.value <= offset < s.value + s.size]
        return min(hits, key=lambda s: s.size) if hits else None

    def word(self, shndx, offset):
        """The 128-bit instruction at an offset of a section."""
        at = self.sections[shndx].offset + offset
        return int.from_bytes(self.data[at:at + INSTRUCTION], "little")

    def attribute(self, number, function):
        """The value that .nv.info records for a function's symbol under an attribute, or None."""
        raw = self.bytes_of(self.section(".nv.info"))
        at = 0
        while at + 4 <= len(raw):
            form, attribute, length = struct.unpack_from("<BBH", raw, at)
            if form == 4 and attribute == number and struct.unpack_from("<I", raw, at + 4)[0] == function.index:
                return struct.unpack_from("<I", raw, at + 8)[0]
            at += 4 + (length if form == 4 else 0)
        return None

    def registers(self, function):
        return self.attribute(0x2f, function) or 16

    def frame_size(self, function):
        """Bytes of stack that a function takes."""
        return self.attribute(0x11, function) or 0

    def param_bank(self, function):
        """(offset in constant bank 0, size) of a kernel's parameters: attribute 0x0a."""
        info = next((s for s in self.sections if s.name == ".nv.info." + function.name), None)
        raw, at = self.bytes_of(info) if info else b"", 0
        while at + 4 <= len(raw):
            form, attribute, length = struct.unpack_from("<BBH", raw, at)
            if form == 4 and attribute == 0x0a:
                return struct.unpack_from("<HH", raw, at + 8)
            at += 4 + (length if form == 4 else 0)
        return 0, 0


def with_sections(data, sections):
    """The cubin with more sections: {name: content}."""
    plain, image = Cubin(data), bytearray(data)
    headers = bytearray(data[plain.shoff:plain.shoff + 64 * plain.shnum])
    names = bytearray(plain.bytes_of(plain.sections[plain.shstrndx]))
    for name, content in sections.items():
        headers += struct.pack("<IIQQQQIIQQ", len(names), 1, 0, 0, len(image), len(content), 0, 0, 1, 0)
        names += name.encode() + b"\0"
        image += content
    struct.pack_into("<QQ", headers, 64 * plain.shstrndx + 24, len(image), len(names))
    image += names
    image += bytes(-len(image) % 8)
    struct.pack_into("<Q", image, 40, len(image))
    struct.pack_into("<H", image, 60, plain.shnum + len(sections))
    return bytes(image + headers)


def with_debug_info(data, donor):
    """The cubin with `.debug_info` and `.debug_abbrev` of another one put in, as if they had been built together."""
    source = Cubin(donor)
    return with_sections(data, {name: source.bytes_of(source.section(name)) for name in (".debug_info", ".debug_abbrev")})


def to_abi7(data):
    """The same cubin under the older header (CUDA 12 and before), which older NVIDIA tools accept."""
    out = bytearray(data)
    sm = Cubin(data).sm
    out[7], out[8] = 0x33, 7
    struct.pack_into("<I", out, 20, 0x76)
    struct.pack_into("<I", out, 48, sm << 16 | 0x500 | sm)
    return bytes(out)


# ---------------------------------------------------------------------------------------------------------------------
# Relocated images


def _patch(image, at, kind, value, in_place):
    """Writes one relocated value; returns False for a kind that is not known."""
    if kind == 2:
        stored, = struct.unpack_from("<Q", image, at)
        struct.pack_into("<Q", image, at, (value + (stored if in_place else 0)) & 0xffffffffffffffff)
        return True
    if kind == 1:
        stored, = struct.unpack_from("<I", image, at)
        struct.pack_into("<I", image, at, (value + (stored if in_place else 0)) & 0xffffffff)
        return True
    word = int.from_bytes(image[at:at + INSTRUCTION], "little")

    def put(low, width, bits):
        nonlocal word
        mask = (1 << width) - 1
        word = word & ~(mask << low) | (bits & mask) << low

    if in_place and kind in (0x38, 0x39):
        value += word >> 32 & 0xffffffff
    if kind == 0x38:
        put(32, 32, value)
    elif kind == 0x39:
        put(32, 32, value >> 32)
    elif kind == 0x3a:
        put(34, 47, value >> 2)
    elif kind == 0x4b:
        put(16, 8, value >> 2)
        put(34, 47, value >> 10)
    else:
        return False
    image[at:at + INSTRUCTION] = word.to_bytes(INSTRUCTION, "little")
    return True


def relocate(data, code_base, data_base=None, externs=None, keep_relocs=False, given=None):
    """The image as a driver keeps it after loading: sections have device addresses and symbols are absolute.

    Established for real images: sh_addr and st_value are absolute device addresses (both public debuggers rely on it).
    Inferred: which sections get addresses (code and initialised or zeroed data; constant banks and shared memory keep
    their bank-relative zero), that debug sections are relocated in place, and that the relocation sections are gone
    (keep_relocs=True leaves them: a reader must not apply them twice).

    `given`: addresses of sections, by index, where they are to be those of a device that loaded the image.
    Returns (image, {section index: device address}).
    """
    cubin = Cubin(data)
    image = bytearray(data)
    externs = externs or {}
    address, code, rest = {}, code_base, data_base if data_base is not None else code_base + 0x100000
    for section in cubin.sections:
        if not section.flags & SHF_ALLOC or section.name.startswith((".nv.constant", ".nv.shared", ".nv_debug.shared")):
            continue
        align = max(section.align, 1)
        if section.flags & SHF_EXECINSTR:
            code = (code + align - 1) // align * align
            address[section.index] = code
            code += section.size
        else:
            rest = (rest + align - 1) // align * align
            address[section.index] = rest
            rest += section.size
        if given:
            address[section.index] = given.get(section.index, 0)
    for index, value in address.items():
        struct.pack_into("<Q", image, cubin.shoff + 64 * index + 16, value)
    table = next(s for s in cubin.sections if s.type == SHT_SYMTAB)
    value_of = {}
    for symbol in cubin.symbols:
        value = symbol.value + address.get(symbol.shndx, 0)
        if symbol.shndx == 0 and symbol.name in externs:
            value = externs[symbol.name]
        value_of[symbol.index] = value
        struct.pack_into("<Q", image, table.offset + 24 * symbol.index + 8, value)
    for reloc in cubin.relocs:
        target = cubin.sections[reloc.target]
        if target.type == SHT_NOBITS or target.name.startswith(".nv.merc") or reloc.kind >= 0x10000:
            continue
        in_place = reloc.addend is None
        _patch(image, target.offset + reloc.offset, reloc.kind, value_of[reloc.symbol] + (reloc.addend or 0), in_place)
    if not keep_relocs:
        for section in cubin.sections:
            if section.type in (SHT_RELA, SHT_REL):
                struct.pack_into("<Q", image, cubin.shoff + 64 * section.index + 32, 0)
    return bytes(image), address


# ---------------------------------------------------------------------------------------------------------------------
# Line map


class Row:
    """One row of a sequence. context is the 1-based number of the call site's row, 0 for none."""

    __slots__ = ("offset", "file", "line", "context", "name", "end")

    def __init__(self, offset, file, line, context, name, end):
        self.offset, self.file, self.line = offset, file, line
        self.context, self.name, self.end = context, name, end


def _uleb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def _sleb(data, at):
    start = at
    value, at = _uleb(data, at)
    bits = 7 * (at - start)
    return value - (1 << bits) if value >> (bits - 1) & 1 else value, at


def line_sequences(cubin):
    """{section index of code: [Row]} of an unrelocated cubin, rows in emission order.

    A module linked from several objects may have several tables; each sequence belongs to the function that the
    relocation of its DW_LNE_set_address names. For sm_90 the linker leaves the string base of each at 0; the objects of
    our fixtures use all of their names, so those of an object begin where the ones before end.
    """
    section = cubin.section(".debug_line")
    if section is None:
        return {}
    lines = cubin.bytes_of(section)
    strings = cubin.bytes_of(cubin.section(".debug_str")) if cubin.section(".debug_str") else b""
    owner = {r.offset: cubin.symbols[r.symbol].shndx for r in cubin.relocs if r.target == section.index}
    out, at, names_end = {}, 0, 0
    while at < len(lines):
        length, = struct.unpack_from("<I", lines, at)
        names_end = _one_table(lines, at, at + 4 + length, strings, names_end, owner, out)
        at += 4 + length
    return out


def _one_table(lines, at, end, strings, names_end, owner, out):
    """Adds the sequences of a table to `out`. Returns where its names end; those of the tables before end at `names_end`."""
    header_length, = struct.unpack_from("<I", lines, at + 6)
    program = at + 10 + header_length
    _, _, line_base, line_range, opcode_base = struct.unpack_from("<BBbBB", lines, at + 10)
    lengths = lines[at + 15:at + 14 + opcode_base]
    at += 14 + opcode_base
    directories, files = [""], [None]
    while lines[at]:
        name = cstring(lines, at)
        at += len(name.encode("utf-8", "surrogateescape")) + 1
        directories.append(name)
    at += 1
    while lines[at]:
        name = cstring(lines, at)
        at += len(name.encode("utf-8", "surrogateescape")) + 1
        directory, at = _uleb(lines, at)
        _, at = _uleb(lines, at)
        _, at = _uleb(lines, at)
        files.append(os.path.join(directories[directory], name))
    at += 1
    base = struct.unpack_from("<I", lines, at)[0] or names_end if program - at == 4 else 0
    at = program
    state, rows, section = _fresh(), [], None

    def emit(is_end=False):
        nonlocal names_end
        name = cstring(strings, base + state["name"]) if state["context"] else None
        if name is not None:
            names_end = max(names_end, base + state["name"] + len(name) + 1)
        rows.append(Row(state["offset"], files[state["file"]], state["line"], state["context"], name, is_end))

    while at < end:
        op = lines[at]
        at += 1
        if op >= opcode_base:
            state["line"] += line_base + (op - opcode_base) % line_range
            state["offset"] += (op - opcode_base) // line_range
            emit()
        elif op == 0:
            length, at = _uleb(lines, at)
            what, here, at = lines[at], at + 1, at + length
            if what == 1:
                emit(True)
                out.setdefault(section, []).extend(rows)
                state, rows = _fresh(), []
            elif what == 2:
                state["offset"], = struct.unpack_from("<Q", lines, here)
                section = owner.get(here)
            elif what == 0x90:
                state["context"], here = _uleb(lines, here)
                state["name"], here = _uleb(lines, here)
            elif what == 0x91:
                state["name"], here = _uleb(lines, here)
        elif op == 1:
            emit()
        elif op == 2:
            step, at = _uleb(lines, at)
            state["offset"] += step
        elif op == 3:
            step, at = _sleb(lines, at)
            state["line"] += step
        elif op == 4:
            state["file"], at = _uleb(lines, at)
        elif op == 8:
            state["offset"] += (255 - opcode_base) // line_range
        elif op == 9:
            state["offset"] += struct.unpack_from("<H", lines, at)[0]
            at += 2
        else:
            for _ in range(lengths[op - 1]):
                _, at = _uleb(lines, at)
    return names_end


def _fresh():
    return {"offset": 0, "file": 1, "line": 1, "context": 0, "name": 0}


def row_at(rows, offset):
    """The row that covers an offset: the last one not above it, or None behind the end of the sequence."""
    best = None
    for index, row in enumerate(rows):
        if row.offset <= offset:
            best = index
    return None if best is None or rows[best].end else best


def chain(cubin, sequences, shndx, offset):
    """[(mangled function, file, line)] at an offset of a code section, innermost first; [] without lines."""
    rows = sequences.get(shndx, [])
    index = row_at(rows, offset)
    if index is None:
        return []
    owner = cubin.function_at(shndx, offset)
    out = []
    while True:
        row = rows[index]
        out.append((row.name if row.context else owner.name, row.file, row.line))
        if not row.context:
            return out
        index = row.context - 1


# ---------------------------------------------------------------------------------------------------------------------
# Finding instructions for scenarios

LOAD_STORE = {0x980, 0x385, 0x985, 0x381, 0x981, 0x386, 0x986, 0x984, 0x388, 0x988}
CALLS = {0x343, 0x344, 0x943, 0x944}
BARRIER = {0x31d, 0x91d, 0xb1d}


def opcode(word):
    return word & 0xfff


def mark_line(source, mark):
    """The number of the line that carries "@mark NAME" in a source file."""
    with open(source, encoding="utf-8") as handle:
        for number, text in enumerate(handle, 1):
            if re.search(rf"@mark {re.escape(mark)}\b", text):
                return number
    raise KeyError(f"{source}: no mark {mark}")


def offsets_of_line(cubin, sequences, function, file, line, ops=None, outermost=False):
    """Offsets (in the function's section) of a function's instructions whose innermost position, or with outermost
    any position of the chain, is file:line; restricted to the given opcodes."""
    out = []
    section = cubin.sections[function.shndx]
    for offset in range(function.value, function.value + function.size, INSTRUCTION):
        if offset + INSTRUCTION > section.size:
            break
        if ops and opcode(cubin.word(function.shndx, offset)) not in ops:
            continue
        frames = chain(cubin, sequences, function.shndx, offset)
        frames = frames if outermost else frames[:1]
        if any(os.path.basename(f[1]) == file and f[2] == line for f in frames):
            out.append(offset)
    return out
