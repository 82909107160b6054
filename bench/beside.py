#!/usr/bin/env python3
"""Beside other programs: beside.py WARPSCOPE DUMP...

gzip      `warpscope info DUMP.gz devices` against `zcat DUMP.gz`: CPU time of whole processes, alternating, the best of 5;
          asked for: at most 1.2 times.
cuda-gdb  `warpscope DUMP` and `info DUMP threads` against cuda-gdb 12.4 opening the dump and answering `info cuda threads`: wall
          time, once, for orientation. Needs the peers script (tests/oracle/README.md); "skipped" without it.
"""

import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "oracle"))
import peer  # noqa: E402

ROUNDS, GZIP_LIMIT = 5, 1.2


def run(*command):
    """(CPU seconds, wall seconds) of a command with all that it started."""
    before, start = os.times(), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: status {done.returncode}")
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return cpu, time.monotonic() - start


def measure_gzip(program, dump, folder):
    packed = os.path.join(folder, os.path.basename(dump) + ".gz")
    with open(dump, "rb") as source, gzip.open(packed, "wb", compresslevel=1) as out:
        shutil.copyfileobj(source, out, 1 << 20)
    ours, floor = [], []
    for _ in range(ROUNDS):
        ours.append(run(program, "info", packed, "devices")[0])
        floor.append(run("zcat", packed)[0])
    ours, floor = min(ours), min(floor)
    good = ours <= GZIP_LIMIT * floor
    print(f"  gzip      {os.path.basename(dump)}: {ours * 1e3:.0f} ms; zcat {floor * 1e3:.0f} ms; {ours / floor:.2f}x "
          f"(at most {GZIP_LIMIT})  {'good' if good else 'TOO SLOW'}")


def measure_cuda_gdb(program, dump):
    peers, why = peer.find()
    report, threads = run(program, dump)[1], run(program, "info", dump, "threads")[1]
    line = f"  cuda-gdb  {os.path.basename(dump)}: report {report * 1e3:.0f} ms, info threads {threads * 1e3:.0f} ms; cuda-gdb "
    if not peers:
        print(line + f"skipped: {why}")
        return
    start = time.monotonic()
    peer.run(peers, dump, ())
    opened = time.monotonic() - start
    start = time.monotonic()
    peer.run(peers, dump, ("info cuda threads",))
    answered = time.monotonic() - start
    print(line + f"opens in {opened * 1e3:.0f} ms, with info cuda threads {answered * 1e3:.0f} ms "
          f"({answered / threads:.0f} times ours)")


def main(arguments):
    program, dumps = arguments[0], arguments[1:]
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(dumps[0]))) as folder:
        for dump in dumps:
            measure_gzip(program, dump, folder)
            measure_cuda_gdb(program, dump)


if __name__ == "__main__":
    main(sys.argv[1:])
