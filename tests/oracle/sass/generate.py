#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every PTX form of ptx.forms and compares our text of the machine code with the vendor's disassembler.

    generate.py WORDS-PROGRAM ARCH... [-o FINDINGS.tsv] [--forms REGEX] [--levels 03] [--part N] [--ptxas PROGRAM] [--keep FOLDER] [--refused FILE]
                [--record COMMIT]

A line of ptx.forms has choices (`<.rn|.rz>`) and operands (`$r`); instances of it cover every pair of choices. Many instances are compiled
at once; what ptxas refuses is taken out by the lines that its messages name, else by halves. ARCH is 75, 90a, ...; levels are ptxas's -O0 to
-O3; with --part each level compiles every Nth instance, not the same ones as the other levels. Needs ptxas (any version: the PTX is of the
newest version that it takes) and nvdisasm (nvdis.py).
"""
import argparse
import collections
import concurrent.futures
import hashlib
import itertools
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import compare
import coverage
import nvdis

HERE = pathlib.Path(__file__).resolve().parent
PER_KERNEL, PER_FILE = 24, 480
MAX_RUNS = 40  # of ptxas for the instances of one form and level; what it has not told apart by then counts as refused
TRIES = 12  # candidates for the next instance of a form
IMMEDIATES = 5  # of an operand, drawn by the form's own seed
PARAMETERS = 512  # bytes
TYPE = {"h": "b16", "r": "b32", "d": "b64", "f": "f32", "e": "f64", "q": "b128"}
BYTES = {"h": 2, "r": 4, "d": 8, "f": 4, "e": 8, "q": 16}
NUMBERS = {
    "h": ["0", "1", "-1", "0x7fff", "0x3c00", "0x8000"],
    "r": ["0", "1", "-1", "2", "5", "31", "0xff", "0x10000", "0x12345678", "0x7fffffff", "0x80000000", "-4096", "0x3c003c00", "0x80008000"],
    "d": ["0", "1", "-1", "16", "0x80000000", "0x100000000", "0x123456789abcdef", "-4096"],
    "f": ["0f00000000", "0f80000000", "0f3F800000", "0fBF800000", "0f7F800000", "0fFF800000", "0f7FC00000", "0f3DCCCCCD", "0f4E6E6B28", "0f00000001"],
    "e": ["0d0000000000000000", "0d8000000000000000", "0d3FF0000000000000", "0dBFF0000000000000", "0d7FF0000000000000", "0d7FF8000000000000",
          "0d3FB999999999999A", "0d41CDCD6500000000"],
    "q": [],
}
SOURCES = {  # what else than a number an operand may be; the letters of SIGNED are given to a register first
    "h": ["register", "parameter", "neg.s16"],
    "r": ["register", "uniform", "parameter", "constant", "neg.s32", "not.b32", "neg uniform"],
    "d": ["register", "uniform", "parameter", "constant", "neg.s64"],
    "f": ["register", "uniform", "parameter", "constant", "neg.f32", "abs.f32", "neg.f32 abs.f32"],
    "e": ["register", "uniform", "parameter", "constant", "neg.f64", "abs.f64", "neg.f64 abs.f64"],
    "q": ["register"],
}
PREDICATES = ["register", "!register", "uniform", "!uniform", "true"]
ADDRESSES = {
    "g": ["register", "register+32", "register+-64", "uniform", "uniform+64", "mixed", "mixed+32", "gvar", "gvar+32"],
    "s": ["register", "register+32", "register+-64", "uniform", "uniform+64", "scaled", "smem", "smem+32"],
    "l": ["register", "register+32", "lmem", "lmem+32"],
    "c": ["register", "register+32", "uniform", "cvar", "cvar+32"],
    "n": ["register", "register+32", "register+-64", "uniform", "mixed"],
}
OPERAND = re.compile(r"\$(?:\[([gslcn])\]|([hrdfeqpHRDFEQP])(?:\*(\d+))?)(!?)")
CHOICE = re.compile(r"<([^<>]*)>")


def read_forms(path):
    """The lines of the file, with the sets that they name filled in."""
    sets, forms = {}, []
    for line in open(path, encoding="ascii"):
        line = line.split("#")[0].strip()
        define = re.fullmatch(r"%(\w+) = (.*)", line)
        if define:
            sets[define.group(1)] = define.group(2)
        elif line:
            forms.append(re.sub(r"%(\w+)%", lambda m: sets[m.group(1)], line))
    return forms


class Form:
    """A line: pieces of text between slots, and what each slot may be."""

    def __init__(self, line):
        self.line = line
        self.random = random.Random(hashlib.sha256(line.encode()).digest())
        self.pieces, self.slots, at = [], [], 0
        for match in sorted([*CHOICE.finditer(line), *OPERAND.finditer(line)], key=lambda m: m.start()):
            self.pieces.append(line[at : match.start()])
            self.slots.append(self.values(match))
            at = match.end()
        self.pieces.append(line[at:])
        if not re.search(r" ; |^[.@]", line):
            self.slots.insert(0, [("guard", v) for v in ("", "", "", "@%p0 ", "@!%p0 ", "@%p1 ")])
            self.pieces.insert(0, "")

    def values(self, match):
        if match.re is CHOICE:
            return [("text", v) for v in match.group(1).split("|")]
        space, letter, count, plain = match.groups()
        if space:
            return [("address", space, v) for v in ADDRESSES[space]]
        if letter.isupper():
            return [("write", letter.lower(), int(count or 0))]
        if count:
            return [("list", letter, int(count))]
        if letter == "p":
            return [("predicate", v) for v in PREDICATES]
        if plain:
            return [("read", letter, "register")]
        numbers = self.random.sample(NUMBERS[letter], min(IMMEDIATES, len(NUMBERS[letter])))
        return [("read", letter, v) for v in [*SOURCES[letter], *("number " + n for n in numbers)]]

    def instances(self):
        """Choices for all slots, so often that every pair of two slots' values comes up."""
        left = {(i, x, j, y) for (i, a), (j, b) in itertools.combinations(enumerate(self.slots), 2) for x in range(len(a)) for y in range(len(b))}
        if len(self.slots) < 2:
            yield from ([v] for v in (self.slots[0] if self.slots else []))
            if not self.slots:
                yield []
            return
        while left:
            i, x, j, y = min(self.random.sample(sorted(left), min(4, len(left))))
            best, gain = None, -1
            for _ in range(TRIES):
                pick = [self.random.randrange(len(s)) for s in self.slots]
                pick[i], pick[j] = x, y
                new = sum((a, pick[a], b, pick[b]) in left for a, b in itertools.combinations(range(len(pick)), 2))
                if new > gain:
                    best, gain = pick, new
            left.difference_update((a, best[a], b, best[b]) for a, b in itertools.combinations(range(len(best)), 2))
            yield [slot[n] for slot, n in zip(self.slots, best)]


