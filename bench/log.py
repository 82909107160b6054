#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Logs: log.py WARPSCOPE FOLDER

log  `warpscope log` over a log of 200 MB that it makes, with a line of the driver at its end, against `grep -c NVRM`: CPU time, at most 20
     times (it looks for 80 words instead of one); and the most memory that it takes, at most 64 MiB. The shortest of ROUNDS.
"""
import os
import random
import resource
import subprocess
import sys

BYTES, LIMIT, MEMORY, ROUNDS = 200_000_000, 20, 64, 5
WORDS = ("INFO WARNING step loss epoch 0.123 tokens per second GPU memory allocated NCCL Channel 00/0 : 0[0] -> 1[1] via P2P/IPC cuda:0 "
         "CUDA_VISIBLE_DEVICES worker rank error 2025-06-26 05:12:58,101 [rank0]: torch/nn/modules/module.py").split()
LAST = "May  1 10:00:00 node0 kernel: [86400.1] NVRM: Xid (PCI:0000:18:00): 79, pid=1, GPU has fallen off the bus.\n"


def make(path):
    pick = random.Random(1)
    block = "".join(" ".join(pick.choices(WORDS, k=14)) + "\n" for _ in range(20000))
    with open(path + ".part", "w", encoding="ascii") as log:
        for _ in range(BYTES // len(block)):
            log.write(block)
        log.write(LAST)
    os.rename(path + ".part", path)


def cost(*command):
    """CPU seconds, and the most memory so far of any command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 10):
        sys.exit(f"{' '.join(command)}: status {done.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss >> 10


def main(program, folder):
    path = os.path.join(folder, "big.log")
    if not os.path.exists(path):
        make(path)
    both = [(cost("grep", "-c", "NVRM", path), cost(program, "log", path)) for _ in range(ROUNDS)]
    floor, ours = (min(one[side][0] for one in both) for side in (0, 1))
    memory = max(one[1][1] for one in both)
    print(f"  log       200 MB: {ours:.2f} s, {BYTES / 1e6 / ours:.0f} MB/s; grep -c {floor:.2f} s; {ours / floor:.1f}x (at most {LIMIT})  "
          f"{'good' if ours <= LIMIT * floor else 'TOO SLOW'}", flush=True)
    print(f"  log       memory: {memory} MiB (at most {MEMORY})  {'good' if memory <= MEMORY else 'TOO MUCH'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
