#!/usr/bin/env python3
"""`warpscope as`: what `disas --asm` writes of a cubin gives its machine code and attributes again, read by a reader that
is not the library's. Mistakes, output files, JSON. Prints TAP.

usage: test_assemble.py WARPSCOPE TESTS
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

import schemas

COUNTS = {'registers': 0x2f, 'frame': 0x11, 'stack': 0x12}
CODE_RELOCS = {56: 'low', 57: 'high', 58: 'call', 75: 'call'}


class Tests:
    def __init__(self):
        self.number = self.failed = 0

    def result(self, name, why):
        """`why`: None when it is as it should be."""
        self.number += 1
        self.failed += why is not None
        print(f'{"ok" if why is None else "not ok"} {self.number} - {name}')
        if why is not None:
            print(f'# {why}')

    def skip(self, name, why):
        self.number += 1
        print(f'ok {self.number} - {name} # SKIP {why}')


def run(*command, **more):
    return subprocess.run(command, capture_output=True, check=False, timeout=120, **more)


def attributes(image, section):
    """[(number, value)] of a section of .nv.info."""
    data, at, out = image.bytes_of(section), 0, []
    while at + 4 <= len(data):
        kind, number, value = data[at], data[at + 1], int.from_bytes(data[at + 2:at + 4], 'little')
        at += 4
        if kind == 4:
            value, at = data[at:at + value], at + value
        out.append((number, value))
    return out


def word(data, at):
    return int.from_bytes(data[at:at + 4], 'little')


def branches(said):
    """[(branch, target)] of the attributes of a function."""
    for number, value in said:
        at = 0
        while number == 0x34 and at < len(value):
            n = word(value, at + 8)
            yield from ((word(value, at), word(value, at + 12 + 4 * i)) for i in range(n))
            at += 12 + 4 * n


def facts(image):
    """What must be the same in both images, by function."""
    out = {}
    general = attributes(image, image.section('.nv.info'))
    for symbol in image.symbols:
        if symbol.kind != 2 or symbol.shndx == 0:
            continue
        code = image.sections[symbol.shndx]
        own = next(s for s in image.sections if s.name == '.nv.info' + code.name[5:])
        said = attributes(image, own)
        shared = next((s.size for s in image.sections if s.name == '.nv.shared' + code.name[5:]), 0)
        relocs = sorted((r.offset, CODE_RELOCS.get(r.kind, r.kind), image.symbols[r.symbol].name, r.addend or 0)
                        for r in image.relocs if r.target == symbol.shndx)
        fact = {
            'kernel': bool(symbol.other & 0x10), 'place': (code.name, symbol.value, symbol.size),
            'code': image.bytes_of(code)[symbol.value:symbol.value + symbol.size],
            'params': sorted((n, v) for n, v in said if n in (0x17, 0x45)), 'bank': [(image.sections[image.symbols[word(v, 0)].shndx].name, v[4:]) for n, v in said if n == 0x0a],
            'bytes': [v for n, v in said if n == 0x19], 'barriers': [v for n, v in said if n == 0x4c],
            'shapes': sorted((n, v) for n, v in said if n in (0x05, 0x10, 0x3d)),
            'exits': sorted(word(v, i) for n, v in said if n == 0x1c for i in range(0, len(v), 4)),
            'shared': shared, 'constant0': [s.size for s in image.sections if s.name == '.nv.constant0' + code.name[5:]],
            'relocs': relocs, 'targets': sorted(branches(said)),
            'bank relocs': sorted((r.offset, r.kind, image.symbols[r.symbol].name) for r in image.relocs
                                  if image.sections[r.target].name == '.nv.constant0' + code.name[5:]),
        }
        for name, number in COUNTS.items():
            fact[name] = [word(v, 4) for n, v in general if n == number and word(v, 0) == symbol.index]
        out[symbol.name] = fact
    return out


def normal(found):
    """Without what the assembler does not say: frames of 0 bytes."""
    for fact in found.values():
        fact['frame'] = [v for v in fact['frame'] if v]
    return found


def writable(image):
    """(type, flags) of the program headers of what is written to."""
    size, count = struct.unpack_from('<HH', image.data, 54)
    headers = [struct.unpack_from('<II', image.data, image.phoff + i * size) for i in range(count)]
    return {(kind, flags) for kind, flags in headers if flags & 2}


def data_symbols(image):
    """What an object has of shared memory, and needs of others: names, types, bindings, places (what only the tool knows is weak)."""
    used = {r.symbol for r in image.relocs if image.sections[r.target].name.startswith('.text.')}
    shared = [s for s in image.symbols if s.other & 0x40 and s.shndx]
    needed = [s for s in image.symbols if s.index in used and s.shndx == 0 and s.kind != 2 and s.info >> 4 != 2]
    return {(s.name, s.info, s.other, s.value if s.shndx else 0, s.size if s.shndx else 0) for s in shared + needed}


FIXED = (0x1b, 0x35, 0x36, 0x37, 0x4a, 0x50, 0x5f)  # attributes that go by the architecture alone
OWN_ALIGNMENT = ('.nv.constant3', '.nv.global', '.nv.shared.')  # that of the data: the text has it, or rounds it up


def head(image):
    """Of the file: what it is, what its parts measure, those that are there."""
    header, of_program, count, of_section = struct.unpack_from('<HHHH', image.data, 52)
    return image.data[:32], header, of_section, of_program if count else 0, 0 if count else image.phoff


def headers(image):
    """Type, flags, address, entry size, alignment and what is named, by section; of symbol tables the number is the tool's."""
    out = {}
    for section in image.sections:
        of = image.sections[section.info].name if section.type in (4, 9) or section.flags & 0x40 else None
        align = None if section.name.startswith(OWN_ALIGNMENT) else section.align
        out[section.name] = (section.type, section.flags, section.addr, section.entsize, align, image.sections[section.link].name, of)
    return out


