#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes words from the rows of the instruction table, changes them, and lists those that we print otherwise than the vendor's disassembler.

    probe.py WORDS-PROGRAM ARCH [--op HEX-PATTERN ...] [--name NAME ...] [--random N] [--seed N] [--words FILE] [--list N] [--marked]

Of each row of the architecture a word is made that fits it; then every bit is flipped, every value of every field of modifiers is tried, and
N words with two to four bits of those flipped at random. --op and --name choose rows (`.` in a pattern is any digit: 0x.31); --words adds
words to start from ("arch word" in each line). A word counts as

    alike     printed as the disassembler prints it
    odd       the disassembler refuses it, or prints ??? or INVALID
    marked    printed otherwise, and we say that we do not know all of it
    silent    printed otherwise, and we do not

--list shows that many words of each name and of silent ones (with --marked of marked ones too). Needs nvdisasm (nvdis.py says which).
"""
import argparse
import collections
import pathlib
import random
import re
import subprocess
import sys

import nvdis

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
import isagen  # noqa: E402

CONTROL = 0x7F1 << 105  # stall 1, yield, no scoreboards: what the tool accepts for any instruction
BITS = list(range(12, 105)) + [122, 123, 124]
TRIES = 60


def put(word, segments, value):
    for lo, n in segments:
        word = word & ~((1 << n) - 1 << lo) | (value & (1 << n) - 1) << lo
        value >>= n
    return word


def width(segments):
    return sum(n for _, n in segments)


def load_table():
    table = isagen.Table()
    for path in sorted((ROOT / "src/sass/isa").glob("*.isa")):
        table.parse_file(str(path))
    return table


class Probe:
    """Words of one row."""

    def __init__(self, table, row, chance):
        self.table, self.row, self.chance = table, row, chance
        self.fields = [e for e in isagen.walk(row.items) if e.segments and e.kind != "WHEN"]
        self.fixed = {bit for c in row.conditions if c.operator == "==" for bit in isagen.bits_of(c.segments)}

    def base(self):
        """A word of the row: usual registers, no modifiers but such as have a text."""
        word = self.row.op12 | 7 << 12 | CONTROL
        for bit in self.row.ones:
            word |= 1 << bit
        if any(e.kind == "REG" and isagen.CLASSES[e.aux] == "UR" for e in self.fields):
            word |= self.chance.getrandbits(1) << 91
        for i, e in enumerate(self.fields):
            word = put(word, e.segments, self.usual(e, i))
        for c in self.row.conditions:
            if c.operator == "==":
                word = put(word, c.segments, c.value)
        for c in self.row.conditions:
            if not c.holds(word):
                word = put(word, c.segments, 4 if c.operator == "pow2" else c.value ^ 1)
        return word

    def usual(self, e, i):
        if e.kind == "ENUM":
            values = self.table.enums[e.aux]
            good = [v for v, text in values.items() if "?" not in text and "INVALID" not in text]
            return self.chance.choice(good) if good else 0
        if e.kind == "REG":
            name = isagen.CLASSES[e.aux]
            return 4 * i % 32 + 4 if name in ("R", "UR", "URnext") else 7 if name in ("P", "UP") else self.chance.randrange(2)
        return 0 if e.kind in ("REUSE", "GLUE") else self.chance.choice([0, 1, 8])

    def mutants(self, base, n_random):
        """Words near `base`."""
        out = {base}
        out.update(base ^ 1 << bit for bit in BITS)
        for e in self.fields:
            size = width(e.segments)
            if e.kind == "ENUM" and size <= 8:
                out.update(put(base, e.segments, v) for v in range(1 << size))
        spots = [b for b in range(59, 105)]
        registers = [e for e in self.fields if e.kind == "REG"]
        for _ in range(n_random):
            word = base
            for bit in self.chance.sample(spots, self.chance.choice([2, 2, 2, 3, 4])):
                word ^= 1 << bit
            if registers and self.chance.random() < 0.3:
                e = self.chance.choice(registers)
                word = put(word, e.segments, self.chance.choice([(1 << width(e.segments)) - 1, 0, self.chance.getrandbits(8)]))
            if self.chance.random() < 0.1:
                word = put(word, ((32, 32),), self.chance.getrandbits(32))
            out.add(word)
        return out


def printed(program, arch, words):
    """[(state, text)] as we print them."""
    lines = "".join(f"{arch} {16 * i:x} {word:032x}\n" for i, word in enumerate(words))
    out = subprocess.run([program], input=lines, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return [(line.split(" ", 1)[0], nvdis.normalise(line.split(" ", 1)[1])) for line in out]


def is_odd(text):
    return text is None or "???" in text or "INVALID" in text


def chosen(row, arch, args):
    if not row.archs >> isagen.ARCHS.index(arch) & 1:
        return False
    if args.name and row.name not in args.name:
        return False
    return not args.op or any(re.fullmatch(op, f"0x{row.op12:03x}") for op in args.op)


def probe(args, arch):
    sm = f"{arch}a" if arch >= 90 else str(arch)
    table, chance = load_table(), random.Random(args.seed)
    probes = [Probe(table, row, chance) for row in table.rows if chosen(row, arch, args)]
    bases = [[p.base() for _ in range(TRIES)] for p in probes]
    texts = iter(nvdis.disassemble([w for tries in bases for w in tries], sm))
    words, dead = set(), []
    for p, tries in zip(probes, bases):
        good = [w for w, text in zip(tries, [next(texts) for _ in tries]) if not is_odd(text)]
        if not good:
            dead.append(p.row)
        for base in dict.fromkeys(good[: args.bases]):
            words |= p.mutants(base, args.random)
    for line in open(args.words) if args.words else []:
        if line[0] != "#" and re.match(r"\d+", line).group() == str(arch):
            word = int(line.split("\t")[1], 16)
            word = word & ((1 << 105) - 1 | 7 << 122) | CONTROL
            if not args.op or any(re.fullmatch(op, f"0x{word & 0xfff:03x}") for op in args.op):
                words |= {word, *(word ^ 1 << b for b in BITS)}
    words = sorted(words)
    found = collections.defaultdict(list)
    over = 0
    for word, want, (state, text) in zip(words, nvdis.disassemble(words, sm), printed(args.program, arch, words)):
        kind = "odd" if is_odd(want) else "alike" if text == want else "silent" if state == "known" else "marked"
        over += kind == "alike" and state != "known"
        found[kind].append((word, want, text))
    for row in dead:
        print(f"# no word of this row is accepted: {row.where[0].split('/')[-1]}:{row.where[1]} {row.op12:#05x} {row.template[:60]}")
    for kind in ["silent"] + ["marked"] * args.marked:
        by_name = collections.defaultdict(list)
        for item in found[kind]:
            by_name[f"{item[0] & 0xfff:#05x} " + re.sub(r"^@\S+ ", "", item[1]).split(" ")[0].split(".")[0]].append(item)
        for name, items in sorted(by_name.items()):
            print(f"## {kind} {name}: {len(items)}")
            for word, want, text in chance.sample(items, min(args.list, len(items))):
                print(f"{arch} {word:032x} {want} | {text}")
    print(f"# sm_{arch}: {len(probes)} rows, {len(words)} words, " + ", ".join(f"{len(v)} {k}" for k, v in sorted(found.items())) + f", {over} alike but marked")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("arch")
    parser.add_argument("--op", nargs="*")
    parser.add_argument("--name", nargs="*")
    parser.add_argument("--words")
    parser.add_argument("--random", type=int, default=200)
    parser.add_argument("--bases", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", type=int, default=6)
    parser.add_argument("--marked", action="store_true")
    args = parser.parse_args()
    for arch in args.arch.split(","):
        probe(args, int(arch))


if __name__ == "__main__":
    main()
