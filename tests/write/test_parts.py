#!/usr/bin/env python3
"""warpscope extract and diff: test_parts.py WARPSCOPE. Prints TAP.

What is extracted is held against the Python reader's bytes; differences are planted in the builder's model.
"""

import json
import os
import pty
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "builders"), os.path.join(HERE, "..", "cli")]

import build  # noqa: E402,F401  (registers all scenarios)
import coredump  # noqa: E402
import reader  # noqa: E402
import schemas  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402


class Wrong(Exception):
    pass


def same(what, got, want):
    if got != want:
        raise Wrong(f"{what}: {str(got)[:300]!r}, should be {str(want)[:300]!r}")


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def put(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as handle:
            handle.write(data)
        return path

    def run(self, *arguments, status=0):
        done = subprocess.run([self.path, *arguments], capture_output=True, timeout=120, check=False)
        if done.returncode != status:
            raise Wrong(f"status {done.returncode}, should be {status}: {done.stderr.decode()[:300]}")
        return done

    def diff(self, a, b, *options, status=10):
        done = self.run("diff", "--json", *options, self.put("a", a), self.put("b", b), status=status)
        answer = json.loads(done.stdout)
        if why := schemas.misfit(answer):
            raise Wrong(why)
        same("same", answer["same"], status == 0)
        return answer


def model(name, change=None):
    """The bytes of a scenario, its model changed first."""
    built = SCENARIOS[name][0]()
    if change:
        change(built.model)
    return coredump.write(built.model, built.options)


def section(data, number, nth=0):
    tree = reader.Reader(data)
    found = [s for s in tree.sections[1:] if s.type == reader.BASE + number and s.size]
    return bytes(tree.data[found[nth].offset:found[nth].offset + found[nth].size]), found[nth]


def extracts(program):
    data = model("misaligned-G")
    path = program.put("dump", data)
    image, _ = section(data, 7)
    same("image by number", program.run("extract", path, "image", "0", "-o", "-").stdout, image)
    file = os.path.join(program.folder, "image")
    program.run("extract", path, "image", "0", "-o", file)
    with open(file, "rb") as handle:
        same("image in a file", handle.read(), image)
    ptx = program.run("extract", path, "ptx", "0", "-o", "-").stdout
    if b".visible .entry" not in ptx or b"\0" in ptx:
        raise Wrong("no PTX text")
    table, found = section(data, 9)
    same("section by name", program.run("extract", path, "section", ".cudbg.devtbl", "-o", "-").stdout, table)
    same("section by number", program.run("extract", path, "section", str(found.index), "-o", "-").stdout, table)


def extracts_by_identity(program):
    """The first digits of a code identity name an image; those of no image, none."""
    a, b = SCENARIOS["illegal-address"][0](), SCENARIOS["misaligned-G"][0]()
    module = b.model.devices[0].contexts[0].modules[0]
    module.row["moduleHandle"] += 1
    a.model.devices[0].contexts[0].modules.append(module)
    path = program.put("two.nvcudmp", coredump.write(a.model, a.options))
    rows = json.loads(program.run("info", "--json", path, "modules").stdout)["modules"]
    images = [program.run("extract", "-o", "-", path, "image", str(row["module"])).stdout for row in rows]
    same("images", len(set(images)), 2)
    for row, image in zip(rows, images):
        same("image", program.run("extract", "-o", "-", path, "image", row["code_id"][:12]).stdout, image)
    program.run("extract", "-o", "-", path, "image", "0123456789abcdef", status=1)


def extracts_memory(program):
    data = model("memory")
    path = program.put("dump", data)
    block, found = section(data, 2)
    take = lambda text, *rest: program.run("extract", path, "memory", text, *rest, "-o", "-").stdout  # noqa: E731
    same("global", take(f"global:{found.addr:#x}+{found.size}"), block)
    same("part of it", take(f"global:{found.addr + 4:#x}+8"), block[4:12])
    shared, _ = section(data, 4)
    same("shared of a block", take(f"shared:0+{len(shared)}"), shared)
    program.run("extract", path, "memory", "global:0x10+4", "-o", "-", status=1)


def refuses(program):
    path = program.put("dump", model("bad-pc"))
    for arguments, status in ((("image", "9"), 1), (("ptx", "abcdef"), 1), (("section", "none"), 1), (("texture", "0"), 2),
                              (("memory", "global:1"), 2), (("image",), 2)):
        program.run("extract", path, *arguments, "-o", "-", status=status)
    program.run("extract", path, "image", "0", status=2)
    done = program.run("extract", path, "image", "0", "-o", path, status=1)
    if b"is the input" not in done.stderr:
        raise Wrong(done.stderr.decode())


def tells_what_is_missing(program):
    """What the dump left out, what is cut, and what never was there, each in its own words."""
    def says(path, words, *arguments, status=1):
        done = program.run("extract", path, *arguments, "-o", "-", status=status)
        told = done.stderr.decode().splitlines()[-1]  # before it, damage of the whole file
        if words not in told:
            raise Wrong(f"{arguments}: {told!r} has not {words!r}")
        return done.stdout

    data = model("illegal-address")
    path = program.put("dump", data)
    for word in ("image", "ptx", "section"):
        says(path, f"one {word} at a time", word, "0", "1", status=2)
    says(path, "image, ptx, section or memory; not \"texture\"", "texture", "0", status=2)
    says(path, "more than a file can hold", "memory", "global:0x10+0x100000001", status=2)
    built = SCENARIOS["illegal-address"][0]()
    built.options.flags = coredump.FLAG_SKIP_IMAGES
    path = program.put("dump", coredump.write(built.model, built.options))
    says(path, "the original image of module 0: left out when the dump was made", "image", "0", "--original")
    image, found = section(data, 7)
    at = struct.unpack_from("<Q", data, 40)[0] + 64 * found.index + 24  # the place of its bytes: near the end of the file
    moved = bytearray(data)
    struct.pack_into("<Q", moved, at, len(data) - 1000)
    left = says(program.put("dump", moved), "the image of module 0 is truncated: 1000 bytes are left", "image", "0", status=0)
    same("what is left", left, bytes(moved[-1000:]))
    left = says(program.put("dump", moved), f"section {found.index} is truncated: 1000 of {len(image)} bytes are left",
                "section", str(found.index), status=0)
    same("what is left of the section", left, bytes(moved[-1000:]))


def first_lane(dump):
    warp = next(w for d in dump.devices for s in d.sms for c in s.ctas or [] for w in c.warps or [] if w.lanes)
    return warp, warp.lanes[0]


def finds_register(program):
    number = []

    def change(dump):
        _, lane = first_lane(dump)
        number.append(lane.row.get("ln", 0))
        lane.regs = list(lane.regs)
        lane.regs[5] ^= 0x10000
    answer = program.diff(model("illegal-address"), model("illegal-address", change))
    same("kinds", {k: n for k, n in answer["counts"].items() if n}, {"register": 1})
    one = answer["differences"][0]
    if not one["key"].endswith(f" lane {number[0]} R5") or int(one["a"], 16) ^ int(one["b"], 16) != 0x10000:
        raise Wrong(str(one))


def finds_lane(program):
    """The place and the exception of a lane, each alone and both."""
    before = []
    model("illegal-address", lambda dump: before.append(first_lane(dump)[0].lanes[-1].row))
    physical, kind, number = (before[0].get(name, 0) for name in ("physPC", "exception", "ln"))
    for step, add in ((16, 0), (0, 1), (32, 2)):
        def change(dump, step=step, add=add):
            warp, _ = first_lane(dump)
            warp.lanes[-1].row.update(physPC=physical + step, exception=kind + add)
        answer = program.diff(model("illegal-address"), model("illegal-address", change))
        told = [(d["key"], d["a"], d["b"]) for d in answer["differences"] if d["kind"] == "warp"]
        same("lanes", [(key.rsplit(" ", 2)[1:], a, b) for key, a, b in told],
             [(["lane", str(number)], f"pc +{physical:#x} exception {kind}", f"pc +{physical + step:#x} exception {kind + add}")])


def finds_shared_memory_once(program):
    """Memory of a block is compared once, however many warps the block has; of each block."""
    def change(dump):
        for cta in (c for d in dump.devices for s in d.sms for c in s.ctas or []):
            same("warps of a block", len(cta.warps) > 1, True)
            cta.shared = bytes([cta.shared[0] ^ 1]) + cta.shared[1:]
    answer = program.diff(model("hang"), model("hang", change))
    shared = [d["key"] for d in answer["differences"] if d["kind"] == "memory"]
    same("blocks", (len(shared), len(set(shared)), all(key.startswith("shared") for key in shared)), (2, 2, True))


def finds_memory(program):
    def change(dump):
        data = bytearray(dump.memory[0].data)
        data[3] ^= 1
        data[9] ^= 1
        dump.memory[0].data = bytes(data)
    answer = program.diff(model("illegal-address"), model("illegal-address", change))
    same("kinds", {k: n for k, n in answer["counts"].items() if n}, {"memory": 1})
    start = int(answer["differences"][0]["key"].split()[1].split("+")[0], 16)
    same("where", answer["differences"][0]["b"], f"2 bytes differ, the first at {start + 3:#x}")


def finds_memory_of_owners(program):
    """A byte of shared and local memory, of parameters and of a constant bank; where banks lie does not matter."""
    def change(dump):
        device = dump.devices[0]
        cta = next(c for s in device.sms for c in s.ctas or [] if c.shared)
        lane = cta.warps[0].lanes[5]
        cta.shared = flipped(cta.shared, 4)
        lane.local = (lane.local[0], flipped(lane.local[1], 8))
        device.grids[0].params = flipped(device.grids[0].params, 12)

    def flipped(data, at):
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]

    answer = program.diff(model("memory"), model("memory", change))
    same("kinds", {k: n for k, n in answer["counts"].items() if n}, {"memory": 3})
    words = sorted((d["key"].split()[0], d["b"].split(",")[0]) for d in answer["differences"])
    same("spaces", words, [(space, "1 bytes differ") for space in ("local", "param", "shared")])
    local = next(d for d in answer["differences"] if d["key"].startswith("local"))
    if not local["key"].endswith("lane 5"):
        raise Wrong(local["key"])


