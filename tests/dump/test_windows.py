#!/usr/bin/env python3
"""Dumps that are read in windows answer as mapped ones do: test_windows.py WINDOWS EVERY SEEDS DUMP... Prints TAP.

WINDOWS (windows.c) is given every EVERY-th scenario of tests/builders, SEEDS damaged dumps of each class of
builders/mutate.py, and the dumps that are named; the first of these is also packed, and cut then.
"""

import gzip
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILDERS = os.path.join(HERE, "..", "builders")
sys.path.insert(0, BUILDERS)

import mutate  # noqa: E402


def main(program, every, seeds, *paths):
    with tempfile.TemporaryDirectory(prefix="ws-windows-") as folder:
        build = [sys.executable, os.path.join(BUILDERS, "build.py")]
        known = subprocess.run([*build, "--list"], check=True, capture_output=True, text=True).stdout.split()
        subprocess.run([*build, folder, *known[::int(every)]], check=True, stdout=subprocess.DEVNULL)
        names = sorted(os.path.join(folder, name) for name in os.listdir(folder) if ".nvcudmp" in name)
        with open(paths[0], "rb") as whole:
            mutator = mutate.Mutator(whole.read())
        packed = gzip.compress(mutator.data)
        for name, data in ("packed", packed), ("packed-cut", packed[:len(packed) // 2]):
            names.append(os.path.join(folder, name))
            with open(names[-1], "wb") as made:
                made.write(data)
        for kind in mutate.CLASSES:
            for seed in range(int(seeds)):
                names.append(os.path.join(folder, f"{kind}-{seed}"))
                with open(names[-1], "wb") as damaged:
                    damaged.write(mutator.run(kind, seed)[0])
        return subprocess.run([program, *paths, *names], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
