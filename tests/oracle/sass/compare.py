# SPDX-License-Identifier: Apache-2.0
"""Compares our text of instruction words with the vendor's disassembler.

Each word gets one verdict:

    equal      both print the same, spaces apart
    flagged    they do, but we say that something in the word is not explained
    marked     they differ, and we say that something in the word is not explained
    undecoded  no row of ours claims the word
    silent     they differ and we do not say so: the bad case
    refused    the tool prints nothing for it, or ??? or INVALID: there is nothing to compare with

$NVDISASM may name several versions, oldest first and separated by colons: the newest that prints a word is right, and words about which
they differ are counted.
"""
import collections
import pathlib
import re
import subprocess

import nvdis

CONTROL = 0x7F1 << 105  # stall 1, yield, no scoreboards: what the tool accepts for any instruction
KEPT = (1 << 105) - 1 | 7 << 122
VERDICTS = ["equal", "flagged", "marked", "undecoded", "silent", "refused"]
ODD = re.compile(r"\?\?\?|INVALID")
PER_SHAPE = 5  # examples kept of one shape of difference

Result = collections.namedtuple("Result", "word verdict ours wanted")


def plain(word):
    """The word without what its control part says, but for .reuse."""
    return word & KEPT | CONTROL


def words_by_arch(folder):
    """{architecture: words with their numbers} of cubins named ANYTHING.ARCH.cubin."""
    found = collections.defaultdict(collections.Counter)
    for path in sorted(pathlib.Path(folder).glob("*.cubin")):
        arch = re.fullmatch(r".*\.(\d+)([af]?)\.cubin", path.name)
        if arch:
            for _, words in nvdis.text_words(path):
                found[int(arch.group(1))].update(plain(w) for w in words)
    return found


def suffix(arch):
    """Architecture as the tool's -b names it: 90 as 90a, whose instructions include those of 90."""
    return f"{arch}a" if arch >= 90 else str(arch)


def print_ours(program, arch, words):
    """[(state, text)] by build/tests/oracle/sass-words; word i stands at address 16 * i, as in nvdis.disassemble()."""
    lines = "".join(f"{arch} {16 * i:x} {word:032x}\n" for i, word in enumerate(words))
    out = subprocess.run([program], input=lines, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [line.split(" ", 1) for line in out.splitlines()]


def verdict(state, ours, wanted):
    if wanted is None or ODD.search(wanted):
        return "refused"
    if nvdis.normalise(ours) == wanted:
        return "flagged" if state == "unexplained" else "equal"
    if state == "unknown":
        return "undecoded"
    return "marked" if state == "unexplained" or ODD.search(ours) else "silent"


def judge(program, arch, words):
    """([Result], number of words about which the versions of the tool differ)"""
    versions = [nvdis.disassemble(words, suffix(arch), tool) for tool in nvdis.tools() if nvdis.knows(tool, suffix(arch))]
    newest_first = list(zip(*reversed(versions)))
    disputed = sum(len(set(texts) - {None}) > 1 for texts in newest_first)
    wanted = [next((text for text in texts if text is not None), None) for texts in newest_first]
    ours = print_ours(program, arch, words)
    return [Result(w, verdict(*o, t), o[1], t) for w, o, t in zip(words, ours, wanted)], disputed


def shape(text):
    """The text without what varies from word to word."""
    text = re.sub(r"^@\S+ ", "", text)
    text = re.sub(r"\b(U?[RP]|B|SB)(?:\d+|Z|T)\b", r"\1", text)
    return re.sub(r"[+-]?(?:0x[0-9a-f]+|\b\d[\d.]*(?:e[+-]?\d+)?\b|\b(?:INF|QNAN|SNAN)\b)", "#", text)


def operation(text):
    return re.sub(r"^@\S+ ", "", text).split(" ")[0].split(".")[0]


class Tally:
    """Counts verdicts, keeps a few words of each shape of difference."""

    def __init__(self):
        self.counts, self.misses = collections.Counter(), collections.Counter()
        self.examples = collections.defaultdict(list)

    def add(self, arch, result, times=1):
        self.counts[result.verdict] += times
        if result.verdict not in ("equal", "refused"):
            self.misses[operation(result.wanted)] += times
            key = (arch, result.word & 0xFFF, result.verdict, shape(result.ours), shape(result.wanted))
            if len(self.examples[key]) < PER_SHAPE:
                self.examples[key].append(result)

    def write(self, path):
        """A table of the examples: architecture, word, ours, the tool's, verdict."""
        with open(path, "w", encoding="utf-8") as file:
            for (arch, _, name, _, _), results in sorted(self.examples.items()):
                for r in results:
                    print(arch, f"{r.word:032x}", nvdis.normalise(r.ours), r.wanted, name, sep="\t", file=file)

    def __str__(self):
        return ", ".join(f"{self.counts[v]} {v}" for v in VERDICTS)