def segments(image):
    """Program headers: type, flags, addresses, alignment, whether more than the file has is there, and the sections inside."""
    size, count = struct.unpack_from('<HH', image.data, 54)
    for at in (image.phoff + i * size for i in range(count)):
        kind, flags, start, address, physical, have, room, align = struct.unpack_from('<IIQQQQQQ', image.data, at)
        inside = sorted(s.name for s in image.sections if s.flags & 2 and s.type != 8 and start <= s.offset
                        and s.offset + s.size <= start + have)
        itself = start <= image.phoff and image.phoff + count * size <= start + have
        yield kind, flags, address, physical, align, room - have, inside, itself


def calls(image):
    """[(caller, callee or marker)] of .nv.callgraph."""
    section = image.section('.nv.callgraph')
    data = image.bytes_of(section) if section else b''
    pairs = [(word(data, at), word(data, at + 4)) for at in range(0, len(data), 8)]
    return [(image.symbols[a].name, b - (1 << 32) if b >> 31 else image.symbols[b].name) for a, b in pairs]


def fixed(image, function):
    """Attributes of a function that nothing but the architecture decides, in their order."""
    said = attributes(image, image.section('.nv.info.' + function))
    return [(number, value) for number, value in said if number in FIXED]


def own_symbols(image):
    """Names of the sections that have a symbol."""
    return [image.sections[s.shndx].name for s in image.symbols if s.kind == 3]


def note(image, name):
    """Owner and type of a note, and what it holds; the strings of the one about the tool."""
    data = image.bytes_of(image.section(name))
    named, described, kind = struct.unpack_from('<III', data)
    held = data[12 + named:12 + named + described]  # a linked image has those of its objects behind it
    if len(held) != described or described % 4:
        return data[12:12 + named], kind, described, held
    if name.endswith('cuinfo'):
        return data[12:12 + named], kind, held[:2], held[4:]  # between them is the virtual architecture
    version, *offsets = struct.unpack_from('<6I', held)
    strings = held[24:]
    return data[12:12 + named], kind, version, [strings[at:strings.index(b'\0', at)] for at in offsets]


