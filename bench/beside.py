#!/usr/bin/env python3
"""Beside other programs: beside.py WARPSCOPE DUMP...

gzip      `warpscope info DUMP.gz devices` against `zcat DUMP.gz`: CPU time of whole processes, alternating, the best of 5;
          asked for: at most 1.2 times.
large     `warpscope report` of a packed dump of 1.5 GiB, more than is stored, against `zcat` of it, likewise; also asked for: at most 64 MiB
          of memory.
cuda-gdb  `warpscope DUMP` and `info DUMP threads` against cuda-gdb 12.4 opening the dump and answering `info cuda threads`: wall
          time, once, for orientation. Needs the peers script (tests/oracle/README.md); "skipped" without it.
"""

import gzip
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(ROOT, "tests", "oracle"), os.path.join(ROOT, "tests", "builders")]
import peer  # noqa: E402
import reader  # noqa: E402

ROUNDS, GZIP_LIMIT = 5, 1.2
LARGE_BYTES, LARGE_ROUNDS, LARGE_MIB = 3 << 29, 2, 64


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


def large_dump(path):
    """Packs the example with one range of global memory made so long, of bytes that pack to an eighth."""
    with open(os.path.join(ROOT, "examples", "dumps", "illegal-address.nvcudmp"), "rb") as dump:
        data = bytearray(dump.read())
    parsed = reader.Reader(bytes(data))
    last = max(section.index for section in parsed.sections[1:] if section.type - reader.BASE in (1, 2))
    headers_at, = struct.unpack_from("<Q", data, 40)
    data += bytes(-len(data) % 4096)
    struct.pack_into("<QQ", data, headers_at + last * 64 + 24, len(data), LARGE_BYTES)
    noise = random.Random(1)
    pieces = [noise.randbytes(1 << 16) + bytes([i + 1]) * (7 << 16) for i in range(8)]
    with open(path, "wb") as out, subprocess.Popen(["gzip", "-1"], stdin=subprocess.PIPE, stdout=out) as packer:
        packer.stdin.write(data)
        for i in range(LARGE_BYTES // len(pieces[0])):
            packer.stdin.write(pieces[i % len(pieces)])
        packer.stdin.close()


def measure_large(program, folder):
    packed = os.path.join(folder, "large.nvcudmp.gz")
    large_dump(packed)
    ours, floor, memory = [], [], 0
    for _ in range(LARGE_ROUNDS):
        pid = os.spawnlp(os.P_NOWAIT, "sh", "sh", "-c", 'exec "$0" report --no-source "$1" >/dev/null', program, packed)
        _, status, usage = os.wait4(pid, 0)
        if status:
            sys.exit(f"report of {packed}: status {status}")
        ours.append(usage.ru_utime + usage.ru_stime)
        memory = max(memory, usage.ru_maxrss / 1024)
        floor.append(run("zcat", packed)[0])
    ours, floor = min(ours), min(floor)
    good = ours <= GZIP_LIMIT * floor and memory <= LARGE_MIB
    print(f"  large     {LARGE_BYTES >> 20} MiB packed: {ours:.1f} s, {memory:.0f} MiB; zcat {floor:.1f} s; {ours / floor:.2f}x "
          f"(at most {GZIP_LIMIT}, and {LARGE_MIB} MiB)  {'good' if good else 'TOO SLOW'}")


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
        measure_large(program, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
