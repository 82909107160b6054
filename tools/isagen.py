#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the decoder's tables from the instruction table (src/sass/isa/*.isa).

    isagen.py check FILE...             complain or stay silent
    isagen.py tables FILE... -o OUT.c   tables for src/sass
    isagen.py header FILE... -o OUT.h   include/warpscope/opcodes.h: numbers of operations, modifiers, special registers

The language is described in docs/formats/isa.md. Everything this program refuses has a file in tests/unit/isa/err_*.isa.
"""
import argparse
import re
import sys
import textwrap

ARCHS = [70, 72, 75, 80, 86, 89, 90, 100, 103, 107, 110, 120, 121]
CATEGORIES = [
    "float", "integer", "convert", "move", "predicate", "matrix", "memory", "texture", "surface", "tensor_map", "bulk", "tensor_memory",
    "barrier", "cache", "warp", "control", "convergence", "system", "graphics"]
FLAGS = [
    "branch", "call", "ret", "exit", "trap", "barrier", "sync", "load", "store", "atomic", "global", "shared", "local", "constant", "generic",
    "texture", "uniform_guard", "async"]
SPACES = {"global", "shared", "local", "constant", "generic"}  # one at most: ws_sass_space()
MOVES = {"load", "store", "atomic"}  # each row of an operation with one of these says how many bytes
CLASSES = ["R", "UR", "P", "UP", "Pi", "UPi", "B", "SB", "URnext"]
BYTES = len(CLASSES)  # in %regs: no register, but what a lane moves
WIDTH = {"R": 8, "UR": 8, "P": 3, "UP": 3, "Pi": 3, "UPi": 3, "B": 4, "SB": 3, "URnext": 8}
NUMBERS = ["hex", "shex", "dec"]
FLOATS = {"f32": 32, "f64": 32, "f16": 16, "bf16": 16}
EVIDENCE = {"m": "measured", "r": "ran", "p": "public"}
ROLES = ["", "r", "w", "u"]  # how a %regs rule marks an operand: not at all, read, written, both
HOW = ["", "+", "half", "rest"]  # what the count of a %regs rule is: all, one of several parts, a share of the parts of all operands
KINDS = ["ENUM", "REG", "HEX", "SHEX", "DEC", "F32", "F64", "F16", "BF16", "REL", "GLUE", "REUSE", "SBLIST", "PREDS", "WHEN"]
OPERANDS = ["REG", "HEX", "SHEX", "DEC", "F32", "F64", "F16", "BF16", "REL", "SBLIST", "PREDS"]
SPECIAL_REGISTERS = re.compile(r"special_register(_\d+)?")  # enums whose values are operands
ADDRESS_MODIFIERS = ["64", "U32", "X4", "X8", "X16"]  # what may follow a register in an address
STEPS = ["END", "WHEN", "MODIFIER", "MODIFIERS", "READ", "WRITTEN", "ADDRESS", "BANK", "DESCRIPTOR", "SPECIAL", "SIGN", "ABSOLUTE",
         "REUSE", "PLACE", "SUFFIX", "SUFFIXES"]
SIGNS = [{0: "", 1: "-"}, {0: "", 1: "~"}, {0: "", 1: "!"}]
OPERATORS = ["==", "!=", "pow2"]
LONG_UNIFORM = sum(1 << i for i, arch in enumerate(ARCHS) if arch >= 100)  # these have 8-bit uniform registers
MAX_SEGMENTS = 3
MAX_VALUES = 256
READABLE = 16  # WSI_ISA_READABLE
UNNAMED_TEXT = 0xFFFF  # WSI_ISA_UNNAMED_TEXT
UNKNOWN = "UNKNOWN"  # the modifier that stands for numbers without a meaning
MAX_MODIFIERS = 16  # WS_SASS_MAX_MODIFIERS
MAX_OPERANDS = 16  # WS_SASS_MAX_OPERANDS
WORD_BITS = 128
CONTROL_FIRST = 105


class Error(Exception):
    """A refusal, with the place it is about."""

    def __init__(self, where, text):
        super().__init__(f"{where[0]}:{where[1]}: {text}")


def parse_bits(where, text):
    """'78:2+85' -> ((78, 2), (85, 1)), least significant first."""
    segments = []
    for part in text.split("+"):
        match = re.fullmatch(r"(\d+)(?::(\d+))?", part)
        if not match:
            raise Error(where, f"bad bit field '{text}'")
        lo, n = int(match.group(1)), int(match.group(2) or 1)
        if n == 0 or n > 32 and len(text.split("+")) == 1 and n > 64 or lo + n > WORD_BITS:
            raise Error(where, f"bit field '{text}' is outside the word")
        segments.append((lo, n))
    if len(segments) > MAX_SEGMENTS:
        raise Error(where, f"bit field '{text}' has more than {MAX_SEGMENTS} parts")
    return tuple(segments)


def bits_of(segments):
    return [b for lo, n in segments for b in range(lo, lo + n)]


class Element:
    """One element of a display template."""

    def __init__(self, kind, segments=(), aux=0, extra=0):
        self.kind, self.segments, self.aux, self.extra = kind, segments, aux, extra

    def key(self):
        return (self.kind, self.segments, self.aux, self.extra)


def is_special(element):
    """Whether it prints the name of a special register."""
    return element.kind == "ENUM" and SPECIAL_REGISTERS.fullmatch(element.aux) is not None


class Condition:
    def __init__(self, segments, operator, value):
        self.segments, self.operator, self.value = segments, operator, value

    def key(self):
        return (self.segments, self.operator, self.value)

    def holds(self, word):
        value, shift = 0, 0
        for lo, n in self.segments:
            value |= (word >> lo & (1 << n) - 1) << shift
            shift += n
        if self.operator == "==":
            return value == self.value
        if self.operator == "!=":
            return value != self.value
        return value != 0 and value & (value - 1) == 0


class Rule:
    """One %regs line: which operands of some operations are not one register wide, or are not read or written as their place says."""

    def __init__(self, where, names, tokens, conditions, fields):
        self.where, self.names, self.tokens = where, names, tokens
        self.conditions, self.fields = conditions, fields  # fields: (class, first bit or None, count as written, role, how)
        self.archs = None  # those that it is about; None: all
        self.used = set()

    def holds_for(self, row):
        """Whether it is about the architectures of a row."""
        if row.name not in self.names or self.archs is None:
            return row.name in self.names
        if row.archs & self.archs and row.archs & ~self.archs:
            raise Error(self.where, f"only some architectures of the row at line {row.where[1]} of {row.where[0]}")
        return bool(row.archs & self.archs)

    def count(self, text, number):
        """How many registers: `text` as written, `number` what # stands for. 0: not known, or more than there are."""
        if text == "?":
            return 0
        factor = int(text.lstrip("#*/") or 1)
        if text.startswith("#"):
            if number is None:
                raise Error(self.where, f"nothing gives # in '{text}' a value")
            count = number // factor if "/" in text else number * factor
            return count if count < 256 else 0
        if factor > 255:
            raise Error(self.where, f"'{text}' counts more than 255 registers")
        return factor


