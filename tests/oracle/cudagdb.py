#!/usr/bin/env python3
"""Compares dumps with cuda-gdb 12.4 (TAP).

  cudagdb.py --builder              what cuda-gdb shows is what the builder planted (the proof of the fixtures)
  cudagdb.py --program WARPSCOPE    what the program reports is what cuda-gdb shows; where cuda-gdb cannot show it
                                    (README.md), what was planted
  --program WARPSCOPE --planted     only with what was planted: needs no cuda-gdb
  --scenario NAME                   only these scenarios (may repeat)

Without --planted it needs the peers script: WARPSCOPE_PEERS, or ../shared/tools/peers beside the repository.
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


def check_place(what, place, symbol, line):
    """cuda-gdb's symbol and line for an address against the planted place."""
    if place["symbol"] is None:
        return
    same(what + " section", symbol and symbol[2], place["section"])
    same(what + " function", symbol[0], place["symbol"])
    same(what + " offset", symbol[1], int(place["offset"], 16))
    chain = [(f["file"], f["line"]) for f in place["chain"]]
    if not chain:
        same(what + " line", line, None)
    elif place["rows"] == 1:
        same(what + " line", line, chain[0])
    elif line not in chain:  # several rows at this address: it takes any of them (README.md)
        raise Mismatch(f"{what} line: {line} is nowhere in {chain}")


def check_builder(facts, seen):
    focus = facts["focus"]
    code = facts["code"]
    if code:
        same("label", seen.label, LABELS.get(code, UNKNOWN))
    same("trap", seen.trap, facts["trap"])
    same("no exception", seen.no_exception, not code and not facts["trap"])
    same("focus", seen.focus, {k: focus[k] for k in ("grid", "blockIdx", "threadIdx", "device", "sm", "warp", "lane")})
    same("pc", seen.pc, int(focus["pc"]["address"], 16))
    check_place("pc", focus["pc"], seen.pc_symbol, seen.pc_line)
    if focus["errorpc"]:
        same("errorpc", seen.errorpc, int(focus["errorpc"]["address"], 16))
        check_place("errorpc", focus["errorpc"], seen.errorpc_symbol, seen.errorpc_line)
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


def grid_of(row):
    """The grid column of a row of "info cuda kernels" (the focus mark is a column of its own)."""
    return int(row[4] if row[0] == "*" else row[3])


# ---------------------------------------------------------------------------------------------------------------------
# The program against cuda-gdb


def hexes(value):
    return int(value, 16) if isinstance(value, str) else None


def check_frames(what, frames, address, symbol, line, rows):
    """The program's frames at one pc against cuda-gdb's one step."""
    mine = [f for f in frames if hexes(f["pc"]) == address]
    if not mine:
        raise Mismatch(f"{what}: no frame with pc {address:#x}")
    if symbol:
        same(what + " function", bare(mine[-1]["function_mangled"]), bare(symbol[0]))
    if line and rows == 1:
        same(what + " line", (mine[0]["file"], mine[0]["line"]), line)
    elif line and line not in [(f["file"], f["line"]) for f in mine]:
        raise Mismatch(f"{what} line: {line} is nowhere in the chain")


def check_program(facts, seen, report):
    first = report["exceptions"][0] if report["exceptions"] else None
    focus = facts["focus"]
    if not facts["code"]:
        same("exceptions", len(report["exceptions"]) if not facts["trap"] else 0, 0)
        same("verdict", report["verdict"]["kind"], facts["verdict"])
        return
    if first is None:
        raise Mismatch("the report has no exception")
    same("code", first["code"], facts["code"])
    if seen.label and seen.label != UNKNOWN:
        same("label", first["label"], seen.label)
    for name in ("device", "sm", "warp", "lane", "blockIdx", "threadIdx"):
        same(name, first[name], seen.focus[name])
    kernel = next(k for k in report["kernels"] if k["id"] == first["kernel"])
    same("grid", int(kernel["grid"]), seen.focus["grid"])
    same("pc", hexes(first["pc"]), seen.pc)
    if focus["errorpc"]:
        same("errorpc", hexes(first["errorpc"]), seen.errorpc)
        check_frames("errorpc", first["frames"], seen.errorpc, seen.errorpc_symbol, seen.errorpc_line,
                     focus["errorpc"].get("rows"))
    else:
        check_frames("pc", first["frames"], seen.pc, seen.pc_symbol, seen.pc_line, focus["pc"].get("rows"))


