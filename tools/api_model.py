# SPDX-License-Identifier: Apache-2.0
"""The debugger API as data: reads and checks src/cudbg/api/*.tbl (format: README.md there)."""

import os
import re

SCALARS = {"uint32_t": 4, "int32_t": 4, "uint64_t": 8, "uintptr_t": 8, "bool": 1, "char": 1}
COORDINATES = ("dev", "sm", "wp", "ln")
GROUPS = (
    ("init", "Start, end, attach"),
    ("run", "Stop, step, resume"),
    ("breakpoint", "Breakpoints"),
    ("inspect", "State of the devices"),
    ("alter", "Changing the state of the devices"),
    ("grid", "Grids"),
    ("device", "Properties of devices"),
    ("image", "Images, symbols, code"),
    ("event", "Events"),
)
NEEDS = ("any-state", "in-callback", "stopped", "own-words")
ANSWERS = ("works", "answers", "later")


class TableError(Exception):
    """A table says something that cannot be; the text begins with file:line."""


def version(text):
    """(12, 4) of "12.4"; versions compare as tuples."""
    return tuple(int(part) for part in text.split("."))


class Value:
    """One enumerator."""

    def __init__(self, name, number, since, text):
        self.name, self.number, self.since, self.text = name, number, since, text


class Enum:
    def __init__(self, name):
        self.name, self.since, self.does, self.values = name, None, "", []

    def unsigned(self):
        return any(value.number > 0x7FFFFFFF for value in self.values)


class Field:
    """
    A member of a structure; `members` is None unless it is a nested struct or union. `leads` is what a pointer leads to:
    "string", or the name of the field that has the size of an image.
    """

    def __init__(self, kind, offset, size, ctype, name, array, since, text):
        self.kind, self.offset, self.size = kind, offset, size
        self.ctype, self.name, self.array = ctype, name, array
        self.since, self.text, self.members = since, text, None
        self.leads = None


class Struct:
    def __init__(self, name):
        self.name, self.since, self.size, self.packed = name, None, 0, False
        self.does, self.members = "", []


class Arg:
    """
    One parameter. `way` is value, out, in, inout or opaque; `optional` pointers may be NULL;
    `count` names the argument that says how much room is there, in `unit` bytes or elements; `used`
    the output that says how much of it was filled; `kept`: nothing says so, and the rest stays as it was; `string` is a
    NUL-terminated input; `image` names the argument that has the size of the image to which an output is a pointer.
    """

    def __init__(self, ctype, name, text, coordinate=False):
        self.ctype, self.name, self.text, self.coordinate = ctype, name, text, coordinate
        self.way, self.optional, self.count, self.unit, self.string = "value", False, None, None, False
        self.used = self.image = None
        self.kept = False

    def pointer(self):
        return self.ctype.endswith("*")

    def base(self):
        """The type that the pointer points to."""
        return self.ctype[:-1].replace("const ", "").strip()

    def declaration(self):
        return self.ctype + ("" if self.pointer() else " ") + self.name


class Function:
    def __init__(self, name, group):
        self.name, self.group = name, group
        self.slot = self.request = self.since = None
        self.deprecated = self.replacement = None
        self.args, self.does, self.more = [], "", ""
        self.codes, self.extension, self.when, self.needs = [], [], {}, []
        self.dump = self.run = None
        self.same_as = self.part_of = None

    def arg(self, name):
        return next((arg for arg in self.args if arg.name == name), None)

    def name_in(self, asof):
        """The name that headers of version `asof` use: a suffix came with the successor."""
        if self.deprecated and version(self.deprecated) > asof:
            return re.sub(r"\d+$", "", self.name)
        return self.name


