#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The thread that `cuda WORD NUMBER...` chooses against cuda-gdb 12.4. Prints TAP.

usage: focus.py WARPSCOPE

From threads drawn by chance, both debuggers follow commands of one to three coordinates drawn by chance, over dumps of several kernels and
devices. Where cuda-gdb goes somewhere, or stays, the prompt must be at the same thread with the same numbers. Where cuda-gdb refuses, the
prompt may refuse or go to a thread that has the coordinates.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "builders")]

import build  # noqa: E402
import peer  # noqa: E402

SCENARIOS = ("two-kernels", "two-devices", "shuffled", "warp-gaps")
WORDS = ("device", "sm", "warp", "lane", "kernel", "grid", "block", "thread")
N, LEAST = 150, 60  # commands; how many of them cuda-gdb must have followed
PLACE = re.compile(r"kernel (\d+), grid (\d+), (?:cluster \S+ )?block (\S+), thread (\S+), device (\d+), sm (\d+), warp (\d+), lane (\d+)")


def threads(program, dump):
    """Every thread by its words."""
    def table(*words):
        return json.loads(subprocess.run([program, "info", "--json", dump, *words], capture_output=True, text=True, check=True).stdout)[words[0]]
    warps = {(one["device"], one["sm"], one["warp"]): one for one in table("warps", "device", "any", "sm", "any")}
    grids = {one["kernel"]: one["grid"] for one in table("kernels")}
    rows = []
    for lane in table("lanes", "device", "any", "sm", "any", "warp", "any"):
        warp = warps[lane["device"], lane["sm"], lane["warp"]]
        rows.append({**{word: lane[word] for word in WORDS[:4]}, "kernel": warp["kernel"], "grid": grids[warp["kernel"]],
                     "block": "({},{},{})".format(*warp["blockIdx"]), "thread": "({},{},{})".format(*lane["threadIdx"])})
    return rows


def script(rows, chance):
    """[(command, its words)]; before each, one that goes to a thread by all numbers of its hardware."""
    out = []
    for _ in range(N):
        at, target = chance.choice(rows), chance.choice(rows)
        given = {word: (target if chance.random() < .85 else chance.choice(rows))[word] for word in chance.sample(WORDS, chance.choice((1, 1, 1, 2, 3)))}
        out += [("cuda " + " ".join(f"{word} {at[word]}" for word in WORDS[:4]), None), (peer.FOCUS, None),
                ("cuda " + " ".join(f"{word} {number}" for word, number in given.items()), given), (peer.FOCUS, None)]
    return out


def ours_of(program, dump, commands):
    words = [word for one in commands for word in ("-ex", f"echo >>> {one}\\n", "-ex", one)]
    return subprocess.run([program, "shell", "--batch", *words, dump], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120, check=False).stdout


def said(text):
    return [one.split("\n", 1)[-1] for one in re.split(r"(?:^|\n|(?<=\n))>>> ", text)[1:]]


def place(text):
    found = PLACE.search(text)
    return found and dict(zip(("kernel", "grid", "block", "thread", "device", "sm", "warp", "lane"), found.groups()))


def check(program, peers, folder, name):
    """(how many were followed, what is wrong)"""
    dump = os.path.join(folder, name + ".nvcudmp")
    with open(dump, "wb") as file:
        file.write(build.build(name)[0])
    asked = script(threads(program, dump), random.Random(name))
    commands = [one for one, _ in asked]
    ours, theirs = said(ours_of(program, dump, commands)), said(peer.run(peers, dump, commands))
    if len(ours) != len(asked) or len(theirs) != len(asked):
        return 0, f"{len(ours)} and {len(theirs)} answers of {len(asked)}"
    followed = 0
    for i in range(0, len(asked), 4):
        command, given = asked[i + 2]
        here, after, want = place(theirs[i + 1]), place(ours[i + 3]), place(theirs[i + 3])
        if place(ours[i + 1]) != here:
            return followed, f"{commands[i]}: {ours[i + 1]} -- cuda-gdb: {theirs[i + 1]}"
        if "Invalid coordinates" not in theirs[i + 2]:
            followed += 1
            if after != want or ("unchanged" in ours[i + 2]) != ("unchanged" in theirs[i + 2]):
                return followed, f"from {here} {command}: {after} -- cuda-gdb: {want}"
        elif after != here and any(after[word] != str(number) for word, number in given.items()):
            return followed, f"from {here} {command}: {after}"
    return followed, None if followed >= LEAST else f"only {followed} were followed"


def main():
    program = os.path.abspath(sys.argv[1])
    peers, why = peer.find()
    failed = 0
    print(f"1..{len(SCENARIOS)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(SCENARIOS, 1):
            if why:
                print(f"ok {number} - {name} # SKIP {why}")
                continue
            followed, wrong = check(program, peers, folder, name)
            failed += wrong is not None
            print(f"{'not ok' if wrong else 'ok'} {number} - {name}: {followed} of {N} followed")
            if wrong:
                print(f"# {wrong}")
    return 1 if failed else 0


sys.exit(main())
