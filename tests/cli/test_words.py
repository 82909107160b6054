#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No page has a sentence of a broken shape: "1 warps", "0 of 0", an escape of Markdown in plain text, ... Prints TAP.

usage: test_words.py PROGRAM TESTS [EVERY]

The golden files, and the pages (text, Markdown, HTML) of each EVERYth dump of the builders: scenarios, planted faults, planted hangs.
And what the page says of each of them when it is damaged, in DAMAGES ways.
"""

import glob
import html
import os
import re
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "builders"))
import everything  # noqa: E402
import mutate  # noqa: E402

DAMAGES = 4

UNITS = "thread|warp|lane|block|byte|SM|instruction|element|frame|group|kernel|suspect|arrival|level|call|diagnostic|row|sector"
SHAPES = {
    "a plural of one": r"(?<![\d.,:x(])\b1 (?:more |other |resident |of 1 |)(?:%s)s\b" % UNITS,
    "one of one, in the plural": r"\bof 1 (?:other |resident )?(?:%s)s\b" % UNITS,
    "a singular of many": r"(?<![\d.,:x(])\b(?:[2-9]|[1-9]\d+) (?:more |other |resident )?(?:%s)\b(?![-+<(:.\w]| \d)" % UNITS,
    "a count of nothing": r"\b0 of 0\b|, of 0\b|\bof 0 (?:%s)s?\b" % UNITS,
    "an unfinished sentence": r"\(null\)|%(?![thp](?:_|\b))[a-z]|\bNone of None\b|: ;|;;|,,| ,|\. \.",
    "one that waits in the plural": r"(?<![\d.,:x(])\b1 thread (?:of 1 warp in 1 block )?wait\b|\b1 (?:%s) (?:are|have)\b" % UNITS,
}
ESCAPE = r"\\[<>*`_\[\]|~]"
BLOCK = re.compile(r"^(?:    | {2}\S).*$", re.M)


def shapes(page):
    return ["%s: %s" % (name, page[max(found.start() - 40, 0):found.end() + 20].replace("\n", " "))
            for name, shape in SHAPES.items() for found in [re.search(shape, page)] if found]


def table(page, title):
    """The rows of a table of a page, by the names of its columns."""
    lines = page.partition(title + ":\n\n")[2].partition("\n\n")[0].splitlines()
    return [re.split(r"  +", line.strip()) for line in lines if line.startswith("    ")]


def check_text(page):
    bad = shapes(page)
    if found := re.search(ESCAPE, page):
        bad.append("an escape: " + page[max(found.start() - 40, 0):found.end() + 20])
    for row in table(page, "Where the threads are")[1:]:
        if len(row) > 4 and row[3] == row[4]:
            bad.append("the pc twice: %s" % row)
    if re.search(r"^    parameters 0: .*\b0 bytes? at|^    parameters 0: .* bytes? at (?:0x)?0,", page, re.M):
        bad.append("parameters do not start where the bank has them")
    first = page.partition("\n")[0]
    if "hang suspected" in first.lower() and not re.match(r"Hang suspected in (?:kernel )?\S.*: .* (?:waits?|sleeps?)\b", first):
        bad.append("the headline of a hang: " + first)
    return bad


def check_html(page):
    body = page.partition("</style>")[2].partition("<script")[0]
    return shapes(html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"</?(?:b|code|span|strong)\b[^>]*>", "", body))))


def pages(program, dump):
    for form in ("text", "md", "html"):
        done = subprocess.run([program, "report", "--format", form, "--no-source", dump], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 10, 11, 12):
            yield form, ["exit status %d: %s" % (done.returncode, done.stderr)]
        yield form, {"text": check_text, "md": shapes, "html": check_html}[form](done.stdout)


def damaged(program, dump, name):
    """Sentences of a broken shape on pages of damaged dumps."""
    with open(dump, "rb") as handle:
        mutator = mutate.Mutator(handle.read())
    for number in range(DAMAGES):
        kind = list(mutate.CLASSES)[(zlib.crc32(name.encode()) + number) % len(mutate.CLASSES)]
        data, _ = mutator.run(kind, "%s %d" % (name, number))
        done = subprocess.run([program, "report", "--no-source", "-"], input=data, capture_output=True, check=False)
        page = done.stdout.decode(errors="replace").replace("rows of 0 bytes", "")  # as a damaged header says
        yield from ("%s: %s" % (kind, bad) for bad in shapes(page))


def main():
    program, tests = sys.argv[1:3]
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    cases = []
    for path in sorted(glob.glob(os.path.join(tests, "golden", "*.out"))):
        with open(path, encoding="utf-8") as handle:
            page = handle.read()
        if page.startswith(("{", "<!DOCTYPE", "diff", "/*", "usage")):
            continue
        cases.append((os.path.basename(path), shapes(page)))
    with tempfile.TemporaryDirectory() as work:
        dumps = everything.dumps(work, every)
        for dump in dumps:
            name = os.path.relpath(dump, work)
            cases += [("%s of %s" % (form, name), bad) for form, bad in pages(program, dump)]
            cases.append(("text of %s, damaged" % name, list(damaged(program, dump, name))))
    print("1..%d" % len(cases))
    for number, (name, bad) in enumerate(cases, 1):
        print("%s %d - %s" % ("not ok" if bad else "ok", number, name))
        for line in bad:
            print("# " + line)
    return 1 if any(bad for _, bad in cases) else 0


if __name__ == "__main__":
    sys.exit(main())
