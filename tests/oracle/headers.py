#!/usr/bin/env python3
"""Our declarations against the vendor's headers (TAP): headers.py [FOLDER]

FOLDER holds cudadebugger.h and perhaps cudacoredump.h of any version: the toolkit's extras/Debugger/include, or cuda-gdb's folder
in /usr/include. Without it the usual places are looked at; where there is none, a TAP skip. Of everything that src/cudbg/api says the
header's version has, size, offset, value, slot and prototype are compared; and the rows of tests/builders/layout.py with the
structures of the dump format. Nothing of the headers is kept.
"""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
sys.path[:0] = [HERE, os.path.join(ROOT, "tools"), os.path.join(ROOT, "tests", "builders")]

import api_model  # noqa: E402
import layout  # noqa: E402
import peer  # noqa: E402

ROWS = {"device": "Device", "context": "Context", "module": "Module", "grid": "Grid", "constbank": "ConstBank", "sm": "Sm", "cta": "CTA",
        "warp": "Warp", "lane": "Thread", "frame": "Backtrace", "meta": "MetaData"}
# Driver branch of a release: cudacoredump.h does not say its own.
DRIVERS = ((6, 0, 346), (10, 0, 400), (12, 0, 525), (12, 4, 550), (12, 5, 555), (12, 7, 565), (12, 8, 570), (12, 9, 575), (13, 0, 580),
           (13, 1, 590), (13, 4, 615))


def find(arguments):
    places = arguments or [os.environ.get("WARPSCOPE_CUDA_INCLUDE", ""), "/usr/local/cuda/extras/Debugger/include", "/usr/include/cuda-gdb"]
    script = None if arguments else peer.find()[0]
    if script:
        root = subprocess.run([script, "root"], capture_output=True, text=True, check=True).stdout.strip()
        places.append(os.path.join(root, "usr", "include", "cuda-gdb"))
    return next((place for place in places if os.path.exists(os.path.join(place, "cudadebugger.h"))), None)


def version_of(folder):
    with open(os.path.join(folder, "cudadebugger.h"), encoding="utf-8", errors="replace") as header:
        numbers = dict(re.findall(r"#define CUDBG_API_VERSION_(\w+)\s+(\d+)", header.read()))
    return int(numbers["MAJOR"]), int(numbers["MINOR"]), int(numbers["REVISION"])


def fields(members, path="", start=0):
    """(path, offset, since) of every member, those of nested ones too."""
    for field in members:
        if field.name:
            yield path + field.name, start + field.offset, field.since
        yield from fields(field.members or (), path + (field.name + "." if field.name else ""), start + field.offset)


def api_items(api, asof):
    """(kind, name, C expression, value) of what the tables say that a version has."""
    dates = {struct.name: struct.since for struct in api.structs} | {name: since for name, *_, since, _ in api.callbacks}

    def has(since):
        return not since or api_model.version(since) <= asof

    def called(name):
        """The number at the end came when a successor took the name: the last of them before it has none."""
        bare = re.sub(r"\d+$", "", name)
        family = [(api_model.version(since), one) for one, since in dates.items() if re.fullmatch(bare + r"\d*", one) and has(since)]
        return bare if family and not has(dates.get(bare, "0")) and max(family)[1] == name else name
    for struct in (struct for struct in api.structs if has(struct.since)):
        name = called(struct.name)
        if all(has(since) for _, _, since in fields(struct.members)):
            yield "size", name, f"sizeof({name})", struct.size
        for path, offset, since in fields(struct.members):
            if has(since):
                yield "offset", f"{name}.{path}", f"offsetof({name}, {path})", offset
    newest = max(api_model.version(function.since) for function in api.functions)
    for enum in api.enums:
        for value in enum.values:
            grows = value.name.endswith("_ATTRIBUTE_COUNT") or value.name == "CUDBG_COREDUMP_LIGHTWEIGHT_FLAGS"
            if has(value.since) and (asof >= newest or not grows):
                yield "value", value.name, f"(unsigned)({value.name})", value.number & 0xffffffff
    for function in (function for function in api.functions if has(function.since)):
        name = function.name_in(asof)
        member = f"((struct CUDBGAPI_st *)0)->{name}"
        types = ", ".join(re.sub(r"\w+", lambda word: called(word[0]), arg.ctype) for arg in function.args) or "void"
        yield "slot", name, f"offsetof(struct CUDBGAPI_st, {name}) / 8", function.slot
        yield "prototype", name, f"__builtin_types_compatible_p(__typeof__({member}), CUDBGResult (*)({types}))", 1


