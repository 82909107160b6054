#!/usr/bin/env python3
"""Makes the seeds of fuzz_verbs: a small dump, cubin or text behind the number of each command line. usage: make-verb-seeds.py OUT"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "builders"))

import bombs  # noqa: E402

IMAGE = ("lines", "symbolize", "disas", "store")


def main(out):
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(HERE, "fuzz_verbs.c"), encoding="utf-8") as text:
        table = re.search(r"commands\[\] = \{(.*?)\n\};", text.read(), re.S).group(1)
    commands = re.findall(r'"(.*?)"', table)
    image = bombs.line_chains(6, bombs.EXIT * 8)
    dump = bombs.dump_of(bombs.line_image(bombs.line_table(bombs.set_address() + b"\x1a\x1b\x4c" + bombs.END),
                                          code=bombs.EXIT * 8))
    with open(os.path.join(HERE, "..", "tests/data/logs/train.log"), "rb") as file:
        log = file.read()
    text = b".arch sm_90\n.kernel k\n    EXIT ;\n"
    for number, command in enumerate(commands):
        verb = command.split()[0]
        body = image if verb in IMAGE else text if verb in ("as", "trace") else log if verb == "log" else dump
        name = re.sub(r"[^a-z0-9]+", "-", command).strip("-")
        with open(os.path.join(out, name[:40]), "wb") as file:
            file.write(bytes([number]) + body)


if __name__ == "__main__":
    main(sys.argv[1])
