#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Roles and widths of operands against compiled code, with tests/oracle/sass/reads.c; and what that program finds in code with planted faults.

    test_sass_reads.py SASS-READS WARPSCOPE SOURCE-ROOT
"""
import pathlib
import subprocess
import sys
import tempfile

# name, code, the line that must be there: fault, instruction, operand; None: no fault
PLANTED = [
    ("all is written before", ["S2R R2, SR_TID.X", "IMAD.WIDE.U32 R4, R2, R2, RZ", "DADD R6, R4, R4", "STG.E.64 [R4], R6"], None),
    ("one register was not", ["S2R R2, SR_TID.X", "IADD3 R4, R2, R3, RZ", "STG.E [R4], R2"], ("never", "IADD3", "2.0 of 1")),
    ("half of a pair was not", ["S2R R2, SR_TID.X", "DADD R4, R2, R2", "STG.E.64 [R4], R4"], ("never", "DADD", "1.1 of 2")),
    ("a predicate was not", ["@P1 EXIT"], ("never", "EXIT", "guard")),
    ("on one path it was", ["S2R R2, SR_TID.X", "ISETP.NE.AND P0, PT, R2, RZ, PT", "@P0 S2R R3, SR_LANEID", "STS [R2], R3"], None),
    ("a vector starts anywhere", ["CS2R R2, SR_CLOCKLO", "STG.E [R2], RZ", "CS2R R5, SR_CLOCKLO", "STG.E [R2], R5"], ("odd", "CS2R", "0 of 2")),
    ("a vector ends behind the last register", ["CS2R R22, SR_CLOCKLO", "CS2R R24, SR_CLOCKLO", "STG.E [R22], R24"], ("odd", "CS2R", "0 of 2")),
    ("a result is not read", ["S2R R2, SR_TID.X", "CS2R R4, SR_CLOCKLO", "STG.E [R4], RZ"], ("dead", "S2R", "0.0 of 1")),
]


def main():
    reads, warpscope, root = sys.argv[1:]
    cubins = sorted(pathlib.Path(root, "tests/data/cubins").glob("*.cubin"))
    cases = [(path.name, subprocess.run([reads, path], stdout=subprocess.PIPE, text=True, check=False), None) for path in cubins]
    with tempfile.TemporaryDirectory() as folder:
        for name, code, want in PLANTED:
            text = f"{folder}/code.s"
            pathlib.Path(text).write_text("\n".join([".arch sm_80", ".kernel k", ".regs 25", *code, "EXIT", ".end", ""]), encoding="ascii")
            subprocess.run([warpscope, "as", text, "-o", f"{folder}/code.cubin"], check=True)
            cases.append((name, subprocess.run([reads, f"{folder}/code.cubin"], stdout=subprocess.PIPE, text=True, check=False), want))
    print(f"1..{len(cases)}")
    for i, (name, done, want) in enumerate(cases, 1):
        faults = [line.split("\t") for line in done.stdout.splitlines() if line[0] != "#"]
        grave = [line for line in faults if line[1] != "dead"]
        if want:
            good = any(f[1] == want[0] and f[2].split(" ")[1] == want[1] and f[3] == want[2] for f in faults)
        else:
            good = not grave
        good = good and done.returncode == bool(grave)
        print(f"{'ok' if good else 'not ok'} {i} - {name}")
        if not good:
            print("".join(f"# {line}\n" for line in done.stdout.splitlines()), end="")


if __name__ == "__main__":
    main()
