#!/usr/bin/env python3
"""Compares dumps with cuda-gdb 12.4 (TAP).

  cudagdb.py --builder              what cuda-gdb shows is what the builder planted (the proof of the fixtures)
  cudagdb.py --program WARPSCOPE    what the program reports is what cuda-gdb shows
  --written WARPSCOPE    the same, of dumps that the program wrote from those of the builder
  --stripped WARPSCOPE   fault, focus, pc and errorpc of dumps that it stripped for an issue
  --scenario NAME                   only these scenarios (may repeat)

Scenarios that cuda-gdb cannot show (README.md) are skipped here: tests/cli/test_report_truth.py holds the program to the
planted truth of all of them. Needs the peers script: WARPSCOPE_PEERS, or ../shared/tools/peers beside the repository.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "builders")]

import build  # noqa: E402
import peer  # noqa: E402

LABELS = {  # as 12.4 prints them; None: it prints no name
    1: None, 2: "Lane User Stack Overflow", 3: "Device Hardware Stack Overflow", 4: "Warp Illegal Instruction",
    5: "Warp Out-of-range Address", 6: "Warp Misaligned Address", 7: "Warp Invalid Address Space",
    8: "Warp Invalid PC", 9: "Warp Hardware Stack Overflow", 10: "Device Illegal Address",
    12: "Warp Assert", 13: "Lane Syscall Error", 14: "Warp Illegal Address", 17: "Cluster out of range address",
    18: "Cluster target block not present",
}
UNKNOWN = "Device Unknown Exception"


class Mismatch(Exception):
    pass


def same(what, got, expected):
    if got != expected:
        raise Mismatch(f"{what}: {got!r}, expected {expected!r}")


def bare(name):
    """A local callee is called "$kernel$function" in the image."""
    return name.rsplit("$", 1)[-1] if name else name


# ---------------------------------------------------------------------------------------------------------------------
# cuda-gdb against the planted truth


def check_place(what, place, seen):
    """What cuda-gdb shows of an address against the planted place."""
    if place["symbol"] is None:
        return
    same(what + " section", seen.symbol and seen.symbol[2], place["section"])
    same(what + " function", seen.symbol[0], place["symbol"])
    same(what + " offset", seen.symbol[1], int(place["offset"], 16))
    chain = [(f["file"], f["line"]) for f in place["chain"]]
    if not chain:
        same(what + " line", seen.line, None)
    elif place["rows"] == 1:
        same(what + " line", seen.line, chain[0])
        same(what + " inlined", seen.inlined, place["chain"][0]["function_mangled"] if len(chain) > 1 else None)
    elif seen.line not in chain:  # several rows at this address: it takes any of them (README.md)
        raise Mismatch(f"{what} line: {seen.line} is nowhere in {chain}")


def check_builder(facts, seen):
    focus = facts["focus"]
    code = facts["code"]
    if code:
        same("label", seen.label, LABELS.get(code, UNKNOWN))
    same("trap", seen.trap, facts["trap"])
    same("no exception", seen.no_exception, not code and not facts["trap"])
    same("focus", seen.focus, {k: focus[k] for k in ("grid", "blockIdx", "threadIdx", "device", "sm", "warp", "lane")})
    same("pc", seen.pc, int(focus["pc"]["address"], 16))
    check_place("pc", focus["pc"], seen.pc_place)
    if focus["errorpc"]:
        same("errorpc", seen.errorpc, int(focus["errorpc"]["address"], 16))
        check_place("errorpc", focus["errorpc"], seen.errorpc_place)
    # Frames in system code are not shown: the first shown is then a caller.
    above = focus["frames"][max(focus["syscall_frames"] - 1, 0):]
    for got, frame in zip(seen.frames[0 if focus["syscall_frames"] else 1:], above):
        same("frame", got["address"], int(frame["return_address"], 16))
        chain = frame["call"]["chain"]
        if chain and frame["call"]["rows"] == 1:
            same("frame line", (got["file"], got["line"]), (chain[0]["file"], chain[0]["line"]))
    same("frames", len(seen.frames), min(len(above) + (not focus["syscall_frames"]), 8))
    for name, value in focus["registers"].items():
        if not name.startswith("P"):  # it calls predicates unavailable
            same(name, seen.value(peer.register(name)), value)
    for word in facts["memory"]:
        same(f"{word['space']} {word['address']:#x}", seen.value(peer.memory(word["space"], word["address"])),
             word["value"])
    for v in facts["variables"]:
        same(f"variable {v['name']} of frame {v['frame']}", seen.value(peer.variable(v["frame"], v["name"])), v["value"])
    same("kernels", sorted(grid_of(row) for row in seen.kernels), sorted(k["grid"] for k in facts["kernels"]))


def check_stripped(facts, seen):
    """What a dump keeps that lost its memory, values and other threads."""
    focus = facts["focus"]
    if facts["code"]:
        same("label", seen.label, LABELS.get(facts["code"], UNKNOWN))
    same("trap", seen.trap, facts["trap"])
    same("focus", seen.focus, {k: focus[k] for k in ("grid", "blockIdx", "threadIdx", "device", "sm", "warp", "lane")})
    same("pc", seen.pc, int(focus["pc"]["address"], 16))
    if focus["errorpc"]:
        same("errorpc", seen.errorpc, int(focus["errorpc"]["address"], 16))


def grid_of(row):
    """The grid column of a row of "info cuda kernels" (the focus mark is a column of its own)."""
    return int(row[4] if row[0] == "*" else row[3])


# ---------------------------------------------------------------------------------------------------------------------
# The program against cuda-gdb


def hexes(value):
    return int(value, 16) if isinstance(value, str) else None


def check_frames(what, frames, address, seen, rows):
    """The program's frames at one pc against cuda-gdb's one step."""
    mine = [f for f in frames if hexes(f["pc"]) == address]
    if not mine:
        raise Mismatch(f"{what}: no frame with pc {address:#x}")
    if seen.symbol:
        same(what + " function", bare(mine[-1]["function_mangled"]), bare(seen.symbol[0]))
    if seen.line and rows == 1:
        same(what + " line", (mine[0]["file"], mine[0]["line"]), seen.line)
        same(what + " inlined", mine[0]["function_mangled"] if len(mine) > 1 else None, seen.inlined)
    elif seen.line and seen.line not in [(f["file"], f["line"]) for f in mine]:
        raise Mismatch(f"{what} line: {seen.line} is nowhere in the chain")


def check_fault(facts, seen, report):
    """Exception code and label; a trap has no code."""
    faults = report["exceptions"]
    if not facts["code"]:
        same("codes", [f["code"] for f in faults if f["code"]], [])
        same("trap", bool(faults), seen.trap)
        return
    same("code", faults[0]["code"], facts["code"])
    if seen.label and seen.label != UNKNOWN:
        same("label", faults[0]["label"], seen.label)


def check_callers(frames, seen, facts):
    """Return addresses in the order that cuda-gdb shows them."""
    first = 0 if facts["focus"]["syscall_frames"] else 1
    mine = [hexes(frame["pc"]) for frame in frames if not frame["inlined"]]
    same("callers", mine[1:1 + len(seen.frames[first:])], [f["address"] for f in seen.frames[first:]])


def check_program(facts, seen, report):
    check_fault(facts, seen, report)
    shown, focus = report["focus"], facts["focus"]
    for name in ("device", "sm", "warp", "lane", "blockIdx", "threadIdx"):
        same(name, shown[name], seen.focus[name])
    kernel = next(k for k in report["kernels"] if k["id"] == shown["kernel"])
    same("grid", int(kernel["grid"]), seen.focus["grid"])
    if len(seen.frames) < 8:  # the outermost frame is there: NAME<<<grid,block>>>
        same("kernel", kernel["name_mangled"], seen.frames[-1]["function"].split("<<<")[0].split("(")[0])
    same("pc", hexes(shown["pc"]), seen.pc)
    if focus["errorpc"]:
        same("errorpc", hexes(shown["errorpc"]), seen.errorpc)
        check_frames("errorpc", shown["frames"], seen.errorpc, seen.errorpc_place, focus["errorpc"]["rows"])
    else:
        check_frames("pc", shown["frames"], seen.pc, seen.pc_place, focus["pc"]["rows"])
    check_callers(shown["frames"], seen, facts)


def report_of(program, dump):
    done = subprocess.run([program, "report", "--json", dump], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise Mismatch(f"{os.path.basename(program)} ended with status {done.returncode}: {done.stderr.strip()[:200]}")
    return json.loads(done.stdout)


# ---------------------------------------------------------------------------------------------------------------------


def written_again(program, dump, *options):
    """Has the program write a dump over; returns nothing."""
    result = dump + ".new"
    done = subprocess.run([program, "strip", *options, "-o", result, dump], capture_output=True, text=True, timeout=120,
                          check=False)
    if done.returncode:
        raise Mismatch(f"strip ended with status {done.returncode}: {done.stderr.strip()[:200]}")
    os.replace(result, dump)


def work(name, folder, peers, program, mode):
    """One TAP line (without number) and its diagnostics."""
    data, facts = build.build(name)
    if facts["cuda_gdb_cannot"]:
        return f"ok - {name} # SKIP cuda-gdb cannot: {facts['cuda_gdb_cannot']}", ""
    dump = os.path.join(folder, name + ".nvcudmp")
    with open(dump, "wb") as handle:
        handle.write(data)
    try:
        if mode == "written":
            written_again(program, dump)
        elif mode == "stripped":
            written_again(program, dump, "--for-issue")
        seen = peer.Seen(peer.run(peers, dump, peer.questions(facts)))
        if mode == "stripped":
            check_stripped(facts, seen)
        elif mode == "program":
            check_program(facts, seen, report_of(program, dump))
        else:
            check_builder(facts, seen)
        return f"ok - {name}", ""
    except (Mismatch, KeyError, IndexError, TypeError, ValueError, subprocess.TimeoutExpired) as error:
        return f"not ok - {name}", f"{type(error).__name__}: {error}"
    finally:
        os.unlink(dump)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builder", action="store_true")
    parser.add_argument("--program")
    parser.add_argument("--written")
    parser.add_argument("--stripped")
    parser.add_argument("--scenario", action="append")
    args = parser.parse_args()
    peers, why = peer.find()
    if not peers:
        print(f"1..0 # SKIP {why}")
        return 0
    names = args.scenario or list(build.SCENARIOS)
    mode = next((mode for mode in ("written", "stripped", "program") if getattr(args, mode)), "builder")
    program = None if mode == "builder" else os.path.abspath(getattr(args, mode))
    print(f"1..{len(names)}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(work, name, folder, peers, program, mode) for name in names]
        for number, job in enumerate(jobs, 1):
            line, why = job.result()
            print(line.replace("ok", f"ok {number}", 1), flush=True)
            if why:
                print("# " + why[:1500])
            failed += line.startswith("not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
