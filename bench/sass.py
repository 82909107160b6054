#!/usr/bin/env python3
"""The disassembler beside nvdisasm, and its size: sass.py BUILD

disas  `warpscope disas` against nvdisasm on one cubin of 468,480 instructions, made of the code of the committed sm_80 cubins
       over and over: CPU time of whole processes in the same run (ours the best of 8, half of them before nvdisasm's one and
       half after), output to /dev/null; asked for: at least 100 times as fast.
       $NVDISASM, nvdisasm on PATH, or that of the peers script (tests/oracle/README.md); "skipped" without one.
sass   code and tables of src/sass in the library, at most 600 kB; and the time that the tables take to be generated.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(ROOT, "tests", name) for name in ("oracle", "builders")]
import cubin  # noqa: E402
import peer  # noqa: E402
from seconds import cpu  # noqa: E402

SM, INSTRUCTIONS, ROUNDS, SPEED, BYTES = 80, 468480, 4, 100, 600_000


def make_cubin(program, folder):
    """Makes x.cubin; the number of its instructions."""
    functions = []
    for name in sorted(glob.glob(os.path.join(ROOT, f"tests/data/cubins/*.sm_{SM}.cubin"))):
        with open(name, "rb") as handle:
            image = cubin.Cubin(handle.read())
        for section in image.sections:
            if section.flags & cubin.SHF_EXECINSTR:
                code = image.bytes_of(section)
                functions.append([int.from_bytes(code[i:i + 16], "little") for i in range(0, len(code), 16)])
    functions *= -(-INSTRUCTIONS // sum(map(len, functions)))
    with open(os.path.join(folder, "x.s"), "w", encoding="ascii") as out:
        out.write(f".arch sm_{SM}\n")
        for number, words in enumerate(functions):
            out.write(f".kernel f{number}\n" + "".join(f".word {word:#x}\n" for word in words) + ".end\n")
    cpu(program, "as", "x.s", "-o", "x.cubin", cwd=folder)
    return sum(map(len, functions))


def find_nvdisasm():
    """(command, None) or (None, why there is none)."""
    path = os.environ.get("NVDISASM") or shutil.which("nvdisasm")
    if path:
        return [path], None
    peers, why = peer.find()
    return ([peers, "nvdisasm"], None) if peers else (None, why)


def measure_speed(program):
    command, why = find_nvdisasm()
    with tempfile.TemporaryDirectory() as folder:
        count = make_cubin(program, folder)

        def ours():
            return min(cpu(program, "disas", "x.cubin", cwd=folder) for _ in range(ROUNDS))
        best = ours()
        theirs = cpu(*command, "-c", "x.cubin", cwd=folder) if command else 0
        best = min(best, ours())
    line = f"  disas     {count} instructions: {best * 1e3:.0f} ms, {count / best / 1e6:.1f} million a second; nvdisasm "
    if not command:
        print(f"{line}SKIP: {why}")
        return
    good = theirs >= SPEED * best
    print(f"{line}{theirs * 1e3:.0f} ms; {theirs / best:.0f} times as fast (at least {SPEED})  {'good' if good else 'TOO SLOW'}")


def measure_size(build):
    """Sections of the objects that have bytes in the library."""
    library = os.path.join(build, "src/libwarpscope.a")
    names = subprocess.run(["ar", "t", library], capture_output=True, text=True, check=True).stdout.split()
    wanted = [n for n in names if n.startswith("sass_") or "sass_table" in n]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["ar", "x", os.path.abspath(library), *wanted], cwd=folder, check=True)
        rows = subprocess.run(["size", *wanted], cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()[1:]
        sizes = {row.split()[5]: sum(int(n) for n in row.split()[:3]) for row in rows}
        start = time.monotonic()
        isa = sorted(glob.glob(os.path.join(ROOT, "src/sass/isa/*.isa")))
        subprocess.run([sys.executable, os.path.join(ROOT, "tools/isagen.py"), "tables", *isa, "-o",
                        os.path.join(folder, "table.c")], check=True)
        seconds = time.monotonic() - start
    total = sum(sizes.values())
    table = sum(n for name, n in sizes.items() if "sass_table" in name)
    good = total <= BYTES
    print(f"  sass      {total / 1e3:.0f} kB (at most {BYTES // 1000}), {table / 1e3:.0f} kB of it tables, generated in "
          f"{seconds:.1f} s  {'good' if good else 'TOO LARGE'}")


def main(build):
    measure_speed(os.path.abspath(os.path.join(build, "warpscope")))
    measure_size(build)


if __name__ == "__main__":
    main(sys.argv[1])