class Api:
    """Everything that the tables say."""

    def __init__(self):
        self.functions, self.enums, self.structs = [], [], []
        self.defines, self.variables, self.plain, self.callbacks, self.scalars = [], [], [], [], []
        self.coordinates, self.causes, self.handles = {}, {}, []

    def struct(self, name):
        return next((struct for struct in self.structs if struct.name == name), None)

    def function(self, name):
        return next((fn for fn in self.functions if fn.name == name), None)

    def enum(self, name):
        return next((enum for enum in self.enums if enum.name == name), None)

    def handle(self, ctype, name):
        """Number of the kind of handle that a value of this type and name is, or 0."""
        kind = ctype if ctype in self.handles else name
        number = ctype in ("uint32_t", "uint64_t") or kind == ctype
        return self.handles.index(kind) + 1 if number and kind in self.handles else 0

    def results(self):
        """Result codes in value order."""
        return sorted(self.enum("CUDBGResult").values, key=lambda value: value.number)

    def size_of(self, ctype):
        """Bytes of a type on LP64, or None when no table knows it."""
        if ctype.endswith("*"):
            base = ctype.rstrip("*").replace("const ", "").strip()
            return 8 if base == "void" or self.size_of(base) else None
        if ctype in {callback[0] for callback in self.callbacks}:
            return 8
        if ctype in SCALARS:
            return SCALARS[ctype]
        if self.enum(ctype):
            return 4
        for name, base, _since, _text in self.scalars:
            if name == ctype:
                return SCALARS[base]
        struct = self.struct(ctype)
        return struct.size if struct else None


def load(folder):
    """Reads all tables of a folder and checks them against each other."""
    api = Api()
    names = sorted(name for name in os.listdir(folder) if name.endswith(".tbl"))
    for name in names:
        group = name[3:-4] if name.startswith("fn-") else None
        if group and group not in dict(GROUPS):
            raise TableError("%s: no group is called %s" % (name, group))
        Reader(api, os.path.join(folder, name), group).read()
    api.functions.sort(key=lambda fn: fn.slot)
    check(api)
    return api


