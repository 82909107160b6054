#!/usr/bin/env python3
"""Reads a GPU core dump into plain data: reader.py DUMP [--sections] prints JSON.

Written by hand from the public format header and the field tables of docs/formats, with its own tables and its own way
of finding children (a map from (parent section, row, type)), so that it shares no mistake with the writer beside it or
with the C library. Fields that the entry size does not cover are left out. Damage is local: a section that cannot be used
is listed under "lost" and everything else is given.
"""

import json
import struct
import sys
import zlib

BASE = 0x80000000

# name: (offset, bytes). A field is there when the entry size covers it.
FIELDS = {
    "device": {
        "devName": (0, 8), "devType": (8, 8), "smType": (16, 8), "devId": (24, 4), "pciBusId": (28, 4),
        "pciDevId": (32, 4), "numSMs": (36, 4), "numWarpsPerSM": (40, 4), "numLanesPerWarp": (44, 4),
        "numRegsPerLane": (48, 4), "numPredicatesPrLane": (52, 4), "smMajor": (56, 4), "smMinor": (60, 4),
        "instructionSize": (64, 4), "status": (68, 4), "numUniformRegsPrWarp": (72, 4),
        "numUniformPredicatesPrWarp": (76, 4), "numConvergenceBarriersPrWarp": (80, 4),
    },
    "context": {
        "contextId": (0, 8), "sharedWindowBase": (8, 8), "localWindowBase": (16, 8), "globalWindowBase": (24, 8),
        "deviceIdx": (32, 4), "tid": (36, 4),
    },
    "module": {"moduleHandle": (0, 8)},
    "grid": {
        "gridId64": (0, 8), "contextId": (8, 8), "function": (16, 8), "functionEntry": (24, 8),
        "moduleHandle": (32, 8), "parentGridId64": (40, 8), "paramsOffset": (48, 8), "kernelType": (56, 4),
        "origin": (60, 4), "gridStatus": (64, 4), "numRegs": (68, 4), "gridDimX": (72, 4), "gridDimY": (76, 4),
        "gridDimZ": (80, 4), "blockDimX": (84, 4), "blockDimY": (88, 4), "blockDimZ": (92, 4),
        "attrLaunchBlocking": (96, 4), "attrHostTid": (100, 4), "clusterDimX": (104, 4), "clusterDimY": (108, 4),
        "clusterDimZ": (112, 4), "preferredClusterDimX": (120, 4), "preferredClusterDimY": (124, 4),
        "preferredClusterDimZ": (128, 4),
    },
    "bank": {"addr": (0, 8), "size": (8, 4), "bankId": (12, 4)},
    "sm": {
        "smId": (0, 4), "exception": (8, 4), "errorPCValid": (12, 4), "errorPC": (16, 8),
        "clusterExceptionTargetBlockIdxValid": (24, 4), "clusterExceptionTargetBlockIdxX": (28, 4),
        "clusterExceptionTargetBlockIdxY": (32, 4), "clusterExceptionTargetBlockIdxZ": (36, 4),
        "exceptionString": (40, 8),
    },
    "cta": {
        "gridId64": (0, 8), "blockIdxX": (8, 4), "blockIdxY": (12, 4), "blockIdxZ": (16, 4), "clusterIdxX": (24, 4),
        "clusterIdxY": (28, 4), "clusterIdxZ": (32, 4), "clusterDimX": (40, 4), "clusterDimY": (44, 4),
        "clusterDimZ": (48, 4),
    },
    "warp": {
        "errorPC": (0, 8), "warpId": (8, 4), "validLanesMask": (12, 4), "activeLanesMask": (16, 4),
        "isWarpBroken": (20, 4), "errorPCValid": (24, 4), "numRegs": (32, 4), "sharedMemSize": (40, 4),
        "inSyscallLanesMask": (48, 4), "cbuActiveLanesMask": (52, 4), "cbuExitedLanesMask": (56, 4),
        "cbuCollectiveLanesMask": (60, 4), "barrierScope": (64, 4), "additionalBarrierInfo": (72, 8),
    },
    "lane": {
        "virtualPC": (0, 8), "physPC": (8, 8), "ln": (16, 4), "threadIdxX": (20, 4), "threadIdxY": (24, 4),
        "threadIdxZ": (28, 4), "exception": (32, 4), "callDepth": (36, 4), "syscallCallDepth": (40, 4),
        "ccRegister": (44, 4), "cbuThreadState": (48, 4), "rpcLo": (56, 4), "rpcHi": (60, 4),
    },
    "frame": {"returnAddress": (0, 8), "virtualReturnAddress": (8, 8), "level": (16, 4)},
    "meta": {
        "generatorName": (0, 8), "driverVersionMajor": (8, 4), "driverVersionMinor": (12, 4),
        "cudaDriverVersionMajor": (16, 4), "cudaDriverVersionMinor": (20, 4), "flags": (24, 4), "timestamp": (28, 4),
    },
}
TEXT = ("devName", "devType", "smType", "generatorName", "exceptionString", "additionalBarrierInfo")

