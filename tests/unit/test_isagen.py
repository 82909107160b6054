#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""isagen accepts every isa/ok_*.isa and refuses every isa/err_*.isa with a place and a reason: the one in
the first line of the file; the public header of opcodes is what it makes of the table. Prints TAP.

usage: test_isagen.py ISAGEN ROOT"""
import pathlib
import re
import subprocess
import sys
import tempfile

isagen, root = sys.argv[1], pathlib.Path(sys.argv[2])
files = sorted((pathlib.Path(__file__).parent / "isa").glob("*.isa"))
results = []


def run(*args):
    return subprocess.run([sys.executable, isagen, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def report(good, name, done):
    results.append(good)
    print(f"{'ok' if good else 'not ok'} {len(results)} - {name}")
    if not good:
        print(f"# exit {done.returncode}: {done.stderr.strip()[-200:]}")


print(f"1..{len(files) + 1}")
for path in files:
    done = run("check", path)
    if path.name.startswith("ok_"):
        good = done.returncode == 0 and not done.stderr
    else:
        reason = re.match(r"# refused: (.+)", path.read_text()).group(1)
        good = done.returncode == 1 and re.fullmatch(r"\S+:\d+: .+\n", done.stderr) is not None and reason in done.stderr
    report(good, path.stem.replace("_", " "), done)
with tempfile.TemporaryDirectory() as work:
    made, kept = pathlib.Path(work) / "opcodes.h", root / "include/warpscope/opcodes.h"
    done = run("header", *sorted((root / "src/sass/isa").glob("*.isa")), "-o", made)
    report(done.returncode == 0 and made.read_text() == kept.read_text(), "opcodes.h is what the table makes", done)
    if not results[-1]:
        print("# run: tools/isagen.py header src/sass/isa/*.isa -o include/warpscope/opcodes.h")
sys.exit(not all(results))
