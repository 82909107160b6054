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
             "illegal-address-some-lanes", "layout-r550", "two-kernels", "convergence", "exited-r550", "empty"]


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
    told_by_sm = SLOT["readSmException"]
    yield "masks of exceptions made from lanes", line(newest, "m", SLOTS, [told_by_sm])
    yield "NVIDIA's dump library, masks made from lanes", line((12, 8), "m", 142, rest + [told_by_sm])
    for fn in API.functions:
        for how in "nsu" if ALL else "nsu"[fn.slot % 3]:
            yield "without %s (%s)" % (fn.name, how), line(newest, how, SLOTS, [fn.slot])
    for name in DUMP_LIBRARY:
        yield "NVIDIA's dump library without %s" % name, line((12, 8), "u", 142, rest + [SLOT[name]])


# Words by which a text says less.
LESS = set("""cannot tell whether no exception in what is left of this dump on any here holds a fault unknown not known absent
    are warp warps resident lane lanes sm the one threads its lost had already left or gpu error that driver could classify and
    available has another suspects device block thread where they it knows at code image not there holds an memory among to first each of other""".split())
UNKNOWN = 0xffffffff
KIND = {"code", "name", "label", "cuda_gdb", "headline", "meaning", "family", "scope", "precision", "precision_instruction", "checks",
        "causes", "knows_instruction", "knows_lane"}
# What a report says of what it lacks: a provider that lacks functions has more of it.
MORE = {"dump", "diagnostics", "missing", "next", "commands", "accesses_text", "lost", "signature_parts"}
# The same in lists: what may have been, where nothing tells, and who is there, where it is not told who was meant.
UNTOLD = (("evidence", "common for this exception"), ("evidence", "what was at the addresses is not known"),
          ("evidence", "the list of resident blocks"))


def words(text):
    return {word.lower() for word in re.findall(r"[A-Za-z_]+|0x[0-9a-f]+|\d+", text)}


class Wrong(Exception):
    pass


def mask(text):
    return int(text, 16)