class Writer:
    """The PTX of one instance: what its operands need, the instruction, what keeps its results."""

    def __init__(self, form, choices, number):
        self.number, self.places = number, 0
        self.registers, self.before, self.after = collections.Counter(), [], []
        self.text = form.pieces[0] + "".join(self.slot(*c) + p for c, p in zip(choices, form.pieces[1:]))

    def slot(self, kind, *rest):
        return rest[0] if kind in ("text", "guard") else getattr(self, kind)(*rest)

    def new(self, letter):
        self.registers[letter] += 1
        return f"%{letter}x{self.registers[letter]}"

    def place(self, size):
        """An offset that no other operand has."""
        self.places += 1
        return (self.number % PER_KERNEL * 2048 + 16 * self.places) // size * size

    def write(self, letter, count):
        names = [self.new(letter) for _ in range(count or 1)]
        for name in names:
            if letter == "p":
                other = self.new("r")
                self.after += [f"selp.b32 {other}, 1, 0, {name};", f"st.global.b32 [%out+{self.place(4)}], {other};"]
            else:
                self.after.append(f"st.global.{TYPE[letter]} [%out+{self.place(BYTES[letter])}], {name};")
        return "{" + ", ".join(names) + "}" if count else names[0]

    def list(self, letter, count):
        return "{" + ", ".join(self.read(letter, "register") for _ in range(count)) + "}"

    def read(self, letter, what):
        if what.startswith("number "):
            return what[7:]
        name, kind, size = self.new(letter), TYPE[letter], BYTES[letter]
        if what == "parameter":
            self.before.append(f"ld.param.{kind} {name}, [params+{self.place(size) % PARAMETERS}];")
        elif what == "constant":
            self.before.append(f"ld.const.{kind} {name}, [cvar+{self.place(size) % 1024}];")
        elif what.endswith("uniform"):
            bits = 8 * size
            self.before.append(f"add.u{bits} {name}, %u{bits}, {self.place(size)};" if letter in "rd" else f"mov.b{bits} {name}, %u{bits};")
            if what != "uniform":
                self.before.append(f"neg.s32 {name}, {name};")
        else:
            self.before.append(f"ld.global.{kind} {name}, [%in+{self.place(size)}];")
            self.before += [f"{change} {name}, {name};" for change in reversed(what.split(" ")) if what != "register"]
        return name

    def predicate(self, what):
        name = {"register": "%p0", "uniform": "%p1", "true": "%p2"}[what.lstrip("!")]
        return "!" + name if what[0] == "!" else name

    def address(self, space, what):
        base, offset = re.fullmatch(r"(\w+?)((?:\+-?\d+)?)", what).groups()
        if base in ("gvar", "smem", "lmem", "cvar"):
            return f"[{what}]"
        wide = space in "gn"
        name = self.new("d" if wide else "r")
        if base == "mixed":
            self.before.append(f"cvt.u64.u32 {name}, %lane; add.u64 {name}, {name}, %u64;")
        elif base == "scaled":
            self.before.append(f"shl.b32 {name}, %lane, 4;")
        else:
            self.before.append(f"mov.b{64 if wide else 32} {name}, {('%in' if wide else '%lane') if base == 'register' else '%u64' if wide else '%u32'};")
        return f"[{name}{offset}]"

    def lines(self):
        kinds = {"p": "pred", **TYPE}
        declared = [f".reg .{kinds[letter]} %{letter}x<{count + 1}>;" for letter, count in self.registers.items()]
        return ["{", *declared, *self.before, *(part.strip() + (";" if part.strip()[-1:] != ":" else "") for part in self.text.split(";") if part.strip()), *self.after, "}"]


