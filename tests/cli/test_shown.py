#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a page says of the values that it shows is true: test_shown.py PROGRAM TESTS [N]. Prints TAP.

The last sentence of a page, the same in every form, names what it shows of registers and memory. Here each planted dump (or every
Nth) is printed twice more with other values: once every word of global, shared and local memory is another, once every word of
registers that no shown operand of the JSON names. No new value may be on a page unless the JSON has it as one of the kinds that the
sentence names.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

PROGRAM, TESTS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
EVERY = int(sys.argv[3]) if len(sys.argv) > 3 else 1
sys.path.insert(0, os.path.join(TESTS, 'builders'))

import faults  # noqa: E402
import hangs  # noqa: E402
import reader  # noqa: E402

FOOT = ('Shown of registers and memory: kernel parameters, pointers, the addresses, descriptors and guards of accesses with the '
        'values that they are computed from, and the words and barriers that findings name; nothing else.')
FORMS = ('text', 'md', 'html')
MEMORY, REGISTERS = (1, 2, 3, 4), (5, 19)  # types of sections
SHOWN_USES = ('address', 'descriptor', 'guard')
# What the sentence names -> where the JSON has it: of kernels, exceptions, accesses, waits.
NAMED = {'kernel parameters': ('params',), 'pointers': ('variables', 'owner', 'below', 'above'),
         'addresses': ('address', 'first_address', 'last_address', 'where', 'index', 'address_claim', 'target_block'),
         'findings name': ('findings', 'likely_causes', 'needs', 'value', 'until', 'object', 'evidence', 'text', 'missing_text', 'claim')}


def said(folder, dump, *words):
    path = os.path.join(folder, 'd.nvcudmp')
    with open(path, 'wb') as handle:
        handle.write(dump)
    done = subprocess.run([PROGRAM, 'report', '--no-source', '--all', *words, path], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def with_secrets(data, kinds, spare=()):
    """The dump with other words in sections of these types but for the registers of `spare`; and {word} that were put there."""
    out, planted, number = bytearray(data), set(), 0
    for section in reader.Reader(data).sections[1:]:
        if section.type - reader.BASE not in kinds:
            continue
        for at in range(0, section.size - 3, 4):
            name = ('R' if section.type - reader.BASE == 5 else 'UR') + str(at // 4)
            if name in spare:
                continue
            number += 1
            word = 0x5ec00000 | number * 0x9e3779b1 & 0xfffff if kinds == REGISTERS else 0x20000000 + number * 0x9e3779b1 % 0x5fffffff
            struct.pack_into('<I', out, section.offset + at, word)
            planted.add(word)
    return bytes(out), planted


def words_of(text, planted):
    """The planted words that a text has: in hexadecimal digits, of one word or two, in either order of bytes; in decimal digits."""
    found = set()
    for digits in re.findall(r'(?<![0-9a-fA-F])(?:0x)?([0-9a-fA-F]{7,16})(?![0-9a-fA-F])', text):
        number = int(digits, 16)
        found |= {number & 0xffffffff, number >> 32}
        if len(digits) in (8, 16):
            swapped = int.from_bytes(bytes.fromhex(digits), 'little')
            found |= {swapped & 0xffffffff, swapped >> 32}
    for digits in re.findall(r'(?<![0-9a-fA-Fx])-?[0-9]{7,20}(?![0-9a-fA-F])', text):
        number = int(digits) & (1 << 64) - 1
        found |= {number & 0xffffffff, number >> 32}
    return found & planted


def kept(value, keys):
    """The parts of a JSON value that are below one of the keys, as text; shown operands are addresses."""
    if isinstance(value, list):
        return ''.join(kept(one, keys) for one in value)
    if not isinstance(value, dict):
        return ''
    out = ''
    for key, inner in value.items():
        if key in keys:
            out += json.dumps(inner) + ' '
        elif key == 'operands':
            out += ''.join(json.dumps(one) for one in inner if one['use'] in SHOWN_USES)
        else:
            out += kept(inner, keys)
    return out


def registers_shown(report):
    """Registers of operands that are shown, as their names and those of pairs name them; what they are computed from is not known
    here, so that the words of an index are taken from the claims."""
    out = set()
    for access in (a for e in report['exceptions'] for a in e['accesses'] or []):
        for operand in access['operands']:
            if operand['use'] in SHOWN_USES:
                for kind, number, wide in re.findall(r'\b(U?R)(\d+)(\.64)?', operand['name']):
                    out |= {f'{kind}{int(number) + i}' for i in range(2 if wide else 1)}
    return out


def check(folder, name, dump):
    bad, seen = [], set()
    report = json.loads(said(folder, dump, '--format', 'json'))
    seen |= {phrase for phrase, keys in NAMED.items() if re.search(r'[0-9]', kept(report, keys))}
    for kinds, spare in ((MEMORY, ()), (REGISTERS, registers_shown(report))):
        other, planted = with_secrets(dump, kinds, spare)
        page = json.loads(said(folder, other, '--format', 'json'))
        named = words_of(kept(page, [key for keys in NAMED.values() for key in keys]), planted)
        for form in FORMS:
            text = said(folder, other, '--format', form)
            bad += [f'{name}, {form}: not the last sentence'] if ' '.join(text.split()).count(FOOT) != 1 else []
            shown = words_of(text, planted)
            bad += [f'{name}, {form}: shows {word:#x}' for word in shown - named][:3]
    return bad, seen


def dumps():
    number = 0
    for maker in (faults, hangs):
        for kind in maker.kinds():
            image = maker.cubin(kind)
            for state in maker.states(kind):
                number += 1
                if number % EVERY == 0:
                    yield f'{kind}.{state["kernel"]}', maker.build(kind, state, image)[0]
    for name in sorted(os.listdir(os.path.join(TESTS, '..', 'examples', 'dumps'))):
        if name.endswith('.nvcudmp'):
            with open(os.path.join(TESTS, '..', 'examples', 'dumps', name), 'rb') as handle:
                yield name, handle.read()


def quoted():
    """The help and the manual quote the sentence."""
    for path in (('cli', 'help', 'report.txt'), ('docs', 'man', 'warpscope-report.1.scd')):
        with open(os.path.join(TESTS, '..', *path), encoding='utf-8') as handle:
            if FOOT not in ' '.join(handle.read().split()):
                yield '/'.join(path)


def main():
    bad, seen, n = [], set(), 0
    with tempfile.TemporaryDirectory(prefix='ws-shown-') as folder:
        for name, dump in dumps():
            more, phrases = check(folder, name, dump)
            bad, seen, n = bad + more, seen | phrases, n + 1
    for problem in bad[:30]:
        print('#', problem)
    missing = [phrase for phrase in seen if phrase not in FOOT]
    lacking = list(quoted())
    print(f'{"not ok" if bad or n == 0 else "ok"} 1 - pages of {n} dumps show what their last sentence names and nothing else')
    print(f'{"not ok" if missing or not seen else "ok"} 2 - what pages show is named: {sorted(seen)}')
    print(f'{"not ok" if lacking else "ok"} 3 - the help and the manual say the same {lacking}')
    print('1..3')
    return 1 if bad or missing or lacking else 0


if __name__ == '__main__':
    sys.exit(main())
