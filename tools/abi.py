#!/usr/bin/env python3
"""The ABI of the library as text, one line a function, structure or enumeration, and what differs from another one.

usage: abi.py --write FILE HEADER... -- CC...        describes what the headers declare, as the compiler lays it out
       abi.py OLD NEW [VERSION]                      reports what differs; exit status 1 from version 1.0 on if something that was there
                                                     is gone or other

data/abi.txt is that of the last release; before 1.0 nothing is promised, and differences are only reported.
"""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def exported(headers):
    spec = importlib.util.spec_from_file_location('exports', os.path.join(HERE, 'check-exports.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return sorted(name for name in module.of_headers(headers) if name.startswith('ws_'))


def entries(text):
    """What readelf says of debug information: offset -> entry with tag, attributes, children."""
    found, stack = {}, []
    for line in text.splitlines():
        head = re.match(r' <(\w+)><(\w+)>: Abbrev Number: \d+ \((\w+)\)', line)
        if head:
            depth, entry = int(head[1], 16), {'tag': head[3], 'children': []}
            found[int(head[2], 16)] = entry
            del stack[depth:]
            if stack:
                stack[-1]['children'].append(entry)
            stack.append(entry)
        one = re.match(r'    <\w+> +DW_AT_(\w+) *: (?:\(.*?\):? )*([^\t]*?)\s*(?:\t.*)?$', line)
        if one and stack:
            stack[-1][one[1]] = one[2]
    return found


class Layout:
    def __init__(self, found):
        self.found = found

    def type_of(self, entry):
        return self.found[int(re.match('<(\\w+)>', entry['type'])[1], 16)] if 'type' in entry else None

    def words(self, entry):
        """A type in the words of C, as far as two versions have to be told apart."""
        if entry is None:
            return 'void'
        tag = entry['tag'].removeprefix('DW_TAG_').removesuffix('_type')
        if tag in ('base', 'typedef', 'unspecified'):
            return entry['name']
        if tag in ('structure', 'union', 'enumeration'):
            kind = {'structure': 'struct', 'enumeration': 'enum'}.get(tag, tag)
            return f'{kind} {entry["name"]}' if 'name' in entry else kind + ' {' + self.members(entry) + '}'
        inner = self.words(self.type_of(entry))
        if tag == 'pointer':
            return inner + ' *' if '(*)' not in inner else inner.replace('(*)', '(**)', 1)
        if tag == 'array':
            return inner + ''.join(f'[{int(child["upper_bound"], 0) + 1 if "upper_bound" in child else ""}]' for child in entry['children'])
        if tag == 'subroutine':
            return f'{inner} (*)({self.parameters(entry)})'
        return {'const': 'const ', 'volatile': 'volatile ', 'restrict': 'restrict '}[tag] + inner

    def parameters(self, entry):
        return ', '.join('...' if child['tag'] == 'DW_TAG_unspecified_parameters' else self.words(self.type_of(child))
                         for child in entry['children']) or 'void'

    def members(self, entry):
        if entry['tag'] == 'DW_TAG_enumeration_type':
            return ', '.join(f'{child["name"]} = {child["const_value"]}' for child in entry['children'])
        return ', '.join(f'{child.get("data_member_location", 0)} {self.words(self.type_of(child))} {child.get("name", "")}'.rstrip()
                         for child in entry['children'])

    def lines(self):
        for entry in self.found.values():
            name = entry.get('name', '')
            if entry['tag'] == 'DW_TAG_variable' and name.startswith('abi_ws_'):
                target = self.type_of(self.type_of(entry))
                if target['tag'] == 'DW_TAG_subroutine_type':
                    yield f'function {name[4:]}: {self.words(self.type_of(target))} ({self.parameters(target)})'
                else:
                    yield f'object {name[4:]}: {self.words(target)}'
            elif name.startswith('ws_') and 'byte_size' in entry and entry['children']:
                yield f'{self.words(entry)}: {entry["byte_size"]} bytes: {self.members(entry)}'
            elif entry['tag'] == 'DW_TAG_typedef' and name.startswith('ws_'):
                yield f'typedef {name}: {self.words(self.type_of(entry))}'


def describe(headers, compiler):
    includes = sorted({'-I' + os.path.dirname(os.path.dirname(os.path.abspath(header))) for header in headers})
    with tempfile.TemporaryDirectory() as folder:
        source, made = os.path.join(folder, 'abi.c'), os.path.join(folder, 'abi.o')
        with open(source, 'w', encoding='utf-8') as out:
            out.writelines(f'#include <warpscope/{os.path.basename(header)}>\n' for header in headers)
            out.writelines(f'__typeof__({name}) *abi_{name};\n' for name in exported(headers))
        subprocess.run([*compiler, '-std=gnu11', '-gdwarf-5', '-fno-eliminate-unused-debug-types', *includes, '-c', source, '-o', made], check=True)
        text = subprocess.run(['readelf', '--debug-dump=info', '-W', made], capture_output=True, check=True, text=True,
                              env={**os.environ, 'LC_ALL': 'C'}).stdout
    return sorted(set(Layout(entries(text)).lines()))


def read(path):
    with open(path, encoding='utf-8') as file:
        return dict(line.rstrip('\n').split(': ', 1) for line in file if not line.startswith('#'))


def differences(old, new):
    """(What happened, name, whether a program that was built before can notice)"""
    for name in sorted(old.keys() | new.keys()):
        if name not in old:
            yield 'new', name, False
        elif name not in new:
            yield 'gone', name, True
        elif old[name] != new[name]:
            grown = name.startswith('enum ') and new[name].startswith(old[name] + ', ')
            yield 'grown' if grown else 'other', name, not grown


def main():
    if sys.argv[1] == '--write':
        at = sys.argv.index('--')
        lines = describe(sys.argv[3:at], sys.argv[at + 1:])
        with open(sys.argv[2], 'w', encoding='utf-8') as out:
            out.write('# Made by tools/abi.py: what the public headers declare, on a 64-bit machine. Nothing is promised before 1.0.\n')
            out.writelines(line + '\n' for line in lines)
        return 0
    old, new = read(sys.argv[1]), read(sys.argv[2])
    found = list(differences(old, new))
    for what, name, _ in found:
        print(f'{what:5}  {name}')
    print(f'{len(new)} functions and types; {len(found)} differ')
    version = sys.argv[3] if len(sys.argv) > 3 else '0'
    return 1 if int(version.split('.')[0]) >= 1 and any(breaks for _, _, breaks in found) else 0


if __name__ == '__main__':
    sys.exit(main())
