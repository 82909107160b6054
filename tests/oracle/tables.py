#!/usr/bin/env python3
"""info, regs and mem against cuda-gdb 12.4 on built dumps: tables word by word, registers, memory. Prints TAP.

usage: tables.py WARPSCOPE

Skipped without cuda-gdb (README.md). What the two are known to do differently, and why, is in the comments
below; everything else must be the same word.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "builders"))
import build  # noqa: E402
import peer  # noqa: E402

SCENARIOS = ("illegal-address", "misaligned-G", "hang", "trap", "assert", "two-kernels", "many-faults", "two-devices",
             "two-contexts", "three-dimensions", "cluster-block-gone", "warp-gaps", "no-lines", "shuffled", "sm100", "memory",
             "layout-r346", "layout-r525", "layout-r615")
TABLES = ("devices", "sms device all", "warps sm all", "lanes sm all", "kernels", "blocks kernel all",
          "threads kernel all", "sms", "warps", "blocks", "threads", "lanes", "warps block 1", "lanes thread 3",
          "threads block (1,0,0)", "sms sm current", "warps kernel 0", "lanes lane 3 sm all", "warps sm 99")
REGISTERS = ["info registers", "print/x $errorpc", *(f"print $UP{i}" for i in range(7))]


class Wrong(Exception):
    pass


def rows(text):
    """[words] of each line below the titles; the star is the first word of its row."""
    return [line.split() for line in text.splitlines()[1:] if line.strip()]


def without_star(row):
    return row[1:] if row and row[0] == "*" else row


def expected_rows(table, theirs, ours):
    """Their rows, less what is known to differ."""
    what = table.split()[0]
    if what == "sms":  # it leaves out SMs of which only an exception is left
        ours = [r for r in ours if not re.fullmatch("0x0+", r[-1])]
    if what == "kernels":  # it leaves out grids that have no block
        ours = [r for r in ours if not re.fullmatch("0x0+", without_star(r)[5])]
    if what == "lanes":  # an exception that only the SM row has: 12.4 does not read that row
        ours = [r if r[-1] == "None" or len(t) == len(r) else r[:len(t) - 1] + ["None"] for r, t in zip(ours, theirs)] \
            if len(ours) == len(theirs) else ours
    return theirs, ours


class Chains:
    """Source positions of a pc by `info where`: cuda-gdb shows the first row at an address, ours is the last."""

    def __init__(self, program, dump):
        self.program, self.dump, self.known = program, dump, {}

    def at(self, pc):
        if pc not in self.known:
            text = subprocess.run([self.program, "info", "--json", self.dump, "where", pc], capture_output=True, check=True)
            code = json.loads(text.stdout)["where"]["code"]
            self.known[pc] = {(f["file"], str(f["line"])) for f in (code and code["chain"]) or []}
        return self.known[pc]


def thread_rows(theirs, ours, chains):
    """Rows of threads with file and line made equal where theirs is an outer position of the same pc, or none."""
    out = []
    for their, our in zip(theirs, ours):
        pc = next((w for w in our if re.fullmatch("0x[0-9a-f]{16}", w)), None)
        if pc and their[-2:] != our[-2:]:
            if their[-1] == "0" and len(their) == len(our) - 1:
                # an empty file name and 0: there are no lines, or 12.4 finds none where there are (inlined code)
                their = [*their[:-1], *our[-2:]]
            elif tuple(their[-2:]) in chains.at(pc):
                their = [*their[:-2], *our[-2:]]
        out.append(their)
    return out + theirs[len(out):]


def check_table(table, theirs_text, ours_text, chains):
    if theirs_text.strip().startswith("No CUDA"):
        if ours_text.strip() != theirs_text.strip():
            raise Wrong(f"{table}: {ours_text.strip()[:80]!r}, cuda-gdb: {theirs_text.strip()!r}")
        return
    theirs, ours = expected_rows(table, rows(theirs_text), rows(ours_text))
    if table.startswith("threads"):
        theirs = thread_rows(theirs, ours, chains)
    for number, (their, our) in enumerate(zip(theirs, ours)):
        if their[0] != "*":  # it forgets the star of an SM, warp or block whose first thread has not the focus
            our = without_star(our)
        if their != our:
            raise Wrong(f"{table}: row {number}: {' '.join(our)} -- cuda-gdb: {' '.join(their)}")
    if len(theirs) != len(ours):
        raise Wrong(f"{table}: {len(ours)} rows, cuda-gdb: {len(theirs)}")


def check_registers(said, regs):
    lane = regs["lanes"][0]
    theirs = {m[1]: int(m[2], 16) for m in re.finditer(r"^(\w+) +(0x[0-9a-f]+)", said["info registers"], re.M)}
    for kind in ("R", "UR"):
        for number, value in enumerate(lane[kind] or []):
            if theirs.get(f"{kind}{number}") != value:
                raise Wrong(f"{kind}{number} is {value:#x}, cuda-gdb: {theirs.get(f'{kind}{number}')}")
    for number, value in enumerate(lane["UP"] or []):
        if said[f"print $UP{number}"].split("=")[-1].strip() not in (str(value), "<unavailable>"):
            raise Wrong(f"UP{number} is {value}, cuda-gdb: {said[f'print $UP{number}']}")
    if theirs.get("pc") != int(lane["pc"], 16):
        raise Wrong(f"pc is {lane['pc']}, cuda-gdb: {theirs.get('pc')}")
    if lane["errorpc"]:
        if peer.address(said["print/x $errorpc"].partition("=")[2]) != int(lane["errorpc"], 16):
            raise Wrong(f"errorpc is {lane['errorpc']}, cuda-gdb: {said['print/x $errorpc']}")


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
        numbers = re.search(r"= \{(.*)\}", said[command])
        if "CUDBG_ERROR" in said[command]:  # it refuses some parameter ranges that it has
            print(f"# {command}: cuda-gdb: {said[command].strip().splitlines()[0][:150]}")
            continue
        if not numbers:
            raise Wrong(f"{command}: cuda-gdb: {said[command][:120]}")
        theirs = []
        for part in numbers[1].split(", "):
            value, _, repeat = part.partition(" <repeats ")
            theirs += [int(value, 16)] * (int(repeat.split()[0]) if repeat else 1)
        done = subprocess.run([program, "mem", "--json", dump, f"{space}:{start}", "/b", str(4 * words)], capture_output=True,
                              check=True)
        data = bytes.fromhex(json.loads(done.stdout)["bytes"])
        ours = [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]
        if ours != theirs:
            raise Wrong(f"{space} {start}: {ours[:8]}, cuda-gdb: {theirs[:8]}")


def check_scenario(program, script, dump):
    memory = memory_commands(program, dump)
    tables = [f"info cuda {table}" for table in TABLES]
    single = ["info cuda threads", "info cuda blocks"]
    first = peer.answers(peer.run(script, dump, (*tables, *REGISTERS, *memory)))
    second = peer.answers(peer.run(script, dump, ("set cuda coalescing off", *single)))
    chains = Chains(program, dump)
    for table in TABLES:
        done = subprocess.run([program, "info", dump, "cuda", *table.split()], capture_output=True, check=True)
        check_table(table, first[f"info cuda {table}"], done.stdout.decode(), chains)
    for table in ("threads", "blocks"):
        done = subprocess.run([program, "info", "--coalescing", "off", dump, table], capture_output=True, check=True)
        check_table(table, second[f"info cuda {table}"], done.stdout.decode(), chains)
    regs = json.loads(subprocess.run([program, "regs", "--json", dump], capture_output=True, check=True).stdout)
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
            except (Wrong, KeyError, subprocess.TimeoutExpired) as wrong:
                failed += 1
                print(f"not ok {number} - {name}\n# {type(wrong).__name__} {wrong}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
