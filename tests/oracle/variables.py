#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stacks, variables and expressions of -G code against cuda-gdb 12.4. Prints TAP.

usage: variables.py WARPSCOPE IMAGES

Each program fails on the software GPU, and both debuggers read the dump: frames with their pc, function and line; every argument and
variable of every frame; expressions. Ours: tests/sim/kernels/vars.cu and inlined.cu, clang's of tests/kernels/clang_inlined.cu, and the dump
of misaligned-G. Programs that are not ours: six of
HeCBench (BSD-3-Clause), compiled with -G where nvcc is and WARPSCOPE_FOREIGN is a checkout; else skipped.

A word that differs must be one of the cases of DIFFERENCES, which README.md explains. How many values are the same word is counted for each
dump, and must not fall below a number.
"""

import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "builders")]

import build  # noqa: E402
import peer  # noqa: E402
from transcript import answers, frames, type_words  # noqa: E402

NVCC = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc")
FOREIGN = os.environ.get("WARPSCOPE_FOREIGN", "")
ARCHITECTURES = "80 86 89 90 100 120".split()
FRAMES = 24  # more than any of these stacks has

VARS = ["--kernel", "_Z4varsPif3VeciPVi", "--block", "40", "--stack", "4096", "--buffer", "out=s32[40]",
        "--arg", "&out", "--arg", "f32:1.5", "--arg", "@GIVEN", "--arg", "0", "--arg", "0"]

# program: file of HeCBench, the least of variables that are the same word, options of `warpscope run`
PROGRAMS = {
    "nqueen": ("main", 14, "_Z18BP_queens_root_dfsijiPK10queen_rootPyS2_", 32, "8 32 2 &u8:8192 &u64:64 0"),
    "lavaMD": ("main", 21, "_Z2mdPK7box_strPK11FOUR_VECTORPKfPS2_fi", 128, "&s32:4096 &f32:512 &f32:128 0 f32:0.5 1"),
    "nbody": ("GSimulation", 13, "_Z20accelerate_particlesP8Particleiff", 16, "&f32:320=1 64 f32:0.001 f32:6.67"),
    "rsbench": ("simulation", 54, "_Z6lookupPKiPKdS0_PiS0_S2_PK6WindowPK4Poleiiiiii", 32,
                "&s32:16=3 &f64:4096=2 &s32:4096=0 &s32:64 &s32:4096=4 0 &s32:4096=1 &f64:2 32 1 4 10 10 321"),
    "xsbench": ("Simulation", 57, "_Z6lookupPKiPKdS0_PK16NuclideGridPointPiS2_S0_illiii", 32,
                "&s32:16=3 &f64:4096=2 &s32:4096=0 0 &s32:64 &f64:64=0.1 &s32:64=0 32 8 4 1 10 321"),
    "lulesh": ("lulesh", 34, "_Z15integrateStressPdS_S_PKdS1_S1_PKiS1_S1_S1_S_i", 32,
               "0 &f64:512 &f64:512 &f64:64=1.5 &f64:64=0.25 &f64:64=-2 &s32:512=3 &f64:64=1 &f64:64=2 &f64:64=3 &f64:64 32"),
}

# (frame of vars.cu, expression)
EXPRESSIONS = [(2, text) for text in (
    "table", "table[2]", "axis", "scale", "origin.z", "grid", "grid[1]", "grid[1][2]", "title", "second.value", "paint", "node.next->value",
    "*node.next", "steps[10]@2", "steps[3] * 2 + 1", "steps[4] == 16", "steps[4] > 16", "copy.data[1]", "copy.id", "copy.weight",
    "copy.flags.c", "copy.word.f", "copy.anonymous.letter", "copy.first[2]", "*copy.first@2", "quad.x / quad.w", "pixel.w + 1",
    "sizeof(copy)", "sizeof(Vec)", "(int)local.y", "(char)87", "(Color)5", "*&local", "*(@shared int *)&tile[2]", "*(&tile[0] + 3)",
    "&tile[5] - &tile[1]", "*(@global float *)&scale", "(&node)->value", "counters[1].step % 7", "-counters[0].count",
    "!counters[0].count", "~0", "GREEN + 1", "text[0] == 't'", "&local", "&tile[2]", "&scale", "vec", "&node", "vec->x", "&copy.data", "&grid", "&grid[1]",
    "/x word.i", "/f word.i", "/t 10", "/o 64", "/c 65", "/x grid", "/d pixel", "/u pixel.w", "/x copy.flags.c", "/x steps[1]@3", "/c text",
    "/d same", "/x local", "/t steps[3]", "/o pair", "/u pair", "/f steps[1]", "/f copy.weight", "/a vec", "/x quad.y", "/s text", "/x &tile",
    "/d copy.mode", "/x mode", "/d color", "local.x * 2.5", "copy.weight / 3", "word.bytes", "word.bytes[3]", "sizeof(word.bytes) * 3",
    "half", "halves.y", "brain", "quad.x + local.x", "steps[11] >> 2", "steps[11] & 0xf", "1 ? 2 : 3")] + [(0, text) for text in (
        "count", "this->step", "*this", "threadIdx", "blockDim.x", "gridDim", "warpSize", "$pc == $errorpc", "1u - 2", "1 - 2", "7 / 2",
        "7 / 2.0", "1 << 4 | 3", "'A' + 1", "5 > 3 && 2 > 4", "010 + 0x10", "1e3 / 8", "-7 / 2", "-7 % 3", "(unsigned char)300",
        "(short)70000", "3 ^ 5", "by * before")] + [(6, text) for text in (
            "box.data", "given.x + given.z", "sums", "index", "box", "/x box.flags", "out", "&box.data[1]", "blockIdx.x", "f / 0", "&given",
            "given", "/x n", "box.first == &box.data[0]", "odd")]

DIFFERENCES = {
    "symbol": "a pointer is followed by the symbol at its value, whatever space it leads to",
    "base": "a base class is called __b_ and its mangled name, and its members are not those of the class",
    "enumerator": "enumerators in a scope stay mangled",
    "reference": "a reference in a register cannot be read",
    "half": "of a register pair of which one half is not live, the value has whatever is in the other register",
    "gone": "what is not live here, or not saved, is called optimized out or unavailable, like what was never there",
    "missing": "of what the dump does not have an error of its reader is shown",
    "text": "the text that a pointer to characters leads to is read as the storage of the character's type says",
    "type": "words of a type have another order, and the storage of each part",
    "member": "a member is read from the storage that its own type is described with: local memory, or a register",
}
# What it says of a member in the wrong storage, and of members of a base class.
MEMBER = re.compile(r"Error: read_(local|global)_memory\(|Unknown storage specifier")
UNREAD = re.compile(r"(0x[0-9a-f]+) <error: Cannot access memory at address 0x[0-9a-f]+>")
BASE = re.compile(r"There is no member named ")


class Counts:
    def __init__(self):
        self.same, self.known, self.wrong = 0, collections.Counter(), []


def without_symbols(text):
    """Less "<NAME+8>" behind a pointer; names may have brackets of their own."""
    out, at = [], 0
    for found in re.finditer(r"0x[0-9a-f]+ <(?!error|its text)", text):
        if found.start() < at:
            continue
        out.append(text[at:found.end() - 2])
        at, depth = found.end(), 1
        while depth and at < len(text):
            depth += (text[at] == "<") - (text[at] == ">" and text[at - 1] != "-")
            at += 1
    return "".join(out) + text[at:]


def plain_name(mangled):
    """_ZN4Mode2ONE -> Mode::ON"""
    parts, rest = [], mangled[3:-1]
    while rest:
        size = re.match(r"\d+", rest)
        if not size:
            return mangled
        begin = size.end()
        parts.append(rest[begin:begin + int(size[0])])
        rest = rest[begin + int(size[0]):]
    return "::".join(parts)


def normal(theirs, known):
    """cuda-gdb's value in our words; the differences that were used go into `known`."""
    for why, made in (("symbol", without_symbols), ("base", lambda text: re.sub(r"__b_\d+(\w+) = ", r"<\1> = ", text)),
                      ("enumerator", lambda text: re.sub(r"\b_ZN(?:\d+\w+?)+E\b", lambda found: plain_name(found[0]), text))):
        if made(theirs) != theirs:
            known.add(why)
            theirs = made(theirs)
    return theirs