def finds_memory_of_banks(program):
    """Banks are compared by what they hold where they lie somewhere else, and as global memory where they do not."""
    def bank(address, first):
        def change(dump):
            dump.devices[0].grids[0].banks = [{"addr": address, "size": 64, "bankId": 3}]
            dump.memory.append(coredump.Memory({"address": address}, data=bytes([first]) + bytes(63)))
        return change
    a = model("illegal-address", bank(0x7f9000000000, 1))
    counts = {}
    for name, other in (("moved", bank(0x7f9000010000, 1)), ("changed", bank(0x7f9000010000, 2)),
                        ("here", bank(0x7f9000000000, 2))):
        answer = program.diff(a, model("illegal-address", other))
        counts[name] = sorted(d["key"].split()[0].split("+")[0] for d in answer["differences"])
    same("banks", counts, {"moved": ["global", "global"], "changed": ["const3", "global", "global"], "here": ["global"]})


def finds_code(program):
    answer = program.diff(model("illegal-address"), model("misaligned-G"))
    for kind in ("verdict", "kernel", "exception", "module", "warp", "group"):
        if not answer["counts"][kind]:
            raise Wrong(f"no {kind}")


def finds_missing_warp(program):
    def change(dump):
        for cta in (c for d in dump.devices for s in d.sms for c in s.ctas or []):
            if len(cta.warps or []) > 1:
                cta.warps.pop()
                return
    answer = program.diff(model("hang"), model("hang", change))
    gone = [d for d in answer["differences"] if d["kind"] == "warp"]
    same("warps", [(d["a"], d["b"]) for d in gone], [("resident", None)])


