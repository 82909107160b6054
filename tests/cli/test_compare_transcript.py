#!/usr/bin/env python3
"""tools/compare-transcript: test_compare_transcript.py WARPSCOPE SOURCE_ROOT. Prints TAP.

Transcripts of cuda-gdb 12.4 on dumps that tests/builders made (tests/data/transcripts) agree with the program; the same with one word
changed do not, and the difference is told in its column with both values; docs/ground-truth.md is what the comparer writes.
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import subprocess
import sys
import tempfile

# (transcript, words, what they become, column, something of the line that tells of it)
CHANGES = (
    ("misaligned-G", "Opening GPU coredump", "Failed to read core file: x\nOpening GPU coredump", "opens", "opens"),
    ("misaligned-G", "CUDA Exception: Warp Misaligned Address", "CUDA Exception: Warp Assert", "exception", "Warp Assert"),
    ("misaligned-G", "triggered at PC 0x7f2b4c0000a0", "triggered at PC 0x7f2b4c0000b0", "exception", "0x7f2b4c0000b0"),
    ("misaligned-G", "sm 2, warp 0, lane 0]", "sm 2, warp 0, lane 1]", "focus", "lane"),
    ("two-devices", "*  0 active 0x", "*  0 active 0xf", "tables", "lanes, row 1"),
    ("illegal-address", "NVIDIA H100 80GB HBM3", "NVIDIA H100 81GB HBM3", "tables", "devices, row 0"),
    ("memory", "R3             0x4001c ", "R3             0x4001d ", "registers", "R3: 0x4001c -- cuda-gdb: 0x4001d"),
    ("hang", "UR2            0x", "UR2            0x7", "registers", "UR2"),
    ("memory", "0x00000004\t0x00010005", "0x00000004\t0x00010006", "memory", "shared 0"),
    ("misaligned-G", "#1  0x00007f2b4c000a60 in sum_row", "#1  0x00007f2b4c000a60 in sum_col", "backtrace", "function of frame 1"),
    ("misaligned-G", "#2  0x00007f2b4c001720", "#2  0x00007f2b4c001730", "backtrace", "address of frame 2"),
    ("misaligned-G", "calls.cu:30\n#3", "calls.cu:31\n#3", "backtrace", "line of frame 2"),
    ("trap", "Line 20 of", "Line 19 of", "lines", "line of pc"),
    ("illegal-address", " + 272 in section", " + 288 in section", "lines", "offset of pc"),
    ("misaligned-G", "\nout = 0x7f3a12100000", "\nout = 0x7f3a12100008", "variables", "out: 0x7f3a12100000 -- cuda-gdb: 0x7f3a12100008"),
    ("misaligned-G", "\nstep = 6\n", "\nstride = 6\n", "variables", "parameters of frame 3"),
    ("misaligned-G", "type = @parameter int", "type = @parameter unsigned int", "variables", "type of step"),
    # what 12.4 is known for is not taken for known of another version, nor of another file
    ("illegal-address", "cuda-gdb 12.4", "cuda-gdb 13.0", "tables", "omits the star"),
    ("exited", "cuda-gdb 12.4", "cuda-gdb 13.0", "exception", "SM's row"),
    ("classic", "cuda-gdb 12.4", "cuda-gdb 13.0", "backtrace", "host addresses"),
    ("assert", "cuda-gdb 12.4", "cuda-gdb 13.0", "backtrace", "system code"),
    ("recursion", "cuda-gdb 12.4", "cuda-gdb 13.0", "exception", "newer than itself"),
    ("gaps", "cuda-gdb 12.4", "cuda-gdb 13.0", "opens", "as table rows"),
    ("gaps", "Could not find Module table entry", "Could not find it", "opens", "opens: True -- cuda-gdb: False"),
    ("misaligned-G", "CUDA Exception: Warp Misaligned Address", "CUDA Exception: Device Unknown Exception", "exception", "Unknown"),
)

VALUES = (  # `info args` of cuda-gdb, and the leaves of its first value
    ("at = 0x7f <error: Cannot access memory at address 0x7f>", {"": "0x7f"}),
    ("fp = (const float *) 0x7f00\nn = 2", {"": "0x7f00"}),
    ("c = {base = 0x7f <error: Cannot access memory>, step = 6}", {"base": "0x7f", "step": "6"}),
    ("r = {b = {9, 8 <repeats 2 times>}, in = {s = 4}, tag = \"a, {\\\"b\"}", {"b[0]": "9", "b[1]": "8", "b[2]": "8", "in.s": "4", "tag": "\"a, {\\\"b\""}),
    ("m = {{1, 2}, {3, 4}}", {"[0][0]": "1", "[0][1]": "2", "[1][0]": "3", "[1][1]": "4"}),
)


class Wrong(Exception):
    pass


class Tool:
    def __init__(self, program, root, folder):
        self.program, self.folder = os.path.abspath(program), folder
        loader = importlib.machinery.SourceFileLoader("compare_transcript", os.path.join(root, "tools", "compare-transcript"))
        self.tool = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(self.tool)
        self.transcripts = os.path.join(root, "tests", "data", "transcripts")
        self.names = sorted(name[:-4] for name in os.listdir(self.transcripts) if name.endswith(".txt"))

    def run(self, *arguments):
        """In this process: most transcripts are compared many times, and the program is asked about their dumps once."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = self.tool.main(arguments)
        return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())

    def read(self, name):
        with open(os.path.join(self.transcripts, name + ".txt"), encoding="utf-8") as text:
            return text.read()

    def compare(self, name, text):
        path = os.path.join(self.folder, "transcript.txt")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return self.run(self.program, os.path.join(self.transcripts, name + ".nvcudmp.gz"), path)


