#!/usr/bin/env python3
"""Plants names into images and dumps that want to be more than text: control sequences, line breaks, text direction,
characters that are not seen, bytes that are no UTF-8, markup; short ones and ones of 4 kB.

usage: hostile.py OUTDIR

Writes OUTDIR/KIND.nvcudmp and OUTDIR/KIND.N.cubin for each kind of name and each dump of SCENARIOS. Every string that a
file of these kinds has is given a planted part: names of functions, sections, files, folders and inlined calls, notes, debug
information, the device, the driver's own words, memory.
"""
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import coredump  # noqa: E402
import cubin as cb  # noqa: E402
import dwarf  # noqa: E402
import shapes  # noqa: E402,F401
from scenarios import SCENARIOS as ALL  # noqa: E402

# Each begins with a mark that a test finds again in the output, so that it knows that the name was shown.
CONTROL = (b'\x1b]0;owned\x07', b'\x1b[31m', b'\r', b'\nINJECTED', b'\x08', b'\x7f', b'\x0b', b'\xc2\x85', b'\xc2\x9b31m', b'\x9b31m')
HIDDEN = tuple(c.encode() for c in '\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff\u00ad\ufe0f\U000e0041')
BROKEN = (b'\xff', b'\xc0\x80', b'\xed\xa0\x80', b'\xe2\x80', b'\xf4\x90\x80\x80')
MARKUP = (b'<script>alert(1)</script>', b'<img src=x onerror=alert(1)>', b'](http://evil.example)', b'![x](http://evil.example/x.png)',
          b'@someone', b'#123', b'http://evil.example/', b'www.evil.example', b'**', b'__', b'`', b'```', b'|', b'*/', b'--><!--',
          b'</code></pre>', b'&#x202e;', b'\n\n# INJECTED\n\n* INJECTED\n\n', b'\\', b'"];', b'$(x)', b'%s%n')
KINDS = {
    'control': b'MARK' + b''.join(CONTROL),
    'hidden': b'MARK' + b''.join(HIDDEN + BROKEN),
    'markup': b'MARK' + b' '.join(MARKUP),
    'long': (b'MARK' + b''.join(CONTROL + HIDDEN + MARKUP + BROKEN))[:400] * 10,
}
SCENARIOS = ('illegal-address', 'misaligned-G', 'assert', 'hang', 'linked', 'no-lines')


def header_names(raw, at, plant):
    """A header's list of names from `at` on, planted: (bytes, where it ends). Each name is followed by nothing."""
    out = b''
    while raw[at]:
        name = raw[at:raw.index(b'\0', at)]
        at += len(name) + 1
        out += plant(name) + b'\0'
    return out + b'\0', at + 1


def header_files(raw, at, plant):
    """The same for files, whose names are followed by folder, time and size."""
    out = b''
    while raw[at]:
        name = raw[at:raw.index(b'\0', at)]
        at += len(name) + 1
        numbers = []
        for _ in range(3):
            number, at = cb._uleb(raw, at)
            numbers.append(number)
        name, *numbers = plant(name, *numbers)
        out += name + b'\0' + b''.join(dwarf.uleb(n) for n in numbers)
    return out + b'\0', at + 1


def line_tables(raw, plant, plant_file):
    """.debug_line (version 2 to 4) with planted folders and files; (bytes, [(from, by)]: where later bytes went)."""
    out, at, moved = b'', 0, []
    while at < len(raw):
        length, version, header = struct.unpack_from('<IHI', raw, at)
        names = at + 14 + raw[at + 14] + (version >= 4)
        folders, files_at = header_names(raw, names, plant)
        files, files_end = header_files(raw, files_at, plant_file)
        end = at + 10 + header
        files += raw[files_end:end]
        grown = len(folders + files) - (end - names)
        out += struct.pack('<IHI', length + grown, version, header + grown) + raw[at + 10:names] + folders + files
        moved.append((end, len(out) - end))
        out += raw[end:at + 4 + length]
        at += 4 + length
    return out, moved


def overwritten(raw, planted, least=4):
    """Strings of a table with as much of the planted part in their middle as they have room for."""
    out = bytearray(raw)
    for m in re.finditer(rb'[\x20-\x7e]{%d,}' % least, raw):
        part = planted.replace(b'\0', b'')[4:4 + len(m.group()) - 2]
        out[m.start() + 1:m.start() + 1 + len(part)] = part
    return bytes(out)


