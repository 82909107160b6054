#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cuda-gdb 12.4, unmodified, debugs a program on the software GPU: its transcripts are those in live/ (TAP).

usage: program.py [--update] DRIVER AGENT PROGRAM FATBIN...

DRIVER: our libcuda.so.1; AGENT: the process that has the device; PROGRAM: tests/driver/program.c. A FATBIN is compiled with -G. All
run in the chroot where cuda-gdb is. Needs root and the peers script (README.md).
"""

import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import peer  # noqa: E402

AGAIN = "(cuda-gdb ends, and is started again)"
# name: mode of the program, commands.
SESSIONS = {
    "steps": ("say", ["break say", "run", "info cuda kernels", "info cuda threads", "bt", "info args", "print n", "next", "stepi", "step",
                      "cuda thread 5", "print threadIdx", "bt", "info registers R0 R1", "set var $R4 = 77", "print $R4", "delete",
                      "continue"]),
    "line": ("say", ["break driver.cu:25 if blockIdx.x == 1", "run", "print blockIdx", "info cuda blocks", "info cuda lanes", "finish",
                     "delete", "continue"]),
    "fault": ("fault", ["run", "info cuda devices", "info cuda sms", "info cuda warps", "bt", "print to", "print i", "x/2i $pc", "kill"]),
    "attach": ("told", ["attach PID", "info cuda kernels", "info cuda devices", "print *flag", "detach",
                        AGAIN, "attach PID", "break driver.cu:37 if blockIdx.x == 1", "shell echo >line", "continue", "bt", "print flag[0]", "next",
                        "print flag[1]", "detach", "shell while kill -0 PID 2>/dev/null; do sleep .01; done"]),
    "core": ("fault", ["run", "generate-core-file core", "thread 1", "generate-core-file core", "kill", "core-file core"]),
    "launch": ("say", ["set cuda break_on_launch application", "run", "info cuda kernels", "bt", "continue"]),
}


def of_mark(mark):
    """Processes that have it in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as environment:
                found += [pid] if mark.encode() in environment.read() else []
        except OSError:
            pass
    return found


def left(mark):
    """Those that are there after 5 s."""
    end = time.time() + 5
    while of_mark(mark) and time.time() < end:
        time.sleep(0.05)
    return of_mark(mark)


# The program runs before the debugger, and after it: it waits for a line of "line".
RUNS = "mkfifo line; (./program k.fatbin %s <line >said & echo $! >pid); exec 9>line; until grep -q waits said; do sleep .01; done; " \
       "P=$(cat pid); "


def debugger(commands, arguments):
    """What the shell runs."""
    words = ["set pagination off", "set width 0", "set breakpoint pending on", "set confirm off"]
    for command in commands:
        words += ["echo >>> %s\\n" % command.replace("$", "\\$"), command]
    options = " ".join("-ex " + shlex.quote(word).replace("PID", "'$P'") for word in words)
    return "timeout -k 2 60 cuda-gdb -nx -batch %s %s </dev/null 2>&1; " % (options, arguments)


def transcript(work, root, mark, mode, commands):
    inner = "cd /mnt && export LD_LIBRARY_PATH=/mnt TMPDIR=/tmp MARK=%s; " % mark
    if mode == "told":
        inner += RUNS % mode
        while commands:
            end = (commands + [AGAIN]).index(AGAIN)
            inner += debugger(commands[:end], "./program")
            commands = commands[end + 1:]
        inner += "grep told said"
    else:
        inner += debugger(commands, "--args ./program k.fatbin " + mode)
    outer = 'mount --bind "$0" "$1/mnt" && mount -t proc proc "$1/proc"; exec chroot "$1" sh -c "$2"'
    done = subprocess.run(["unshare", "-m", "sh", "-c", outer, work, root, inner], capture_output=True, check=False, timeout=80)
    return done.stdout.decode(errors="replace") + (">>> it did not end by itself\n" if done.returncode in (124, 137) else "")


def normal(text):
    """Without what is another each time: numbers of processes and threads, and when a thread or the program says something."""
    kept = []
    text = re.sub(r"0x\w+( in wait<<<.*driver.cu:)3[56]\n3[56]\b", r"PC\g<1>LINE\nLINE", text)  # where it was when the debugger came
    for line in text[max(text.find(">>>"), 0):].splitlines():
        if re.match(r"\[(New|Detaching|Thread|Inferior|Switching to)\b.*\]$|block \d|ready$|before$|after$|waits$|Using host|warning: CUDA ELF", line) \
                and "exited normally" not in line:
            continue
        line = re.sub(r"((?:process|LWP|attach|kill -0) |/proc/|reg-xstate/)\d+", r"\1N", line)
        line = re.sub(r"^(#0  |)0x\w+ in \?\? \(\)", r"\1PC in ?? ()", re.sub(r"Thread 0x\w+", "Thread N", line))
        kept.append(line.rstrip())
    return "".join(line + "\n" for line in kept)


def main():
    update = "--update" in sys.argv
    driver, agent, program, fatbin = [os.path.abspath(name) for name in sys.argv[1:] if name != "--update"]
    peers, why = peer.find()
    if peers and os.geteuid():
        peers, why = None, "needs root: a debugger in a chroot"
    if not peers:
        print("1..0 # SKIP " + why)
        return 0
    root = subprocess.run([peers, "root"], capture_output=True, text=True, check=True).stdout.strip()
    print("1..%d" % (2 * len(SESSIONS)), flush=True)
    failed = number = 0
    for name, (mode, commands) in SESSIONS.items():
        with tempfile.TemporaryDirectory() as work:
            for source, to in ((driver, "libcuda.so.1"), (agent, "warpscope-agent"), (program, "program"), (fatbin, "k.fatbin")):
                shutil.copy(source, os.path.join(work, to))
            shutil.rmtree(root + "/tmp/cuda-dbg", ignore_errors=True)
            mark = str(uuid.uuid4())
            said = transcript(work, root, mark, mode, commands)
        golden, now = os.path.join(HERE, "live", name + ".txt"), normal(said)
        if update:
            with open(golden, "w", encoding="utf-8") as out:
                out.write(now)
        with open(golden, encoding="utf-8") as known:
            bad = list(difflib.unified_diff(known.read().splitlines(), now.splitlines(), "known", "now", lineterm=""))
        for what, wrong in (("%s" % name, bad), ("%s: no process is left" % name, left(mark))):
            number += 1
            failed += bool(wrong)
            print("%s %d - %s" % ("not ok" if wrong else "ok", number, what), flush=True)
            for line in wrong[:60]:
                print("# " + line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
