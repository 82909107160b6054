#!/usr/bin/env python3
"""Builds dumps: build.py OUTDIR [SCENARIO...]

For each scenario (all without arguments; see scenarios.py) writes OUTDIR/NAME.nvcudmp and OUTDIR/NAME.truth.json.
build.py --list prints the names.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import scenarios  # noqa: E402


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(scenarios.SCENARIOS))
        return 0
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    folder, names = arguments[0], arguments[1:] or list(scenarios.SCENARIOS)
    unknown = [name for name in names if name not in scenarios.SCENARIOS]
    if unknown:
        print(f"build.py: no scenario {unknown[0]} (see --list)", file=sys.stderr)
        return 2
    os.makedirs(folder, exist_ok=True)
    for name in names:
        data, facts = scenarios.build(name, folder)
        with open(os.path.join(folder, name + ".nvcudmp"), "wb") as handle:
            handle.write(data)
        with open(os.path.join(folder, name + ".truth.json"), "w", encoding="utf-8") as handle:
            json.dump(facts, handle, indent=1)
            handle.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
