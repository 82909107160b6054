#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The API tables: kept output is current, wrong tables are refused, old shapes compile. Prints TAP.

usage: test_tables.py ROOT
"""

import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(sys.argv[1])
TABLES = os.path.join(ROOT, "src/cudbg/api")
APIGEN = os.path.join(ROOT, "tools/apigen.py")

# name of the case, table, text in it, what replaces it, part of the refusal
REFUSED = [
    ("a slot used twice", "fn-init.tbl", "slot 1\n", "slot 0\n", "slot"),
    ("a gap between slots", "fn-init.tbl", "slot 1\n", "slot 1000\n", "slot"),
    ("a code that is none", "fn-init.tbl", "codes SUCCESS UNINIT", "codes SUCCESS XUNINIT", "not a result code"),
    ("a cause without its code", "fn-run.tbl", "when SUSPENDED_DEVICE", "when INVALID_GRID", "does not return"),
    ("an argument of an unknown type", "fn-grid.tbl", "arg CuDim3 *", "arg CuDim4 *", "unknown"),
    ("a count that is no argument", "fn-inspect.tbl", "[out sz]", "[out size_of_it]", "not an argument"),
    ("an unknown direction", "fn-inspect.tbl", "[out sz]", "[around sz]", "cannot be"),
    ("an unknown need", "fn-inspect.tbl", "needs stopped", "needs coffee", "unknown need"),
    ("an answer that is no code of the function", "fn-run.tbl", "dump answers SUSPENDED_DEVICE",
     "dump answers INVALID_GRID", "does not return"),
    ("a successor that is no function", "fn-run.tbl", "-> singleStepWarp\n", "-> jump\n", "not a function"),
    ("an older form of no function", "fn-run.tbl", "as resumeWarpsUntilPC ", "as resumeWarps ", "not a function"),
    ("an older form that is no part", "fn-inspect.tbl", "part readWarpState\n", "part readBlockIdx\n", "not the first part"),
    ("a field at the wrong offset", "structs.tbl", "field 4 8 uint64_t gridId64", "field 8 8 uint64_t gridId64",
     "a compiler puts it"),
    ("a structure of the wrong size", "structs.tbl", "size 92 packed", "size 96 packed", "a compiler makes it"),
    ("a structure without its end", "structs.tbl", "\tend\n", "\n", "end"),
    ("an enumerator twice", "enums.tbl", "CUDBG_ERROR_UNKNOWN 1", "CUDBG_SUCCESS 1", "twice"),
    ("an unknown line", "enums.tbl", "\tvalue CUDBG_SUCCESS", "\tvalve CUDBG_SUCCESS", "unknown line"),
    ("an unknown item", "constants.tbl", "define CUDBG_MAX_SMS", "undefine CUDBG_MAX_SMS", "unknown item"),
]

results = []


def report(name, good, note=""):
    results.append(good)
    print("%s %d - %s" % ("ok" if good else "not ok", len(results), name))
    if not good and note:
        print("\n".join("# " + line for line in note.strip().split("\n")))


def apigen(*args):
    return subprocess.run([sys.executable, APIGEN, *args], capture_output=True, text=True, check=False)


def compiles(name, path, language, *flags):
    compiler = os.environ.get("CC", "cc").split()
    run = subprocess.run(compiler + ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-x", language,
                                     *flags, path], capture_output=True, text=True, check=False)
    report(name, run.returncode == 0, run.stderr)


def refused(work, case):
    name, table, old, new, words = case
    folder = os.path.join(work, "tables")
    shutil.copytree(TABLES, folder)
    path = os.path.join(folder, table)
    text = open(path, encoding="utf-8").read()
    assert old in text, (table, old)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text.replace(old, new, 1))
    run = apigen(folder, "check")
    report("refused: " + name, run.returncode == 1 and words in run.stderr and "Traceback" not in run.stderr,
           run.stderr)
    shutil.rmtree(folder)


# text in the header as of 12.4, what replaces it, part of what the comparison says of it
DIFFERENT = [
    ("CUDBG_EXCEPTION_WARP_ASSERT = 12", "CUDBG_EXCEPTION_WARP_ASSERT = 112", "CUDBG_EXCEPTION_WARP_ASSERT: ours 12, theirs 112"),
    ("uint64_t gridId64;", "uint32_t gridId64;", "CUDBGEvent55.cases.kernelReady.origin"),
    ("(*readGridId)(uint32_t dev,", "(*readGridId)(uint64_t dev,", "readGridId: ours 1, theirs 0"),
    ("CUDBGResult (*initialize)(void);", "CUDBGResult (*initialize)(void); void *more;", "finalize: ours 1, theirs 2"),
]


def comparison(work):
    """tests/oracle/headers.py, with a header of ours in the place of the vendor's."""
    folder = os.path.join(work, "vendor")
    os.mkdir(folder)
    header = os.path.join(folder, "cudadebugger.h")
    apigen(TABLES, "header", "--as-of", "12.4", header)
    with open(header, encoding="utf-8") as lines:
        text = lines.read()
    run = [sys.executable, os.path.join(ROOT, "tests/oracle/headers.py"), folder]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    report("compared with a header of 12.4: the same", done.returncode == 0 and "slot of 133" in done.stdout, done.stdout + done.stderr)
    for old, new, words in DIFFERENT:
        assert old in text, old
        with open(header, "w", encoding="utf-8") as out:
            out.write(text.replace(old, new, 1))
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        report("compared with a header that has %s" % new, done.returncode == 1 and words in done.stdout, done.stdout + done.stderr)


