#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/formats/coredump.md are those of src/target/dump/format.h: kinds of section, fields, strides. Prints TAP.

usage: test_format_page.py SOURCE_ROOT
"""
import os
import re
import sys

BYTES = {"U32": 4, "U64": 8, "I64": 8, "FLAG": 4, "EXCEPTION": 4, "DIM3": 12, "TEXT": 8, "OWNER": 4}
HEADINGS = {"Device": "DEVICE", "Context": "CONTEXT", "Module": "MODULE", "Grid": "GRID", "Constant bank": "BANK", "SM": "SM",
            "Block": "BLOCK", "Warp": "WARP", "Lane": "LANE", "Call stack": "FRAME", "Metadata": "META"}


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as handle:
        return handle.read()


def fields_of(source, record):
    """[(offset, bytes, name, since)] of a record; three of a DIM3."""
    body = re.search(rf"#define WSI_{record}_ROW\(X, r\)((?:.*\\\n)*.*\n)", source)[1]
    found = []
    for name, offset, kind, since in re.findall(r"X\(r, (\w+), (\d+), (\w+), (\d+),", body):
        parts = [f"{name}.{axis}" for axis in "xyz"] if kind == "DIM3" else [name]
        size = BYTES[kind] // len(parts)
        found += [(int(offset) + i * size, size, part, int(since)) for i, part in enumerate(parts)]
    return found


def strides_of(fields):
    """"r346 72, r400 80": where the rows of each driver end, padded to 8 bytes."""
    ends = {since: (offset + size + 7) // 8 * 8 for offset, size, _, since in fields}
    return str(*ends.values()) if len(ends) == 1 else ", ".join(f"r{since} {end}" for since, end in ends.items())


def section_of(page, heading):
    return re.search(rf"^##+ {heading}\n(.*?)(?=^#|^Notes)", page, re.S | re.M)[1]


def main():
    root = sys.argv[1]
    source, page = read(root, "src/target/dump/format.h"), read(root, "docs/formats/coredump.md")
    records = set(re.findall(r"#define WSI_(\w+)_ROW\(X, r\)", source))
    cases = [("every record has a table", lambda: (sorted(records), sorted(HEADINGS.values())))]

    def kinds():
        code = re.findall(r'X\((\d+), \w+, "([^"]+)", "([^"]*)",\s+\w+, \d+, (\d+), \w+\)', source)
        told = re.findall(r"^\| (\d+) \| ([\w ]+) \| `([a-z_]+\.?)[^`]*` \|.*\| r(\d+) ",
                          section_of(page, "Section types"), re.M)
        return code, told
    cases.append(("kinds of section", kinds))
    for heading, record in HEADINGS.items():
        def fields(heading=heading, record=record):
            told = re.findall(r"^\| (\d+) \| (\d+) \| `([\w.]+)` \|[^|]*\| r(\d+) ", section_of(page, heading), re.M)
            return fields_of(source, record), [(int(a), int(b), name, int(since)) for a, b, name, since in told]

        def strides(heading=heading, record=record):
            return strides_of(fields_of(source, record)), re.search(r"Stride by driver: (.*)\.", section_of(page, heading))[1]
        cases += [(f"fields of {heading}", fields), (f"strides of {heading}", strides)]
    print(f"1..{len(cases)}")
    failed = 0
    for number, (name, case) in enumerate(cases, 1):
        code, told = case()
        failed += code != told
        print(f"{'not ' * (code != told)}ok {number} - {name}")
        for line in ([f"code: {code}", f"page: {told}"] if code != told else []):
            print("#", line)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
