#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report says of planted hangs what waits for what, and of kernels that compute that nothing does. Prints TAP.

usage: test_hangs.py PROGRAM BUILDERS [EVERY]

The states are those of tests/data/hangs (README.md there), or each EVERYth of them. A hang is named exactly when each wait of the plan is in the report
with its kind, threads, numbers, absentees, word and what the word has to be; what the report does not know is missed, what it
says otherwise is wrong. Nothing may be wrong; RUNS are the hangs that may be missed. Then the blocks of `disas --cfg`: those that a
branch through a register leads to are those that the cubin's attributes list.
"""

import gzip
import json
import os
import struct
import subprocess
import sys
import tempfile

# The loop is not understood: a shortest way leaves the word out.
RUNS = {"G.sm_80.spin_with_limit", "G.sm_90.spin_with_limit", "G.sm_100.spin_with_limit"}
WORDS = {"not": "other", "equal": "equal", "at least": "at least"}


def number(text):
    return None if text is None else int(text, 16)


def is_read(address, reads):
    return any(start <= number(address) < start + size for start, size in reads)


def same_word(found, wanted, reads):
    """(wrong, missed) of address, value, owner and need of a wait for memory."""
    wrong, missed = [], []
    if found["address"] is None:
        missed.append("address")
    elif not is_read(found["address"], reads):
        wrong.append("address %s is not read" % found["address"])
    elif isinstance(wanted.get("address"), int) and number(found["address"]) != wanted["address"]:
        wrong.append("address %s" % found["address"])
    if found["value"] is None:
        missed.append("value")
    elif "value" in wanted and number(found["value"]) != wanted["value"]:
        wrong.append("value %s" % found["value"])
    if found["address"] and found["one_address"] != wanted.get("one", True):
        (wrong if found["one_address"] else missed).append("one address")
    if wanted.get("owner") is not None and found["owner"]["kind"] != "unknown" and \
            (found["owner"]["kind"], found["owner"]["parameter"]) != ("parameter", wanted["owner"]):
        wrong.append("owner %s %s" % (found["owner"]["kind"], found["owner"]["parameter"]))
    elif wanted.get("owner") is not None and found["owner"]["kind"] == "unknown":
        missed.append("owner")
    needs, until = wanted.get("needs"), found["until"]
    if needs and (until is None or until["value"] is None):
        missed.append("what it has to be")
    elif needs and (until["test"], number(until["value"]), until["met"]) != (WORDS[needs[0]], needs[1], False):
        wrong.append("until %s %s" % (until["test"], until["value"]))
    return wrong, missed


def same_object(found, wanted):
    wrong, missed = [], []
    known = found["object"]
    if known is None:
        return wrong, ["object"]
    for what, key in (("pending", "pending"), ("parity", "parity"), ("bytes_pending", "pending_bytes")):
        if known[key] != wanted[what]:
            wrong.append("%s %s" % (key, known[key]))
    if known["over"]:
        wrong.append("over")
    return wrong, missed


def absent(found):
    return sorted((a["state"], a["blocks"] or a["lanes"]) for a in found["absentees"] or [])


def merged(pairs):
    sums = {}
    for state, n in pairs:
        sums[state] = sums.get(state, 0) + n
    return sorted(sums.items())


def same_wait(found, wanted, reads):
    """(wrong, missed) of one wait."""
    wrong, missed = [], []
    for key in ("barrier", "expected", "missing", "never"):
        value = (found[key] or None) if key == "expected" else found[key]
        if wanted.get(key, "any") == "any" or (key == "missing" and wanted[key] is None):
            continue
        if value != wanted[key] and not (key == "missing" and found["missing_is_most"] and value >= wanted[key]):
            wrong.append("%s %s, in truth %s" % (key, value, wanted[key]))
    if "absent" in wanted and (wanted["kind"] != "mbarrier" or found["object"]):  # an object tells how many it waits for
        truth = merged((a["state"], a.get("blocks") or a["lanes"]) for a in wanted["absent"])
        if merged(absent(found)) != truth:
            wrong.append("absent %s" % (absent(found),))
    if wanted["kind"] == "grid":
        wrong += [] if found["missing"] == wanted["missing_blocks"] else ["blocks missing: %s" % found["missing"]]
        if found["address"] and not is_read(found["address"], reads):
            wrong.append("address %s is not read" % found["address"])
    if wanted["kind"] == "mbarrier":
        more = same_object(found, wanted)
        if found["address"] and not is_read(found["address"], reads):
            wrong.append("address %s is not read" % found["address"])
        wrong, missed = wrong + more[0], missed + more[1]
    if wanted["kind"] == "spin":
        more = same_word(found, wanted, reads)
        wrong, missed = wrong + more[0], missed + more[1]
    if found["collective"] != wanted.get("collective") and wanted["kind"] == "spin":
        wrong.append("collective %s" % found["collective"])
    return wrong, missed


def compare(report, truth, stem):
    """(what is wrong, what is missed)."""
    left, wrong, missed = list(report["waits"]), [], []
    reads = truth["reads"]
    verdict = report["verdict"]["kind"]
    if truth["verdict"] == "none" and (verdict != "none" or left):
        wrong.append("verdict %s, waits %s" % (verdict, [w["kind"] for w in left]))
    if truth["verdict"] == "hang" and verdict == "none":
        missed.append("verdict")
    for wanted in truth["waits"]:
        fits = [w for w in left if w["kind"] == wanted["kind"] and wanted["lanes"] in (None, w["lanes"]) and
                wanted.get("barrier", w["barrier"]) == w["barrier"]]
        if len(fits) > 1 and wanted["kind"] == "spin":
            fits = [w for w in fits if not same_wait(w, wanted, reads)[0]] or fits
        if not fits:
            missed.append("%s of %s threads" % (wanted["kind"], wanted["lanes"]))
            continue
        left.remove(fits[0])
        bad, gaps = same_wait(fits[0], wanted, reads)
        wrong += ["%s: %s" % (wanted["kind"], what) for what in bad]
        missed += ["%s: %s" % (wanted["kind"], what) for what in gaps]
    # what is left over: threads that wait for those of the plan, in their warp or block
    wrong += ["a wait of kind %s that nobody planned" % w["kind"] for w in left if w["kind"] in ("cluster", "grid", "mbarrier", "sleep", "registers")]
    if stem in RUNS and not wrong:
        return [], missed or ["understood: take it off the list"]
    return wrong, missed


# ---- branches through registers ----


def branches(data):
    """{branch: targets} as the attributes of the first kernel with any list them, and its name."""
    start, size, count, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * i) for i in range(count)]
    table, found = headers[names][4], {}
    for name, kind, _, _, offset, length, *_ in headers:
        name = data[table + name:data.index(0, table + name)].decode()
        if kind != 0x70000000 or not name.startswith(".nv.info."):
            continue
        at = offset
        while at + 4 <= offset + length:
            form, attribute, value = struct.unpack_from("<BBH", data, at)
            at += 4
            if form == 4 and attribute == 0x34:
                words = struct.unpack_from("<%dI" % (value // 4), data, at)
                while words:
                    found.setdefault(name[len(".nv.info."):], {})[words[0]] = set(words[3:3 + words[2]])
                    words = words[3 + words[2]:]
            at += value if form == 4 else 0
    return found


def check_branches(program, folder, path):
    with gzip.open(path) as handle:
        data = handle.read()
    cubin = os.path.join(folder, "switch.cubin")
    with open(cubin, "wb") as handle:
        handle.write(data)
    wrong, n = [], 0
    for kernel, edges in branches(data).items():
        done = subprocess.run([program, "disas", "--cfg", "--json", "--function", kernel, cubin], capture_output=True, check=True)
        for function in json.loads(done.stdout)["images"][0]["functions"]:
            if function["function_mangled"] != kernel:
                continue
            blocks = function["blocks"]
            for block in blocks:
                if "indirect" not in block["flags"]:
                    continue
                n += 1
                to = {blocks[i]["offset"] for i in block["successors"]}
                if to != edges.get(block["end"] - 16):
                    wrong.append("%s: a branch at %#x goes to %s" % (kernel, block["end"] - 16, sorted(map(hex, to))))
    return wrong + ([] if n else ["no branch through a register"])


def main():
    program, builders = sys.argv[1:3]
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    hangs = os.path.join(builders, "..", "data", "hangs")
    cubins = sorted(name for name in os.listdir(hangs) if name.startswith("hangs.O3") and name.endswith(".cubin.gz"))
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([sys.executable, os.path.join(builders, "hangs.py"), work, "--every", str(every)], check=True)
        stems = sorted(name[:-len(".truth.json")] for name in os.listdir(work) if name.endswith(".truth.json"))
        print("1..%d" % (len(stems) + len(cubins) + 1))
        failed = exact = hanging = 0
        for count, stem in enumerate(stems, 1):
            with open(os.path.join(work, stem + ".truth.json"), encoding="utf-8") as handle:
                truth = json.load(handle)
            done = subprocess.run([program, "report", "--json", "--no-source", os.path.join(work, stem + ".nvcudmp")],
                                  capture_output=True, text=True, check=False)
            wrong, missed = (compare(json.loads(done.stdout), truth, stem) if done.returncode == 0
                             else (done.stderr.splitlines(), []))
            hanging += truth["verdict"] == "hang"
            exact += truth["verdict"] == "hang" and not wrong and not missed
            print("%s %d - %s" % ("not ok" if wrong else "ok", count, stem))
            for line in wrong:
                print("# wrong: " + line)
            for line in missed:
                print("# missed: " + line)
            failed += bool(wrong)
        for count, name in enumerate(cubins, len(stems) + 1):
            wrong = check_branches(program, work, os.path.join(hangs, name))
            print("%s %d - the blocks of %s" % ("not ok" if wrong else "ok", count, name))
            for line in wrong:
                print("# " + line)
            failed += bool(wrong)
        enough = exact >= SHARE * hanging
        print("%s %d - hangs named exactly: %d of %d" % ("ok" if enough else "not ok", len(stems) + len(cubins) + 1, exact, hanging))
    return 1 if failed or not enough else 0


SHARE = 0.9

if __name__ == "__main__":
    sys.exit(main())
