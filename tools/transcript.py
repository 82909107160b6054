"""Transcripts of cuda-gdb: commands and what it said to them, and its tables against those of `warpscope info`.

A transcript has ">>> COMMAND" before the answer to each command (tools/capture/run.sh and `peers gdb` write it so). What the
two programs are known to show differently, and why, is in KNOWN and in the functions that apply it; everything else must be
the same word.
"""

import functools
import json
import re
import subprocess

VERSION = "12.4"  # of the cuda-gdb whose ways KNOWN and UNABLE are; of another one nothing is taken for known
KNOWN = {  # shown differently, meaning the same
    "sm-exception": "cuda-gdb leaves out SMs that have only an exception left",
    "idle-grid": "cuda-gdb leaves out grids that have no block",
    "sm-row": "12.4 does not read the exception of an SM's row",
    "outer-line": "cuda-gdb shows an outer position of inlined code, or none",
    "star": "cuda-gdb omits the star of a row whose first thread is not the focus",
    "system": "cuda-gdb leaves out frames of system code",
    "newer-code": "12.4 calls exceptions newer than itself unknown",
    "arguments": "12.4 shows no arguments of a kernel in its table",
}
UNABLE = {  # what cuda-gdb cannot show; the builder planted it (tests/oracle/README.md)
    "sm-row-only": "12.4 does not read the exception of an SM's row, and takes its focus from elsewhere",
    "classic": "12.4 looks up the host addresses of the classic back end: ??",
    "device-number": "12.4 refuses the file: it uses device numbers as table rows",
    "lane-rows": "12.4 refuses the file: it wants a row for each valid lane",
    "packed": "12.4 refuses the file: it does not read gzip",
}
REFUSALS = {"Could not find Module table entry": "device-number", "read_device_exception_state": "lane-rows",
            "ELF header 'ident' verification failed": "packed"}


LAST_CODE = 18  # that 12.4 has a name for
UNKNOWN = ["Device", "Unknown", "Exception"]


class Differs(Exception):
    """Ours, theirs."""

    def __init__(self, what, ours, theirs):
        super().__init__(f"{what}: {ours} -- cuda-gdb: {theirs}")
        self.what, self.ours, self.theirs = what, ours, theirs


def steps(transcript):
    """[(command, its output)] in order; the first command is "" with what was printed when the dump was opened."""
    out = [("", [])]
    for line in transcript.splitlines():
        if line.startswith(">>> "):
            out.append((line[4:], []))
        else:
            out[-1][1].append(line)
    return [(command, "\n".join(lines)) for command, lines in out]


def answers(transcript):
    """{command: its output}; of a command that comes twice the last."""
    return dict(steps(transcript))


def address(text):
    """The first hexadecimal number."""
    found = re.search(r"0x[0-9a-f]+", text)
    return int(found[0], 16) if found else None


def symbol(text):
    """"NAME + 16 in section .text.KERNEL of FILE" -> (name, offset, kernel), or None."""
    found = re.match(r"(.+?)(?: \+ (\d+))? in section \.text\.(\S+)", text)
    return (found[1], int(found[2] or 0), found[3]) if found else None


def line(text):
    """'Line 11 of "FILE" starts ...' -> (file, line), or None."""
    found = re.match(r'Line (\d+) of "([^"]*)"', text)
    return (found[2], int(found[1])) if found else None


def focus(text):
    """"kernel 0, grid 1, block (1,0,0), ... lane 0" -> {name: number or [x, y, z]}, or None."""
    found = re.search(
        r"kernel (\d+), grid (\d+), (?:cluster \(([\d,]+)\), )?block \(([\d,]+)\), thread \(([\d,]+)\), device (\d+), "
        r"sm (\d+), warp (\d+), lane (\d+)", text)
    if not found:
        return None
    triple = [[int(n) for n in found[i].split(",")] for i in (4, 5)]
    return {"kernel": int(found[1]), "grid": int(found[2]), "blockIdx": triple[0], "threadIdx": triple[1],
            "device": int(found[6]), "sm": int(found[7]), "warp": int(found[8]), "lane": int(found[9])}


