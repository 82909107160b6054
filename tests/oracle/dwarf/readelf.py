#!/usr/bin/env python3
"""Functions, parameters, types and members as the library reads them, against what binutils' readelf prints (TAP).

usage: readelf.py DWARF_PRINT TESTS [CUBIN...]

Of the committed -G cubins, those of the folder WARPSCOPE_LINEMAP_CORPUS (linemap/build-corpus.sh), and what the compilers at
hand make: nvcc -G of tests/kernels and of types.cu, linked and not, and clang-14 with ptxas of scopes.cu. Names of types are
spelled here a second way: a declarator around a name, from the outside in.
"""
import glob
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ARCHES = (75, 80, 86, 89, 90, 100, 120, 121)
UNKNOWN = -1
SHOWN = 5

KINDS = {
    'base_type': 1, 'pointer_type': 2, 'reference_type': 3, 'rvalue_reference_type': 4, 'const_type': 5, 'volatile_type': 6,
    'restrict_type': 7, 'typedef': 8, 'structure_type': 9, 'class_type': 9, 'union_type': 10, 'enumeration_type': 11,
    'array_type': 12, 'subroutine_type': 13, 'ptr_to_member_type': 14, 'unspecified_type': 15,
}
QUALIFIERS = {'const_type': ' const', 'volatile_type': ' volatile', 'restrict_type': ' __restrict__'}
MARKS = {'pointer_type': '*', 'reference_type': '&', 'rvalue_reference_type': '&&', 'ptr_to_member_type': '*'}
SCOPES = ('namespace', 'structure_type', 'class_type', 'union_type')


class Entry:
    def __init__(self, tag, parent):
        self.tag, self.parent, self.children, self.at = tag, parent, [], {}

    def number(self, name, otherwise=None):
        text = self.at.get(name)
        return otherwise if text is None else int(text.split('\t')[0].split()[0].strip('<>'), 16 if text[0] == '<' else 0)

    def name(self):
        return self.at.get('name', '')


def parse(path):
    """offset -> Entry, of everything that readelf prints."""
    text = subprocess.run(['readelf', '--debug-dump=info', path], capture_output=True, text=True, check=True,
                          errors='replace').stdout
    entries, stack, now = {}, [], None
    for line in text.splitlines():
        start = re.match(r' *<([0-9a-f]+)><([0-9a-f]+)>: Abbrev Number: (\d+)(?: \(DW_TAG_(\w+)\))?', line)
        if start:
            level, offset = int(start[1], 16), int(start[2], 16)
            del stack[level:]
            if start[3] != '0':
                now = Entry(start[4], stack[-1] if stack else None)
                if stack:
                    stack[-1].children.append(now)
                now.offset = offset
                entries[offset] = now
                stack.append(now)
            continue
        attribute = re.match(r' +<[0-9a-f]+>   DW_AT_(\w+) *: ?(.*)', line)
        if attribute and now:
            now.at[attribute[1]] = attribute[2]
    return entries


