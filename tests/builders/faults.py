#!/usr/bin/env python3
"""Dumps of the planted faults: faults.py OUTDIR [--every N] [KIND...]; KIND is as "O3.sm_90". faults.py --list prints them.

"O3+types.sm_90" is "O3.sm_90" with the debug information of "G.sm_90" put into its image: code that reads parameters where they
are, which -G code copies first, with names of them. No compiler at hand writes both.

The states in tests/data/faults are what the software GPU held when the machine code of tests/kernels/faults.cu went wrong
(tests/kernels/plant.py). This puts each of them on a GPU that has a name. Writes OUTDIR/KIND.KERNEL.nvcudmp and, beside each,
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
from machine import A100, B200, H100, RTX5090, Position, Process, State  # noqa: E402

FAULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "faults")
GPUS = {80: A100, 90: H100, 100: B200, 120: RTX5090}
2


def kinds():
    return sorted([name[len("faults."):-len(".json.gz")] for name in os.listdir(FAULTS) if name.endswith(".json.gz")] +
                  ["O3+types.sm_90"])


def states_of(path):
    """The states of a file, each with the addresses that its image was loaded at."""
    with gzip.open(path) as handle:
        content = json.load(handle)
    given = {int(index): at for index, at in content["address"].items()}
    return [{**state, "address": given} for state in content["states"]]


def states(kind):
    return states_of(os.path.join(FAULTS, f"faults.{kind.replace('+types', '')}.json.gz"))


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


def plant_warp(node, warp):
    """Registers, stacks and barriers of the lanes that are left."""
    columns = [struct.unpack("<32I", base64.b64decode(column)) for column in warp["regs"]]
    start, content = warp["local"]
    for one in node.lanes:
        lane = one.row["ln"]
        one.regs, one.preds = [column[lane] for column in columns], warp["preds"][lane]
        one.row["cbuThreadState"] = warp["state"][lane]
        one.local = (start, base64.b64decode(content[lane])) if content[lane] else None
    node.uregs, node.upreds, node.barriers = warp["uregs"], warp["upreds"], warp["barriers"]
    node.row["cbuExitedLanesMask"] = node.row["validLanesMask"] & ~warp["live"]
    node.row["validLanesMask"] = warp["live"]
    node.lanes = [one for one in node.lanes if warp["live"] >> one.row["ln"] & 1]


def place_block(launch, module, block, fault=None):
    """A block where it was; `fault`: that of its warp, if it has one."""
    warps = {warp["number"]: warp for warp in block["warps"]}

    def at(number):
        warp = warps.get(number)
        if warp is None:
            return State(launch.entry)
        pcs = {lane: position(module, pc) if pc else launch.entry for lane, pc in enumerate(warp["pc"])}
        frames = {lane: tuple(position(module, pc) for pc in stack) for lane, stack in enumerate(warp["stack"])}
        if fault and fault["warp"] == number:
            return State(pcs, frames, active=warp["active"], error=position(module, fault["errorpc"]), exception=fault["code"])
        return State(pcs, frames, active=warp["active"])

    cta = launch.place(block["sm"], tuple(block["ctaid"]), at)
    nodes = dict(enumerate(cta.warps))
    for number, warp in warps.items():
        plant_warp(nodes[number], warp)
    cta.warps = [nodes[number] for number in sorted(warps)]
    cta.shared = base64.b64decode(block["shared"])
    return cta


def plant_launch(process, launch, state):
    """The constant banks and memory that the code ran with, and its number of registers."""
    process.memory.clear()
    launch.node.banks = []
    for bank, (base, content) in state["banks"].items():
        content = base64.b64decode(content)
        process.memory.append((base, content))
        launch.node.banks.append({"addr": base, "size": len(content), "bankId": int(bank)})
        if bank == "0":
            offset, size = launch.module.cubin.param_bank(launch.entry.function)
            launch.node.params = content[offset:offset + size]
    process.memory += [(base, base64.b64decode(content)) for base, content in state["memory"]]
    launch.regs = state["n_regs"]
    launch.node.row["numRegs"] = state["n_regs"]


def process_of(kind, state, data):
    """A process with all that was resident, where the device stopped."""
    process = Process(GPUS[int(kind.split("_")[1])], local=True)
    context = process.context()
    context.node.row.update(sharedWindowBase=state["windows"]["shared"], localWindowBase=state["windows"]["local"])
    module = context.load(data, given=state["address"])
    launch = process.launch(context, module, state["symbol"], tuple(state["grid"]), tuple(state["block"]),
                            cluster=tuple(state["cluster"]) if state["cluster"] else None,
                            shared=len(base64.b64decode(state["blocks"][0]["shared"])) if state["blocks"] else 0)
    plant_launch(process, launch, state)
    return process, launch, module


def build(kind, state, data):
    """(bytes of the dump, truth)."""
    process, launch, module = process_of(kind, state, data)
    fault = state["fault"]
    for block in state["blocks"]:
        place_block(launch, module, block, fault if block["ctaid"] == list(fault["ctaid"]) else None)
    launch.device.blame(fault["sm"], fault["code"], position(module, fault["errorpc"]))
    return coredump.write(process.dump(), coredump.Options()), {
        "kernel": state["kernel"], "kind": kind, "errorpc": hex(fault["errorpc"]), "freed": state["freed"], **state["truth"]}


def main(arguments, doc, kinds, cubin, states, build):
    """Writes the dumps of the kinds that are asked for, or each Nth of them, each with its truth beside it."""
    if arguments == ["--list"]:
        print("\n".join(kinds()))
        return 0
    if not arguments:
        print(doc.strip(), file=sys.stderr)
        return 2
    folder, wanted, every, count = arguments[0], arguments[1:], 1, 0
    if wanted[:1] == ["--every"]:
        every, wanted = int(wanted[1]), wanted[2:]
    os.makedirs(folder, exist_ok=True)
    for kind in wanted or kinds():
        data = cubin(kind)
        for state in states(kind):
            count += 1
            if (count - 1) % every:
                continue
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
