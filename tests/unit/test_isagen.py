#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""isagen accepts every isa/ok_*.isa and refuses every isa/err_*.isa with a place and a reason. Prints TAP."""
import pathlib
import re
import subprocess
import sys

isagen = sys.argv[1]
files = sorted((pathlib.Path(__file__).parent / "isa").glob("*.isa"))
print(f"1..{len(files)}")
bad = 0
for number, path in enumerate(files, 1):
    done = subprocess.run([sys.executable, isagen, "check", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if path.name.startswith("ok_"):
        good = done.returncode == 0 and not done.stderr
    else:
        good = done.returncode == 1 and re.fullmatch(r"\S+:\d+: .+\n", done.stderr) is not None
    bad += not good
    print(f"{'ok' if good else 'not ok'} {number} - {path.stem.replace('_', ' ')}")
    if not good:
        print(f"# exit {done.returncode}: {done.stderr.strip()[-200:]}")
sys.exit(bad != 0)
