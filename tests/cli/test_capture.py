#!/usr/bin/env python3
"""tools/capture without a GPU: test_capture.py WARPSCOPE SOURCE_ROOT. Prints TAP.

The shell logic against stand-ins: nvcc "builds" a program that writes a dump where the environment says, as the driver would; cuda-gdb
answers with the transcript that is recorded of that dump (tests/data/transcripts), else refuses the dump. Every stage must end in
time, leave what it promises, none above the limit and at most 8, tell every file in its manifest, and clean up, whatever fails
or hangs in it. What comes out goes through import.py into fixtures and the page of agreement.
"""

import gzip
import hashlib
import lzma
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import time

# c1* leave one recorded dump, c2* another, the others random bytes; c5* hang; c17* are large.
PROGRAM = """#!/bin/bash
case $0 in *c5?) exec -a hanging /bin/sleep 1000;; esac
out=${CUDA_COREDUMP_FILE:-${CAPI:-}}
flags=${CUDA_COREDUMP_GENERATION_FLAGS:-}
if [ -n "${CUDA_COREDUMP_PIPE:-}" ]; then
	pipe=${CUDA_COREDUMP_PIPE//%[hpt]/1}; mkfifo "$pipe"; cat "$pipe" >/dev/null
fi
case $out in "|"*) to="| sh -c '${out#|}'";; *) out=${out//%[hpt]/1}; out=${out//%%/p}; to='>"$out"';; esac
case $flags in
*log_only*) exit 134;;
*gzip_compress*) gzip <"$STANDIN/illegal-address.dump" >"$out.gz"; exit 134;;
*faulted*) echo "WARNING: Ignoring unknown coredump flag '$flags'";;
esac
case $0 in
*c17*) source=(head -c 200000 /dev/urandom);;
*/c1?) source=(cat "$STANDIN/illegal-address.dump");;
*/c2?) source=(cat "$STANDIN/misaligned-G.dump");;
*) source=(head -c 3000 /dev/urandom);;
esac
[ -n "$out" ] && eval '"${source[@]}" '"$to" && echo "coredump: Writing ELF file to $out"
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
while [ $# -gt 0 ]; do
	if [ "$1" = -ex ]; then
		shift
		case $1 in
		echo*) printf "${1#echo }";;
		"target cudacore "*)
			for known in "$STANDIN"/*.dump; do
				cmp -s "$known" "${1#target cudacore }" && cat "${known%.dump}.txt" && exit
			done
			echo "Failed to read core file: stand-in";;
		esac
	fi
	shift
done
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

    def __init__(self, program, root, folder):
        self.program, self.root, self.folder = program, root, folder
        self.bin, self.tmp = os.path.join(folder, "bin"), os.path.join(folder, "tmp")
        os.mkdir(self.bin), os.mkdir(self.tmp)
        cubin = os.path.join(root, "tests", "data", "cubins", "calls.G.sm_80.cubin")
        with open(cubin, "rb") as source, open(os.path.join(folder, "image.cubin"), "wb") as out:
            out.write(source.read())
        for name, text in (("nvcc", NVCC), ("cuda-gdb", GDB), ("gcc", GCC), ("nvidia-smi", "#!/bin/sh\necho stand-in\n"),
                           ("nvidia-cuda-mps-control", "#!/bin/sh\ncat >/dev/null </dev/null\n"), ("sleep", "#!/bin/sh\nexec /bin/sleep 0.5\n")):
            self.put(os.path.join(self.bin, name), text)
        self.put(os.path.join(folder, "program"), PROGRAM)
        recorded = os.path.join(root, "tests", "data", "transcripts")
        for name in ("illegal-address", "misaligned-G"):
            with gzip.open(os.path.join(recorded, name + ".nvcudmp.gz")) as dump, open(os.path.join(folder, name + ".dump"), "wb") as out:
                out.write(dump.read())
            shutil.copy(os.path.join(recorded, name + ".txt"), folder)

    @staticmethod
    def put(path, text):
        with open(path, "w", encoding="ascii") as out:
            out.write(text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)

    def run(self, stage, **more):
        out = tempfile.mkdtemp(prefix=f"out-{stage}-", dir=self.folder)
        environment = {**os.environ, "PATH": self.bin + os.pathsep + os.environ["PATH"], "OUT": out, "STANDIN": self.folder,
                       "TMPDIR": self.tmp, "SHORTER": "10", "MOST_BYTES": str(MOST), **more}
        done = subprocess.run([os.path.join(self.root, "tools", "capture", "run.sh"), stage], env=environment, timeout=100,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout, out


def members(path):
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive.getmembers() if member.isfile()}


def manifest(out, name):
    """{file: (archive, bytes, sha256, command)}; each file of an archive is there with its hash."""
    with open(os.path.join(out, f"manifest-{name}.tsv"), encoding="utf-8") as lines:
        lines = lines.read().splitlines()
    if len([line for line in lines if line.startswith("# ")]) != 5 or "stand-in" not in "".join(lines[:5]):
        raise Wrong(f"no versions: {lines[:6]}")
    rows = {row[0]: row[1:] for row in (line.split("\t") for line in lines[5:])}
    for file in os.listdir(out):
        if ".tar" in file:
            for member, content in members(os.path.join(out, file)).items():
                content, member = (lzma.decompress(content), member[:-3]) if member.endswith(".xz") else (content, member)
                if rows.get(member, [])[:3] != [file, str(len(content)), hashlib.sha256(content).hexdigest()]:
                    raise Wrong(f"{member} of {file} in the manifest: {rows.get(member)}")
    return rows


def stage(machine, name, promised=None, **more):
    begin = time.monotonic()
    status, said, out = machine.run(name, **more)
    files = set(os.listdir(out))
    if status or not (promised or ARCHIVES[name]) <= files or len(files) > 8:
        raise Wrong(f"status {status}, {sorted(files)}: {said[-600:]}")
    for file in files:
        if os.path.getsize(os.path.join(out, file)) > int(more.get("MOST_BYTES", MOST)):
            raise Wrong(f"{file} is too large")
    if os.listdir(machine.tmp):
        raise Wrong(f"left behind: {os.listdir(machine.tmp)}")
    rows = manifest(out, name)
    for file, (archive, _, _, command) in rows.items():
        if archive != "left out" and file.startswith(("d/", "t/")) and file.endswith((".core", ".txt")) and not command:
            raise Wrong(f"how was {file} made?")
    return said, out, rows, time.monotonic() - begin


def faults(machine):
    said, out, rows, _ = stage(machine, "A", CASES="1 2 5 13 17")
    if "case 13 was not built" not in said or "broken on purpose" not in said:
        raise Wrong(f"a program that does not compile is not told: {said[-600:]}")
    if "dump17: d/c17G.core is left out: 200000 bytes, sha256" not in said or rows["d/c17G.core"][0] != "left out":
        raise Wrong(f"a dump that does not fit is not told: {said[-600:]}")
    if set(members(os.path.join(out, "dumpsG.tar"))) != {"d/c18G.core.xz", "d/c1G.core.xz", "d/c2G.core.xz"}:
        raise Wrong(str(sorted(members(os.path.join(out, "dumpsG.tar")))))
    text = members(os.path.join(out, "text.tar.xz"))
    with open(os.path.join(machine.root, "tools", "capture", "oracle.cmds"), encoding="ascii") as commands:
        for command in commands.read().splitlines():
            if f">>> {command}\n" not in text["t/c18G.txt"].decode():
                raise Wrong(f"{command} is not in the transcript")
    if b"exit 134" not in text["t/c1G.run"] or b"exit 124" not in text["t/c5G.run"]:
        raise Wrong(f"exit status of c1, and of c5 that hangs: {text['t/c1G.run']} {text['t/c5G.run']}")


def variants(machine):
    _, out, rows, _ = stage(machine, "B", MOST_BYTES="2000000")
    have = members(os.path.join(out, "dumpsB.tar"))
    for name in ("v-all", "v-skip_abort", "fifo", "piped", "user", "multi", "capi", "many", "light", "no-abort", "eager"):
        if len(have.get(f"d/{name}.core.xz", "")) < 100:
            raise Wrong(f"no dump {name}: {sorted(have)}")
    if "d/v-gzip_compress.core.gz.xz" not in have or "d/v-log_only.core.xz" in have:
        raise Wrong(f"{sorted(have)}")
    if "CUDA_COREDUMP_GENERATION_FLAGS=skip_abort" not in rows["d/v-skip_abort.core"][3]:
        raise Wrong(f"{rows['d/v-skip_abort.core']}")
    if members(os.path.join(out, "textB.tar.xz"))["t/v-gzip_compress.txt"].find(b"Failed to read") < 0:
        raise Wrong("no transcript of the packed dump")


def deadline(machine):
    """A program hangs for longer than there is time: the stage ends in its time, and what it has by then is there."""
    said, _, rows, seconds = stage(machine, "A", promised={"text.tar.xz"}, CASES="5", BUDGET="10", SHORTER="1")
    if seconds > 20 or "facts.txt" not in rows or "no time left for: transcripts" not in said:
        raise Wrong(f"{seconds:.0f} s, {sorted(rows)}: {said[-600:]}")


def without_debugger(machine):
    """No cuda-gdb: dumps all the same."""
    os.rename(os.path.join(machine.bin, "cuda-gdb"), os.path.join(machine.folder, "hidden"))
    try:
        _, out, _, _ = stage(machine, "A", CASES="1")
    finally:
        os.rename(os.path.join(machine.folder, "hidden"), os.path.join(machine.bin, "cuda-gdb"))
    if "d/c1G.core.xz" not in members(os.path.join(out, "dumpsG.tar")):
        raise Wrong("no dump")


def imported(machine):
    """What came back becomes fixtures, the page of agreement is written, and the comparer reads both."""
    outs = [stage(machine, "A", CASES="1 2 17")[1], stage(machine, "E")[1]]
    tree = os.path.join(machine.folder, "tree")
    os.makedirs(os.path.join(tree, "docs"))
    shutil.copy(os.path.join(machine.root, "docs", "ground-truth.md"), os.path.join(tree, "docs"))

    def run(*folders):
        return subprocess.run([sys.executable, os.path.join(machine.root, "tools", "capture", "import.py"), machine.program, *folders],
                              env={**os.environ, "WARPSCOPE_ROOT": tree}, capture_output=True, text=True, check=False)
    done = run(*outs)
    folder = os.path.join(tree, "tests", "data", "h200")
    have = set(os.listdir(folder)) if os.path.isdir(folder) else set()
    if done.returncode or not {"c1G.core.gz", "c1G.txt", "c2L.core.gz", "mps.core.gz", "text", "images", "README.md"} <= have:
        raise Wrong(f"status {done.returncode}: {done.stdout}{done.stderr} {sorted(have)}")
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as page:
        page = page.read()
    if not re.search(r"left out there \| d/c17G.core \| 200000 \| [0-9a-f]{64}", page) or "nvcc: stand-in" not in page:
        raise Wrong(page[:900])
    with open(os.path.join(tree, "docs", "ground-truth.md"), encoding="utf-8") as page:
        rows = {line.split(" | ")[0][2:]: line for line in page.read().splitlines() if line.startswith("| ")}
    if rows["c2G"].count("agrees") < 7 or rows["c1G"].count("agrees") < 7 or "differs" in rows["c1L"]:
        raise Wrong(f"{rows}")
    with open(os.path.join(outs[0], "manifest-A.tsv"), encoding="utf-8") as lines:
        lines = lines.read()
    with open(os.path.join(outs[0], "manifest-A.tsv"), "w", encoding="utf-8") as out:
        out.write(re.sub(r"(d/c1G.core\t\S+\t\d+\t)....", r"\g<1>0000", lines))
    done = run(*outs)
    if done.returncode != 1 or "d/c1G.core of dumpsG.tar is not what the manifest says" not in done.stderr:
        raise Wrong(f"a file that is not the manifest's: {done.returncode} {done.stderr}")


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
    ("the deadline holds", deadline),
    ("no cuda-gdb", without_debugger),
    ("what came back becomes fixtures", imported),
    ("a patched cubin", patched),
    ("no such stage", refuses),
)


def main(arguments):
    failed = 0
    print(f"1..{len(CASES)}")
    with tempfile.TemporaryDirectory(prefix="ws-capture-") as folder:
        machine = Machine(os.path.abspath(arguments[0]), os.path.abspath(arguments[1]), folder)
        for number, (name, test) in enumerate(CASES, 1):
            try:
                test(machine)
                print(f"ok {number} - {name}", flush=True)
            except (Wrong, OSError, KeyError, ValueError, subprocess.SubprocessError) as why:
                failed += 1
                print(f"not ok {number} - {name}\n# {type(why).__name__}: {str(why)[:900]}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