class Reader:
    """Reads one table, line by line."""

    def __init__(self, api, path, group):
        self.api, self.path, self.group = api, path, group
        self.line = 0
        self.item = None
        self.open = []

    def fail(self, text):
        raise TableError("%s:%d: %s" % (os.path.basename(self.path), self.line, text))

    def read(self):
        with open(self.path, encoding="utf-8") as lines:
            for self.line, raw in enumerate(lines, 1):
                text = raw.strip()
                if not text or text.startswith("#"):
                    continue
                head, _, tail = text.partition("|")
                words, tail = head.split(), tail.strip()
                if raw[0].isspace():
                    self.member(words, tail, text)
                else:
                    if self.open:
                        self.fail("the item above lacks an end")
                    self.top(words, tail)
        if self.open:
            self.fail("the last item lacks an end")

    def since(self, words):
        """Takes a trailing "since V" off the words."""
        if len(words) > 2 and words[-2] == "since":
            return words[:-2], words[-1]
        return words, "3.0"

    def top(self, words, tail):
        kind, api = words[0], self.api
        if kind == "fn":
            if not self.group:
                self.fail("functions belong into fn-GROUP.tbl")
            self.item = Function(words[1], self.group)
            api.functions.append(self.item)
        elif kind == "enum":
            self.item = Enum(words[1])
            api.enums.append(self.item)
        elif kind == "struct":
            self.item = Struct(words[1])
            api.structs.append(self.item)
        else:
            self.item = None
            self.constant(kind, words, tail)

    def constant(self, kind, words, tail):
        api = self.api
        words, since = self.since(words)
        if kind == "define":
            api.defines.append((words[1], words[2], since, tail))
        elif kind == "variable":
            api.variables.append((words[1], words[2], words[3], words[4], since, tail))
        elif kind == "function":
            api.plain.append((words[1], " ".join(words[2:]), since, tail))
        elif kind == "callback":
            api.callbacks.append((words[1], " ".join(words[2:]), since, tail))
        elif kind == "scalar":
            api.scalars.append((words[1], words[2], since, tail))
        elif kind == "coordinate":
            api.coordinates[words[1]] = tail
        elif kind == "cause":
            api.causes[words[1]] = tail
        elif kind == "handle":
            api.handles.append(words[1])
        else:
            self.fail("unknown item %s" % kind)

    def member(self, words, tail, text):
        if isinstance(self.item, Function):
            self.of_function(words, tail, text)
        elif isinstance(self.item, Enum):
            self.of_enum(words, tail, text)
        elif isinstance(self.item, Struct):
            self.of_struct(words, tail, text)
        else:
            self.fail("this item has no members")

    def of_enum(self, words, tail, text):
        enum = self.item
        if words[0] == "since":
            enum.since = words[1]
        elif words[0] == "does":
            enum.does = text[5:]
        elif words[0] == "value":
            words, since = self.since(words)
            enum.values.append(Value(words[1], int(words[2], 0), since, tail))
        else:
            self.fail("unknown line %s" % words[0])

    def of_struct(self, words, tail, text):
        struct = self.item
        if words[0] == "since":
            struct.since = words[1]
        elif words[0] == "size":
            struct.size, struct.packed = int(words[1]), words[2:] == ["packed"]
        elif words[0] == "does":
            struct.does = text[5:]
        elif words[0] == "end":
            if not self.open:
                self.fail("end without a nested item")
            self.open.pop()
        elif words[0] in ("field", "struct", "union"):
            self.field(words, tail)
        else:
            self.fail("unknown line %s" % words[0])

    def leads(self, words):
        """Takes a trailing "[string]" or "[image SIZE]" off the words."""
        if words[-1] == "[string]":
            return words[:-1], "string"
        if words[-2] == "[image":
            return words[:-2], words[-1].rstrip("]")
        return words, None

    def field(self, words, tail):
        words, leads = self.leads(words)
        words, since = self.since(words)
        kind, offset, size = words[0], int(words[1]), int(words[2])
        ctype, name = " ".join(words[3:-1]), words[-1]
        while name.startswith("*"):
            ctype, name = ctype + " *" if not ctype.endswith("*") else ctype + "*", name[1:]
        array = None
        match = re.match(r"(\w+)\[(\w+)\]$", name)
        if match:
            name, array = match.groups()
        field = Field(kind, offset, size, ctype, name, array, since, tail)
        field.leads = leads
        if bool(leads) != ctype.endswith("char *"):
            self.fail("a pointer to characters says what it leads to, and nothing else does")
        (self.open[-1].members if self.open else self.item.members).append(field)
        if kind != "field":
            field.members = []
            self.open.append(field)

    def of_function(self, words, tail, text):
        fn, key = self.item, words[0]
        if key in ("slot", "request"):
            setattr(fn, key, int(words[1]))
        elif key == "since":
            fn.since = words[1]
        elif key == "deprecated":
            fn.deprecated = words[1]
            fn.replacement = words[3] if words[3] != "none" else None
        elif key == "at":
            for name in words[1:]:
                if name not in COORDINATES:
                    self.fail("%s is not a coordinate" % name)
                fn.args.append(Arg("uint32_t", name, None, coordinate=True))
        elif key == "arg":
            fn.args.append(self.argument(text))
        elif key in ("does", "more"):
            setattr(fn, key, text[5:])
        elif key in ("codes", "extension", "needs"):
            setattr(fn, key, words[1:])
        elif key == "when":
            fn.when[words[1]] = tail
        elif key == "as":
            fn.same_as = words[1:]
        elif key == "part":
            fn.part_of = words[1]
        elif key in ("dump", "run"):
            setattr(fn, key, (words[1], words[2] if len(words) > 2 else None, tail))
        else:
            self.fail("unknown line %s" % key)

    def argument(self, text):
        match = re.match(r"arg (.*?)(\w+)(?: \[([^\]]*)\])? \| (.*)$", text)
        if not match:
            self.fail("an argument is: arg TYPE NAME [WAY COUNT] | text")
        ctype, name, tag, words = match.groups()
        arg = Arg(ctype.strip(), name, words)
        if arg.pointer():
            arg.way = "in" if arg.ctype.startswith("const ") else "out"
        if tag:
            self.tag(arg, tag.split())
        return arg

    def tag(self, arg, words):
        way = words.pop(0)
        arg.optional = way.endswith("?") or way == "opaque"
        arg.way = way.rstrip("?")
        if arg.way not in ("out", "in", "inout", "opaque") or not arg.pointer():
            self.fail("%s cannot be [%s]" % (arg.name, way))
        if words and words[-1] == "kept":
            arg.kept = bool(words.pop())
        if "used" in words:
            arg.used = words.pop()
            words.pop()
        if words == ["string"]:
            arg.string = True
        elif words and words[0] == "image":
            arg.image = words[1]
        elif words:
            arg.unit = "elements" if words[0] == "n" else "bytes"
            arg.count = words[-1]


