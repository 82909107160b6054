#!/usr/bin/env python3
"""Writes the transcripts here again, and their dumps: make.py [SCENARIO...]; all without arguments. Needs cuda-gdb (tests/oracle)."""

import concurrent.futures
import gzip
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", folder) for folder in ("oracle", "builders")]

import build  # noqa: E402
import peer  # noqa: E402
import reader  # noqa: E402
from transcript import steps, variables  # noqa: E402

SCENARIOS = (
    "illegal-address", "illegal-address-some-lanes", "illegal-address-sm-row", "misaligned-G", "misaligned-lineinfo",
    "misaligned-toolkit", "hang", "trap", "assert", "shared-out-of-range", "cluster-out-of-range", "cluster-block-gone", "bad-pc",
    "no-lines", "linked", "linked-sm90", "two-kernels", "recursion", "many-faults", "memory", "three-dimensions", "long-names",
    "two-devices", "two-contexts", "shuffled", "warp-gaps", "headers-last", "wide-rows", "short-rows", "lightweight", "abi7",
    "sm100", "relocs-kept", "layout-r346", "layout-r400", "layout-r525", "layout-r550", "layout-r555", "layout-r565",
    "layout-r570", "layout-r575", "layout-r580", "layout-r590", "layout-r615", "exited", "classic", "gzip", "empty", "gaps",
    "sparse-levels",
)
PACKED = b"\x1f\x8b"
TABLES = [f"info cuda {name}" for name in ("devices", "kernels", "blocks", "sms", "warps", "lanes", "threads")]
FOCUS = "cuda device sm warp lane block thread kernel grid"
PLACES = ["bt", "print $pc", "print $errorpc", "info line *$pc", "info symbol $pc", "info line *$errorpc", "info symbol $errorpc",
          "info registers", "x/8xw (@shared unsigned*)0", "x/4xw (@local unsigned*)0xfffdc0"]
VALUES = ["info frame", "info args", "info locals"]
OTHERS = ["cuda block 1,0,0 thread 1,0,0", "info registers R0 R1 R2 R3", "bt", "cuda block 1,0,0 thread 33,0,0", "info cuda lanes"]


def commands(data, facts):
    """The same for all dumps, but for the memory and the frames that there are."""
    frames = len(facts["focus"]["frames"]) if facts["focus"] else 0
    places = [command if frames < 100 or command != "bt" else "bt 8" for command in PLACES]  # it takes minutes for 1,000
    deep = [command for level in range(frames + 1 if frames < 8 else 1) for command in (f"frame {level}", *VALUES)]
    words = [f"x/2xw (@{word['space']} unsigned*){word['address']:#x}" for word in facts["memory"]]
    if data[:2] != PACKED:
        dump = reader.read(data)
        words += [f"x/4xw (@global unsigned*){block['address']:#x}" for block in dump["memory"][:4] if block["present"] >= 16]
        starts = {grid["paramsOffset"] for device in dump["devices"] for grid in device.get("grids", ())}
        words += [f"x/4xw (@parameter unsigned*){start:#x}" for start in sorted(starts)]
    return ["show version", *TABLES, FOCUS, *places, *words, *deep, "frame 0", *(command for command in OTHERS if frames < 100 or command != "bt")]


def with_types(said, asked):
    """The commands, and what the type of each parameter is, where the first run showed parameters."""
    out, answers = [], iter(steps(said)[1:])
    for command in asked:
        answer = next(answers)[1]
        out += [command, *(f"whatis {name}" for name in (variables(answer) if command == "info args" else ()))]
    return out


def make(script, name):
    data, facts = build.build(name)
    with tempfile.TemporaryDirectory() as folder:
        dump = os.path.join(folder, name + ".nvcudmp")
        with open(dump, "wb") as out:
            out.write(data)
        asked = commands(data, facts)
        said = peer.run(script, dump, asked)
        typed = with_types(said, asked)
        said = peer.run(script, dump, typed) if typed != asked else said
    with open(os.path.join(HERE, name + ".txt"), "w", encoding="utf-8") as out:
        out.write(re.sub(r"(in section \S+ of) \S+", r"\1 IMAGE", said))
    with open(os.path.join(HERE, name + ".nvcudmp.gz"), "wb") as out:
        out.write(data if data[:2] == PACKED else gzip.compress(data, 9, mtime=0))
    return name


def main(arguments):
    script, why = peer.find()
    if not script:
        sys.exit(f"make.py: {why}")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name in pool.map(lambda name: make(script, name), arguments or SCENARIOS):
            print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
