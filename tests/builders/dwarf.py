#!/usr/bin/env python3
"""Debug information of functions and types, from a description, for the tests and fuzz seeds of the reader.

usage: dwarf.py OUTDIR

Writes OUTDIR/NAME.dwarf for every case below. A file is three u32 lengths, then the bytes of `.debug_info`, `.debug_abbrev` and
`.debug_str`. Independent of the C reader; DWARF 2 as nvcc writes it, and the forms of 3 and 4 that other compilers use.
"""
import os
import struct
import sys

TAGS = {
    'array_type': 0x01, 'class_type': 0x02, 'enumeration_type': 0x04, 'formal_parameter': 0x05, 'lexical_block': 0x0b,
    'member': 0x0d, 'pointer_type': 0x0f, 'reference_type': 0x10, 'compile_unit': 0x11, 'structure_type': 0x13,
    'subroutine_type': 0x15, 'typedef': 0x16, 'union_type': 0x17, 'unspecified_parameters': 0x18, 'inheritance': 0x1c,
    'ptr_to_member_type': 0x1f, 'subrange_type': 0x21, 'base_type': 0x24, 'const_type': 0x26, 'enumerator': 0x28,
    'subprogram': 0x2e, 'variable': 0x34, 'volatile_type': 0x35, 'restrict_type': 0x37, 'inlined_subroutine': 0x1d, 'namespace': 0x39,
    'unspecified_type': 0x3b, 'rvalue_reference_type': 0x42,
}
ATTRIBUTES = {
    'name': 0x03, 'byte_size': 0x0b, 'bit_offset': 0x0c, 'bit_size': 0x0d, 'low_pc': 0x11, 'high_pc': 0x12, 'const_value': 0x1c,
    'containing_type': 0x1d, 'upper_bound': 0x2f, 'abstract_origin': 0x31, 'address_class': 0x33, 'count': 0x37,
    'data_member_location': 0x38, 'declaration': 0x3c, 'decl_line': 0x3b, 'encoding': 0x3e, 'external': 0x3f, 'specification': 0x47, 'type': 0x49,
    'data_bit_offset': 0x6b, 'linkage_name': 0x6e, 'MIPS_linkage_name': 0x2007, 'location': 0x02, 'sibling': 0x01,
    'language': 0x13, 'comp_dir': 0x1b, 'call_column': 0x57, 'call_file': 0x58, 'call_line': 0x59,
}
FORMS = {
    'addr': 0x01, 'block2': 0x03, 'block4': 0x04, 'data2': 0x05, 'data4': 0x06, 'data8': 0x07, 'string': 0x08, 'block': 0x09,
    'block1': 0x0a, 'data1': 0x0b, 'flag': 0x0c, 'sdata': 0x0d, 'strp': 0x0e, 'udata': 0x0f, 'ref_addr': 0x10, 'ref1': 0x11,
    'ref2': 0x12, 'ref4': 0x13, 'ref8': 0x14, 'ref_udata': 0x15, 'sec_offset': 0x17, 'exprloc': 0x18, 'flag_present': 0x19,
    'ref_sig8': 0x20,
}
REFERENCES = ('type', 'containing_type', 'abstract_origin', 'specification', 'sibling')


def uleb(value):
    out = bytearray()
    while True:
        out.append(value & 0x7f | (0x80 if value > 0x7f else 0))
        value >>= 7
        if not value:
            return bytes(out)


def sleb(value):
    out = bytearray()
    while True:
        byte, value = value & 0x7f, value >> 7
        last = value == (-1 if byte & 0x40 else 0)
        out.append(byte | (0 if last else 0x80))
        if last:
            return bytes(out)


class Die:
    """An entry; `attributes` are (name, form, value). A value of a reference is another Die, or an offset in the section."""

    def __init__(self, tag, *attributes, children=None):
        self.tag, self.attributes, self.children, self.offset = tag, list(attributes), children, 0

    def add(self, die):
        if self.children is None:
            self.children = []
        self.children.append(die)
        return die


