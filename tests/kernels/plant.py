#!/usr/bin/env python3
"""Makes the states of tests/data/faults and tests/data/hangs anew: what machine code leaves when it goes wrong.

usage: plant.py [--check | --twice] CONSOLE [KIND...]

CONSOLE is build/tests/sim/sim-console; KIND is as "faults.O3.sm_90". Where nvcc is, the cubins are compiled from
faults.cu and hangs.cu first (build.sh planted). Then each kernel runs on the software GPU as its plan says, and what
the device holds is written beside the cubin, with the truth that the plan, which knows the source, says of it.

--check compiles and writes nothing: each file must be the one that is there, byte for byte. After a change in how the software
GPU schedules warps they are not: make them anew. --twice makes them twice instead: twice the same, and each plan agrees.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys

import plan_faults
import plan_hangs
import planted

DATA = os.path.join(planted.HERE, "..", "data")
PLANS = {"faults": plan_faults, "hangs": plan_hangs}


def kinds():
    """(plan, path of a cubin) of all cubins whose kernels have plans."""
    for family in PLANS:
        folder = os.path.join(DATA, family)
        for name in sorted(os.listdir(folder)):
            if name.endswith(".cubin.gz"):
                yield family, os.path.join(folder, name)


def image_of(path):
    with gzip.open(path) as file:
        return planted.Image(file.read())


def states_of(console, family, image, schedule=2):
    """What the file of a cubin holds: the addresses that it was loaded at, and the states. Each kernel has a seed of its own."""
    states, address, plan = [], None, PLANS[family]
    for seed, kernel in enumerate(plan.plans(planted.NoHeap(), image.sm)):
        symbol = image.symbol(kernel)
        if symbol is None:
            continue
        try:
            state, address = plan.state_of(console, image, kernel, symbol, planted.Run(schedule, seed, None))
        except planted.Wrong as wrong:
            raise planted.Wrong(f"{kernel}: {wrong}") from wrong
        states.append(state)
    return {"address": {str(index): at for index, at in sorted(address.items())}, "states": states}


def made(console, family, path):
    return json.dumps(states_of(console, family, image_of(path)), separators=(",", ":")).encode()


def content(path):
    with gzip.open(path) as file:
        return file.read()


def main(arguments):
    twice = "--twice" in arguments
    check = "--check" in arguments or twice
    arguments = [word for word in arguments if not word.startswith("--")]
    if not arguments:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    if not check and shutil.which(os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc")):
        subprocess.run(["sh", os.path.join(planted.HERE, "build.sh"), "planted"], check=True)
    failed, number = 0, 0
    wanted = [(family, path) for family, path in kinds() if not arguments[1:] or os.path.basename(path)[:-len(".cubin.gz")] in arguments[1:]]
    with planted.Console(arguments[0]) as console:
        if check:
            print(f"1..{len(wanted)}")
        for number, (family, path) in enumerate(wanted, 1):
            target, name = path.replace(".cubin.gz", ".json.gz"), os.path.basename(path)[:-len(".cubin.gz")]
            try:
                text = made(console, family, path)
                there = made(console, family, path) if twice else content(target) if check else None
            except planted.Wrong as wrong:
                print(f"not ok {number} - {name}\n# {wrong}" if check else f"{name}: {wrong}")
                failed += 1
                continue
            if check:
                print(("ok" if text == there else "not ok") + f" {number} - {name} is made again, byte for byte")
                failed += text != there
            else:
                with open(target, "wb") as file:
                    file.write(gzip.compress(text, 9, mtime=0))
                print(f"{name}: written")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