def registers(text):
    """{name: value} of `info registers`."""
    return {m[1]: int(m[2], 16) for m in re.finditer(r"^(\w+) +(0x[0-9a-f]+)", text, re.M)}


def array(text):
    """The numbers of "{0x1, 0x2 <repeats 3 times>}", or None."""
    numbers = re.search(r"= \{(.*)\}", text)
    if not numbers:
        return None
    out = []
    for part in numbers[1].split(", "):
        value, _, repeat = part.partition(" <repeats ")
        out += [int(value, 16)] * (int(repeat.split()[0]) if repeat else 1)
    return out


def words(text):
    """The numbers of `x/8xw`: those behind "ADDRESS:"."""
    return [int(word, 16) for row in text.splitlines() if re.match(r"0x[0-9a-f]+.*:", row)
            for word in re.findall(r"0x[0-9a-f]+", row.partition(":")[2])]


def frames(text):
    """[{address, function, file, line}] of a backtrace; function without template arguments."""
    out = []
    for row in re.findall(r"^#\d+ .*(?:\n(?!#\d).*)*", text, re.M):  # a value that cannot be read may have a line break
        at = re.match(r"#\d+\s+(?:(0x[0-9a-f]+) in )?([^<( ]+)", row)
        place = re.search(r"\) at (\S+):(\d+)", row)
        out.append({"address": int(at[1], 16) if at and at[1] else None,
                    "function": at[2] if at and at[2] != "??" else None,
                    "file": place[1] if place else None, "line": int(place[2]) if place else None})
    return out


def variables(text):
    """{name: value} of `info args` or `info locals`, in order; a value without what cuda-gdb says of the memory that it points to."""
    text = re.sub(r" <error: [^>]*>", "", text, flags=re.S)
    return {m[1]: m[2].strip() for m in re.finditer(r"^(\w+) = (.*(?:\n(?!\w+ = ).*)*)", text, re.M)}


def leaves(value, path=""):
    """{path: text} of a value: "{a = {1, 2 <repeats 3 times>}, b = 0x3}" -> {"a[0]": "1", "a[1]": "2", ..., "b": "0x3"}."""
    if not value.startswith("{"):
        return {path: re.sub(r"^\(.*\) (?=0x)", "", value)}
    parts, depth, quoted, start = [], 0, False, 1
    for at, char in enumerate(value[1:-1], 1):
        quoted ^= char == '"' and value[at - 1] != "\\"
        depth += 0 if quoted else (char in "{<") - (char in "}>")
        if char == "," and depth == 0 and not quoted:
            parts.append(value[start:at])
            start = at + 2
    parts.append(value[start:-1])
    out, number = {}, 0
    for part in parts:
        named = re.match(r"(\w+) = (.*)", part, re.S)
        if named:
            out.update(leaves(named[2], f"{path}.{named[1]}" if path else named[1]))
            continue
        one, _, repeats = part.partition(" <repeats ")
        for _ in range(int(repeats.split()[0]) if repeats else 1):
            out.update(leaves(one, f"{path}[{number}]"))
            number += 1
    return out


def type_words(text):
    """A C++ type as its words in any order: "const @generic char * @parameter" is "char const*"."""
    return sorted(re.findall(r"\w+|[^\w\s]", re.sub(r"@\w+", "", text)))


@functools.lru_cache(maxsize=None)
def ask(*command):
    """What a command prints. The commands of a transcript need the same answers again and again."""
    return subprocess.run(command, capture_output=True, check=False).stdout.decode()