class Unit:
    def __init__(self, version=2, wide=False, address=8):
        self.version, self.wide, self.address = version, wide, address
        self.root = Die('compile_unit', ('name', 'string', 'unit.cu'), children=[])
        self.tail = b''

    def add(self, die):
        return self.root.add(die)

    # What most types look like.

    def base(self, name, size, encoding):
        return self.add(Die('base_type', ('name', 'string', name), ('encoding', 'data1', encoding), ('byte_size', 'data1', size)))

    def to(self, tag, target, *more):
        attributes = [('type', 'ref4', target)] if target is not None else []
        return self.add(Die(tag, *attributes, *more))

    def array(self, element, *counts):
        kids = [Die('subrange_type', *([('count', 'data1', n)] if n is not None else [])) for n in counts]
        return self.add(Die('array_type', ('type', 'ref4', element), children=kids))

    def struct(self, name, size, members, tag='structure_type', place='block1', parent=None):
        named = [('name', 'string', name)] if name is not None else []
        die = Die(tag, *named, ('byte_size', 'udata', size), children=[])
        (parent or self.root).add(die)
        for member, target, offset in members:
            where = b'\x23' + uleb(offset) if place == 'block1' else offset
            attributes = [('name', 'string', member)] if member else []
            die.add(Die('member', *attributes, ('type', 'ref4', target), ('data_member_location', place, where)))
        return die

    def function(self, linkage, parameters, name=None, body=()):
        die = Die('subprogram', ('low_pc', 'addr', 0), ('MIPS_linkage_name', 'string', linkage),
                  ('name', 'string', name or linkage), children=[])
        for parameter, target, cls in parameters:
            attributes = [('name', 'string', parameter)] if parameter else []
            die.add(Die('formal_parameter', *attributes, ('type', 'ref4', target), ('address_class', 'data1', cls)))
        for entry in body:
            die.add(entry)
        return self.add(die)


class Writer:
    """Units -> the three sections. Abbreviations of a unit are its own, unless it shares those of another; their codes are
    `step` apart."""

    def __init__(self, units, share=False, step=1):
        self.step = step
        self.str, self.abbrev, self.info = bytearray(b'\0'), bytearray(), bytearray()
        self.strings, codes = {}, {}
        for unit in units:
            if not share or not codes:
                codes, start = {}, len(self.abbrev)
            table = bytearray()
            self.unit(unit, codes, table, start)
            if not share:
                self.abbrev += table + b'\0'
        if share:
            self.abbrev += self.table(codes) + b'\0'

    @staticmethod
    def table(codes):
        return b''.join(Writer.abbreviation(key, code) for key, code in codes.items())

    @staticmethod
    def abbreviation(key, code):
        tag, has, specs = key
        out = uleb(code) + uleb(TAGS.get(tag, tag) if isinstance(tag, str) else tag) + bytes([has])
        for name, form in specs:
            out += uleb(ATTRIBUTES.get(name, name) if isinstance(name, str) else name)
            out += uleb(FORMS.get(form, form) if isinstance(form, str) else form)
        return out + b'\0\0'

    def unit(self, unit, codes, table, abbrev_off):
        start, word = len(self.info), 8 if unit.wide else 4
        self.start = start
        header = 4 + (8 if unit.wide else 0) + 2 + word + 1
        self.place(unit, unit.root, start + header, codes, table)
        body = bytearray()
        self.entry(unit, unit.root, body, codes)
        body += unit.tail
        after = 2 + word + 1 + len(body)
        length = b'\xff' * 4 + struct.pack('<Q', after) if unit.wide else struct.pack('<I', after)
        self.info += length + struct.pack('<HQB' if unit.wide else '<HIB', unit.version, abbrev_off, unit.address) + body

    def place(self, unit, die, at, codes, table):
        """Gives every entry its offset; references have fixed sizes, except ref_udata, which are taken as 4 bytes."""
        key = (die.tag, die.children is not None, tuple((name, form) for name, form, _ in die.attributes))
        if key not in codes:
            codes[key] = len(codes) * self.step + (1 if self.step > 0 else 1000)
            table += self.abbreviation(key, codes[key])
        die.offset = at
        at += len(uleb(codes[key])) + sum(len(self.value(unit, form, value)) for _, form, value in die.attributes)
        if die.children is not None:
            for child in die.children:
                at = self.place(unit, child, at, codes, table)
            at += 1
        return at

    def value(self, unit, form, value):
        word = '<Q' if unit.wide else '<I'
        if isinstance(value, Die):
            value = value.offset - (0 if form == 'ref_addr' else self.start)
        if form == 'string':
            return value.encode() + b'\0'
        if form == 'strp':
            if isinstance(value, str):
                if value not in self.strings:
                    self.strings[value] = len(self.str)
                    self.str += value.encode() + b'\0'
                value = self.strings[value]
            return struct.pack(word, value)
        if form == 'ref_addr':
            return struct.pack('<Q' if unit.version == 2 else word, value)
        if form == 'ref_udata':
            return bytes([value & 127 | 128, value >> 7 & 127 | 128, value >> 14 & 127 | 128, value >> 21 & 127])
        if form == 'block1':
            return bytes([len(value)]) + value
        if form == 'block2':
            return struct.pack('<H', len(value)) + value
        if form == 'block4':
            return struct.pack('<I', len(value)) + value
        if form in ('block', 'exprloc'):
            return uleb(len(value)) + value
        if form == 'udata':
            return uleb(value)
        if form == 'sdata':
            return sleb(value)
        if form == 'flag_present':
            return b''
        if form == 'sec_offset':
            return struct.pack(word, value)
        if form == 'addr':
            return value.to_bytes(unit.address, 'little')
        size = {'1': 1, '2': 2, '4': 4, '8': 8}.get(str(form)[-1], 1)
        return (value & (1 << 8 * size) - 1).to_bytes(size, 'little')

    def entry(self, unit, die, out, codes):
        key = (die.tag, die.children is not None, tuple((name, form) for name, form, _ in die.attributes))
        out += uleb(codes[key])
        for _, form, value in die.attributes:
            out += self.value(unit, form, value)
        if die.children is not None:
            for child in die.children:
                self.entry(unit, child, out, codes)
            out.append(0)


