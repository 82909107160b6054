#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs an example over a dump and looks for lines in what it prints, with " | " between them. Prints TAP.

usage: check.py DUMP LINES PROGRAM...
"""

import os
import subprocess
import sys


def main():
    dump, wanted, program = sys.argv[1], sys.argv[2], sys.argv[3:]
    run = subprocess.run(program, capture_output=True, text=True, check=False,
                         env=dict(os.environ, WARPSCOPE_CORE=dump))
    good = run.returncode == 0 and all(line in run.stdout.splitlines() for line in wanted.split(" | "))
    print("1..1")
    print("%s 1 - %s" % ("ok" if good else "not ok", os.path.basename(program[0])))
    if not good:
        print("\n".join("# " + text for text in (run.stdout + run.stderr).splitlines()[-5:]))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