class Row:
    def __init__(self, where, op12, archs, conditions, template, ones, evidence):
        self.ones = ones
        self.where, self.op12, self.archs = where, op12, archs
        self.conditions, self.template, self.evidence = conditions, template, evidence
        self.name = re.match(r"[A-Z][A-Z0-9_]*", template)
        self.items = []  # literal strings and elements; an element WHEN is followed by its list


class Table:
    def __init__(self):
        self.enums = {}  # name -> {value: text}
        self.enum_width = {}
        self.defs = {}
        self.ops = {}  # name -> flags
        self.category = {}
        self.rows = []
        self.rules = []
        self.question_enums = set()  # enums whose missing values print as ??? instead of INVALID
        self.used_enums = set()
        self.used_defs = set()

    def parse_file(self, path):
        pending, start = "", 0
        with open(path, encoding="ascii") as file:
            for number, line in enumerate(file, 1):
                line = line.rstrip("\n")
                if not pending:
                    start = number
                if line.endswith("\\"):
                    pending += line[:-1]
                    continue
                self.parse_line((path, start), pending + line)
                pending = ""

    def parse_line(self, where, line):
        line = re.sub(r"(^|\s)#.*", "", line).strip()
        if not line:
            return
        if line.startswith("%enum "):
            self.parse_enum(where, line.split()[1:])
        elif line.startswith("%def "):
            match = re.fullmatch(r'%def (\w+) "(.*)"', line)
            if not match or match.group(1) in self.defs:
                raise Error(where, "bad or repeated %def")
            self.defs[match.group(1)] = match.group(2)
        elif line.startswith("%op "):
            name, *flags = line.split()[1:]
            group = flags.pop(0) if flags else None
            for flag in flags:
                if flag not in FLAGS:
                    raise Error(where, f"unknown flag '{flag}'")
            if group not in CATEGORIES:
                raise Error(where, f"operation {name} without a category")
            if name in self.ops:
                raise Error(where, f"operation {name} is declared twice")
            if len(SPACES & set(flags)) > 1:
                raise Error(where, f"operation {name} has two spaces")
            self.ops[name], self.category[name] = flags, group
        elif line.startswith("%regs "):
            self.parse_rule(where, line.split()[1:])
        else:
            self.parse_row(where, line)

    def parse_enum(self, where, words):
        name, width, values = words[0], None, {}
        if name in self.enums:
            raise Error(where, f"enum {name} is declared twice")
        following, like = 0, {}
        for word in words[1:]:
            if word.startswith("like="):
                like = self.enums.get(word[5:])
                if like is None:
                    raise Error(where, f"enum {name} is like an undeclared enum")
                continue
            if word == "!???":
                self.question_enums.add(name)
                continue
            match = re.fullmatch(r"(?:(0x[0-9a-f]+|\d+)=)?(.*)", word)
            value = int(match.group(1), 0) if match.group(1) else following
            if value in values:
                raise Error(where, f"enum {name} gives value {value} twice")
            if match.group(2) != "?":
                values[value] = "" if match.group(2) == "_" else match.group(2)
            following = value + 1
        following = max([following, *(value + 1 for value in like)])
        values = {**like, **values}
        width = max(1, (following - 1).bit_length())
        if following > MAX_VALUES:
            raise Error(where, f"enum {name} has a value above {MAX_VALUES - 1}")
        self.enums[name], self.enum_width[name] = values, width

    def parse_rule(self, where, words):
        rule = Rule(where, words[0].split("|"), [], [], [])
        for word in words[1:]:
            size = re.fullmatch(r"bytes=(\?|\d+)", word)
            field = re.fullmatch(r"(\w+?)(?:@(\d+))?=(\+(?=[\d#])|half|rest)?(\?|\d+|#(?:[*/]\d+)?)?([rwu]?)", word)
            if word.startswith("."):
                rule.tokens.append(word[1:])
            elif word.startswith("sm="):
                rule.archs = self.parse_archs(where, word[3:])
            elif word[0].isdigit() or word.startswith("pow2"):
                rule.conditions.append(self.parse_condition(where, word))
            elif size:
                rule.fields.append((BYTES, None, size.group(1), 0, 0))
            elif field and field.group(1) in CLASSES and any(field.group(3, 4, 5)):
                first = int(field.group(2)) if field.group(2) else None
                how = HOW.index(field.group(3) or "")
                rule.fields.append((CLASSES.index(field.group(1)), first, field.group(4) or "1", ROLES.index(field.group(5)), how))
            else:
                raise Error(where, f"bad word '{word}' in a %regs line")
        if not rule.fields:
            raise Error(where, "a %regs line without a field")
        self.rules.append(rule)

    def parse_archs(self, where, text):
        mask = 0
        for part in text.split(","):
            match = re.fullmatch(r"(\d+)(?:-(\d+)|(\+))?", part)
            if not match or int(match.group(1)) not in ARCHS:
                raise Error(where, f"bad architectures '{text}'")
            first = int(match.group(1))
            last = int(match.group(2)) if match.group(2) else 9999 if match.group(3) else first
            mask |= sum(1 << i for i, a in enumerate(ARCHS) if first <= a <= last)
        return mask

    def parse_condition(self, where, text):
        match = re.fullmatch(r"pow2\(([\d:+]+)\)", text)
        if match:
            return Condition(parse_bits(where, match.group(1)), "pow2", 0)
        match = re.fullmatch(r"([\d:+]+)(=|!=)(0x[0-9a-f]+|\d+)", text)
        if not match:
            raise Error(where, f"bad condition '{text}'")
        return Condition(parse_bits(where, match.group(1)), "==" if match.group(2) == "=" else "!=", int(match.group(3), 0))

    def parse_row(self, where, line):
        match = re.fullmatch(r'0x([0-9a-f]{3}) (\S+)((?: [^"\s]+)*) "([^"]*)"(?: ones=([\d:+]+))?(?: guard=(UP))?(?: ([mrp]))?', line)
        if not match:
            raise Error(where, f"cannot read this row: {line[:60]}")
        conditions = [self.parse_condition(where, c) for c in match.group(3).split()]
        ones = [b for part in (match.group(5) or "").split("+") if part for b in bits_of(parse_bits(where, part))]
        archs = self.parse_archs(where, match.group(2))
        row = Row(where, int(match.group(1), 16), archs, conditions, match.group(4), ones, match.group(7) or "m")
        row.uniform_guard = match.group(6) is not None
        if not row.name:
            raise Error(where, "a template begins with the operation's name")
        row.name = row.name.group()
        if row.name not in self.ops:
            raise Error(where, f"undeclared operation {row.name}")
        row.items = self.parse_template(where, self.expand(where, row.template))
        self.check_fields(row)
        covered = self.covered(row)
        for bit in row.ones:
            if covered >> bit & 1:
                raise Error(where, f"bit {bit} is both a field and fixed")
        self.rows.append(row)

    def expand(self, where, text, depth=0):
        if depth > 8:
            raise Error(where, "definitions nest too deep")

        def replace(match):
            name = match.group(1)
            if name not in self.defs:
                return match.group(0)
            self.used_defs.add(name)
            return self.expand(where, self.defs[name], depth + 1)

        return re.sub(r"\{(\w+)\}", replace, text)

    def parse_template(self, where, text):
        items, rest = self.parse_items(where, text, nested=False)
        if rest:
            raise Error(where, f"unbalanced '>' before '{rest[:20]}'")
        return items

    def parse_items(self, where, text, nested):
        items = []
        while text:
            if text[0] == ">":
                if not nested:
                    return items, text
                return items, text[1:]
            if text[0] == "<":
                match = re.match(r"<([^|<>{}]+)\|", text)
                if not match:
                    raise Error(where, f"bad conditional group at '{text[:20]}'")
                condition = self.parse_condition(where, match.group(1))
                body, text = self.parse_items(where, text[match.end() :], nested=True)
                items.append(Element("WHEN", condition.segments, OPERATORS.index(condition.operator), condition.value))
                items.append(body)
            elif text[0] == "{":
                end = text.find("}")
                if end < 0:
                    raise Error(where, "missing '}'")
                items.append(self.parse_element(where, text[1:end]))
                text = text[end + 1 :]
            else:
                literal = re.match(r"[^<>{}]+", text).group()
                items.append(literal)
                text = text[len(literal) :]
        if nested:
            raise Error(where, "missing '>'")
        return items, ""

    def parse_element(self, where, text):
        if text == "+":
            return Element("GLUE")
        if text in ("PR", "UPR"):
            return Element("PREDS", (), CLASSES.index("P" if text == "PR" else "UP"))
        match = re.fullmatch(r"(\w+)(?:\*(\d+))?@([\d:+]+)", text)
        if not match:
            raise Error(where, f"undeclared field '{text}'")
        name, scale, where_bits = match.group(1), int(match.group(2) or 1), match.group(3)
        segments = parse_bits(where, where_bits)
        if scale == 0 or scale & (scale - 1):
            raise Error(where, f"scale of '{text}' is not a power of two")
        plain = ":" not in where_bits and "+" not in where_bits
        if name in CLASSES:
            if plain:
                segments = ((segments[0][0], WIDTH[name]),)
            return Element("REG", segments, CLASSES.index(name))
        if name == "reuse":
            return Element("REUSE", segments)
        if name in NUMBERS:
            return Element(name.upper(), segments, scale.bit_length() - 1)
        if name in FLOATS:
            return Element(name.upper(), ((segments[0][0], FLOATS[name]),) if plain else segments)
        if name == "sblist":
            return Element("SBLIST", segments)
        if name == "rel":
            return Element("REL", segments, scale.bit_length() - 1)
        if name not in self.enums:
            raise Error(where, f"undeclared field '{name}'")
        self.used_enums.add(name)
        width = self.enum_width[name]
        if plain:
            segments = ((segments[0][0], width),)
        elif sum(n for _, n in segments) < width:
            raise Error(where, f"field '{text}' is too narrow for its enum")
        return Element("ENUM", segments, name)

    def check_fields(self, row):
        """No bit may belong to two different fields. Conditions may read any field."""
        owner = {}
        short = row.archs & ~LONG_UNIFORM  # some architecture has 6-bit uniform registers
        for element in walk(row.items):
            if element.kind in ("WHEN", "GLUE", "PREDS"):
                continue
            bits = bits_of(element.segments)
            if short and element.kind == "REG" and CLASSES[element.aux] == "UR":
                bits = bits[:6]
            for bit in bits:
                if bit < 16 or CONTROL_FIRST <= bit < 122:
                    raise Error(row.where, f"bit {bit} is the opcode's, the guard's or the control word's")
                if owner.setdefault(bit, element.segments) != element.segments:
                    raise Error(row.where, f"bit {bit} is used by two fields")

    def covered(self, row):
        """Bits that this row explains."""
        mask = 0xFFFF
        for element in walk(row.items):
            for bit in bits_of(element.segments):
                mask |= 1 << bit
        for condition in row.conditions:
            for bit in bits_of(condition.segments):
                mask |= 1 << bit
        return mask

    def check(self):
        by_op = {}
        for row in self.rows:
            by_op.setdefault(row.op12, []).append(row)
        for rows in by_op.values():
            for i, a in enumerate(rows):
                for b in rows[i + 1 :]:
                    if a.archs & b.archs and overlap(a, b):
                        raise Error(b.where, f"overlaps the row at line {a.where[1]} of {a.where[0]}")
        for name in self.enums:
            if name not in self.used_enums:
                raise Error(("table", 0), f"enum {name} is not used")
        for name in self.defs:
            if name not in self.used_defs:
                raise Error(("table", 0), f"definition {name} is not used")
        for name in self.ops:
            if not any(row.name == name for row in self.rows):
                raise Error(("table", 0), f"operation {name} has no row")
        self.check_rules()

    def check_rules(self):
        for row in self.rows:
            sizes = [keys for keys, of, *_ in self.widths(row) if of == BYTES]
            moves = not MOVES.isdisjoint(self.ops[row.name])
            if moves != (() in sizes):
                raise Error(row.where, f"{row.name} {'has no size for every' if moves else 'moves nothing, but has a'} case (%regs bytes=)")
            form = Form(self, row)
            if form.most_modifiers > MAX_MODIFIERS:
                raise Error(row.where, f"more than {MAX_MODIFIERS} modifiers")
            if sum(e.kind in OPERANDS or is_special(e) for e in walk(row.items)) > MAX_OPERANDS:
                raise Error(row.where, f"more than {MAX_OPERANDS} operands")
        for rule in self.rules:
            for name in rule.names:
                if name not in self.ops:
                    raise Error(rule.where, f"undeclared operation {name}")
                if name not in rule.used:
                    raise Error(rule.where, f"no row of {name} has such an operand")

    def widths(self, row):
        """What the %regs rules say about a row: (conditions, class, first bit, count, role, how), to be tried in this order."""
        registers = {(e.aux, e.segments[0][0]) for e in walk(row.items) if e.kind == "REG"} | {(BYTES, None)}
        found = []
        for rule in self.rules:
            if not rule.holds_for(row):
                continue
            fields = dict.fromkeys(f for f in rule.fields for r in registers if r[0] == f[0] and f[1] in (None, r[1]))
            ways = [(rule.conditions, None)]
            for token in rule.tokens:
                more = token_ways(self, name_of(row.items), token)
                ways = [(way + w, n if m is None else m) for way, n in ways for w, m in more]
            ways = [(way, n) for way, n in ways if possible(row, way)]
            if fields and ways:
                rule.used.add(row.name)
            for way, n in ways:
                keys = tuple(key for condition in way if not in_opcode(condition) for key in single_parts(condition))
                found += [(keys, c, 255 if lo is None else lo, rule.count(text, n), role, how) for c, lo, text, role, how in fields]
        return tuple(found)


