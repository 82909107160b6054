"""Writes GPU core dumps from a plain model: the tests' own writer, independent of any C code of the project.

The model is a tree of Node objects; a node's row fields are named as in docs/formats (layout.py). A child list that is
None has no section at all; an empty list is a table with zero rows, which real dumps contain.

    Dump(devices=[Device], memory=[Memory], meta={...} or None)
      Device(row, contexts, grids, sms)
        Context(row, modules)       Module(row, image, relocated)
        Grid(row, params, banks)
        Sm(row, ctas)               Cta(row, shared, warps)
          Warp(row, lanes, uregs, upreds, barriers)
            Lane(row, regs, preds, local, frames)
"""

import gzip
import random
import struct

from layout import Layout

SHT = {
    "managed": 1, "global": 2, "local": 3, "shared": 4, "regs": 5, "elfimg": 6, "relfimg": 7, "bt": 8, "devtbl": 9,
    "ctxtbl": 10, "smtbl": 11, "gridtbl": 12, "ctatbl": 13, "wptbl": 14, "lntbl": 15, "modtbl": 16, "pred": 17,
    "param": 18, "uregs": 19, "upred": 20, "cbankstbl": 21, "meta": 22, "cbu_bar": 23,
}
FLAG_SKIP_IMAGES, FLAG_SKIP_GLOBAL, FLAG_SKIP_SHARED, FLAG_SKIP_LOCAL, FLAG_SKIP_CONSTBANK = 1, 2, 4, 8, 32
FLAG_GZIP, FLAG_FAULTED_ONLY = 64, 128
SHT_STRTAB = 3


class Node:
    CHILDREN = ()

    def __init__(self, row=None, **children):
        self.row = dict(row or {})
        for name in self.CHILDREN:
            setattr(self, name, children.pop(name, None))
        if children:
            raise TypeError(f"{type(self).__name__}: unknown {sorted(children)}")


class Dump(Node):
    CHILDREN = ("devices", "memory", "meta")


class Device(Node):
    CHILDREN = ("contexts", "grids", "sms")


class Context(Node):
    CHILDREN = ("modules",)


class Module(Node):
    CHILDREN = ("image", "relocated")


class Grid(Node):
    CHILDREN = ("params", "banks")


class Sm(Node):
    CHILDREN = ("ctas",)


class Cta(Node):
    CHILDREN = ("shared", "warps")


class Warp(Node):
    CHILDREN = ("lanes", "uregs", "upreds", "barriers")


class Lane(Node):
    CHILDREN = ("regs", "preds", "local", "frames")  # local: (address, bytes)


class Memory(Node):
    """row: address, managed (bool); data: bytes."""

    CHILDREN = ("data",)


class Options:
    """How a model becomes a file.

    driver          layout to write: 346 ... 615
    headers         "first" (as real dumps are reported to be) or "last"
    escape          True: e_shnum 0 and the count in section 0, as real dumps do; False: plain counts if they fit
    shuffle         seed: section headers in random order (children before parents, names unsorted)
    extra_stride    bytes that a later driver might append to every table row (filled with 0xa5)
    strides         {table: entry size} to cut rows short
    flags           generation flags: leave things out, and say so in the metadata
    unknown         number of sections of an unknown type to add
    gzip            compress the whole file
    truncate        cut the finished file to that many bytes
    """

    def __init__(self, driver=590, headers="first", escape=True, shuffle=None, extra_stride=0, strides=None, flags=0,
                 unknown=0, gzip=False, truncate=None):
        self.driver, self.headers, self.escape, self.shuffle = driver, headers, escape, shuffle
        self.extra_stride, self.strides, self.flags, self.unknown = extra_stride, strides or {}, flags, unknown
        self.gzip, self.truncate = gzip, truncate


