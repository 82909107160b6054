"""What the plans of faults and hangs share: a device, its memory, and the state of a stopped one as data.

The device is the software GPU, driven through tests/sim/console.c. What it left is read from the dump of it by
tests/builders/reader.py, which shares nothing with the C code.
"""

import base64
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "builders"))

import cubin as cb  # noqa: E402
import reader  # noqa: E402

SCHEDULES = ("round robin", "oldest", "random", "adversarial")
DONE, LIMIT, STOPPED, FAULTED, STUCK = range(5)
UNIMPLEMENTED, TRAP = 0x57530001, 0x57530002
# Where bank 0 has the address of the words that blocks of a grid wait by, upper half first [measured: nvcc 13.0].
GRID_WORDS = {75: 0x8c, 80: 0x8c, 86: 0x8c, 89: 0x8c, 90: 0x44, 100: 0x254, 120: 0x254}


class Wrong(Exception):
    """The device or the plan is not what the other one says."""


def words(form, values):
    values = list(values)
    return struct.pack(f"<{len(values)}{form}", *values)


def pack(raw):
    return base64.b64encode(raw).decode()


class Console:
    """A program that obeys commands; one for many devices."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def ask(self, *parts):
        """The numbers of the answer."""
        self.process.stdin.write(" ".join(str(p) for p in parts) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split(None, 1)
        if not answer or answer[0] != "ok":
            raise Wrong(" ".join(map(str, parts[:2])) + ": " + (answer[1].strip() if len(answer) > 1 else "no answer"))
        return [int(word, 16) for word in answer[1].split()] if len(answer) > 1 else []


class Heap:
    """Memory of a device that a plan asks for."""

    def __init__(self, console):
        self.console, self.blocks = console, {}

    def add(self, content):
        """Allocates; the content may be a function of the address."""
        size = len(content(0) if callable(content) else content)
        at, = self.console.ask("alloc", size)
        content = content(at) if callable(content) else content
        self.blocks[at] = size
        self.write(at, content)
        return at

    def write(self, at, content):
        if any(content):
            self.console.ask("write", at, content.hex())

    def free(self, at):
        self.console.ask("free", at)

    def symbol(self, name):
        return self.console.ask("symbol", name)[0]


class NoHeap(Heap):
    """Of a plan that is only looked at."""

    def __init__(self):
        super().__init__(None)

    def add(self, content):
        return 0

    def write(self, at, content):
        pass


class Run:
    """How a plan is to be run: everything that may differ between two runs of it."""

    def __init__(self, schedule=0, seed=0, late=0):
        self.schedule, self.seed, self.late = schedule, seed, late


class Image:
    """A cubin of tests/data, and a file of it that a device can load."""

    def __init__(self, data):
        self.data, self.cubin = data, cb.Cubin(data)
        self.sm = self.cubin.sm
        self.device = next(name for name in ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a")
                           if name.rstrip("a") == f"sm_{self.sm}")

    def symbol(self, kernel):
        """The symbol of a kernel of that name, None when it has none."""
        return next((f.name for f in self.cubin.functions if f.name == kernel or f.name.startswith(f"_Z{len(kernel)}{kernel}")), None)

    def opcode(self, address, pc):
        """(operation, bytes) of the instruction at an address."""
        for index, start in address.items():
            section = self.cubin.sections[index]
            if section.flags & cb.SHF_EXECINSTR and start <= pc < start + section.size:
                word = self.cubin.word(index, pc - start)
                return word & 0xfff, (1, 1, 2, 2, 4, 8, 16, 16)[word >> 73 & 7]
        raise Wrong(f"no code at {pc:#x}")


def argument(form, value):
    return (value if form == "struct" else struct.pack("<" + form, value)).hex()


def start(console, image, run, n_sms=0):
    """A device with the image loaded."""
    console.ask("device", image.device, run.schedule, run.seed, run.late, n_sms)
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(image.data)
        file.flush()
        console.ask("load", file.name)


def launch(console, symbol, plan, shared=0, cooperative=False):
    console.ask("launch", symbol, *plan.grid, *plan.block, *(plan.cluster or (0, 0, 0)), shared, int(cooperative),
                *[argument(*one) for one in plan.params])


# ---- the state ----


class Whole(reader.Reader):
    """As the reader, with the bytes of memory in place of their sums."""

    def read(self, section, depth=0):
        kind, how = reader.KINDS[section.type - reader.BASE]
        if how != "bytes":
            return super().read(section, depth)
        raw = bytes(self.content(section))
        return {"bytes": raw, "address": section.addr} if kind in ("managed", "global", "local") else raw


def dump(console):
    """What the device holds now, as its dump tells it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "dump")
        console.ask("dump", path)
        with open(path, "rb") as file:
            tables = Whole(file.read()).tables()
    if tables["lost"]:
        raise Wrong(f"the dump: {tables['lost']}")
    return tables["devices"][0], tables["memory"]


