#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing that the program says names an innocent lane. Prints TAP.

usage: test_suspects.py PROGRAM BUILDERS [EVERY]

Of each EVERYth planted fault (tests/data/faults), as it is and after each way of taking memory out of the dump: the guilty lanes
stay suspects; the lane that the headline names is guilty, and its address that of the truth; the thread of the headline, of
`regs`, of `disas --regs` and of the ring of the HTML page is the same; where nothing tells the lanes apart, the headline gives
the range of the suspects and of their addresses; a range of memory that a page names was in the whole dump.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

MODES = {
    "whole": None,
    "lightweight": ["--lightweight"],
    "keep fault": ["--lightweight", "--keep", "fault"],
    "keep fault, no flags": ["--lightweight", "--keep", "fault", "--layout", "r525"],
    "redact": ["--redact"],
    "for issue": ["--for-issue"],
}
RANGE = r"(\d+) bytes at (0x[0-9a-f]{8,})"  # of global memory


class Dump:
    def __init__(self, program, path):
        self.program, self.path = program, path
        self.report = json.loads(self.run("report", "--json"))
        self.summary = self.report["verdict"]["summary"]
        self.focus = self.report["focus"]
        self.suspects = self.focus["suspects"]
        self.access = (self.focus["accesses"] or [None])[0]

    def run(self, verb, *words):
        return subprocess.run([self.program, verb, *words, self.path], capture_output=True, text=True, check=True).stdout


def triple(place):
    return "(%d,%d,%d)" % tuple(place["threadIdx"])


def lanes_of(mask):
    return [lane for lane in range(32) if int(mask, 16) >> lane & 1]


def check_headline(dump, truth):
    bad, suspects, lanes = [], dump.suspects, lanes_of(dump.suspects["lanes"])
    if missing := set(truth["lanes"]) - set(lanes):
        bad.append("guilty lanes %s are no suspects" % sorted(missing))
    if suspects["stands_out"]:
        wanted = "thread " + triple(suspects["thread"])
        if suspects["thread"]["lane"] not in truth["lanes"]:
            bad.append("lane %d stands out, guilty are %s" % (suspects["thread"]["lane"], truth["lanes"]))
    else:
        wanted = "among threads %s to %s" % (triple(suspects["first"]), triple(suspects["last"]))
        if (suspects["first"]["lane"], suspects["last"]["lane"]) != (lanes[0], lanes[-1]):
            bad.append("suspects %s, first %s, last %s" % (lanes, suspects["first"], suspects["last"]))
    if wanted not in dump.summary:
        bad.append("no '%s' in: %s" % (wanted, dump.summary))
    for lane, address in re.findall(r"lane (\d+)[^;]*? at (0x[0-9a-f]+)", dump.summary):
        if int(lane) not in truth["lanes"] or address != hex(truth["address"].get(lane, -1)):
            bad.append("lane %s at %s, guilty are %s" % (lane, address, truth["lanes"]))
    for first, last in re.findall(r"suspects.* each of .* at (0x[0-9a-f]+)(?: to (0x[0-9a-f]+))?", dump.summary):
        known = int(dump.access["lanes_known"], 16) | int(dump.access["lanes_likely"], 16)
        addresses = [truth["address"][str(lane)] for lane in lanes if known >> lane & 1]
        if (first, last or first) != (hex(min(addresses)), hex(max(addresses))):
            bad.append("range %s to %s, in truth %x to %x" % (first, last, min(addresses), max(addresses)))
    return bad


def check_others(dump, ranges):
    """The other verbs and pages speak of the same thread."""
    bad, thread = [], dump.suspects["thread"]
    regs = json.loads(dump.run("regs", "--json"))
    disas = json.loads(dump.run("disas", "--json", "--regs"))["thread"]
    for verb, one in (("regs", regs["lanes"][0]), ("disas", disas)):
        if [one[key] for key in ("sm", "warp", "lane", "threadIdx")] != [thread[key] for key in ("sm", "warp", "lane", "threadIdx")]:
            bad.append("%s shows %s" % (verb, one["threadIdx"]))
    if (regs["focus"]["lane"], regs["focus"]["warp"]) != (dump.focus["lane"], dump.focus["warp"]):
        bad.append("the focus of regs is %s" % regs["focus"])
    html, text = dump.run("report", "--format", "html", "--no-source"), dump.run("report", "--no-source")
    rings = re.findall(r'class="ring" x="(\d+)" y="\d+" width="(\d+)" height="12"', html)
    ends = [thread["lane"]] * 2 if dump.suspects["stands_out"] else [dump.suspects[end]["lane"] for end in ("first", "last")]
    if rings != [(str(118 + 12 * ends[0]), str(12 * (ends[1] - ends[0] + 1)))]:
        bad.append("rings %s around lanes %s" % (rings, ends))
    cleared = thread["lane"] != dump.focus["lane"] and not int(dump.suspects["lanes"], 16) >> dump.focus["lane"] & 1
    if (", lane %d; this lane cannot be guilty" % dump.focus["lane"] in text) != cleared:
        bad.append("the row of the focus")
    for page in (text, html, json.dumps(dump.report)):
        innocent = set(map(int, re.findall(r"\blane (\d+):", page))) - set(lanes_of(dump.suspects["lanes"]))
        if innocent:
            bad.append("a page tells of lanes %s" % sorted(innocent))
        bad += ["a page tells of %s bytes at %s" % said for said in re.findall(RANGE, page) if said not in ranges]
    return bad


def check(program, source, truth, work):
    bad = []
    listed = subprocess.run([program, "info", "--json", source, "memory"], capture_output=True, text=True, check=True).stdout
    ranges = {(str(one["size"]), hex(int(one["start"], 16))) for one in json.loads(listed)["memory"]}
    for mode, words in MODES.items():
        path = source
        if words:
            path = os.path.join(work, "stripped.nvcudmp")
            subprocess.run([program, "strip", *words, source, "-o", path], capture_output=True, check=True)
        dump = Dump(program, path)
        bad += ["%s: %s" % (mode, line) for line in check_headline(dump, truth) + check_others(dump, ranges)]
    return bad


def main():
    program, builders = sys.argv[1:3]
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([sys.executable, os.path.join(builders, "faults.py"), work, "--every", str(every)], check=True)
        stems = sorted(name[:-len(".truth.json")] for name in os.listdir(work) if name.endswith(".truth.json"))
        print("1..%d" % len(stems))
        failed = 0
        for number, stem in enumerate(stems, 1):
            with open(os.path.join(work, stem + ".truth.json"), encoding="utf-8") as handle:
                truth = json.load(handle)
            bad = check(program, os.path.join(work, stem + ".nvcudmp"), truth, work)
            print("%s %d - %s" % ("not ok" if bad else "ok", number, stem))
            for line in bad:
                print("# " + line)
            failed += bool(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