# Section type - BASE: (what it holds, how its content is read)
KINDS = {
    1: ("managed", "bytes"), 2: ("global", "bytes"), 3: ("local", "bytes"), 4: ("shared", "bytes"), 5: ("regs", "words"),
    6: ("image", "bytes"), 7: ("relocated", "bytes"), 8: ("frames", "frame"), 9: ("devices", "device"),
    10: ("contexts", "context"), 11: ("sms", "sm"), 12: ("grids", "grid"), 13: ("ctas", "cta"), 14: ("warps", "warp"),
    15: ("lanes", "lane"), 16: ("modules", "module"), 17: ("preds", "words"), 18: ("params", "bytes"),
    19: ("uregs", "words"), 20: ("upreds", "words"), 21: ("banks", "bank"), 22: ("meta", "meta"), 23: ("barriers", "words"),
}
# What may hang off a row of each table, by section type.
BELOW = {
    "device": (10, 12, 11), "context": (16,), "module": (7, 6), "grid": (18, 21), "sm": (13,), "cta": (4, 14),
    "warp": (19, 20, 23, 15), "lane": (3, 5, 17, 8), "bank": (), "frame": (), "meta": (),
}


class NotADump(Exception):
    pass


class Section:
    def __init__(self, index, words):
        self.index = index
        self.name_off, self.type, _, self.addr, self.offset, self.size, self.link, self.info, _, self.entsize = words
        self.name, self.bad = None, None