HELPER = """\
.func (.param .b32 r) helper(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; atom.shared.add.u32 x, [smem], x; st.param.b32 [r], x; ret; }"""
PROLOGUE = """\
.visible .entry k{n}(.param .u64 out, .param .u64 in, .param .u64 u64, .param .u32 u32, .param .align 16 .b8 params[512])
{{
.reg .pred %p<3>, %pt; .reg .b64 %out, %in, %u64, %t64, %rd0; .reg .b32 %u32, %lane, %t32, %rt, %rs<3>; .reg .b16 %hs;
.local .align 16 .b8 lmem[256];
ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; ld.param.u64 %u64, [u64]; ld.param.u32 %u32, [u32];
cvta.to.global.u64 %out, %out; cvta.to.global.u64 %in, %in;
mov.u32 %lane, %tid.x; mul.wide.u32 %t64, %lane, 65536; add.u64 %out, %out, %t64; add.u64 %in, %in, %t64;
mov.u32 %t32, %ctaid.x; add.u32 %u32, %u32, %t32; cvt.u64.u32 %t64, %t32; add.u64 %u64, %u64, %t64;
mov.u32 %rs0, smem; mov.u32 %rs1, smem; add.u32 %rs1, %rs1, %u32; add.u32 %rs2, %rs0, %lane; mov.u64 %rd0, %in; mov.b32 %rt, %u32;
cvt.u16.u32 %hs, %u32;
setp.lt.u32 %p0, %lane, 7; setp.lt.u32 %p1, %u32, 9; setp.eq.u32 %p2, %lane, %lane;
"""


def newest_ptx(ptxas):
    """The newest version of PTX that a ptxas takes: it says so when it is given a newer one."""
    with tempfile.NamedTemporaryFile(suffix=".ptx") as file:
        file.write(b".version 99.9\n")
        file.flush()
        done = subprocess.run([ptxas, "-o", "/dev/null", file.name], capture_output=True, text=True, check=False)
    return re.search(r"current version is '([\d.]+)'", done.stderr).group(1)