def structure(old, new):
    """None, or where an image is made otherwise than the compiler's."""
    if head(old) != head(new):
        return f'header {head(new)}, was {head(old)}'
    was, now = headers(old), headers(new)
    for name in was.keys() & now.keys():
        if was[name] != now[name]:
            return f'{name}: header {now[name]}, was {was[name]}'
    if sorted(own_symbols(new)) != sorted(now.keys() & set(own_symbols(new))) or not {n for n in now if n.startswith('.text.')} <= set(own_symbols(new)):
        return f'sections {own_symbols(new)} have symbols'
    if note(old, '.note.nv.cuinfo') != note(new, '.note.nv.cuinfo'):
        return f"note {note(new, '.note.nv.cuinfo')}, was {note(old, '.note.nv.cuinfo')}"
    *kept, said = note(new, '.note.nv.tkinfo')
    if kept != [b'NVIDIA Corp\0', 2000, 2] or [said[i] for i in (0, 1, 3)] != [b'', b'warpscope as', b''] or \
            said[4].rstrip(b'af ') != b'-arch sm_%d' % new.sm:
        return f'note {kept} {said}'
    action = [i.section('.nv.rel.action') for i in (old, new)]
    if all(action) and old.bytes_of(action[0]) != new.bytes_of(action[1]):
        return '.nv.rel.action'
    if old.sm < 90 and list(segments(old)) != list(segments(new)):  # later ones have more segments than the loader needs
        return f'segments {list(segments(new))}, were {list(segments(old))}'
    graph = [pair for pair in calls(old) if pair[1] != '__assertfail']
    if graph and graph != calls(new):
        return f'calls {calls(new)}, were {graph}'
    for function in new.functions:
        if function.other & 0x10 and sorted(fixed(old, function.name)) != sorted(fixed(new, function.name)):
            return f'{function.name}: {fixed(new, function.name)}, was {fixed(old, function.name)}'
    return None


def local_constants(image):
    """Names of the compiler's own constants, which the text does not have."""
    return {s.name for s in image.symbols if s.info >> 4 == 0 and s.shndx and '.nv.constant' in image.sections[s.shndx].name}


def round_trip(program, path, folder, cubin):
    """None, or how the image made of the disassembly differs."""
    source, made = os.path.join(folder, 'x.s'), os.path.join(folder, 'x.cubin')
    with open(source, 'wb') as out:
        out.write(run(program, 'disas', '--asm', path).stdout)
    done = run(program, 'as', source, '-o', made)
    if done.returncode or done.stdout or done.stderr:
        return f'exit status {done.returncode}: {done.stderr[:300]!r}'
    with open(path, 'rb') as before, open(made, 'rb') as after:
        old, new = cubin.Cubin(before.read()), cubin.Cubin(after.read())
    if (old.osabi, old.abi, old.sm) != (new.osabi, new.abi, new.sm):
        return 'another header'
    if new.flags >> 24 != new.section('.note.nv.cuinfo').index:
        return 'e_flags do not tell the section of .note.nv.cuinfo'
    old_facts, new_facts = normal(facts(old)), normal(facts(new))
    if old.type != new.type:
        return f'type {new.type}, was {old.type}'
    if not writable(new) <= writable(old):
        return f'writable segments {writable(new)}, were {writable(old)}'
    if old.type == 1:
        other = {s for s in data_symbols(old) ^ data_symbols(new) if s[0] not in local_constants(old)}
        if other:
            return f'symbols that differ: {other}'
    for name, fact in old_facts.items():
        for key, value in fact.items():
            have = new_facts.get(name, {}).get(key)
            if have != value:
                return f'{name}: {key} is {str(have)[:200]}, was {str(value)[:200]}'
    return structure(old, new) if old_facts.keys() == new_facts.keys() else 'other functions'


