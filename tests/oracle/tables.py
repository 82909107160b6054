#!/usr/bin/env python3
"""info, regs and mem against cuda-gdb 12.4 on built dumps: tables word by word, registers, memory. Prints TAP.

usage: tables.py WARPSCOPE

Skipped without cuda-gdb (README.md). What the two are known to do differently, and why, is in tools/transcript.py;
everything else must be the same word.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", *rest)
                for rest in (("builders",), ("..", "tools"))]
import build  # noqa: E402
import peer  # noqa: E402
import transcript  # noqa: E402
from transcript import Differs  # noqa: E402

SCENARIOS = ("illegal-address", "misaligned-G", "hang", "trap", "assert", "two-kernels", "many-faults", "two-devices",
             "two-contexts", "three-dimensions", "cluster-block-gone", "warp-gaps", "no-lines", "shuffled", "sm100", "memory",
             "layout-r346", "layout-r525", "layout-r615")
TABLES = ("devices", "sms device all", "warps sm all", "lanes sm all", "kernels", "blocks kernel all",
          "threads kernel all", "sms", "warps", "blocks", "threads", "lanes", "warps block 1", "lanes thread 3",
          "threads block (1,0,0)", "sms sm current", "warps kernel 0", "lanes lane 3 sm all", "warps sm 99")
REGISTERS = ["info registers", "print/x $errorpc", *(f"print $UP{i}" for i in range(7))]


def check_registers(said, regs):
    lane = regs["lanes"][0]
    theirs = transcript.registers(said["info registers"])
    for kind in ("R", "UR"):
        for number, value in enumerate(lane[kind] or []):
            if theirs.get(f"{kind}{number}") != value:
                raise Differs(f"{kind}{number}", value, theirs.get(f"{kind}{number}"))
    for number, value in enumerate(lane["UP"] or []):
        if said[f"print $UP{number}"].split("=")[-1].strip() not in (str(value), "<unavailable>"):
            raise Differs(f"UP{number}", value, said[f"print $UP{number}"])
    if theirs.get("pc") != int(lane["pc"], 16):
        raise Differs("pc", lane["pc"], theirs.get("pc"))
    if lane["errorpc"]:
        if transcript.address(said["print/x $errorpc"].partition("=")[2]) != int(lane["errorpc"], 16):
            raise Differs("errorpc", lane["errorpc"], said["print/x $errorpc"])


SPACES = {"global": "global", "shared": "shared", "local": "local", "param": "parameter"}


def memory_commands(program, dump):
    """{command: (space, address, words)} for the start of each range that the focus sees."""
    text = subprocess.run([program, "info", "--json", dump, "memory"], capture_output=True, check=False).stdout
    out = {}
    for row in json.loads(text)["memory"] or []:
        if row["space"] in SPACES and row["bytes_present"] >= 8 and not row["managed"]:
            words = min(row["bytes_present"] // 4, 16)
            command = f"print/x *(@{SPACES[row['space']]} unsigned*){row['start']}@{words}"
            out[command] = (row["space"], row["start"], words)
    return out


def check_memory(program, dump, said, commands):
    for command, (space, start, words) in commands.items():
        if "CUDBG_ERROR" in said[command]:  # it refuses some parameter ranges that it has
            print(f"# {command}: cuda-gdb: {said[command].strip().splitlines()[0][:150]}")
            continue
        theirs = transcript.array(said[command])
        done = subprocess.run([program, "mem", "--json", dump, f"{space}:{start}", "/b", str(4 * words)], capture_output=True,
                              check=True)
        data = bytes.fromhex(json.loads(done.stdout)["bytes"])
        ours = [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]
        if ours != theirs:
            raise Differs(f"{space} {start}", ours[:8], (theirs or [said[command][:120]])[:8])


def check_scenario(program, script, dump):
    memory = memory_commands(program, dump)
    tables = [f"info cuda {table}" for table in TABLES]
    single = ["info cuda threads", "info cuda blocks"]
    first = transcript.answers(peer.run(script, dump, (*tables, *REGISTERS, *memory)))
    second = transcript.answers(peer.run(script, dump, ("set cuda coalescing off", *single)))
    ours = transcript.Program(program, dump)
    for table in TABLES:
        transcript.check_table(table, first[f"info cuda {table}"], ours.info(*table.split()), ours)
    for table in ("threads", "blocks"):
        done = subprocess.run([program, "info", "--coalescing", "off", dump, table], capture_output=True, check=True)
        transcript.check_table(table, second[f"info cuda {table}"], done.stdout.decode(), ours)
    focus = "device current sm current warp current lane current".split()  # what cuda-gdb looks at
    regs = json.loads(subprocess.run([program, "regs", "--json", dump, *focus], capture_output=True, check=True).stdout)
    check_registers(first, regs)
    check_memory(program, dump, first, memory)


def main():
    program = os.path.abspath(sys.argv[1])
    script, why = peer.find()
    if not script:
        print(f"1..0 # SKIP {why}")
        return 0
    failed = 0
    print(f"1..{len(SCENARIOS)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(SCENARIOS, 1):
            data, _ = build.build(name)
            dump = os.path.join(folder, name + ".nvcudmp")
            with open(dump, "wb") as out:
                out.write(data)
            try:
                check_scenario(program, script, dump)
                print(f"ok {number} - {name}", flush=True)
            except (Differs, KeyError, subprocess.TimeoutExpired) as wrong:
                failed += 1
                print(f"not ok {number} - {name}\n# {type(wrong).__name__} {wrong}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
