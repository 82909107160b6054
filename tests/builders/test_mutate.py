#!/usr/bin/env python3
"""The mutator, tried on the independent reader (TAP): no mutant stops it, the same seed gives the same mutant, a single damaged
field costs no more than what hangs off it, and pages cost the file only if the ELF header was in one of them.

usage: test_mutate.py [SEEDS]
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import build  # noqa: E402
import mutate  # noqa: E402
import reader  # noqa: E402

SEEDS = int(sys.argv[1]) if len(sys.argv) > 1 else 60


def check(kind, mutator, whole):
    """None, or why the class failed."""
    lost_more = []
    for seed in range(SEEDS):
        data, damage = mutator.run(kind, seed)
        if seed < 3 and mutator.run(kind, seed) != (data, damage):
            return f"seed {seed} gives two results"
        if data == mutator.data:
            return f"seed {seed} changes nothing"
        try:
            tree = reader.read(data)
        except reader.NotADump:
            takes_the_header = kind in mutate.PAGES and any(start < 64 for start, _ in damage["touched"])
            if kind not in ("flipehdr", "flip", "trunc") and not takes_the_header:
                return f"{damage}: not taken for a dump"
            continue
        if kind in mutate.SINGLE and mutate.prune(tree, damage["paths"]) != mutate.prune(whole, damage["paths"]):
            lost_more.append(damage)
    if len(lost_more) > SEEDS // 100:
        return f"{len(lost_more)} of {SEEDS} cost more than they may, e.g. {lost_more[0]}"
    return None


def main():
    data = build.build("code-14")[0]
    mutator, whole = mutate.Mutator(data), reader.read(data)
    print(f"1..{len(mutate.CLASSES)}")
    failed = 0
    for number, kind in enumerate(mutate.CLASSES, 1):
        why = check(kind, mutator, whole)
        failed += why is not None
        print(f"{'ok' if why is None else 'not ok'} {number} - {kind}")
        if why:
            print("# " + why)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