def row_items(driver):
    for table, rows in layout.TABLES.items():
        size, offset = layout.sizes(driver)[table], 0
        if not size:
            continue
        name, made = f"Cudbg{ROWS[table]}TableEntry" if table != "meta" else "CudbgMetaDataEntry", layout.Layout(table, driver)
        yield "size", name, f"sizeof({name})", size
        for field, offset in zip(made.fields, offsets(made)):
            yield "offset", f"{name}.{field}", f"offsetof({name}, {field})", offset
        assert len(made.fields) <= len(rows)


def offsets(made):
    """Where each field of a layout is: pack one at a time and look which byte it sets."""
    for name in made.fields:
        yield made.pack({name: 0xff}, lambda text: 0).index(b"\xff")


def ask(compiler, folder, headers, items):
    """{(kind, name): value} of the items that the headers know."""
    items = list(items)
    with tempfile.TemporaryDirectory() as work:
        source, program = os.path.join(work, "ask.c"), os.path.join(work, "ask")
        while True:
            lines = [f"#include <{header}>" for header in ("stddef.h", "stdint.h", "stdbool.h", "stdio.h", *headers)]
            first = len(lines) + 2
            lines += ["int main(void) {"] + [f'printf("%llu\\n", (unsigned long long)({item[2]}));' for item in items] + ["return 0; }"]
            with open(source, "w", encoding="ascii") as out:
                out.write("\n".join(lines) + "\n")
            done = subprocess.run([compiler, "-w", "-std=gnu11", "-fmax-errors=0", "-I" + folder, source, "-o", program],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0:
                break
            bad = {int(number) - first for number in re.findall(r"ask\.c:(\d+):\d+: error", done.stderr)}
            if not bad & set(range(len(items))):
                raise RuntimeError(done.stderr[-1000:])
            items = [item for number, item in enumerate(items) if number not in bad]
        said = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    return {item[:2]: int(value) for item, value in zip(items, said)}


def compare(what, items, answers, number):
    """Prints a case for each kind; the number of those that failed."""
    failed = 0
    for number, kind in enumerate(sorted({item[0] for item in items}), number):
        mine = [item for item in items if item[0] == kind]
        wrong = [f"{item[1]}: ours {item[3]}, theirs {answers[item[:2]]}" for item in mine
                 if item[:2] in answers and answers[item[:2]] != item[3]]
        absent = [item[1] for item in mine if item[:2] not in answers]
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {what}: {kind} of {len(mine) - len(absent)}")
        print("".join(f"# {line}\n" for line in wrong), end="")
        if absent:
            print(f"# {len(absent)} are not in the header: {' '.join(absent[:6])}{' ...' if len(absent) > 6 else ''}")
    return failed, number + 1


def main(arguments):
    folder = find(arguments)
    if not folder:
        print("1..0 # SKIP no cudadebugger.h of the vendor (give its folder, or set WARPSCOPE_CUDA_INCLUDE)")
        return 0
    compiler = os.environ.get("CC", "cc").split()[-1]
    major, minor, revision = version_of(folder)
    print(f"# {folder}: {major}.{minor}.{revision}")
    items = list(api_items(api_model.load(os.path.join(ROOT, "src", "cudbg", "api")), (major, minor)))
    failed, number = compare("cudadebugger.h", items, ask(compiler, folder, ["cudadebugger.h"], items), 1)
    if os.path.exists(os.path.join(folder, "cudacoredump.h")):
        driver = max(branch for *release, branch in DRIVERS if tuple(release) <= (major, minor))
        items = list(row_items(driver))
        more, number = compare(f"cudacoredump.h, r{driver}", items, ask(compiler, folder, ["cudacoredump.h"], items), number)
        failed += more
    print(f"1..{number - 1}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
