#!/usr/bin/env python3
"""No secret gets out of `warpscope strip`: test_planted.py WARPSCOPE [--all] [--seed N]. Prints TAP and a table.

A secret is written into one place of a dump that docs/trust.md does not keep: each kind of section of an image, gaps, tails,
headers, unused strings, notes, and each part of the dump around the images. The dump is stripped, and the result must hold no
eight bytes of the secret: as they are, reversed, as UTF-16, in hexadecimal digits, in base64, or in a stream that zlib can
unpack. Images are those of real compilers (tests/data) and ones put together here. The plain run takes a sample; --all takes
thousands. Nothing here knows how the program decides: what is kept is worked out a second time.
"""

import argparse
import base64
import gzip
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "..")
sys.path[:0] = [os.path.join(TESTS, "builders")]

import coredump  # noqa: E402
import cubin as cb  # noqa: E402
import dwarf  # noqa: E402
import reader  # noqa: E402
from build import SCENARIOS  # noqa: E402

SHARE = ["--lightweight", "--redact", "--drop-ptx", "--drop-paths"]
ISSUE = ["--for-issue"]
ORIGINAL = ["--skip", "global,shared,local,constbank", "--redact", "--drop-ptx", "--drop-paths"]
WINDOW = 8
CHARACTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789"


# ---- a secret, and what it may look like ----