class Reader:
    def __init__(self, data):
        self.lost = []
        if data[:2] == b"\x1f\x8b":
            data = self.inflate(data)
        self.data = memoryview(data)
        self.sections = self.headers()
        self.names()
        self.children = {}
        for section in self.sections[1:]:
            if BASE < section.type <= BASE + 23 and section.link:
                self.children.setdefault((section.link, section.info, section.type - BASE), section)
        self.strtab = next((s for s in self.sections if s.name == ".strtab" and not s.bad), None)

    def inflate(self, data):
        out = bytearray()
        while data:
            unpacker = zlib.decompressobj(31)
            try:
                out += unpacker.decompress(data)
            except zlib.error as error:
                self.lost.append({"what": "gzip", "why": str(error)})
                break
            if not unpacker.eof:
                self.lost.append({"what": "gzip", "why": "ends early"})
            data = unpacker.unused_data
        return bytes(out)

    def headers(self):
        if len(self.data) < 20 or self.data[:4] != b"\x7fELF" or self.data[4:6] != b"\x02\x01":
            raise NotADump("not a 64-bit little-endian ELF file")
        if struct.unpack_from("<HH", self.data, 16) != (4, 190) or self.data[7] != 0x33:
            raise NotADump("an ELF file, but not a CUDA core dump")
        if len(self.data) < 64:
            self.lost.append({"what": "ELF header", "why": "file ends inside"})
            return []
        shoff, = struct.unpack_from("<Q", self.data, 40)
        entsize, count, self.shstrndx = struct.unpack_from("<HHH", self.data, 58)
        if entsize != 64 or shoff + 64 > len(self.data):
            self.lost.append({"what": "section headers", "why": "outside the file"})
            return []
        first = struct.unpack_from("<IIQQQQIIQQ", self.data, shoff)
        count = count or first[5]
        if self.shstrndx == 0xffff:
            self.shstrndx = first[6]
        here = min(count, (len(self.data) - shoff) // 64)
        if here < count:
            self.lost.append({"what": "section headers", "why": f"{here} of {count} inside the file"})
        out = []
        for index in range(here):
            section = Section(index, struct.unpack_from("<IIQQQQIIQQ", self.data, shoff + 64 * index))
            if section.offset + section.size > len(self.data) and index:
                section.bad = "outside the file"
            out.append(section)
        return out

    def content(self, section):
        """What the file holds of a section (less than its size when the file was cut)."""
        return self.data[section.offset:section.offset + section.size]

    def text(self, section, offset):
        raw = bytes(self.content(section)[offset:offset + 65536]) if section else b""
        end = raw.find(b"\0")
        return raw[:end].decode("utf-8", "surrogateescape") if end >= 0 else None

    def names(self):
        table = self.sections[self.shstrndx] if self.sections and self.shstrndx < len(self.sections) else None
        if table is None or table.bad:
            self.lost.append({"what": "section names", "why": table.bad if table else "no such section"})
        for section in self.sections:
            section.name = self.text(table, section.name_off) if section.index else ""
        if not any(section.name == ".strtab" and not section.bad for section in self.sections):
            self.lost.append({"what": ".strtab", "why": "not found"})

    def lose(self, section, why):
        self.lost.append({"section": section.index, "name": section.name, "why": why})

    def row(self, kind, raw, stride):
        out = {}
        for name, (offset, size) in FIELDS[kind].items():
            if offset + size > stride:
                continue
            value = int.from_bytes(raw[offset:offset + size], "little")
            out[name] = (self.text(self.strtab, value)) if name in TEXT else value
        return out

    def rows(self, section, kind, depth):
        """The rows of a table section with everything below them."""
        if section.entsize == 0:
            if section.size:
                self.lose(section, "entry size 0")
            return []
        raw = self.content(section)
        whole, rest = divmod(section.size, section.entsize)
        there = min(whole, len(raw) // section.entsize)
        if rest or there < whole:
            self.lose(section, "ends inside a row" if rest else f"{there} of {whole} rows inside the file")
        out = []
        for index in range(there):
            at = index * section.entsize
            row = self.row(kind, raw[at:at + section.entsize], section.entsize)
            if depth < 12:
                for number in BELOW[kind]:
                    child = self.children.get((section.index, index, number))
                    if child is not None:
                        row[KINDS[number][0]] = self.read(child, depth + 1)
            out.append(row)
        return out

    def read(self, section, depth=0):
        _, how = KINDS[section.type - BASE]
        if how == "words":
            raw = self.content(section)
            if section.bad:
                self.lose(section, section.bad)
            return list(struct.unpack(f"<{len(raw) // 4}I", raw[:len(raw) // 4 * 4]))
        if how == "bytes":
            if section.bad:
                self.lose(section, section.bad)
            raw = self.content(section)
            out = {"size": section.size, "present": len(raw), "crc32": zlib.crc32(raw)}
            if section.type - BASE in (1, 2, 3):
                out["address"] = section.addr
            return out
        return self.rows(section, how, depth)

    def tables(self):
        out = {"devices": None, "memory": [], "meta": None, "unknown": 0}
        for section in self.sections[1:]:
            number = section.type - BASE
            if number in (1, 2):
                out["memory"].append({**self.read(section), "managed": number == 1})
            elif number == 9 and out["devices"] is None:
                out["devices"] = self.read(section)
            elif number == 22 and out["meta"] is None:
                out["meta"] = (self.read(section) or [None])[0]
            elif number > 23 or 3 < section.type < BASE:
                out["unknown"] += 1
        out["lost"] = self.lost
        out["n_sections"] = len(self.sections)
        return out

    def section_list(self):
        return [{"index": s.index, "name": s.name, "type": s.type, "link": s.link, "info": s.info, "addr": s.addr,
                 "offset": s.offset, "size": s.size, "entsize": s.entsize} for s in self.sections]


def read(data):
    """The tables of a dump (bytes) as plain data; raises NotADump."""
    return Reader(data).tables()


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(arguments[0], "rb") as handle:
        reader = Reader(handle.read())
    out = reader.tables()
    if "--sections" in arguments[1:]:
        out["sections"] = reader.section_list()
    json.dump(out, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
