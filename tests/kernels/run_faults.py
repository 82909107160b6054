#!/usr/bin/env python3
"""Runs the kernels of faults.cu up to their faults and writes what the GPU would hold then: tests/data/faults/*.json.gz.

usage: run_faults.py INTERPRETER

INTERPRETER is a folder with sassrun.py, an interpreter of nvcc's machine code. It is no part of this tree and needed only
to make the states anew. The cubins are those that build.sh made beside the states.

A state holds the registers at the pc, the pc a few instructions behind the fault (a warp goes on until its fault is seen),
the memory and the constant banks, and the truth: lanes, addresses, width, space, direction and whose memory it was. Each
address comes from the machine code as it ran and, second, from the plan below, which knows the source; they must agree.
`cp.async` and shared memory of a cluster do not run: such a state stops at the instruction, and the plan alone tells.
"""

import base64
import copy
import gzip
import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FAULTS = os.path.join(HERE, "..", "data", "faults")
sys.path.insert(0, os.path.join(HERE, "..", "builders"))

import cubin as cb  # noqa: E402
import machine  # noqa: E402

HEAP = 0x7f3a00000000
CONSTANT_WINDOW = 0x7f0500014000  # generic address of constant bank 3
LOCAL_TOP, LOCAL_BYTES = 0xfffdc0, 0x240
LOADS = {0x381, 0x981, 0x980, 0x984, 0x983, 0xfae, 0xdae}
STORES = {0x386, 0x986, 0x385, 0x985, 0x388, 0x988, 0x387, 0x987}
SIZES = [1, 1, 2, 2, 4, 8, 16, 16]


def words(form, values):
    return struct.pack(f"<{len(values)}{form}", *values)


class Plan:
    """One launch: memory, parameters, and what must come of it.

    address(x, y) is what the source says of a thread; lanes those that fault; owner what the base pointer came from:
    a parameter ("param", ordinal, offset inside it), ("symbol", name), ("constant", name), ("shared",), ("stack",),
    ("loaded", ordinal of the parameter that the pointer was loaded through, or None)."""

    def __init__(self, params, address, width, space, direction, owner, lanes=None, block=(32, 1, 1), drift=3,
                 ctaid=(1, 0, 0), grid=(4, 1, 1), symbols=(), freed=(), code=14, cluster=None):
        self.params, self.address, self.width, self.space, self.direction = params, address, width, space, direction
        self.owner, self.lanes, self.block, self.drift, self.ctaid = owner, lanes, block, drift, ctaid
        self.grid, self.symbols, self.freed, self.code, self.cluster = grid, symbols, freed, code, cluster


class Heap:
    """Allocations, 512 bytes apart at least."""

    def __init__(self):
        self.blocks, self.next = {}, HEAP

    def add(self, data):
        at = self.next
        self.blocks[at] = bytearray(data)
        self.next = (at + len(data) + 0x3ff) // 0x200 * 0x200
        return at


