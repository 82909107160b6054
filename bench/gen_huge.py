#!/usr/bin/env python3
"""Writes a dump of realistic size and shape, for benchmarks: one full H200 by default (about 850,000 sections).

The code is a real cubin (tests/data/cubins), every lane stands on one of its instructions, one warp has an exception.
The file is streamed: memory stays small whatever the size. The tables are those of tests/builders/layout.py.

  gen_huge.py OUT                          132 SMs x 64 warps x 32 lanes
  gen_huge.py --busy-sms 5 OUT             10,240 lanes
  gen_huge.py --devices 8 OUT              6.8 million sections
  gen_huge.py --functions 300 --modules 11 OUT   3,000 functions, each with a name of its own
  gen_huge.py --sparse 100 --busy-sms 4 OUT   a 100 GiB file of holes: global memory that must not be read
"""

import argparse
import os
import random
import shutil
import struct
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "builders"))

import cubin as cb  # noqa: E402
from coredump import SHT, Strings  # noqa: E402
from layout import Layout  # noqa: E402

HEADER = struct.Struct("<IIQQQQIIQQ")
CUBINS = ("calls.li.sm_90.cubin", "deep.li.sm_90.cubin")  # the kernel is in the first
DEBUG = "calls.G.sm_90.cubin"  # the first of them compiled with -G; there each function has a section of its own
CALLS = ("_Z8checksumPKciiPi", "_Z4fold6Cursori", "_Z7sum_row6Cursori", "_Z9read_wordPKc")  # each calls the next
CODE = 0x7f2b4c000000
WARP_LEAVES = 4  # lane table, uniform registers, uniform predicates, barrier masks


class Out:
    """A section writer for one pass: headers are kept for a while and written at their final place."""

    def __init__(self, path, count):
        self.file = open(path, "w+b")
        self.names_file = tempfile.TemporaryFile()
        self.count, self.index, self.at = count, 1, 64 + 64 * count
        self.headers, self.body, self.names = [HEADER.pack(*[0] * 10)], [], [b"\0"]
        self.names_at, self.headers_at = 1, 64
        self.file.seek(self.at)

    def add(self, name, kind, link, info, data, addr=0, entsize=0, hole=0):
        text = name.encode() + b"\0"
        self.names.append(text)
        size = hole or len(data)
        self.headers.append(HEADER.pack(self.names_at, kind, 0, addr, self.at, size, link, info, 8, entsize))
        self.names_at += len(text)
        pad = -size % 8
        if hole:
            self.flush()
            self.at += size + pad
            self.file.seek(self.at)
        else:
            self.body.append(data)
            if pad:
                self.body.append(bytes(pad))
            self.at += size + pad
        self.index += 1
        return self.index - 1

    def flush(self):
        self.file.write(b"".join(self.body))
        self.names_file.write(b"".join(self.names))
        block = b"".join(self.headers)
        os.pwrite(self.file.fileno(), block, self.headers_at)
        self.headers_at += len(block)
        self.body, self.names, self.headers = [], [], []

    def finish(self, strtab):
        self.add(".strtab", 3, 0, 0, strtab)
        name_off = self.names_at
        self.names.append(b".shstrtab\0")
        self.names_at += 10
        self.headers.append(HEADER.pack(name_off, 3, 0, 0, self.at, self.names_at, 0, 0, 1, 0))
        self.flush()
        self.names_file.seek(0)
        shutil.copyfileobj(self.names_file, self.file, 1 << 20)
        self.file.flush()
        self.file.truncate(self.at + self.names_at)
        if self.index + 1 != self.count:
            raise AssertionError(f"{self.index + 1} sections written, {self.count} announced")
        ident = struct.pack("<4sBBBBB7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x33, 7, 4, 190, 1, 0, 0, 64, 0, 64, 0, 0, 64,
                            0, 0xffff)
        os.pwrite(self.file.fileno(), ident, 0)
        os.pwrite(self.file.fileno(), HEADER.pack(0, 0, 0, 0, 0, self.count, self.index, 0, 0, 0), 64)
        self.file.close()