def pack(info, abbrev, strings):
    return struct.pack('<III', len(info), len(abbrev), len(strings)) + bytes(info) + bytes(abbrev) + bytes(strings)


def packed(units, share=False, step=1):
    writer = Writer(units, share, step)
    return pack(writer.info, writer.abbrev, writer.str)


# ---- cases: tests/unit/test_dwarf.c has what must be read of them ----

def kinds(version=2, wide=False):
    """One function whose parameters are of every kind of type; `nested` for paths of fields."""
    u = Unit(version, wide)
    u.root.attributes += [('comp_dir', 'string', '/src/unit'), ('language', 'data1', 4)]
    i, f = u.base('int', 4, 5), u.base('float', 4, 4)
    c, b = u.base('char', 1, 6), u.base('bool', 1, 2)
    void = u.add(Die('unspecified_type', ('name', 'string', 'void')))
    cf = u.to('const_type', f)
    pcf = u.to('pointer_type', cf, ('address_class', 'data4', 12))
    real = u.to('typedef', f, ('name', 'strp', 'real'))
    call = u.add(Die('subroutine_type', ('type', 'ref4', f), children=[
        Die('formal_parameter', ('type', 'ref4', i)), Die('formal_parameter', ('type', 'ref4', real))]))
    many = u.add(Die('subroutine_type', children=[Die('formal_parameter', ('type', 'ref4', i)), Die('unspecified_parameters')]))
    row = u.array(i, 4)
    ns = u.add(Die('namespace', ('name', 'string', 'ns')))
    inner = ns.add(Die('namespace', children=[]))
    mode = inner.add(Die('enumeration_type', ('name', 'strp', 'Mode'), ('byte_size', 'data1', 1), children=[
        Die('enumerator', ('name', 'string', 'A'), ('const_value', 'sdata', 0)),
        Die('enumerator', ('name', 'string', 'B'), ('const_value', 'sdata', 200)),
        Die('enumerator', ('name', 'string', 'C'), ('const_value', 'sdata', -1))]))
    out = u.struct('Out', 8, [], tag='class_type', parent=ns)
    deep = u.struct('In', 4, [('v', i, 0)], parent=out)
    out.add(Die('member', ('name', 'string', 'in'), ('type', 'ref4', deep), ('data_member_location', 'data1', 4)))
    out.add(Die('member', ('name', 'string', 'shared'), ('type', 'ref4', i), ('external', 'flag', 1), ('declaration', 'flag', 1)))
    out.add(Die('subprogram', ('name', 'string', 'm'), ('declaration', 'flag', 1), children=[Die('formal_parameter')]))
    out.add(Die('inheritance', ('type', 'ref4', i), ('data_member_location', 'block1', b'\x12\x06')))  # virtual: computed
    empty = u.struct('Empty', 1, [])
    either = u.struct(None, 4, [('f', f, 0), ('i', i, 0)], tag='union_type')
    grid = u.array(deep, 2, 3)
    nested = u.struct('Nested', 64, [
        ('__b_5Empty', empty, 0), ('first', pcf, 0), ('out', out, 8), ('', either, 16), ('grid', grid, 20), ('name', u.array(c, 4), 44)],
        place='block1' if version < 4 else 'udata')
    overlap = u.struct('Overlap', 8, [('whole', u.base('long', 8, 5), 0), ('low', i, 0), ('high', i, 4)])
    bound = u.add(Die('array_type', ('type', 'ref4', i), children=[Die('subrange_type', ('upper_bound', 'data1', 4))]))
    bits = u.struct('Bits', 4, [])
    if version < 4:
        bits.add(Die('member', ('name', 'string', 'a'), ('type', 'ref4', i), ('byte_size', 'data1', 4), ('bit_size', 'data1', 3),
                     ('bit_offset', 'data1', 21), ('data_member_location', 'block1', b'\x23\0')))
    else:
        bits.add(Die('member', ('name', 'string', 'a'), ('type', 'ref4', i), ('bit_size', 'data1', 3),
                     ('data_bit_offset', 'data1', 8)))
    wrap = u.to
    parameters = [
        ('i', i), ('pcf', pcf), ('cp', wrap('const_type', wrap('pointer_type', f))), ('ref', wrap('reference_type', cf)),
        ('rref', wrap('rvalue_reference_type', i)), ('v', wrap('pointer_type', wrap('volatile_type', i))),
        ('r', wrap('restrict_type', wrap('pointer_type', b))), ('pv', wrap('pointer_type', void)), ('pn', wrap('pointer_type', None)),
        ('real', real), ('fp', wrap('pointer_type', call)), ('ffp', wrap('pointer_type', wrap('pointer_type', call))),
        ('more', wrap('pointer_type', many)), ('row', wrap('pointer_type', row)), ('rows', u.array(wrap('pointer_type', row), 7)),
        ('grid', wrap('reference_type', u.array(f, 2, 3))), ('open', wrap('pointer_type', u.array(i, None))),
        ('mode', mode), ('deep', deep), ('nested', nested), ('bits', bits), ('either', either),
        ('pm', wrap('ptr_to_member_type', i, ('containing_type', 'ref4', out))),
        ('pmf', wrap('ptr_to_member_type', call, ('containing_type', 'ref4', out))),
        ('', c),
        ('overlap', u.struct('Holder', 8, [('in', overlap, 0)])), ('bound', bound),
        ('mangled', u.struct('_ZN2ns5inner5ColorE', 4, [])), ('sub', u.struct('__SO__N2ns4BaseE', 12, [])),
    ]
    local = Die('lexical_block', children=[Die('variable', ('name', 'string', 'x'), ('type', 'ref4', i))])
    u.function('_Z5kindsv', [(name, target, 2) for name, target in parameters], body=[local])
    u.add(Die('subprogram', ('name', 'string', 'declared'), ('declaration', 'flag', 1), children=[Die('formal_parameter')]))
    return u


