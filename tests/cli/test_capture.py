#!/usr/bin/env python3
"""tools/capture/run.sh without a GPU: test_capture.py SOURCE_ROOT. Prints TAP.

The shell logic against stand-ins: nvcc "builds" a program that writes a dump where the environment says, cuda-gdb echoes its
commands. Every stage must end, leave the archives it promises, none above the limit and at most 8, and clean up. The patch of a
cubin is checked on one of ours.
"""

import os
import stat
import subprocess
import sys
import tarfile
import tempfile

PROGRAM = """#!/bin/bash
out=${CUDA_COREDUMP_FILE:-${CAPI:-}}
out=${out//%[hpt]/1}; out=${out//%%/p}
if [ -n "${CUDA_COREDUMP_PIPE:-}" ]; then
	pipe=${CUDA_COREDUMP_PIPE//%[hpt]/1}; mkfifo "$pipe"; cat "$pipe" >/dev/null
fi
if [ -n "$out" ]; then
	case $0 in *c17*) head -c 200000 /dev/urandom >"$out";; *) head -c 3000 /dev/urandom >"$out";; esac
	echo "Writing ELF file to $out"
fi
exit 134
"""
NVCC = """#!/bin/bash
case "$*" in *--version*) echo "nvcc: stand-in"; exit;; esac
case "$*" in *DCASE=13*) echo "error: broken on purpose" >&2; exit 1;; esac
while [ $# -gt 0 ]; do
	case $1 in -cubin) cubin=1;; -o) shift; out=$1;; esac; shift
done
if [ -n "${cubin:-}" ]; then cp "$STANDIN/image.cubin" "$out"; else cp "$STANDIN/program" "$out"; fi
"""
GCC = """#!/bin/bash
while [ $# -gt 0 ]; do case $1 in -o) shift; cp "$STANDIN/program" "$1";; esac; shift; done
"""
GDB = """#!/bin/bash
[ "$1" = --version ] && echo "cuda-gdb: stand-in" && exit
while [ $# -gt 0 ]; do case $1 in -ex) shift; case $1 in echo*) printf "${1#echo }";; esac;; esac; shift; done
"""
ARCHIVES = {
    "A": {"text.tar.xz", "cubins.tar.xz", "dumpsG.tar", "dumpsL.tar"},  # dump17 is too large here
    "B": {"textB.tar.xz", "dumpsB.tar"},
    "C": {"textC.tar.xz"},
    "D": {"textD.tar.xz"},
    "E": {"textE.tar.xz", "dumpsE.tar"},
}
MOST = 150000


class Wrong(Exception):
    pass


