"""Runs cuda-gdb 12.4 on a dump and reads its transcript."""

import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

sys.path.insert(0, os.path.join(ROOT, "tools"))
from transcript import address, answers, focus, frames, line, symbol  # noqa: E402

FOCUS = "cuda kernel grid block thread device sm warp lane"
COMMANDS = ("set print demangle off", "set print asm-demangle off", "set print frame-arguments none", "info symbol $pc", "info line *$pc",
            "info symbol $errorpc", "info line *$errorpc", "print $pc", "print $errorpc",
            FOCUS, "info cuda kernels", "bt 8")


def variable(frame, name):
    return f"frame apply level {frame} -q print/x {name}"


def register(name):
    return f"print/x ${name}"


def memory(space, address):
    return f"print/x *(@{space} unsigned *){address:#x}"


def questions(facts):
    """The commands for one scenario: the fixed ones, then its planted registers, memory words and variables."""
    registers = facts["focus"]["registers"] if facts["focus"] else ()
    return (COMMANDS + tuple(register(name) for name in registers) +
            tuple(memory(m["space"], m["address"]) for m in facts["memory"]) +
            tuple(variable(v["frame"], v["name"]) for v in facts["variables"]))


def find():
    """(path of the peers script, None) or (None, why there is none)."""
    path = os.environ.get("WARPSCOPE_PEERS") or os.path.join(ROOT, "..", "shared", "tools", "peers")
    if not os.path.exists(path):
        return None, "no peers script (set WARPSCOPE_PEERS)"
    path = os.path.abspath(path)
    answer = subprocess.run([path, "root"], capture_output=True, text=True, check=False)
    root = answer.stdout.strip()
    if answer.returncode or not shutil.which("cuda-gdb", path=os.path.join(root, "usr", "bin")):
        return None, "cuda-gdb is not set up (run: peers setup)"
    return path, None


def run(path, dump, commands=COMMANDS, timeout=120):
    """The transcript of cuda-gdb on one dump."""
    done = subprocess.run([path, "gdb", os.path.basename(dump), *commands], cwd=os.path.dirname(dump) or ".",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=timeout, check=False)
    return done.stdout


def inlined(text):
    """The mangled name in '... inlined from NAME at line 11 of FILE.', or None."""
    found = re.search(r" inlined from (\S+) at line \d+ of ", text)
    return found[1] if found else None


class Place:
    """What cuda-gdb knows of an address: (function, offset, kernel), (file, line), the inlined function there."""

    def __init__(self, symbol_text, line_text):
        self.symbol, self.line, self.inlined = symbol(symbol_text), line(line_text), inlined(line_text)


class Seen:
    """What cuda-gdb showed of a dump."""

    def __init__(self, transcript):
        said = answers(transcript)
        head = said[""]
        self.said = said
        label = re.search(r"^CUDA Exception: (.*)$", head, re.M)
        self.label = label[1] if label else "Warp Assert" if "Assertion failed." in head else None
        self.trap = "SIGTRAP" in head
        self.no_exception = "No exception was found" in head
        self.focus = focus(said.get(FOCUS, ""))
        if self.focus:
            self.focus.pop("kernel")
        self.pc = address(said.get("print $pc", "").partition("=")[2])
        self.pc_place = Place(said.get("info symbol $pc", ""), said.get("info line *$pc", ""))
        self.errorpc = address(said.get("print $errorpc", "").partition("=")[2])
        self.errorpc_place = Place(said.get("info symbol $errorpc", ""), said.get("info line *$errorpc", ""))
        self.kernels = [row.split() for row in said.get("info cuda kernels", "").splitlines()[1:]]
        self.frames = frames(said.get("bt 8", ""))

    def value(self, command):
        """The number that a print command showed, or None."""
        return address(self.said.get(command, "").partition("=")[2])
