#!/usr/bin/env python3
"""Dumps of the planted hangs: hangs.py OUTDIR [--every N] [KIND...]; KIND is as "O3.sm_90". hangs.py --list prints them.

The states in tests/data/hangs are what the software GPU held while the machine code of tests/kernels/hangs.cu ran on for nothing
(tests/kernels/plant.py). Writes OUTDIR/KIND.KERNEL.nvcudmp and, beside each, .truth.json. The hardware's own word of a
barrier (barrierScope) is written for sm_90 only: for the others the code alone tells.
"""

import gzip
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import coredump  # noqa: E402
from faults import GPUS, main, place_block, process_of, states_of  # noqa: E402
from machine import H100  # noqa: E402

HANGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "hangs")


def kinds():
    return sorted(name[len("hangs."):-len(".json.gz")] for name in os.listdir(HANGS) if name.endswith(".json.gz"))


def states(kind):
    return states_of(os.path.join(HANGS, f"hangs.{kind}.json.gz"))


def cubin(kind):
    with gzip.open(os.path.join(HANGS, f"hangs.{kind}.cubin.gz")) as handle:
        return handle.read()


def build(kind, state, data):
    """(bytes of the dump, truth)."""
    process, launch, module = process_of(kind, state, data)
    for block in state["blocks"]:
        cta = place_block(launch, module, block)
        scopes = {warp["number"]: warp["scope"] for warp in block["warps"]}
        for node, number in zip(cta.warps, sorted(scopes)):
            node.row["barrierScope"] = scopes[number] if GPUS[int(kind.split("_")[1])] is H100 else 0
    return coredump.write(process.dump(), coredump.Options()), {"kernel": state["kernel"], "kind": kind, **state["truth"]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], __doc__, kinds, cubin, states, build))
