#!/usr/bin/env python3
"""Builds dumps: build.py OUTDIR [SCENARIO...]

For each scenario (all without arguments; see scenarios.py) writes OUTDIR/NAME.nvcudmp and OUTDIR/NAME.truth.json.
build.py --list prints the names.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import coredump  # noqa: E402
import shapes  # noqa: E402,F401  (registers its scenarios)
from scenarios import SCENARIOS  # noqa: E402


def build(name):
    """(bytes of the dump, what is true of it) of one scenario."""
    function, why_not = SCENARIOS[name]
    built = function()
    data = coredump.write(built.model, built.options)
    return data, {"scenario": name, "what": " ".join(function.__doc__.split()), "cuda_gdb_cannot": why_not,
                  **built.truth()}


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(SCENARIOS))
        return 0
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    folder, names = arguments[0], arguments[1:] or list(SCENARIOS)
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        print(f"build.py: no scenario {unknown[0]} (see --list)", file=sys.stderr)
        return 2
    os.makedirs(folder, exist_ok=True)
    for name in names:
        data, facts = build(name)
        with open(os.path.join(folder, name + ".nvcudmp"), "wb") as handle:
            handle.write(data)
        with open(os.path.join(folder, name + ".truth.json"), "w", encoding="utf-8") as handle:
            json.dump(facts, handle, indent=1)
            handle.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
