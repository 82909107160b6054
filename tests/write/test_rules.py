#!/usr/bin/env python3
"""docs/trust.md says what strip keeps as the program does it: test_rules.py ROOT [--update]. Prints TAP.

The table of images is the one of src/write/rules.h, row by row (--update writes it); the table of the dump names every kind of
section of src/target/dump/format.h.
"""
import os
import re
import sys

HOLDS = {"NONE": "-", "VALUES": "values", "DATA": "values, paths", "ALL": "values, PTX, paths"}
BEGIN, END = "<!-- strip-rules -->\n", "<!-- /strip-rules -->\n"


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as text:
        return text.read()


def table(root):
    """The rows of the program as Markdown."""
    text = read(root, "src/write/rules.h")
    rows = re.findall(r'X\("([^"]+)",\s+(\w+),\s+(\w+),\s+(\w+),\s+"([^"]+)",\s+"([^"]+)"\)', text.replace("\\\n", " "))
    if len(rows) != text.count('X("'):
        raise ValueError(f"{len(rows)} rows of {text.count(chr(88) + chr(40) + chr(34))} understood")
    lines = ["| section | type | taken away with | stays | why |", "| --- | --- | --- | --- | --- |"]
    for name, shape, holds, _, stays, why in rows:
        lines.append(f"| {'any other' if name == '*' else f'`{name}`'} | {shape.lower()} | {HOLDS[holds]} | {stays} | {why} |")
    return "\n".join(lines) + "\n"


def update(root, page):
    start, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    with open(os.path.join(root, "docs/trust.md"), "w", encoding="utf-8") as out:
        out.write(page[:start] + table(root) + page[end:])


def main():
    root = sys.argv[1]
    page = read(root, "docs/trust.md")
    if "--update" in sys.argv:
        update(root, page)
        return 0
    same = page[page.index(BEGIN) + len(BEGIN):page.index(END)] == table(root)
    kinds = re.findall(r'X\(\d+, \w+, "([^"]+)"', read(root, "src/target/dump/format.h"))
    missing = [kind for kind in kinds if f"| {kind} |" not in page]
    print("1..2")
    print(f"{'ok' if same else 'not ok'} 1 - docs/trust.md has the rules of src/write/rules.h (test_rules.py ROOT --update)")
    print(f"{'not ok' if missing or len(kinds) < 23 else 'ok'} 2 - every kind of section of a dump has a row {missing or ''}")
    return 0 if same and not missing else 1


if __name__ == "__main__":
    sys.exit(main())
