#!/usr/bin/env python3
"""The built program and library have what makes a bug in them hard to use. Prints TAP.

usage: test_hardening.py WARPSCOPE LIBRARY SOURCE_ROOT BUILD SANITIZER OPTIMIZATION
"""
import json
import os
import re
import struct
import subprocess
import sys

PT_LOAD, PT_DYNAMIC, PT_GNU_STACK, PT_GNU_RELRO, PT_GNU_PROPERTY = 1, 2, 0x6474e551, 0x6474e552, 0x6474e553
DT_NEEDED, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_TEXTREL, DT_FLAGS, DT_FLAGS_1 = 1, 5, 6, 10, 22, 30, 0x6ffffffb
BIND_NOW, NOW_1, PIE_1 = 8, 1, 0x08000000
WRITE, EXECUTE = 2, 1
SHADOW_STACK = 2
ENDBR64, BTI = b'\xf3\x0f\x1e\xfa', (0xd503245f, 0xd503233f, 0xd50324df)
X86, ARM = 62, 183


class Elf:
    def __init__(self, path):
        with open(path, 'rb') as file:
            self.bytes = file.read()
        self.type, self.machine = struct.unpack_from('<HH', self.bytes, 16)
        at, size, count = struct.unpack_from('<Q', self.bytes, 32)[0], *struct.unpack_from('<HH', self.bytes, 54)
        rows = [struct.unpack_from('<IIQQQQQQ', self.bytes, at + i * size) for i in range(count)]
        self.segments = [dict(zip(('type', 'flags', 'off', 'addr', 'paddr', 'bytes'), row)) for row in rows]
        dynamic = self.segment(PT_DYNAMIC)
        pairs = [struct.unpack_from('<QQ', self.bytes, dynamic['off'] + i) for i in range(0, dynamic['bytes'], 16)]
        self.dynamic = dict(reversed(pairs))

    def segment(self, kind):
        return next((segment for segment in self.segments if segment['type'] == kind), None)

    def off(self, addr):
        return next(s['off'] + addr - s['addr'] for s in self.segments
                    if s['type'] == PT_LOAD and s['addr'] <= addr < s['addr'] + s['bytes'])

    def symbols(self):
        """Name -> address, of the dynamic table, which ends where its strings begin."""
        start, names = self.off(self.dynamic[DT_SYMTAB]), self.off(self.dynamic[DT_STRTAB])
        found = {}
        for at in range(start, names, 24):
            name, _, _, _, value, _ = struct.unpack_from('<IBBHQQ', self.bytes, at)
            found[self.bytes[names + name:self.bytes.index(b'\0', names + name)].decode()] = value
        return found

    def properties(self):
        """x86 features that the loader is told of."""
        note = self.segment(PT_GNU_PROPERTY)
        at = note['off'] + 16 if note else 0
        while note and at + 8 <= note['off'] + note['bytes']:
            kind, size = struct.unpack_from('<II', self.bytes, at)
            if kind == 0xc0000002:
                return struct.unpack_from('<I', self.bytes, at + 8)[0]
            at += 8 + (size + 7) // 8 * 8
        return 0


def of_file(name, elf, is_program, sanitized, fortified):
    flags, flags_1 = elf.dynamic.get(DT_FLAGS, 0), elf.dynamic.get(DT_FLAGS_1, 0)
    symbols = elf.symbols()
    stack = elf.segment(PT_GNU_STACK)
    if is_program:
        yield f'{name} is loaded anywhere', elf.type == 3 and flags_1 & PIE_1
    yield f'{name}: all is bound at the start', flags & BIND_NOW or flags_1 & NOW_1
    yield f'{name}: tables of the loader are read-only', elf.segment(PT_GNU_RELRO)
    yield f'{name}: no code on the stack', stack and not stack['flags'] & EXECUTE
    yield f'{name}: nothing is writable and executable', not any(
        s['flags'] & WRITE and s['flags'] & EXECUTE for s in elf.segments if s['type'] == PT_LOAD)
    yield f'{name}: code is not written to', DT_TEXTREL not in elf.dynamic and not flags & 4
    yield f'{name}: stacks are guarded', '__stack_chk_fail' in symbols
    if not sanitized and fortified:
        yield f'{name}: copies are checked', any(re.fullmatch(r'__(?!stack)\w+_chk', symbol) for symbol in symbols)
    if elf.machine == X86:
        yield f'{name}: shadow stacks are allowed', elf.properties() & SHADOW_STACK
    if not is_program:
        at = elf.off(symbols['ws_version'])
        mark = elf.bytes[at:at + 4]
        yield f'{name}: functions have landing pads', (mark == ENDBR64 if elf.machine == X86 else
                                                       struct.unpack('<I', mark)[0] in BTI)


def of_build(source, build):
    done = subprocess.run(['meson', 'introspect', '--buildoptions', os.path.join(source, 'meson.build')], capture_output=True,
                          check=True)
    options = {option['name']: option['value'] for option in json.loads(done.stdout)}
    yield 'a build is optimized unless asked otherwise', options['optimization'] in ('2', '3') and not options['debug']
    yield 'assertions stay', options['b_ndebug'] == 'false'
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
        commands = [entry['command'] for entry in json.load(file) if re.search(r'/(src|cli)/', entry['file'])]
    for flag in ('-fstack-protector-strong', '-fstack-clash-protection'):
        yield f'every file of ours is compiled with {flag}', commands and all(flag in command for command in commands)


def main():
    program, library, source, build, sanitizer, optimization = sys.argv[1:]
    if not sys.platform.startswith('linux'):
        print('1..0 # SKIP not ELF')
        return 0
    fortified = optimization not in ('0', 'g')
    cases = [*of_file('program', Elf(program), True, sanitizer != 'none', fortified),
             *of_file('library', Elf(library), False, sanitizer != 'none', fortified), *of_build(source, build)]
    print(f'1..{len(cases)}')
    for number, (name, good) in enumerate(cases, 1):
        print(f'{"ok" if good else "not ok"} {number} - {name}')
    return 0 if all(good for _, good in cases) else 1


if __name__ == '__main__':
    sys.exit(main())
