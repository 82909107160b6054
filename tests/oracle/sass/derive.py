#!/usr/bin/env python3
"""Drafts table rows from what the disassembler prints when bits of real words are flipped.

For one opcode of one architecture: flip each bit of a base word and look at where the text changes. Bits that change one spot of the text
belong to that spot; bits whose effects do not combine independently are one field, and every value of a field is then printed. A bit that
changes the text in several places selects a different layout: the other layout is drafted as a row of its own.

    derive.py --arch 80 --pairs FILE.pkl [--op 0x221 ...] > draft
"""
import argparse
import collections
import difflib
import pickle
import re
import sys

import nvdis

CONTROL = 0x7F1 << 105
LOW = (1 << 105) - 1
ATOM = re.compile(
    r"(?:(?<![\w\]|)])-)?0x[0-9a-f]+"
    r"|(?:(?<![\w\]|)])[+-])?(?:INF|QNAN|SNAN)\b"
    r"|(?:(?<![\w\]|)])-)?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![A-Za-z_])"
    r"|\.[A-Za-z0-9_?]+(?:::[A-Za-z0-9_]+)*"
    r"|[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z0-9_]+)*"
    r"|, |\s+|.")
BITS = list(range(12, 105)) + [122, 123, 124]


def run(tasks, sm, result):
    """Runs all derivations in step, so that each round asks the disassembler once."""
    waiting = []
    for op, task in tasks:
        waiting.append((op, task, task.send(None)))
    rounds = 0
    while waiting and rounds < 44:
        words = sorted({w for _, _, ws in waiting for w in ws})
        texts = dict(zip(words, nvdis.disassemble(words, sm)))
        rounds += 1
        print(f"round {rounds}: {len(waiting)} derivations, {len(words)} words", file=sys.stderr, flush=True)
        again = []
        for op, task, ws in waiting:
            try:
                again.append((op, task, task.send([texts[w] for w in ws])))
            except StopIteration as stop:
                for conds, template, notes, bw in stop.value:
                    result[op].setdefault((conds, template), (notes, bw))
        waiting = again


def atoms(text):
    return ATOM.findall(text)


def hunks(a, b):
    """[(start, end, replacement)] in atoms of `a`."""
    m = difflib.SequenceMatcher(None, a, b, autojunk=False)
    return [(i1, i2, tuple(b[j1:j2])) for tag, i1, i2, j1, j2 in m.get_opcodes() if tag != "equal"]


def hunk_single(a, b):
    p = 0
    while p < len(a) and p < len(b) and a[p] == b[p]:
        p += 1
    s = 0
    while s < len(a) - p and s < len(b) - p and a[-1 - s] == b[-1 - s]:
        s += 1
    return (p, len(a) - s, tuple(b[p : len(b) - s]))


def is_abs(hs, base):
    return len(hs) == 2 and all(("|",) == h[2] and h[0] == h[1] for h in hs) or len(hs) == 2 and all(base[h[0] : h[1]] == ["|"] and not h[2] for h in hs)


def seg(bits):
    """Bit list as text: runs of lo:len joined by +."""
    runs = []
    for b in bits:
        if runs and runs[-1][0] + runs[-1][1] == b:
            runs[-1][1] += 1
        else:
            runs.append([b, 1])
    return "+".join(f"{lo}:{n}" if n > 1 else f"{lo}" for lo, n in runs)


def field(word, bits):
    return sum(((word >> b) & 1) << i for i, b in enumerate(bits))


def put(word, bits, value):
    for i, b in enumerate(bits):
        word = word & ~(1 << b) | ((value >> i) & 1) << b
    return word


REGS = (("R", 8, 255), ("UR", 8, 255), ("UR", 6, 63), ("P", 3, 7), ("UP", 3, 7), ("B", 4, None), ("SB", 3, None))