def source(version, arch, instances):
    """PTX of some instances, and of each of its lines the number of the instance."""
    lines = [f".version {version}\n.target sm_{arch}\n.address_size 64", ".global .align 32 .b8 gvar[4096];", ".const .align 16 .b8 cvar[2048];",
             ".shared .align 1024 .b8 smem[8192];", ".global .texref tex0;", ".global .surfref surf0;", HELPER]
    owner = {}
    lines = "\n".join(lines).split("\n")
    for start in range(0, len(instances), PER_KERNEL):
        lines += PROLOGUE.format(n=start // PER_KERNEL).rstrip("\n").split("\n")
        for i in range(start, min(start + PER_KERNEL, len(instances))):
            for line in Writer(*instances[i], i).lines():
                lines.append(line)
                owner[len(lines)] = i
        lines += ["ret;", "}"]
    return "\n".join(lines) + "\n", owner


class Compiler:
    """Compiles the instances of one form, and finds those that ptxas refuses."""

    def __init__(self, program, arch, level, folder, name):
        (self.program, self.version), self.arch, self.level, self.folder, self.name = program, arch, level, folder, name
        self.runs, self.cubins, self.refused = 0, [], []

    def refuse(self, instances, message):
        self.refused += [(form.line, message) for form, _ in instances]

    def ptxas(self, text, name):
        """None, or what it complains about."""
        self.runs += 1
        path, output = self.folder / f"{name}.ptx", self.folder / f"{name}.{self.arch}.cubin"
        path.write_text(text, encoding="ascii")
        try:
            done = subprocess.run([self.program, f"-arch=sm_{self.arch}", f"-O{self.level}", "-o", output, path], capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            return "no end after 120 s"
        finally:
            path.unlink()
        if done.returncode:
            return done.stderr or f"status {done.returncode}"
        self.cubins.append(output)
        return None

    def compile(self, instances, name=None):
        name = name or self.name
        while instances:
            text, owner = source(self.version, self.arch, instances)
            complaint = self.ptxas(text, name)
            if complaint is None:
                return
            bad = {}
            for line, message in re.findall(re.escape(name) + r"\.ptx, line (\d+); (?:error|fatal)\s*: (.*)", complaint):
                if int(line) not in owner:
                    raise RuntimeError(complaint)  # our own frame is wrong
                bad.setdefault(owner[int(line)], message)
            for i, message in bad.items():
                self.refuse([instances[i]], message)
            rest = [x for i, x in enumerate(instances) if i not in bad]
            if self.runs >= MAX_RUNS or len(instances) == 1:
                lines = complaint.strip().splitlines() or ["?"]
                self.refuse(rest, next((line for line in lines if re.search("error|fatal", line)), lines[0]))
                return
            if not bad:
                half = len(instances) // 2
                self.compile(instances[:half], name + "a")
                self.compile(instances[half:], name + "b")
                return
            instances = rest


def words_of(cubins):
    counts = collections.Counter()
    for path in cubins:
        for _, words in nvdis.text_words(path):
            counts.update(compare.plain(w) for w in words)
    return counts


def compile_form(job):
    program, arch, level, folder, part, number, line = job
    form = Form(line)
    instances = [(form, choices) for choices in form.instances()]
    instances = instances[int(level) % part :: part] or instances[:1]
    parts = [Compiler(program, arch, level, folder, f"{number}-{level}-{i}") for i in range(0, len(instances), PER_FILE)]
    for i, part in enumerate(parts):
        part.compile(instances[i * PER_FILE : (i + 1) * PER_FILE])
    return len(instances), [c for p in parts for c in p.cubins], [r for p in parts for r in p.refused]


def run(program, arch, levels, part, forms, folder):
    """Words of all forms with their counts, number of instances, and what was refused. `program`: a ptxas and its version of PTX."""
    jobs = [(program, arch, level, folder, part, number, line) for level in levels for number, line in enumerate(forms)]
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        done = list(pool.map(compile_form, jobs))
    return words_of(path for _, cubins, _ in done for path in cubins), sum(n for n, _, _ in done), [x for _, _, part in done for x in part]


def wholly_refused(forms, refused):
    """Forms of which ptxas takes no instance."""
    lost = collections.Counter(line for line, _ in refused)
    return [line for line in forms if lost[line] and lost[line] == sum(1 for _ in Form(line).instances())]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("arch", nargs="+")
    parser.add_argument("-o", "--output")
    parser.add_argument("--forms", default="")
    parser.add_argument("--levels", default="03")
    parser.add_argument("--part", type=int, default=1)
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--keep")
    parser.add_argument("--refused")
    parser.add_argument("--record", metavar="COMMIT")
    args = parser.parse_args()
    forms = [line for line in read_forms(HERE / "ptx.forms") if re.search(args.forms, line)]
    program = args.ptxas, newest_ptx(args.ptxas)
    tally, lost = compare.Tally(), collections.defaultdict(collections.Counter)
    for arch in args.arch:
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(args.keep or temporary)
            counts, tried, refused = run(program, arch, args.levels, args.part, forms, folder)
        mine, number = compare.Tally(), int(re.match(r"\d+", arch).group())
        results, disputed = compare.judge(args.program, number, list(counts))
        for result in results:
            for each in (mine, tally):
                each.add(number, result, counts[result.word])
        for line, message in refused:
            lost[arch][line, message] += 1
        print(f"sm_{arch}: {len(forms)} forms, {tried} instances, {len(refused)} refused, {sum(counts.values())} instructions, {len(counts)} words: "
              f"{mine}; versions differ about {disputed}", flush=True)
        print("    " + ", ".join(f"{op} {n}" for op, n in mine.misses.most_common(40)), flush=True)
        if args.record:
            coverage.record("-O" + " and -O".join(args.levels) + f", PTX {program[1]}", "forms", args.record, arch, f"{tried - len(refused):,} instances of {len(forms)} forms", mine)
            coverage.record_unprinted(arch, [r for r in results if r.verdict == "refused"])
            if args.part == 1 and len(args.levels) == 1 and not args.forms:
                coverage.record_refused(arch, forms, wholly_refused(forms, refused))
    if args.output:
        tally.write(args.output)
    if args.refused:
        with open(args.refused, "w", encoding="utf-8") as file:
            for arch, found in lost.items():
                for (line, message), n in sorted(found.items()):
                    print(arch, n, line, message, sep="\t", file=file)


if __name__ == "__main__":
    main()