def plans(heap, sm):
    """{kernel: function making its Plan}. A function, for every kernel has a heap of its own."""
    ints, floats = words("i", range(64)), words("f", [float(i) for i in range(64)])
    shared = 0x400 if sm >= 90 else 0

    def past_by_one():
        a, b = heap.add(words("f", [1.0] * 60)), heap.add(bytes(240))
        return Plan([("Q", a), ("Q", b), ("i", 60)], lambda x, y: a + 4 * (32 + x), 4, "global", "load", ("param", 0, 0),
                    lanes=[28])

    def past_by_much():
        a, b = heap.add(ints), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 1 << 18)], lambda x, y: a + 4 * x * (1 << 18), 4, "global", "load",
                    ("param", 0, 0), drift=1)

    def negative_index():
        a, b = heap.add(ints), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 3)], lambda x, y: a + 4 * (x - 3), 4, "global", "load", ("param", 0, 0),
                    lanes=[0, 1, 2], drift=0)

    def null_member():
        b = heap.add(bytes(128))
        return Plan([("Q", 0), ("Q", b)], {8: lambda x, y: 8, 4: lambda x, y: 0}, None, "global", "load", ("param", 0, 0))

    def misaligned_vector():
        a, b = heap.add(bytes(1024)), heap.add(bytes(1024))
        return Plan([("Q", a), ("Q", b), ("i", 1)], lambda x, y: a + 16 * x + 4, 16, "global", "load", ("param", 0, 0), code=6)

    def after_free():
        a, b, c = heap.add(bytes(256)), heap.add(ints[:128]), heap.add(bytes(256))
        return Plan([("Q", a), ("Q", b)], lambda x, y: a + 4 * x, 4, "global", "store", ("param", 0, 0), freed=[a], drift=1)

    def wrong_stride():
        a, b = heap.add(bytes(4 * 32 * 6)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 6), ("i", 64)], lambda x, y: a + 4 * (3 * 64 + x), 4, "global", "load",
                    ("param", 0, 0), drift=2)

    def shared_overrun():
        a, b = heap.add(ints[:128]), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 9)], lambda x, y: shared + 4 * 9 * x, 4, "shared", "load", ("shared",), code=5,
                    drift=1)

    def local_overrun():
        a = heap.add(bytes(128))
        return Plan([("Q", a), ("i", 90), ("i", 4)], None, 4, "local", "store", ("stack",), code=5)

    def bad_in_struct():
        b = heap.add(bytes(128))
        return Plan([("struct", struct.pack("<iiQQ", 7, 0, 0x7f1100000000, b)), ("i", 20)],
                    lambda x, y: 0x7f1100000000 + 4 * x, 4, "global", "load", ("param", 0, 8), lanes=list(range(20)))

    def bad_link():
        wild = 0x7e5500000040
        nodes = [struct.pack("<qQii", i, wild if i % 4 == 1 else HEAP, i, 0) for i in range(32)]
        a, b = heap.add(b"".join(nodes)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 1)], lambda x, y: (wild if x % 4 == 1 else HEAP) + 16, 4, "global", "load", ("loaded", 0),
                    lanes=[i for i in range(32) if i % 4 == 1], drift=0)

    def loaded_index():
        which = [i if i not in (5, 6) else 100000 + i for i in range(32)]
        a, b, c = heap.add(floats), heap.add(words("i", which)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("Q", c)], lambda x, y: a + 4 * which[x], 4, "global", "load", ("param", 0, 0),
                    lanes=[5, 6], drift=0)

    def some_lanes():
        a, b = heap.add(ints[:128]), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 50000)], lambda x, y: b + 4 * (x + 50000), 4, "global", "store", ("param", 1, 0),
                    lanes=list(range(1, 32, 2)), drift=0)

    def same_for_all():
        a, b = heap.add(ints), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 70)], lambda x, y: a + 4 * (1000 + 70), 4, "global", "load", ("param", 0, 0))

    def pairs():
        a, b = heap.add(bytes(256)), heap.add(bytes(256))
        return Plan([("Q", a), ("Q", b), ("i", 30), ("i", 5)], lambda x, y: b + 8 * (5 * x + 30), 8, "global", "store",
                    ("param", 1, 0), lanes=list(range(1, 32)), drift=1)

    def wide_store():
        a, b = heap.add(bytes(512)), heap.add(bytes(512))
        return Plan([("Q", a), ("Q", b), ("i", 2)], lambda x, y: b + 16 * (x + 2), 16, "global", "store", ("param", 1, 0),
                    lanes=[30, 31], drift=1)

    def count_up():
        a, b = heap.add(bytes(128)), heap.add(words("I", range(32)))
        return Plan([("Q", a), ("Q", b), ("I", 1000)], lambda x, y: a + 4000 * x, 4, "global", "atomic", ("param", 0, 0),
                    lanes=list(range(1, 32)), drift=1)

    def swap_in():
        a, b = heap.add(bytes(256)), heap.add(bytes(256))
        return Plan([("Q", a), ("Q", b), ("i", -1)], lambda x, y: a + 8 * (x - 1), 8, "global", "atomic", ("param", 0, 0),
                    lanes=[0], drift=0)

    def shared_atomic():
        a, b = heap.add(words("i", [i if i != 9 else 4000 for i in range(32)])), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b)], lambda x, y: shared + 4 * (x if x != 9 else 4000), 4, "shared", "atomic", ("shared",),
                    lanes=[9], code=5, drift=1)

    def async_copy():
        a, b = heap.add(bytes(512)), heap.add(bytes(512))
        return Plan([("Q", a), ("Q", b), ("i", 1000)], lambda x, y: a + 16 * (x + 1000), 16, "global", "load", ("param", 0, 0),
                    drift=0)

    def device_table():
        a = heap.add(bytes(128))
        return Plan([("Q", a), ("i", 7)], lambda x, y, table: table + 28 * x, 4, "global", "load", ("symbol", "table"),
                    lanes=None, drift=0, symbols=["table"])

    def device_pointer():
        a = heap.add(bytes(128))
        return Plan([("i", 1000)], lambda x, y: a + 4 * (x + 1000), 4, "global", "store", ("loaded", None),
                    symbols=[("shelf", struct.pack("<Q", a))], drift=1)

    def constant_pointer():
        a, b = heap.add(bytes(128)), heap.add(bytes(128))
        return Plan([("Q", b), ("i", -1)], lambda x, y: a + 4 * (x - 1), 4, "global", "load", ("constant", "source"),
                    symbols=[("source", struct.pack("<Q", a))], lanes=[0], drift=0)

    def by_bytes():
        a, b = heap.add(bytes(32)), heap.add(bytes(32))
        return Plan([("Q", a), ("Q", b), ("i", 32)], lambda x, y: b + 32 - x, 1, "global", "store", ("param", 1, 0), lanes=[0],
                    drift=0)

    def by_shorts():
        a, b = heap.add(bytes(64)), heap.add(bytes(64))
        return Plan([("Q", a), ("Q", b), ("i", 2)], lambda x, y: b + 4 * x, 2, "global", "store", ("param", 1, 0),
                    lanes=list(range(16, 32)), drift=1)

    def walk_past_end():
        a, b = heap.add(words("i", [1] * 96)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b)], lambda x, y: a + 4 * (96 + x), 4, "global", "load", ("param", 0, 0), drift=2)

    def garbage_pointer():
        a = heap.add(struct.pack("<qQ", 3, 0xdeadbeefdeadbee8))
        return Plan([("Q", a), ("i", 2)], lambda x, y: 0xdeadbeefdeadbee8 + 8 * x, 4, "global", "store", ("loaded", 0), drift=1)

    def misaligned_atomic():
        a = heap.add(bytes(512))
        return Plan([("Q", a), ("i", 2)], lambda x, y: a + 2 + 4 * x, 4, "global", "atomic", ("param", 0, 0), code=6, drift=1)

    def in_the_gap():
        a, b, c = heap.add(bytes(256)), heap.add(ints[:128]), heap.add(bytes(256))
        return Plan([("Q", a), ("Q", b), ("i", 64)], lambda x, y: a + 4 * (64 + x), 4, "global", "store", ("param", 0, 0), drift=1)

    def three_d():
        a, b = heap.add(bytes(8 * 4 * 4 * 2)), heap.add(bytes(8 * 4 * 4 * 2))
        return Plan([("Q", a), ("Q", b), ("i", 8), ("i", 4)], lambda x, y: a + 4 * ((2 * 4 + y) * 8 + x), 4, "global", "load",
                    ("param", 0, 0), block=(8, 4, 1), ctaid=(0, 0, 2), grid=(1, 1, 3))

    def generic_shared():
        a = heap.add(bytes(128))
        return Plan([("Q", a), ("i", 0), ("i", 3000)], lambda x, y: shared + 4 * (x + 3000), 4, "shared", "store", ("shared",),
                    code=5, drift=1)

    def through_call():
        a, b = heap.add(bytes(128)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 1000), ("i", 3)], lambda x, y: a + 4 * (1000 + 3 * x), 4, "global", "load", ("param", 0, 0))

    def through_calls():
        a, b = heap.add(bytes(128)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 1000), ("i", 3)], lambda x, y: a + 4 * (1002 + 3 * (x + 1)), 4, "global", "load",
                    ("param", 0, 0))

    def by_reference():
        a, b = heap.add(bytes(128)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 300)], lambda x, y: a + 4 * (x + 300), 4, "global", "load", ("param", 0, 0))

    def two_tables():
        a, b, c = heap.add(bytes(128)), heap.add(bytes(128)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("Q", c), ("i", 1), ("i", 500)], lambda x, y: b + 4 * (x + 500), 4, "global", "load",
                    ("param", 1, 0))

    def chosen():
        a, b, c = heap.add(bytes(128)), heap.add(bytes(128)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("Q", c), ("i", 30)], lambda x, y: b + 4 * 30 * x, 4, "global", "load", ("param", 1, 0),
                    lanes=[i for i in range(2, 32) if i != 9])  # lane 9 lands in the third buffer

    def cluster_shared():
        a = heap.add(bytes(128))
        return Plan([("Q", a), ("i", 500)], lambda x, y: shared + 4 * (x + 500), 4, "shared", "load", ("shared",), code=17,
                    drift=0, cluster=(2, 1, 1))

    return {name: make for name, make in locals().items() if callable(make) and name not in ("words", "heap")}


