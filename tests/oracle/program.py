#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cuda-gdb 12.4, unmodified, debugs a program on the software GPU: its transcripts are those in live/ (TAP).

usage: program.py [--update] WARPSCOPE DRIVER AGENT PROGRAM WALK IMAGES [SESSION...]

DRIVER: our libcuda.so.1; AGENT: the process that has the device; PROGRAM, WALK: tests/driver/program.c, walk.c; IMAGES: the folder with
what they load, compiled with -G. All run in the chroot where cuda-gdb is. Needs root and the peers script (README.md).
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
EXEC = "./warpscope exec --software-gpu --"
# of its own program: it is dead when nothing of it is open any more
KILL_AGENT = "shell for p in /proc/[0-9]*; do grep -qs warpscope-agent $p/comm && grep -qsa $MARK $p/environ && kill -9 ${p#/proc/} && " \
             "while grep -qs 'State:.[RSD]' $p/status; do :; done; done"
# name: the program, commands.
SESSIONS = {
    "steps": ("program driver.fatbin say", ["break say", "run", "info cuda kernels", "info cuda threads", "bt", "info args", "print n", "next", "stepi", "step",
                      "cuda thread 5", "print threadIdx", "bt", "info registers R0 R1", "set var $R4 = 77", "print $R4", "delete",
                      "continue"]),
    "line": ("program driver.fatbin say", ["break driver.cu:25 if blockIdx.x == 1", "run", "print blockIdx", "info cuda blocks", "info cuda lanes", "finish",
                     "delete", "continue"]),
    "fault": ("program driver.fatbin fault", ["run", "info cuda devices", "info cuda sms", "info cuda warps", "bt", "print to", "print i", "x/2i $pc", "kill"]),
    "attach": ("program driver.fatbin told", ["attach ITS_PID", "info cuda kernels", "info cuda devices", "print *flag", "detach",
                        AGAIN, "attach ITS_PID", "break driver.cu:37 if blockIdx.x == 1", "shell echo >line", "continue", "bt", "print flag[0]", "next",
                        "print flag[1]", "delete", "detach"]),
    "detach": ("program driver.fatbin told", ["attach ITS_PID", "break driver.cu:37", "shell echo >line", "continue", "bt", "detach"]),
    "early": ("program driver.fatbin early", ["attach ITS_PID", "info cuda devices", "info cuda kernels", "detach",
                       AGAIN, "attach ITS_PID", "break store", "shell echo >line", "shell echo >line", "continue", "bt", "print i", "delete", "detach"]),
    "walk": ("walk debug.fatbin", [
        "break debug.cu:29", "break folded if threadIdx.x == 7", "break shifts", "run", "info cuda kernels", "info cuda devices", "info cuda sms",
        "info cuda warps", "info cuda lanes", "info cuda blocks", "info cuda threads", "info cuda contexts", "info cuda managed",
        "bt", "info locals", "info args", "print in[3]", "next", "print v", "set var v = 1000", "print v", "delete 1",
        "continue", "bt", "info locals", "print v", "next", "delete 2", "finish", "step", "cuda block 1 thread 4", "print blockIdx",
        "cuda lane 9", "print threadIdx", "cuda kernel block thread", "set cuda break_on_launch application", "continue", "bt",
        "set cuda break_on_launch none", "info cuda kernels", "continue", "info locals", "print value[0]",
        "next", "next", "next", "print value[0]@4", "cuda sm 1 warp 0 lane 3", "bt", "delete", "continue"]),
    "autostep": ("walk debug.fatbin astray", ["break chain", "run", "info cuda kernels", "autostep debug.cu:62 for 9 lines", "info autosteps",
                                              "continue", "bt", "print at", "print i", "kill"]),
    "ctrl-c": ("program driver.fatbin wait", ["break wait", "run", "delete", "shell (sleep .3; kill -INT $PPID) &", "continue",
                                              "info cuda kernels", "cuda kernel 0", "print *flag", "set var flag[0] = 21", "print *flag", "continue"]),
    "failures": ("program driver.fatbin missing", ["run", "set cuda api_failures stop", "run", "bt 1", "continue",
                                                   "set cuda api_failures hide", "run"]),
    "core": ("program driver.fatbin fault", ["run", "generate-core-file core", "thread 1", "generate-core-file core", "kill", "core-file core"]),
    "death": ("program driver.fatbin say", ["break say", "run", KILL_AGENT, "print n"]),
    "exec": ("program driver.fatbin say", ["break say", "run", "bt", "delete", "continue"]),
    "launch": ("program driver.fatbin say", ["set cuda break_on_launch application", "run", "info cuda kernels", "bt", "continue"]),
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
RUNS = "mkfifo line; (./%s <line >said & echo $! >pid); exec 9>line; until grep -q waits said; do sleep .01; done; " \
       "P=$(cat pid); "


def debugger(commands, arguments):
    """What the shell runs."""
    words = ["set pagination off", "set width 0", "set breakpoint pending on", "set confirm off"]
    for command in commands:
        words += ["echo >>> %s\\n" % command.replace("$", "\\$"), command]
    options = " ".join("-ex " + shlex.quote(word).replace("ITS_PID", "'$P'") for word in words)
    return "timeout -k 2 60 cuda-gdb -nx -batch %s %s </dev/null 2>&1; " % (options, arguments)


def libraries(program, root):
    """Those that a program of this machine needs and the chroot has not."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"(\S+) => (/\S+)", said)
    return [path for name, path in found if not any(os.path.exists(root + folder + name) for folder in ("/lib/x86_64-linux-gnu/", "/lib/aarch64-linux-gnu/"))]


def transcript(work, root, mark, name, program, commands):
    inner = "cd /mnt && export LD_LIBRARY_PATH=/mnt TMPDIR=/tmp MARK=%s; " % mark
    if name == "exec":  # which finds the driver by itself
        inner += "export LD_LIBRARY_PATH=/mnt/lib; " + debugger(commands, "--args ./" + program).replace("cuda-gdb", EXEC + " cuda-gdb", 1)
    elif "ITS_PID" in commands[0]:
        inner += RUNS % program
        while commands:
            end = (commands + [AGAIN]).index(AGAIN)
            inner += debugger(commands[:end], "./program")
            commands = commands[end + 1:]
        inner += "exec 9>&-; while kill -0 $P 2>/dev/null; do sleep .01; done; cat said"
    else:
        inner += debugger(commands, "--args ./" + program)
    outer = 'mount --bind "$0" "$1/mnt" && mount -t tmpfs tmp "$1/tmp" && mount -t proc proc "$1/proc"; exec chroot "$1" sh -c "$2"'
    done = subprocess.run(["unshare", "-m", "sh", "-c", outer, work, root, inner], capture_output=True, check=False, timeout=80)
    return done.stdout.decode(errors="replace") + (">>> it did not end by itself\n" if done.returncode in (124, 137) else "")


def normal(text, name):
    """Without what is another each time: numbers of processes and threads, and when a thread or the program says something."""
    kept = []
    if name == "detach":  # either block may come first
        text = re.sub(r"\[Switching focus .*\n", "", text)
    # where it was when the debugger came
    text = re.sub(r"0x\w+ (in wait<<<.*driver.cu:)3[56]\n3[56]\b.*", r"PC \1LINE\nLINE", text)
    text = re.sub(r"0x\w+\t3[56]\t.*(?=\n>>> print \*flag)", r"PC\tLINE", text)
    for line in text[max(text.find(">>>"), 0):].splitlines():
        if re.match(r"\[(New|Detaching|Thread|Inferior|Switching to)\b.*\]$|block \d|ready$|before$|after$|waits$|Using host|warning: CUDA ELF", line) \
                and "exited normally" not in line:
            continue
        line = re.sub(r"((?:process|LWP|attach) |/proc/|reg-xstate/)\d+", r"\1N", line)
        line = re.sub(r"^(#0  |)0x\w+ in (\?\?|cudbg\w+) \(\)", r"\1PC in \2 ()", re.sub(r"Thread 0x\w+", "Thread N", line))
        kept.append(line.rstrip())
    return "".join(line + "\n" for line in kept)


def main():
    update = "--update" in sys.argv
    warpscope, driver, agent, program, walk, images, *only = [name for name in sys.argv[1:] if name != "--update"]
    files = {driver: "libcuda.so.1", agent: "warpscope-agent", program: "program", walk: "walk", warpscope: "warpscope"}
    for name in "driver", "debug":
        files[os.path.join(images, name + ".G.fatbin")] = name + ".fatbin"
        files[os.path.join(HERE, "..", "sim", "kernels", name + ".cu")] = name + ".cu"
    peers, why = peer.find()
    if peers and os.geteuid():
        peers, why = None, "needs root: a debugger in a chroot"
    if not peers:
        print("1..0 # SKIP " + why)
        return 0
    root = subprocess.run([peers, "root"], capture_output=True, text=True, check=True).stdout.strip()
    sessions = {name: SESSIONS[name] for name in only or SESSIONS}
    print("1..%d" % (2 * len(sessions)), flush=True)
    failed = number = 0
    for name, (program, commands) in sessions.items():
        with tempfile.TemporaryDirectory() as work:
            for source, to in files.items():
                shutil.copy(source, os.path.join(work, to))
            for folder, inside in ("lib", libraries(warpscope, root)), ("cuda", [driver, agent]):
                os.mkdir(os.path.join(work, folder))
                for source in inside:
                    shutil.copy(source, os.path.join(work, folder))
            mark = str(uuid.uuid4())
            said = transcript(work, root, mark, name, program, commands)
        golden, now = os.path.join(HERE, "live", name + ".txt"), normal(said, name)
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
