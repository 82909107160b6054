#!/usr/bin/env python3
"""Random dumps written again: test_random.py WRITE-AGAIN CORE-PRINT WARPSCOPE. Prints TAP.

Models that no scenario has: any tree of tables, present, empty or missing; any number in any field; any layout from r346 to
r615, order of headers, longer rows. What core-print and `warpscope report` say of the dump and of the one written again must be
the same, but for the file's name, size and offsets. Seeded and bounded in time: those that FAILED_ONCE, then seeds 1, 2, ... for
SECONDS, each layout at least twice; WS_SEED=N runs one.
"""

import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

import test_again
from test_again import Wrong, same, without

import coredump
import layout
import reader
from coredump import Context, Cta, Device, Dump, Grid, Lane, Memory, Module, Options, Sm, Warp
from machine import cubin_bytes

SECONDS, LEAST = 4, 2 * len(layout.DRIVERS)
FAILED_ONCE = (573,)  # a table of two rows, one impossible, was read as one row
TEXTS = {"devName", "devType", "smType", "exceptionString", "additionalBarrierInfo", "generatorName"}
CUBINS = ("calls.G.sm_80.cubin", "hang.li.sm_80.cubin")
LANES = 32
GRID, BLOCK = (70000, 3, 2), (16, 4, 8)
SHAPE = {f"{what}Dim{axis}": size for what, sizes in (("grid", GRID), ("block", BLOCK)) for axis, size in zip("XYZ", sizes)}