def is_name(text):
    """Whether a value's text is more than its number."""
    return "?" not in text and "INVALID" not in text


def modifiers_of(text):
    """'.F32.FTZ.RN' -> F32, FTZ, RN; what prints for a number without a meaning is UNKNOWN."""
    return [part if re.fullmatch(r"(?!INVALID)\w+", part) else UNKNOWN for part in text.split(".") if part]


class Form:
    """What a row has besides its text: the modifiers of its name and its operands, in the order of the text.

    `code` is a list of steps: (step, argument), and (WHEN, element, steps). What a bracket, a comma or a sign in the text means for an
    operand is decided here, once.
    """

    def __init__(self, table, row):
        self.table, self.where = table, row.where
        self.in_name, self.in_bars, self.first_place = True, False, True
        self.bracket = None  # the role of what stands in it
        self.before = {""}  # the last characters, as far as they may matter; several where a group may be left out
        self.most_modifiers = 0
        self.code = self.items([row.items[0][len(row.name) :], *row.items[1:]])

    def items(self, items):
        code = []
        for item in items:
            if isinstance(item, str):
                code += self.literal(item)
            elif isinstance(item, list):
                before, bracket = self.before, self.bracket
                code[-1] += (self.items(item),)
                self.before = self.before | before
                if self.bracket != bracket:
                    raise Error(self.where, "a bracket ends in another group")
            elif item.kind == "WHEN":
                code.append(("WHEN", item))
            else:
                code += self.element(item)
        return code

    def modifiers(self, names):
        self.most_modifiers += len(names)
        return [("MODIFIER", name) for name in names]

    def literal(self, text):
        code = []
        if self.in_name:
            name, blank, text = text.partition(" ")
            code += self.modifiers(modifiers_of(name))
            self.in_name, self.before = not blank, {" "}
        for i, c in enumerate(text):
            if c == "," and not self.bracket:
                code.append(("PLACE", None))
                self.first_place = False
            elif c == "[":
                code += self.open_bracket()
            elif c == "]":
                self.bracket = None
            elif c in "-~!|":
                raise Error(self.where, f"a sign outside of a field: '{text}'")
            elif c == "." and self.bracket == "ADDRESS":
                name = re.match(r"\w+", text[i + 1 :]).group()
                if name not in ADDRESS_MODIFIERS:
                    raise Error(self.where, f".{name} in an address")
                code.append(("SUFFIX", name))
            elif c == "." and not self.bracket and re.match(r"\w", text[i + 1 :]):
                code.append(("SUFFIX", re.match(r"\w+", text[i + 1 :]).group()))
            self.see(c)
        return code

    def see(self, text):
        self.before = {(before + text)[-4:] for before in self.before}

    def open_bracket(self):
        roles = {"DESCRIPTOR" if b == "desc" else "BANK" if b.endswith(("c", "cx")) else "ADDRESS" for b in self.before}
        if len(roles) != 1 or self.bracket:
            raise Error(self.where, "what a bracket holds depends on a group")
        self.bracket = roles.pop()
        return []

    def element(self, element):
        if element.kind == "ENUM":
            return self.enum(element)
        if element.kind in OPERANDS:
            self.see("0")
            if element.kind == "PREDS":
                return [("WRITTEN" if self.first_place else "READ", element)]
            return [(self.bracket or self.role(element), element)]
        return [("REUSE", element)] if element.kind == "REUSE" else []

    def role(self, element):
        """A register at bit 16 and a predicate at bit 81 or 84 are results, unless a %regs line says otherwise."""
        if element.kind != "REG":
            return "READ"
        name, first = CLASSES[element.aux], element.segments[0][0]
        return "WRITTEN" if name in ("R", "UR") and first == 16 or name in ("P", "UP") and first in (81, 84) else "READ"

    def enum(self, element):
        texts = self.table.enums[element.aux]
        if self.in_name:
            names = [modifiers_of(text) for text in texts.values()]
            self.most_modifiers += max(1, *map(len, names))
            return [("MODIFIERS", element)]
        code = []
        if is_special(element):
            code = [("SPECIAL", element)]
        elif texts in SIGNS:
            code = [("SIGN", element)]
        elif texts == {0: "", 1: "|"}:
            self.in_bars = not self.in_bars
            code = [("ABSOLUTE", element)] if self.in_bars else []
        elif self.bracket == "ADDRESS":
            if not all(name in ADDRESS_MODIFIERS for text in texts.values() for name in modifiers_of(text)):
                raise Error(self.where, f"{element.aux} in an address")
            code = [("SUFFIXES", element)]
        elif re.search(r"[][,~!|-]", "".join(texts.values())):
            raise Error(self.where, f"a sign in a text of {element.aux}")
        elif all(text == "" or text.startswith(".") for text in texts.values()):
            code = [("SUFFIXES", element)]
        self.before = {(before + text)[-4:] for before in self.before for text in texts.values()}
        return code


