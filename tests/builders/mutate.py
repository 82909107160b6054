#!/usr/bin/env python3
"""Damages dumps on purpose: mutate.py IN OUT CLASS SEED prints what was damaged, as JSON; mutate.py --list the classes.

Same input, class and seed give the same output. A class of SINGLE damages one field (or one row) and says which data may
be lost by it: "paths" into the tree that reader.py gives. Everything else must survive; compare with prune().
"""

import json
import os
import random
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import reader as rd  # noqa: E402

HEADER_FIELDS = {  # field: (offset in a section header, bytes)
    "name": (0, 4), "type": (4, 4), "flags": (8, 8), "addr": (16, 8), "offset": (24, 8), "size": (32, 8),
    "link": (40, 4), "info": (44, 4), "align": (48, 8), "entsize": (56, 8),
}
IDS = {  # identifying fields of each table
    "device": ("devId", "numSMs", "numWarpsPerSM", "numLanesPerWarp"), "context": ("contextId", "deviceIdx"),
    "module": ("moduleHandle",), "grid": ("gridId64", "contextId", "moduleHandle", "functionEntry", "numRegs"),
    "bank": ("addr", "size", "bankId"), "sm": ("smId", "exception", "errorPC", "exceptionString"),
    "cta": ("gridId64", "blockIdxX"), "warp": ("warpId", "validLanesMask", "activeLanesMask", "errorPC", "numRegs"),
    "lane": ("ln", "virtualPC", "exception", "callDepth", "syscallCallDepth"), "frame": ("level", "virtualReturnAddress"),
    "meta": ("generatorName", "flags"),
}
TABLES = {number: how for number, (_, how) in rd.KINDS.items() if how not in ("bytes", "words")}
SPECIAL = (0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff)
SPECIAL64 = SPECIAL + (1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 8, (1 << 64) - 1)


class Damage(dict):
    """What was done: class, seed, section (index), field, old and new value, and paths (None: anything may be lost)."""


class Mutator:
    """Mutates one dump many times; the file is taken apart once."""

    def __init__(self, data, foreign=()):
        self.data = bytes(data)
        self.foreign = foreign  # other dumps, whose pages may come into this one
        self.reader = rd.Reader(self.data)
        self.sections = self.reader.sections
        self.headers_at, = struct.unpack_from("<Q", self.data, 40)
        self.path, self.row_paths = {}, {}
        self.walk()
        self.known = [s for s in self.sections[1:] if s.index in self.path]
        self.children = [s for s in self.known if s.link]
        self.tables = [s for s in self.known if s.type - rd.BASE in TABLES and s.size]

    def walk(self):
        """Paths of all sections, from their links, parents before children."""
        below, memory = {}, 0
        for section in self.sections[1:]:
            number = section.type - rd.BASE
            if number in (1, 2):
                self.path[section.index] = f"memory[{memory}]"
                memory += 1
            elif number in (9, 22):
                self.path[section.index] = "devices" if number == 9 else "meta"
            elif number in rd.KINDS and section.link:
                below.setdefault(section.link, []).append(section)
        queue = [s for s in self.path if self.path[s] == "devices"]
        while queue:
            parent = queue.pop()
            for section in below.get(parent, ()):
                what = rd.KINDS[section.type - rd.BASE][0]
                self.path[section.index] = f"{self.path[parent]}[{section.info}].{what}"
                if section.type - rd.BASE in TABLES:
                    queue.append(section.index)

    def run(self, kind, seed):
        """(damaged bytes, Damage); tries until something has changed."""
        rng = random.Random(f"{kind} {seed}")
        while True:
            out = bytearray(self.data)
            damage = Damage({"class": kind, "seed": seed, "section": None, "field": None, "paths": None})
            result = CLASSES[kind](self, rng, out, damage)
            if result is not None or out != self.data:
                return bytes(out if result is None else result), damage

    def set_header(self, out, damage, section, field, value, paths=None):
        offset, size = HEADER_FIELDS[field]
        at = self.headers_at + 64 * section.index + offset
        old = int.from_bytes(out[at:at + size], "little")
        value &= (1 << 8 * size) - 1
        out[at:at + size] = value.to_bytes(size, "little")
        damage.update(section=section.index, name=section.name, field="sh_" + field, old=old, new=value, paths=paths)

    def places(self, section, link=None, info=None):
        """Paths that a section may occupy: its own, and the one that a new link and row would give it."""
        out = [self.path[section.index]]
        link = section.link if link is None else link
        info = section.info if info is None else info
        if link in self.path and section.type - rd.BASE in rd.KINDS:
            out.append(f"{self.path[link]}[{info}].{rd.KINDS[section.type - rd.BASE][0]}")
        return out


