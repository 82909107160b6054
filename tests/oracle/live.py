#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cuda-gdb 12.4 as a client of our debugger API prints of a dump what it prints when it reads the dump itself (TAP).

usage: live.py SERVE [SCENARIO ...]

cuda-gdb runs a program that loads a library with a driver's variables and nothing else (live/), and makes pipes to what it takes
for the driver. SERVE (live/serve.c) answers there out of a dump. Needs root and the peers script (README.md).
"""

import difflib
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "builders")]

import build  # noqa: E402
import peer  # noqa: E402

# ... and whether the debugger gets the state of a whole device at once, which has one exception for all lanes of a warp.
SCENARIOS = [("illegal-address", "whole"), ("many-faults", "whole"), ("trap", "whole"), ("memory", "whole"), ("assert", "each"),
             ("illegal-address", "each")]

COMMANDS = ["info cuda devices", "info cuda sms", "info cuda warps", "info cuda lanes", "info cuda kernels", "info cuda blocks",
            "info cuda threads", "bt", "info locals", "info args", "info registers R0 R1 R2 R3 R4 R5 R6 R7 pc errorpc", "print $UR4",
            "print threadIdx", "print blockIdx", "print gridDim", "x/4i $pc", "cuda lane 3", "info locals", "bt",
            "cuda block 0 thread 5", "bt", "info registers R0 R1 R2 R3"]


class Server(threading.Thread):
    """Serves one debugger out of a dump, as soon as it has made its pipes."""

    def __init__(self, program, dump, root, how):
        super().__init__(daemon=True)
        self.program, self.dump, self.root, self.how, self.done = program, dump, root, how, None

    def run(self):
        folder, end = None, time.time() + 60
        while not folder and time.time() < end:
            folder = next((name for name in glob.glob(self.root + "/tmp/cuda-dbg/*/*") if os.path.isdir(name)), None)
            time.sleep(0.02)
        if folder:
            self.done = subprocess.run([self.program, self.dump, folder, self.how], capture_output=True, text=True, check=False)


def transcript(work, root, start, name):
    """What cuda-gdb prints from the first of our commands on."""
    words = ["set pagination off", "set width 0", *start]
    for command in COMMANDS:
        words += ["echo >>> %s\\n" % command, command]
    words += ["echo >>> end\\n", "shell kill -9 $PPID"]  # it would wait for a driver to end
    inner = "cd /mnt && exec timeout -k 2 60 cuda-gdb -nx -batch %s %s </dev/null >%s.txt 2>&1" % (
        " ".join("-ex " + shlex.quote(word) for word in words), "./debuggee" if name == "live" else "", name)
    outer = 'mount --bind "$0" "$1/mnt" && mount -t proc proc "$1/proc"; exec chroot "$1" sh -c "$2"'
    subprocess.run(["unshare", "-m", "sh", "-c", outer, work, root, inner], check=False, timeout=80)
    with open(os.path.join(work, name + ".txt"), encoding="utf-8", errors="replace") as text:
        said = text.read()
    return said[said.find(">>>"):] if ">>> end" in said else "cuda-gdb did not come to the end:\n" + said[-1500:]


def compare(program, root, name, how):
    """Differing lines."""
    with tempfile.TemporaryDirectory() as work:
        for source, options, out in (("debuggee.c", [], "debuggee"), ("libcuda.c", ["-shared", "-fPIC"], "libcuda.so.1")):
            subprocess.run(["cc", "-g", *options, "-o", os.path.join(work, out), os.path.join(HERE, "live", source), "-ldl"], check=True)
        dump = os.path.join(work, "dump.nvcudmp")
        with open(dump, "wb") as handle:
            handle.write(build.build(name)[0])
        shutil.rmtree(root + "/tmp/cuda-dbg", ignore_errors=True)
        server = Server(program, dump, root, how)
        server.start()
        live = transcript(work, root, ["set breakpoint pending on", "break cuInit", "run", "shell sleep 1", "next"], "live")
        server.join(10)
        core = transcript(work, root, ["target cudacore dump.nvcudmp"], "core")
    if not server.done or server.done.returncode:
        return ["the server did not end as it should: %s" % (server.done and server.done.stderr)]
    return [line for line in difflib.unified_diff(core.splitlines(), live.splitlines(), "dump", "live", lineterm="", n=0)
            if not re.match(r"[-+]0x|---|\+\+\+|@@", line)]


def main():
    peers, why = peer.find()
    if peers and os.geteuid():
        peers, why = None, "needs root: a debugger in a chroot"
    if not peers:
        print("1..0 # SKIP " + why)
        return 0
    program = os.path.abspath(sys.argv[1])
    names = [case for case in SCENARIOS if case[0] in sys.argv[2:] or not sys.argv[2:]]
    root = subprocess.run([peers, "root"], capture_output=True, text=True, check=True).stdout.strip()
    print("1..%d" % len(names), flush=True)
    failed = 0
    for number, (name, how) in enumerate(names, 1):
        bad = compare(program, root, name, how)
        failed += bool(bad)
        print("%s %d - %s" % ("not ok" if bad else "ok", number, "%s, %s" % (name, how)), flush=True)
        for line in bad[:40]:
            print("# " + line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
