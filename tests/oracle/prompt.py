#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The prompt against cuda-gdb 12.4: scripts that people paste print the same. Prints TAP.

usage: prompt.py WARPSCOPE

The commands are those that threads and scripts in public repositories have, and gdb's own; both debuggers run them over the same dumps,
without sources. A line must be the same but for what same() takes out: how wide columns are, names of functions that cuda-gdb
leaves mangled where an address is shown, the file that it names behind a symbol, its word "Virtual" before PC, and texts that a
pointer leads to, which it does not show, and the space before a star. Answers that differ on purpose are in DIFFERENT, each with its reason.
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path[:0] = [HERE]

import peer  # noqa: E402

COMMANDS = [
    "info cuda kernels", "info cuda devices", "info cuda sms", "info cuda warps", "info cuda lanes", "info cuda threads", "info cuda blocks",
    "info cuda contexts", "info cuda launch trace", "bt", "bt 2", "bt -2", "where", "bt full", "frame 1", "info locals", "info args", "up", "down", "down", "frame 99",
    "x/10i $pc", "x/6i $pc", "x/i $errorpc", "disas $pc,+64", "disassemble", "info registers R0 R1 R4", "info symbol $pc", "info symbol $errorpc",
    "info line *$pc", "info line *$errorpc", "x/8xw (@global int*)0x7f3a12000000", "x/2dw", "x/4dg (@global int*)0x7f3a12000000",
    "x/4uh (@global int*)0x7f3a12000000", "x/3ob (@global int*)0x7f3a12000000", "x/2tw (@global int*)0x7f3a12000000",
    "x/2cb (@global int*)0x7f3a12000000", "x/2fw (@global int*)0x7f3a12000000", "print *(int @parameter *)0x160",
    "print/x *(long @parameter *)0x160", "cuda kernel block thread", "cuda device sm warp lane", "cuda block 1 thread 0", "print blockIdx",
    "print threadIdx.x", "print gridDim", "print blockDim.x * gridDim.x", "print $R1", "print/x $R4", "print/d -1", "print/t 10", "print/o 64",
    "print/c 65", "print/u 255", "print/a $pc", "print $1", "print $", "print $$2", "output 7", "set $i = 5", "print $i + 1", "print $nothing",
    "print 3 > 2 ? 10 : 20", "print sizeof(long)", "whatis threadIdx", "ptype int", "ptype unsigned", 'printf "%d %s|%5.2f\\n", 3, "abc", 1.5',
    "echo done\\n", "display $R1", "info display", "undisplay 1", "info display", "info program", "frame level 1", "frame apply all p 1",
    "frame apply 2 -q p 7", "frame apply level 1-2 p 1", "faas p n", "select-frame 2", "frame", "frame 1", "bt -full 1", "show print elements", "show print repeats",
    "show print pretty", "set print elements 3", 'print "abcdef"', "show print elements", "print -elements 5 -- \"abcdef\"", "set print elements unlimited",
    "show print elements", "set print repeats 3", 'print "aaaab"', "set print pretty on", "show print pretty", "print cursor", "print -pretty off -- cursor",
    "info locals", "print gridDim", "frame 0", "info frame", "frame 1", "info frame", "whatis &cursor", "frame 2", "info frame", "print checksum::step", "frame 3", "info f", "frame 0", "print fold::rows",
    "whatis (@shared float*)0x10", "whatis (float*)0x10", "print (@shared float*)0x10", "print (float*)0x10",
    "print (@shared float**)0x10", "print 'calls.cu'::nothing", "print fold::nothing", "print $_isvoid($no)",
    "print $_isvoid(1)", 'print $_gdb_setting("print elements")', 'print $_gdb_setting_str("print elements")', "set print elements 7",
    'print $_gdb_setting("print elements")', 'print $_gdb_setting_str("print pretty")', "show cuda api_failures", "show cuda break_on_launch",
    "show cuda value_extrapolation", "show cuda hide_internal_frame", "show cuda context_events", "show cuda kernel_events", "show listsize",
    "show height", "show width", "show cuda coalescing", "show language", "show args", "show print address", "show print union",
    "frame 0", "info frame level 1", "info frame 2", "frame address 0xfffd78", "info args n", "info args -t int", "info locals zz",
    "bt -frame-arguments all", "bt -frame-arguments none", "bt -frame-arguments presence", "bt no-filters", "thread", "thread 1", "thread 7",
    "thread apply all bt", "thread apply all -q p 3", "taas p 3", "info line 14", "info cuda line $pc", "info cuda line *$pc", "info cuda line", "info cuda",
    "info cuda what", "info what", "info watchpoints", "info sharedlibrary", "info symbol 0", "nothing", "info s",
    "frame 1", "p $pc", "whatis $pc", "p 1,2", "p (1,2)+3", "p/z 5", "p/z $R1", "p/d 0xffffffff", "p -0x80000000", "p 0xffffffff == -1",
    "p {@global int}0x7f3a12000000", "x/4xw $_cuda_const_bank(0,0x160)", "p *$_cuda_const_bank(0,0x160)", "p $_cuda_const_bank(9,0)",
    "p (void)0", "call (void)0", "call 5", "p $sp", "p nothing", "p 1/0", "p &$R1", "p $R1@2", "p n@2", "p *1.5", "p cursor.foo", "p 1 +",
    "p/d 0x80000000", "p n = 3", "set var n = 3",
    "alias pp = print", "pp 5", "pp/x 255", "alias pp = output", 'with print elements 3 -- print "abcdef"', "with print pretty off -- print gridDim",
    "show print pretty", 'w print repeats 2 -- p "aaab"', 'eval "print %d + 1", 5', "set print array-indexes on", "print gridDim",
    "print *(@global int*)0x7f3a12000000@3", "show print array-indexes", "print -array-indexes off -- *(@global int*)0x7f3a12000000@3",
    "set print array-indexes off", "set output-radix 16", "show output-radix", "print 255", "print -1", "print 'a'", 'print "ab"', "print gridDim",
    "print 1.5", "print/d 255", "set output-radix 8", "print 64", "set output-radix 10", "print 255", "show print frame-arguments",
    "set print frame-arguments none", "bt", "set print frame-arguments presence", "bt", "set print frame-arguments scalars", "end",
    "p $_thread", "p $_gthread", "p $_inferior", "list nothing", "info line nothing", "info scope nothing",
]