def many_functions(number, count):
    """A cubin of `count` functions whose names nobody else has, as templates make them."""
    names, symbols, headers, text = bytearray(b"\0"), bytearray(24), [], bytearray()
    exit_insn = (0x000FEA0003800000 << 64 | 0x000000000000794D).to_bytes(16, "little")
    at = 64
    for f in range(count):
        name = b"_ZN5bench%d_%04dIfLi%dEEvPT_PKS1_i" % (number, f * 7919 % 9973, f % 64)
        symbols += struct.pack("<IBBHQQ", len(names), 0x12, 0x10, 4 + f, 0, 256)
        headers.append((len(names), 1, 6, at + len(text), 256, 3, f + 1, 128))
        names += name + b"\0"
        text += exit_insn * 16
    tables = at + len(text)
    strings = tables + len(symbols)
    section_at = strings + len(names) + -len(names) % 8
    table_headers = [(0, 0, 0, 0, 0, 0, 0, 0), (0, 2, 0, tables, len(symbols), 2, 1, 8), (0, 3, 0, strings, len(names), 0, 0, 1),
                     (0, 1, 0, at, 0, 0, 0, 1)]
    out = struct.pack("<4sBBBBB7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x41, 8, 2, 190, 1, 0, 0, section_at, 0x5a04, 64, 0, 0,
                      64, 4 + count, 2)
    out += bytes(text) + bytes(symbols) + bytes(names) + bytes(-len(names) % 8)
    for name, kind, flags, offset, size, link, info, align in table_headers + headers:
        out += HEADER.pack(name, kind, flags, 0, offset, size, link if kind != 1 else 1, info, align,
                           24 if kind == 2 else 0)
    return bytes(out)