class Image:
    """One image whose string tables and line tables are written anew behind its end; nothing else moves."""

    def __init__(self, data, planted):
        self.plain, self.data, self.planted = cb.Cubin(data), bytearray(data), planted
        self.names = sorted({s.name for s in self.plain.functions}, key=len, reverse=True)

    def file(self, name):
        """A path stays one: its last name is what begins with the planted part, its suffix stays."""
        stem, dot, suffix = name.rpartition(b'.')
        planted = self.planted.replace(b'\0', b'').replace(b'/', b'|')
        return (stem or suffix) + planted + (dot + suffix if dot else b'')

    def name(self, text):
        """A symbol's or section's name; a mangled one stays valid C++."""
        raw = text.encode('utf-8', 'surrogateescape')
        for function in self.names:
            if function in text:
                known = function.encode('utf-8', 'surrogateescape')
                m = re.match(rb'_Z(\d+)', known)
                size = int(m.group(1)) if m else 0
                body = known[m.end():] if m else known
                hostile = b'_Z%d' % (size + len(self.planted)) + body[:size] + self.planted + body[size:] if m else \
                    known + self.planted
                return raw.replace(known, hostile)
        return raw if raw.startswith((b'.', b'$')) or not raw else raw + self.planted

    def replace(self, section, content):
        self.data += bytes(-len(self.data) % 16)
        struct.pack_into('<QQ', self.data, self.plain.shoff + 64 * section.index + 24, len(self.data), len(content))
        self.data += content

    def string_tables(self):
        plain, tables = self.plain, {}

        def put(table, text):
            content = tables.setdefault(table, bytearray(plain.bytes_of(plain.sections[table])))
            at = len(content)
            content.extend(self.name(text) + b'\0')
            return at

        for section in plain.sections[1:]:
            struct.pack_into('<I', self.data, plain.shoff + 64 * section.index, put(plain.shstrndx, section.name))
        table = next(s for s in plain.sections if s.type == cb.SHT_SYMTAB)
        for symbol in plain.symbols[1:]:
            if symbol.name:
                struct.pack_into('<I', self.data, table.offset + 24 * symbol.index, put(table.link, symbol.name))
        for index, content in tables.items():
            self.replace(plain.sections[index], bytes(content))

    def lines(self, plant=None, plant_file=None):
        section = self.plain.section('.debug_line')
        if section is None:
            return
        content, moved = line_tables(self.plain.bytes_of(section), plant or self.file,
                                     plant_file or (lambda name, *numbers: (self.file(name), *numbers)))
        self.replace(section, content)
        for reloc in self.plain.relocs:
            if reloc.target == section.index:
                raw = self.plain.sections[reloc.section.index]
                by = max((m for m in moved if m[0] <= reloc.offset), default=(0, 0))[1]
                width = 24 if raw.type == cb.SHT_RELA else 16
                for at in range(raw.offset, raw.offset + raw.size, width):
                    if struct.unpack_from('<Q', self.plain.data, at)[0] == reloc.offset:
                        struct.pack_into('<Q', self.data, at, reloc.offset + by)

    def others(self):
        for section in self.plain.sections:
            if section.name in ('.debug_str', '.note.nv.tkinfo', '.comment', '.nv_debug_ptx_txt'):
                at = section.offset
                self.data[at:at + section.size] = overwritten(self.plain.bytes_of(section), self.planted)
            elif section.name == '.debug_info':
                at = section.offset
                self.data[at:at + section.size] = overwritten(self.plain.bytes_of(section), self.planted, 5)

    def bytes(self):
        self.others()
        self.lines()
        self.string_tables()
        return bytes(self.data)


def image(data, planted):
    return Image(data, planted).bytes()


def with_source(name, old, path, size, mtime):
    """A dump of a scenario in which the source file `old` (its last name) is said to be `path`, of a size and time."""
    built = ALL[name][0]()
    for device in built.model.devices:
        for context in device.contexts or ():
            for module in context.modules or ():
                for form in ('relocated', 'image'):
                    if getattr(module, form) is not None:
                        one = Image(getattr(module, form), b'')
                        one.lines(lambda folder: folder,
                                  lambda n, *numbers: (path, 0, mtime, size) if n.endswith(old) else (n, *numbers))
                        setattr(module, form, bytes(one.data))
    return coredump.write(built.model, built.options)


def dump(name, planted):
    """(bytes of the dump, [its images as they were compiled])"""
    built = ALL[name][0]()
    options, images = built.options, []
    for device in built.model.devices:
        for field in ('devName', 'devType', 'smType'):
            device.row[field] = (device.row[field].encode() + planted).decode('utf-8', 'surrogateescape')
        for context in device.contexts or ():
            for module in context.modules or ():
                if module.relocated is not None:
                    module.relocated = image(module.relocated, planted)
                if module.image is not None:
                    module.image = image(module.image, planted)
                    images.append(module.image)
        for sm in device.sms or ():
            if sm.row.get('exception'):
                sm.row['exceptionString'] = planted.decode('utf-8', 'surrogateescape')
    for number, block in enumerate(built.model.memory or ()):
        text = re.sub(rb'[\x20-\x7e]{6,}', lambda m: overwritten(m.group(), planted), block.data)
        block.data = planted[:len(text)] + text[len(planted):] if number == 0 and len(text) > len(planted) else text
    built.model.meta['generatorName'] = 'maker ' + planted.decode('utf-8', 'surrogateescape')
    writer = coredump.Writer(built.model, options)
    build = writer.build

    def build_named():
        build()
        for section in writer.sections:
            section.name += planted.decode('utf-8', 'surrogateescape')

    writer.build = build_named
    return writer.emit(), images


def main():
    folder = sys.argv[1]
    for kind, planted in KINDS.items():
        for name in SCENARIOS:
            data, images = dump(name, planted)
            with open(os.path.join(folder, f'{kind}.{name}.nvcudmp'), 'wb') as file:
                file.write(data)
            for number, one in enumerate(images):
                with open(os.path.join(folder, f'{kind}.{name}.{number}.cubin'), 'wb') as file:
                    file.write(one)


if __name__ == '__main__':
    main()
