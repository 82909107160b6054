#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cli -> target/api -> cudbg -> core prints what cli -> core prints. Prints TAP.

usage: test_loop.py PROGRAM LIBRARY BUILDERS DUMP...

Each command runs twice, the second time through the shared library as a provider of the debugger API. What only a file knows
is stripped by STRIPPED, and by nothing else. Besides the dumps given, some scenarios of the builders are run.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

COMMANDS = [["report"], ["report", "--json"], ["regs"]] + [
    ["info", table] for table in ("devices", "contexts", "kernels", "sms", "blocks", "warps", "lanes", "modules")]
# Not here, because the API cannot say it: registers of grids before r570 (layout-*), host PCs (classic), blocks without warps
# (sparse-levels), lanes that are valid but lost (illegal-address-some-lanes).
SCENARIOS = ["assert", "trap", "recursion", "many-faults", "cluster-out-of-range", "cluster-block-gone", "two-kernels",
             "two-devices", "two-contexts", "shuffled", "gaps", "warp-gaps", "three-dimensions", "lightweight",
             "many-modules", "illegal-address-sm-row", "layout-r575", "layout-r615", "empty"]

# Of these the address of no suspect is in memory. Only a list of memory tells that from memory that was left out, and the API has
# none: through a provider the lanes cannot be told apart.
NO_REPORT = ["two-kernels", "warp-gaps"]

# What only a file knows: that it is one ("the dump", not "the device"), lines about the file, why an image is not there, which ranges of
# global memory there are, and the causes and commands that follow from these.
STRIPPED = [
    (re.compile(r"^    (dump|driver|written|left out) .*\n", re.M), ""),
    (re.compile(r"in this dump|on any device"), "here"),
    (re.compile(r"\b(on this|of this|in this|the|The|on the|in the) (dump|device)\b"), "here"),
    (re.compile(r"^- A requested dump normally has no exception\..*\n", re.M), ""),
    (re.compile(r"\bexcluded$", re.M), "       -"),
    (re.compile(r"^(    address +lane \d+: 0x[0-9a-f]+).*", re.M), r"\1"),
    (re.compile(r"^(.*; lane \d+ (?:probably )?\w+ \d+ bytes? (?:of|from|to|in) \w+ memory at 0x[0-9a-f]+).*", re.M), r"\1"),
    (re.compile(r"^(    suspects +\d+ of \d+ lanes?, 0x[0-9a-f]+).*", re.M), r"\1"),
    (re.compile(r"^Likely causes here:\n\n(- .*\n)*", re.M), ""),
    (re.compile(r"^What to try next:\n\n(- .*\n)*", re.M), ""),
    (re.compile(r"  +"), "  "),  # columns are as wide as these words
]
# Members of the JSON report that only a file has; and every "..._why".
FILE_MEMBERS = ("dump", "diagnostics", "dump_why", "where", "below", "above", "inside", "range_start", "range_size", "unmapped",
                "likely_causes", "commands", "next")


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if not key.endswith("_why") and key not in FILE_MEMBERS}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def strip(text, as_json):
    if as_json:
        text = json.dumps(plain(json.loads(text)), indent=1)
    for pattern, replacement in STRIPPED:
        text = pattern.sub(replacement, text)
    return re.sub(r"\n\n+", "\n\n", text)


def run(command, env):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    return done.returncode, done.stdout, done.stderr


def compare(program, library, dump, command):
    env = dict(os.environ, NO_COLOR="1")
    verb, rest = command[0], command[1:]
    straight = run([program, verb, *[word for word in rest if word.startswith("-")], dump,
                    *[word for word in rest if not word.startswith("-")]], env)
    around = run([program, verb, "--api-lib", library, *[word for word in rest if word.startswith("-")], dump,
                  *[word for word in rest if not word.startswith("-")]], env)
    if straight[0] != around[0]:
        return ["exit status %d, through the provider %d" % (straight[0], around[0])] + around[2].splitlines()[:3]
    if straight[0] != 0:
        return []
    as_json = "--json" in rest
    one, other = strip(straight[1], as_json).splitlines(), strip(around[1], as_json).splitlines()
    for a, b in zip(one + [""] * len(other), other + [""] * len(one)):
        if a != b:
            return ["straight: " + a, "provider: " + b]
    return []


def file_only(program, library, dump, folder):
    """Yields (name, whether it is so) of what has an answer only for a file."""
    out = os.path.join(folder, "stripped")
    for words, status, told in ((["check", dump], 1, "only a dump file can be checked"), (["info", dump, "sections"], 1, "only a dump file has this"),
                                (["info", dump, "metadata"], 1, "only a dump file has this"),
                                (["extract", dump, "section", "1", "-o", out], 1, "is not a file with sections")):
        found = run([program, words[0], "--api-lib", library, *words[1:]], None)
        yield " ".join(words[:1] + words[2:4]), found == (status, "", "warpscope: %s: %s\n" % (dump, told))
    for table in "sections", "metadata":
        found = run([program, "info", "--json", "--api-lib", library, dump, table], None)
        yield "info %s as data" % table, found[0] == 1 and json.loads(found[1])[table] is None
    found = run([program, "strip", "--api-lib", library, dump, "-o", out], None)
    yield "strip", found == (0, "%d bytes\n" % os.path.getsize(out), "")


def main():
    program, library, builders = sys.argv[1:4]
    everything = "--all" in sys.argv
    dumps = [os.path.abspath(path) for path in sys.argv[4:] if path != "--all"]
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        known = subprocess.run([sys.executable, builders, "--list"], capture_output=True, text=True, check=True).stdout.split()
        wanted = [name for name in SCENARIOS if name in known]
        if wanted:
            subprocess.run([sys.executable, builders, work, *wanted], check=True)
            dumps += [os.path.join(work, name + ".nvcudmp") for name in wanted]
        cases = [(dump, command) for dump in dumps for command in COMMANDS
                 if command[0] != "report" or not os.path.basename(dump).startswith(tuple(NO_REPORT))]
        cases = cases if everything else cases[::2]  # there is an odd number of commands: each of every second dump
        others = list(file_only(program, library, dumps[0], work))
        print("1..%d" % (len(cases) + len(others)))
        for number, (dump, command) in enumerate(cases, 1):
            bad = compare(program, library, dump, command)
            print("%s %d - %s of %s" % ("not ok" if bad else "ok", number, " ".join(command), os.path.basename(dump)))
            for line in bad:
                print("# " + line)
            failed += bool(bad)
        for number, (name, good) in enumerate(others, len(cases) + 1):
            print("%s %d - only of a file: %s" % ("ok" if good else "not ok", number, name))
            failed += not good
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