def check(api):
    """Refuses tables that contradict themselves."""

    def fail(text, *args):
        raise TableError(text % args)

    for enum in api.enums:
        seen = [value.name for value in enum.values]
        if len(set(seen)) != len(seen):
            fail("%s: an enumerator twice", enum.name)
    codes = {value.name.replace("CUDBG_ERROR_", "").replace("CUDBG_", "") for value in api.results()}
    names = {fn.name for fn in api.functions}
    if len(names) != len(api.functions):
        fail("a function name is used twice")
    requests = [fn.request for fn in api.functions if fn.request is not None]
    if len(set(requests)) != len(requests):
        fail("a request number is used twice")
    for slot, fn in enumerate(api.functions):
        if fn.slot != slot:
            fail("%s: slot %s where slot %d is due", fn.name, fn.slot, slot)
        check_function(api, fn, codes, names, fail)
    for struct in api.structs:
        check_layout(api, struct.name, struct.members, struct.size, struct.packed, False, fail)
    for fn in api.functions:
        if fn.part_of:
            check_part(api, fn, fail)


def check_function(api, fn, codes, names, fail):
    for key in ("since", "does", "codes", "dump", "run"):
        if not getattr(fn, key):
            fail("%s: %s is missing", fn.name, key)
    if fn.replacement and fn.replacement not in names:
        fail("%s: replaced by %s, which is not a function", fn.name, fn.replacement)
    for code in fn.codes + fn.extension + list(fn.when):
        if code not in codes:
            fail("%s: %s is not a result code", fn.name, code)
        if code not in fn.codes + fn.extension:
            fail("%s: tells of %s but does not return it", fn.name, code)
        if code not in fn.when and code not in api.causes and code != "INVALID_ARGS":
            fail("%s: nothing tells when %s", fn.name, code)
    if set(fn.codes) & set(fn.extension):
        fail("%s: an extension is in the manual's list", fn.name)
    for need in fn.needs:
        if need not in NEEDS:
            fail("%s: unknown need %s", fn.name, need)
    for state in (fn.dump, fn.run):
        if state[0] not in ANSWERS or (state[0] == "answers") != (state[1] is not None):
            fail("%s: works, answers CODE or later", fn.name)
        if state[1] and state[1] not in fn.codes + fn.extension:
            fail("%s: answers %s, which it does not return", fn.name, state[1])
    for name in fn.same_as[:1] if fn.same_as else [fn.part_of] if fn.part_of else []:
        if name not in names:
            fail("%s: is as %s, which is not a function", fn.name, name)
    for arg in fn.args:
        for count in (arg.count, arg.used):
            if count and not fn.arg(count):
                fail("%s: %s counts by %s, which is not an argument", fn.name, arg.name, count)
        if api.size_of(arg.ctype) is None:
            fail("%s: type %s is unknown", fn.name, arg.ctype)


def check_part(api, fn, fail):
    """The structure that an old function fills is the first part of the current one."""
    old, new = (api.struct(other.args[-1].base()) for other in (fn, api.function(fn.part_of)))
    if not old or not new or old.size > new.size or \
            [(f.offset, f.size, f.name) for f in old.members] != \
            [(f.offset, f.size, f.name) for f in new.members[:len(old.members)]]:
        fail("%s: its structure is not the first part of that of %s", fn.name, fn.part_of)


def check_layout(api, name, members, size, packed, union, fail):
    """Recomputes the layout as a C compiler for LP64 would."""
    at, align = 0, 1
    for field in members:
        if field.kind == "field":
            one = api.size_of(field.ctype)
            if one is None:
                fail("%s.%s: type %s is unknown", name, field.name, field.ctype)
            count = 1
            if field.array:
                count = int(field.array) if field.array.isdigit() else define(api, field.array)
            total, need = one * count, alignment(api, field.ctype)
        else:
            check_layout(api, name + "." + field.name, field.members, field.size, packed,
                         field.kind == "union", fail)
            total = field.size
            need = max(member_alignment(api, member) for member in field.members)
        need = 1 if packed else need
        align = max(align, need)
        expected = 0 if union else (at + need - 1) // need * need
        if field.offset != expected or field.size != total:
            fail("%s.%s: at %d+%d, a compiler puts it at %d+%d", name, field.name, field.offset,
                 field.size, expected, total)
        at = max(at, field.offset + total)
    if (at + align - 1) // align * align != size:
        fail("%s: size %d, a compiler makes it %d", name, size, (at + align - 1) // align * align)


def define(api, name):
    return next(int(value, 0) for key, value, _since, _text in api.defines if key == name)


def alignment(api, ctype):
    struct = api.struct(ctype)
    if not struct:
        return api.size_of(ctype)
    return 1 if struct.packed else max(member_alignment(api, member) for member in struct.members)


def member_alignment(api, field):
    if field.kind == "field":
        return alignment(api, field.ctype)
    return max(member_alignment(api, member) for member in field.members)
