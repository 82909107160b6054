#!/usr/bin/env python3
"""Many dumps: triage.py BUILD DUMP [--smoke] [--huge DUMP]

triage  `warpscope triage --jsonl` over COUNT (10,000) links to a dump, against as many reports by as many processes as there are cores
        (bench-report --times), which make nothing else: CPU time of all processes and wall time, each at most 1.2 times. Both are run in
        turns, as other work on the machine adds to each; the shortest count.
huge    the same over HUGE_COUNT (64) links to a full-size dump: at most 1.3 times, wall time.
loop    a shell loop of `warpscope report --json` over 50 of them, wall time for COUNT: at least 10 times as long.
smoke   2,000 dumps, and the time for orientation only: too few to tell on a machine that does other work; no memory.
memory  what the main process has at most, for COUNT dumps and for half of them: more than one job has, whose ranks are kept. Then the
        same of --merge for 140,000 records and for half of them, more than are remembered at a time, and so what a dump adds.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

OVERHEAD, HUGE_OVERHEAD, LOOP, PER_DUMP, RECORDS, SAMPLE, ROUNDS, HUGE_COUNT, HUGE_ROUNDS = 1.2, 1.3, 10, 16, 140000, 50, 4, 64, 4


def run(*commands):
    """(CPU seconds, wall seconds) of commands side by side, with all that they started."""
    before, start = os.times(), time.monotonic()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for command in commands]  # pylint: disable=consider-using-with
    status = [process.wait() for process in running]
    after = os.times()
    if any(one not in (0, 10) for one in status):
        sys.exit(f"{' '.join(commands[0])}: status {status}")
    return (after.children_user + after.children_system - before.children_user - before.children_system, time.monotonic() - start)


def fill(folder, name, dump, n):
    where = os.path.join(folder, name)
    os.mkdir(where)
    first = os.path.join(where, "0.nvcudmp")
    if os.path.getsize(dump) > 1 << 24:
        os.symlink(os.path.abspath(dump), first)
    else:
        shutil.copy(dump, first)
    for i in range(1, n):
        os.link(first, os.path.join(where, f"{i}.nvcudmp"), follow_symlinks=False)
    return where


def in_turns(build, program, where, dump, count, rounds):
    """(CPU, wall) of the triage, and of as many reports; the shortest of each."""
    cores = len(os.sched_getaffinity(0))
    shares = [count // cores + (i < count % cores) for i in range(cores)]
    reports = [[os.path.join(build, "bench", "bench-report"), "--times", str(share), dump] for share in shares]
    pairs = [(run([program, "triage", "--jsonl", where]), run(*reports)) for _ in range(rounds)]
    return [[min(pair[side][kind] for pair in pairs) for kind in (0, 1)] for side in (0, 1)]


def say(what, ours, floor, limit, text):
    verdict = f" (at most {limit})  {'good' if ours <= limit * floor else 'TOO SLOW'}" if limit else ""
    print(f"  {what:9} {text}: {ours:.2f} s; the reports alone {floor:.2f} s; {ours / floor:.2f}x{verdict}", flush=True)


def merged_memory(program, folder, dump, count):
    """The same of a merge of records that differ in their keys and paths."""
    record = subprocess.run([program, "triage", "--jsonl", dump], capture_output=True, text=True, check=False).stdout
    start, end = re.fullmatch('(.*"key":")[0-9a-f]{32}(",.*)\n', record).groups()
    path = os.path.join(folder, f"{count}.jsonl")
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(f"{start}{number * 0x9e3779b97f4a7c15 % (1 << 64):016x}{number:016x}{end}\n" for number in range(count))
    most = most_memory(program, "triage", "--merge", path)
    os.unlink(path)
    return most


def most_memory(*command):
    """Bytes of the main process at its greatest, as the kernel tells while it runs."""
    most = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                    found = re.search(r"VmHWM:\s+(\d+) kB", status.read())
                most = max(most, int(found.group(1)) * 1024 if found else 0)
            except OSError:
                pass
            time.sleep(0.002)
    return most


def main():
    build, dump, smoke = sys.argv[1], sys.argv[2], "--smoke" in sys.argv
    huge = sys.argv[sys.argv.index("--huge") + 1] if "--huge" in sys.argv else None
    count = 2000 if smoke else 10000
    program = os.path.abspath(os.path.join(build, "warpscope"))
    with tempfile.TemporaryDirectory() as folder:
        few, many = fill(folder, "few", dump, count // 2), fill(folder, "many", dump, count)
        ours, floor = in_turns(build, program, many, dump, count, ROUNDS)
        size = os.path.getsize(dump) >> 10
        say("triage", ours[0], floor[0], 0 if smoke else OVERHEAD, f"{count} dumps of {size} kB, CPU")
        say("triage", ours[1], floor[1], 0 if smoke else OVERHEAD, f"{count} dumps of {size} kB, wall")
        if huge and not smoke:
            big, alone = in_turns(build, program, fill(folder, "huge", huge, HUGE_COUNT), huge, HUGE_COUNT, HUGE_ROUNDS)
            say("huge", big[1], alone[1], HUGE_OVERHEAD, f"{HUGE_COUNT} dumps of {os.path.getsize(huge) >> 20} MB, wall")
        loop = f'for f in "{many}"/[0-9].nvcudmp "{many}"/[1-4][0-9].nvcudmp; do "{program}" report --json "$f"; done >/dev/null'
        looped = min(run(["sh", "-c", loop])[1] for _ in range(ROUNDS)) / SAMPLE * count
        print(f"  loop      wall {looped:.1f} s; {looped / ours[1]:.0f}x (at least {LOOP})  {'good' if looped >= LOOP * ours[1] else 'TOO SLOW'}")
        if smoke:
            return
        print(f"  memory    {most_memory(program, 'triage', few) >> 10} kB for {count // 2} dumps, "
              f"{most_memory(program, 'triage', many) >> 10} kB for {count}")
        least, most = merged_memory(program, folder, dump, RECORDS // 2), merged_memory(program, folder, dump, RECORDS)
    added = (most - least) / (RECORDS - RECORDS // 2)
    print(f"  memory    {least >> 10} kB for {RECORDS // 2} records, {most >> 10} kB for {RECORDS}: {added:.1f} bytes a dump (at most {PER_DUMP})  "
          f"{'good' if added <= PER_DUMP else 'TOO MUCH'}")


if __name__ == "__main__":
    main()