class Program:
    """warpscope on one dump."""

    def __init__(self, program, dump):
        self.program, self.dump, self.known = program, dump, {}

    def text(self, verb, *arguments):
        return ask(self.program, verb, *arguments)

    def info(self, *table):
        return self.text("info", self.dump, "cuda", *table)

    def json(self, verb, *arguments):
        said = self.text(verb, "--json", *arguments[:1], *arguments[1:])
        return json.loads(said) if said else None

    def chain(self, pc):
        """Source positions of a pc: cuda-gdb shows the first row at an address, ours is the last."""
        if pc not in self.known:
            where = self.json("info", self.dump, "where", f"{pc:#x}")["where"]["code"]
            self.known[pc] = where and {"function": where["function_mangled"], "offset": int(where["rel_pc"], 16),
                                        "lines": {(f["file"], f["line"]) for f in where["chain"] or []}}
        return self.known[pc]

    def lines(self, pc):
        chain = self.chain(pc)
        return chain["lines"] if chain else set()


# ---- tables ----

def rows(text):
    """[words] of each line below the titles; the star is the first word of its row."""
    return [row.split() for row in text.splitlines()[1:] if row.strip() and not row.startswith("warning: ")]


def without_star(row):
    return row[1:] if row and row[0] == "*" else row


def expected_rows(table, theirs, ours, used):
    """Both, less what is known to differ; the reasons go into `used`."""
    what, before = table.split()[0], ours
    if what == "sms":
        ours = [r for r in ours if not re.fullmatch("0x0+", r[-1])]
        used |= {"sm-exception"} if len(ours) < len(before) else set()
    if what == "kernels":
        ours = [r for r in ours if not re.fullmatch("0x0+", without_star(r)[5])]
        used |= {"idle-grid"} if len(ours) < len(before) else set()
        bare = [re.sub(r"\(\w+=.*\)$", "()", " ".join(r)).split() for r in ours]
        used |= {"arguments"} if bare != ours else set()
        ours = bare
    if what == "lanes" and len(ours) == len(theirs):
        ours = [r[:5 if r[0] == "*" else 4] + ["None"] if t[-1] == "None" else r for r, t in zip(ours, theirs)]
        used |= {"sm-row"} if ours != before else set()
        for number, their in enumerate(theirs):
            if their[-len(UNKNOWN):] == UNKNOWN:
                ours[number] = ours[number][:len(their) - len(UNKNOWN)] + UNKNOWN
                used.add("newer-code")
    return theirs, ours


def thread_rows(theirs, ours, program, used):
    """Rows of threads with file and line made equal where theirs is an outer position of the same pc, or none."""
    out = []
    for their, our in zip(theirs, ours):
        pc = next((w for w in our if re.fullmatch("0x[0-9a-f]{16}", w)), None)
        made = their
        if pc and their[-2:] != our[-2:]:
            if their[-1] == "0" and len(their) == len(our) - 1:
                # an empty file name and 0: there are no lines, or 12.4 finds none where there are (inlined code)
                made = [*their[:-1], *our[-2:]]
            elif their[-1].isdigit() and (their[-2], int(their[-1])) in program.lines(int(pc, 16)):
                made = [*their[:-2], *our[-2:]]
        used |= {"outer-line"} if made != their else set()
        out.append(made)
    return out + theirs[len(out):]


def check_table(table, theirs_text, ours_text, program, stars=True):
    """Differs, or the names in KNOWN of what was taken into account. Without `stars` the focus is not compared."""
    used = set()
    if theirs_text.strip().startswith("No CUDA"):
        left = [row for row in expected_rows(table, [], rows(ours_text), used)[1] if row[0] != "Device"]
        if ours_text.strip() != theirs_text.strip() and left:
            raise Differs(table, ours_text.strip()[:80], theirs_text.strip())
        return used
    theirs, ours = rows(theirs_text), rows(ours_text)
    if not stars:
        theirs, ours = ([without_star(row) for row in side] for side in (theirs, ours))
    theirs, ours = expected_rows(table, theirs, ours, used)
    if table.startswith("threads"):
        theirs = thread_rows(theirs, ours, program, used)
    for number, (their, our) in enumerate(zip(theirs, ours)):
        if their[0] != "*" and our[0] == "*":
            our = without_star(our)
            used.add("star")
        if their != our:
            raise Differs(f"{table}, row {number}", " ".join(our), " ".join(their))
    if len(theirs) != len(ours):
        raise Differs(f"{table}, rows", len(ours), len(theirs))
    return used