def load_interpreter(folder):
    sys.path.insert(0, folder)
    import sassrun  # pylint: disable=import-error,import-outside-toplevel
    sassrun.SHW, sassrun.LOW = machine.SHARED_WINDOW, machine.LOCAL_WINDOW
    return sassrun


class Image:
    """What the interpreter takes for a module: the relocated image, as tests/builders plants it in a dump."""

    def __init__(self, data):
        self.cubin = cb.Cubin(data)
        self.sm = self.cubin.sm
        self.relocated, self.address = cb.relocate(data, machine.CODE_BASE)
        plain = cb.Cubin(self.relocated)
        self.heap, self.addr, self.bank, self.by = {}, {}, {}, {}
        for section in plain.sections:
            header = [0] * 10
            header[5] = section.size
            self.by[section.name] = header
            if section.index in self.address and section.name.startswith((".text.", ".nv.global")):
                content = plain.bytes_of(section) or bytes(section.size)
                self.addr[section.name] = self.address[section.index]
                self.heap[self.address[section.index]] = bytearray(content)
            elif section.name.startswith(".nv.constant"):
                self.bank[section.name] = bytearray(plain.bytes_of(section) or bytes(section.size))
        self.globals = {self.addr[name]: self.heap[self.addr[name]] for name in self.addr if name.startswith(".nv.global")}

    def find(self, address, size):
        for base, content in self.heap.items():
            if base <= address and address + size <= base + len(content):
                return content, address - base
        raise KeyError(hex(address))

    def symbol(self, name):
        return next(s for s in self.cubin.symbols if s.name == name)

    def plant(self, name, value):
        """Gives a variable its value; returns its address, None for one in constant memory."""
        symbol = self.symbol(name)
        section = self.cubin.sections[symbol.shndx]
        content = self.bank[section.name] if section.name in self.bank else self.heap[self.addr[section.name]]
        content[symbol.value:symbol.value + len(value)] = value
        return self.address.get(symbol.shndx, 0) + symbol.value if section.name not in self.bank else None


