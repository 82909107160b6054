#!/usr/bin/env python3
"""Dumps written from what was read of others: test_again.py WRITE-AGAIN CORE-PRINT [EVERY]. Prints TAP.

core-print writes all that the C reader tells of a dump. For every scenario of tests/builders, or each EVERYth, the lines of the dump and of the
one written again must be the same, and the Python reader, which shares nothing with writer and reader, must see the same in
the new file. Layouts and flags are held against dumps of the same model that the Python builder wrote.
"""

import copy
import gzip
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "builders"), os.path.join(HERE, "..", "dump")]

import build  # noqa: E402
import compare  # noqa: E402
import coredump  # noqa: E402
import layout  # noqa: E402
import reader  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402

LAYOUT_SCENARIOS = ("illegal-address", "memory", "many-faults", "two-devices", "exited", "trap")
FLAG_SCENARIOS = ("memory", "misaligned-G", "two-contexts")


class Wrong(Exception):
    pass


class Programs:
    def __init__(self, again, core_print, folder):
        self.again_path, self.core_print, self.folder = again, core_print, folder

    def put(self, data, name="in.nvcudmp"):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as handle:
            handle.write(data)
        return path

    def again(self, data, *options):
        """The bytes of the dump written from `data`."""
        out = os.path.join(self.folder, "out.nvcudmp")
        done = subprocess.run([self.again_path, self.put(data), out, *options], capture_output=True, text=True,
                              timeout=120, check=False)
        if done.returncode:
            raise Wrong(f"status {done.returncode}: {done.stderr.strip()[:300]}")
        with open(out, "rb") as handle:
            result = handle.read()
        left = [name for name in os.listdir(self.folder) if name.startswith("out.nvcudmp.")]
        if left:
            raise Wrong(f"left behind: {left}")
        return result

    def lines(self, data):
        done = subprocess.run([self.core_print, self.put(data, "print.nvcudmp")], capture_output=True, text=True,
                              timeout=120, check=False)
        return done.stdout.splitlines()


def without(lines, *patterns):
    """Lines without what a new file may change: its size, offsets and numbers of sections, those that nobody knows. That a row
    has no table is told by the new file of the whole old one."""
    out, diagnostics = [], set()
    for line in lines:
        if "which this version does not know" in line or "diagnostic" in patterns and line.startswith("diagnostic"):
            continue
        if line.startswith("facts"):
            line = re.sub(r" bytes=\d+", "", line)
            for name in patterns:
                line = re.sub(rf" {name}=\S*", "", line)
        if re.search(r"what=table .*row \d+ of .* has no |written from an incomplete or damaged one", line):
            diagnostics.add("something is lost")
        elif line.startswith("diagnostic"):
            diagnostics.add(re.sub(r"^diagnostic \d+| off=-?\d+| repeats=\d+|row \d+ of|\(section \d+\)", "", line))
        else:
            out.append(line)
    return out + sorted(diagnostics)


def same(got, want, what):
    if got == want:
        return
    for number, (g, w) in enumerate(zip(got, want)):
        if g != w:
            raise Wrong(f"{what}, line {number}: got {str(g)[:400]!r}, want {str(w)[:400]!r}")
    raise Wrong(f"{what}: {len(got)} lines, want {len(want)}")


def left_of_cut(lines):
    """What a cut dump still has, in the words of one that is whole."""
    kept = [line for line in lines if line.split()[0] not in ("facts", "diagnostic", "global", "shared", "local", "param",
                                                              "const")]
    return [re.sub(r"WS_TRUNCATED,0,\S*", "WS_ABSENT", line).replace("WS_TRUNCATED", "WS_OK") for line in kept]


def check_again(run, data, truth):
    """Every answer is kept, and the Python reader sees the same file as the C one."""
    options = ["flags=64"] if data[:2] == b"\x1f\x8b" else []
    result = run.again(data, *options)
    got, want = run.lines(result), run.lines(data)
    if truth["damaged"]:
        same(left_of_cut(got), left_of_cut(want), "what is left")
    else:
        same(without(got), without(want), "again")
    lost = reader.read(result)["lost"]
    if lost:
        raise Wrong(f"the Python reader lost {lost[:3]}")
    lines, _ = compare.expected(result)
    same(compare.actual(run.core_print, run.put(result)), lines, "the Python reader")
    same([run.again(result, *options)], [result], "written a third time")


def built_with(name, **options):
    """The dump of a scenario's model with other options of the builder."""
    built = SCENARIOS[name][0]()
    chosen = copy.copy(built.options)
    for key, value in options.items():
        setattr(chosen, key, value)
    return coredump.write(built.model, chosen)


def check_layout(run, name, driver):
    newest = built_with(name, driver=615)
    want = without(run.lines(built_with(name, driver=driver)))
    same(without(run.lines(run.again(newest, f"driver={driver}"))), want, f"layout r{driver}")


def sections(data):
    """(name, type, parent's name, row, address, size, stride) of every section with data, in file order. Empty ones
    differ: a call stack of no frames reads like none, and every SM gets its table of blocks."""
    all_of = reader.Reader(data).sections
    return [(s.name, s.type, all_of[s.link].name, s.info, s.addr, s.size, s.entsize) for s in all_of[1:]
            if s.type > reader.BASE and s.size]


def check_sections(run, name):
    """Names, order, parents, strides as the builder has them from the public description."""
    data = built_with(name, shuffle=None)
    same(sections(run.again(data)), sections(data), "sections")