def simplify(vals, g):
    """Template piece for a field with these texts."""
    where = seg(g)
    for cls in ("P", "UP"):
        names = [f"{cls}{i}" for i in range(7)]
        top = vals[7] if len(vals) >= 8 else None
        if len(vals) == 8:
            for tail in (", ", ""):
                if vals == [n + tail for n in names] + [""]:
                    return "<%s!=7|{%s@%d}%s>" % (where, cls, g[0], tail)
            if vals == [", " + n for n in names] + [""]:
                return "<%s!=7|, {%s@%d}>" % (where, cls, g[0])
            if vals == [""] + [", " + n for n in names[::-1]]:
                return "<%s!=0|, {%si@%d}>" % (where, cls, g[0])
            if vals == names + [cls + "T"]:
                return "{%s@%d}" % (cls, g[0])
        if len(vals) == 16:
            if vals == [""] + [", " + n for n in names[::-1]] + [f", !{cls}T"] + [", !" + n for n in names[::-1]]:
                return "<%s!=0|, {not@%d}{%si@%d}>" % (where, g[3], cls, g[0])
            if vals == [", " + n for n in names] + [""] + [", !" + n for n in names] + [f", !{cls}T"]:
                return "<%s!=7|, {not@%d}{%s@%d}>" % (where, g[3], cls, g[0])
            if vals == [n + ", " for n in names] + [""] + [f"!{n}, " for n in names] + [f"!{cls}T, "]:
                return "<%s!=7|{not@%d}{%s@%d}, >" % (where, g[3], cls, g[0])
    if len(vals) > 4:
        for cls in ("R", "UR", "B", "SB"):
            if vals[:5] == [f"{cls}{i}" for i in range(5)]:
                return "{%s@%s}" % (cls, where)
        for step in (1, 2, 4, 8, 16, 32):
            if vals == [hex(i * step) for i in range(len(vals))]:
                return "{hex%s@%s}" % ("" if step == 1 else f"*{step}", where)
        if vals == [str(i) for i in range(len(vals))]:
            return "{dec@%s}" % where
    if vals == ["", "-"]:
        return "{neg@%s}" % where
    if vals == ["", "~"]:
        return "{inv@%s}" % where
    if vals == ["", "!"]:
        return "{not@%s}" % where
    if vals == ["", ".reuse"]:
        return "{reuse@%s}" % where
    return "{=%s@%s}" % ("|".join(vals), where)


