#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Over a provider that lacks functions the report says what it says over a whole one, or less, and never something else.
Prints TAP.

usage: test_masks.py MASKED BUILDERS SOURCE_ROOT [--all] DUMP...

MASKED (masked.c) takes functions out of our own table over a dump: each one in turn, all that a version did not have yet, and
all but those that NVIDIA's dump library of 12.8 has. Without --all, a sample of them with a fixed seed.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile

ALL = "--all" in sys.argv
MASKED, BUILDERS, ROOT = (os.path.abspath(path) for path in [arg for arg in sys.argv[1:] if arg != "--all"][:3])
sys.path.insert(0, os.path.join(ROOT, "tools"))

import api_model  # noqa: E402

API = api_model.load(os.path.join(ROOT, "src/cudbg/api"))
SLOTS = len(API.functions)
SLOT = {fn.name: fn.slot for fn in API.functions}
# [public doc: the table in NVIDIA's cuda-gdb 12.8, which is free software]
DUMP_LIBRARY = """initialize finalize readThreadIdx readBrokenWarps readValidWarps readValidLanes readActiveLanes readCodeMemory
    readConstMemory129 readParamMemory readSharedMemory readLocalMemory readRegister readPC readVirtualPC readLaneStatus getBlockDim
    getTID getElfImage32 getDeviceType getSmType getNumDevices getNumSMs getNumWarps getNumLanes getNumRegisters disassemble
    lookupDeviceCodeSymbol getGridAttribute getGridAttributes readLaneException readGlobalMemory55 readBlockIdx getGridDim
    readCallDepth readReturnAddress readVirtualReturnAddress getElfImage readSyscallCallDepth readGridId getGridStatus
    getDevicePCIBusInfo getAdjustedCodeAddress readErrorPC getNextEvent getElfImageByHandle readRegisterRange60 readGenericMemory
    readGlobalMemory getManagedMemoryRegionInfo isDeviceCodeAddress readPredicates getNumPredicates readCCRegister getDeviceName
    readDeviceExceptionState getNumUniformRegisters readUniformRegisterRange getNumUniformPredicates readUniformPredicates
    readClusterIdx getErrorStringEx getConstBankAddress123 getConstBankAddress readAllVirtualReturnAddresses readSmException
    getGridInfo getClusterDim readWarpState127 getClusterExceptionTargetBlock readWarpResources""".split()
SCENARIOS = ["many-faults", "illegal-address-sm-row", "cluster-out-of-range", "trap", "assert", "two-devices",
             "illegal-address-some-lanes", "layout-r550", "two-kernels", "convergence", "empty"]


def versions():
    """(version, number of slots) of every version that added some."""
    found = {}
    for fn in API.functions:
        found.setdefault(tuple(int(part) for part in fn.since.split(".")), 0)
    return [(version, sum(tuple(int(part) for part in fn.since.split(".")) <= version for fn in API.functions))
            for version in sorted(found)]


def masks():
    """(name, line for MASKED)."""
    def line(version, how, past, slots):
        return "%d %d %s %d %s" % (*version, how, past, " ".join(str(slot) for slot in sorted(slots)))
    newest = (13, 4)
    rest = [SLOT[name] for name in SLOT if name not in DUMP_LIBRARY and SLOT[name] < 142]
    for version, n in versions():
        yield "functions of %d.%d" % version, line(version, "n", n, [])
    for how in "nsu":
        yield "NVIDIA's dump library (%s)" % how, line((12, 8), how, 142, rest)
    for fn in API.functions:
        for how in "nsu" if ALL else "nsu"[fn.slot % 3]:
            yield "without %s (%s)" % (fn.name, how), line(newest, how, SLOTS, [fn.slot])
    for name in DUMP_LIBRARY:
        yield "NVIDIA's dump library without %s" % name, line((12, 8), "u", 142, rest + [SLOT[name]])


# Words by which a text says less.
LESS = set("""cannot tell whether no exception in what is left of this dump process here holds a fault unknown not known absent
    are warp warps resident lane lanes sm the one threads its lost had already left or gpu error that driver could classify and
    another suspects device block thread where they it knows at code image not there holds an memory among to first each of other""".split())


def words(text):
    return {word.lower() for word in re.findall(r"[A-Za-z_]+|0x[0-9a-f]+|\d+", text)}


class Wrong(Exception):
    pass