def trunc(mutator, rng, out, damage):
    size = rng.randrange(len(out))
    damage.update(field="file size", old=len(out), new=size)
    return out[:size]


def flip_in(rng, out, damage, start, size):
    spots = [start + rng.randrange(size) for _ in range(rng.randint(1, 8))]
    for at in spots:
        out[at] ^= rng.randint(1, 255)
    damage.update(field="bytes", offsets=sorted(spots))


def flip(mutator, rng, out, damage):
    flip_in(rng, out, damage, 0, len(out))


def flip_elf_header(mutator, rng, out, damage):
    flip_in(rng, out, damage, 0, 64)


def flip_headers(mutator, rng, out, damage):
    flip_in(rng, out, damage, mutator.headers_at, 64 * len(mutator.sections))


def flip_tables(mutator, rng, out, damage):
    section = rng.choice(mutator.tables)
    flip_in(rng, out, damage, section.offset, section.size)
    damage.update(section=section.index, name=section.name, paths=[mutator.path[section.index]])


def link(mutator, rng, out, damage):
    section = rng.choice(mutator.children)
    value = rng.choice((0, section.index, len(mutator.sections), 0xffffffff, section.link ^ 1, section.link + 1,
                        rng.randrange(len(mutator.sections)), rng.choice(mutator.tables).index))
    mutator.set_header(out, damage, section, "link", value, mutator.places(section, link=value))


def info(mutator, rng, out, damage):
    section = rng.choice(mutator.children)
    value = rng.choice((section.info + 1, section.info - 1, rng.randrange(64), 0xffffffff, 0x7fffffff, 1000)) & 0xffffffff
    mutator.set_header(out, damage, section, "info", value, mutator.places(section, info=value))


def entry_size(mutator, rng, out, damage):
    section = rng.choice(mutator.tables)
    value = rng.choice((1, 3, 4, section.entsize - 1, section.entsize - 4, section.entsize + 8, section.entsize * 2,
                        section.size, section.size + 1, 1 << 31, 1 << 40))
    mutator.set_header(out, damage, section, "entsize", value, [mutator.path[section.index]])


def entry_size_zero(mutator, rng, out, damage):
    section = rng.choice(mutator.tables)
    mutator.set_header(out, damage, section, "entsize", 0, [mutator.path[section.index]])


def entry_size_huge(mutator, rng, out, damage):
    section = rng.choice(mutator.tables)
    value = rng.choice(((1 << 64) - 1, (1 << 64) - section.entsize, 1 << 63, (1 << 32) + section.entsize))
    mutator.set_header(out, damage, section, "entsize", value, [mutator.path[section.index]])


def offset(mutator, rng, out, damage):
    section = rng.choice(mutator.known)
    value = rng.choice((0, len(out), len(out) - 1, len(out) + 1, section.offset + 1, section.offset + 8,
                        rng.choice(mutator.known).offset, *SPECIAL64[3:], (1 << 64) - section.size))
    mutator.set_header(out, damage, section, "offset", value, [mutator.path[section.index]])


def size(mutator, rng, out, damage):
    section = rng.choice(mutator.known)
    value = rng.choice((0, 1, section.size - 1, section.size + 1, section.size // 2, section.size * 2, len(out),
                        (1 << 64) - section.offset, *SPECIAL64[3:])) & (1 << 64) - 1
    mutator.set_header(out, damage, section, "size", value, [mutator.path[section.index]])


def section_type(mutator, rng, out, damage):
    section = rng.choice(mutator.known)
    number = rng.choice((*rd.KINDS, 0, 24, 99))
    value = rng.choice((rd.BASE + number, number, 3, 8))
    paths = [mutator.path[section.index]]
    if value - rd.BASE in rd.KINDS:
        if section.link in mutator.path:
            paths.append(f"{mutator.path[section.link]}[{section.info}].{rd.KINDS[value - rd.BASE][0]}")
        paths += {1: ["memory"], 2: ["memory"], 9: ["devices"], 22: ["meta"]}.get(value - rd.BASE, [])
    if section.type - rd.BASE in (1, 2):
        paths.append("memory")  # the numbers of later blocks change
    mutator.set_header(out, damage, section, "type", value, paths)


