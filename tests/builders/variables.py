#!/usr/bin/env python3
"""A relocated image whose kernel has variables in every kind of place and of every kind of type, for tests/unit/test_variables.c.

usage: variables.py CUBIN OUTPUT BASE

CUBIN has one kernel; its code is put at BASE. Places of registers: docs/formats/dwarf.md.
"""
import struct
import sys

import cubin as cb
import dwarf

PRED, HALF, FULL, LOCAL, LOCAL_REG, UPRED, UHALF, UFULL = 2, 4, 5, 6, 7, 9, 10, 11
KERNEL = '_Z8no_linesPKiS0_Pi'
LAST = 0x1ff

# PTX register: {part: (class, index)}
REGISTERS = {
    '%r1': [(0, FULL, 4)], '%rz': [(0, FULL, 255)],
    '%rs1': [(0, HALF, 2 * 3)], '%rs2': [(0, HALF, 2 * 3 + 1)],
    '%us1': [(0, UHALF, 2 * 3)], '%us2': [(0, UHALF, 2 * 3 + 1)],
    '%ur1': [(0, UFULL, 5)],
    '%p1': [(0, PRED, 2)], '%p2': [(0, PRED, 3)], '%up1': [(0, UPRED, 3)], '%up2': [(0, UPRED, 2)],
    '%s1': [(0, LOCAL, 0x103c)], '%s2': [(0, LOCAL, 0x1040)],
    '%s3': [(0, LOCAL_REG, 5 << 16 | 0x24)], '%s4': [(0, LOCAL_REG, 40 << 16 | 0x24)],
    '%odd': [(0, 99, 4)],
    '%gone': [(0, FULL, 40)],
    '%rd1': [(0, FULL, 8), (1, FULL, 9)],
    '%rd2': [(0, FULL, 9), (1, FULL, 8)],
    '%rd3': [(0, FULL, 8), (1, FULL, 8)],
    '%rd4': [(0, FULL, 8)], '%rd5': [(1, FULL, 8)], '%rd6': [(0, FULL, 8), (2, FULL, 9)],
    '%rd7': [(0, FULL, 8), (1, LOCAL, 0x1010)],
    '%rd8': [(1, FULL, 8), (2, FULL, 9)],
    '%q1': [(0, FULL, 8), (1, FULL, 9), (2, FULL, 10), (3, UFULL, 5)],
    '%q2': [(0, FULL, 8), (1, FULL, 9), (2, FULL, 10)],
}


def in_register(name):
    return ('location', 'block1', b'\x90' + dwarf.uleb(int.from_bytes(name.encode(), 'big')))


def at(address):
    return ('location', 'block1', b'\x03' + struct.pack('<Q', address))


