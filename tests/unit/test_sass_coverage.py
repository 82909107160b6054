#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The harness that compares machine code with the vendor's disassembler, as far as it needs no such tool: verdicts are the right ones,
instances of a form cover all pairs of choices, and tables of all pages are whole. Prints TAP.

usage: test_sass_coverage.py ROOT"""
import itertools
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
sass = root / "tests/oracle/sass"
sys.path.insert(0, str(sass))
import compare  # noqa: E402
import generate  # noqa: E402

results = []


def check(name, wrong):
    results.append(not wrong)
    print(f"{'not ok' if wrong else 'ok'} {len(results)} - {name}")
    for line in wrong[:10]:
        print(f"# {line}")


def verdicts():
    cases = [("known", "FADD R0,  R1, R2 ;", "FADD R0, R1, R2", "equal"), ("unexplained", "FADD R0, R1, R2", "FADD R0, R1, R2", "flagged"),
             ("known", "FADD R0, R1, R2", "FADD R0, R1, -R2", "silent"), ("unexplained", "FADD R0, R1, R2", "FADD.X R0, R1, R2", "marked"),
             ("known", "FADD.???3 R0", "FADD.X R0", "marked"), ("unknown", ".word 0x1", "FADD R0", "undecoded"), ("known", "FADD R0", None, "refused"),
             ("known", "FADD R0", "FADD.???3 R0", "refused"), ("known", "FADD.INVALID1", "FADD.INVALID2", "refused")]
    return [f"{case}: {compare.verdict(*case[:3])}" for case in cases if compare.verdict(*case[:3]) != case[3]]


def missing_pairs(line):
    """Pairs of choices of a form that no instance has."""
    form = generate.Form(line)
    seen = set()
    for choices in form.instances():
        if len(choices) != len(form.slots):
            return [f"{line}: {len(choices)} choices for {len(form.slots)} slots"]
        seen.update(itertools.combinations(enumerate(choices), 2))
    wanted = {((i, x), (j, y)) for (i, a), (j, b) in itertools.combinations(enumerate(form.slots), 2) for x in a for y in b}
    return [f"{line}: {pair}" for pair in sorted(wanted - seen, key=str)]


def written(line):
    """What the PTX of a form still has of its notation."""
    form = generate.Form(line)
    text = "\n".join(generate.Writer(form, next(form.instances()), 0).lines())
    return [f"{line}: {left}" for left in re.findall(r"\$\w+|<[^<>0-9][^<>]*>", text)]


def broken_tables(name, text):
    """Lines of a page where a table begins or goes on otherwise than a table does."""
    wrong, cells, fenced = [], 0, False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.startswith("```")
        if not fenced and line.startswith("|"):
            found = len(re.findall(r"(?<!\\)\|", re.sub(r"`[^`]*`", "", line)))
            if cells and found != cells or not line.rstrip().endswith("|"):
                wrong.append(f"{name}:{number}: {found} cell borders, not {cells}")
            cells = cells or found
        else:
            if not fenced and cells and line and not line.startswith("<!--"):
                wrong.append(f"{name}:{number}: text right behind a table")
            cells = 0
    return wrong


forms = generate.read_forms(sass / "ptx.forms")
print("1..5")
check("each difference gets its verdict", verdicts())
check("instances cover all pairs of choices", [w for line in forms[::60] for w in missing_pairs(line)])
check("nothing of a form's notation is left in its PTX", [w for line in forms for w in written(line)])
made = subprocess.run([sys.executable, sass / "coverage.py", "--page"], stdout=subprocess.PIPE, text=True, check=True).stdout
check("tables of the page of all rounds are whole", broken_tables("sass-coverage.md", made))
pages = [p for p in root.rglob("*.md") if not p.relative_to(root).parts[0].startswith("build") and "subprojects" not in p.parts]
check("tables of all pages are whole", [w for p in sorted(pages) for w in broken_tables(p.name, p.read_text(encoding="utf-8"))])
sys.exit(not all(results))