def walk(items):
    for item in items:
        if isinstance(item, list):
            yield from walk(item)
        elif isinstance(item, Element):
            yield item


def name_of(items):
    """The part of a template in front of the first space, which must not be inside a group."""
    out = []
    for item in items:
        if isinstance(item, str) and " " in item:
            return out + [item[: item.index(" ")]]
        out.append(item)
    return out


def token_ways(table, items, token):
    """The ways in which a name can carry the modifier `token`: (conditions, the number that # in it stands for)."""
    pattern = re.compile(re.escape(token).replace(r"\#", r"(\d+)"))
    ways, guard = [], []

    def add(conditions, text):
        for part in text.split(".")[1:]:
            match = pattern.fullmatch(part)
            if match:
                ways.append((conditions, int(match.group(1)) if match.groups() else None))

    for item in items:
        if isinstance(item, str):
            add([], item)
        elif isinstance(item, list):
            ways += [(guard + way, n) for way, n in token_ways(table, item, token)]
        elif item.kind == "WHEN":
            guard = [Condition(item.segments, OPERATORS[item.aux], item.extra)]
        elif item.kind == "ENUM":
            for value, text in table.enums[item.aux].items():
                add([Condition(item.segments, "==", value)], text)
    return ways


def in_opcode(condition):
    return all(lo + n <= 12 for lo, n in condition.segments)


