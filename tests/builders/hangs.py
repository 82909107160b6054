#!/usr/bin/env python3
"""Dumps of the planted hangs: hangs.py OUTDIR [KIND...]; KIND is as "O3.sm_90". hangs.py --list prints them.

The states in tests/data/hangs are what real machine code of tests/kernels/hangs.cu left when nothing moved any more
(tests/kernels/run_hangs.py). Writes OUTDIR/KIND.KERNEL.nvcudmp and, beside each, .truth.json. The hardware's own word of a
barrier (barrierScope) is written for sm_90 only: for the others the code alone tells.
"""

import base64
import gzip
import json
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import coredump  # noqa: E402
from faults import main, mask, plant_launch, position  # noqa: E402
from machine import A100, B200, H100, Process, State  # noqa: E402

HANGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "hangs")
GPUS = {80: A100, 90: H100, 100: B200}
SCOPES = {"bar": 3, "cluster": 4}


def kinds():
    return sorted(name[len("hangs."):-len(".json.gz")] for name in os.listdir(HANGS) if name.endswith(".json.gz"))


def states(kind):
    with gzip.open(os.path.join(HANGS, f"hangs.{kind}.json.gz")) as handle:
        return json.load(handle)


def cubin(kind):
    with gzip.open(os.path.join(HANGS, f"hangs.{kind}.cubin.gz")) as handle:
        return handle.read()


def fill_warp(node, warp, scope):
    """Registers, stacks and barriers of the lanes that are left."""
    columns = [struct.unpack(f"<{warp['valid']}I", base64.b64decode(column)) for column in warp["regs"]]
    for lane, one in enumerate(node.lanes):
        one.regs = [column[lane] for column in columns]
        one.preds = warp["preds"][lane]
        one.local = (warp["local_at"], base64.b64decode(warp["local"][lane]))
        if warp["lanes"][lane].get("b") is not None:
            one.row["cbuThreadState"] = 9 + warp["lanes"][lane]["b"]
    node.uregs, node.upreds, node.barriers = warp["uregs"], warp["upreds"], warp["barriers"]
    left = [lane for lane, one in enumerate(warp["lanes"]) if one["at"] == "exit"]
    node.row["validLanesMask"] &= ~mask(left)
    node.row["cbuExitedLanesMask"] = mask(left)
    node.row["barrierScope"] = scope
    node.lanes = [one for lane, one in enumerate(node.lanes) if lane not in left]


def scope_of(warp):
    by = {warp["lanes"][lane].get("by") for lane in warp["active"]}
    return SCOPES.get(by.pop(), 0) if len(by) == 1 else 0


def place_block(launch, module, sm, block, with_scope):
    def at(number):
        warp = block["warps"][number]
        pcs = {lane: position(module, one["pc"]) if "pc" in one else launch.entry for lane, one in enumerate(warp["lanes"])}
        frames = {lane: tuple(position(module, pc) for pc in one.get("stack", ())) for lane, one in enumerate(warp["lanes"])}
        return State(pcs, frames, active=mask(warp["active"]))

    cta = launch.place(sm, tuple(block["ctaid"]), at)
    for node, warp in zip(cta.warps, block["warps"]):
        fill_warp(node, warp, scope_of(warp) if with_scope else 0)
    cta.warps = [node for node, warp in zip(cta.warps, block["warps"]) if any(one["at"] != "exit" for one in warp["lanes"])]
    cta.shared = base64.b64decode(block["shared"])


def process_of(kind, state, data, blocks=None):
    """A process with the blocks of the kernel that were resident."""
    gpu = GPUS[int(kind.split("_")[1])]
    process = Process(gpu, local=True)
    module = process.context().load(data)
    shared = len(base64.b64decode(state["blocks"][0]["shared"]))
    launch = process.launch(module.context, module, state["symbol"], tuple(state["grid"]), tuple(state["block"]),
                            cluster=tuple(state["cluster"]) if state["cluster"] else None, shared=shared)
    plant_launch(process, launch, state)
    for number, block in enumerate(state["blocks"] if blocks is None else blocks):
        place_block(launch, module, 2 * number, block, gpu is H100)
    return process


def build(kind, state, data):
    """(bytes of the dump, truth)."""
    process = process_of(kind, state, data)
    return coredump.write(process.dump(), coredump.Options()), {"kernel": state["kernel"], "kind": kind, **state["truth"]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], __doc__, kinds, cubin, states, build))