def new_secret(rng, length=24):
    """Like a token: groups of four with a minus between them."""
    return "-".join("".join(rng.choice(CHARACTERS) for _ in range(4)) for _ in range(length // 5 + 1))[:length].encode()


def looks(secret):
    """Every way in which eight bytes of the secret may stand in a file."""
    out = set()
    for at in range(len(secret) - WINDOW + 1):
        part = secret[at:at + WINDOW]
        out |= {part, part[::-1], part.hex().encode(), part.hex().upper().encode()}
        out |= {part.decode().encode("utf-16-le"), part.decode().encode("utf-16-be")}
    for phase in range(3):
        text = base64.b64encode(bytes(phase) + secret)
        out.add(text[(phase + 2) // 3 * 4:-4])
    return out


def streams(data):
    """What zlib can unpack, wherever a stream may begin; nested ones are not looked for."""
    for magic, bits in ((b"\x1f\x8b\x08", 31), (b"\x78\x01", 15), (b"\x78\x5e", 15), (b"\x78\x9c", 15), (b"\x78\xda", 15)):
        at = data.find(magic)
        while at >= 0:
            try:
                yield zlib.decompressobj(bits).decompress(data[at:], 1 << 20)
            except zlib.error:
                pass
            at = data.find(magic, at + 1)


def find(data, secret):
    for where in (data, *streams(data)):
        for look in looks(secret):
            if look in where:
                return look
    return None


# ---- the program ----

class Program:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def strip(self, data, options):
        paths = [os.path.join(self.folder, name) for name in ("in", "out")]
        with open(paths[0], "wb") as handle:
            handle.write(data)
        done = subprocess.run([self.path, "strip", "-o", paths[1], *options, paths[0]], capture_output=True, text=True,
                              timeout=120, check=False)
        if done.returncode != 0:
            raise AssertionError(f"status {done.returncode}: {done.stderr.strip()[:200]}")
        with open(paths[1], "rb") as handle:
            return handle.read()


# ---- images ----

def tool_file(*names):
    with open(os.path.join(TESTS, "data", *names), "rb") as handle:
        data = handle.read()
    return gzip.decompress(data) if names[-1].endswith(".gz") else data


def real_images(everything):
    """{name: cubin} of real compilers."""
    names = ["calls.G.sm_100", "deep.li.sm_100", "calls.G.sm_80", "deep.li.sm_90", "link_a.li.sm_90", "link_a.li.sm_80",
             "linked.li.sm_80", "stop.li.sm_90", "bare.none.sm_80"]
    if everything:
        names = sorted(name[:-6] for name in os.listdir(os.path.join(TESTS, "data", "cubins")) if name.endswith(".cubin"))
        names.remove("longname.li.sm_90")  # 5,000 bytes of name are kept: nothing new, and slow
    images = {name: tool_file("cubins", name + ".cubin") for name in names}
    images["except.li.sm_100a"] = tool_file("exceptions", "except.li.sm_100a.cubin.gz")
    images["faults.G.sm_100"] = tool_file("faults", "faults.G.sm_100.cubin.gz")
    return images


class Ranges:
    """Byte ranges of a cubin by place, without those that are kept."""

    # kept in part: these have plants of their own below
    PARTLY = (".debug_line", ".nv_debug_line_sass", ".debug_info", ".debug_str", ".strtab", ".shstrtab", ".symtab")

    def __init__(self, data):
        self.data, self.cubin = data, cb.Cubin(data)
        self.kept = bytearray(len(data))
        for section in self.cubin.sections:
            if section.type != cb.SHT_NOBITS and (self.is_code(section) or section.name in self.PARTLY):
                self.kept[section.offset:section.offset + section.size] = b"\1" * section.size
        self.places = {}
        self.sections()
        self.strings()
        self.around()

    @staticmethod
    def is_code(section):
        return section.type == 1 and section.flags & cb.SHF_EXECINSTR

    def add(self, place, start, end):
        if end - start >= WINDOW and not any(self.kept[start:end]):
            self.places.setdefault(place, []).append((start, end))

    def sections(self):
        for section in self.cubin.sections[1:]:
            if section.type == cb.SHT_NOBITS or section.size == 0:
                continue
            name = section.name
            for function in self.cubin.functions:
                name = name.replace("." + function.name, ".F")
            if name.startswith(".nv_debug_ptx_txt."):
                name = ".nv_debug_ptx_txt.#"
            start = section.offset
            if name == ".note.nv.tkinfo":
                start += 24 + 24
            self.add(f"section {name}", start, section.offset + section.size)

    def strings(self):
        """Names that no symbol and no kept section uses."""
        tables = {s.index: s for s in self.cubin.sections if s.name in (".strtab", ".shstrtab")}
        used = {index: bytearray(s.size) for index, s in tables.items()}
        symtab = self.cubin.section(".symtab")
        raw = self.cubin.bytes_of(symtab)
        for at in range(0, len(raw), 24):
            self.use(used, symtab.link, struct.unpack_from("<I", raw, at)[0])
        for section in self.cubin.sections:
            if not section.name.startswith(".nv.merc") and not section.name.startswith(".nv.capmerc"):
                self.use(used, self.cubin.shstrndx, section.name_off)
        for index, table in tables.items():
            start = None
            for at in range(table.size + 1):
                free = at < table.size and not used[index][at]
                if free and start is None:
                    start = at
                elif not free and start is not None:
                    if at - start >= WINDOW + 2:
                        self.places.setdefault(f"unused names in {table.name}", []).append(
                            (table.offset + start + 1, table.offset + at - 1))
                    start = None

    def use(self, used, table, offset):
        data = self.cubin.bytes_of(self.cubin.sections[table])
        end = data.index(b"\0", offset)
        used[table][offset:end + 1] = b"\1" * (end + 1 - offset)

    def around(self):
        """Headers, and what no section has."""
        cubin = self.cubin
        taken = bytearray(len(self.data))
        taken[:64] = b"\1" * 64
        taken[cubin.shoff:cubin.shoff + 64 * cubin.shnum] = b"\1" * (64 * cubin.shnum)
        taken[cubin.phoff:cubin.phoff + 56 * cubin.phnum] = b"\1" * (56 * cubin.phnum)
        for section in cubin.sections:
            if section.type != cb.SHT_NOBITS:
                taken[section.offset:section.offset + section.size] = b"\1" * section.size
        at = 0
        while at < len(taken):
            end = at
            while end < len(taken) and not taken[end]:
                end += 1
            if end > at:
                self.add("gap between sections", at, end)
            at = end + 1
        self.places["entry address"] = [(24, 32)]
        self.places["headers of sections"] = [(cubin.shoff, cubin.shoff + 64 * cubin.shnum)]
        if cubin.phnum:
            self.places["headers of segments"] = [(cubin.phoff, cubin.phoff + 56 * cubin.phnum)]
        symtab = cubin.section(".symtab")
        self.places["section .symtab"] = [(symtab.offset, symtab.offset + symtab.size)]


def overwritten(rng, data, everything):
    """(place, image, secret): the secret over bytes of a real image."""
    for place, ranges in sorted(Ranges(data).places.items()):
        for _ in range(10 if everything else 1):
            start, end = rng.choice(ranges)
            secret = new_secret(rng, min(24, end - start))
            at = rng.randint(start, end - len(secret))
            yield place, data[:at] + secret + data[at + len(secret):], secret


def with_sections(data, *extra, rename=None, gap=b"", tail=b""):
    """A cubin with sections (name, type, flags, bytes[, link, info]) put behind; `rename`: {section: name}."""
    cubin, image = cb.Cubin(data), bytearray(data)
    headers = bytearray(data[cubin.shoff:cubin.shoff + 64 * cubin.shnum])
    names = bytearray(cubin.bytes_of(cubin.sections[cubin.shstrndx]))
    for index, name in (rename or {}).items():
        struct.pack_into("<I", headers, 64 * index, len(names))
        names += name + b"\0"
    for name, kind, flags, content, *more in extra:
        link, info = more or (0, 0)
        image += gap + bytes(-(len(image) + len(gap)) % 4)
        headers += struct.pack("<IIQQQQIIQQ", len(names), kind, flags, 0, len(image), len(content), link, info, 1, 0)
        names += name + b"\0"
        image += content
    struct.pack_into("<QQ", headers, 64 * cubin.shstrndx + 24, len(image), len(names))
    image += names + bytes(-len(names) % 8)
    struct.pack_into("<Q", image, 40, len(image))
    struct.pack_into("<H", image, 60, len(headers) // 64)
    return bytes(image + headers + tail)


def grown(data, name, more):
    """A cubin with a section that has more bytes at its end."""
    cubin = cb.Cubin(data)
    section = cubin.section(name)
    image = bytearray(data)
    struct.pack_into("<QQ", image, cubin.shoff + 64 * section.index + 24, len(image), section.size + len(more))
    return bytes(image + cubin.bytes_of(section) + more)


def note(owner, kind, content):
    owner += b"\0"
    return struct.pack("<III", len(owner), len(content), kind) + owner + bytes(-len(owner) % 4) + content


def tkinfo(*texts):
    """Object, tool, version, build, options."""
    out, offsets = b"", []
    for text in texts:
        offsets.append(len(out))
        out += text + b"\0"
    return note(b"NVIDIA Corp", 2000, struct.pack("<6I", 2, *offsets) + out)


def line_table(folders, files, program=b"", slack=b"", behind=b"", version=2):
    """A table of DWARF 2; files have no folder of their own."""
    head = bytes([1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1])
    lists = b"".join(f + b"\0" for f in folders) + b"\0" + b"".join(f + b"\0\1\0\0" for f in files) + b"\0"
    header = head + lists + slack
    body = struct.pack("<HI", version, len(header)) + header + program
    return struct.pack("<I", len(body)) + body + behind


def extended(opcode, content):
    return b"\0" + dwarf.uleb(len(content) + 1) + bytes([opcode]) + content


END = extended(1, b"")


def path_shapes(secret):
    """Folders as machines have them."""
    text = secret.decode()
    return {
        "a folder": f"/home/{text}/src", "the first folder": f"/{text}/src", "a relative folder": f"{text}/src",
        "a folder of Windows": f"C:\\Users\\{text}\\src", "a folder with a blank": f"/home/my {text} things",
        "behind a bracket": f"/home/a({text})/src", "behind a comma": f"/home/a,{text},b/src",
        "behind letters beyond ASCII": f"/home/\u00fc\u00df{text}\u65e5/src", "the last folder": f"/home/{text}",
        "below a library": f"/usr/local/cuda/include/{text}", "a share": f"\\\\server\\{text}\\src",
        "an equals sign": f"/home/user={text}/src", "two slashes": f"//home//{text}//src",
    }


def lines_planted(secret):
    """(place, section name, table)"""
    for shape, folder in path_shapes(secret).items():
        folder = folder.encode()
        yield f"lines: {shape}", line_table([folder], [b"a.cu"], END)
        separator = b"\\" if b"\\" in folder else b"/"
        yield f"lines: {shape}, with the file", line_table([], [folder + separator + b"a.cu"], END)
    yield "lines: a file that the program defines", line_table([], [b"a.cu"], extended(
        3, b"/home/" + secret + b"/b.cu\0\0\0\0") + END)
    yield "lines: an unknown opcode", line_table([], [b"a.cu"], extended(0x99, secret) + END)
    yield "lines: behind the operands", line_table([], [b"a.cu"], extended(0x04, b"\1" + secret) + END)
    yield "lines: behind an end", line_table([], [b"a.cu"], extended(0x01, secret))
    yield "lines: behind the lists", line_table([], [b"a.cu"], END, slack=b"\0" + secret)
    yield "lines: between tables", line_table([], [b"a.cu"], END, behind=bytes(4)) + secret
    yield "lines: a version that is not known", line_table([secret], [b"a.cu"], END, version=9)
    yield "lines: DWARF 5", struct.pack("<IHBBI", 8 + 40 + len(secret), 5, 8, 0, 40 + len(secret)) + bytes(
        [1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 8, 1]) + secret + b"\0" + bytes(30)


def unit(*root, entry=None, tail=b""):
    """.debug_info, .debug_abbrev and .debug_str of one unit."""
    dwarf.ATTRIBUTES.update({"producer": 0x25, "comp_dir": 0x1b, "macro_info": 0x43, "unknown": 0x2fff, "start_scope": 0x2c})
    one = dwarf.Unit()
    one.root.attributes = list(root) or one.root.attributes
    base = one.base("int", 4, 5)
    one.function("_Z1fi", [("n", base, 7)])
    if entry:
        one.add(dwarf.Die(*entry))
    one.tail = tail
    packed = dwarf.packed([one])
    a, b, c = struct.unpack_from("<III", packed)
    return packed[12:12 + a], packed[12 + a:12 + a + b], packed[12 + a + b:12 + a + b + c]


def with_debug(data, info, abbrev, text):
    """An image with that debug information and no other."""
    strings = cb.Cubin(data).section(".debug_str")
    return with_sections(data, (b".debug_info", 1, 0, info), (b".debug_abbrev", 1, 0, abbrev), (b".debug_str", 1, 0, text),
                         rename={strings.index: b".x"} if strings else {})


def debug_planted(secret):
    """(place, .debug_info, .debug_abbrev, .debug_str)"""
    text = secret.decode()
    for form in ("string", "strp"):
        yield f"debug: the producer, {form}", unit(("producer", form, text))
        yield f"debug: an unknown attribute, {form}", unit(("unknown", form, text))
        for shape, folder in path_shapes(secret).items():
            if folder.isascii():
                yield f"debug: {shape}, {form}", unit(("comp_dir", form, folder))
                yield f"debug: {shape} of the unit, {form}", unit(("name", form, folder + "/a.cu"))
    for form in ("block1", "block2", "block4", "block", "exprloc"):
        yield f"debug: a constant, {form}", unit(entry=("variable", ("name", "string", "v"), ("const_value", form, secret)))
        yield f"debug: a place, {form}", unit(entry=("variable", ("name", "string", "v"), ("location", form, secret)))
        yield f"debug: an unknown block, {form}", unit(entry=("variable", ("unknown", form, secret)))
    yield "debug: a constant, data8", unit(entry=("enumerator", ("const_value", "data8", int.from_bytes(secret[:8], "little"))))
    yield "debug: an address", unit(entry=("variable", ("low_pc", "addr", int.from_bytes(secret[:8], "little"))))
    yield "debug: an unknown tag", unit(entry=(0x3f77, ("producer", "string", text)))
    yield "debug: behind the entries", unit(tail=bytes(4) + b"\x7f" + secret)


def built(rng, data):
    """(place, image, secret): images with what compilers, linkers and others may put into them."""
    loose, loaded = 0, cb.SHF_ALLOC
    base = cb.Cubin(data)
    code = next(s.index for s in base.sections if Ranges.is_code(s))
    kernel = base.functions[0].name.encode()
    plain = [
        (".comment", 1, 0x30), (".debug_macro", 1, loose), (".debug_macinfo", 1, loose), (".debug_loc", 1, loose),
        (".debug_ranges", 1, loose), (".debug_pubnames", 1, loose), (".debug_aranges", 1, loose), (".debug_line_str", 1, loose),
        (".debug_str", 1, loose), (".debug_str.dwo", 1, loose), (".nv_debug_ptx_txt", 1, loose),
        (".nv_debug_ptx_txt.77", 1, loose), (".nv_debug_ptx_txt.x", 1, loose), (".nv_debug_info_reg_sass", 1, loose),
        (".nv_debug_info_ptx", 1, loose), (".nv.merc.debug_line", 1, 0x10000000), (".nv.merc.debug_info", 1, 0x10000000),
        (".nv.merc.nv_debug_ptx_txt", 1, 0x10000000), (".nv.capmerc.text.x", 0x70000016, 0x10000000),
        (".nv.constant3", 1, loaded), (".nv.constant3", 0x70000067, loaded), (".nv.constant2.x", 1, loaded),
        (".nv.constant0.x", 0x70000064, loaded), (".nv.constant14", 0x70000072, loaded), (".nv.global", 0x70000007, 3),
        (".nv.global.init", 1, 3), (".data", 1, 3), (".rodata", 1, loaded), (".rodata.str", 1, 0x32), (".init_array", 14, 3),
        (".nv.uft", 1, loaded), (".nv.info.x", 0x70000000, 0x40), (".nv.compat", 0x70000086, loose),
        (".nv.callgraph", 0x70000001, loose), (".nv.prototype", 0x70000002, loose), (".nv.rel.action", 0x7000000b, loose),
        (".nvFatBinSegment", 1, loaded), (".nv_fatbin", 1, loaded), (".gnu.attributes", 0x6ffffff5, loose), (".group", 17, loose),
        (".strtab", 3, loose), (".names", 3, loose), (".symtab", 2, loose), (".dynsym", 11, loaded), (".hash", 5, loaded),
        (".note", 7, loose), (".note.gnu.build-id", 7, loose), (".note.nv.tkinfo", 7, 0x2000000), (".llvm_addrsig", 0x6fff4c03, 0),
        (".sframe", 0x70000001, loaded), ("", 1, loose), (".unknown", 0x60001234, loose), (".unknown", 0x70001234, loose),
        (".unknown", 0x80000001, loose), (".unknown", 6, loose), (".unknown", 0, loose),
    ]
    for name, kind, flags in plain:
        for around in (b"", b"\0\0\0\0", b"\1\2\3\4text "):
            secret = new_secret(rng)
            yield (f"added section {name or '(no name)'}, type {kind:#x}",
                   with_sections(data, (name.encode(), kind, flags, around + secret + around)), secret)
    for flags in (loose, loaded, 0x800, 0x802):
        for name in (b".zdebug_info", b".debug_info", b".debug_str", b".nv.constant3", b".extra"):
            secret = new_secret(rng)
            yield f"compressed section {name.decode()}", with_sections(data, (name, 1, flags, struct.pack(
                "<IIQQ", 1, 0, 24, 1) + zlib.compress(secret * 3))), secret
    for place, make in (("UTF-16", lambda s: s.decode().encode("utf-16-le")), ("hexadecimal", lambda s: s.hex().encode()),
                        ("base64", base64.b64encode), ("reversed", lambda s: s[::-1]), ("gzip", gzip.compress)):
        for name, kind, flags in ((b".comment", 1, 0x30), (b".nv.constant3", 1, loaded), (b".nv_debug_ptx_txt", 1, 0)):
            secret = new_secret(rng)
            yield f"{place} in {name.decode()}", with_sections(data, (name, kind, flags, make(secret))), secret
    for name in (b"%s", b".text.%s", b".debug_%s", b".nv.info.%s", b".nv.constant0.%s", b".nv_debug_ptx_txt.%s", b".rela.%s",
                 b".nv.shared.%s", b".nv.constant3%s", b".text." + kernel + b".%s"):
        secret = new_secret(rng)
        yield "name of a section", with_sections(data, (name % secret, 1, loose, b"x" * 16)), secret
        yield "name of a section", with_sections(data, (name % secret, 8, 3, b"")), secret
        yield "name of a code section", with_sections(data, rename={code: name % secret}), secret
    for owner in (b"NVIDIA Corp", b"GNU", b"Me"):
        for kind in (1, 1000, 2000, 2001):
            secret = new_secret(rng)
            yield "a note", with_sections(data, (b".note.nv.cuinfo", 7, 0, note(owner, kind, secret))), secret
            yield "a note behind a note", grown(data, ".note.nv.cuinfo", note(owner, kind, secret)), secret
    tool = [b"a.cubin", b"ptxas", b"Cuda compilation tools, release 13.0, V13.0.88", b"Build cuda_13.0.r13.0/compiler.36424714_0",
            b"-arch sm_90 -lineinfo "]
    for number in range(5):
        for shape in (b"%s", b"/home/%s/a.cubin", b"-arch sm_90 -DTOKEN=%s -lineinfo", b"-arch %s -O %s", b"-maxrregcount=%s",
                      b"-I /home/%s -lineinfo", b"ptxas %s", b"Build cuda_%s", b"-arch sm_90%s", b"--opt-level \"%s\""):
            secret, texts = new_secret(rng), list(tool)
            texts[number] = shape.replace(b"%s", secret)
            stripped = with_sections(data, (b".note.nv.tkinfo", 7, 0x2000000, tkinfo(*texts)),
                                     rename={base.section(".note.nv.tkinfo").index: b".x"})
            yield f"string {number} of .note.nv.tkinfo", stripped, secret
    for name in (".strtab", ".shstrtab", ".debug_frame", ".nv.info", ".symtab"):
        for around in (b"", b"\0", b"\0\0\0\0"):
            secret = new_secret(rng)
            yield f"behind the content of {name}", grown(data, name, around + secret + b"\0"), secret
    for content in (b"\4\x99\x18\0%s", b"\4\x2f\x18\0%s", b"\1\x44%s", b"\4\x1c\x18\0%s", b"\x04\x17\x0c\0%s", b"\x04\x0a\x08\0%s",
                    b"\3\x19%s", b"\4\x1e\x04\0%s", b"\4\x34\x18\0%s", b"\4\x0f\x18\0%s"):
        secret = new_secret(rng)
        yield "an attribute", grown(data, ".nv.info", content.replace(b"%s", secret)), secret
    secret = new_secret(rng)
    yield "tail of the image", with_sections(data, tail=secret), secret
    yield "tail of the image", data + secret, secret
    for extra in (1, 2, 5):
        secret = new_secret(rng)
        yield "gap between sections", with_sections(data, *[(b".x", 1, 0, b"y" * 8)] * extra, gap=secret), secret
    secret = new_secret(rng)
    for place, table in lines_planted(secret):
        if base.section(".debug_line"):
            yield place, grown(data, ".debug_line", table), secret
        yield place, with_sections(data, (b".nv_debug_line_sass", 1, loose, table)), secret
        yield "merc " + place, with_sections(data, (b".nv.merc.debug_line", 1, 0x10000000, table)), secret
    if not base.section(".debug_info"):
        for place, parts in debug_planted(secret):
            yield place, with_debug(data, *parts), secret
    if base.section(".debug_str"):
        for text in (b"%s\0", b"#define TOKEN %s\0", b"\0%s\0\0"):
            yield "unused strings in .debug_str", grown(data, ".debug_str", text.replace(b"%s", secret)), secret


# ---- dumps ----

class Dumps:
    """Dumps around an image."""

    def __init__(self):
        self.made = SCENARIOS["bad-pc"][0]()

    def around(self, image, original=None):
        model = self.made.model
        module = model.devices[0].contexts[0].modules[0]
        module.relocated, module.image = image, original
        self.made.options.flags = 0
        return coredump.write(model, self.made.options)


def image_checked(result, want, kind):
    """The image must still be there, or a plant proves nothing."""
    sizes = [s.size for s in reader.Reader(result).sections[1:] if s.type == reader.BASE + kind]
    if sizes != want:
        raise AssertionError(f"images of {sizes} bytes, not {want}")


def image_plants(rng, everything):
    """(place, dump, secret, options, sizes of images that must stay, their kind)"""
    dumps = Dumps()
    images = real_images(everything)
    for data in images.values():
        for place, image, secret in overwritten(rng, data, everything):
            if rng.random() < 0.8:
                yield place, dumps.around(image), secret, SHARE, [len(image)], 7
            else:
                yield place + " (as compiled)", dumps.around(data, image), secret, ORIGINAL, [len(image)], 6
    bases = ["deep.li.sm_100", "deep.li.sm_90", "link_a.li.sm_80", "bare.none.sm_80"]
    for name in bases if everything else [rng.choice(bases)]:
        for place, image, secret in built(rng, images[name]):
            yield place, dumps.around(image), secret, SHARE, [len(image)], 7
    for name in os.listdir(os.path.join(TESTS, "data", "fatbins")):
        if name.endswith(".fatbin"):
            data = tool_file("fatbins", name)
            for _ in range(20 if everything else 1):
                secret = new_secret(rng)
                at = rng.randint(0, len(data) - 24)
                image = data[:at] + secret + data[at + 24:]
                yield "an image that is a fatbin", dumps.around(image), secret, SHARE, [], 7
    for image in (b"", b"\x7fELF", b".version 9.0\n.target sm_90\n// %s", b"// %s\n" * 100, b"#!ptx %s" + bytes(100)):
        secret = new_secret(rng)
        yield "an image that cannot be read", dumps.around(image.replace(b"%s", secret) + secret), secret, SHARE, [], 7


def mode_plants(rng):
    """As image_plants(), for each of the three options alone: what it is for, and what nobody knows."""
    data, dumps = tool_file("cubins", "deep.li.sm_90.cubin"), Dumps()
    unknown = [(b".comment", 1, 0x30), (b".nv.merc.debug_line", 1, 0x10000000), (b".extra", 0x70001234, 0), (b".note.x", 7, 0),
               (b".nv_debug_ptx_txt", 1, 0), (b".nv_debug_ptx_txt.5", 1, 0), (b".nv.merc.nv_debug_ptx_txt", 1, 0x10000000)]
    constants = [(b".nv.constant3", 1, 2), (b".nv.global.init", 1, 3), (b".nv.constant2", 0x70000066, 2)]
    values = [(b".debug_loc", 1, 0), (b".nv_debug_info_reg_sass", 1, 0)]
    for option, more in (("--drop-ptx", []), ("--drop-paths", constants), ("--redact", constants + values)):
        for name, kind, flags in unknown + more:
            secret = new_secret(rng)
            image = with_sections(data, (name, kind, flags, b"/home/" + secret + b"/a.cu"))
            yield f"{name.decode()}, only {option}", dumps.around(image), secret, [option], [len(image)], 7
    secret = new_secret(rng)
    for place, table in lines_planted(secret):
        image = grown(data, ".debug_line", table)
        yield place + ", only --drop-paths", dumps.around(image), secret, ["--drop-paths"], [len(image)], 7


def dump_sections(data, *extra, tail=b"", rename=None, slack=b""):
    """A dump with sections behind those it has: (name, type, bytes)."""
    old = reader.Reader(data)
    strings = next(s for s in old.sections if s.name == ".shstrtab")
    names, image = bytearray(bytes(old.content(strings))), bytearray(data)
    at = struct.unpack_from("<Q", data, 40)[0]
    headers = bytearray(data[at:at + 64 * len(old.sections)])
    for index, name in (rename or {}).items():
        struct.pack_into("<I", headers, 64 * index, len(names))
        names += name + b"\0"
    for name, kind, content in extra:
        image += bytes(-len(image) % 8) + slack + bytes(-len(slack) % 8)
        headers += struct.pack("<IIQQQQIIQQ", len(names), kind, 0, 0, len(image), len(content), 0, 0, 8, 0)
        names += name + b"\0"
        image += content
    struct.pack_into("<QQ", headers, 64 * strings.index + 24, len(image), len(names))
    image += names + bytes(-len(names) % 8)
    struct.pack_into("<Q", image, 40, len(image))
    struct.pack_into("<Q", headers, 32, len(headers) // 64)
    return bytes(image + headers + tail)


def model_plants(rng):
    """(place, dump, secret): what rows, registers, memory and texts hold."""
    def made(change):
        model = SCENARIOS["memory"][0]()
        model.options.flags = 0
        secret = new_secret(rng)
        change(model.model, secret)
        return coredump.write(model.model, model.options), secret

    def lanes(model):
        for device in model.devices:
            for sm in device.sms:
                for cta in sm.ctas or []:
                    for warp in cta.warps or []:
                        for lane in warp.lanes or []:
                            yield sm, cta, warp, lane

    def words(secret):
        return list(struct.unpack("<6I", secret))

    def every(name, value):
        def change(model, secret):
            for sm, cta, warp, lane in lanes(model):
                node = {"sm": sm, "cta": cta, "warp": warp, "lane": lane}[name]
                value(node, secret)
        return change

    def put(node, field, value):
        setattr(node, field, value)

    def texts(field):
        def change(model, secret):
            for sm, _, warp, _ in lanes(model):
                (sm if field == "exceptionString" else warp).row[field] = secret.decode()
        return change

    def device_text(field, shape):
        def change(model, secret):
            model.devices[0].row[field] = shape.replace("%s", secret.decode())
        return change

    def grid(field):
        def change(model, secret):
            for device in model.devices:
                for one in device.grids:
                    setattr(one, field, secret * 8)
        return change

    def memory(model, secret):
        for block in model.memory:
            block.data = secret * (len(block.data) // 24 + 1)

    def meta(model, secret):
        model.meta["generatorName"] = f"/home/{secret.decode()}=@tool"

    changes = {
        "registers": every("lane", lambda n, s: put(n, "regs", words(s) * 4)),
        "odd registers": every("lane", lambda n, s: put(n, "regs", [7] + words(s) * 4)),
        "predicates": every("lane", lambda n, s: put(n, "preds", words(s)[:6] + [1])),
        "uniform registers": every("warp", lambda n, s: put(n, "uregs", words(s) * 4)),
        "uniform predicates": every("warp", lambda n, s: put(n, "upreds", words(s))),
        "local memory": every("lane", lambda n, s: put(n, "local", (0xfffdc0, s * 4))),
        "shared memory": every("cta", lambda n, s: put(n, "shared", s * 4)),
        "global and managed memory": memory,
        "parameters": grid("params"),
        "text of an exception": texts("exceptionString"),
        "text of a barrier": texts("additionalBarrierInfo"),
        "name of a device that is none": device_text("devName", "GPU {%s}"),
        "type of a device that is none": device_text("devType", "%s" * 4),
        "architecture that is none": device_text("smType", "sm_90\n%s"),
        "generator that is none": meta,
    }
    for place, change in changes.items():
        yield place, *made(change)


def waits_planted(rng):
    """Secrets in and beside a word that threads wait for."""
    for place, at in (("behind a counter that is waited for", 4), ("a value that is waited for", 0)):
        made, secret = SCENARIOS["hang"][0](), new_secret(rng)
        block = next(block for block in made.model.memory if block.row["address"] == 0x7f3a40000000)
        assert struct.unpack_from("<I", block.data)[0] == 2
        block.data = block.data[:at] + secret + block.data[at + len(secret):]
        yield place, coredump.write(made.model, made.options), secret


def padded_rows(rng):
    """Secrets behind the known fields of every row."""
    built_dump = SCENARIOS["memory"][0]()
    built_dump.options.flags, built_dump.options.extra_stride = 0, 24
    data, secret = coredump.write(built_dump.model, built_dump.options), new_secret(rng)
    return "bytes behind the fields of rows", data.replace(b"\xa5" * 24, secret), secret


def dump_plants(rng, everything):
    data = coredump.write(SCENARIOS["memory"][0]().model)
    for _ in range(12 if everything else 1):
        yield from model_plants(rng)
        yield padded_rows(rng)
        yield from waits_planted(rng)
        kinds = [24, 25, 63, 0x1000, 0x7fffffff - 0x80000000]
        for kind in kinds:
            secret = new_secret(rng)
            yield "a dump section of unknown type", dump_sections(data, (b".cudbg.future", 0x80000000 + kind, secret)), secret
        for name, kind in ((b".comment", 1), (b".note", 7), (b".cudbg.env", 1), (b".gnu_debuglink", 1), (b".symtab", 2),
                           (b".strtab", 3), (b"", 1), (b".nv_fatbin", 1), (b".cudbg.host", 7)):
            secret = new_secret(rng)
            yield "a dump section of ELF's types", dump_sections(data, (name, kind, secret)), secret
            for number in (1, 2, 3):
                yield "a note of a dump", dump_sections(data, (b".note", 7, note(b"warpscope", number, secret))), secret
        secret = new_secret(rng)
        sections = [s for s in reader.Reader(data).sections[1:] if s.name.startswith(".cudbg")]
        for section in rng.sample(sections, 6):
            yield "name of a dump section", dump_sections(data, rename={section.index: secret}), secret
            yield "name of a dump section", dump_sections(data, rename={section.index: section.name.encode() + secret}), secret
        yield "tail of the dump", dump_sections(data, tail=secret), secret
        yield "tail of the dump", data + secret, secret
        yield "gap between dump sections", dump_sections(data, (b".x", 1, b"y"), slack=secret), secret
        yield "unused strings of the dump", dump_strings(data, secret), secret
        for start, end in ((24, 32), (32, 40)):
            yield "ELF header of the dump", data[:start] + secret[:8] + data[end:], secret[:8]
        flags = rng.choice(sections)
        at = struct.unpack_from("<Q", data, 40)[0] + 64 * flags.index
        yield "flags of a dump section", data[:at + 8] + secret[:8] + data[at + 16:], secret[:8]
        yield "alignment of a dump section", data[:at + 48] + secret[:8] + data[at + 56:], secret[:8]


def dump_strings(data, secret):
    """A string in .strtab that no row uses: the table moves to the end."""
    old = reader.Reader(data)
    table = next(s for s in old.sections if s.name == ".strtab")
    at, content = len(data) + -len(data) % 8, bytes(old.content(table)) + secret + b"\0"
    image = bytearray(data + bytes(-len(data) % 8) + content)
    header = struct.unpack_from("<Q", data, 40)[0] + 64 * table.index
    struct.pack_into("<QQ", image, header + 24, at, len(content))
    return bytes(image)


def scenario_plants(rng, everything):
    """Relocated images of scenarios, with --for-issue as a user would."""
    names = ["illegal-address", "misaligned-G", "linked-sm90", "sm100", "relocs-kept", "abi7", "assert", "misaligned-toolkit"]
    for name in names if everything else names[:4]:
        made = SCENARIOS[name][0]()
        made.options.flags = 0
        module = made.model.devices[0].contexts[0].modules[0]
        data = module.relocated
        for place, image, secret in overwritten(rng, data, everything):
            if "headers" in place or ".symtab" in place:
                continue  # the faulted warp's module must be found by its code
            module.relocated = image
            yield f"{place} (for an issue)", coredump.write(made.model, made.options), secret, ISSUE, [len(image)], 7


def controls(rng):
    """(place, dump, secret) that are kept: were they not found, the search would be blind."""
    data, dumps = tool_file("cubins", "deep.li.sm_90.cubin"), Dumps()
    base = cb.Cubin(data)
    code = next(s for s in base.sections if Ranges.is_code(s))
    secret = new_secret(rng)
    at = code.offset + 64
    yield "machine code", dumps.around(data[:at] + secret + data[at + 24:]), secret
    strings = base.sections[base.section(".symtab").link]
    symbols = base.bytes_of(base.section(".symtab"))
    at = strings.offset + struct.unpack_from("<I", symbols, 24 * base.functions[0].index)[0]
    secret = new_secret(rng, 12)
    yield "name of a function", dumps.around(data[:at] + secret + data[at + 12:]), secret
    secret = new_secret(rng)
    for form in ("string", "strp"):
        for tag, attribute in (("variable", "name"), ("subprogram", "linkage_name")):
            secret = new_secret(rng)
            parts = unit(entry=(tag, (attribute, form, secret.decode())))
            yield f"{attribute} of a {tag}, {form}", dumps.around(with_debug(data, *parts)), secret
    secret = new_secret(rng)
    parts = unit(("name", "string", f"/home/somebody/{secret.decode()}"))
    yield "name of a unit", dumps.around(with_debug(data, *parts)), secret
    for name in (b".debug_info", b".debug_line", b".nv_debug_line_sass"):
        secret, lines = new_secret(rng), base.section(".debug_line")
        image = with_sections(data[:at] + secret[:12] + data[at + 12:], (name, 1, 0, b""), rename={lines.index: b".x"})
        yield f"beside an empty {name.decode()}", dumps.around(image), secret[:12]
    secret = new_secret(rng)
    yield "name of a file", dumps.around(grown(data, ".debug_line", line_table([], [secret + b".cu"], END))), secret


def control(program, rng):
    """What the search does not find of what is kept, in each form that it knows."""
    lost = [place for place, dump, secret in controls(rng) if not find(program.strip(dump, SHARE), secret)]
    secret = new_secret(rng)
    text = secret.decode()
    for form in (secret[3:12], secret[::-1], secret.hex().encode(), secret.hex().upper().encode(), text.encode("utf-16-le"),
                 text.encode("utf-16-be"), base64.b64encode(secret), base64.b64encode(b"x" + secret),
                 base64.b64encode(b"xy" + secret), zlib.compress(secret), gzip.compress(b"..." + secret)):
        if not find(b"some bytes \0" + form + b"\0 and more", secret):
            lost.append(repr(form))
    return lost


# ---- the run ----

class Table:
    def __init__(self):
        self.rows, self.failures = {}, []

    def count(self, place, bad):
        row = self.rows.setdefault(place, [0, 0])
        row[0] += 1
        row[1] += bad is not None
        if bad is not None and len(self.failures) < 30:
            self.failures.append(f"{place}: {bad}")

    def print(self):
        for place, (planted, out) in sorted(self.rows.items()):
            print(f"# {planted:6} {out:4}  {place}")
        for failure in self.failures:
            print(f"# FAILED {failure}")
        print(f"# planted {sum(r[0] for r in self.rows.values())} secrets in {len(self.rows)} places, "
              f"{sum(r[1] for r in self.rows.values())} got out")


def all_plants(rng, everything):
    yield from image_plants(rng, everything)
    yield from mode_plants(rng)
    yield from scenario_plants(rng, everything)
    for place, dump, secret in dump_plants(rng, everything):
        yield place, dump, secret, ISSUE, None, 0


def run(program, table, rng, share, everything):
    for place, dump, secret, options, sizes, kind in all_plants(rng, everything):
        if rng.random() >= share and not (place not in table.rows and not everything and rng.random() < 0.35):
            continue
        if secret not in dump and not any(look in dump for look in looks(secret)) and not any(
                secret in stream for stream in streams(dump)):
            raise AssertionError(f"{place}: nothing was planted")
        try:
            result = program.strip(dump, options)
            if sizes is not None:
                image_checked(result, sizes, kind)
            look = find(result, secret)
            table.count(place, look and f"{look!r} of {secret!r}")
        except AssertionError as why:
            table.count(place, str(why))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=14)
    arguments = parser.parse_args()
    table, rng = Table(), random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="ws-planted-") as folder:
        program = Program(arguments.program, folder)
        lost = control(program, rng)
        run(program, table, rng, 1.0 if arguments.all else 0.06, arguments.all)
    table.print()
    planted, out = sum(r[0] for r in table.rows.values()), sum(r[1] for r in table.rows.values())
    least = 5000 if arguments.all else 100
    print("1..3")
    print(f"{'not ok' if out else 'ok'} 1 - nothing planted gets out")
    print(f"{'ok' if planted >= least else 'not ok'} 2 - at least {least} secrets were planted")
    print(f"{'not ok' if lost else 'ok'} 3 - the search finds what is kept")
    for place in lost:
        print(f"# not found: {place}")
    return 1 if out or planted < least or lost else 0


if __name__ == "__main__":
    sys.exit(main())