def rare_attributes(tests, program, folder, cubin):
    """What no committed cubin has: a stack that is not known, barriers of a device function."""
    made = os.path.join(folder, 'rare.cubin')
    text = b'.arch sm_90\n.kernel k\n.stack unknown\nEXIT\n.end\n.func f\n.barriers 16\nEXIT\n.end\n'
    done = run(program, 'as', '-', '-o', made, input=text)
    with open(made, 'rb') as image:
        found = facts(cubin.Cubin(image.read()))
    good = done.returncode == 0 and found['k']['stack'] == [0xffffffff] and found['f']['barriers'] == [16]
    tests.result('an unknown stack, and barriers of a device function', None if good else str(found))
    tests.result('both again', round_trip(program, made, folder, cubin))
    text = b'.arch sm_90\n.kernel k\n.maxntid 96, 2\n.reqntid 96, 2, 1\n.reqnctapercluster 2\nEXIT\n.end\n'
    run(program, 'as', '-', '-o', made, input=text)
    with open(made, 'rb') as image:
        found = facts(cubin.Cubin(image.read()))['k']['shapes']
    good = [(n, struct.unpack('<3I', v)) for n, v in found] == [(0x05, (96, 2, 1)), (0x10, (96, 2, 1)), (0x3d, (2, 1, 1))]
    tests.result('the shapes of blocks and clusters that a kernel was built for', None if good else str(found))
    tests.result('these again', round_trip(program, made, folder, cubin))
    call = ''.join(f'CALL.ABS.NOINC `({name})\n' for name in ('first', 'own', 'second', 'first'))
    image = assembled(program, folder, f'.arch sm_90\n.extern first\n.extern second\n.kernel k\n{call}EXIT\n.end\n.func own\nCALL.ABS.NOINC `(second)\n.end\n')
    image = cubin.Cubin(image)
    found = [[image.symbols[word(value, at)].name for at in range(0, len(value), 4)]
             for name in ('k', 'own') for number, value in attributes(image, image.section('.nv.info.' + name)) if number == 0x0f]
    tests.result('functions of others, each once', None if found == [['first', 'second'], ['second']] else str(found))


def hostile_names(tests, program, cubins, folder, cubin):
    """Names that are no words of the language: from an image to text and back, and the same bytes from the same text."""
    import hostile  # pylint: disable=import-outside-toplevel,import-error
    path, again = os.path.join(folder, 'hostile.cubin'), os.path.join(folder, 'again.cubin')
    for kind, planted in hostile.KINDS.items():
        for name in ('calls.G.sm_90.cubin', 'linked.li.sm_80.cubin'):
            with open(os.path.join(cubins, name), 'rb') as plain, open(path, 'wb') as out:
                out.write(hostile.image(plain.read(), planted))
            why = round_trip(program, path, folder, cubin)
            with open(os.path.join(folder, 'x.cubin'), 'rb') as made, open(path, 'wb') as out:
                image = made.read()
                out.write(image)
            if why is None and planted not in image:
                why = 'the planted name is not in the image that was made'
            if why is None:
                text = run(program, 'disas', '--asm', path).stdout
                run(program, 'as', '-', '-o', again, input=text)
                with open(again, 'rb') as last:
                    why = None if last.read() == image else 'other bytes from the text of what was made'
            tests.result(f'{name} with {kind} names again', why)


def quoted_names(tests, program, folder, cubin):
    made = os.path.join(folder, 'quoted.cubin')
    text = (b'.arch sm_80\n.kernel "k\\x1B // \xc3\xa9"\n"a label":\nBRA `("a label")\nCALL.ABS.NOINC `("ab"+0x10)\nEXIT\n.end\n'
            b'.func "\\x61b"\n".end":\nEXIT\n.end\n')
    done = run(program, 'as', '-', '-o', made, input=text)
    if done.returncode:
        tests.result('names in quotes', str(done))
        return
    with open(made, 'rb') as image:
        found = cubin.Cubin(image.read())
    names = sorted(s.name.encode('utf-8', 'surrogateescape') for s in found.symbols if s.kind == 2)
    want = [b'ab', b'k\x1b // \xc3\xa9']
    tests.result('names in quotes', None if names == want else str(names))
    for bad in (b'"k', b'"k\\"', b'"k\\x1"', b'"k\\x00"', b'"k\\n"', b'"k\\xg0"'):
        done = run(program, 'as', '-', '-o', made, input=b'.arch sm_80\n.kernel ' + bad + b'\nEXIT\n.end\n')
        good = done.returncode == 1 and done.stderr.count(b'a name in quotes ends on its line') == 1
        tests.result(f'a mistake: {bad!r}', None if good else str(done))