def limits(program):
    def change(dump):
        for cta in (c for d in dump.devices for s in d.sms for c in s.ctas or []):
            for lane in (lane for w in cta.warps or [] for lane in w.lanes or []):
                lane.regs = [value ^ 1 for value in lane.regs]
    answer = program.diff(model("illegal-address"), model("illegal-address", change), "--limit", "7")
    same("shown", [one["kind"] for one in answer["differences"]].count("register"), 7)
    if answer["counts"]["register"] < 1000:
        raise Wrong(str(answer["counts"]))


def writes_to_no_terminal(program):
    path = program.put("terminal.nvcudmp", model("memory"))
    reader, terminal = pty.openpty()
    done = subprocess.run([program.path, "extract", path, "memory", "shared:0x0+64", "-o", "-"], stdout=terminal,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60, check=False)
    os.close(terminal)
    try:
        shown = os.read(reader, 100)
    except OSError:  # Linux: nothing was written
        shown = b""
    os.close(reader)
    same("status and bytes", [done.returncode, shown], [2, b""])
    same("the way out is named", b"name a file" in done.stderr, True)


def same_dumps(program):
    for name in ("illegal-address", "exited", "two-devices", "cut-half"):
        data = model(name)
        answer = program.diff(data, data, status=0)
        same("differences", answer["differences"], [])


CASES = [
    ("images, PTX and sections come out as they are", extracts),
    ("an image by the identity of its code", extracts_by_identity),
    ("memory comes out as it is", extracts_memory),
    ("what is not there, and wrong usage", refuses),
    ("what is missing is told", tells_what_is_missing),
    ("no raw bytes on a terminal", writes_to_no_terminal),
    ("a register that differs", finds_register),
    ("a lane that stands elsewhere, or failed otherwise", finds_lane),
    ("shared memory of blocks with several warps", finds_shared_memory_once),
    ("bytes of memory that differ", finds_memory),
    ("bytes of shared and local memory and parameters that differ", finds_memory_of_owners),
    ("constant banks that differ", finds_memory_of_banks),
    ("another kernel and fault", finds_code),
    ("a warp that is gone", finds_missing_warp),
    ("all are counted, some are shown", limits),
    ("a dump and itself", same_dumps),
]


def main(arguments):
    failed = 0
    print(f"1..{len(CASES)}")
    with tempfile.TemporaryDirectory(prefix="ws-parts-") as folder:
        program = Program(*arguments, folder)
        for number, (name, test) in enumerate(CASES, 1):
            try:
                test(program)
                print(f"ok {number} - {name}", flush=True)
            except (Wrong, KeyError, IndexError, StopIteration, json.JSONDecodeError, struct.error) as why:
                failed += 1
                print(f"not ok {number} - {name}\n# {type(why).__name__}: {str(why)[:900]}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