class Generator:
    def __init__(self, args):
        self.args, self.strings = args, Strings()
        self.lay = {t: Layout(t, args.driver) for t in ("device", "context", "module", "grid", "constbank", "sm", "cta",
                                                        "warp", "lane", "frame", "meta")}
        self.images = []
        for name in (DEBUG, *CUBINS[1:]) if args.debug else CUBINS:
            with open(os.path.join(ROOT, "tests", "data", "cubins", name), "rb") as handle:
                self.images.append(handle.read())
        if args.functions:
            self.images[1:] = [many_functions(m, args.functions) for m in range(1, args.modules)]
        self.code(cb.Cubin(self.images[0]))
        rng = random.Random(args.seed)
        pool = rng.randbytes(1 << 16)
        self.regs = [pool[at:at + 4 * args.regs] for at in range(0, 32768, 64)]
        self.preds = [struct.pack("<7I", *(n >> i & 1 for i in range(7))) for n in range(128)]
        self.uregs = [pool[at:at + 252] for at in range(0, 16384, 64)]
        self.local = pool[:max(args.local, 1)] * (args.local // len(pool) + 1)
        self.warps = args.ctas_per_sm * args.warps_per_cta
        self.busy = min(args.busy_sms, args.sms)

    def code(self, cubin):
        """Where lanes stand: in the function that is --bt calls deep, with real return addresses above them."""
        _, address = cb.relocate(self.images[0], CODE)
        functions = [cubin.function(name) for name in CALLS]
        self.entry = address[functions[0].shndx]
        depth = min(self.args.bt, len(CALLS) - 1)
        at = functions[depth]
        self.places = list(range(at.value + 0x20, at.value + at.size - 0x40, 16))
        self.fault = at.value + 0x10
        returns = [next(o for o in range(f.value, f.value + f.size, 16)
                        if cb.opcode(cubin.word(f.shndx, o)) in cb.CALLS) + 16 for f in functions[:-1]]
        self.returns = [returns[min(self.args.bt - 1 - level, depth - 1)] for level in range(self.args.bt)]

    def count(self):
        """Sections of the whole file, the null one included."""
        a = self.args
        lane = 2 + (a.bt > 0) + (a.local > 0)
        warp = self.warp_leaves() + 32 * lane
        sm = 1 + a.ctas_per_sm * (1 + (not a.no_memory)) + self.warps * warp
        images = a.modules * (1 if a.no_memory else 2)
        device = 4 + images + (not a.no_memory) + (self.lay["constbank"].size > 0) + self.busy * sm
        file = 1 + 1 + 2 + (self.lay["meta"].size > 0) + (a.sparse > 0)
        return file + a.devices * device + (0 if a.no_memory else a.devices * a.memory)

    def warp_leaves(self):
        return 1 + 2 * (self.args.driver >= 400) + (self.args.driver >= 575)

    def table(self, out, name, kind, table, rows, link=0, info=0):
        layout = self.lay[table]
        data = rows if isinstance(rows, bytes) else b"".join(layout.pack(row, self.strings) for row in rows)
        return out.add(name, 0x80000000 + SHT[kind], link, info, data, 0, layout.size)

    def run(self, path):
        a = self.args
        out = Out(path, self.count())
        if not a.no_memory:
            for number in range(a.devices * a.memory):
                out.add(f".cudbg.global.{number}", 0x80000000 + SHT["global"], 0, 0, bytes([number & 255]) * (1 << 18),
                        0x7f4000000000 + number * (1 << 20))
        devtbl = self.table(out, ".cudbg.devtbl", "devtbl", "device", [{
            "devName": "NVIDIA H200", "devType": "GH100-A", "smType": "sm_90", "devId": d, "pciBusId": 0x10 + d,
            "pciDevId": 0, "numSMs": a.sms, "numWarpsPerSM": self.warps, "numLanesPerWarp": 32, "numRegsPerLane": 255,
            "numPredicatesPrLane": 7, "smMajor": 9, "smMinor": 0, "instructionSize": 16, "numUniformRegsPrWarp": 63,
            "numUniformPredicatesPrWarp": 7, "numConvergenceBarriersPrWarp": 16} for d in range(a.devices)])
        for device in range(a.devices):
            self.device(out, devtbl, device)
        if self.lay["meta"].size:
            self.table(out, ".cudbg.meta", "meta", "meta", [{
                "generatorName": "CUDA driver", "driverVersionMajor": a.driver, "driverVersionMinor": 48,
                "cudaDriverVersionMajor": 13, "cudaDriverVersionMinor": 1, "flags": 0x2f if a.no_memory else 0,
                "timestamp": 1751371200}])
        if a.sparse:
            out.add(".cudbg.global.sparse", 0x80000000 + SHT["global"], 0, 0, b"", 0x600000000000, hole=a.sparse << 30)
        out.finish(bytes(self.strings.data))
        return out.count, out.at + out.names_at

    def device(self, out, devtbl, device):
        a, tag = self.args, f".dev{device}"
        context = 0x55d0c3a84e10 + device * 0x100000
        ctxtbl = self.table(out, ".cudbg.ctxtbl" + tag, "ctxtbl", "context", [{
            "contextId": context, "sharedWindowBase": 0x7f0400000000, "localWindowBase": 0x7f0402000000,
            "deviceIdx": device, "tid": 4000 + device}], devtbl, device)
        modtbl = self.table(out, f".cudbg.modtbl{tag}.ctx0", "modtbl", "module",
                            [{"moduleHandle": context + 0x1000 + m * 0x200} for m in range(a.modules)], ctxtbl, 0)
        for number in range(a.modules):
            image = self.images[number % len(self.images)]
            relocated, _ = cb.relocate(image, CODE + number * 0x200000)
            out.add(f".cudbg.relfimg{tag}.ctx0", 0x80000000 + SHT["relfimg"], modtbl, number, relocated)
            if not a.no_memory:
                out.add(f".cudbg.elfimg{tag}.ctx0", 0x80000000 + SHT["elfimg"], modtbl, number, image)
        blocks = self.busy * a.ctas_per_sm
        gridtbl = self.table(out, ".cudbg.gridtbl" + tag, "gridtbl", "grid", [{
            "gridId64": device + 1, "contextId": context, "function": context + 0x40, "functionEntry": self.entry,
            "moduleHandle": context + 0x1000, "paramsOffset": 0x210, "kernelType": 2, "gridStatus": 2,
            "numRegs": a.regs, "gridDimX": max(blocks, 1), "gridDimY": 1, "gridDimZ": 1,
            "blockDimX": 32 * a.warps_per_cta, "blockDimY": 1, "blockDimZ": 1, "attrHostTid": 4000 + device}],
            devtbl, device)
        if not a.no_memory:
            out.add(f".cudbg.param{tag}.grid0", 0x80000000 + SHT["param"], gridtbl, 0, bytes(range(28)))
        if self.lay["constbank"].size:
            self.table(out, f".cudbg.cbankstbl{tag}.grid0", "cbankstbl", "constbank",
                       [{"addr": 0x7f0500000000, "size": 0x22c, "bankId": 0}], gridtbl, 0)
        fault = None if a.no_fault or not self.busy else self.busy // 2
        smtbl = self.table(out, ".cudbg.smtbl" + tag, "smtbl", "sm", [
            {"smId": s, **({"exception": 14, "errorPCValid": 1, "errorPC": self.entry + self.fault} if s == fault else {})}
            for s in range(a.sms)], devtbl, device)
        out.flush()
        for sm in range(self.busy):
            self.sm(out, smtbl, device, sm, sm == fault)
            out.flush()

    def sm(self, out, smtbl, device, sm, has_fault):
        a, tag = self.args, f".dev{device}.sm{sm}"
        first = sm * a.ctas_per_sm
        ctatbl = self.table(out, ".cudbg.ctatbl" + tag, "ctatbl", "cta",
                            [{"gridId64": device + 1, "blockIdxX": first + c} for c in range(a.ctas_per_sm)], smtbl, sm)
        for cta in range(a.ctas_per_sm):
            here = f"{tag}.cta{cta}"
            if not a.no_memory:
                out.add(".cudbg.shared" + here, 0x80000000 + SHT["shared"], ctatbl, cta, bytes(4096))
            slots = range(cta * a.warps_per_cta, (cta + 1) * a.warps_per_cta)
            wptbl = self.table(out, ".cudbg.wptbl" + here, "wptbl", "warp", [
                {"warpId": w, "validLanesMask": 0xffffffff, "activeLanesMask": 0xffffffff, "numRegs": a.regs,
                 "sharedMemSize": 4096, "cbuActiveLanesMask": 0xffffffff,
                 **({"errorPCValid": 1, "errorPC": self.entry + self.fault} if has_fault and w == self.warps // 2 else {})}
                for w in slots], ctatbl, cta)
            for number, slot in enumerate(slots):
                self.warp(out, wptbl, number, f"{here}.wp{number}", sm * self.warps + slot,
                          14 if has_fault and slot == self.warps // 2 else 0, number * 32)

    def warp(self, out, wptbl, number, tag, seed, code, thread):
        a, add = self.args, out.add
        if a.driver >= 400:
            add(".cudbg.uregs" + tag, 0x80000000 + SHT["uregs"], wptbl, number, self.uregs[seed % 256], 0, 4)
            add(".cudbg.upred" + tag, 0x80000000 + SHT["upred"], wptbl, number, self.preds[seed % 128], 0, 4)
        if a.driver >= 575:
            add(".cudbg.cbu_bar" + tag, 0x80000000 + SHT["cbu_bar"], wptbl, number, bytes(64), 0, 4)
        place = self.fault + 16 if code else self.places[seed * 7919 % len(self.places)]
        rows = [{"virtualPC": self.entry + place, "physPC": place, "ln": ln, "threadIdxX": thread + ln,
                 "exception": code, "callDepth": a.bt, "cbuThreadState": 1} for ln in range(32)]
        lntbl = self.table(out, ".cudbg.lntbl" + tag, "lntbl", "lane", rows, wptbl, number)
        frame = self.lay["frame"]
        frames = b"".join(frame.pack({"returnAddress": at, "virtualReturnAddress": self.entry + at, "level": level},
                                     self.strings) for level, at in enumerate(self.returns))
        local = self.local[:a.local]
        for ln in range(32):
            here = f"{tag}.ln{ln}"
            if a.local:
                add(".cudbg.local" + here, 0x80000003, lntbl, ln, local, 0xfffdc0 - a.local)
            add(".cudbg.regs" + here, 0x80000005, lntbl, ln, self.regs[(seed * 32 + ln) % 512], 0, 4)
            add(".cudbg.pred" + here, 0x80000011, lntbl, ln, self.preds[(seed + ln) % 128], 0, 4)
            if a.bt:
                add(".cudbg.bt" + here, 0x80000008, lntbl, ln, frames, 0, frame.size)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--sms", type=int, default=132)
    parser.add_argument("--busy-sms", type=int, default=1 << 30, help="SMs that have blocks (default all)")
    parser.add_argument("--ctas-per-sm", type=int, default=8)
    parser.add_argument("--warps-per-cta", type=int, default=8)
    parser.add_argument("--regs", type=int, default=32, help="registers per lane")
    parser.add_argument("--local", type=int, default=0, help="bytes of local memory per lane")
    parser.add_argument("--bt", type=int, default=1, help="call stack entries per lane")
    parser.add_argument("--modules", type=int, default=2)
    parser.add_argument("--functions", type=int, default=0, help="of every module but the first; default: real cubins")
    parser.add_argument("--memory", type=int, default=64, help="global memory blocks of 256 KiB per device")
    parser.add_argument("--no-memory", action="store_true", help="no memory contents at all")
    parser.add_argument("--sparse", type=int, default=0, metavar="GIB", help="one more global block, a hole in the file")
    parser.add_argument("--no-fault", action="store_true")
    parser.add_argument("--driver", type=int, default=590)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--debug", action="store_true", help="code of -G, all lanes in the kernel")
    args = parser.parse_args()
    if args.debug:
        args.bt = 0
    sections, size = Generator(args).run(args.out)
    print(f"{args.out}: {sections} sections, {size} bytes")


if __name__ == "__main__":
    main()