def assembled(program, folder, text):
    """The image made of a text, or the finished process."""
    made = os.path.join(folder, 'made.cubin')
    done = run(program, 'as', '-', '-o', made, input=text.encode())
    if done.returncode:
        return done
    with open(made, 'rb') as image:
        return image.read()


def special_numbers(tests, program, folder, cubin):
    """Numbers that the printer writes with a blank behind them, in every place of an operand list."""
    for sm, lines in ((75, ('HFMA2 R0, -RZ, RZ, -0.0, -0.0', 'HADD2.F32 R0, -RZ, -0.0, -0.0', 'FSEL R0, RZ, -0.0, P0')),
                      (80, ('HFMA2.MMA R0, -RZ, RZ, -0.0, 0', 'HFMA2.MMA R0, -RZ, RZ, 1, -0.0', 'HADD2 R0, R1, -0.0, +INF',
                            'FSETP.GT.AND P0, PT, R0, -0.0, PT', 'FFMA R0, R1, +QNAN, R2', 'DADD R0, R2, -INF')),
                      (90, ('HFMA2.MMA R0, -RZ, RZ, -0.0, -0.0', 'HADD2 R0, R1, -QNAN, -0.0')),
                      (120, ('HFMA2 R0, -RZ, RZ, -0.0, -0.0', 'HFMA2 R0, R1, +INF, -0.0, R2'))):
        for line in lines:
            text = f'.arch sm_{sm}\n.kernel k\n\t%s\n.end\n'
            tight, spaced = (assembled(program, folder, text % way) for way in (line, line.replace(',', ' ,')))
            why = None if isinstance(tight, bytes) and tight == spaced else f'{tight} {spaced}'[:300]
            if why is None:
                with open(os.path.join(folder, 'again.cubin'), 'wb') as out:
                    out.write(tight)
                why = round_trip(program, out.name, folder, cubin)
            if why is None and b'.word' in run(program, 'disas', '--asm', out.name).stdout:
                why = 'shown as a word'
            tests.result(f'sm_{sm}: {line}', why)


def long_names(tests, program, folder, cubin):
    """Names that fill a page, in calls, returns, relocations and tables of targets."""
    for n, byte in ((255, 'n'), (256, 'n'), (5000, 'n'), (16000, 'n'), (16000, '\\xe9')):
        kernel, inner, leaf = (f'"{c}{byte * (n - 1)}"' for c in 'kil')
        text = f""".arch sm_80
.extern "v{byte * (n - 1)}"
.kernel {kernel}
	MOV R20, 32@lo({kernel}+0x30)
	MOV R21, 32@hi({leaf})
	CALL.ABS.NOINC `({leaf})
	CALL.REL.NOINC `({inner})
	CALL.ABS.NOINC `("v{byte * (n - 1)}")
	.targets {kernel}
	.targets {inner}
	BRX R2 -0x60
	BRA `({kernel})
	EXIT
.inner {inner}
	RET.REL.NODEC R20 `({kernel})
{chr(10).join(["	NOP"] * 7)}
.end
.func {leaf}
	RET.ABS.NODEC R20 0x0
.end
"""
        image = assembled(program, folder, text)
        why = None if isinstance(image, bytes) else str(image)[:300]
        if why is None:
            with open(os.path.join(folder, 'again.cubin'), 'wb') as out:
                out.write(image)
            why = round_trip(program, out.name, folder, cubin)
        if why is None and b'.L_' in run(program, 'disas', '--asm', out.name).stdout:
            why = 'a function is called by a label'
        tests.result(f'names of {n} bytes, {byte!r}', why and why[-300:])


def code_behind_inner(tests, program, folder, cubin):
    """An inner function ends where its symbol says, also when code of the outer one follows."""
    text = """.arch sm_90
.kernel k
	CALL.REL.NOINC `(i)
	EXIT
.inner i
	RET.REL.NODEC R20 `(k)
.outer
	NOP
	NOP
.end
"""
    image = assembled(program, folder, text)
    if not isinstance(image, bytes):
        tests.result('code behind an inner function', str(image)[:300])
        return
    with open(os.path.join(folder, 'again.cubin'), 'wb') as out:
        out.write(image)
    sizes = {s.name: s.size for s in cubin.Cubin(image).functions}
    why = round_trip(program, out.name, folder, cubin)
    if why is None and (sizes.get('i') != 16 or b'.outer' not in run(program, 'disas', '--asm', out.name).stdout):
        why = f'sizes {sizes}'
    tests.result('code behind an inner function', why)


