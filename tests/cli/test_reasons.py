#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels that stop for a planted reason: the page says that reason, and no other one is called likely or certain. Prints TAP.

usage: test_reasons.py WARPSCOPE IMAGES

The kernels are those of tests/sim/kernels/reasons.cu; IMAGES is tests/data/sim. Each runs on the software GPU of every architecture that
has it, and again with a value that is right, where it must end.
"""
import json
import os
import re
import subprocess
import sys

PROGRAM, IMAGES = (os.path.abspath(p) for p in sys.argv[1:3])
ALL = ["75", "80", "86", "89", "90", "100", "120"]


class Case:
    """`bad` and `good`: arguments that make it stop, and that do not (None: none here). Regular expressions: `headline`; each of `findings` and of `causes`
    must fit one, with its certainty in front; `causes` are all that are more than possible; `never` fits nothing of the page."""

    def __init__(self, kernel, bad, good, headline, findings=(), causes=(), never=(), archs=ALL, options=()):
        self.kernel, self.bad, self.good, self.headline, self.findings, self.causes = kernel, bad, good, headline, findings, causes
        self.never, self.archs, self.options = never, archs, options


with open(os.path.join(IMAGES, "../../sim/kernels/reasons.cu"), encoding="utf-8") as source:
    LINES = source.read().splitlines()


def at(text):
    """reasons.cu:LINE of the only line with a text, as part of a regular expression."""
    found = [number for number, line in enumerate(LINES, 1) if text in line]
    assert len(found) == 1, (text, found)
    return rf"`reasons\.cu:{found[0]}`"


OUT, INDEX = "out=s32[256]", "index=s32[32]:index"
FAILED = [r"^certain: an assertion in device code failed$"]
OVERRUN = [r"^likely: a local array was overrun: the guard value in the function's stack frame was changed$"]
CASES = [
    Case("overruns", ["&out", "&text", "70"], ["&out", "&text", "60"], r"^Stopped at a trap or breakpoint in kernel `overruns` at ", [
        r"^certain: the trap `BPT\.TRAP 0x1` is the check that `-device-stack-protector` makes .* that `digest` put on its stack, at R1\+0x40, was"],
        OVERRUN, [r"breakpoint left by a debugger", "`__trap\\(\\)`, or"], options=["--buffer", "text=u8[256]:7", "--stack", "4096"]),
    Case("recurses", ["&out", "100000"], ["&out", "3"],
         r"^Stack overflow in kernel `recurses` at `reasons\.cu:\d+`.* \d+ bytes? below the start of the 4096 bytes of local memory of the thread\.?$",
         [r"^certain: `deep` is on the call stack \d+ times", r"^certain: the stack pointer of lane 0, R1 = 0x[0-9a-f]+, is \d+ bytes below the thread's local memory"],
         [r"^likely: endless recursion, or recursion deeper than the stack allows$"], [r"past the end", "429496"], options=["--stack", "4096"]),
    Case("asserts_index", ["&index", "20", "&out"], ["&index", "32", "&out"],
         rf"^Assertion failed: `i < n`; in kernel `asserts_index` at {at('assert(i < n)')}; .*thread \(20,0,0\)",
         [r"^likely: in lane 20 `ISETP\..*` compared 20 \(read from memory\) with 20 \(kernel parameter 1\): that led there$"], FAILED,
         [r"cuda-gdb -ex", "called from"]),
    Case("asserts_index", ["&minus", "20", "&out"], ["&index", "32", "&out"],
         rf"^Assertion failed: `i >= 0`; in kernel `asserts_index` at {at('assert(i >= 0)')}; .*thread \(0,0,0\)",
         [r"^likely: in lane 0 `ISETP\..*` compared -7 \(read from memory\) with -?\d+: that led there$"], FAILED, options=["--buffer", "minus=s32[32]:-7"]),
    Case("asserts_sizes", ["0", "3", "&out"], ["3", "128", "&out"],
         rf"^Assertion failed: `batch > 0 && \"batch size\"`; in kernel `asserts_sizes` at {at('assert(batch')}",
         [r"^certain: in lane 0 `U?ISETP\..*compared (0 \(kernel parameter 0\) with -?\d+|0 with 0 \(kernel parameter 0\))"], FAILED),
    Case("asserts_sizes", ["3", "4000000000", "&out"], ["3", "128", "&out"],
         rf"^Assertion failed: `heads < 129 && \"head count\"`; in kernel `asserts_sizes` at {at('assert(heads')}",
         [r"^certain: in lane 0 `U?ISETP\..*compared (4000000000 \(kernel parameter 1\) with 12\d|12\d with 4000000000 \(kernel parameter 1\))"], FAILED),
    Case("asserts_number", ["&in", "&out", "f32:1.25"], ["&in", "&out", "f32:2.5"],
         rf"^Assertion failed: `v <= limit`; in kernel `asserts_number` at {at('assert(v <=')}",
         [r"^likely: in lane 0 `FSETP\..*` compared 2\.5 \(read from memory\) with 1\.25 \(kernel parameter 2\): that led there$"], FAILED,
         options=["--buffer", "in=f32[32]:2.5"]),
    Case("traps_beyond", ["&out", "20"], ["&out", "31"], rf"^Stopped at a trap or breakpoint in kernel `traps_beyond` at {at('__trap()')}",
         [r"^certain: the warp stopped at `BPT\.TRAP 0x1`$", r"^certain: in lane \d+ `ISETP\..*` compared \d+( \(threadIdx\.x\))? with 20 \(kernel parameter 1\): that led there$"]),
    Case("phases", ["&out", "1"], None, rf"^Stopped at a trap or breakpoint in kernel `phases` at `cooperative_groups\.h:\d+`, called from {at('.sync()')}",
         [r"^certain: the warp stopped in the barrier of cooperative groups for the whole grid, which traps where the launch was not cooperative$"],
         [r"^likely: `grid\.sync\(\)` in a launch that is not cooperative$"], ["breakpoint left"]),
    Case("multiplies", ["&out", "0x400000000000", "0xffffffff"], None, rf"^Illegal instruction in kernel `multiplies` at {at('(descriptor) :')}",
         [r"^certain: the instruction descriptor in UR\d+, 0xffffffff, has a value that the instruction does not take \(types of A and B\): M 496, N 504"],
         [r"^likely: a descriptor of the matrix product is wrong"], ["hardware"], archs=["100"]),
    Case("multiplies", ["&out", "0x400000000000", "0x04000010"], None, rf"^Illegal instruction in kernel `multiplies` at {at('(descriptor) :')}",
         [r"^certain: the instruction descriptor in UR\d+, 0x04000010, has a value that the instruction does not take \(shape\): M 64, N 0, A F16, B F16"],
         [r"^likely: a descriptor of the matrix product is wrong"], ["hardware"], archs=["100"]),
]


def run(case, arch, arguments):
    words = ["run", "--json", os.path.join(IMAGES, "reasons.O3.fatbin"), "--arch", "sm_" + arch, "--kernel", case.kernel, "--block", "32", "--max-seconds", "20",
             "--buffer", OUT, "--buffer", INDEX, *case.options]
    for one in arguments:
        words += ["--arg", one]
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60, check=False)


def fits(pattern, texts):
    return any(re.search(pattern, text) for text in texts)


def wrong(case, arch):
    """What is wrong with a case, in sentences."""
    done = run(case, arch, case.bad)
    try:
        page = json.loads(done.stdout)
    except ValueError:
        return [f"no page: {done.stderr.strip()[:200]}"]
    if "exceptions" not in page or not page["exceptions"]:
        return [f"no exception: {page.get('verdict')}"]
    said = page["verdict"]["summary"]
    fault = page["exceptions"][0]
    findings = [f"{one['confidence']}: {one['text']}" for one in fault["findings"]]
    causes = [f"{one['confidence']}: {one['text']}" for one in fault["likely_causes"]]
    bad = [] if re.search(case.headline, said[0].upper() + said[1:]) else [f"the headline is {said!r}"]
    bad += [f"no finding fits {pattern!r}: {findings}" for pattern in case.findings if not fits(pattern, findings)]
    sure = [text for text in causes if not text.startswith("possible")]
    bad += [f"no cause fits {pattern!r}: {causes}" for pattern in case.causes if not fits(pattern, sure)]
    bad += [f"{text!r} is not the reason" for text in sure if not any(re.search(pattern, text) for pattern in case.causes)]
    texts = [said, *findings, *causes, *fault["commands"]]
    bad += [f"{pattern!r} fits {text!r}" for pattern in case.never for text in texts if re.search(pattern, text)]
    done = run(case, arch, case.good) if case.good else None
    if done and done.returncode:
        bad.append(f"with right values: exit status {done.returncode}: {done.stderr.strip()[:200]}")
    return bad


def main():
    cases = [(case, arch) for case in CASES for arch in case.archs]
    failed = 0
    print(f"1..{len(cases)}")
    for number, (case, arch) in enumerate(cases, 1):
        bad = wrong(case, arch)
        print(f"{'not ok' if bad else 'ok'} {number} - {case.kernel} {' '.join(case.bad)} on sm_{arch}", flush=True)
        for line in bad:
            print("# " + line)
        failed += bool(bad)
    return 1 if failed else 0


sys.exit(main())