def agrees(tool, name):
    done = tool.compare(name, tool.read(name))
    if done.returncode or "0 differ" not in done.stdout:
        raise Wrong(done.stdout + done.stderr[-300:])
    if int(done.stdout.split()[0]) < 50 and name not in ("empty", "exited", "gaps", "gzip", "sparse-levels"):
        raise Wrong(f"only {done.stdout}")


def finds(tool, name, old, new, column, words):
    text = tool.read(name)
    if old not in text:
        raise Wrong(f"{old!r} is not in the transcript")
    done = tool.compare(name, text.replace(old, new, 1))
    found = [line for line in done.stdout.splitlines()[:-1] if line.startswith(column + ":") and words in line]
    if done.returncode != 10 or not found:
        raise Wrong(f"status {done.returncode}: {done.stdout[-400:]}{done.stderr[-300:]}")


def values(root):
    sys.path.insert(0, os.path.join(root, "tools"))
    import transcript
    for text, leaves in VALUES:
        made = transcript.leaves(next(iter(transcript.variables(text).values())))
        if made != leaves:
            raise Wrong(f"{text}: {made}")
    if transcript.type_words("const @generic char * @parameter") != transcript.type_words("char const*"):
        raise Wrong("types")


def page(tool, root):
    with open(os.path.join(root, "docs", "ground-truth.md"), encoding="utf-8") as text:
        have = text.read()
    os.mkdir(os.path.join(tool.folder, "docs"))
    os.symlink(os.path.join(root, "tests"), os.path.join(tool.folder, "tests"))
    copy = os.path.join(tool.folder, "docs", "ground-truth.md")
    with open(copy, "w", encoding="utf-8") as out:
        out.write(have)
    done = tool.run("--page", copy, tool.program)
    with open(copy, encoding="utf-8") as text:
        made = text.read()
    if made != have or done.returncode not in (0, 10):
        raise Wrong(f"docs/ground-truth.md is not what the comparer writes ({done.stderr[-300:]}):\n# " + made.replace("\n", "\n# "))


def real_dumps(tool, folder):
    """The comparer ends on each; what differs is in the page, which test `page` holds to be true."""
    for name in sorted(file for file in os.listdir(folder) if file.endswith(".txt")):
        dumps = [file for file in os.listdir(folder) if file.split(".")[0] == name.split(".")[0] and not file.endswith(".txt")]
        done = tool.run(tool.program, os.path.join(folder, dumps[0]), os.path.join(folder, name)) if dumps else None
        if done and (done.returncode not in (0, 10) or " agree, " not in done.stdout):
            raise Wrong(f"{name}: {done.stdout[-300:]}{done.stderr[-300:]}")


def main(arguments):
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ws-transcript-") as folder:
        root = os.path.abspath(arguments[1])
        tool = Tool(arguments[0], root, folder)
        tests = [(f"{name}: agrees", lambda name=name: agrees(tool, name)) for name in tool.names]
        tests += [(f"{change[0]}: another {change[3]} is found ({change[4]})", lambda change=change: finds(tool, *change))
                  for change in CHANGES]
        tests.append(("values and types as cuda-gdb writes them", lambda: values(root)))
        tests.append(("docs/ground-truth.md", lambda: page(tool, root)))
        real = os.path.join(root, "tests", "data", "h200")
        if os.path.isdir(real):
            tests.append(("dumps of a real GPU", lambda: real_dumps(tool, real)))
        print(f"1..{len(tests) + (not os.path.isdir(real))}")
        for number, (name, test) in enumerate(tests, 1):
            try:
                test()
                print(f"ok {number} - {name}", flush=True)
            except Wrong as why:
                failed += 1
                print(f"not ok {number} - {name}\n# {why}", flush=True)
        if not os.path.isdir(real):
            print(f"ok {len(tests) + 1} - dumps of a real GPU # SKIP no tests/data/h200")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
