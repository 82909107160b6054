#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report explains planted faults as they were: lanes, address, width, space, direction, owner. Prints TAP.

usage: test_faults.py PROGRAM BUILDERS

The faults are those of tests/data/faults (README.md there). Of each: the lanes that are named, and the address of every lane that
the report says it knows, are exact; the owner is right or unknown. Over all, at least SHARE of the owners are named.
"""

import json
import os
import subprocess
import sys
import tempfile

SHARE = 0.8


def mask(lanes):
    return sum(1 << lane for lane in lanes)


def symbol_of(owner):
    return (owner["name"] or "").rsplit("::", 1)[-1]


def owner_is(owner, truth):
    """True, False, or None when the report does not know."""
    kind = owner["kind"]
    if kind == "unknown":
        return None
    if truth[0] == "param":
        return kind == "parameter" and [owner["parameter"], owner["offset"]] == truth[1:]
    if truth[0] == "loaded":
        if kind == "loaded" and owner["loaded_through"] is None and truth[1] is not None:
            return None
        return kind == "loaded" and owner["loaded_through"] == truth[1]
    if truth[0] in ("symbol", "constant"):
        return kind == truth[0] and symbol_of(owner) == truth[1]
    return kind == truth[0]


def access_of(report, truth):
    """The access of the report that the truth is about: async copies have two."""
    accesses = report["focus"]["accesses"] or []
    for access in accesses:
        if access["space"] == truth["space"]:
            return access
    return accesses[0] if accesses else None


def compare(report, truth):
    """(what is wrong, owner right?, every address known?)"""
    access = access_of(report, truth)
    if access is None:
        return ["no access"], None, False
    bad = []
    for what in ("space", "direction", "width"):
        if access[what] != truth[what]:
            bad.append("%s %s, in truth %s" % (what, access[what], truth[what]))
    if access["pc"] != truth["errorpc"]:
        bad.append("pc %s" % access["pc"])
    known, guilty = int(access["lanes_known"], 16), mask(truth["lanes"])
    for lane, address in access["address"].items():
        if known >> int(lane) & 1 and address != hex(truth["address"].get(lane, -1)):
            bad.append("lane %s: address %s, in truth %s" % (lane, address, truth["address"].get(lane)))
    suspects, cleared = int(access["suspects"], 16), int(access["cleared"], 16)
    if cleared & guilty:
        bad.append("cleared 0x%x, guilty 0x%x" % (cleared, guilty))
    everyone = all(known >> int(lane) & 1 for lane in truth["address"])
    if everyone and suspects != guilty:
        bad.append("suspects 0x%x, guilty 0x%x" % (suspects, guilty))
    return bad, owner_is(access["owner"], truth["owner"]), everyone


def shown_data(program, path, report):
    """Values of what the access stores that a page shows all the same."""
    access = report["focus"]["accesses"][0]
    data = {value for operand in access["operands"] if operand["use"] == "data" for value in (operand["values"] or {}).values()}
    pages = [subprocess.run([program, "report", "--format", form, path], capture_output=True, text=True, check=True).stdout
             for form in ("text", "md", "html")]
    if not any(int(value, 16) > 0xffff for value in data):
        return ["the state stores nothing that could be told from other numbers"]
    return ["a page shows %s" % value for value in data if int(value, 16) > 0xffff and any(value in page for page in pages)]


def main():
    program, builders = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([sys.executable, os.path.join(builders, "faults.py"), work], check=True)
        stems = sorted(name[:-len(".truth.json")] for name in os.listdir(work) if name.endswith(".truth.json"))
        print("1..%d" % (len(stems) + 2))
        failed = named = exact = 0
        for number, stem in enumerate(stems, 1):
            with open(os.path.join(work, stem + ".truth.json"), encoding="utf-8") as handle:
                truth = json.load(handle)
            done = subprocess.run([program, "report", "--json", os.path.join(work, stem + ".nvcudmp")], capture_output=True,
                                  text=True, check=False)
            bad, right, everyone = (compare(json.loads(done.stdout), truth) if done.returncode == 0
                                    else (done.stderr.splitlines(), None, False))
            if right is False:
                bad.append("owner is not %s" % (truth["owner"],))
            if stem.endswith("wide_store"):
                bad += shown_data(program, os.path.join(work, stem + ".nvcudmp"), json.loads(done.stdout))
            named += right is True
            exact += everyone
            print("%s %d - %s" % ("not ok" if bad else "ok", number, stem))
            for line in bad:
                print("# " + line)
            failed += bool(bad)
        enough = named >= SHARE * len(stems)
        print("%s %d - owners named: %d of %d" % ("ok" if enough else "not ok", len(stems) + 1, named, len(stems)))
        sure = exact >= SHARE * len(stems)
        print("%s %d - addresses of all lanes known: %d of %d" % ("ok" if sure else "not ok", len(stems) + 2, exact, len(stems)))
    return 1 if failed or not enough or not sure else 0


if __name__ == "__main__":
    sys.exit(main())
