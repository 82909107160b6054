#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Walks the fields of the encodings that the table knows, and lists words that we print otherwise than the vendor's disassembler.

    probe.py WORDS-PROGRAM ARCH[,ARCH...] [--op HEX-PATTERN ...] [--name NAME ...] [--random N] [--seed N] [--words FILE] [--cubins FOLDER]
             [--sweep N] [--list N] [--marked] [-o FINDINGS.tsv]

Each row of the architecture is tried from words that fit it and that the disassembler takes: made here, and with --cubins (files named
ANYTHING.ARCH.cubin) some of real code. From each of them every field takes all its values (of registers and long numbers some),
neighbouring fields take pairs of values, so does each register that is RZ, URZ, PT ... with every other field, every bit is flipped, and N
words have two to four bits flipped at random. --op and --name choose rows (`.` in a pattern is any digit: 0x.31); --words adds words to flip bits of ("arch TAB word" in each line). --sweep leaves the rows alone:
it tries N words of each of the 4,096 opcodes and lists what the disassembler prints and no row claims. compare.py says what the
verdicts mean. --list shows that many words of each name that are silent (with --marked, marked and undecoded ones too); -o keeps some of
each shape. Needs nvdisasm (nvdis.py says which).
"""
import argparse
import collections
import functools
import itertools
import pathlib
import random
import re
import sys

import compare
import nvdis

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
import isagen  # noqa: E402

BITS = list(range(12, 105)) + [122, 123, 124]
TRIES = [40, 400, 4000]  # words made of a row, more for one of which none was accepted; from the second on any field has any value
REAL_WORDS = 3  # bases of a row that come from real code
PAIR_VALUES = 6  # values of a field that are paired with its neighbour's
UNKNOWN = "unknown instruction"  # in our text of a word without a row
LONG = [0, 1 << 31, 0x3F800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FF00000, 0x4E6E6B28, 0x3C003C00, 0x80008000, 0x7C00FC00, 0xFFFFFFFF]


def put(word, segments, value):
    for lo, n in segments:
        word = word & ~((1 << n) - 1 << lo) | (value & (1 << n) - 1) << lo
        value >>= n
    return word


def width(segments):
    return sum(n for _, n in segments)


def values_of(element):
    """What a field is to be set to."""
    n = width(element.segments)
    if element.kind == "REG" and n >= 6:
        return [v for v in (0, 1, 2, 4, 8, 62, 63, 128, 254, 255) if v < 1 << n]
    if n <= 8:
        return list(range(1 << n))
    if n == 32:
        return LONG + [1 << i for i in range(n)] + [3, (1 << n) - 16]
    return [0, 3, (1 << n) - 1, (1 << n) - 16, *(1 << i for i in range(n))]


def load_table():
    table = isagen.Table()
    for path in sorted((ROOT / "src/sass/isa").glob("*.isa")):
        table.parse_file(str(path))
    return table


class Probe:
    """Words of one row."""

    def __init__(self, table, row, chance):
        self.table, self.row, self.chance = table, row, chance
        found = {e.segments: e for e in isagen.walk(row.items) if e.segments and e.kind != "WHEN"}
        for condition in row.conditions:
            found.setdefault(condition.segments, isagen.Element("HEX", condition.segments))
        self.fields = [found[key] for key in sorted(found)]

    def claims(self, word):
        return self.row.op12 == word & 0xFFF and all(c.holds(word) for c in self.row.conditions)

    def base(self, wild):
        """A word of the row: usual registers, no modifiers but such as have a text. With `wild` some fields have any value."""
        word = self.row.op12 | 7 << 12
        for bit in self.row.ones:
            word |= 1 << bit
        if any(e.kind == "REG" and isagen.CLASSES[e.aux] == "UR" for e in self.fields):
            word |= self.chance.getrandbits(1) << 91
        for i, e in enumerate(self.fields):
            most = (1 << width(e.segments)) - 1  # of registers: none
            value = self.chance.choice([most, self.chance.randint(0, most)]) if wild and self.chance.random() < 0.4 else self.usual(e, i)
            word = put(word, e.segments, value)
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

    def near(self, base, n_random):
        """Words near `base`."""
        yield base
        yield from flipped(base)
        tested = [values_of(e) for e in self.fields]
        for e, values in zip(self.fields, tested):
            yield from (put(base, e.segments, v) for v in values)
        for (a, b), (x, y) in zip(itertools.pairwise(self.fields), itertools.pairwise(tested)):
            for v, w in itertools.product(x[:PAIR_VALUES], y[:PAIR_VALUES]):
                yield put(put(base, a.segments, v), b.segments, w)
        registers = [e for e in self.fields if e.kind == "REG"]
        for z, (e, values) in itertools.product(registers, zip(self.fields, tested)):  # with RZ, PT ... texts leave things out
            if z is not e:
                yield from (put(put(base, z.segments, (1 << width(z.segments)) - 1), e.segments, v) for v in values[:2] + values[-3:])
        for _ in range(n_random):
            word = base
            for bit in self.chance.sample(range(59, 105), self.chance.choice([2, 2, 2, 3, 4])):
                word ^= 1 << bit
            if registers and self.chance.random() < 0.3:
                e = self.chance.choice(registers)
                word = put(word, e.segments, self.chance.choice([(1 << width(e.segments)) - 1, 0, self.chance.getrandbits(8)]))
            if self.chance.random() < 0.1:
                word = put(word, ((32, 32),), self.chance.getrandbits(32))
            yield word


def flipped(word):
    return (word ^ 1 << bit for bit in BITS)


def chosen(row, arch, args):
    like = max(known for known in isagen.ARCHS if known <= arch)  # 87 has the rows of 86
    if not row.archs >> isagen.ARCHS.index(like) & 1:
        return False
    if args.name and row.name not in args.name:
        return False
    return not args.op or any(re.fullmatch(op, f"0x{row.op12:03x}") for op in args.op)


def real_bases(probes, folder, arch):
    """Words of real code that the rows of some probes claim: a list for each probe."""
    by_opcode = collections.defaultdict(list)
    for word in compare.words_by_arch(folder).get(arch, ()):
        by_opcode[word & 0xFFF].append(word)
    found = []
    for p in probes:
        mine = [w for w in by_opcode[p.row.op12] if p.claims(w)]
        found.append(mine[:: max(1, len(mine) // REAL_WORDS)][:REAL_WORDS])
    return found


def words_of_file(args, arch):
    for line in open(args.words, encoding="utf-8"):
        if line[0] != "#" and re.match(r"\d+", line).group() == str(arch):
            word = int(line.split("\t")[1], 16)
            if not args.op or any(re.fullmatch(op, f"0x{word & 0xfff:03x}") for op in args.op):
                yield word


def accepted(probes, arch):
    """Words made of each row that the disassembler prints, and that no row with more conditions claims: {probe: [word]}."""
    found = {p: [] for p in probes}
    strict_first = sorted(probes, key=lambda p: -len(p.row.conditions))
    for i, tries in enumerate(TRIES):
        made = [(p, compare.plain(p.base(i > 0))) for p in probes if not found[p] for _ in range(tries)]
        for (p, word), text in zip(made, nvdis.disassemble([word for _, word in made], compare.suffix(arch))):
            if text is not None and not compare.ODD.search(text) and p is next(q for q in strict_first if q.claims(word)):
                found[p].append(word)
    return found


def trials(args, arch):
    """All words to be tried; rows none of whose words is accepted are named."""
    table, chance = load_table(), random.Random(args.seed)
    probes = [Probe(table, row, chance) for row in table.rows if chosen(row, arch, args)]
    made = accepted(probes, arch)
    real = real_bases(probes, args.cubins, arch) if args.cubins else [[] for _ in probes]
    words = set()
    for p, bases in zip(probes, real):
        bases = bases + list(dict.fromkeys(made[p]))[: args.bases]
        if not bases:
            print(f"# no word of this row is accepted: {p.row.where[0].split('/')[-1]}:{p.row.where[1]} {p.row.op12:#05x} {p.row.template[:60]}")
        for base in bases:
            words.update(map(compare.plain, p.near(base, args.random)))
    for word in words_of_file(args, arch) if args.words else ():
        words.update(map(compare.plain, [word, *flipped(word)]))
    return sorted(words), len(probes)


def sweep_words(args):
    """Words of every opcode, whether a row has it or not: the uniform datapath or not, registers or none, PT or P0, and bits at random."""
    chance = random.Random(args.seed)
    for op in range(1 << 12):
        if args.op and not any(re.fullmatch(pattern, f"0x{op:03x}") for pattern in args.op):
            continue
        for i in range(args.sweep):
            register, predicate = 0xFF if i & 2 else 8, 0 if i & 4 else 7
            word = op | 7 << 12 | (i & 1) << 91 | sum(register << at for at in (16, 24, 32, 64)) | sum(predicate << at for at in (81, 84, 87))
            if i >= 8:  # not always many bits, since each can make the word impossible
                word ^= functools.reduce(int.__and__, (chance.getrandbits(65) for _ in range(1 + i % 4))) << 40 & ~(0xFF << 64)
            yield compare.plain(word)


def list_missing(results):
    """Names the opcodes of which no word has a row although the disassembler prints some, be it as ???."""
    by_opcode = collections.defaultdict(list)
    for r in results:
        by_opcode[r.word & 0xFFF].append(r)
    for op, items in sorted(by_opcode.items()):
        printed = [r for r in items if r.wanted]
        if printed and all(UNKNOWN in r.ours for r in items):
            print(f"# no row: {op:#05x} {printed[0].word:032x} {printed[0].wanted}")


def show(results, args, chance):
    """Prints some words of each name that differ."""
    for verdict in ["silent"] + ["marked"] * args.marked + ["undecoded"] * bool(args.marked or args.sweep):
        by_name = collections.defaultdict(list)
        for r in results:
            if r.verdict == verdict:
                by_name[f"{r.word & 0xfff:#05x} {compare.operation(r.wanted)}"].append(r)
        for name, items in sorted(by_name.items()):
            print(f"## {verdict} {name}: {len(items)}")
            for r in chance.sample(items, min(args.list, len(items))):
                print(f"{r.word:032x} {r.wanted} | {nvdis.normalise(r.ours)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("arch")
    parser.add_argument("--op", nargs="*")
    parser.add_argument("--name", nargs="*")
    parser.add_argument("--words")
    parser.add_argument("--cubins")
    parser.add_argument("--sweep", type=int)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--bases", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", type=int, default=6)
    parser.add_argument("--marked", action="store_true")
    parser.add_argument("-o", "--output")
    args = parser.parse_args()
    everything = compare.Tally()
    for arch in map(int, args.arch.split(",")):
        words, n_rows = (sorted(set(sweep_words(args))), 0) if args.sweep else trials(args, arch)
        results, disputed = compare.judge(args.program, arch, words)
        results = [r._replace(verdict="equal") if r.verdict == "flagged" else r for r in results]  # many bits print nothing
        if args.sweep:
            list_missing(results)
        show(results, args, random.Random(args.seed))
        tally = compare.Tally()
        for result in results:
            tally.add(arch, result)
            everything.add(arch, result)
        print(f"# sm_{arch}: {n_rows} rows, {len(words)} words: {tally}; versions differ about {disputed}")
        print("#    " + ", ".join(f"{op} {n}" for op, n in tally.misses.most_common(40)), flush=True)
    if args.output:
        everything.write(args.output)


if __name__ == "__main__":
    main()
