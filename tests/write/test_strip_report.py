#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report of a stripped dump against that of the original. Prints TAP.

usage: test_strip_report.py PROGRAM [EVERY]

Of each EVERYth dump of the builders (scenarios, planted faults, planted hangs) and each thing that `strip` can take away: members of the
JSON report differ only where docs/man/warpscope-strip.1.scd, WHAT IS LOST, says that they may. What is kept always, by every way of
stripping: the kind of verdict, exceptions with their codes, kernels, addresses, frames and counts, the signature, the start of the
headline up to the block; no suspect is lost, and when there are more of them or fewer addresses are known, the dump says what was taken
away.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "builders"))
import everything  # noqa: E402

# What a way of stripping may change, as regular expressions of member paths without the numbers of elements.
ALWAYS = [r"dump\.(path|bytes|flags|layout|stripped)", r"diagnostics"]  # parts that this version does not know are not copied
E = r"(exceptions|focus)\."
VALUES = [r"verdict\.summary", E + r"(suspects|precision|precision_thread|likely_causes|commands|findings|assertion|accesses_text|variables_lane|variables\.(value|in_address))\b",
          E + r"insns\.values", E + r"accesses\.(?!pc|instruction|found|direction|width|async|lanes$|cluster_rank)", r"next", r"missing",
          r"kernels\.params\.", r"waits\b", r"verdict\.waiting\w*"]
WHO = [r"verdict\.\w*_(warps|threads)", r"devices\.resident_\w+", r"kernels\b", r"groups\b", r"waits\b", r"(waiting|barrier|resident)\w*", r"map\b", r"missing",
       E + r"(findings|likely_causes|commands)\b", r"next", r"image\.", r"verdict\.summary"]
LOSES = {
    "images": (["--skip", "images"], []),
    "global": (["--skip", "global"], VALUES),
    "shared": (["--skip", "shared"], VALUES),
    "local": (["--skip", "local"], VALUES),
    "constbank": (["--skip", "constbank"], VALUES),
    "keep fault": (["--lightweight", "--keep", "fault"], VALUES),
    "others": (["--others"], WHO),
    "redact": (["--redact"], VALUES + [E + r"(driver_text|kind)\b", r"image\.options"]),
    "drop-ptx": (["--drop-ptx"], [r"image\.options"]),
    "drop-paths": (["--drop-paths"], [r".*\b(file|path)$", r"missing", r"image\.(options|tool_build)", r"verdict\.summary",
                                      E + r"assertion\b"]),  # its words lie among literals that hold paths
    "for issue": (["--for-issue"], VALUES + WHO + [r".*\b(file|path)$", r"image\.(options|tool_build)", E + r"driver_text\b"]),
}
SAYS = {"images": 1, "global": 2, "shared": 4, "local": 8, "constbank": 32, "keep fault": 47, "for issue": 47}


def members(value, path=""):
    if isinstance(value, dict):
        for key, one in value.items():
            yield from members(one, path + "." + key if path else key)
    elif isinstance(value, list):
        yield path + "#", len(value)
        for one in value:
            yield from members(one, path)
    else:
        yield path, value


def flat(report):
    found = {}
    for path, value in members(report):
        path = re.sub(r"_why$", "", path).rstrip("#")
        found.setdefault(path, []).append(value)
    return found


def start(summary):
    """Of the headline: what and where, without what a value may tell."""
    summary = re.sub(r"^(Assertion failed): .*?; in ", r"\1 in ", summary)
    summary = re.sub(r"(; device \d+, (?:block \S+|SM \d+, warp \d+)), .*", r"\1", summary)
    return re.sub(r"^(Hang suspected in kernel `?\w+).*", r"\1", summary)  # values tell who waits for whom, and so which line


def suspects(report):
    one = (report["focus"] or {}).get("suspects")
    return int(one["lanes"], 16) if one else 0


def is_lost(old, new):
    """Whether elements are only no longer known."""
    return new is not None and set(new) <= set(old or []) | {None, "absent"}


def compare(before, after, mode):
    bad, allowed = [], ALWAYS + LOSES[mode][1]
    old, new = flat(before), flat(after)
    for path in sorted(set(old) | set(new)):
        if path.endswith("cluster_rank") and VALUES[0] in allowed and is_lost(old.get(path), new.get(path)):
            continue  # it is part of an address
        if old.get(path) != new.get(path) and not any(re.match(one, path) for one in allowed):
            bad.append("%s is %s, was %s" % (path, str(new.get(path))[:120], str(old.get(path))[:120]))
    if start(before["verdict"]["summary"]) != start(after["verdict"]["summary"]):
        bad.append("the headline: %s, was: %s" % (after["verdict"]["summary"], before["verdict"]["summary"]))
    if suspects(before) & ~suspects(after):
        bad.append("lanes %#x can be guilty, before %#x" % (suspects(after), suspects(before)))
    said = int(after["dump"]["flags"] or "0x0", 16)
    if SAYS.get(mode, 0) & ~said and after["dump"]["flags"]:
        bad.append("the dump says that it lacks %#x" % said)
    if ("values" in after["dump"]["stripped"]) != (mode in ("redact", "for issue")):
        bad.append("the dump says %s" % after["dump"]["stripped"])
    return bad


def report(program, path):
    done = subprocess.run([program, "report", "--json", "--no-source", path], capture_output=True, text=True, check=False)
    said = json.loads(done.stdout.replace(json.dumps(path)[1:-1], "DUMP"))  # commands name it
    for one in said["exceptions"] + [said["focus"] or {}]:  # numbers change when kernels are left out
        if one.get("kernel") is not None:
            one["kernel"] = said["kernels"][one["kernel"]]["name_mangled"]
    return said


def check(program, dump, work):
    before, out, bad = report(program, dump), os.path.join(work, "out.nvcudmp"), []
    if not before["dump"]["complete"]:
        return []  # what a cut dump lacks is not known any more, only that it does
    for mode, (words, _) in LOSES.items():
        done = subprocess.run([program, "strip", *words, dump, "-o", out], capture_output=True, text=True, check=False)
        if done.returncode:
            bad.append("%s: %s" % (mode, done.stderr.strip()))
            continue
        bad += ["%s: %s" % (mode, line) for line in compare(before, report(program, out), mode)]
    return bad


def main():
    program = sys.argv[1]
    every = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as work:
        dumps = everything.dumps(work, every)
        print("1..%d" % len(dumps))
        failed = 0
        for number, dump in enumerate(dumps, 1):
            bad = check(program, dump, work)
            print("%s %d - %s" % ("not ok" if bad else "ok", number, os.path.relpath(dump, work)))
            for line in bad:
                print("# " + line)
            failed += bool(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