class Section:
    __slots__ = ("name", "type", "parent", "info", "addr", "entsize", "data", "index", "offset", "name_off")

    def __init__(self, name, kind, parent, info, addr, entsize, data):
        self.name, self.type, self.parent, self.info = name, kind, parent, info
        self.addr, self.entsize, self.data = addr, entsize, data
        self.index = self.offset = self.name_off = 0


class Strings:
    """A string table under construction; offset 0 is the empty string."""

    def __init__(self):
        self.data, self.at = bytearray(b"\0"), {"": 0}

    def __call__(self, text):
        if text not in self.at:
            self.at[text] = len(self.data)
            self.data += text.encode("utf-8", "surrogateescape") + b"\0"
        return self.at[text]


class Writer:
    def __init__(self, dump, options):
        self.dump, self.options = dump, options
        self.sections, self.strings = [], Strings()
        self.layouts = {}

    def add(self, kind, suffix, parent=None, info=0, addr=0, entsize=0, data=b""):
        section = Section(f".cudbg.{kind}{suffix}", 0x80000000 + SHT[kind], parent, info, addr, entsize, data)
        self.sections.append(section)
        return section

    def table(self, kind, suffix, table, rows, parent, info=0):
        """One table section; None when the driver does not know the table."""
        if table not in self.layouts:
            self.layouts[table] = Layout(table, self.options.driver)
        layout = self.layouts[table]
        if layout.size == 0:
            return None
        stride = self.options.strides.get(table, layout.size + self.options.extra_stride)
        pad = b"\xa5" * max(0, stride - layout.size)
        data = b"".join((layout.pack(row, self.strings) + pad)[:stride] for row in rows)
        return self.add(kind, suffix, parent, info, 0, stride, data)

    def words(self, kind, suffix, parent, info, values):
        self.add(kind, suffix, parent, info, 0, 4, struct.pack(f"<{len(values)}I", *values))

    def build(self):
        flags = self.options.flags
        if self.dump.memory and not flags & FLAG_SKIP_GLOBAL:
            for number, block in enumerate(self.dump.memory):
                section = self.add("global", f".{number}", addr=block.row["address"], data=block.data)
                if block.row.get("managed"):
                    section.type = 0x80000000 + SHT["managed"]
        devices = self.dump.devices
        if devices is not None:
            table = self.table("devtbl", "", "device", [d.row for d in devices], None)
            for index, device in enumerate(devices):
                self.device(table, index, device)
        if self.dump.meta is not None:
            self.table("meta", "", "meta", [{**self.dump.meta, "flags": flags}], None)
        for number in range(self.options.unknown):
            self.sections.append(Section(f".cudbg.future.{number}", 0x80000000 + 24 + number % 40, None, 0, 0, 12,
                                         bytes(range(24))))

    def device(self, parent, index, device):
        tag = f".dev{index}"
        if device.contexts is not None:
            table = self.table("ctxtbl", tag, "context", [c.row for c in device.contexts], parent, index)
            for number, context in enumerate(device.contexts):
                self.context(table, number, context, f"{tag}.ctx{number}")
        if device.grids is not None:
            table = self.table("gridtbl", tag, "grid", [g.row for g in device.grids], parent, index)
            for number, grid in enumerate(device.grids):
                if grid.params is not None:
                    self.add("param", f"{tag}.grid{number}", table, number, data=grid.params)
                if grid.banks is not None:
                    self.table("cbankstbl", f"{tag}.grid{number}", "constbank", grid.banks, table, number)
        if device.sms is not None:
            table = self.table("smtbl", tag, "sm", [s.row for s in device.sms], parent, index)
            for number, sm in enumerate(device.sms):
                if sm.ctas is not None:
                    self.ctas(table, number, sm.ctas, f"{tag}.sm{number}")

    def context(self, parent, index, context, tag):
        if context.modules is None:
            return
        table = self.table("modtbl", tag, "module", [m.row for m in context.modules], parent, index)
        for number, module in enumerate(context.modules):
            if module.relocated is not None:
                self.add("relfimg", tag, table, number, data=module.relocated)
            if module.image is not None and not self.options.flags & FLAG_SKIP_IMAGES:
                self.add("elfimg", tag, table, number, data=module.image)

    def ctas(self, parent, index, ctas, tag):
        table = self.table("ctatbl", tag, "cta", [c.row for c in ctas], parent, index)
        for number, cta in enumerate(ctas):
            here = f"{tag}.cta{number}"
            if cta.shared is not None and not self.options.flags & FLAG_SKIP_SHARED:
                self.add("shared", here, table, number, data=cta.shared)
            if cta.warps is not None:
                self.warps(table, number, cta.warps, here)

    def warps(self, parent, index, warps, tag):
        driver = self.options.driver
        table = self.table("wptbl", tag, "warp", [w.row for w in warps], parent, index)
        for number, warp in enumerate(warps):
            here = f"{tag}.wp{number}"
            if warp.uregs is not None and driver >= 400:
                self.words("uregs", here, table, number, warp.uregs)
            if warp.upreds is not None and driver >= 400:
                self.words("upred", here, table, number, warp.upreds)
            if warp.barriers is not None and driver >= 575:
                self.words("cbu_bar", here, table, number, warp.barriers)
            if warp.lanes is not None:
                self.lanes(table, number, warp.lanes, here)

    def lanes(self, parent, index, lanes, tag):
        table = self.table("lntbl", tag, "lane", [lane.row for lane in lanes], parent, index)
        for number, lane in enumerate(lanes):
            here = f"{tag}.ln{number}"
            if lane.local is not None and not self.options.flags & FLAG_SKIP_LOCAL:
                self.add("local", here, table, number, addr=lane.local[0], data=lane.local[1])
            if lane.regs is not None:
                self.words("regs", here, table, number, lane.regs)
            if lane.preds is not None:
                self.words("pred", here, table, number, lane.preds)
            if lane.frames is not None:
                self.table("bt", here, "frame", lane.frames, table, number)

    def emit(self):
        self.build()
        sections, options = self.sections, self.options
        if options.shuffle is not None:
            random.Random(options.shuffle).shuffle(sections)
        names = Strings()
        strtab = Section(".strtab", SHT_STRTAB, None, 0, 0, 0, bytes(self.strings.data))
        shstrtab = Section(".shstrtab", SHT_STRTAB, None, 0, 0, 0, b"")
        sections += [strtab, shstrtab]
        for number, section in enumerate(sections, 1):
            section.index, section.name_off = number, names(section.name)
        shstrtab.data = bytes(names.data)
        count, table_size = len(sections) + 1, 64 * (len(sections) + 1)
        at = 64 + (table_size if options.headers == "first" else 0)
        body = []
        for section in sections:
            pad = -at % 8
            section.offset = at + pad
            body += [bytes(pad), section.data]
            at = section.offset + len(section.data)
        pad = -at % 8 if options.headers == "last" else 0
        table_at = 64 if options.headers == "first" else at + pad
        escape = options.escape or count >= 0xff00
        head = struct.pack("<4sBBBBB7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x33, 7, 4, 190, 1, 0, 0, table_at, 0, 64, 0,
                           0, 64, 0 if escape else count, 0xffff if escape else shstrtab.index)
        table = [struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, count if escape else 0, shstrtab.index if escape else 0,
                             0, 0, 0)]
        table += [struct.pack("<IIQQQQIIQQ", s.name_off, s.type, 0, s.addr, s.offset, len(s.data),
                              s.parent.index if s.parent else 0, s.info, 8, s.entsize) for s in sections]
        parts = [head] + (table + body if options.headers == "first" else body + [bytes(pad)] + table)
        return b"".join(parts)


def write(dump, options=None):
    """The bytes of a dump file."""
    options = options or Options()
    data = Writer(dump, options).emit()
    if options.gzip:
        data = gzip.compress(data, 6, mtime=0)
    return data if options.truncate is None else data[:options.truncate]
