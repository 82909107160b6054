"""Runs a vendor disassembler on instruction words of our own.

`disassemble(words, sm)` gives the text of each 128-bit word, or None where the tool refuses it. One refused word makes the tool print
nothing at all, so the refused ones are found first: each word becomes a function of its own, with an address of its own, in a small cubin
made here, and the tool's messages name the addresses.

The tool is the `nvdisasm` that $NVDISASM names, else the one on PATH; $NVDISASM may name several, oldest first and separated by colons.
Version used for the recorded data: see the page of coverage.py.
"""
import os
import re
import shutil
import struct
import subprocess
import tempfile

BATCH = 20000
NOP = 0x7918  # with an always-true guard


def tools():
    """Paths of the disassemblers, the oldest version first."""
    named = os.environ.get("NVDISASM") or shutil.which("nvdisasm")
    return named.split(":") if named else []


def tool():
    """Path of the newest disassembler, or None."""
    return tools()[-1] if tools() else None


def knows(program, sm):
    """Whether a version has heard of an architecture: it refuses every word of others."""
    return disassemble([NOP], sm, program) != [None]


def header_fields(sm):
    """(EI_OSABI, EI_ABIVERSION, e_flags) of a cubin. `sm` is a number with an optional letter: 90, "90a"."""
    number = int(re.match(r"\d+", str(sm)).group())
    if number >= 100:
        return 0x41, 8, 0x06000002 | number << 8
    return 0x41, 8, 0x06000004 | number << 8


def build_cubin(functions, sm):
    """A cubin whose function number i holds the words functions[i], at address 16 * i."""
    strtab = bytearray(b"\0")
    names = {}

    def name(text):
        if text not in names:
            names[text] = len(strtab)
            strtab.extend(text.encode() + b"\0")
        return names[text]

    body = bytearray()
    sections = [(0,) * 10]
    symbols = [struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)]
    n = len(functions)
    offset = 64
    for i, words in enumerate(functions):
        data = b"".join(w.to_bytes(16, "little") for w in words)
        sections.append((name(f".text.f{i}"), 1, 6, 16 * i, offset + len(body), len(data), n + 2, 8 << 24 | (i + 1), 128, 0))
        symbols.append(struct.pack("<IBBHQQ", name(f"f{i}"), 0x12, 0x10, i + 1, 0, len(data)))
        body.extend(data)
    symbol_data = b"".join(symbols)
    strings, symtab = name(".strtab"), name(".symtab")
    sections.append((strings, 3, 0, 0, offset + len(body), len(strtab), 0, 0, 1, 0))
    body.extend(strtab)
    body.extend(b"\0" * (-len(body) % 8))
    sections.append((symtab, 2, 0, 0, offset + len(body), len(symbol_data), n + 1, 1, 8, 24))
    body.extend(symbol_data)
    osabi, abiversion, flags = header_fields(sm)
    ident = b"\x7fELF" + bytes([2, 1, 1, osabi, abiversion]) + b"\0" * 7
    header = ident + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, offset + len(body), flags, 64, 0, 0, 64, len(sections), n + 1)
    return header + bytes(body) + b"".join(struct.pack("<IIQQQQIIQQ", *s) for s in sections)


def run_tool(path, args, program):
    done = subprocess.run([program or tool(), *args, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    return done.stdout, done.stderr


def normalise(text):
    """One space between words, none before the closing semicolon."""
    return re.sub(r"\s+", " ", text).strip().removesuffix(";").strip()


def refused(words, sm, program):
    """Indices of the words that the tool refuses. It names the address only of the first one of a function, and prints nothing else."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(build_cubin([[w] for w in words], sm))
        file.flush()
        _, err = run_tool(file.name, ["-ndf", "-raw", "-c"], program)
    return {int(a, 16) // 16 for a in re.findall(r"at address 0x([0-9a-f]+)", err)}


def disassemble(words, sm, program=None):
    """Text of each word, or None where the tool refuses it. Word i stands at address 16 * i (relative targets show it)."""
    texts = []
    for start in range(0, len(words), BATCH):
        texts += disassemble_batch(words[start : start + BATCH], sm, 16 * start, program)
    return texts


def disassemble_batch(batch, sm, base, program):
    bad = set()
    while (found := disassemble_raw(kept := [NOP if i in bad else w for i, w in enumerate(batch)], sm, base, program)) is None:
        more = refused(kept, sm, program) - bad
        if not more and len(batch) == 1:
            return [None]
        if not more:  # it does not say which, or names a word that is not the one (when two of its patterns match)
            half = len(batch) // 2
            found = disassemble_batch(kept[:half], sm, base, program) + disassemble_batch(kept[half:], sm, base + 16 * half, program)
            break
        bad |= more
    return [None if i in bad else t for i, t in enumerate(found)]


def disassemble_raw(words, sm, base, program):
    """Texts of words that stand one after another, or None if one of them is refused."""
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(b"".join(w.to_bytes(16, "little") for w in words))
        file.flush()
        out, _ = run_tool(file.name, ["-ndf", "-raw", "-b", f"SM{sm}", "-base", hex(base)], program)
    found = dict(re.findall(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*)", out, re.M))
    if not found:
        return None
    # The tool passes over a few words without a line and without a message: they count as refused.
    lines = [found.get(f"{base + 16 * i:04x}") for i in range(len(words))]
    return [line and normalise(line) for line in lines]


def text_words(path):
    """[(section name, [words])] of the code sections of a cubin."""
    data = open(path, "rb").read()
    table, count, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]
    found = []
    for section in sections:
        start = sections[names][4] + section[0]
        name = data[start : data.index(b"\0", start)].decode(errors="replace")
        if section[1] == 1 and name.startswith(".text"):
            body = data[section[4] : section[4] + section[5]]
            found.append((name, [int.from_bytes(body[i : i + 16], "little") for i in range(0, len(body) - 15, 16)]))
    return found