class Deriver:
    def derive(self, base):
        """All layouts reachable from `base` by mode bits: [(conditions, template, notes)]."""
        modes = set()
        done = {}
        todo = [base]
        while todo:
            w = todo.pop()
            key = tuple((b, w >> b & 1) for b in sorted(modes))
            if key in done or len(done) > 16:
                continue
            template, new_modes, notes = (yield from self.layout(w, modes))
            if new_modes - modes:
                modes |= new_modes
                done = {}
                todo = [base]
                if len(modes) > 4:
                    notes.append(f"too many modes {sorted(modes)}")
                    return [((), template, notes, w)]
                continue
            done[key] = (template, notes, w)
            if template is None:
                continue
            for b in modes:
                todo.append(w ^ (1 << b))
        return [(k, *v) for k, v in done.items()]

    def layout(self, base, modes):
        notes = []
        text = (yield [base])[0]
        if text is None:
            return None, set(), ["refused"]
        bits = [b for b in BITS if b not in modes]
        flips = dict(zip(bits, (yield [base ^ (1 << b) for b in bits])))
        a = atoms(text)
        new_modes = set()
        single = {}
        absbits = {}
        refused = []
        for b, t in flips.items():
            if t is None:
                refused.append(b)
                continue
            if t == text:
                continue
            if 12 <= b <= 15:
                continue
            hs = hunks(a, atoms(t))
            if is_abs(hs, a):
                absbits[b] = hs
            elif len(hs) == 1:
                single[b] = hs[0]
            else:
                h = hunk_single(a, atoms(t))
                inner = a[h[0] : h[1]] + list(h[2])
                if ", " in inner or a[0] != atoms(t)[0]:
                    new_modes.add(b)
                else:
                    single[b] = h
        if refused:
            notes.append("refused flips " + seg(sorted(refused)))
        if new_modes:
            return text, new_modes, notes
        # group bits
        groups = {b: {b} for b in single}

        def join(x, y):
            g = groups[x] | groups[y]
            for z in g:
                groups[z] = g

        order = {}
        pairs = []
        bl = sorted(single)
        for i, x in enumerate(bl):
            for y in bl[i + 1 :]:
                hx, hy = single[x], single[y]
                overlap = hx[0] < hy[1] and hy[0] < hx[1]
                touch = not overlap and (hx[0] == hy[0] or hx[1] == hy[0] or hy[1] == hx[0])
                if overlap:
                    join(x, y)
                elif touch:
                    pairs.append((x, y))
        ws = [base ^ (1 << x) ^ (1 << y) for x, y in pairs]
        for (x, y), t in zip(pairs, (yield ws)):
            if groups[x] is groups[y]:
                continue
            hx, hy = single[x], single[y]

            def compose(first, second):
                if first[0] <= second[0] and first[1] <= second[0]:
                    return a[: first[0]] + list(first[2]) + a[first[1] : second[0]] + list(second[2]) + a[second[1] :]
                return None

            t = None if t is None else "".join(atoms(t))
            c1, c2 = compose(hx, hy), compose(hy, hx)
            if c1 is not None and t == "".join(c1):
                order[(x, y)] = True
            elif c2 is not None and t == "".join(c2):
                order[(y, x)] = True
            else:
                join(x, y)
        spots = []
        seen = set()
        for b in bl:
            if id(groups[b]) in seen:
                continue
            seen.add(id(groups[b]))
            g = sorted(groups[b])
            lo = min(single[x][0] for x in g)
            hi = max(single[x][1] for x in g)
            spots.append((lo, hi, g))
        spots.sort(key=lambda s: (s[0], s[1], s[2]))
        # order insertions at one place
        import functools

        def cmp(s, t):
            if s[0] != t[0]:
                return -1 if s[0] < t[0] else 1
            for x in s[2]:
                for y in t[2]:
                    if (x, y) in order:
                        return -1
                    if (y, x) in order:
                        return 1
            return (s[1] > t[1]) - (s[1] < t[1])

        spots.sort(key=functools.cmp_to_key(cmp))
        out = []
        pos = 0
        absat = collections.defaultdict(list)
        for b, hs in absbits.items():
            for h in hs:
                absat[h[0]].append((b, h[1] > h[0]))
        pieces = []
        for lo, hi, g in spots:
            pieces.append((lo, hi, (yield from self.spot(base, a, lo, hi, g, notes))))
        i = 0
        pi = 0
        while True:
            while pi < len(pieces) and pieces[pi][0] == i and pieces[pi][1] == i:
                out.append(pieces[pi][2])
                pi += 1
            if i in absat:
                for b, had in absat[i]:
                    out.append("{bar@%d}" % b)
                if absat[i][0][1]:
                    i += 1
                    continue
            if i >= len(a):
                break
            if pi < len(pieces) and pieces[pi][0] == i:
                out.append(pieces[pi][2])
                i = pieces[pi][1]
                pi += 1
                continue
            if pi < len(pieces) and pieces[pi][0] < i:
                notes.append(f"overlap {pieces[pi]}")
                out.append(pieces[pi][2])
                pi += 1
                continue
            out.append(a[i])
            i += 1
        return "".join(out), set(), notes

    def spot(self, base, a, lo, hi, g, notes):
        """Template piece for bits g that rule atoms lo..hi of a."""
        n = len(a)

        def region(t):
            if t is None:
                return None
            b = atoms(t)
            return "".join(b[lo : len(b) - (n - hi)])

        here = "".join(a[lo:hi])
        # registers
        for cls, size, special in REGS:
            if len(g) < min(size, 3) - 0 or g[-1] - g[0] != len(g) - 1 or len(g) > 8:
                continue
            if not re.fullmatch(rf"{cls}(\d+|Z|T)", here):
                continue
            bits = list(range(g[0], g[0] + size)) if len(g) <= size and size - len(g) <= 2 else None
            if bits is None or len(g) < size - 0 and cls != "UR":
                bits = g if len(g) == size else None
            if bits is None:
                continue
            vals = [1, 2, 5, (1 << size) - 1] if special is not None else [1, 2, 5]
            ts = [region(t) for t in (yield [put(base, bits, v) for v in vals])]
            if [t for t in ts[:3]] == [f"{cls}{v}" for v in vals[:3]]:
                return "{%s@%d}" % (cls, g[0])
        if len(g) <= 8:
            vals = [region(t) for t in (yield [put(base, g, v) for v in range(1 << len(g))])]
            return simplify(["~" if v is None else v for v in vals], g)
        # numbers
        if len(g) == 32:
            known = {"f32": (0x3F800000, "1"), "f64": (0x3FF00000, "1"), "f16x2": (0x3C004000, "1, 2"), "bf16x2": (0x3F804000, "1, 2")}
            ts = [region(t) for t in (yield [put(base, g, v) for v, _ in known.values()])]
            for (kind, (_, want)), t in zip(known.items(), ts):
                if t == want:
                    return "{%s@%s}" % (kind, seg(g))
        probe = [0, 1, 2, 3, 5, 16, 64, (1 << len(g)) - 1, 1 << (len(g) - 1)]
        ts = [region(t) for t in (yield [put(base, g, v) for v in probe])]
        m = re.fullmatch(r"(?:\+)?(-?0x[0-9a-f]+)?", ts[4] or "")
        if m and m.group(1):
            step = int(m.group(1), 16) / 5
            top = ts[7]
            signed = "-" in top or (ts[8] or "").find("-") >= 0
            lead = ""
            if ts[4].startswith("+"):
                lead = "{+}"
            body = "%s{%s%s@%s}" % (lead, "shex" if signed else "hex", "" if step == 1 else f"*{step:g}", seg(g))
            if ts[0] == "":
                return "<%s!=0|%s>" % (seg(g), body)
            return body
        return "{num?%s@%s}" % ("|".join(map(str, ts)), seg(g))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--arch")
    p.add_argument("--pairs", nargs="*", default=[])
    p.add_argument("--scan")
    p.add_argument("--op", nargs="*")
    p.add_argument("--bases", type=int, default=3)
    p.add_argument("--pickle")
    args = p.parse_args()
    by_op = collections.defaultdict(dict)
    count = collections.Counter()
    for f in args.pairs:
        for w, _, t, n in pickle.load(open(f, "rb")):
            if t is None:
                continue
            t = re.sub(r"^@!?U?P\w+ ", "", t)
            shape = re.sub(r"\b(U?[RP]|B|SR_?|SB)\w+", r"\1", re.sub(r"\.[\w.]+", "", t))
            shape = re.sub(r"-?[0-9][\w.+-]*", "#", shape).replace("-", "").replace("~", "").replace("!", "").replace("|", "")
            op = w & 0xFFF
            count[(op, shape)] += n
            old = by_op[op].get(shape)
            if old is None:
                by_op[op][shape] = w
    source = {}
    for op in by_op:
        shapes = sorted(by_op[op], key=lambda s: -count[(op, s)])[: args.bases]
        source[op] = [by_op[op][s] for s in shapes]
    if args.scan:
        for op, l in pickle.load(open(args.scan, "rb")).items():
            source.setdefault(op, [w for k, w, t in l][:2])
    ops = [int(x, 16) for x in args.op] if args.op else sorted(source)
    d = Deriver()
    tasks = []
    result = {op: {} for op in ops}
    for op in ops:
        for w in source.get(op, []):
            w = w & LOW & ~0xF000 | 0x7000 | CONTROL
            tasks.append((op, d.derive(w)))
    run(tasks, args.arch, result)
    for op in ops:
        rows = result[op]
        for (conds, template), (notes, bw) in rows.items():
            c = " ".join(f"{b}={v}" for b, v in conds)
            print(f"{op:#05x} {args.arch} {c} \"{template}\"   # {'; '.join(notes)} {bw:#x}", flush=True)
    if args.pickle:
        pickle.dump(result, open(args.pickle, "wb"))


if __name__ == "__main__":
    main()
