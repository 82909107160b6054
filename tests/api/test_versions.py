#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the version that a client asked for decides the answer (docs/decisions/0010-api-versions.md). Prints TAP.

usage: test_versions.py LIBRARY SOURCE_ROOT
"""

import json
import os
import subprocess
import sys
import tempfile

from test_truth import BUILDERS, Table, Wrong, reader, same

VERSIONS = [(12, 0, 131), (12, 4, 142), (12, 5, 145), (12, 6, 147), (12, 8, 152), (12, 9, 156), (13, 0, 163), (13, 4, 193)]
SKIP_GLOBAL, SKIP_ABORT = 1 << 1, 1 << 4


def syscall_depth(table, truth, version, _work):
    """The recorded depth up to 12.8, 0 from 12.9 on, by both functions that tell it."""
    focus = truth["focus"]
    at = [focus[key] for key in ("device", "sm", "warp", "lane")]
    recorded = focus["syscall_frames"]
    if not recorded:
        raise Wrong("the scenario has no syscall frames")
    expected = recorded if version < (12, 9) else 0
    same("readSyscallCallDepth", table.ask("readSyscallCallDepth", *at), expected)
    told = table.ask("readAllVirtualReturnAddresses", *at, numAddrs=8)
    same("readAllVirtualReturnAddresses", told["syscallCallDepth"], expected)


def const_banks(table, _truth, version, work):
    """Up to 12.5 constant banks go with global memory."""
    path = os.path.join(work, "again.nvcudmp")
    table.ask("generateCoredump", filename=path, flags=SKIP_GLOBAL)
    with open(path, "rb") as handle:
        dump = reader.read(handle.read())
    left = [block for block in dump["memory"] if not block["managed"]]  # banks are stored as the memory that they are
    same("what is left of global memory", bool(left), version >= (12, 6))


def abort_flag(table, _truth, version, work):
    """A flag that did nothing is refused from 12.5 on."""
    path = os.path.join(work, "again.nvcudmp")
    table.ask("generateCoredump", filename=path, flags=SKIP_ABORT,
              expect="CUDBG_SUCCESS" if version < (12, 5) else "CUDBG_ERROR_INVALID_ARGS")


CASES = [("assert", syscall_depth), ("memory", const_banks), ("memory", abort_flag)]


def main():
    number = failed = 0
    print("1..%d" % (len(CASES) * len(VERSIONS)))
    with tempfile.TemporaryDirectory() as work:
        names = sorted({name for name, _ in CASES})
        subprocess.run([sys.executable, os.path.join(BUILDERS, "build.py"), work, *names], check=True)
        for name, check in CASES:
            os.environ["WARPSCOPE_CORE"] = os.path.join(work, name + ".nvcudmp")
            with open(os.path.join(work, name + ".truth.json"), encoding="utf-8") as text:
                truth = json.load(text)
            for version in VERSIONS:
                number += 1
                why = None
                table = Table(version)
                table.ask("initialize")
                try:
                    check(table, truth, version[:2], work)
                except Wrong as wrong:
                    why = wrong
                table.ask("finalize")
                print("%s %d - %s for a client of %d.%d" % ("not ok" if why else "ok", number, check.__name__, *version[:2]))
                if why:
                    print("# %s" % why)
                    failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
