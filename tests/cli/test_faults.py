#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report explains planted faults as they were: lanes, address, width, space, direction, owner. Prints TAP.

usage: test_faults.py PROGRAM BUILDERS [EVERY]       (every EVERY-th fault; without it, all)

The faults are those of tests/data/faults (README.md there). Of each: the lanes that are named, and the address of every lane that
the report says it knows or that is likely, are exact; the owner is right or unknown. Over all, at least OWNERS of the owners
are named, and ADDRESSES of the addresses known.
The names and types of parameters are those of tests/kernels/faults.cu where the image has debug information, else absent.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

OWNERS = 0.95
ADDRESSES = 0.8
VIEW = [["rows", "int", 0, 4], ["data", "float const*", 8, 8], ["out", "float*", 16, 8]]


def parameters(source):
    """kernel -> [(name, type as C++ names are decoded)], by the text of the source."""
    kernels = {}
    for name, declared in re.findall(r"__global__ (?:void|void __cluster_dims__\(2\)|.*?) (\w+)\(([^)]*)\)\n", source):
        kernels[name] = []
        for one in declared.split(", "):
            words, parameter = re.fullmatch(r"(.*?)(\w+)", one).groups()
            kind, stars = words.replace("*", "").strip(), words.count("*")
            const = kind.startswith("const ")
            kind = kind[6:] if const else kind
            kind = "unsigned int" if kind == "unsigned" else kind
            kernels[name].append((parameter, kind + (" const" if const else "") + "*" * stars))
    return kernels


def check_parameters(report, truth, source):
    """What is wrong with names, types, values and fields of the parameters."""
    params = report["kernels"][0]["params"]
    if truth["kind"].startswith("O3."):
        return ["parameter %d has a name" % p["ordinal"] for p in params
                if (p["name"], p["name_why"], p["type"], p["fields"]) != (None, "absent", None, None)]
    bad, wanted = [], source[truth["kernel"]]
    if [(p["name"], p["type"]) for p in params] != wanted:
        bad.append("parameters %s, in truth %s" % ([(p["name"], p["type"]) for p in params], wanted))
    for param in params:
        number = int.from_bytes(bytes.fromhex(param["bytes"]), "little", signed=True)
        if param["type"] == "int" and param["value"] != str(number):
            bad.append("value %s of %s, in truth %d" % (param["value"], param["name"], number))
        if param["type"].endswith("*") and param["value"] != hex(number):
            bad.append("value %s of %s, in truth %#x" % (param["value"], param["name"], number))
        fields = [[f["path"], f["type"], f["offset"], f["size"]] for f in param["fields"]]
        if fields != (VIEW if param["type"] == "View" else []):
            bad.append("fields %s of %s" % (fields, param["name"]))
    frame = report["focus"]["frames"][-1]
    if [(p["name"], p["type"]) for p in frame["params"] or []] != wanted:
        bad.append("the frame has parameters %s" % frame["params"])
    return bad


def check_owner(owner, truth, source):
    """The name of the parameter that the owner is, and of its field."""
    if owner["kind"] != "parameter" or truth["kind"].startswith("O3."):
        return []
    name, kind = source[truth["kernel"]][owner["parameter"]]
    field = {f[2]: f[0] for f in VIEW}.get(owner["offset"]) if kind == "View" else None
    text = "kernel parameter %d `%s`" % (owner["parameter"], name)
    if field:
        text += ", field `%s` (offset %d)" % (field, owner["offset"])
    if (owner["name"], owner["field"], owner["claim"]["text"]) != (name, field, text):
        return ["owner %s, %s: %s" % (owner["name"], owner["field"], owner["claim"]["text"])]
    return []


def check_place(report):
    """The sentence on top names the innermost line of the source, also where -G calls code of the compiler's own to get there."""
    own = [frame for frame in report["focus"]["frames"] if (frame["file"] or "").endswith("/faults.cu")]
    if own and "`faults.cu:%d`" % own[0]["line"] not in report["verdict"]["summary"]:
        return ["faults.cu:%d is not in: %s" % (own[0]["line"], report["verdict"]["summary"])]
    return []


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
    if truth["rank"] is not None and access["cluster_rank"] not in (truth["rank"], None):
        bad.append("block %s of the cluster" % access["cluster_rank"])
    if access["pc"] != truth["errorpc"]:
        bad.append("pc %s" % access["pc"])
    known, guilty = int(access["lanes_known"], 16) | int(access["lanes_likely"], 16), mask(truth["lanes"])
    for lane, address in access["address"].items():
        if known >> int(lane) & 1 and address != hex(truth["address"].get(lane, -1)):
            bad.append("lane %s: address %s, in truth %s" % (lane, address, truth["address"].get(lane)))
    suspects, cleared = int(access["suspects"], 16), int(access["cleared"], 16)
    if cleared & guilty:
        bad.append("cleared 0x%x, guilty 0x%x" % (cleared, guilty))
    everyone = all(known >> int(lane) & 1 for lane in truth["address"])
    if everyone and not int(access["lanes_guess"], 16) and suspects != guilty:
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
    with open(os.path.join(builders, "..", "kernels", "faults.cu"), encoding="utf-8") as handle:
        source = parameters(handle.read())
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([sys.executable, os.path.join(builders, "faults.py"), work], check=True)
        stems = sorted(name[:-len(".truth.json")] for name in os.listdir(work) if name.endswith(".truth.json"))
        stems = stems[::int(sys.argv[3]) if len(sys.argv) > 3 else 1]
        print("1..%d" % (len(stems) + 3))
        failed = named = exact = fields = 0
        for number, stem in enumerate(stems, 1):
            with open(os.path.join(work, stem + ".truth.json"), encoding="utf-8") as handle:
                truth = json.load(handle)
            done = subprocess.run([program, "report", "--json", os.path.join(work, stem + ".nvcudmp")], capture_output=True,
                                  text=True, check=False)
            bad, right, everyone = done.stderr.splitlines(), None, False
            if done.returncode == 0:
                report = json.loads(done.stdout)
                bad, right, everyone = compare(report, truth)
                owner = (access_of(report, truth) or {"owner": {"kind": "unknown"}})["owner"]
                bad += check_parameters(report, truth, source) + check_owner(owner, truth, source) + check_place(report)
                fields += bool(owner.get("field"))
            if right is False:
                bad.append("owner is not %s" % (truth["owner"],))
            if stem.endswith("wide_store"):
                bad += shown_data(program, os.path.join(work, stem + ".nvcudmp"), report)
            named += right is True
            exact += everyone
            print("%s %d - %s" % ("not ok" if bad else "ok", number, stem))
            for line in bad:
                print("# " + line)
            failed += bool(bad)
        enough = named >= OWNERS * len(stems)
        print("%s %d - owners named: %d of %d" % ("ok" if enough else "not ok", len(stems) + 1, named, len(stems)))
        sure = exact >= ADDRESSES * len(stems)
        print("%s %d - addresses of all lanes known: %d of %d" % ("ok" if sure else "not ok", len(stems) + 2, exact, len(stems)))
        print("%s %d - fields named: %d" % ("ok" if fields else "not ok", len(stems) + 3, fields))
    return 1 if failed or not enough or not sure or not fields else 0


if __name__ == "__main__":
    sys.exit(main())