BRANCH = "cuda-gdb gives branches of nvdisasm 12.4, relative to the function"
ARGUMENTS = "cuda-gdb 12.4 shows no arguments of a kernel"
WORDS = "our own words for what is not there"
DIFFERENT = {
    "disassemble": BRANCH, "x/10i $pc": BRANCH, "x/6i $pc": BRANCH,
    "info cuda kernels": ARGUMENTS, "info cuda launch trace": ARGUMENTS, "bt -full 1": "we say how many frames are left out",
    "bt 2": "we say how many frames are left out",
    "bt full": "a register of a caller that no callee saved is not optimized out",
    "x/2dw": "cuda-gdb goes on in another space than that of the address before",
    "x/3ob (@global int*)0x7f3a12000000": "ours are all as wide",
    "x/2cb (@global int*)0x7f3a12000000": "bytes of an input are escaped as everywhere in our output",
    "ptype unsigned": "the shorter name",
    'printf "%d %s|%5.2f\\n", 3, "abc", 1.5': "cuda-gdb needs a running program for it",
    "print fold::rows": "cuda-gdb does not unwind the registers of another frame than the one that is selected",
    "info f": "cuda-gdb gives a kernel, which has no caller, the saved registers of the frame that it calls",
    "print 'calls.cu'::nothing": WORDS, "print fold::nothing": WORDS,
    "display $R1": "cuda-gdb shows it at the next stop only, for a dump",
}


def same(line):
    """A line without what may differ."""
    line = re.sub(r"<(_Z\w+|\w+(?:\([^<>]*\))?)([+>])", r"<FUNCTION\2", line)
    line = re.sub(r"function _Z\w+:", "function FUNCTION:", line)
    line = re.sub(r' (<error: [^>]*>|<its text is not in the dump>|"(?:[^"\\]|\\.)*"(?:\.\.\.)?)', "", line) if "0x" in line else line
    line = re.sub(r" of /tmp/cuda-dbg/\S+", "", line).replace("Virtual PC", "PC")
    line = re.sub(r"^(=>|\*>|\*=>)?\s*0x0*", lambda m: (m.group(1) or "") + " 0x", line)
    line = re.sub(r"(?<=[\w>]) (?=\*)", "", line) if "(@" in line or "type =" in line or "*) 0x" in line else line
    return " ".join(line.rstrip(".").split())


def ours_of(program, dump):
    """Answers of our prompt by the number of the command. Each is an --ex, as theirs: a failure in a file of commands ends the file."""
    words = [word for i, command in enumerate(COMMANDS) for word in ("--ex", f"echo \\n>>>> {i}\\n\\n", "--ex", command)]
    done = subprocess.run([program, "shell", "--batch", "--source-map", "/src=/nowhere", *words, dump], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    return re.split(r"\n>>>> \d+\n", done.stdout)[1:]


def theirs_of(peers, dump):
    """Answers of cuda-gdb likewise: the peers script has it echo each command before, with its escapes."""
    said, found = peer.run(peers, dump, COMMANDS), []
    for command in COMMANDS:
        mark = f">>> {command}\n".replace("\\n", "\n").replace("\\\\", "\\")
        before, mark, said = said.partition(mark)
        found.append(before)
    return found[1:] + [said]


def lines(text):
    return [line for line in (same(one) for one in text.split("\n")) if line]


def main():
    program = os.path.abspath(sys.argv[1])
    peers, why = peer.find()
    dumps = ["misaligned-G"]
    print(f"1..{len(dumps) * len(COMMANDS)}")
    number = failed = 0
    for name in dumps:
        dump = os.path.abspath(os.path.join(ROOT, "examples", "dumps", name + ".nvcudmp"))
        ours = ours_of(program, dump) if peers else [""] * len(COMMANDS)
        theirs = theirs_of(peers, dump) if peers else [""] * len(COMMANDS)
        for i, command in enumerate(COMMANDS):
            number += 1
            if why:
                print(f"ok {number} - {name}: {command} # SKIP {why}")
                continue
            got, want = lines(ours[i]), lines(theirs[i])
            good = got == want or command in DIFFERENT
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - {name}: {command}")
            if not good:
                print(f"# {got!r}\n# {want!r}")
    return 1 if failed else 0


sys.exit(main())