def origins():
    """Names that stand in another entry, in another unit, in the string table; C names without a linkage name."""
    first, second = Unit(4), Unit(3)
    i = first.base('int', 4, 5)
    declared = first.add(Die('subprogram', ('linkage_name', 'strp', '_Z4memev'), ('name', 'string', 'meme'),
                             ('declaration', 'flag_present', None),
                             children=[Die('formal_parameter', ('name', 'string', 'p'), ('type', 'ref4', i))]))
    body = first.add(Die('subprogram', ('low_pc', 'addr', 16), ('specification', 'ref_udata', declared), children=[]))
    body.add(Die('formal_parameter', ('abstract_origin', 'ref2', declared.children[0]), ('address_class', 'data1', 6)))
    second.add(Die('subprogram', ('low_pc', 'addr', 32), ('name', 'strp', 'plain_c'), children=[
        Die('formal_parameter', ('name', 'strp', 'q'), ('type', 'ref_addr', i), ('location', 'exprloc', b'\x91\x40'))]))
    return [first, second]


def blocks(version):
    """A function at 0x100 with blocks within it, inlined functions, and places of every kind; the lists are the test's."""
    u = Unit(version)
    i = u.base('int', 4, 5)
    u.add(Die('variable', ('name', 'string', 'outside'), ('type', 'ref4', i), ('location', 'block1', b'\x03' + bytes(8))))
    u.add(Die('variable', ('name', 'string', 'unplaced'), ('type', 'ref4', i)))
    u.add(Die('variable', ('name', 'string', 'declared'), ('type', 'ref4', i), ('declaration', 'flag', 1), ('location', 'block1', b'\x03' + bytes(8))))
    original = u.add(Die('subprogram', ('name', 'string', 'inlined'), children=[
        Die('variable', ('name', 'string', 'copied'), ('type', 'ref4', i), ('decl_line', 'data1', 7))]))

    linked = u.add(Die('subprogram', ('MIPS_linkage_name', 'string', '_Z6linkedv'), ('name', 'string', 'linked'), children=[
        Die('variable', ('name', 'string', 'own'), ('type', 'ref4', i))]))

    def block(low, size, *kids, tag='lexical_block', more=()):
        end = [('high_pc', 'addr', low + size) if version < 4 else ('high_pc', 'data4', size)] if size else []
        return Die(tag, ('low_pc', 'addr', low), *end, *more, children=list(kids))

    def inlined(of, line, low, size, *kids):
        where = (('abstract_origin', 'ref4', of), ('call_file', 'data1', 3), ('call_line', 'data2', line), ('call_column', 'data1', line % 7))
        own = Die('variable', ('abstract_origin', 'ref4', of.children[0]), ('location', 'block1', b'\x90\x25'))
        return block(low, size, own, *kids, tag='inlined_subroutine', more=where)

    def variable(name, place, form='block1' if version < 4 else 'exprloc'):
        return Die('variable', ('name', 'string', name), ('type', 'ref4', i), ('location', form, place))
    in_list = 'data4' if version < 4 else 'sec_offset'
    body = [
        block(0x110, 0x10, block(0x114, 4, variable('deep', b'\x91\x70')), variable('block', b'\x91\x70\x96\x96\x23\x08')),
        block(0x130, 0x10, Die('variable', ('abstract_origin', 'ref4', original.children[0]), ('location', 'block1', b'\x90\x25')), tag='inlined_subroutine'),
        block(0x140, 0, variable('endless', b'\x91\x70')),
        inlined(linked, 300, 0x160, 0x20, block(0x164, 0x10, inlined(original, 302, 0x168, 8))),
        inlined(linked, 303, 0x190, 0x10, inlined(original, 304, 0x192, 0xc)), inlined(original, 305, 0x198, 0x10),  # both have 0x198
        inlined(linked, 306, 0x1b0, 0, inlined(original, 307, 0x1b0, 8)),  # of which nobody knows where it ends
        variable('placed', b'\x03' + struct.pack('<Q', 0x1234) + b'\x23\x10'), variable('register', b'\x90' + uleb(0x25723132)),
        variable('listed', 0, in_list), variable('cut', 1000, in_list), variable('unknown', b'\x70\x00'), variable('short', b'\x03\x01\x02'),
        variable('two', b'\x90\x25\x23\x04'), variable('gone', b''), Die('variable', ('name', 'string', 'constant'), ('type', 'ref4', i), ('const_value', 'sdata', -3)),
    ]
    function = u.function('blocks', [('p', i, 2)], body=body)
    function.attributes[0] = ('low_pc', 'addr', 0x100)
    return u