def typed(text):
    """A pointer with its type: ("(@global int *) 0x10") -> (words of the type, space of the target, "0x10")."""
    found = re.match(r"\((.*)\) (0x[0-9a-f]+.*)", text, re.S)
    space = re.search(r"@(\w+)", found[1]) if found else None
    return (type_words(found[1]), space and space[1], found[2]) if found else None


def compare(what, ours, kind, why, theirs, counts):
    """One value: `ours` is None where it is not there, for the reason `why`; `kind` is its type."""
    known = set()
    text = normal(theirs, known)
    if UNREAD.search(text) and ours is not None:
        known.add("text")
        text, ours = UNREAD.sub(r"\1", text), re.sub(r"""(0x[0-9a-f]+) "(?:[^"\\]|\\.)*"(?:\.\.\.)?""", r"\1", ours)
    if ours is None:
        if text in ("<optimized out>", "<unavailable>"):
            known.add("gone")
        elif why not in GONE and re.search(r"not available in this corefile", text):
            known.add("missing")
        elif why == "not live" and is_number(text) and (kind.endswith("*") or kind in EIGHT_BYTES):
            known.add("half")
        else:
            counts.wrong.append(f"{what}: {why} -- cuda-gdb: {theirs}")
    elif text == ours:
        counts.same += 1
    elif typed(text) and typed(text) == typed(ours):
        known.add("type")
        counts.same += 1
    elif re.search("Unknown storage specifier|read_local_memory", text) and ours.startswith("@0x"):
        known.add("reference")
    elif MEMBER.match(text) and re.search(r"\.|->|print count$", what) or BASE.match(text) and not ours.startswith("<"):
        known.add("member" if MEMBER.match(text) else "base")
    else:
        counts.wrong.append(f"{what}: {ours} -- cuda-gdb: {theirs}")
    counts.known.update(known)


