#!/usr/bin/env python3
"""Dumps of the planted faults: faults.py OUTDIR [KIND...]; KIND is as "O3.sm_90". faults.py --list prints them.

"O3+types.sm_90" is "O3.sm_90" with the debug information of "G.sm_90" put into its image: code that reads parameters where they
are, which -G code copies first, with names of them. No compiler at hand writes both.

The states in tests/data/faults are what real machine code of tests/kernels/faults.cu left in every register when it went
wrong (tests/kernels/run_faults.py). This puts each of them on an SM. Writes OUTDIR/KIND.KERNEL.nvcudmp and, beside each,
.truth.json: lanes, address by lane, width, space, direction, owner.
"""

import base64
import gzip
import json
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import coredump  # noqa: E402
import cubin as cb  # noqa: E402
from machine import A100, B200, H100, Position, Process, State  # noqa: E402

FAULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "faults")
GPUS = {80: A100, 90: H100, 100: B200}
SM = 2


def kinds():
    return sorted([name[len("faults."):-len(".json.gz")] for name in os.listdir(FAULTS) if name.endswith(".json.gz")] +
                  ["O3+types.sm_90"])


def states(kind):
    with gzip.open(os.path.join(FAULTS, f"faults.{kind.replace('+types', '')}.json.gz")) as handle:
        return json.load(handle)


def cubin(kind):
    if "+types" in kind:
        arch = kind.split(".")[1]
        return cb.with_debug_info(cubin("O3." + arch), cubin("G." + arch))
    with gzip.open(os.path.join(FAULTS, f"faults.{kind}.cubin.gz")) as handle:
        return handle.read()


def mask(lanes):
    return sum(1 << lane for lane in lanes)


def position(module, address):
    for index, start in module.address.items():
        section = module.cubin.sections[index]
        if section.flags & 4 and start <= address < start + section.size:
            return Position(module, index, address - start)
    raise KeyError(hex(address))


def plant_registers(warp, state):
    """The registers and the stack of every lane, as the code left them."""
    columns = [struct.unpack(f"<{state['valid']}I", base64.b64decode(column)) for column in state["regs"]]
    for lane, node in enumerate(warp.lanes):
        node.regs = [column[lane] for column in columns]
        node.preds = state["preds"][lane]
        start, content = state["local"]
        node.local = (start, base64.b64decode(content[lane]))
    warp.uregs, warp.upreds = state["uregs"], state["upreds"]
    left = [lane for lane in range(state["valid"]) if state["pc"][lane] == 0]
    warp.row["validLanesMask"] &= ~mask(left)
    warp.row["cbuExitedLanesMask"] = mask(left)
    warp.lanes = [node for lane, node in enumerate(warp.lanes) if lane not in left]


def plant_launch(process, launch, state):
    """The constant banks and memory that the code ran with, and its number of registers."""
    process.memory.clear()
    launch.node.banks = []
    for bank, content in state["banks"].items():
        content = base64.b64decode(content)
        base = state["constant_window"] if bank == "3" else 0x7f0500000000 + 0x4000 * int(bank)
        process.memory.append((base, content))
        launch.node.banks.append({"addr": base, "size": len(content), "bankId": int(bank)})
        if bank == "0":
            launch.node.params = content[launch.node.row["paramsOffset"]:]
    process.memory += [(base, base64.b64decode(content)) for base, content in state["memory"]]
    launch.regs = state["n_regs"]
    launch.node.row["numRegs"] = state["n_regs"]


def process_of(kind, state, data):
    """A process with one block of the kernel, its warp where the fault left it."""
    process = Process(GPUS[int(kind.split("_")[1])], local=True)
    module = process.context().load(data)
    launch = process.launch(module.context, module, state["kernel"], tuple(state["grid"]), tuple(state["block"]),
                            cluster=tuple(state["cluster"]) if state["cluster"] else None, shared=state["shared"])
    plant_launch(process, launch, state)
    entry, error = launch.entry, position(module, state["errorpc"])
    pcs = {lane: position(module, pc) if pc else entry for lane, pc in enumerate(state["pc"])}
    frames = {lane: tuple(position(module, pc) for pc in stack) for lane, stack in enumerate(state["stack"])}

    def at(number):
        if number != state["warp"]:
            return State(entry)
        return State(pcs, frames, active=mask(state["executing"]), error=error, exception=state["code"])

    cta = launch.place(SM, tuple(state["ctaid"]), at)
    plant_registers(cta.warps[state["warp"]], state)
    launch.device.blame(SM, state["code"], error)
    return process


def build(kind, state, data):
    """(bytes of the dump, truth)."""
    process = process_of(kind, state, data)
    return coredump.write(process.dump(), coredump.Options()), {
        "kernel": state["kernel"], "kind": kind, "errorpc": hex(state["errorpc"]), "freed": state["freed"], **state["truth"]}


def main(arguments, doc, kinds, cubin, states, build):
    """Writes the dumps of the kinds that are asked for, each with its truth beside it."""
    if arguments == ["--list"]:
        print("\n".join(kinds()))
        return 0
    if not arguments:
        print(doc.strip(), file=sys.stderr)
        return 2
    folder = arguments[0]
    os.makedirs(folder, exist_ok=True)
    for kind in arguments[1:] or kinds():
        data = cubin(kind)
        for state in states(kind):
            dump, truth = build(kind, state, data)
            stem = os.path.join(folder, f"{kind}.{state['kernel']}")
            with open(stem + ".nvcudmp", "wb") as handle:
                handle.write(dump)
            with open(stem + ".truth.json", "w", encoding="utf-8") as handle:
                json.dump(truth, handle, indent=1)
                handle.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], __doc__, kinds, cubin, states, build))