def name(mutator, rng, out, damage):
    section = rng.choice(mutator.known)
    value = rng.choice((0, 1, section.name_off + 1, 0xffffffff, 0x7fffffff, len(out), rng.randrange(1 << 16)))
    mutator.set_header(out, damage, section, "name", value, [])


def self_link(mutator, rng, out, damage):
    section = rng.choice([s for s in mutator.tables if s.link] or mutator.children)
    mutator.set_header(out, damage, section, "link", section.index, [mutator.path[section.index]])


def link_cycle(mutator, rng, out, damage):
    """A table is hung below one of its own descendants; where none has any, below itself."""
    below = [s for s in mutator.tables if s.link and mutator.sections[s.link].link]
    if not below:
        return self_link(mutator, rng, out, damage)
    inner = rng.choice(below)
    outer = mutator.sections[inner.link]
    return mutator.set_header(out, damage, outer, "link", inner.index, [mutator.path[outer.index]])


def duplicate(mutator, rng, out, damage):
    """Two sections of one kind claim the same row."""
    section = rng.choice(mutator.children)
    twins = [s for s in mutator.children if s.type == section.type and s is not section]
    if not twins:
        return info(mutator, rng, out, damage)
    other = rng.choice(twins)
    mutator.set_header(out, damage, section, "info", other.info,
                       mutator.places(section, info=other.info))
    at = mutator.headers_at + 64 * section.index + HEADER_FIELDS["link"][0]
    struct.pack_into("<I", out, at, other.link)
    damage.update(field="sh_link and sh_info", paths=[mutator.path[section.index], mutator.path[other.index]])
    return None