GONE = ("not live", "not saved", "optimized out")
EIGHT_BYTES = ("long", "unsigned long", "long long", "unsigned long long", "double")


def is_number(text):
    return re.fullmatch(r"-?[0-9a-fx.]+(e[-+]\d+)?|-?inf|-?nan\(\w+\)", text) is not None


def run(*arguments):
    return subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True, timeout=120, check=False)


def check_stack(dump, seen, counts):
    """Frames of both; returns ours."""
    theirs = frames(seen["bt"])
    ours = json.loads(run("bt", "--json", dump).stdout)["frames"]
    if len(theirs) != len(ours):
        counts.wrong.append(f"{len(ours)} frames -- cuda-gdb: {len(theirs)}")
    for number, (our, their) in enumerate(zip(ours, theirs)):
        path = their["file"] if our["file"].endswith("/" + their["file"]) else our["file"]  # clang's has no folder
        mine = {"address": int(our["pc"], 16) if their["address"] else None, "file": path, "line": our["line"]}
        if mine != {key: their[key] for key in mine} or not re.search(rf"(^|\W){their['function']}($|\W)", our["function"]):
            counts.wrong.append(f"frame {number}: {mine} {our['function']} -- cuda-gdb: {their}")
    return ours


def check_variables(dump, seen, number, counts):
    answer = json.loads(run("locals", "--json", dump, "--frame", str(number)).stdout)
    for what, ours in (("args", answer["frame"]["args"]), ("locals", answer["locals"])):
        theirs = collections.defaultdict(list)
        for name, value in listed(seen[f"frame apply level {number} -q info {what}"]):
            theirs[name].append(value)
        for one in ours:
            if not theirs[one["name"]]:
                counts.wrong.append(f"frame {number} {one['name']} -- cuda-gdb does not list it")
                continue
            compare(f"frame {number} {one['name']}", one["value"], one["type"], one.get("value_why"), theirs[one["name"]].pop(0), counts)
        for name, values in theirs.items():
            if values:
                counts.wrong.append(f"frame {number} {name} is not listed -- cuda-gdb: {values}")


def listed(text):
    """[(name, value)] of `info locals`, names of outer blocks again."""
    return [(m[1], m[2].strip()) for m in re.finditer(r"^(\w+) = (.*(?:\n(?!\w+ = ).*)*)", text, re.M)]


def question(frame, text):
    """print EXPRESSION, or print/F EXPRESSION"""
    form, _, expression = text.partition(" ") if text[0] == "/" else ("", "", text)
    return f"frame apply level {frame} -q print{form} {expression}"


def check_expressions(dump, seen, expressions, counts):
    for frame, text in expressions:
        said = seen[question(frame, text)].strip()
        theirs = re.match(r"\$\d+ = (.*)", said, re.S)
        done = run("print", "--frame", str(frame), "--", dump, *(text.split(" ", 1) if text[0] == "/" else [text]))
        compare(f"frame {frame} print {text}", done.stdout.strip() or None, "", done.stderr, theirs[1].strip() if theirs else said, counts)


def check(peers, dump, least, expressions=()):
    """(what was compared, what is wrong); wrong is None where cuda-gdb cannot."""
    counts = Counts()
    said = peer.run(peers, dump, ("bt",))
    if "internal-error" in said:
        return "cuda-gdb ends with an internal error", None
    levels = len(frames(answers(said)["bt"]))
    commands = ["set print frame-arguments none", "bt"]
    commands += [f"frame apply level {n} -q info {what}" for n in range(min(levels, FRAMES)) for what in ("args", "locals")]
    commands += [question(*one) for one in expressions]
    seen = answers(peer.run(peers, dump, commands))
    for number in range(len(check_stack(dump, seen, counts))):
        check_variables(dump, seen, number, counts)
    n_variables = counts.same
    if n_variables < least:
        counts.wrong.append(f"only {n_variables} variables have the same value, not {least}")
    check_expressions(dump, seen, expressions, counts)
    known = ", ".join(f"{n} {why}" for why, n in sorted(counts.known.items()))
    return f"{levels} frames, {n_variables} variables, {counts.same - n_variables} expressions ({known or 'no difference'})", counts.wrong


