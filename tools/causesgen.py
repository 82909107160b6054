#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the table of causes: causesgen.py CAUSES EXCEPTION_H EXCEPTION_C RULES_OUTPUT FACTS_OUTPUT

The format is told at the top of data/causes.txt. FACTS are found out by src/explain (explain.h), where WSI_FACT_ stands in front
of their names; where a rule needs several, the first of this list is given as its evidence. Refused: an unknown word, a fact or
a kind that does not exist, a family of exceptions without a cause and a command that need no fact.
"""
import re
import sys

FACTS = """
    CUT CUT_LIKELY OVERFLOW OVERFLOW_FAR OVERFLOW_ALONE FAR_BELOW FAR_BELOW_ALONE BELOW_ZERO
    NULL WILD MISALIGNED BASE_ODD BASE_EVEN NO_MASK MASKED PAST_NEAR PAST_FAR BEFORE INSIDE OUTSIDE BASE_LOST BASE_PARAM BASE_LOADED INDEX_ALONE INDEX_LOADED
    STEP_BEYOND SOME_LANES ALL_LANES SHARED LOCAL CONST GENERIC ASYNC NO_MEMORY NO_PARAMS NO_ERRORPC PC_OUTSIDE INSN_UNKNOWN
    RECURSION ASSERT TARGET_GONE NO_SHARED NO_LOCAL NO_IMAGE BIG_FRAME STACK_OUT PC_NULL PC_DATA PC_ODD VIRTUAL
    TARGET_LOADED NOT_BY_CALL CODE_CHANGED CODE_SAME ARCH_DIFFERS ARCH_RUNS MASK_LACKS DESCRIPTOR_WRONG REGISTER_BEYOND REGISTER_ODD SETMAXNREG DRIVER_OLDER
    DRIVER_NEWER IN_WINDOW RANK_BEYOND TARGET_HERE BAR_ZERO BAR_WRONG BAR_FEW MAP_LOST MAP_ZERO MAP_ODD MAP_WRONG
    MAP_PAST TILE_ODD COLUMN_BEYOND NO_RELEASE MANAGED STACK_CHECK STACK_GUARD GRID_BARRIER GAVE_UP GUARD_RAIL SURFACE VARIABLES DUMP
    TRITON FLAG_IMAGES FLAG_GLOBAL FLAG_SHARED FLAG_LOCAL FLAG_BANKS STRIPPED
""".split()
MAX_CODES = 4
MAX_RULE_FACTS = 6
SURE = {"certain": "WS_CONFIDENCE_CERTAIN", "likely": "WS_CONFIDENCE_LIKELY", "possible": "WS_CONFIDENCE_POSSIBLE"}


class Refused(Exception):
    pass


def facts_of(text):
    """(names that must hold, names that must not), in the order of FACTS"""
    when, unless = [], []
    for word in text.split():
        if word == "-":
            continue
        name = word.lstrip("!")
        if name not in FACTS:
            raise Refused(f"no fact is called {name}")
        (unless if word[0] == "!" else when).append(name)
    if max(len(when), len(unless)) > MAX_RULE_FACTS:
        raise Refused(f"more than {MAX_RULE_FACTS} facts in one row")
    return sorted(when, key=FACTS.index), sorted(unless, key=FACTS.index)


def list_of(names):
    return "{ " + ", ".join(["WSI_FACT_" + name for name in names] + ["WSI_FACT_NONE"]) + " }"


def kinds_of(text, families, codes):
    """(mask of families, trap, codes)"""
    mask, trap, found = 0, False, []
    for word in text.split():
        if word == "any":
            mask, trap = (1 << len(families)) - 1, True
        elif word == "trap":
            trap = True
        elif word in families:
            mask |= 1 << families.index(word)
        elif word in codes:
            found.append(codes[word])
        else:
            raise Refused(f"no family or exception is called {word}")
    if len(found) > MAX_CODES:
        raise Refused(f"more than {MAX_CODES} exceptions in one row")
    return mask, trap, found


def row_of(line, families, codes):
    """(text of the row, whether it is a command, mask of the families that it always fits)"""
    kind, rest = line.split(None, 1)
    if kind not in ("cause", "next"):
        raise Refused(f"a row is a cause or a next, not {kind}")
    cells = [cell.strip() for cell in rest.split(" | ")]
    if kind == "next":
        cells = cells[:2] + ["possible", " | ".join(cells[2:])]
    if len(cells) != 4 or not cells[3]:
        raise Refused("a cause has four cells, a next three")
    if cells[2] not in SURE:
        raise Refused(f"nothing is {cells[2]}")
    mask, trap, found = kinds_of(cells[0], families, codes)
    when, unless = facts_of(cells[1])
    text = cells[3].replace("\\", "\\\\").replace('"', '\\"')
    listed = ", ".join(str(code) for code in found + [0] * (MAX_CODES - len(found)))
    row = f'\t{{ {"true" if kind == "next" else "false"}, 0x{mask:x}, {str(trap).lower()}, {{ {listed} }}, {list_of(when)}, ' \
          f'{list_of(unless)}, {SURE[cells[2]]}, "{text}" }},'
    return row, kind == "next", 0 if when or unless else mask


def main():
    causes, header, source, output, facts_output = sys.argv[1:]
    with open(header, encoding="utf-8") as handle:
        families = [name.lower() for name in re.findall(r"^\tX\(([A-Z_]+), ", handle.read(), re.M)]
    with open(source, encoding="utf-8") as handle:
        codes = {name: int(code) for code, name in re.findall(r"^\t?.*?\b(\d+)u?,\s*\"([A-Z_]+)\"", handle.read(), re.M)}
    rows = []
    with open(causes, encoding="utf-8") as handle:
        for number, line in enumerate(handle, 1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                rows.append(row_of(line.rstrip("\n"), families, codes))
            except Refused as error:
                sys.exit(f"{causes}:{number}: {error}")
    always = [0, 0]
    for _, is_next, mask in rows:
        always[is_next] |= mask
    for bit, name in enumerate(families):
        if not (always[False] & always[True]) >> bit & 1:
            sys.exit(f"{causes}: {name} has no cause, or nothing to run, that needs no fact")
    made = "/* Generated by tools/causesgen.py from data/causes.txt - do not edit. */\n"
    with open(output, "w", encoding="utf-8") as handle:
        handle.write(made + "static const struct rule rules[] = {\n" + "\n".join(row for row, _, _ in rows) + "\n};\n")
    with open(facts_output, "w", encoding="utf-8") as handle:
        handle.write(made + f"enum {{ WSI_MAX_RULE_FACTS = {MAX_RULE_FACTS + 1} }};\n\nenum wsi_fact {{\n\tWSI_FACT_NONE,\n"
                     + "".join(f"\tWSI_FACT_{name},\n" for name in FACTS) + "\tWSI_N_FACTS,\n};\n")


if __name__ == "__main__":
    main()
