#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that are not ours run on the software GPU: their kernels, launched by their own host code. Prints TAP.

usage: test_foreign.py WARPSCOPE RUNTIME

RUNTIME is our libcudart.so.13, with which the programs are linked; `warpscope exec --software-gpu` runs them. The algorithms of
CUB and Thrust (foreign/*.cu; the headers come with nvcc) must give what the standard library gives. WARPSCOPE_FOREIGN is a checkout of
HeCBench (BSD-3-Clause), whose programs compare with their own CPU code, WARPSCOPE_SAMPLES one of NVIDIA's cuda-samples (BSD-3-Clause), which
do so, too. Skipped where nvcc or the sources are not there. WARPSCOPE_ONLY names the programs to run, with spaces.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

WARPSCOPE, RUNTIME = map(os.path.abspath, sys.argv[1:3])
HERE = os.path.dirname(os.path.abspath(__file__))
NVCC = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc")
ARCHS = ("75", "80", "86", "89", "90a", "100a", "120a")
FOREIGN = os.environ.get("WARPSCOPE_FOREIGN", "")
SAMPLES_AT = os.environ.get("WARPSCOPE_SAMPLES", "")
# program: arguments, and what it prints when its result is right
HECBENCH = {
    "bitonic-sort": (["8", "3"], "PASS"), "floydwarshall": (["64", "1", "16"], "PASS"), "entropy": (["64", "48", "1"], "PASS"),
    "nqueen": (["8", "4", "1"], "solutions found: 92 "), "adam": (["2000", "3", "1"], "PASS"), "attention": (["256", "64", "0", "1"], "PASS"),
    "scan2": (["1", "4096", "256"], "PASS"),
}
# The same, on one architecture: what they use of the device is in the programs above, what they ask of the driver and the runtime is theirs.
MORE = {
    "accuracy": ["64", "100", "5", "1"], "adjacent": ["10000", "1"], "background-subtract": ["32", "32", "0", "5"],
    "chi2": ["40", "256", "20", "20", "64", "1"], "colorwheel": ["10", "32", "1"], "cooling": ["1000", "1"], "cross": ["500", "1"],
    "dense-embedding": ["100", "4", "1"], "dp4a": ["4096", "1"], "filter": ["10000", "256", "1"], "flip": ["3", "8", "1"],
    "ga": ["2000", "64", "11", "1"], "gabor": ["32", "32", "1"], "gamma-correction": ["32", "32", "64", "1"], "glu": ["3", "8", "1"],
    "heat2d": ["32", "32", "5"], "keogh": ["16", "2000", "1"], "matrix-rotate": ["40", "1"], "maxpool3d": ["32", "32", "2", "1"],
    "mrc": ["2000", "1"], "mtf": ["64", "1"], "rfs": ["4", "2000"], "ring": ["1", "64", "1"], "scel": ["4", "64", "1"],
    "softmax": ["32", "64", "0", "1"], "stddev": ["64", "32", "1"], "stencil1d": ["2048", "1"], "threadfence": ["1", "10000"],
    "tissue": ["4", "1"], "vanGenuchten": ["8", "8", "8", "1"], "wedford": ["2", "16", "16", "1"], "wyllie": ["200", "1", "1"],
}
# sample: what it prints when its result is right
SAMPLES = {
    "0_Introduction/asyncAPI": "waiting for GPU to finish", "0_Introduction/fp16ScalarProduct": "fp16ScalarProduct PASSED", "0_Introduction/simpleCallback": "Success",
    "0_Introduction/simpleCooperativeGroups": "(expected 120)", "0_Introduction/simpleCubemapTexture": "Comparing kernel output to expected data",
    "0_Introduction/simpleLayeredTexture": "Comparing kernel output to expected data", "0_Introduction/simpleOccupancy": "Test PASSED",
    "0_Introduction/simpleSurfaceWrite": "returned OK", "0_Introduction/simpleTemplates": "0 Failures",
    "0_Introduction/simpleTexture": "returned OK", "0_Introduction/simpleVoteIntrinsics": "OK", "0_Introduction/simpleZeroCopy": "Releasing CPU memory",
    "0_Introduction/systemWideAtomics": "returned OK", "0_Introduction/vectorAdd": "Test PASSED",
    "2_Concepts_and_Techniques/inlinePTX": "Test Successful",
    "2_Concepts_and_Techniques/streamOrderedAllocation": "streamOrderedAllocationPostSync PASSED",
    "2_Concepts_and_Techniques/threadFenceReduction": "CPU result",
    "3_CUDA_Features/newdelete": "3/3 succesfully run", "3_CUDA_Features/simpleCudaGraphs": "Host callback final reduced sum",
    "3_CUDA_Features/warpAggregatedAtomicsCG": "PASSED",
}
ONE = "80"


class Program:
    """A program: its folder, its files, the flags to build it, how it is called, and what it must print."""

    def __init__(self, name, files, flags=(), words=(), wanted=None, archs=ARCHS):
        self.name, self.files, self.flags, self.words, self.wanted, self.archs = name, files, list(flags), list(words), wanted, archs


def sources(folder):
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [os.path.join(folder, name) for name in names if name.endswith((".cu", ".cpp"))]


def programs():
    for name in ("cub", "thrust"):
        yield Program(name, [os.path.join(HERE, "foreign", name + ".cu")])
    for name, (words, wanted) in HECBENCH.items():
        yield Program(name, sources(os.path.join(FOREIGN, "src", name + "-cuda")), (), words, wanted)
    for name, words in MORE.items():
        flags = ["-I" + os.path.join(FOREIGN, "src", "include")]
        yield Program(name, sources(os.path.join(FOREIGN, "src", name + "-cuda")), flags, words, "PASS", (ONE,))
    for name, wanted in SAMPLES.items():
        folder = os.path.join(SAMPLES_AT, "Samples", name)
        yield Program(os.path.basename(name), sources(folder), ["-I" + os.path.join(SAMPLES_AT, "Common")], (), wanted, (ONE,))


def build(program, path):
    """What the compiler says when it fails, as lines. The program has kernels for its devices; its host code is not optimised."""
    devices = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in program.archs]
    done = subprocess.run([NVCC, "-std=c++17", "-w", *devices, *program.flags, "-cudart", "none", "-o", path, *program.files, "-Xlinker", RUNTIME],
                          capture_output=True, text=True, check=False)
    return done.stderr.splitlines()[:5] if done.returncode else []


def run(program, path, arch):
    """What is wrong, as lines. The program runs in a copy of its folder: it may read and write files there."""
    place = path + ".folder"
    shutil.copytree(os.path.dirname(program.files[0]), place)
    command = [WARPSCOPE, "exec", "--software-gpu", "--arch", "sm_" + arch, "--dumps", path + ".dumps", "--", path, *program.words]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, errors="replace", check=False, timeout=300)
    shutil.rmtree(place)
    lines = done.stdout.splitlines()
    if program.wanted:
        good = program.wanted in done.stdout and not re.search(r"\bFAIL(ED|URE)?\b", done.stdout)
    else:
        good = lines and lines[0] == f"1..{len([line for line in lines if line.startswith('ok ')])}"
    return [] if good and done.returncode == 0 else [line for line in lines if not line.startswith("ok ")][-8:] + done.stderr.splitlines()[:3]


def main():
    failed = number = 0
    only = os.environ.get("WARPSCOPE_ONLY", "").split()
    chosen = [program for program in programs() if not only or program.name in only]
    print(f"1..{sum(len(program.archs) for program in chosen)}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program")
        for program in chosen:
            missing = "no nvcc" if not shutil.which(NVCC) else "no source of it" if not program.files else None
            unbuilt = [] if missing else build(program, path)
            for arch in program.archs:
                number += 1
                bad = unbuilt or ([] if missing else run(program, path, arch))
                print(("not ok" if bad else "ok") + f" {number} - {program.name}, sm_{arch}" + (f" # SKIP {missing}" if missing else ""), flush=True)
                for line in bad:
                    print("# " + line)
                failed += bool(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