def driven(work):
    """What works on a running target has done so while a kernel was there, not on a scripted target alone."""
    page = os.path.join(work, "coverage.md")
    run = apigen(TABLES, "coverage", "--tests", os.path.join(ROOT, "tests/api"), page)
    report("a page is made of them", run.returncode == 0, run.stderr)
    with open(page, encoding="utf-8") as file:
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in file if line.startswith("| ") and "| `" in line]
    rows = [row for row in rows if row[0].isdigit()]
    idle = [row[1] for row in rows if ("SUCCESS" if row[3].startswith("works") else row[3].partition(":")[0]) not in row[5].split()]
    report("each function gave on a device that runs what it is said to", len(rows) == 164 and not idle, " ".join(idle))


def main():
    print("1..%d" % (len(REFUSED) + len(DIFFERENT) + 9))
    with tempfile.TemporaryDirectory() as work:
        run = apigen(TABLES, "check")
        report("the tables are accepted", run.returncode == 0, run.stderr)
        driven(work)
        header = os.path.join(work, "cudadebugger.h")
        run = apigen(TABLES, "header", header)
        report("a header is made of them", run.returncode == 0, run.stderr)
        one = os.path.join(work, "one.h")
        with open(one, "w", encoding="utf-8") as out:
            out.write('#include "%s"\n' % header)
        compiles("the header compiles alone as C", one, "c", "-std=c11")
        compiles("the header compiles alone as C++", one, "c++", "-std=c++11")
        old = os.path.join(work, "old.h")
        run = apigen(TABLES, "header", "--as-of", "12.4", old)
        with open(one, "w", encoding="utf-8") as out:
            out.write('#include "old.h"\n_Static_assert(sizeof(struct CUDBGAPI_st) == 133 * sizeof(void *), "");\n'
                      '_Static_assert(sizeof(CUDBGWarpState) == 820 && sizeof(CUDBGGridInfo) == 100, "");\n')
        compiles("the header as of 12.4 compiles", one, "c", "-std=c11", "-I", work)
        run = apigen(TABLES, "header", "--as-of", "9.0", old)
        with open(one, "w", encoding="utf-8") as out:
            out.write('#include "old.h"\n_Static_assert(sizeof(struct CUDBGAPI_st) == 114 * sizeof(void *), "");\n')
        compiles("the header as of 9.0 compiles", one, "c", "-std=c11", "-I", work)
        comparison(work)
        for case in REFUSED:
            refused(work, case)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