def damaged():
    """Functions `before`, then what the reader cannot follow, by case; a second unit has `after`."""
    def two(entry=None, version=2, tail=b'', address=8):
        u, v = Unit(version), Unit(2)
        i = u.base('int', 4, 5)
        if version == 2:
            u.function('before', [('x', i, 7)])
        if entry:
            u.add(entry(u, i))
            u.function('lost', [('y', i, 7)])
        u.tail, u.address = tail, address
        v.function('after', [('z', v.base('long', 8, 5), 7)])
        return [u, v]
    yield 'unknown-form', packed(two(lambda u, i: Die('variable', ('name', 0x1f01, 0))))
    yield 'huge-attribute', packed(two(lambda u, i: Die('variable', (0x7fffffff, 'data1', 0))))
    yield 'huge-tag', packed(two(lambda u, i: Die(0x12345678)))
    yield 'version-5', packed(two(version=5))
    yield 'wide-address', packed(two(address=16))
    yield 'no-abbreviation', packed(two(tail=b'\x7f\x01\x02'))
    yield 'endless-number', packed(two(tail=b'\x80' * 40))
    yield 'wide-number', packed(two(tail=b'\xff' * 9 + b'\x7f'))
    yield 'many-ends', packed(two(tail=b'\0' * 50))


def circles():
    """Types that lead to themselves, one parameter each."""
    u = Unit()
    i = u.base('int', 4, 5)
    entries = []

    def loop(tag, *more, children=None):
        die = Die(tag, *more, children=children)
        die.attributes.append(('type', 'ref4', die))
        entries.append(u.add(die))
        return die
    loop('const_type')
    loop('typedef', ('name', 'string', 'T'))
    loop('pointer_type')
    loop('array_type', children=[Die('subrange_type', ('count', 'data1', 2))])
    loop('ptr_to_member_type')
    function = loop('subroutine_type', children=[])
    function.add(Die('formal_parameter', ('type', 'ref4', function)))
    function.add(Die('formal_parameter', ('type', 'ref4', function)))
    selfish = u.struct('Selfish', 8, [])
    selfish.add(Die('member', ('name', 'string', 'me'), ('type', 'ref4', selfish), ('data_member_location', 'data1', 0)))
    entries.append(selfish)
    a, b = u.to('const_type', i), u.to('volatile_type', i)
    a.attributes[0], b.attributes[0] = ('type', 'ref4', b), ('type', 'ref4', a)
    entries.append(a)
    nothing = Die('const_type', ('type', 'ref4', 0x7fffffff))
    entries.append(u.add(nothing))
    header = Die('const_type', ('type', 'ref4', 2))
    entries.append(u.add(header))
    sibling = Die('variable', children=[])
    sibling.attributes.append(('sibling', 'ref4', sibling))
    u.add(sibling)
    u.function('circles', [('p%d' % n, entry, 7) for n, entry in enumerate(entries)])
    u.root.attributes.append(('sibling', 'ref4', u.root))
    return u