class Reading:
    def __init__(self, path):
        self.entries = parse(path)
        mangled = {e.name() for e in self.entries.values() if e.name().startswith('_Z')}
        mangled |= {'_Z' + e.name()[6:] for e in self.entries.values() if e.name().startswith('__SO__')}
        mangled = sorted(mangled)
        plain = subprocess.run(['c++filt'], input='\n'.join(mangled) + '\n', capture_output=True, text=True, check=True).stdout
        self.plain = dict(zip(mangled, plain.splitlines()))

    def target(self, entry, attribute='type'):
        offset = entry.number(attribute)
        return None if offset is None else self.entries[offset]

    def named(self, entry):
        name = entry.name()
        if name.startswith('__SO__'):
            name = self.plain['_Z' + name[6:]]
        name = self.plain.get(name, name)
        if not name:
            kind = {'structure_type': 'struct', 'class_type': 'struct', 'union_type': 'union', 'enumeration_type': 'enum'}
            name = '{unnamed %s}' % kind[entry.tag] if entry.tag in kind else '?'
        around = []
        scope = entry.parent if entry.tag not in ('base_type', 'unspecified_type') else None
        while scope:
            if scope.tag == 'namespace':
                around.insert(0, scope.name() or '(anonymous namespace)')
            elif scope.tag in SCOPES and scope.name():
                around.insert(0, scope.name())
            scope = scope.parent
        return '::'.join(around + [name])

    def counts(self, array):
        result = []
        for child in array.children:
            if child.tag == 'subrange_type':
                count = child.number('count')
                if count is None and 'upper_bound' in child.at:
                    count = child.number('upper_bound') + 1
                result.append(UNKNOWN if count is None else count)
        return result

    def spell(self, entry, inner=''):
        """The declaration of `inner` with the type."""
        if entry is None:
            return 'void' + inner
        if entry.tag in QUALIFIERS:
            return self.spell(self.target(entry), QUALIFIERS[entry.tag] + inner)
        if entry.tag in MARKS:
            to = self.target(entry)
            while to is not None and to.tag in QUALIFIERS:
                to = self.target(to)
            mark = MARKS[entry.tag] + inner
            wraps = to is not None and to.tag in ('array_type', 'subroutine_type')
            if entry.tag == 'ptr_to_member_type':
                mark = ('' if wraps else ' ') + self.spell(self.target(entry, 'containing_type')) + '::' + mark
            return self.spell(self.target(entry), '(%s)' % mark if wraps else mark)
        if entry.tag == 'array_type':
            counts = ''.join('[]' if n == UNKNOWN else '[%d]' % n for n in self.counts(entry))
            return self.spell(self.target(entry), (' ' + inner if inner else '') + ' ' + counts)
        if entry.tag == 'subroutine_type':
            arguments = [self.spell(self.target(c)) if c.tag == 'formal_parameter' else '...' for c in entry.children
                         if c.tag in ('formal_parameter', 'unspecified_parameters')]
            return self.spell(self.target(entry), ' ' + inner + '(%s)' % ', '.join(arguments))
        return self.named(entry) + inner

    def size(self, entry):
        if entry is None:
            return UNKNOWN
        if 'byte_size' in entry.at:
            return entry.number('byte_size')
        if entry.tag in ('pointer_type', 'reference_type', 'rvalue_reference_type'):
            return 8
        if entry.tag == 'ptr_to_member_type':
            to = self.target(entry)
            return 16 if to is not None and to.tag == 'subroutine_type' else 8
        if entry.tag in QUALIFIERS or entry.tag == 'typedef':
            return self.size(self.target(entry))
        if entry.tag == 'array_type':
            size = self.size(self.target(entry))
            for count in self.counts(entry):
                size = UNKNOWN if UNKNOWN in (size, count) else size * count
            return size
        return UNKNOWN

    def members(self, entry):
        for child in entry.children:
            place = child.at.get('data_member_location', '0')
            base = child.tag == 'inheritance' or child.name().startswith('__b_')
            if child.tag not in ('member', 'inheritance') or 'external' in child.at or 'declaration' in child.at:
                continue
            if 'byte block' in place:
                found = re.search(r'byte block: 23 .*\(DW_OP_plus_uconst: (\d+)\)', place)
                if not found:
                    continue
                place = found[1]
            bits, low = child.number('bit_size', 0), 0
            if bits and 'data_bit_offset' in child.at:
                low = child.number('data_bit_offset')
            elif bits:
                low = 8 * child.number('byte_size') - child.number('bit_offset') - bits
            yield 'M %s|%x|%d|%d|%d|%d' % ('' if base else child.name(), child.number('type', 0), int(place, 0), bits, low, base)

    def type_lines(self, entry):
        encoding = entry.number('encoding', 0)
        yield 'T %x|%d|%d|%d|%x|%s' % (entry.offset, KINDS[entry.tag], encoding, self.size(entry), entry.number('type', 0),
                                       self.spell(entry))
        if KINDS[entry.tag] in (9, 10):
            yield from self.members(entry)

    def origin(self, entry):
        for name in ('abstract_origin', 'specification'):
            if name in entry.at:
                return self.target(entry, name)
        return None

    def linkage(self, entry):
        now, first = entry, ''
        while now is not None:
            linkage = now.at.get('MIPS_linkage_name') or now.at.get('linkage_name')
            if linkage:
                return linkage
            first = first or now.name()
            now = self.origin(now)
        return first

    def function_lines(self, entry):
        yield 'F %x %s WS_OK' % (entry.offset, self.linkage(entry))
        for child in entry.children:
            if child.tag == 'formal_parameter':
                said = child if 'type' in child.at else self.origin(child) or child
                yield 'P %s|%d|%x|%s' % (said.name(), child.number('address_class', 0), said.number('type', 0),
                                         self.spell(self.target(said)))

    def expected(self):
        functions = [e for e in self.entries.values() if e.tag == 'subprogram' and 'low_pc' in e.at and self.linkage(e)]
        functions.sort(key=lambda e: (self.linkage(e).encode(), e.offset))
        lines, ask = [], []
        for entry in functions:
            lines += self.function_lines(entry)
        for entry in self.entries.values():
            if entry.tag not in KINDS:
                continue
            ask.append('%x' % entry.offset)
            lines += self.type_lines(entry)
            if entry.tag != 'enumeration_type':
                continue
            values = {}
            for child in entry.children:
                if child.tag == 'enumerator':
                    values.setdefault(child.number('const_value'), child.name())
            for value, name in values.items():
                ask.append('%x=%d' % (entry.offset, value))
                lines.append('E %x|WS_OK|%s' % (entry.offset, name))
        return lines, ask