def stop(image, arch, options, dump):
    """Runs a kernel to its fault; what is wrong if there is no dump."""
    done = subprocess.run([sys.argv[1], "run", image, "--arch", "sm_" + arch, *options], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "1", "CUDA_COREDUMP_FILE": dump})
    return None if os.path.exists(dump) else [f"no dump: {done.stderr.strip()}"]


def given(words):
    """Options of `warpscope run` for arguments: numbers, and &TYPE:COUNT[=FILLING] for a buffer of that size."""
    out = []
    for number, word in enumerate(words.split()):
        found = re.fullmatch(r"&(\w+):(\d+)(?:=(.*))?", word)
        if found:
            out += ["--buffer", f"b{number}={found[1]}[{found[2]}]:{found[3] or 'zeros'}"]
        out += ["--arg", f"&b{number}" if found else word]
    return out


def ours(folder):
    """(name, why not, what makes the dump, least, expressions)"""
    path = os.path.join(folder, "given")
    with open(path, "wb") as file:
        file.write(struct.pack("<3f", 1.25, -2.5, 3.75))
    options = [word.replace("GIVEN", path) for word in VARS]
    for arch in ARCHITECTURES:
        yield f"vars sm_{arch}", None, lambda dump, arch=arch: stop(os.path.join(sys.argv[2], "vars.G.fatbin"), arch, options, dump), 60, EXPRESSIONS

    inlined = ["--kernel", "inlined", "--block", "32", "--buffer", "out=f32[32]", "--buffer", "in=f32[64]:1", "--arg", "&out", "--arg", "&in",
               "--arg", "3"]
    for arch in ARCHITECTURES:
        yield f"inlined sm_{arch}", None, lambda dump, arch=arch: stop(os.path.join(sys.argv[2], "inlined.G.fatbin"), arch, inlined, dump), 16, ()
    fetches = ["--kernel", "fetches", "--block", "32", "--buffer", "from=f32[32]", "--buffer", "index=s32[32]:100000000", "--buffer", "out=f32[32]",
               "--arg", "&from", "--arg", "&index", "--arg", "&out", "--arg", "32"]
    image = os.path.join(sys.argv[2], "../cubins/inlined.clang.sm_80.cubin")
    yield "inlined by clang", None, lambda dump: stop(image, "80", fetches, dump), 10, ()

    def built(dump):
        with open(dump, "wb") as file:
            file.write(build.build("misaligned-G")[0])
    yield "misaligned-G", None, built, 17, ()


def foreign(folder):
    for name, (source, least, kernel, block, words) in PROGRAMS.items():
        path = os.path.join(FOREIGN, "src", name + "-cuda", source + ".cu")
        why = "no nvcc" if not shutil.which(NVCC) else None if FOREIGN and os.path.exists(path) else "no source of it (WARPSCOPE_FOREIGN)"
        for arch in ("80", "90"):
            def make(dump, arch=arch, path=path, kernel=kernel, block=block, words=words):
                image = os.path.join(folder, "image.cubin")
                done = subprocess.run([NVCC, "-std=c++17", "-w", "-G", "-arch=sm_" + arch, "-cubin", "-o", image, path],
                                      capture_output=True, text=True, check=False)
                if done.returncode:
                    return done.stderr.splitlines()[:5]
                return stop(image, arch, ["--kernel", kernel, "--block", str(block), "--stack", "8192", *given(words)], dump)
            yield f"{name} sm_{arch}", why, make, least, ()


def main():
    peers, why = peer.find()
    if not peers:
        print(f"1..0 # SKIP {why}")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        cases = [*ours(folder), *foreign(folder)]
        print(f"1..{len(cases)}")
        for number, (name, missing, make, least, expressions) in enumerate(cases, 1):
            if missing:
                print(f"ok {number} - {name} # SKIP {missing}", flush=True)
                continue
            dump = os.path.join(folder, f"{number}.nvcudmp")
            wrong = make(dump)
            said = "not compared"
            if not wrong:
                said, wrong = check(peers, dump, least, expressions)
                os.unlink(dump)
            if wrong is None:
                print(f"ok {number} - {name} # SKIP {said}", flush=True)
                continue
            print(f"{'not ok' if wrong else 'ok'} {number} - {name}: {said}", flush=True)
            for line in wrong:
                print("# " + line.replace("\n", "\n#   "), flush=True)
            failed += bool(wrong)
    return 1 if failed else 0


sys.exit(main())