class Fault(Exception):
    pass


class Run:
    """One block of one kernel, run until one of its warps does something wrong."""

    def __init__(self, sassrun, image, kernel, plan, heap):
        self.sassrun, self.image, self.plan, self.wrong, self.seen = sassrun, image, plan, [], {}
        for base, content in heap.blocks.items():
            if base not in plan.freed:
                image.heap[base] = content
        bank = bytearray(0x1400)
        offset, size = image.cubin.param_bank(image.cubin.function(kernel))
        dims, tops, local, grid = ((0x360, 0x37c, 0x2f8, 0x370) if image.sm >= 100 else (0, 0x28, 0x20, 0xc))
        for axis in range(3):
            struct.pack_into("<I", bank, dims + 4 * axis, plan.block[axis])
            struct.pack_into("<I", bank, grid + 4 * axis, plan.grid[axis])
        struct.pack_into("<I", bank, tops, LOCAL_TOP)
        struct.pack_into("<Q", bank, local, machine.LOCAL_WINDOW)
        if image.sm < 90:
            struct.pack_into("<Q", bank, 0x18, machine.SHARED_WINDOW)
        window = 0x120 if image.sm >= 100 else 0xd0 if image.sm >= 90 else 0x50
        struct.pack_into("<Q", bank, window, CONSTANT_WINDOW)
        if ".nv.constant3" in image.bank:
            image.heap[CONSTANT_WINDOW] = image.bank[".nv.constant3"]
        at = offset
        for form, value in plan.params:
            packed = value if form == "struct" else struct.pack("<" + form, value)
            align = 8 if form == "struct" else len(packed)
            at = (at + align - 1) // align * align
            bank[at:at + len(packed)] = packed
            at += len(packed)
        self.bank = bank[:offset + size]
        own = image.by.get(".nv.shared." + kernel)
        self.shared = max(own[5] if own else 0, 0x400 if image.sm >= 90 else 0)
        self.cta = sassrun.CTA(image, kernel, plan.grid, plan.block, plan.ctaid, bytes(self.bank), 0)
        self.cta.sh = bytearray(self.shared)
        self.shared_base = 0
        self.stack = [[] for _ in range(32)]
        sassrun.mem = self.mem
        self.rank = plan.ctaid[0] % plan.cluster[0] if plan.cluster else 0

    def mem(self, warp, lane, space, address, size, store=None):
        """The interpreter's memory: wrong accesses are noted, give 0, and do not stop it."""
        named = {"g": "global", "s": "shared", "l": "local"}[space]
        if space == "g":
            for window, inner, name in ((machine.SHARED_WINDOW, "s", "shared"), (machine.LOCAL_WINDOW, "l", "local")):
                if window <= address < window + (1 << 24):
                    space, named, address = inner, name, address - window
        told = address
        content, at = None, 0
        if address % size == 0:
            if space == "g":
                try:
                    content, at = self.image.find(address, size)
                except KeyError:
                    pass
            elif space == "s" and address + size <= len(self.cta.sh):
                content, at = self.cta.sh, address
            elif space == "l" and LOCAL_TOP - LOCAL_BYTES <= address <= LOCAL_TOP - size:
                content, at = warp.loc[lane], address - (LOCAL_TOP - LOCAL_BYTES)
        self.seen[lane] = told
        if content is None:
            self.wrong.append((lane, named, told, size, "store" if store is not None else "load"))
            return 0
        if store is not None:
            content[at:at + size] = (store & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        return int.from_bytes(content[at:at + size], "little")

    def word(self, warp, pc):
        content, at = self.image.find(pc, 16)
        return int.from_bytes(content[at:at + 16], "little")

    def next_group(self, warp):
        runnable = [i for i in range(32) if warp.st[i] == "run"]
        return (min(warp.pc[i] for i in runnable), runnable) if runnable else (None, [])

    def track(self, before, warp, pc):
        """Keeps call stacks: a lane that a call or return moved."""
        op = self.word(warp, pc) & 0xfff
        for lane in before:
            if warp.pc[lane] == pc + 16:
                continue
            if op in (0x943, 0x944, 0x343, 0x344):
                self.stack[lane].insert(0, pc + 16)
            elif op == 0x950 and self.stack[lane]:
                self.stack[lane].pop(0)

    def step(self, warp):
        """One instruction; returns (pc, lanes) of it or None."""
        warp.prio = 0  # always the lowest pc
        pc, runnable = self.next_group(warp)
        if pc is None:
            return None
        group = [i for i in runnable if warp.pc[i] == pc]
        self.seen = {}
        self.sassrun.step(warp)
        self.track(group, warp, pc)
        return pc, group

    @staticmethod
    def snapshot(warp):
        return copy.deepcopy((warp.R, warp.P, warp.U, warp.UP, warp.B, warp.pc, warp.st, warp.loc))

    @staticmethod
    def restore(warp, saved):
        warp.R, warp.P, warp.U, warp.UP, warp.B, warp.pc, warp.st, warp.loc = copy.deepcopy(saved)

    def to_fault(self):
        """(warp, errorpc, lanes executing, facts of the wrong access, the state before it)."""
        warp = self.cta.warps[0]
        for warp in self.cta.warps:
            warp.loc = [bytearray(LOCAL_BYTES) for _ in range(32)]
        for _ in range(20000):
            for warp in self.cta.warps:
                pc, _ = self.next_group(warp)
                if pc is None:
                    continue
                saved, calls = self.snapshot(warp), copy.deepcopy(self.stack)
                try:
                    done = self.step(warp)
                except self.sassrun.Unimpl:
                    if not self.passable(warp, pc):
                        self.restore(warp, saved)
                        group = [i for i in range(32) if warp.st[i] == "run" and warp.pc[i] == pc]
                        return warp, pc, group, None, saved
                    continue
                if self.wrong:
                    self.stack_at_fault = calls
                    return warp, done[0], done[1], self.wrong, saved
            if all(self.next_group(w)[0] is None for w in self.cta.warps):
                self.release()
        raise Fault("no fault")

    def passable(self, warp, pc):
        """Instructions of a cluster that do nothing to the registers that matter: skipped."""
        op = self.word(warp, pc) & 0xfff
        if op in (0x9c7, 0xdc7):
            for lane in range(32):
                if warp.st[lane] == "run" and warp.pc[lane] == pc:
                    warp.pc[lane] = pc + 16
            return True
        if os.environ.get("FAULTS_VERBOSE"):
            print(f"stops at {op:03x}", file=sys.stderr)
        return False

    def release(self):
        waiting = [(w, i) for w in self.cta.warps for i in range(32) if isinstance(w.st[i], tuple) and w.st[i][0] == "bar"]
        if not waiting:
            raise Fault("all lanes have left")
        for warp, lane in waiting:
            warp.st[lane] = "run"

    def drift(self, warp, count):
        """Lets the warp go on for a few instructions, as far as it does nothing else that is wrong."""
        for _ in range(count):
            saved, calls = self.snapshot(warp), copy.deepcopy(self.stack)
            pc, runnable = self.next_group(warp)
            if pc is None or len({warp.pc[i] for i in runnable}) > 1 or self.word(warp, pc) & 0xfff in (0x94d, 0xb1d):
                return
            self.wrong = []
            try:
                self.step(warp)
            except self.sassrun.Unimpl:
                self.wrong = [None]
            if self.wrong or not any(s == "run" for s in warp.st):
                self.restore(warp, saved)
                self.stack = calls
                return


def lane_thread(block, lane):
    return lane % block[0], lane // block[0]


def truth_of(run, plan, kernel, pc, group, wrong):
    word = run.word(None, pc)
    addresses = dict(run.seen)
    symbols = [run.image.address[run.image.symbol(name).shndx] + run.image.symbol(name).value
               for name in plan.symbols if isinstance(name, str)]
    width, ran = plan.width, wrong is not None
    if ran:
        width = wrong[0][3]
        lanes = sorted({w[0] for w in wrong})
    else:
        lanes = plan.lanes if plan.lanes is not None else group
    formula = plan.address[width] if isinstance(plan.address, dict) else plan.address
    if formula:
        said = {lane: formula(*lane_thread(plan.block, lane), *symbols) & (1 << 64) - 1 for lane in group}
        odd = {lane: (hex(at), hex(said[lane])) for lane, at in addresses.items() if ran and at != said[lane]}
        if odd:
            raise Fault(f"{kernel}: address of the code, of the source: {list(odd.items())[:3]}")
        addresses = {lane: said[lane] for lane in (addresses if ran else group)}
    if plan.lanes is not None and lanes != plan.lanes:
        raise Fault(f"{kernel}: lanes {lanes}, planned {plan.lanes}")
    if plan.width is not None and width != plan.width:
        raise Fault(f"{kernel}: width {width}")
    space = wrong[0][1] if ran else plan.space
    if space != plan.space:
        raise Fault(f"{kernel}: {space} memory")
    return {"lanes": lanes, "executing": group, "address": {str(lane): at for lane, at in sorted(addresses.items())}, "width": width,
            "space": space, "direction": plan.direction, "owner": plan.owner, "by_hand": not ran,
            "opcode": word & 0xfff}


def state_of(sassrun, data, kernel, sm):
    heap = Heap()
    plan = plans(heap, sm)[kernel]()
    image = Image(data)
    for entry in plan.symbols:
        if not isinstance(entry, str):
            image.plant(*entry)
    real = sassrun.mem
    run = Run(sassrun, image, kernel, plan, heap)
    try:
        run.stack_at_fault = run.stack
        warp, errorpc, group, wrong, saved = run.to_fault()
        truth = truth_of(run, plan, kernel, errorpc, group, wrong)
        run.restore(warp, saved)
        run.stack = copy.deepcopy(run.stack_at_fault)
        drift = plan.drift if wrong else 0
        if drift:
            run.wrong = []
            run.step(warp)
            run.drift(warp, drift - 1)
    finally:
        sassrun.mem = real
    function = image.cubin.function(kernel)
    n_regs = max(image.cubin.registers(f) for f in image.cubin.functions)
    n_regs = (n_regs + 7) // 8 * 8
    number = run.cta.warps.index(warp)
    valid = min(32, plan.block[0] * plan.block[1] * plan.block[2] - 32 * number)
    banks = {0: bytes(run.bank)}
    for name, content in image.bank.items():
        bank = int("".join(c for c in name.split(".")[2] if c.isdigit()))
        if bank and (name.endswith("." + kernel) or name.count(".") == 2):
            banks[bank] = bytes(content)
    pack = lambda raw: base64.b64encode(raw).decode()  # noqa: E731
    return {
        "kernel": kernel, "section": function.shndx, "grid": plan.grid, "block": plan.block, "ctaid": plan.ctaid,
        "cluster": plan.cluster, "warp": number, "valid": valid, "code": plan.code, "constant_window": CONSTANT_WINDOW,
        "executing": group, "errorpc": errorpc, "pc": [warp.pc[i] if warp.st[i] != "exit" else 0 for i in range(valid)],
        "stack": run.stack[:valid], "n_regs": n_regs,
        "regs": [pack(words("I", [warp.R[i][r] for i in range(valid)])) for r in range(n_regs)],
        "preds": [[int(v) for v in warp.P[i][:7]] for i in range(valid)],
        "uregs": [int(v) for v in warp.U[:63]], "upreds": [int(v) for v in warp.UP[:7]],
        "memory": [[base, pack(bytes(content))] for base, content in sorted(
            {**{b: c for b, c in heap.blocks.items() if b not in plan.freed}, **image.globals}.items())],
        "freed": [[base, len(heap.blocks[base])] for base in plan.freed],
        "banks": {str(bank): pack(content) for bank, content in banks.items()},
        "shared": run.shared, "local": [LOCAL_TOP - LOCAL_BYTES, [pack(bytes(warp.loc[i])) for i in range(valid)]],
        "truth": truth,
    }


def main(arguments):
    if len(arguments) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    sassrun = load_interpreter(arguments[0])
    failed = 0
    for name in sorted(os.listdir(FAULTS)):
        if not name.endswith(".cubin.gz"):
            continue
        with gzip.open(os.path.join(FAULTS, name)) as handle:
            data = handle.read()
        sm = cb.Cubin(data).sm
        states = []
        for kernel in plans(Heap(), sm):
            if kernel == "cluster_shared" and sm < 90:
                continue
            sassrun.cache.clear()
            try:
                states.append(state_of(sassrun, data, kernel, sm))
            except (Fault, sassrun.Unimpl, sassrun.Trap, KeyError, IndexError) as error:
                print(f"{name}: {kernel}: {type(error).__name__} {error}", file=sys.stderr)
                failed += 1
        text = json.dumps(states, separators=(",", ":")).encode()
        with open(os.path.join(FAULTS, name.replace(".cubin.gz", ".json.gz")), "wb") as handle:
            handle.write(gzip.compress(text, 9, mtime=0))
        print(f"{name}: {len(states)} states")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
