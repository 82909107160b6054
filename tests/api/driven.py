#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which functions of the API gave which results on a device that really ran. Prints TAP.

usage: driven.py ROOT TEST_LIVE FATBIN...            holds the record to what is measured
       driven.py --write ROOT TEST_LIVE FATBIN...    writes the record: what three runs have in common

Each test of TEST_LIVE runs alone, with its calls traced by the library (WARPSCOPE_TRACE). A row of tests/api/driven.tsv is a function,
a result, and the first tests that it came in. docs/api-coverage.md is made from it by the build.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

TESTS = 4  # that a row names
RUNS = 3
# Success, and what only a device that runs, a session of it, or several devices can give: each function that lists such a code gave it,
OF_RUNNING = ("SUCCESS", "RUNNING_DEVICE", "SUSPENDED_DEVICE", "WARP_RESUME_NOT_POSSIBLE", "INVALID_WARP_MASK", "BREAKPOINT_STATE_CONFLICT",
              "NO_EVENT_AVAILABLE", "AMBIGUOUS_MEMORY_ADDRESS", "RECURSIVE_API_CALL", "UNINITIALIZED")
# but for these, which the manual lists or another provider may give.
CANNOT = [
    (r"writeCCRegister|getBindlessConstAddress", "SUCCESS"),  # no GPU has the one, no document the format of the other
    (r"singleStepWarp\d*", "INVALID_WARP_MASK"),  # one warp is named, not a mask
    (r"(read|write)(Generic|Global)Memory(31|55)|readConstMemory129|(read|write)GenericMemory", "AMBIGUOUS_MEMORY_ADDRESS"),  # of `dev`
    (r"(read|write)PinnedMemory", "AMBIGUOUS_MEMORY_ADDRESS"),  # the host has one memory
    (r"consumeCudaLogs(134)?", "RECURSIVE_API_CALL"),  # may be called there
    (r"(set|unset|insert|remove|enable|disable)Breakpoint(31)?", "RUNNING_DEVICE"),  # goes in while the device runs
    (r"getGridInfo(55|120)?|getClusterDim120|readCPUCallStack", "RUNNING_DEVICE"),  # does not change
    (r"getElfImageByHandle|getLoadedFunctionInfo(118)?", "RUNNING_DEVICE"),  # images are the session's
]


def run(test_live, images, trace, only=None):
    environment = {**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP", "WARPSCOPE_TRACE": trace, **({"WS_TEST_ONLY": only} if only else {})}
    environment.pop("WS_TEST_ROUTE", None)
    done = subprocess.run([test_live, *images], env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        sys.exit("driven.py: the tests themselves fail: " + done.stdout[-1000:] + done.stderr[-1000:])
    return re.findall(r"^ok \d+ - (\w+)", done.stdout, re.M)


def measured(test_live, images):
    """The pairs of function and result, each with the tests that it came in, in the suite's order."""
    found = {}
    with tempfile.TemporaryDirectory() as work:
        for name in run(test_live, images, os.path.join(work, "all")):
            trace = os.path.join(work, name)
            if run(test_live, images, trace, name) != [name]:
                sys.exit("driven.py: %s does not run alone" % name)
            if not os.path.exists(trace):
                continue  # it asks the engine itself
            with open(trace, encoding="utf-8") as lines:
                calls = {(call["call"], re.sub("^CUDBG_(ERROR_)?", "", call["result"])) for call in map(json.loads, lines)}
            for call in calls:
                found.setdefault(call, []).append(name)
    return found


def write(path, runs):
    with open(path, "w", encoding="utf-8") as out:
        out.write("# made by tests/api/driven.py: function, result, tests on a device that ran\n")
        for call in sorted(set.intersection(*(set(one) for one in runs))):
            names = [name for name in runs[0][call] if all(name in one[call] for one in runs)]
            if names:
                out.write("\t".join([*call, *names[:TESTS]]) + "\n")


def main():
    root, test_live, *images = sys.argv[2:] if sys.argv[1] == "--write" else sys.argv[1:]
    sys.path.insert(0, os.path.join(root, "tools"))
    import api_model  # pylint: disable=import-outside-toplevel
    import api_pages  # pylint: disable=import-outside-toplevel
    path = os.path.join(root, "tests/api/driven.tsv")
    if sys.argv[1] == "--write":
        write(path, [measured(test_live, images) for _ in range(RUNS)])
        return 0
    now, record = measured(test_live, images), api_pages.driven(os.path.join(root, "tests/api"))
    functions = api_model.load(os.path.join(root, "src/cudbg/api")).functions
    print("1..%d" % (len(functions) + 1))
    failed = False
    for number, fn in enumerate(functions, 1):
        kept = {code: names for name, code, names in record if name == fn.name}
        lost = [code for code, names in kept.items() if not set(names) & set(now.get((fn.name, code), []))]
        failed = failed or bool(lost)
        print("%s %d - %s gives on a device what the record says" % ("not ok" if lost else "ok", number, fn.name))
        for code in lost:
            print("# %s was not seen in %s; if that is right, run this with --write" % (code, ", ".join(kept[code])))
    idle = [(fn.name, code) for fn in functions for code in OF_RUNNING if code in fn.codes + fn.extension and (fn.name, code) not in now and
            not any(code == other and re.fullmatch(names, fn.name) for names, other in CANNOT)]
    what = "all that works was asked of a device, and what only one that runs can give was given"
    print("%s %d - %s" % ("not ok" if idle else "ok", len(functions) + 1, what))
    for pair in idle:
        print("# %s never gave %s" % pair)
    return 1 if failed or idle else 0


if __name__ == "__main__":
    sys.exit(main())