def compare(program, path):
    """(number of functions, of parameters, of types, of members, differences)"""
    reading = Reading(path)
    lines, ask = reading.expected()
    done = subprocess.run([program, path], input='\n'.join(ask) + '\n', capture_output=True, text=True, check=False,
                          errors='replace')
    mine = done.stdout.splitlines()
    differences = ['ours %r, readelf %r' % pair for pair in zip(mine, lines) if pair[0] != pair[1]]
    if len(mine) != len(lines):
        differences.append('%d lines, of readelf %d' % (len(mine), len(lines)))
    kinds = [line[0] for line in lines]
    return [kinds.count(k) for k in 'FPTM'], differences


# ---- what is compared ----

def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more).returncode == 0


def build(tests, folder):
    """Compiles what the tools at hand can; names of the cubins."""
    nvcc = shutil.which('nvcc') or shutil.which('nvcc', path='/usr/local/cuda/bin')
    if not nvcc:
        return
    tool = os.path.dirname(nvcc)
    kernels = os.path.join(tests, 'kernels')
    for arch in ARCHES:
        flags = [nvcc, '-arch=sm_%d' % arch, '-std=c++17', '-G', '-cubin', '-I' + os.path.join(kernels, 'include'), '-w']
        sources = [os.path.join(HERE, 'types.cu')]
        if arch in (90, 120):
            sources += sorted(glob.glob(os.path.join(kernels, '*.cu')))
        for source in sources:
            name = os.path.basename(source)[:-3]
            run(flags + ['--extended-lambda', '-o', os.path.join(folder, '%s.G.sm_%d.cubin' % (name, arch)), source])
    objects = []
    for name in ('link_a', 'link_b'):
        objects.append(os.path.join(folder, name + '.object.sm_90.cubin'))
        run([nvcc, '-arch=sm_90', '-std=c++17', '-G', '-rdc=true', '-cubin', '-o', objects[-1],
             os.path.join(kernels, name + '.cu')])
    for name, more in (('linked', []), ('relinked', ['-r'])):
        run([os.path.join(tool, 'nvlink'), *more, '-arch=sm_90', *objects, '-o', os.path.join(folder, name + '.G.sm_90.cubin')])
    ptx = os.path.join(folder, 'scopes.ptx')
    if shutil.which('clang-14') and run(['clang-14', '-x', 'cuda', '--cuda-device-only', '--cuda-gpu-arch=sm_80', '-nocudainc',
                                         '-nocudalib', '-g', '-O0', '-S', os.path.join(HERE, 'scopes.cu'), '-o', ptx]):
        for name, more in (('scopes', []), ('scopes.object', ['-c'])):
            run([os.path.join(tool, 'ptxas'), '-arch=sm_80', '-g', *more, ptx, '-o', os.path.join(folder, name + '.cubin')])


def committed(tests, folder):
    paths = sorted(glob.glob(os.path.join(tests, 'data', 'cubins', '*.G.*.cubin')))
    for packed in sorted(glob.glob(os.path.join(tests, 'data', 'faults', '*.G.*.cubin.gz'))):
        path = os.path.join(folder, os.path.basename(packed)[:-3])
        with gzip.open(packed) as source, open(path, 'wb') as out:
            out.write(source.read())
        paths.append(path)
    return paths


def has_info(path):
    with open(path, 'rb') as handle:
        return b'\0.debug_info\0' in handle.read()


def main():
    program, tests, more = sys.argv[1], sys.argv[2], sys.argv[3:]
    if not shutil.which('readelf'):
        print('1..0 # SKIP no readelf (install binutils)')
        return 0
    with tempfile.TemporaryDirectory() as folder:
        paths = more
        if not more:
            paths = committed(tests, folder)
            corpus = os.environ.get('WARPSCOPE_LINEMAP_CORPUS', '')
            paths += [p for p in sorted(glob.glob(os.path.join(corpus, '*.cubin'))) if corpus and has_info(p)]
            made = os.path.join(folder, 'made')
            os.mkdir(made)
            build(tests, made)
            paths += sorted(glob.glob(os.path.join(made, '*.cubin')))
        print('1..%d' % (len(paths) + 1))
        total, failed = [0, 0, 0, 0], 0
        for number, path in enumerate(paths, 1):
            counts, differences = compare(program, path)
            total = [a + b for a, b in zip(total, counts)]
            failed += bool(differences)
            print('%s %d - %s: %d functions, %d parameters, %d types, %d members, %d differences' % (
                'not ok' if differences else 'ok', number, os.path.basename(path), *counts, len(differences)))
            for line in differences[:SHOWN]:
                print('# ' + line)
        enough = total[0] > 100
        print('%s %d - in all %d functions, %d parameters, %d types, %d members' % (
            'ok' if enough else 'not ok', len(paths) + 1, *total))
        return 1 if failed or not enough else 0


if __name__ == '__main__':
    sys.exit(main())
