#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many states of one bug: the report names the same cause in all of them. Prints TAP.

usage: test_states.py PROGRAM CONSOLE TESTS [EVERY]

Each planted fault and hang (tests/kernels/plan_*.py) runs on the software GPU under several schedules, seeds and latenesses:
other blocks come first, other warps are further on, registers are those of a later time, the faulting warp has exited. Of each
EVERYth state, and of those in ALWAYS: what the report says is true, by the rules of tests/cli/test_faults.py and test_hangs.py; the
guilty threads are among those that it suspects; and of one kernel all reports have one signature and name one cause, or none where
the state does not tell it.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

PROGRAM, CONSOLE, TESTS = sys.argv[1:4]
EVERY = int(sys.argv[4]) if len(sys.argv) > 4 else 1
for folder in ("kernels", "builders", "cli"):
    sys.path.insert(0, os.path.join(TESTS, folder))

import faults  # noqa: E402
import hangs  # noqa: E402
import plan_faults  # noqa: E402
import plan_hangs  # noqa: E402
import plant  # noqa: E402
import planted  # noqa: E402
import test_faults  # noqa: E402
import test_hangs  # noqa: E402

# (schedule, seed, instructions late)
FAULT_RUNS = [(0, 0, 0), (1, 0, 2), (2, 1, 1), (2, 2, 5), (2, 3, 12), (3, 4, 3), (3, 5, 40)]
# In every sample: the guilty lanes have exited; only some addresses are wrong; the distance depends on the block; a late register;
# an address that a move is yet to bring.
ALWAYS = re.compile(r"G\.sm_80\.(bad_in_struct, adversarial, seed 5|count_up, (round|oldest)|same_for_all, (oldest|random, seed 1)|"
                    r"through_calls, random, seed 3)|G\.sm_100\.pipeline, random, seed 2")
HANG_RUNS = [(1, 0, 0), (2, 1, 0), (2, 2, 0), (3, 3, 0)]


def report_of(path):
    done = subprocess.run([PROGRAM, "report", "--json", "--no-source", path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise planted.Wrong(done.stderr.strip())
    return json.loads(done.stdout)


def causes(report):
    """What the report takes for likely at least, without the numbers of this state."""
    one = (report["exceptions"] or [{}])[0]
    return {re.sub(r"\(.*\)|0x[0-9a-f]+|\d+", "", cause["text"]) for cause in one.get("likely_causes") or ()
            if cause["confidence"] in ("certain", "likely")}


def told(access):
    return int(access["lanes_known"], 16) | int(access["lanes_likely"], 16)


def check_suspects(one, guilty):
    """Somebody guilty is among those who are suspected, and a thread that is named is guilty."""
    suspects = one["suspects"]
    lanes = int(suspects["lanes"], 16) | int(suspects["elsewhere"], 16)
    bad = [] if lanes & guilty else [f"suspects {lanes:#x}, guilty {guilty:#x}"]
    if suspects["stands_out"] and not guilty >> suspects["thread"]["lane"] & 1:
        bad.append(f"lane {suspects['thread']['lane']} stands out, guilty {guilty:#x}")
    return bad


def check_fault(report, truth):
    if truth["warp"] is None:  # it has exited: the multiprocessor alone knows
        one = report["exceptions"][0]
        return [] if (one["code"], one["errorpc"]) == (truth["code"], truth["errorpc"]) else [f"exception {one['code']} at {one['errorpc']}"]
    access = test_faults.access_of(report, truth)
    if access and access["space"] == "generic" and not told(access):  # by then nobody can say which memory it was
        truth = {**truth, "space": "generic"}
    bad = check_suspects(report["exceptions"][0], test_faults.mask(truth["lanes"])) + test_faults.compare(report, truth)[0]
    if test_faults.owner_is(owner(report, truth), truth["owner"]) is False:
        bad.append(f"owner is not {truth['owner']}")
    return bad


def owner(report, truth):
    return (test_faults.access_of(report, truth) or {"owner": {"kind": "unknown"}})["owner"]


class Bugs:
    """What the reports of each bug said so far."""

    def __init__(self):
        self.signature, self.causes = {}, {}

    def same(self, bug, report):
        bad, said, named = [], report["signature"]["text"] if isinstance(report["signature"], dict) else report["signature"], causes(report)
        if self.signature.setdefault(bug, said) != said:
            bad.append(f"signature {said}, before {self.signature[bug]}")
        known = self.causes.setdefault(bug, named)
        if named and known and not (named <= known or known <= named):
            bad.append(f"causes {named}, before {known}")
        self.causes[bug] = known | named
        return bad


def states():
    """(name, family, image, kernel, symbol, run) of all."""
    for family, path in plant.kinds():
        image = plant.image_of(path)
        runs = FAULT_RUNS if family == "faults" else HANG_RUNS
        for kernel in plant.PLANS[family].plans(planted.NoHeap(), image.sm):
            symbol = image.symbol(kernel)
            for run in runs if symbol else ():
                kind = os.path.basename(path)[:-len(".cubin.gz")].split(".", 1)[1]
                yield f"{kind}.{kernel}, {planted.SCHEDULES[run[0]]}, seed {run[1]}, late {run[2]}", family, kind, image, kernel, symbol, run


def check(console, work, bugs, family, kind, image, kernel, symbol, run):
    builder = faults if family == "faults" else hangs
    state, address = plant.PLANS[family].state_of(console, image, kernel, symbol, planted.Run(*run))
    path, truth = os.path.join(work, "dump"), {"errorpc": hex(state["fault"]["errorpc"]) if "fault" in state else None}
    if "grid" in state:
        dump, truth = builder.build(kind, {**state, "address": address}, image.data)
        with open(path, "wb") as file:
            file.write(dump)
    else:
        console.ask("dump", path)
    report = report_of(path)
    if family == "hangs":
        return test_hangs.compare(report, json.loads(json.dumps(truth)), f"{kind}.{kernel}")[0]
    fault = state["fault"]
    truth = json.loads(json.dumps({**truth, "warp": fault["warp"], "code": fault["code"]}))
    return check_fault(report, truth) + (bugs.same(f"{kind}.{kernel}", report) if fault["warp"] is not None else [])


def main():
    wanted = [state for number, state in enumerate(states()) if number % EVERY == 0 or ALWAYS.match(state[0])]
    bugs, failed = Bugs(), 0
    print(f"1..{len(wanted)}")
    with tempfile.TemporaryDirectory() as work, planted.Console(CONSOLE) as console:
        for number, (name, *one) in enumerate(wanted, 1):
            try:
                bad = check(console, work, bugs, *one)
            except planted.Wrong as wrong:
                bad = [str(wrong)]
            print(("not ok" if bad else "ok") + f" {number} - {name}")
            for line in bad[:6]:
                print("# " + line)
            failed += bool(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