def ids(mutator, rng, out, damage):
    """One identifying or counting field of one row."""
    section = rng.choice(mutator.tables)
    kind = TABLES[section.type - rd.BASE]
    row = rng.randrange(section.size // section.entsize)
    fields = [f for f in IDS[kind] if sum(rd.FIELDS[kind][f]) <= section.entsize]
    field = rng.choice(fields)
    at, width = rd.FIELDS[kind][field]
    at += section.offset + row * section.entsize
    old = int.from_bytes(out[at:at + width], "little")
    value = rng.choice((*(SPECIAL64 if width == 8 else SPECIAL), old + 1, old ^ 1 << rng.randrange(8 * width),
                        rng.randrange(1 << 8 * width))) & (1 << 8 * width) - 1
    out[at:at + width] = value.to_bytes(width, "little")
    place = mutator.path[section.index]
    damage.update(section=section.index, name=section.name, row=row, field=field, old=old, new=value,
                  paths=[place if kind == "meta" else f"{place}[{row}]"])


def overlap(mutator, rng, out, damage):
    """A memory block is moved onto or near another, or to the end of the address space."""
    blocks = [s for s in mutator.known if s.type - rd.BASE in (1, 2, 3)]
    if not blocks:
        return name(mutator, rng, out, damage)
    section, other = rng.choice(blocks), rng.choice(blocks)
    value = rng.choice((other.addr, other.addr + other.size - 1, other.addr - 1, other.addr + 1, 0,
                        (1 << 64) - section.size, (1 << 64) - 1)) & (1 << 64) - 1
    mutator.set_header(out, damage, section, "addr", value, [mutator.path[section.index]])
    return None


def counts(mutator, rng, out, damage):
    """The section count, the name table's index or the place of the headers."""
    where, width = rng.choice(((40, 8), (58, 2), (60, 2), (62, 2), (mutator.headers_at + 32, 8),
                               (mutator.headers_at + 40, 4)))
    old = int.from_bytes(out[where:where + width], "little")
    value = rng.choice((0, 1, old - 1, old + 1, old // 2, old * 2, (1 << 8 * width) - 1, 1 << 8 * width - 1))
    value &= (1 << 8 * width) - 1
    out[where:where + width] = value.to_bytes(width, "little")
    damage.update(field=f"{width} bytes at {where}", old=old, new=value)


def flags(mutator, rng, out, damage):
    section = rng.choice(mutator.known)
    mutator.set_header(out, damage, section, rng.choice(("flags", "align")), rng.choice(SPECIAL64[1:]), [])


def type_tables(mutator, rng, out, damage):
    """A table takes another type."""
    section = rng.choice(mutator.tables)
    number = rng.choice([n for n in (*rd.KINDS, 24, 99) if rd.BASE + n != section.type])
    mutator.set_header(out, damage, section, "type", rng.choice((rd.BASE + number, number, 0, 3, 8)), None)


def zero_bytes(mutator, rng, out, damage):
    """What a section holds is zeros."""
    section = rng.choice(mutator.tables)
    out[section.offset:section.offset + section.size] = bytes(section.size)
    damage.update(section=section.index, name=section.name, field="bytes", paths=[mutator.path[section.index]])


def zero_header(mutator, rng, out, damage):
    section = rng.choice(mutator.known)
    at = mutator.headers_at + 64 * section.index
    out[at:at + 64] = bytes(64)
    damage.update(section=section.index, name=section.name, field="header", paths=None)


def garbage(mutator, rng, out, damage):
    """All rows of a table are noise."""
    section = rng.choice(mutator.tables)
    out[section.offset:section.offset + section.size] = rng.randbytes(section.size)
    damage.update(section=section.index, name=section.name, field="bytes", paths=[mutator.path[section.index]])


def garbage_row(mutator, rng, out, damage):
    """One row of a table is noise."""
    section = rng.choice(mutator.tables)
    row = rng.randrange(section.size // section.entsize)
    at = section.offset + row * section.entsize
    out[at:at + section.entsize] = rng.randbytes(section.entsize)
    damage.update(section=section.index, name=section.name, row=row, field="row",
                  paths=[f"{mutator.path[section.index]}[{row}]"])


def swap_headers(mutator, rng, out, damage):
    """Two section headers stand in each other's place: what hangs below either is below the other."""
    one, two = rng.sample(mutator.tables, 2)
    a, b = (mutator.headers_at + 64 * section.index for section in (one, two))
    out[a:a + 64], out[b:b + 64] = out[b:b + 64], out[a:a + 64]
    damage.update(section=one.index, other=two.index, name=one.name, field="header", paths=None)


def swap_bytes(mutator, rng, out, damage):
    """Two tables of one kind have each other's bytes."""
    one = rng.choice(mutator.tables)
    twins = [s for s in mutator.tables if s.type == one.type and s is not one]
    if not twins:
        return zero_bytes(mutator, rng, out, damage)
    two = rng.choice(twins)
    a, b = (mutator.headers_at + 64 * section.index + HEADER_FIELDS["offset"][0] for section in (one, two))
    out[a:a + 16], out[b:b + 16] = out[b:b + 16], out[a:a + 16]
    damage.update(section=one.index, other=two.index, name=one.name, field="sh_offset and sh_size", paths=None)
    return None


def copy_header(mutator, rng, out, damage):
    """A section header is there twice: over that of a leaf, which is lost."""
    section = rng.choice(mutator.tables)
    victims = [s for s in mutator.known if s.type - rd.BASE not in TABLES]
    if not victims:
        return name(mutator, rng, out, damage)
    victim = rng.choice(victims)
    a, b = (mutator.headers_at + 64 * s.index for s in (section, victim))
    out[b:b + 64] = out[a:a + 64]
    damage.update(section=victim.index, name=victim.name, field="header",
                  paths=[mutator.path[victim.index]])
    return None


def strtab(mutator, rng, out, damage):
    """The strings or the names of sections are lost."""
    section = rng.choice([s for s in mutator.sections if s.type == 3])
    at = mutator.headers_at + 64 * section.index
    if rng.random() < 0.5:
        out[section.offset:section.offset + section.size] = bytes(section.size)
    else:
        out[at + 4:at + 8] = struct.pack("<I", rng.choice((0, 1, 8, 0x80000099)))
    damage.update(section=section.index, name=section.name, field="strings", paths=[])


def no_headers(mutator, rng, out, damage):
    """The section headers are lost: nothing leads to them, or they are zeros."""
    if rng.random() < 0.5:
        out[40:48] = struct.pack("<Q", rng.choice((0, len(out), len(out) * 2, 1 << 63)))
    else:
        size = 64 * len(mutator.sections)
        out[mutator.headers_at:mutator.headers_at + size] = bytes(size)
    damage.update(field="section headers", paths=None)


def cut(mutator, rng, out, damage):
    """The file ends at or near the border of a section, of a row, or among the headers."""
    section = rng.choice(mutator.tables)
    at = rng.choice((section.offset, section.offset + section.size, section.offset + section.size - 1,
                     section.offset + rng.randrange(section.size), section.offset + section.entsize,
                     mutator.headers_at + 64 * section.index, mutator.headers_at + 64 * section.index + 40))
    damage.update(field="file size", old=len(out), new=at)
    return out[:at]


# What a file system or a copy does to a file: whole pages, or chunks of several, are where they do not belong.

def pages(size, how):
    """A class of damage that takes whole pages of so many bytes: "touched" are the ranges of the new file that do not hold what the
    old one held there."""
    def damage_pages(mutator, rng, out, damage):
        n = -(-len(out) // size)
        page = rng.randrange(n)
        start, end = page * size, min((page + 1) * size, len(out))
        damage.update(field=f"{how} {size}", old=start, touched=[(start, len(out))])
        if how == "drop":
            return out[:start] + out[end:]
        if how == "double":
            return out[:end] + out[start:end] + out[end:]
        if how == "swap" and n > 1:
            other = rng.randrange(n) * size
            first, second = min(start, other), max(start, other)
            length = min(size, len(out) - second)
            damage["touched"] = [(first, first + length), (second, second + length)]
            out[first:first + length], out[second:second + length] = out[second:second + length], out[first:first + length]
        else:
            donors = [data for data in mutator.foreign if len(data) >= end and data != mutator.data]
            new = {"zero": bytes(end - start), "swap": bytes(end - start), "ff": b"\xff" * (end - start),
                   "foreign": rng.choice(donors)[start:end] if donors else rng.randbytes(end - start)}[how]
            damage["touched"] = [(start, end)]
            out[start:end] = new
        return None
    return damage_pages


def shift_rows(mutator, rng, out, damage):
    """What a table holds stands a few bytes too early or too late in it."""
    section = rng.choice(mutator.tables)
    step = rng.choice((4, 8)) * rng.choice((1, -1))
    rows = out[section.offset:section.offset + section.size]
    beside = out[section.offset + step:section.offset + step + section.size]
    out[section.offset:section.offset + section.size] = beside if len(beside) == len(rows) else rows[4:] + rows[:4]
    damage.update(section=section.index, name=section.name, field=f"rows by {step}", paths=[mutator.path[section.index]])


CLASSES = {
    "trunc": trunc, "flip": flip, "fliphdr": flip_headers, "fliptab": flip_tables, "flipehdr": flip_elf_header,
    "counts": counts, "link": link, "info": info, "entsize": entry_size, "entsize0": entry_size_zero,
    "entsizehuge": entry_size_huge, "offset": offset, "size": size, "type": section_type, "name": name,
    "selflink": self_link, "linkcycle": link_cycle, "duplicate": duplicate, "ids": ids, "overlap": overlap, "flags": flags, "typetab": type_tables, "zero": zero_bytes, "zerohdr": zero_header,
    "garbage": garbage, "garbagerow": garbage_row, "swaphdr": swap_headers, "swapbytes": swap_bytes, "copyhdr": copy_header,
    "strtab": strtab, "noheaders": no_headers, "cut": cut, "shiftrows": shift_rows,
}
PAGES = {f"{how}{size >> 10}k": pages(size, how) for size in (4096, 16384, 65536)
         for how in ("drop", "double", "swap", "zero", "ff", "foreign")}
CLASSES.update(PAGES)
SINGLE = ("link", "info", "entsize", "entsize0", "entsizehuge", "offset", "size", "type", "name", "selflink", "linkcycle",
          "duplicate", "ids", "overlap", "fliptab")


def prune(tree, paths):
    """A copy of reader.read()'s tree without what the paths name and without the lists of losses; None where cut."""
    tree = json.loads(json.dumps(tree))
    for key in ("lost", "n_sections", "unknown"):
        tree.pop(key, None)
    for path in paths:
        steps = path.replace("[", ".[").split(".")
        here = tree
        for step in steps[:-1]:
            here = _step(here, step)
            if here is None:
                break
        last = steps[-1]
        if isinstance(here, list) and last[0] == "[" and int(last[1:-1]) < len(here):
            here[int(last[1:-1])] = None
        elif isinstance(here, dict):
            here.pop(last, None)
    return tree


def _step(here, step):
    if step[0] == "[":
        number = int(step[1:-1])
        return here[number] if isinstance(here, list) and number < len(here) else None
    return here.get(step) if isinstance(here, dict) else None


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(CLASSES))
        return 0
    if len(arguments) != 4 or arguments[2] not in CLASSES:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(arguments[0], "rb") as handle:
        mutator = Mutator(handle.read())
    data, damage = mutator.run(arguments[2], int(arguments[3]))
    with open(arguments[1], "wb") as handle:
        handle.write(data)
    print(json.dumps(damage))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