def misaligned(*facts):
    """The sentence of data/causes.txt that rests on these facts."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/causes.txt"), encoding="utf-8") as rules:
        rows = [[part.strip() for part in line.split("|")] for line in rules if line.startswith("cause alignment ")]
    return next(row[3] for row in rows if row[1].split() == ["MISALIGNED", *facts])


MISALIGNED = [misaligned("!BASE_ODD", "!BASE_EVEN"), misaligned("BASE_ODD"), misaligned("BASE_EVEN", "INDEX_LOADED"),
              misaligned("BASE_EVEN", "!INDEX_LOADED")]

# (end of the path, whether a value says less than the whole's): what is not absent and not equal, either.
RULES = [
    # counts are of what was found out
    (r"(_warps|_threads|_sms|_blocks|\.(lanes|warps|sms|threads))$", lambda m, w: type(m) is int and 0 <= m <= w),
    (r"\.waits\[.*", lambda m, w: type(m) is int and 0 <= m <= w),
    # who it was is known less exactly
    (r"\.attribution$", lambda m, w: (m, w) in (("suspects", "lane"), ("sm", "lane"), ("sm", "suspects"))),
    (r"\.suspects$", lambda m, w: not mask(w) & ~mask(m)),
    (r"\.(cleared|wrong|unmapped)$", lambda m, w: not mask(m) & ~mask(w)),
    (r"\.stands_out$", lambda m, w: not m),
    (r"accesses\[\d+\]\.((first|last)_address|lane)$|insns\[\d+\]\.values$", lambda m, w: True),  # of more suspects
    # what the hardware says of barriers and traps is not told
    (r"\.state$", lambda m, w: (m, w) in (("active", "barrier"), ("active", "trapped"))),
    (r"\.map\[\d+\]\.warps$", lambda m, w: len(m) <= len(w) and all(a in (b, ".") or a + b in ("AB", "AT") for a, b in zip(m, w))),
    # of those that are seen to wait; what the others do is looked up where the launch is known
    (r"^report\.signature$", lambda m, w: w.startswith("hang")),
    # whether the pointer or its offset is odd: either may be
    (r"likely_causes\[\d+\]\.text$", lambda m, w: m == MISALIGNED[0] and w in MISALIGNED[1:]),
    (r"\.waits\[.*\.(example|absentees\[\d+\])\.", lambda m, w: True),
    (r"\.(missing|missing_is_most)$", lambda m, w: True),
    (r"\.missing_text$", lambda m, w: m.startswith("at most ")),
    (r"\.kind$", lambda m, w: m == "unknown"),
    (r"precision.*\.text$", lambda m, w: "lost, or had left" in m),
]


def less_dict(what, masked, whole):
    if masked.get("code") == UNKNOWN:  # that there is an exception, and not which
        masked = {key: value for key, value in masked.items() if key not in KIND}
    if re.search(r"accesses\[\d+\]$", what) and masked.get("index") and masked["lane"] != whole["lane"]:
        # the index of another lane, whose registers may still have it
        masked = dict(masked, index={key: value for key, value in masked["index"].items() if key not in ("value", "element")})
    if what.endswith(".suspects") and not masked["stands_out"] and masked["lanes"] != whole["lanes"]:
        # it is the first of them, of whom there may be more
        masked = {key: masked[key] for key in ("stands_out", "lanes")}
        if int(whole["lanes"], 16) & ~int(masked.pop("lanes"), 16):
            raise Wrong("%s are fewer lanes" % what)
    for key, value in masked.items():
        if key not in MORE and not key.endswith("_why"):
            less("%s.%s" % (what, key), value, whole.get(key))


def less_list(what, masked, whole):
    """In the order of `whole`, with some left out."""
    at = 0
    for number, item in enumerate(masked):
        if isinstance(item, dict) and any(item.get(key) == value for key, value in UNTOLD):
            continue
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


def less(what, masked, whole):
    """Whether `masked` says the same as `whole`, or less."""
    if masked in (None, "", []) or masked == whole:
        return
    if isinstance(masked, dict) and isinstance(whole, dict):
        return less_dict(what, masked, whole)
    if isinstance(masked, list) and isinstance(whole, list):
        return less_list(what, masked, whole)
    if isinstance(masked, str) and isinstance(whole, str):
        if " " in masked and words(masked) - words(whole) <= LESS or "," in whole and masked in whole:
            return
    if whole is not None and any(re.search(path, what) and says_less(masked, whole) for path, says_less in RULES):
        return
    if isinstance(masked, str) and " " in masked:
        masked = "... " + " ".join(sorted(words(masked) - words(whole or "")))
    raise Wrong("%s is %s, of the whole %s" % (what, json.dumps(masked)[:110], json.dumps(whole)[:110]))


def groups_of(report, untold):
    """The groups by their place, with those of states that nothing tells among the active ones."""
    found = {}
    for group in report["groups"]:
        state = "active" if group["state"] in untold else group["state"]
        one = found.setdefault((group["pc"], state), dict(group, state=state, warps=0, lanes=0))
        for count in ("warps", "lanes"):
            one[count] += group[count]
        if "faulted" in untold:  # which of its threads comes first depends on who is blamed
            one["example"] = None
    return [found[key] for key in sorted(found)]


def judge(masked, whole):
    if masked.startswith("-"):
        if "initialize" not in masked and "before 6.0" not in masked:
            raise Wrong("it does not start: " + masked[1:])
        return
    text, masked, whole = masked, json.loads(masked), json.loads(whole)
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
    if kinds[0] != kinds[1]:  # then the code is listed, and a thread is shown whom nobody blames
        masked.pop("code")
        if masked["focus"] and masked["focus"]["attribution"] == "nobody":
            masked.pop("focus")
    untold = [state for state, word in (("barrier", '"barrier_warps": null'), ("trapped", "whether it stopped at a trap"),
                                        ("faulted", "tells of exceptions of SMs")) if word in text]
    if "faulted" in untold:
        for sm in whole["map"]:
            sm["warps"] = sm["warps"].replace("F", "A")
    masked["groups"], whole["groups"] = groups_of(masked, untold), groups_of(whole, untold)
    less("report", masked, whole)


# Changes that say something else, of the report on the first dump: the comparison must see each.
FALSE = (lambda r: r["verdict"].update(kind="none"), lambda r: r["devices"][0].update(resident_warps=10 ** 6),
         lambda r: r["kernels"][0].update(device=7), lambda r: r["exceptions"][0].update(kernel=7),
         lambda r: r["exceptions"][0]["frames"][0].update(level=3), 
         lambda r: r["exceptions"][0]["findings"].append({"text": "a false word", "evidence": "none", "confidence": "certain"}),
         lambda r: r["exceptions"][0]["likely_causes"].append({"text": "a false word", "evidence": "seen", "confidence": "likely"}),
         lambda r: r["groups"][0].update(line=1), lambda r: r["groups"][0].update(warps=10 ** 6),
         lambda r: r["map"][0].update(exception=77), lambda r: r["map"][0].update(warps="D" * 64),
         lambda r: r["waits"].append({"kind": "barrier"}), lambda r: r["focus"].update(name="WARP_NONSENSE"))


def unseen(whole):
    """Numbers of the false reports that pass."""
    for number, change in enumerate(FALSE):
        report = json.loads(whole)
        change(report)
        try:
            judge(json.dumps(report), whole)
        except Wrong:
            continue
        yield number


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
        fixed = len(versions()) + 5
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
            if number == 1:
                bad += ["false report %d passes" % one for one in unseen(found[0])]
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
