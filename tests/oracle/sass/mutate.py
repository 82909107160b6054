#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flips every bit of real words, prints both texts of each word that we print otherwise than the vendor's disassembler, and sums up.

    mutate.py WORDS-PROGRAM FOLDER ARCH [FORMS]

WORDS-PROGRAM is build/tests/oracle/sass-words, FOLDER holds cubins named ANYTHING.ARCH.cubin. Of each opcode FORMS words (default 4) are
taken that differ in mnemonic or number of operands. Needs nvdisasm (nvdis.py says which).
"""
import collections
import re
import subprocess
import sys

import coverage
import nvdis

BITS = list(range(12, 105)) + [122, 123, 124]


def forms(words, texts, limit):
    """At most `limit` words of each opcode, of different forms."""
    chosen = collections.defaultdict(dict)
    for word, text in zip(words, texts):
        form = (re.sub(r"^@\S+ ", "", text or "").split(" ")[0], (text or "").count(","))
        if text and len(chosen[word & 0xFFF]) < limit:
            chosen[word & 0xFFF].setdefault(form, word)
    return [word for by_form in chosen.values() for word in by_form.values()]


def main():
    program, folder, arch, *rest = sys.argv[1:]
    sm = f"{arch}a" if int(arch) >= 90 else arch
    words = list(coverage.words_by_arch(folder)[int(arch)])
    bases = forms(words, nvdis.disassemble(words, sm), int(rest[0]) if rest else 4)
    mutants = sorted({base ^ 1 << bit for base in bases for bit in BITS})
    wanted = nvdis.disassemble(mutants, sm)
    lines = "".join(f"{arch} {16 * i:x} {word:032x}\n" for i, word in enumerate(mutants))
    ours = subprocess.run([program], input=lines, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    counts = collections.Counter()
    for word, want, line in zip(mutants, wanted, ours):
        state, text = line.split(" ", 1)
        odd = want is None or "???" in want or "INVALID" in want  # refused, or printed as no real instruction
        alike = not odd and nvdis.normalise(text) == want
        kind = "refused or invalid" if odd else "alike" if alike else "without a row" if state == "unknown" else "different"
        counts[kind] += 1
        if kind == "different":
            print(f"{word:032x} {want} | {text}")
    print(f"# sm_{arch}: {len(bases)} words, " + ", ".join(f"{n} {kind}" for kind, n in counts.most_common()))


if __name__ == "__main__":
    main()
