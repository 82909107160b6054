#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the tables of exceptions in docs/software-gpu.md to the code of the software GPU and to its tests.

usage: test_exceptions_page.py ROOT

Every exception of the API is in one of the two tables: made or never made. Those that are made are the ones that src/sim
names, and each names tests that have it; the words behind a colon are in that file.
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
page = (root / "docs/software-gpu.md").read_text()
enums = (root / "src/cudbg/api/enums.tbl").read_text()
names = dict(re.findall(r"^\tvalue (CUDBG_EXCEPTION_\w+) (\d+) ", enums, re.M))


def table(mark):
    """Rows of a table between two marks: exception -> its last two cells."""
    part = page.split(f"<!-- {mark} -->")[1].split(f"<!-- /{mark} -->")[0]
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in part.strip().split("\n")[2:]]
    listed = {}
    for row in rows:
        for number in row[0].split(", "):
            assert number not in listed, f"{number} is there twice"
            listed[number] = row[1:]
    return listed


def of_code():
    """What src/sim makes faults with, by name."""
    made = set()
    for path in sorted((root / "src/sim").rglob("*.c")):
        text = path.read_text()
        values = names | dict(re.findall(r"\b([A-Z_]+) = (\d+)\b", text))
        for argument in re.findall(r"\bwsi_fault(?:_at)?\(\s*\w+,\s*([^,]+?)\s*,", text):
            for value in re.split(r"[?:]", argument)[-2:]:
                value = value.strip()
                if value in values or value.startswith("WS_SIM_"):
                    made.add(values.get(value, value))
                elif not value.isidentifier() or value != "exception":
                    raise AssertionError(f"{path.name}: which exception is '{value}'?")
    return made


def of_api():
    return set(names.values()) - {"0"}


made, never, code, api = table("made"), table("never"), of_code(), of_api()
cases = [
    ("the code makes what the page says", code - set(made), set(made) - code),
    ("each exception of the API is in one table", api - set(made) - set(never), set(made) & set(never)),
    ("what is never made is an exception of the API", set(never) - api, set()),
]
print(f"1..{len(cases) + len(made)}")
bad = 0
for i, (name, missing, wrong) in enumerate(cases):
    ok = not missing and not wrong
    bad += not ok
    print(f"{'ok' if ok else 'not ok'} {i + 1} - {name}" + ("" if ok else f" # {sorted(missing)} {sorted(wrong)}"))
for i, (number, (_, tests)) in enumerate(made.items()):
    wrong = []
    for test in re.findall(r"`([^`]+)`", tests):
        path, _, words = test.partition(": ")
        if not (root / "tests" / path).is_file() or words not in (root / "tests" / path).read_text():
            wrong.append(test)
    ok = not wrong and "`" in tests
    bad += not ok
    print(f"{'ok' if ok else 'not ok'} {len(cases) + 1 + i} - a test makes {number}" + ("" if ok else f" # {wrong}"))
sys.exit(bad > 0)