def single_parts(condition):
    """A comparison with a value, a part of the field at a time."""
    if condition.operator != "==":
        return [condition.key()]
    keys, shift = [], 0
    for lo, n in condition.segments:
        keys.append((((lo, n),), "==", condition.value >> shift & (1 << n) - 1))
        shift += n
    return keys


def possible(row, conditions):
    """Whether some word of the row meets the conditions."""
    fixed = {bit: row.op12 >> bit & 1 for bit in range(12)}
    for c in row.conditions + conditions:
        if c.operator == "==":
            for i, bit in enumerate(bits_of(c.segments)):
                if fixed.setdefault(bit, c.value >> i & 1) != c.value >> i & 1:
                    return False
    return all(c.holds(row.op12) for c in conditions if in_opcode(c))


def overlap(a, b):
    """Whether two rows can claim one word with neither being the special case of the other."""
    ka, kb = {c.key() for c in a.conditions}, {c.key() for c in b.conditions}
    if ka < kb or kb < ka:
        return False
    fixed = {}
    for c in a.conditions + b.conditions:
        if c.operator != "==":
            continue
        for i, bit in enumerate(bits_of(c.segments)):
            if fixed.setdefault(bit, c.value >> i & 1) != c.value >> i & 1:
                return False
    for x, y in ((a, b), (b, a)):  # field = v against field != v
        for c in x.conditions:
            if c.operator == "!=" and (c.segments, "==", c.value) in {d.key() for d in y.conditions}:
                return False
    return True