def addresses(device):
    """{index of a section: address} of the image as it was loaded."""
    loaded = device["contexts"][0]["modules"][0]
    image = cb.Cubin(loaded["relocated"])
    given = {s.index: s.addr for s in image.sections
             if s.addr and s.flags & cb.SHF_ALLOC and not s.name.startswith((".nv.constant", ".nv.shared"))}
    again = cb.Cubin(cb.relocate(loaded["image"], 0, given=given)[0])
    plain = cb.Cubin(loaded["image"])
    outside = {r.target for r in plain.relocs if plain.symbols[r.symbol].shndx == 0}  # what the device itself supplies
    for section in again.sections:
        if section.flags & cb.SHF_EXECINSTR and section.index not in outside and again.bytes_of(section) != image.bytes_of(image.sections[section.index]):
            raise Wrong(f"{section.name} is relocated otherwise than by tests/builders")
    return given


def number_of(lane, block):
    return (lane["threadIdxZ"] * block[1] + lane["threadIdxY"]) * block[0] + lane["threadIdxX"]


def local_of(lanes, live):
    """[address, memory of each lane]: without what is zero in all of them at the beginning."""
    if "local" not in lanes[0]:
        return [0, [None] * 32]
    start_at = lanes[0]["local"]["address"]
    content = [lane["local"]["bytes"] for lane in lanes]
    cut = min(min((i for i, byte in enumerate(one) if byte), default=len(one)) for one in content)
    cut = min(cut // 64 * 64, len(content[0]) - 64)
    by_lane = dict(zip(live, content))
    return [start_at + cut, [pack(by_lane[i][cut:]) if i in by_lane else None for i in range(32)]]


def warp_state(warp, block):
    lanes = {lane["ln"]: lane for lane in warp["lanes"]}
    live = sorted(lanes)
    number = number_of(lanes[live[0]], block) // 32
    columns = [[lanes[i]["regs"][r] if i in lanes else 0 for i in range(32)] for r in range(warp["numRegs"])]
    return {
        "number": number, "live": warp["validLanesMask"], "active": warp["activeLanesMask"], "scope": warp["barrierScope"],
        "pc": [lanes[i]["virtualPC"] if i in lanes else 0 for i in range(32)],
        "state": [lanes[i]["cbuThreadState"] if i in lanes else 0 for i in range(32)],
        "stack": [[f["virtualReturnAddress"] for f in lanes[i].get("frames", ())] if i in lanes else [] for i in range(32)],
        "regs": [pack(words("I", column)) for column in columns],
        "preds": [lanes[i]["preds"][:7] if i in lanes else [0] * 7 for i in range(32)],
        "uregs": warp["uregs"][:63], "upreds": warp["upreds"][:7], "barriers": warp["barriers"],
        "local": local_of(list(lanes.values()), list(lanes)),
    }


def state_of(device, memory, plan, most=1 << 16):
    """Registers, memory, stacks of everything that is resident; allocations of more than `most` bytes are left out."""
    grid, context = device["grids"][0], device["contexts"][0]
    banks = {bank["bankId"]: bank["addr"] for bank in grid["banks"]}
    in_bank = set(banks.values())
    content = {one["address"]: one["bytes"] for one in memory}
    blocks = []
    for sm in device["sms"]:
        for cta in sm.get("ctas") or ():
            warps = [warp_state(warp, plan.block) for warp in cta.get("warps") or ()]
            blocks.append({"sm": sm["smId"], "ctaid": [cta["blockIdx" + axis] for axis in "XYZ"], "shared": pack(cta.get("shared", b"")),
                           "warps": sorted(warps, key=lambda one: one["number"])})
    return {
        "grid": plan.grid, "block": plan.block, "cluster": plan.cluster, "n_regs": grid["numRegs"],
        "windows": {"shared": context["sharedWindowBase"], "local": context["localWindowBase"]},
        "banks": {str(bank): [at, pack(content[at])] for bank, at in sorted(banks.items())},
        "memory": [[at, pack(raw)] for at, raw in sorted(content.items()) if at not in in_bank and len(raw) <= most],
        "blocks": sorted(blocks, key=lambda one: one["ctaid"][::-1]),
    }