def unit():
    u = dwarf.Unit()
    body = []

    def variable(name, target, *more):
        body.append(dwarf.Die('variable', ('name', 'string', name), ('type', 'ref4', target), *more))

    def shared(name, target, address=0):
        variable(name, target, at(address), ('address_class', 'data1', 8))
    i, f, d = u.base('int', 4, 5), u.base('float', 4, 4), u.base('double', 8, 4)
    s, b, q, c = u.base('short', 2, 5), u.base('bool', 1, 2), u.base('long', 8, 5), u.base('char', 1, 6)
    float4 = u.struct('float4', 16, [('x', i, 0), ('y', i, 4), ('z', i, 8), ('w', i, 12)])
    for name, target, register in (
            ('whole', i, '%r1'), ('zero', i, '%rz'), ('lower', s, '%rs1'), ('upper', s, '%rs2'), ('ulower', s, '%us1'), ('uupper', s, '%us2'),
            ('uniform', i, '%ur1'), ('no', b, '%p1'), ('yes', b, '%p2'), ('uno', b, '%up1'), ('uyes', b, '%up2'),
            ('spilled', i, '%s1'), ('beyond', i, '%s2'), ('indirect', i, '%s3'), ('lost', i, '%s4'), ('odd', i, '%odd'),
            ('gone', i, '%gone'), ('unnamed', i, '%none'), ('pair', q, '%rd1'), ('swapped', q, '%rd2'), ('twice', q, '%rd3'),
            ('low', q, '%rd4'), ('high', q, '%rd5'), ('hole', q, '%rd6'), ('mixed', q, '%rd7'), ('late', q, '%rd8'),
            ('four', float4, '%q1'), ('three', float4, '%q2')):
        variable(name, target, in_register(register))
    ints, half = u.struct('Ints', 8, [('a', i, 0), ('b', i, 4)]), u.struct('Half', 4, [('a', s, 0), ('b', s, 2)])
    variable('boxed', ints, in_register('%rd1'))
    variable('known', i, ('const_value', 'sdata', -5))
    variable('nowhere', i)
    # what lies in shared memory, at 0 unless it says so
    wide = u.base('long double', 16, 4)
    color = u.add(dwarf.Die('enumeration_type', ('name', 'string', 'Color'), ('byte_size', 'data1', 1), children=[
        dwarf.Die('enumerator', ('name', 'string', 'RED'), ('const_value', 'sdata', 1)),
        dwarf.Die('enumerator', ('name', 'string', 'BLUE'), ('const_value', 'sdata', 200))]))
    for name, target in (('single', f), ('real', d), ('wide', wide), ('color', color)):
        shared(name, target)
    mixed, either = u.struct('Mixed', 8, [('f', f, 0), ('c', u.array(c, 4), 4)]), u.struct('Either', 8, [('i', i, 0), ('q', q, 0)], tag='union_type')
    for name, target in (('ints', ints), ('half', half), ('mix', mixed), ('either', either)):
        shared(name, target)
    shared('broken', u.struct('Broken', 8, [('in', i, 0), ('out', i, 6), ('big', float4, 0)]))
    shared('empty', u.struct('Empty', 1, []))
    shared('open', u.array(i, None))
    for name, count in (('large', 1 << 20), ('huge', (1 << 20) + 1)):
        shared(name, u.add(dwarf.Die('array_type', ('type', 'ref4', c), children=[dwarf.Die('subrange_type', ('count', 'data4', count))])))
    shared('reference', u.to('reference_type', i, ('address_class', 'data4', 8)))
    shared('rvalue', u.to('rvalue_reference_type', i, ('address_class', 'data4', 8)))
    shared('holder', u.struct('Holder', 8, [('to', u.to('reference_type', i), 0)]))
    nest = i
    for level in range(21):
        nest = u.struct(f'Level{level}', 4, [('m', nest, 0)])
        if level in (18, 19):
            shared(f'deep{level + 1}', nest)
    qualified = u.to('const_type', u.to('volatile_type', ints))
    shared('qualified', qualified)
    bits = u.struct('Bits', 4, [])
    unsigned = u.base('unsigned int', 4, 7)
    for name, target, first, size in (('low', unsigned, 0, 3), ('top', i, 29, 3), ('all', unsigned, 0, 32)):
        bits.add(dwarf.Die('member', ('name', 'string', name), ('type', 'ref4', target), ('byte_size', 'data1', 4), ('bit_size', 'data1', size),
                           ('bit_offset', 'data1', 32 - first - size), ('data_member_location', 'block1', b'\x23\0')))
    shared('bits', bits)
    for name, low, high in (('early', 0x10, 0x20), ('call', 0x30, 0x40), ('behind', 0x40, 0x50)):
        body.append(dwarf.Die('lexical_block', ('low_pc', 'addr', low), ('high_pc', 'addr', high), children=[
            dwarf.Die('variable', ('name', 'string', 'inner'), ('type', 'ref4', i), ('const_value', 'sdata', low)),
            dwarf.Die('variable', ('name', 'string', name), ('type', 'ref4', i), ('const_value', 'sdata', low))]))
    u.function(KERNEL, [], body=body)
    return u


def main():
    path, output, base = sys.argv[1:]
    with open(path, 'rb') as file:
        image, _ = cb.relocate(file.read(), int(base, 0))
    writer = dwarf.Writer([unit()])
    entries = [(name, piece) for name, pieces in REGISTERS.items() for piece in pieces]
    registers = KERNEL.encode() + b'\0' + struct.pack('<I', len(entries))
    for name, (part, kind, index) in entries:
        registers += struct.pack('<I', part) + name.encode() + b'\0' + struct.pack('<III', kind << 24 | index, 0, LAST)
    image = cb.with_sections(image, {'.debug_info': bytes(writer.info), '.debug_abbrev': bytes(writer.abbrev), '.debug_str': bytes(writer.str),
                                     '.nv_debug_info_reg_sass': registers})
    with open(output, 'wb') as file:
        file.write(image)


if __name__ == '__main__':
    main()
