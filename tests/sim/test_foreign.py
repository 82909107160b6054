#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels that are not ours run on the software GPU, launched by their own host code. Prints TAP.

usage: test_foreign.py WARPSCOPE RUNTIME

RUNTIME is our libcudart.so.13, with which the programs are linked; `warpscope exec --software-gpu` runs them. The algorithms of
CUB and Thrust (foreign/*.cu; the headers come with nvcc) must give what the standard library gives. WARPSCOPE_FOREIGN is a checkout of
HeCBench (BSD-3-Clause), whose programs compare with their own CPU code. Skipped where nvcc or the sources are not there.
"""

import os
import shutil
import subprocess
import sys
import tempfile

WARPSCOPE, RUNTIME = map(os.path.abspath, sys.argv[1:3])
HERE = os.path.dirname(os.path.abspath(__file__))
NVCC = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc")
ARCHS = ("75", "80", "86", "89", "90a", "100a", "120a")
FOREIGN = os.environ.get("WARPSCOPE_FOREIGN", "")
# program: arguments, and what it prints when its result is right
HECBENCH = {
    "bitonic-sort": (["8", "3"], "PASS"), "floydwarshall": (["64", "1", "16"], "PASS"), "entropy": (["64", "48", "1"], "PASS"),
    "nqueen": (["8", "4", "1"], "solutions found: 92 "), "adam": (["2000", "3", "1"], "PASS"), "attention": (["256", "64", "0", "1"], "PASS"),
    "scan2": (["1", "4096", "256"], "PASS"),
}


def programs():
    """(name, source, arguments, what it must print)"""
    for name in ("cub", "thrust"):
        yield name, os.path.join(HERE, "foreign", name + ".cu"), [], None
    for name, (words, wanted) in HECBENCH.items():
        yield name, os.path.join(FOREIGN, "src", name + "-cuda", "main.cu"), words, wanted


def build(program, source):
    """What the compiler says when it fails, as lines. The program has kernels for every device; its host code is not optimised."""
    devices = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in ARCHS]
    done = subprocess.run([NVCC, "-std=c++17", "-w", *devices, "-cudart", "none", "-o", program, source, "-Xlinker", RUNTIME],
                          capture_output=True, text=True, check=False)
    return done.stderr.splitlines()[:5] if done.returncode else []


def run(program, arch, words, wanted):
    """What is wrong, as lines."""
    command = [WARPSCOPE, "exec", "--software-gpu", "--arch", "sm_" + arch, "--dumps", program + ".dumps", "--", program, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    lines = done.stdout.splitlines()
    good = wanted in done.stdout if wanted else lines and lines[0] == f"1..{len([line for line in lines if line.startswith('ok ')])}"
    return [] if good and done.returncode == 0 else [line for line in lines if not line.startswith("ok ")][-8:] + done.stderr.splitlines()[:3]


def main():
    failed = number = 0
    print(f"1..{len(list(programs())) * len(ARCHS)}")
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        for name, source, words, wanted in programs():
            missing = "no nvcc" if not shutil.which(NVCC) else "no source of it" if not os.path.exists(source) else None
            unbuilt = [] if missing else build(program, source)
            for arch in ARCHS:
                number += 1
                bad = unbuilt or ([] if missing else run(program, arch, words, wanted))
                print(("not ok" if bad else "ok") + f" {number} - {name}, sm_{arch}" + (f" # SKIP {missing}" if missing else ""), flush=True)
                for line in bad:
                    print("# " + line)
                failed += bool(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