class Chance:
    """Makes one model from one seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.memory_at = 0x7f0000000000

    def number(self, bits):
        """Small, large or anything: what breaks lies at the ends."""
        kind = self.random.randrange(4)
        if kind == 0:
            return self.random.randrange(4)
        return self.random.getrandbits(bits) if kind > 1 else (1 << bits) - 1

    def text(self):
        return self.random.choice(("", "a", "sm_90", "GPU \u00e9", "x" * 300, "tab\there"))

    def row(self, table, **fixed):
        row = {name: self.text() if name in TEXTS else self.number({"Q": 64, "I": 32}[form])
               for name, form, _ in layout.TABLES[table]}
        row.update(fixed)
        return row

    def list(self, most, make):
        """None (no section), empty, or some."""
        kind = self.random.randrange(6)
        if kind == 0:
            return None
        return [make(i) for i in range(0 if kind == 1 else self.random.randint(1, most))]

    def words(self, most):
        return self.random.choice((None, [self.number(32) for _ in range(self.random.randint(1, most))]))

    def bytes(self, most):
        return self.random.choice((None, self.random.randbytes(self.random.randint(1, most))))

    def image(self):
        kind = self.random.randrange(4)
        if kind == 0:
            return None
        return cubin_bytes(self.random.choice(CUBINS)) if kind > 1 else self.random.randbytes(100)

    def lane(self, number, warp):
        """Its thread is where the grid of BLOCK can have it; else its exception proves nothing."""
        frames = self.list(4, lambda level: self.row("frame", level=level))
        x, y, z = BLOCK
        at = 32 * warp + number
        place = {"threadIdxX": at % x, "threadIdxY": at // x % y, "threadIdxZ": at // x // y % z}
        return Lane(self.row("lane", ln=number, exception=self.random.choice((0, 0, 1, 6, 14, 77)), **place), regs=self.words(40),
                    preds=self.random.choice((None, [self.random.randrange(2) for _ in range(7)])),
                    local=(self.random.randrange(0, 1 << 24, 8), self.random.randbytes(24)) if self.random.randrange(2) else None,
                    frames=frames)

    def warp(self, number):
        lanes = sorted(self.random.sample(range(LANES), self.random.choice((1, 2, 5, 32))))
        return Warp(self.row("warp", warpId=number, validLanesMask=sum(1 << n for n in lanes)),
                    lanes=None if self.random.randrange(8) == 0 else [self.lane(n, number % 8) for n in lanes], uregs=self.words(63),
                    upreds=self.words(7), barriers=self.words(16))

    def cta(self, first_warp, grid):
        warps = self.list(2, lambda n: self.warp(first_warp + n))
        place = {f"blockIdx{axis}": self.random.randrange(most) for axis, most in zip("XYZ", GRID)}
        return Cta(self.row("cta", gridId64=grid, **place), shared=self.bytes(500), warps=warps)

    def device(self, number):
        contexts = self.list(2, lambda n: Context(self.row("context", contextId=0x1000 * (n + 1), deviceIdx=number), modules=self.list(
            2, lambda k: Module(self.row("module", moduleHandle=0x10 * (k + 1)), image=self.image(), relocated=self.image()))))
        grids = self.list(3, lambda n: Grid(
            self.row("grid", gridId64=n + 1, contextId=0x1000, moduleHandle=0x10, **SHAPE), params=self.bytes(200),
            banks=self.list(3, lambda k: {"addr": 0x7f0000000000 + 0x100 * k, "size": 64, "bankId": k})))
        sms = self.list(3, lambda n: Sm(self.row("sm", smId=n), ctas=self.list(
            2, lambda k: self.cta(8 * k, self.random.randint(1, 4)))))
        row = self.row("device", devId=number, numSMs=132, numWarpsPerSM=64, numLanesPerWarp=32, instructionSize=16)
        return Device(row, contexts=contexts, grids=grids, sms=sms)

    def block(self, _):
        self.memory_at += self.random.choice((0, 8, 0x10000))
        data = self.random.randbytes(self.random.choice((1, 64, 700)))
        block = Memory({"address": self.memory_at, "managed": self.random.randrange(4) == 0}, data=data)
        self.memory_at += len(data)
        return block

    def dump(self, driver):
        meta = self.random.choice((None, self.row("meta")))
        return Dump(devices=[self.device(n) for n in range(self.random.choice((0, 1, 1, 2)))], memory=self.list(4, self.block),
                    meta=meta), Options(driver=driver, headers=self.random.choice(("first", "last")),
                                        escape=bool(self.random.randrange(2)), shuffle=self.random.choice((None, 1)),
                                        extra_stride=self.random.choice((0, 0, 8)), flags=self.random.choice((0, 0, 1, 0x2f)))


def report(program, path, changed):
    done = subprocess.run([program, "report", "--json", "--no-source", path], capture_output=True, text=True, check=False)
    if not done.stdout:
        raise Wrong(f"report: status {done.returncode}: {done.stderr.strip()[:300]}")
    answer = json.loads(done.stdout)
    for name in ("path", "bytes", *changed):
        answer["dump"].pop(name, None)
    if answer["verdict"]["kind"] == "unknown":
        answer["verdict"].pop("summary")  # quotes the first of the diagnostics
    for name in ("summary", "doubt"):  # in how many places is not kept: those of texts and of lost sections are not written
        if answer["verdict"].get(name):
            answer["verdict"][name] = re.sub(r"in \d+ places?", "somewhere", answer["verdict"][name])
    # "complete" differs, and what to try next where a file is cut goes by it
    answer["next"] = [text for text in answer["next"] if not text.startswith("A part of this file is missing or damaged")]
    # which one tells what is lost is not kept, but how much that hides
    hidden = {d["hides"] for d in answer.pop("diagnostics")}
    answer["hidden"] = "fault" if "fault" in hidden else "hang" if "hang" in hidden else None
    return answer


def check(run, program, seed):
    driver = layout.DRIVERS[seed % len(layout.DRIVERS)]
    model, options = Chance(seed).dump(driver)
    data = coredump.write(model, options)
    result = run.again(data)
    # The layout is inferred from the newest field or table seen, rows longer than any driver's and empty tables included: those
    # are not written again. test_again.py holds it for dumps as drivers write them.
    changed = ("layout", "diagnostic", "complete")
    same(without(run.lines(result), *changed), without(run.lines(data), *changed), "core-print")
    ours, theirs = report(program, run.put(result, "b.nvcudmp"), changed), report(program, run.put(data, "a.nvcudmp"), changed)
    if ours != theirs:
        key = next(k for k in theirs if ours.get(k) != theirs[k])
        got, want = str(ours.get(key)), str(theirs[key])
        at = max(0, next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), 0) - 100)
        raise Wrong(f"report, {key}: got ...{got[at:at + 300]}, want ...{want[at:at + 300]}")
    lost = reader.read(result)["lost"]
    if lost and not reader.read(data)["lost"]:
        raise Wrong(f"the Python reader lost {lost[:3]}")


def main(arguments):
    one, start, n, failed = os.environ.get("WS_SEED"), time.monotonic(), 0, 0
    print("1..1")
    with tempfile.TemporaryDirectory(prefix="ws-random-") as folder:
        run = test_again.Programs(arguments[0], arguments[1], folder)
        for seed in [int(one)] if one else itertools.chain(FAILED_ONCE, itertools.count(1)):
            if n >= LEAST and time.monotonic() - start > SECONDS:
                break
            n += 1
            try:
                check(run, arguments[2], seed)
            except Wrong as why:
                failed = 1
                print(f"# seed {seed}, r{layout.DRIVERS[seed % len(layout.DRIVERS)]}: {why}")
                break
    print(f"# {n} models")
    print(f"{'not ' if failed else ''}ok 1 - random models keep every answer")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