def less(what, masked, whole):
    """Whether `masked` says the same as `whole`, or less."""
    if masked in (None, "", []) or masked == whole or (what.endswith((".lanes", ".warps")) and masked == 0):
        return
    if isinstance(masked, dict) and isinstance(whole, dict):
        if masked.get("code") == UNKNOWN:  # that there is an exception, and not which
            masked = {key: value for key, value in masked.items() if key not in KIND}
        if what.endswith(".suspects") and not masked["stands_out"]:  # it is the first of them, of whom there may be more
            masked = {key: masked[key] for key in ("stands_out", "lanes")}
            if int(whole["lanes"], 16) & ~int(masked.pop("lanes"), 16):
                raise Wrong("%s are fewer lanes" % what)
        for key, value in masked.items():
            if key not in LOOSE and not key.endswith("_why"):
                less("%s.%s" % (what, key), value, whole.get(key))
        return
    if isinstance(masked, list) and isinstance(whole, list):
        at = 0
        for number, item in enumerate(masked):  # in the order of `whole`, with some left out
            wrong = None
            while at < len(whole):
                at += 1
                try:
                    less("%s[%d]" % (what, number), item, whole[at - 1])
                except Wrong as here:
                    wrong = wrong or here
                else:
                    break
            else:
                raise wrong or Wrong("%s[%d] is %s, of nothing" % (what, number, json.dumps(item)[:90]))
        return
    if isinstance(masked, str) and isinstance(whole, str) and " " in masked and words(masked) - words(whole) <= LESS:
        return
    if isinstance(masked, str) and isinstance(whole, str) and "," in whole and masked in whole:
        return
    if what.endswith(".state") and (masked, whole) == ("active", "barrier"):
        return  # what the hardware says of barriers is not told
    if what.endswith(".attribution") and (masked, whole) in (("suspects", "lane"), ("sm", "lane"), ("sm", "suspects")):
        return  # who it was is known less exactly
    if what.endswith(".suspects") and not int(whole, 16) & ~int(masked, 16):
        return  # fewer lanes are cleared
    if what == "report.signature" and whole.startswith("hang"):
        return  # of those that are seen to wait
    if what.endswith("precision.text") and "lost, or had left" in masked:
        return
    if what.endswith(".stands_out") and not masked:
        return  # one lane cannot be told from the others
    if what.endswith((".cleared", ".wrong")) and not int(masked, 16) & ~int(whole, 16):
        return
    if what.endswith("_address") and re.search(r"accesses\[\d+\]\.(first|last)_address$", what):
        return  # of all suspects, of whom there may be more
    if re.search(r"accesses\[\d+\]\.lane$|insns\[\d+\]\.values$", what):
        return  # of the first of the suspects, of whom there may be more
    if ".waits[" in what and isinstance(masked, int) and 0 <= masked <= whole:
        return  # warps whose wait is found out
    if ".waits[" in what and re.search(r"\.(example|absentees\[\d+\])\.", what):
        return  # one of the warps that wait; what the others do is looked up where the launch is known
    if what.endswith((".missing", ".missing_is_most")) or (what.endswith(".missing_text") and masked.startswith("at most ")):
        return  # the others may have come, too
    if what.endswith(".kind") and masked == "unknown":
        return
    if isinstance(masked, str) and " " in masked:
        masked = "... " + " ".join(sorted(words(masked) - words(whole or "")))
    raise Wrong("%s is %s, of the whole %s" % (what, json.dumps(masked)[:110], json.dumps(whole)[:110]))


# Numbers of what was read, positions in shorter lists, what follows from what is missing.
UNKNOWN = 0xffffffff
KIND = {"code", "name", "label", "cuda_gdb", "headline", "meaning", "family", "scope", "precision", "precision_instruction", "checks"}
LOOSE = {"faulted_sms", "barrier_warps", "resident_warps", "waiting_warps", "resident_threads", "level", "kernel", "unmapped",
         "diagnostics", "missing", "next", "dump", "code", "causes", "likely_causes", "findings", "knows_instruction", "commands", "map",
         "groups", "lost", "evidence", "accesses_text", "hardware_warps",
         "signature_parts"}


def judge(masked, whole):
    if masked.startswith("-"):
        if "initialize" not in masked and "before 6.0" not in masked:
            raise Wrong("it does not start: " + masked[1:])
        return
    masked, whole = json.loads(masked), json.loads(whole)
    kinds = masked["verdict"]["kind"], whole["verdict"]["kind"]
    if kinds[0] not in (kinds[1], "unknown"):
        raise Wrong("the verdict is %s, of the whole %s" % kinds)
    summary = masked["verdict"].pop("summary")
    if not ((masked["focus"] or {}).get("suspects") or {"stands_out": True})["stands_out"]:
        summary = summary.split("; device")[0]  # the lanes cannot be told apart: a range of threads and addresses follows
    # a hang is told by the wait that others wait for; when that is not seen, by another of the waits
    if kinds[0] == "fault" and not words(summary) - words(json.dumps(whole)) <= LESS:
        raise Wrong("the summary says %s, of the whole: %s" % (summary, whole["verdict"]["summary"]))
    masked["verdict"]["kind"] = kinds[1]
    less("report", masked, whole)


def reports(dump, lines):
    done = subprocess.run([MASKED, dump], input=("\n".join(lines) + "\n").encode(), capture_output=True, check=False)
    found, text = [], done.stdout
    while text:
        head, _, text = text.partition(b"\n")
        if head.startswith(b"-"):
            found.append(head.decode())
        else:
            found.append(text[:int(head)].decode())
            text = text[int(head):]
    return found, done.stderr.decode()


def main():
    chosen = list(masks())
    scenarios, dumps = SCENARIOS, [os.path.abspath(arg) for arg in sys.argv[4:] if arg != "--all"]
    if not ALL:
        scenarios = scenarios[:4]
        fixed = len(versions()) + 3
        chosen = chosen[:fixed] + random.Random(14).sample(chosen[fixed:], 90)
    number = failed = 0
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([sys.executable, BUILDERS, work, *scenarios], check=True)
        dumps += [os.path.join(work, name + ".nvcudmp") for name in scenarios]
        print("1..%d" % len(dumps))
        for dump in dumps:
            number += 1
            found, err = reports(dump, ["13 4 n %d " % SLOTS] + [line for _, line in chosen])
            bad = [] if len(found) == len(chosen) + 1 else ["%d of %d reports: %s" % (len(found), len(chosen) + 1, err)]
            for (name, _), masked in zip(chosen, found[1:]):
                try:
                    judge(masked, found[0])
                except Wrong as wrong:
                    bad.append("%s: %s" % (name, wrong))
            print("%s %d - %s, %d providers" % ("not ok" if bad else "ok", number, os.path.basename(dump), len(chosen)))
            for line in bad[:200 if ALL else 20]:
                print("# " + line)
            failed += bool(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