class Pool:
    """Values that get a number when first seen."""

    def __init__(self):
        self.index, self.list = {}, []

    def add(self, value):
        if value not in self.index:
            self.index[value] = len(self.list)
            self.list.append(value)
        return self.index[value]


class Emitter:
    """Lays the table out as C arrays."""

    def __init__(self, table):
        self.table = table
        self.strings, self.string_at = bytearray(), {}
        self.elements, self.conditions, self.masks = Pool(), [], Pool()
        self.condition_at = {}
        self.templates, self.template_at = bytearray(), {}
        self.enum_first, self.enum_texts, self.enum_named = {}, [], []
        self.width_lists, self.width_rows = {}, []
        self.unnamed_lists, self.unnamed_at = [], {}
        self.modifier_ids = {name: i for i, name in enumerate(modifier_names(table), 1)}
        self.modifier_lists, self.enum_modifiers = [0], {}
        self.forms, self.form_at = [], {}

    def widths(self, row):
        """Number of the first rule about the operands of a row, and of rules."""
        found = self.table.widths(row)
        if found not in self.width_lists:
            self.width_lists[found] = len(self.width_rows)
            for keys, *rest in found:
                self.width_rows.append((self.condition_list(keys), len(keys), *rest))
        return self.width_lists[found], len(found)

    def condition_list(self, keys):
        if keys not in self.condition_at:
            self.condition_at[keys] = len(self.conditions)
            self.conditions += keys
        return self.condition_at[keys]

    def string(self, text):
        """Where a text starts, behind its length."""
        if text not in self.string_at:
            if len(text) >= 255:
                raise Error(("table", 0), f"the text '{text}' is too long")
            self.strings.append(len(text))
            self.string_at[text] = len(self.strings)
            self.strings += text.encode() + b"\0"
        return self.string_at[text]

    def enum(self, name):
        """Number of the first text of an enum in the list of texts; a missing value has no text."""
        if name not in self.enum_first:
            values = self.table.enums[name]
            size = max(values) + 1
            self.enum_first[name] = len(self.enum_texts)
            self.enum_texts.append(size)
            self.enum_named += [0, *(int(is_name(values.get(v, "?"))) for v in range(size))]
            self.enum_texts += [self.string(values[v]) if v in values else 0xFFFF for v in range(size)]
        return self.enum_first[name]

    def code(self, items):
        out = bytearray()
        i = 0
        while i < len(items):
            item = items[i]
            if isinstance(item, str):
                out += item.encode("ascii")
            else:
                number = self.element(item)
                out += bytes([0x80 | number >> 8, number & 0xFF])
                if item.kind == "WHEN":
                    i += 1
                    body = self.code(items[i])
                    if len(body) > 255:
                        raise Error(("table", 0), "a conditional group is too long")
                    out += bytes([len(body)]) + body
            i += 1
        return bytes(out)

    def element(self, item):
        """Number of an element; of an enum with the modifiers of its values."""
        aux, extra = item.aux, item.extra
        if item.kind == "ENUM":
            aux, extra = self.enum(item.aux), int(item.aux in self.table.question_enums)
        return self.elements.add((item.kind, item.segments, aux, extra))

    def modifier_list(self, element):
        """Keeps the lists of modifiers of an enum's values beside its texts."""
        values = self.table.enums[element.aux]
        first = self.enum(element.aux) + 1
        for value in range(max(values) + 1):
            ids = [self.modifier_ids[name] for name in modifiers_of(values.get(value, ".???"))]
            if ids and first + value not in self.enum_modifiers:
                self.enum_modifiers[first + value] = len(self.modifier_lists)
                self.modifier_lists += [*ids, 0]

    def form_code(self, code):
        out = []
        for step, argument, *body in code:
            if step in ("MODIFIERS", "SUFFIXES"):
                self.modifier_list(argument)
            number = 0 if argument is None else self.modifier_ids[argument] if isinstance(argument, str) else self.element(argument)
            out.append((STEPS.index(step) << 12) + number)
            if body:
                inner = self.form_code(body[0])
                out += [len(inner), *inner]
        return out

    def form(self, row):
        code = (*self.form_code(Form(self.table, row).code), 0)
        if code not in self.form_at:
            self.form_at[code] = len(self.forms)
            self.forms += code
        return self.form_at[code]

    def unnamed(self, row):
        """Where the list of a row's elements starts of which some value has no text but its number."""
        numbers = []
        for element in walk(row.items):
            if element.kind == "ENUM":
                values = self.table.enums[element.aux]
                texts = [values.get(value, "?") for value in range(1 << sum(n for _, n in element.segments))]
                if not all(map(is_name, texts)):
                    numbers.append(self.element(element) + 1)
        if "?" in row.template:
            numbers = [UNNAMED_TEXT]
        key = tuple(numbers)
        if key not in self.unnamed_at:
            self.unnamed_at[key] = len(self.unnamed_lists)
            self.unnamed_lists += [*numbers, 0]
        return self.unnamed_at[key]

    def template(self, items):
        code = self.code(items) + b"\0"
        if code not in self.template_at:
            self.template_at[code] = len(self.templates)
            self.templates += code
        return self.template_at[code]

    def emit(self, out, names):
        rows = sorted(self.table.rows, key=lambda r: (r.op12, -len(r.conditions), r.where))
        ops = sorted(self.table.ops)
        lines, first = [], [0] * 4097
        for i, row in enumerate(rows):
            start = self.condition_list(tuple(c.key() for c in row.conditions))
            widths, n_widths = self.widths(row)
            mask = self.masks.add(self.table.covered(row))
            ones = self.masks.add(sum(1 << b for b in row.ones))
            place, form = self.template(row.items), self.form(row)
            lines.append(f"{{{place}, {form}, {start}, {row.archs}, {ops.index(row.name)}, {mask}, {ones}, {widths}, {self.unnamed(row)}, {n_widths}, {len(row.conditions)}, {int(row.uniform_guard)}, '{row.evidence}'}},")
            first[row.op12 + 1] = i + 1
        for i in range(1, 4097):
            first[i] = max(first[i], first[i - 1])
        write = lambda text: print(text, file=out)
        write(f"// Generated by tools/isagen.py from {names} - do not edit.")
        write('#include "sass/table.h"\n')
        self.array(write, "const uint16_t wsi_isa_first[4097]", first)
        write("const struct wsi_isa_row wsi_isa_rows[] = {")
        write("\n".join(lines) + "\n};")
        write(f"const size_t wsi_isa_n_rows = {len(rows)};")
        write("const struct wsi_isa_element wsi_isa_elements[] = {")
        for kind, segments, aux, extra in self.elements.list:
            parts = list(segments) + [(0, 0)] * (MAX_SEGMENTS - len(segments))
            lo, n = parts[0]
            mask = (1 << n) - 1 if len(segments) == 1 and lo // 64 == (lo + n - 1) // 64 else 0
            write(f"{{{mask:#x}u, WSI_ISA_{kind}, {{{', '.join(str(p[0]) for p in parts)}}}, {{{', '.join(str(p[1]) for p in parts)}}}, {aux}, {extra:#x}u}},")
        write("};")
        write("const struct wsi_isa_width wsi_isa_widths[] = {")
        for width in self.width_rows:
            write(f"{{{', '.join(str(n) for n in width)}}},")
        write("};")
        write("const struct wsi_isa_condition wsi_isa_conditions[] = {")
        for segments, operator, value in self.conditions:
            parts = list(segments) + [(0, 0)] * (2 - len(segments))
            write(f"{{{{{parts[0][0]}, {parts[1][0]}}}, {{{parts[0][1]}, {parts[1][1]}}}, {OPERATORS.index(operator)}, {value:#x}u}},")
        write("};")
        write("const uint64_t wsi_isa_masks[][2] = {")
        for mask in self.masks.list:
            write(f"{{{mask & (1 << 64) - 1:#x}u, {mask >> 64:#x}u}},")
        write("};")
        self.array(write, "const uint8_t wsi_isa_templates[]", self.templates)
        self.array(write, "const uint16_t wsi_isa_enums[]", self.enum_texts)
        self.array(write, "const uint16_t wsi_isa_unnamed[]", self.unnamed_lists)
        self.array(write, "const uint16_t wsi_isa_forms[]", self.forms)
        self.array(write, "const uint16_t wsi_isa_enum_modifiers[]", [self.enum_modifiers.get(i, 0) for i in range(len(self.enum_texts))])
        self.array(write, "const uint8_t wsi_isa_enum_named[]", self.enum_named)
        self.array(write, "const uint16_t wsi_isa_modifier_lists[]", self.modifier_lists)
        self.array(write, "const uint16_t wsi_isa_modifiers[]", [0, *(self.string(name) for name in self.modifier_ids)])
        write(f"const size_t wsi_isa_n_modifiers = {len(self.modifier_ids) + 1};")
        self.array(write, "const char wsi_isa_strings[]", self.strings + bytes(READABLE))
        write("const struct wsi_isa_op wsi_isa_ops[] = {")
        for name in ops:
            flags = " | ".join(f"WS_SASS_{f.upper()}" for f in self.table.ops[name]) or "0"
            plain = name[1:] if name[0] == "U" and self.table.category.get(name[1:]) == self.table.category[name] else name
            write(f'{{"{name}", {flags}, {ops.index(plain)}, WS_CATEGORY_{self.table.category[name].upper()}}},')
        write("};")
        write(f"const size_t wsi_isa_n_ops = {len(ops)};")

    @staticmethod
    def array(write, declaration, values):
        write(declaration + " = {")
        for i in range(0, len(values), 24):
            write(", ".join(str(v) for v in values[i : i + 24]) + ",")
        write("};")