def check_flags(run, name, flags):
    full = built_with(name, flags=0)
    got = without(run.lines(run.again(full, f"flags={flags}")))
    same(got, without(run.lines(built_with(name, flags=flags))), f"flags {flags:#x}")


def memory_of(data):
    """{address: byte} of global memory, and the bank intervals, as the Python reader sees them."""
    tree = reader.Reader(data)
    memory = {}
    for section in tree.sections[1:]:
        if section.type in (reader.BASE + 1, reader.BASE + 2):
            for at in range(section.size):
                memory[section.addr + at] = tree.data[section.offset + at]
    banks = [(row["addr"], row["addr"] + row["size"]) for section in tree.sections[1:] if section.type == reader.BASE + 21
             for row in tree.rows(section, "bank", 0)]
    return memory, banks


def check_banks(run, name):
    """Bit 1 keeps the bytes of constant banks, bit 5 takes only them and the parameters."""
    data = built_with(name, flags=0)
    memory, banks = memory_of(data)
    inside = {at: byte for at, byte in memory.items() if any(low <= at < high for low, high in banks)}
    outside = {at: byte for at, byte in memory.items() if at not in inside}
    if not inside or not outside:
        raise Wrong("the scenario has no bytes in banks, or none outside")
    no_global, no_banks = run.again(data, "flags=2"), run.again(data, "flags=32")
    same([memory_of(no_global)[0]], [inside], "global memory left out")
    same([memory_of(no_banks)[0]], [outside], "banks left out")
    params = [data_of for data_of in (no_global, no_banks)
              if any(s.type == reader.BASE + 18 for s in reader.Reader(data_of).sections)]
    same(params, [no_global], "parameters go with the banks")


def check_gzip(run, name):
    data = built_with(name, flags=0)
    packed = run.again(data, "flags=64")
    if packed[:2] != b"\x1f\x8b":
        raise Wrong("not packed")
    same(without(run.lines(packed), "flags"), without(run.lines(data), "flags"), "packed")
    plain = gzip.decompress(packed)
    again = run.again(data)
    if len(plain) != len(again) or sum(a != b for a, b in zip(plain, again)) != 1:  # the flags in the metadata
        raise Wrong("unpacks to another dump")


def check_faulted(run):
    """Only the context with the fault stays; devices and SMs do."""
    data = built_with("two-contexts", flags=0)
    before, after = run.lines(data), run.lines(run.again(data, "flags=128"))
    count = lambda lines, kind: sum(line.startswith(kind + " ") for line in lines)  # noqa: E731
    same([(count(before, "context"), count(after, "context"))], [(2, 1)], "contexts")
    same([count(after, "image")], [1], "images of the context that stays")
    for kind in ("device", "sm"):
        same(*([re.sub(r" (first_warp_index|n_warps)=\d+", "", line) for line in lines if line.startswith(kind + " ")]
               for lines in (after, before)), kind)
    exited = built_with("exited", flags=0)
    same([count(run.lines(run.again(exited, "flags=128")), "context")], [count(run.lines(exited), "context")],
         "a fault of no warp")
    idle = built_with("hang", flags=0)
    same([count(run.lines(run.again(idle, "flags=128")), "context")], [0], "no fault")


def check_refused(run, options, words):
    try:
        run.again(built_with("bad-pc"), *options)
    except Wrong as why:
        if words not in str(why):
            raise
        return
    raise Wrong("accepted")


def cases(run, every):
    for name in list(build.SCENARIOS)[::every]:
        def again(name=name):
            data, truth = build.build(name)
            check_again(run, data, truth)
        yield f"{name}: every answer is kept", again
    for driver in layout.DRIVERS:
        def layouts(driver=driver):
            for name in LAYOUT_SCENARIOS:
                check_layout(run, name, driver)
        yield f"layout r{driver} as the builder writes it", layouts
    for name in ("many-faults", "memory", "two-devices", "recursion"):
        yield f"{name}: names, order and parents of sections", lambda name=name: check_sections(run, name)
    for flags in (1, 4, 8, 13):
        def flagged(flags=flags):
            for name in FLAG_SCENARIOS:
                check_flags(run, name, flags)
        yield f"flags {flags:#x} as the builder writes them", flagged
    yield "global memory and constant banks are left out apart", lambda: check_banks(run, "memory")
    yield "a packed dump is one gzip file of the same dump", lambda: check_gzip(run, "illegal-address")
    yield "faulted contexts only", lambda: check_faulted(run)
    for flag in (16, 256, 1 << 30, 1 << 31):
        yield f"flag {flag:#x} is refused", lambda flag=flag: check_refused(run, [f"flags={flag}"], "WS_ARGUMENT")
    yield "a driver before the first is refused", lambda: check_refused(run, ["driver=345"], "WS_ARGUMENT")


def main(arguments):
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ws-again-") as folder:
        everything = list(cases(Programs(*arguments[:2], folder), int(arguments[2]) if len(arguments) > 2 else 1))
        print(f"1..{len(everything)}")
        for number, (name, test) in enumerate(everything, 1):
            try:
                test()
                print(f"ok {number} - {name}", flush=True)
            except (Wrong, reader.NotADump, KeyError, OSError) as why:
                failed += 1
                print(f"not ok {number} - {name}\n# {type(why).__name__}: {str(why)[:900]}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