def bombs():
    """Few bytes that ask for much work or memory."""
    u = Unit()
    u.function('before', [])
    writer = Writer([u])
    header = lambda off: struct.pack('<IHIB', 8, 2, off, 8) + b'\0'  # noqa: E731
    table = Writer.abbreviation((0x34, 0, (('name', 'data1'),) * 4000), 1)
    yield 'overlapping-tables', pack(writer.info + b''.join(header(len(writer.abbrev) + 2 * k) for k in range(1000)),
                                     writer.abbrev + table + b'\0', b'')
    shared = Unit()
    origin = shared.add(Die('subprogram', ('name', 'string', 'o' * 60000), ('declaration', 'flag', 1)))
    for _ in range(3000):
        shared.add(Die('subprogram', ('low_pc', 'addr', 0), ('specification', 'ref4', origin)))
    yield 'one-long-name', packed([shared])
    strings = Unit()
    for _ in range(3000):
        strings.add(Die('subprogram', ('low_pc', 'addr', 0), ('name', 'strp', 1)))
    writer = Writer([strings])
    yield 'one-long-string', pack(writer.info, writer.abbrev, b'\0' + b's' * 70000 + b'\0')
    deep = Unit()
    at = deep.root
    for k in range(400):
        at = at.add(Die('namespace', ('name', 'string', 'n%d' % k), children=[]))
    low = Die('structure_type', ('name', 'string', 'S'), ('byte_size', 'data1', 4))
    at.add(low)
    deep.function('deep', [('s', low, 7)])
    yield 'deep-scopes', packed([deep])
    wide = Unit()
    i = wide.base('int', 4, 5)
    big = wide.struct('Big', 4, [('m%d' % k, i, 0) for k in range(40000)])
    types = big
    for _ in range(28):
        types = wide.struct('Twice', 4, [('a', types, 0), ('b', types, 0)])
    wide.function('wide', [('b', types, 7), ('big', big, 7)])
    yield 'wide-structures', packed([wide])
    hollow = Unit()
    flags = [('external', 'flag_present', None)] * 100
    hollow.function('before', [])
    for _ in range(50):
        hollow.add(Die('variable', *flags))
    yield 'hollow-entries', packed([hollow])
    names = Unit()
    crowd = Die('structure_type', ('byte_size', 'data1', 4), children=[
        Die('member', ('name', 'strp', 1), ('type', 'ref4', 0)) for _ in range(5000)])
    names.function('names', [('n', names.add(crowd), 7)])
    writer = Writer([names])
    yield 'long-members', pack(writer.info, writer.abbrev, b'\0' + b's' * 70000 + b'\0')
    tiny = Unit()
    crowd = Die('structure_type', ('byte_size', 'data1', 4), children=[Die('variable') for _ in range(100000)])
    tiny.function('tiny', [('t', tiny.add(crowd), 7)])
    yield 'tiny-children', packed([tiny])
    long = Unit()
    name = long.add(Die('structure_type', ('name', 'string', 'n' * 1000000), ('byte_size', 'data1', 4), children=[]))
    long.function('long_entry', [('l', name, 7)])
    yield 'long-entry', packed([long])
    fans = Unit()
    i = fans.base('int', 4, 5)
    fan = fans.to('pointer_type', i)
    for _ in range(26):
        call = fans.add(Die('subroutine_type', ('type', 'ref4', fan), children=[
            Die('formal_parameter', ('type', 'ref4', fan)), Die('formal_parameter', ('type', 'ref4', fan))]))
        fan = fans.to('pointer_type', call)
    fans.function('fan', [('f', fan, 7)])
    yield 'fan', packed([fans])