def symbols_of(image):
    """[(name, kind, binding, size, bytes)] of functions and data, with duplicates."""
    out = []
    for s in image.symbols:
        if s.kind in (1, 2):
            code = image.bytes_of(image.sections[s.shndx])[s.value:s.value + s.size] if s.kind == 2 and s.shndx else b''
            out.append((s.name, s.kind, s.info >> 4, s.size, code))
    return out


def twins(tests, program, cubins, folder, cubin):
    """Local symbols of one name stay two, and each relocation leads to its own."""
    with open(os.path.join(cubins, 'twins.none.sm_90.cubin'), 'rb') as data:
        old = cubin.Cubin(data.read())
    text = run(program, 'disas', '--asm', data.name).stdout
    image = assembled(program, folder, text.decode())
    if not isinstance(image, bytes):
        tests.result('symbols of one name', str(image)[:300])
        return
    new = cubin.Cubin(image)
    names = [s[0] for s in symbols_of(old)]
    twice = {n for n in names if names.count(n) > 1}
    found, wanted = (sorted(s for s in symbols_of(i) if s[0] in twice) for i in (new, old))
    tests.result('symbols of one name', None if found == wanted and len(twice) == 2 else f'{str(found)[:200]}, not {str(wanted)[:200]}')

    def leads(image):
        """[(code section, offset, name, how many bytes of it, which section of that name)]"""
        twin = {s.index: [t.index for t in image.symbols if t.name == s.name].index(s.index) for s in image.symbols if s.name in twice}
        return sorted((image.sections[r.target].name, r.offset, image.symbols[r.symbol].name, image.symbols[r.symbol].size,
                       twin.get(r.symbol, 0) if image.symbols[r.symbol].kind == 2 else 0)
                      for r in image.relocs if image.sections[r.target].name.startswith('.text'))
    tests.result('each is called by its own kernel', None if leads(new) == leads(old) else f'{leads(new)}, not {leads(old)}'[:500])


def shadows(tests, program, folder, cubin):
    """Functions that are called like the names that `disas --asm` makes up."""
    text = """.arch sm_90
.kernel k
	.param x 4
	.shared s 16
	MOV R0, 32@lo(".L_40")
	MOV R1, 32@lo(param_0)
	CALL.ABS.NOINC `(shared_memory)
	MOV R1, 32@lo(".L__40")
	BRA 0x50
	NOP
	EXIT
	NOP
.end
"""
    for name in ('.L_40', 'param_0', 'shared_memory', '.L__40'):
        text += f'.func {name}\n\tRET.ABS.NODEC R20 0x0\n.end\n'
    image = assembled(program, folder, text)
    why = None if isinstance(image, bytes) else str(image)[:300]
    if why is None:
        with open(os.path.join(folder, 'again.cubin'), 'wb') as out:
            out.write(image)
        why = round_trip(program, out.name, folder, cubin)
    tests.result('names like ours', why)