def modifier_names(table):
    """The modifiers of all names and what follows operands, each once."""
    names = {UNKNOWN, *ADDRESS_MODIFIERS}

    def collect(code):
        for step, argument, *body in code:
            if step in ("MODIFIER", "SUFFIX"):
                names.add(argument)
            elif step in ("MODIFIERS", "SUFFIXES"):
                names.update(name for text in table.enums[argument.aux].values() for name in modifiers_of(text))
            elif body:
                collect(body[0])

    for row in table.rows:
        collect(Form(table, row).code)
    return [UNKNOWN, *sorted(names - {UNKNOWN})]


def emit_header(table, out):
    special = {item for name, values in table.enums.items() if SPECIAL_REGISTERS.fullmatch(name) for item in values.items()}
    special = [f"{text.replace('.', '_')} = {value}" for value, text in sorted(special) if re.match(r"SR_|SRZ", text)]
    write = lambda text: print(text, file=out)

    def enum(what, comment, values):
        write(f"/** {comment} */\nenum {what} {{")
        write(textwrap.fill(", ".join(values) + ",", 118, initial_indent="\t", subsequent_indent="\t", break_on_hyphens=False) + "\n};\n")

    write(f"""/* SPDX-License-Identifier: Apache-2.0 */
/* Generated by tools/isagen.py from the instruction table - do not edit. */
/**
 * @file
 * Numbers of operations, modifiers and special registers. Until 1.0 they change with the table.
 */
#ifndef WARPSCOPE_OPCODES_H
#define WARPSCOPE_OPCODES_H

/* clang-format off */
""")
    enum("ws_operation", "What an instruction is called without its modifiers: `operation` of struct ws_insn.",
         [f"WS_OP_{name}" for name in sorted(table.ops)])
    enum("ws_modifier", "What the name of an operation may be followed by: \".FTZ\" is WS_MOD_FTZ.",
         ["WS_MOD_NONE", *(f"WS_MOD_{name}" for name in modifier_names(table))])
    enum("ws_special_register", "Special registers, by their number (WS_OPERAND_SPECIAL).",
         [f"WS_{text}" for text in special])
    write("/* clang-format on */\n\n#endif")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check", "tables", "header"])
    parser.add_argument("files", nargs="+")
    parser.add_argument("-o", "--output")
    args = parser.parse_args()
    table = Table()
    try:
        for path in args.files:
            table.parse_file(path)
        table.check()
        if args.command == "check":
            return 0
        names = "src/sass/isa/*.isa"
        with open(args.output, "w", encoding="ascii") as out:
            if args.command == "tables":
                Emitter(table).emit(out, names)
            else:
                emit_header(table, out)
    except Error as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