def cases():
    yield 'kinds', packed([kinds()])
    yield 'kinds-4', packed([kinds(4)])
    yield 'kinds-wide', packed([kinds(3, wide=True)])
    yield 'kinds-sparse', packed([kinds()], step=3)
    yield 'kinds-descending', packed([kinds()], step=-3)
    writer = Writer([kinds()], step=3)  # of several declarations of one code the first counts
    again = b''.join(Writer.abbreviation(('variable', 0, (('name', 'data1'),) * 3), 3 * n + 1) for n in range(20))
    yield 'kinds-twice', pack(writer.info, bytes(writer.abbrev[:-1]) + again + b'\0', writer.str)
    yield 'blocks', packed([blocks(2)])
    yield 'blocks-4', packed([blocks(4)])
    yield 'two-units', packed([kinds(), kinds(4)])
    yield 'origins', packed(origins())
    shared = [Unit(), Unit()]
    for number, unit in enumerate(shared):
        unit.function('shared%d' % number, [('x', unit.base('int', 4, 5), 7)])
    yield 'shared-table', packed(shared, share=True)
    yield from damaged()
    yield 'circles', packed([circles()])
    yield from bombs()


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, data in cases():
        with open(os.path.join(folder, name + '.dwarf'), 'wb') as file:
            file.write(data)


if __name__ == '__main__':
    main()