def told(tests, program, folder, cubin):
    """.reloc and .targets as they are written, and their mistakes."""
    text = '.arch sm_80\n.extern d data\n.kernel k\n\t.reloc 64 d+0xc\n\t.reloc 68 +280\n\t.targets k, there\nBRX R2 -0x10\nthere:\nEXIT\n.end\n'
    image = assembled(program, folder, text)
    if isinstance(image, bytes):
        found = cubin.Cubin(image)
        relocs = [(r.offset, r.kind, found.symbols[r.symbol].name, r.addend) for r in found.relocs]
        records = [v for n, v in attributes(found, found.section('.nv.info.k')) if n == 0x34]
        good = relocs == [(0, 64, 'd', 12), (0, 68, '', 280)] and \
            [word(records[0], i) for i in range(0, 20, 4)] == [0, 0, 2, 0, 16] and len(records) == 1
        tests.result('.reloc and .targets', None if good else f'{relocs} {records}')
    else:
        tests.result('.reloc and .targets', str(image))
    for line, wanted in (('.reloc 64 nobody\nEXIT', "nothing is named 'nobody'"), ('EXIT\n.reloc 64', 'no instruction follows'),
                         ('.reloc d', 'a number is needed'), ('.targets nobody\nEXIT', "nothing is named 'nobody'"),
                         ('.targets d\nEXIT', 'a place in the same function'), ('.targets\nEXIT', 'a name is needed'),
                         ('.bank0 0x160 6\nEXIT', 'a name is needed'), ('.bank0 0x10000 6 d\nEXIT', 'above'),
                         ('.bank0 0x160 6 nobody\nEXIT', "nothing is named 'nobody'"),
                         ('.reloc 64 d+\nEXIT', 'a name, maybe with'), ('.reloc 5000000000\nEXIT', 'above')):
        done = assembled(program, folder, f'.arch sm_80\n.extern d data\n.kernel k\n{line}\n.end\n')
        good = not isinstance(done, bytes) and wanted in done.stderr.decode()
        tests.result(f'a mistake: {line!r}', None if good else str(done)[:300])


def outputs(tests, program, data, folder):
    good, bad = (os.path.join(data, name + '.s') for name in ('everything', 'mistakes'))
    made = os.path.join(folder, 'made.cubin')
    answers = []
    for source, status in ((good, 0), (bad, 1)):
        done = run(program, 'as', '--json', source, '-o', made)
        answers.append(json.loads(done.stdout))
        tests.result(f'{os.path.basename(source)} ends with {status}', None if done.returncode == status else str(done))
    size = os.path.getsize(made)
    tests.result('the size is told', None if answers[0]['bytes'] == size else f'{answers[0]}, is {size}')
    tests.result('mistakes leave the old file', None if answers[1]['output'] is None and size else str(answers[1]))
    tests.result('each mistake is told', None if len(answers[1]['errors']) > 15 else str(answers[1]))
    for answer in answers:
        if schemas.INSTALLED:
            tests.result('the JSON fits its schema', schemas.misfit(answer))
        else:
            tests.skip('the JSON fits its schema', schemas.SKIPPED)
    with open(good, 'rb') as source:
        text = source.read()
    done = run(program, 'as', '-', '-o', made + '2', input=text)
    with open(made, 'rb') as a, open(made + '2', 'rb') as b:
        tests.result('the same text gives the same bytes, from standard input too',
                     None if done.returncode == 0 and a.read() == b.read() else str(done))
    copy = os.path.join(folder, 'copy.s')
    with open(copy, 'wb') as out:
        out.write(text)
    done = run(program, 'as', copy, '-o', copy)
    with open(copy, 'rb') as after:
        tests.result('the source is never written over', None if done.returncode == 1 and after.read() == text else str(done))


def main(program, folder_of_tests):
    sys.path.insert(0, os.path.join(folder_of_tests, 'builders'))
    import cubin  # pylint: disable=import-outside-toplevel
    tests = Tests()
    cubins = os.path.join(folder_of_tests, 'data/cubins')
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(os.listdir(cubins)):
            path = os.path.join(cubins, name)
            if not name.endswith('.cubin'):
                continue
            if name.startswith('twins'):
                continue  # its facts are not told apart by names
            tests.result(f'{name} again', round_trip(program, path, folder, cubin))
        rare_attributes(tests, program, folder, cubin)
        hostile_names(tests, program, cubins, folder, cubin)
        quoted_names(tests, program, folder, cubin)
        special_numbers(tests, program, folder, cubin)
        long_names(tests, program, folder, cubin)
        code_behind_inner(tests, program, folder, cubin)
        told(tests, program, folder, cubin)
        twins(tests, program, cubins, folder, cubin)
        shadows(tests, program, folder, cubin)
        outputs(tests, program, os.path.join(folder_of_tests, 'data/assembly'), folder)
    print(f'1..{tests.number}')
    return 1 if tests.failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:3]))