def planted_stack(place, calls):
    """[(function, file, line)] of a whole stack: inline chain at the place, then at each call; unknown code left out."""
    out = []
    for each in (place, *(c["call"] for c in calls)):
        if each["symbol"] is None:
            continue
        chain = [(bare(f["function_mangled"]), f["file"], f["line"]) for f in each["chain"]]
        out += chain or [(bare(each["symbol"]), None, None)]
    return out


def check_stack(facts, first):
    focus, frames = facts["focus"], first["frames"]
    places = [p for p in ([focus["errorpc"], focus["pc"]] if focus else [facts["blamed"]]) if p]
    if facts["classic"]:  # host addresses: the place is found through the kernel's entry
        place = focus["pc"]
    else:
        place = next((p for p in places if frames and hexes(frames[0]["pc"]) == int(p["address"], 16)), None)
        if place is None:
            raise Mismatch(f"stack begins at {frames[0]['pc'] if frames else None}, neither pc nor errorpc")
    mine = [(bare(f["function_mangled"]), f["file"], f["line"]) for f in frames if f["function_mangled"]]
    expected = planted_stack(place, focus["frames"] if focus else ())
    if len(expected) > 64:  # a long stack may be shortened
        mine, expected = mine[:32], expected[:32]
    same("stack", mine, expected)


def check_groups(facts, report):
    """Lanes by line: every thread stands where it was put."""

    def count(rows):
        out = {}
        for place, lanes in rows:
            out[place] = out.get(place, 0) + lanes
        return out

    planted = count(((g["place"]["chain"][0]["file"], g["place"]["chain"][0]["line"]) if g["place"]["chain"]
                     else (None, None), g["lanes"]) for g in facts["groups"])
    same("groups", count(((g["file"], g["line"]), g["lanes"]) for g in report["groups"]), planted)


def check_planted(facts, report):
    """The program against the truth alone: for every scenario, also those that cuda-gdb cannot express."""
    same("verdict", report["verdict"]["kind"], facts["verdict"])
    check_groups(facts, report)
    if not facts["code"]:
        return
    first, focus = report["exceptions"][0], facts["focus"]
    same("code", first["code"], facts["code"])
    if focus:
        for name in ("device", "sm", "warp", "lane", "blockIdx", "threadIdx"):
            same(name, first[name], focus[name])
    else:
        same("SM", (first["device"], first["sm"], first["lane"]),
             (facts["sm_rows"][0]["device"], facts["sm_rows"][0]["sm"], None))
    check_stack(facts, first)


def report_of(program, dump):
    done = subprocess.run([program, "report", "--json", dump], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise Mismatch(f"{os.path.basename(program)} ended with status {done.returncode}: {done.stderr.strip()[:200]}")
    return json.loads(done.stdout)


# ---------------------------------------------------------------------------------------------------------------------


def work(name, folder, peers, program):
    """One TAP line (without number) and its diagnostics."""
    data, facts = build.build(name)
    dump = os.path.join(folder, name + ".nvcudmp")
    with open(dump, "wb") as handle:
        handle.write(data)
    why_not = facts["cuda_gdb_cannot"]
    seen = None
    try:
        if not why_not and peers:
            seen = peer.Seen(peer.run(peers, dump, peer.questions(facts)))
        if program:
            report = report_of(program, dump)
            if not facts["damaged"]:
                check_planted(facts, report)
            if seen:
                check_program(facts, seen, report)
            return f"ok - {name}" + (f" (planted truth only: {why_not})" if peers and why_not else ""), ""
        if why_not:
            return f"ok - {name} # SKIP cuda-gdb cannot: {why_not}", ""
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
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--scenario", action="append")
    args = parser.parse_args()
    peers, why = (None, None) if args.planted else peer.find()
    if not peers and not args.planted:
        print(f"1..0 # SKIP {why}")
        return 0
    names = args.scenario or list(build.SCENARIOS)
    program = os.path.abspath(args.program) if args.program and not args.builder else None
    print(f"1..{len(names)}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(work, name, folder, peers, program) for name in names]
        for number, job in enumerate(jobs, 1):
            line, why = job.result()
            print(line.replace("ok", f"ok {number}", 1), flush=True)
            if why:
                print("# " + why[:1500])
            failed += line.startswith("not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
