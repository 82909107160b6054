#!/usr/bin/env python3
"""The builders' line decoder against nvdisasm 12.4 -gi (TAP): for each committed cubin, the chain of file:line at every
address that nvdisasm annotates. The planted truth of all scenarios rests on that decoder.

Needs the peers script (README.md). sm_100 is newer than nvdisasm 12.4: skipped.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "builders")]

import cubin as cb  # noqa: E402
import peer  # noqa: E402

CUBINS = os.path.join(HERE, "..", "data", "cubins")
NEWEST = 90


def annotated(text):
    """(section, offset, [(file, line)]) for each instruction with a new annotation."""
    section, pending = None, []
    for row in text.splitlines():
        start = re.match(r"\s*\.section\s+\.text\.([^,\s]+),", row)
        note = re.match(r'\s*//## File "([^"]*)", line (\d+)', row)
        code = re.match(r"\s*/\*([0-9a-f]{4,})\*/", row)
        if start:
            section, pending = start[1], []
        elif note:
            pending.append((note[1], int(note[2])))
        elif code and pending:
            yield section, int(code[1], 16), pending
            pending = []


def check(peers, path, folder):
    """(number of addresses, first difference or None)."""
    with open(path, "rb") as handle:
        cubin = cb.Cubin(handle.read())
    shutil.copy(path, folder)
    done = subprocess.run([peers, "nvdisasm", "-gi", "-c", os.path.basename(path)], cwd=folder, capture_output=True,
                          text=True, check=False)
    if done.returncode:
        return 0, done.stderr.strip()[:200]
    sequences = cb.line_sequences(cubin)
    count = 0
    for name, offset, frames in annotated(done.stdout):
        section = cubin.section(".text." + name)
        mine = [(file, line) for _, file, line in cb.chain(cubin, sequences, section.index, offset)]
        if mine != frames:
            return count, f"{name}+{offset:#x}: {mine}, nvdisasm {frames}"
        count += 1
    return count, None


def main():
    peers, why = peer.find()
    if not peers:
        print(f"1..0 # SKIP {why}")
        return 0
    names = sorted(n for n in os.listdir(CUBINS) if n.endswith(".cubin") and ".none." not in n)
    print(f"1..{len(names)}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(names, 1):
            if int(name.split("sm_")[1].split(".")[0]) > NEWEST:
                print(f"ok {number} - {name} # SKIP nvdisasm 12.4 does not know this architecture")
                continue
            count, why = check(peers, os.path.join(CUBINS, name), folder)
            bad = why is not None or count == 0
            failed += bad
            print(f"{'not ok' if bad else 'ok'} {number} - {name}: {count} addresses")
            if bad:
                print(f"# {why or 'nothing annotated'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