class Machine:
    """A folder with stand-ins for everything that a GPU machine has."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.bin, self.tmp = os.path.join(folder, "bin"), os.path.join(folder, "tmp")
        os.mkdir(self.bin), os.mkdir(self.tmp)
        cubin = os.path.join(root, "tests", "data", "cubins", "calls.G.sm_80.cubin")
        with open(cubin, "rb") as source, open(os.path.join(folder, "image.cubin"), "wb") as out:
            out.write(source.read())
        for name, text in (("nvcc", NVCC), ("cuda-gdb", GDB), ("gcc", GCC), ("nvidia-smi", "#!/bin/sh\necho stand-in\n"),
                           ("nvidia-cuda-mps-control", "#!/bin/sh\ncat >/dev/null </dev/null\n"), ("sleep", "#!/bin/sh\nexec /bin/sleep 0.5\n")):
            self.put(os.path.join(self.bin, name), text)
        self.put(os.path.join(folder, "program"), PROGRAM)

    @staticmethod
    def put(path, text):
        with open(path, "w", encoding="ascii") as out:
            out.write(text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)

    def run(self, stage, **more):
        out = os.path.join(self.folder, f"out-{stage}")
        os.mkdir(out)
        environment = {**os.environ, "PATH": self.bin + os.pathsep + os.environ["PATH"], "OUT": out, "STANDIN": self.folder,
                       "TMPDIR": self.tmp, "SHORTER": "10", "MOST_BYTES": str(MOST), **more}
        done = subprocess.run([os.path.join(self.root, "tools", "capture", "run.sh"), stage], env=environment, timeout=100,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout, out


def members(path):
    with tarfile.open(path) as archive:
        return {member.name: member.size for member in archive.getmembers() if member.isfile()}


def stage(machine, name, **more):
    status, said, out = machine.run(name, **more)
    files = set(os.listdir(out))
    if status or not ARCHIVES[name] <= files or len(files) > 8:
        raise Wrong(f"status {status}, {sorted(files)}: {said[-600:]}")
    for file in files:
        if os.path.getsize(os.path.join(out, file)) > MOST:
            raise Wrong(f"{file} is too large")
    if os.listdir(machine.tmp):
        raise Wrong(f"left behind: {os.listdir(machine.tmp)}")
    return said, out


def faults(machine):
    said, out = stage(machine, "A", CASES="1 13 17")
    if "case 13 was not built" not in said or "broken on purpose" not in said:
        raise Wrong(f"a program that does not compile is not told: {said[-600:]}")
    if "dump17: d/c17G.core is left out: 200000 bytes, sha256" not in said:
        raise Wrong(f"a dump that does not fit is not told: {said[-600:]}")
    if set(members(os.path.join(out, "dumpsG.tar"))) != {"d/c18G.core.xz", "d/c1G.core.xz"}:
        raise Wrong(str(members(os.path.join(out, "dumpsG.tar"))))
    with tarfile.open(os.path.join(out, "text.tar.xz")) as archive:
        text = archive.extractfile("t/c1G.txt").read().decode()
        with open(os.path.join(machine.root, "tools", "capture", "oracle.cmds"), encoding="ascii") as commands:
            for command in commands.read().splitlines():
                if f">>> {command}\n" not in text:
                    raise Wrong(f"{command} is not in the transcript")
        if "exit 134" not in archive.extractfile("t/c1G.run").read().decode():
            raise Wrong("the exit status is not in t/c1G.run")


def variants(machine):
    _, out = stage(machine, "B")
    have = members(os.path.join(out, "dumpsB.tar"))
    for name in ("v.all", "v.skip_abort", "fifo", "user.1.1.1.p", "multi", "capi.1", "many"):
        if not any(file.startswith(f"d/{name}") and size > 100 for file, size in have.items()):
            raise Wrong(f"no dump {name}: {sorted(have)}")


def patched(machine):
    """One instruction of the cubin is another one, and nothing else."""
    source, out = os.path.join(machine.folder, "image.cubin"), os.path.join(machine.folder, "patched.cubin")
    subprocess.run([sys.executable, os.path.join(machine.root, "tools", "capture", "patch-cubin.py"), source, out], check=True)
    with open(source, "rb") as a, open(out, "rb") as b:
        before, after = a.read(), b.read()
    changed = [i for i, (x, y) in enumerate(zip(before, after)) if x != y]
    if len(before) != len(after) or not changed or changed[-1] - changed[0] > 1 or after[changed[0]] != 0xff:
        raise Wrong(str(changed))


def refuses(machine):
    done = subprocess.run([os.path.join(machine.root, "tools", "capture", "run.sh"), "X"], capture_output=True, text=True,
                          env={**os.environ, "PATH": machine.bin + os.pathsep + os.environ["PATH"], "OUT": machine.tmp,
                               "TMPDIR": machine.tmp}, check=False)
    if done.returncode != 2 or "A|B|C|D|E" not in done.stdout:
        raise Wrong(f"status {done.returncode}: {done.stdout[:200]}")


CASES = (
    ("A: faults, transcripts, what does not build or fit", faults),
    ("B: flags, trigger, FIFO, contexts, modules", variants),
    ("C: live sessions", lambda machine: stage(machine, "C")),
    ("D: our own client", lambda machine: stage(machine, "D")),
    ("E: attach and MPS", lambda machine: stage(machine, "E")),
    ("a patched cubin", patched),
    ("no such stage", refuses),
)


def main(arguments):
    failed = 0
    print(f"1..{len(CASES)}")
    with tempfile.TemporaryDirectory(prefix="ws-capture-") as folder:
        machine = Machine(os.path.abspath(arguments[0]), folder)
        for number, (name, test) in enumerate(CASES, 1):
            try:
                test(machine)
                print(f"ok {number} - {name}", flush=True)
            except (Wrong, OSError, KeyError, subprocess.SubprocessError) as why:
                failed += 1
                print(f"not ok {number} - {name}\n# {type(why).__name__}: {str(why)[:900]}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
