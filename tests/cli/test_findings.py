#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Findings at the bounds of what they compare: each is there on one side and not on the other. Prints TAP.

usage: test_findings.py WARPSCOPE BUILDER_FOLDER (as test_exceptions.py, whose planted states it uses)

Cases are like those of test_exceptions.py, which plants them; a case here is a row that has a second row beside it, and
only the JSON is looked at.
"""
import functools
import gzip
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

from test_exceptions import (DATA, HEAP, Planted, Wrong, arrived, called, copies, garbage, hold, instruction, run, said, spoken,  # noqa: E402
                             tensor_map, tensor_memory, word_90)

import coredump  # noqa: E402
import cubin as cb  # noqa: E402
from coredump import FLAG_SKIP_GLOBAL, FLAG_SKIP_LOCAL, Options  # noqa: E402
from machine import H100, LOCAL_BYTES, LOCAL_WINDOW, STACK_TOP, Foreign, Gpu, Position, Process, State  # noqa: E402

CASES = []


def case(function):
    CASES.append(function)
    return function


@functools.cache
def assembled(text, arch='sm_90'):
    """The bytes of one instruction."""
    with tempfile.TemporaryDirectory() as folder:
        source, image = os.path.join(folder, 'a.s'), os.path.join(folder, 'a.cubin')
        with open(source, 'w', encoding='utf-8') as handle:
            handle.write(f'.arch {arch}\n.kernel k\n{text}\nEXIT\n.end\n')
        run(sys.argv[1], 'as', source, '-o', image)
        with open(image, 'rb') as handle:
            cubin = cb.Cubin(handle.read())
    symbol = cubin.function('k')
    start = cubin.sections[symbol.shndx].offset + symbol.value
    return cubin.data[start:start + 16]


def replaced(text, arch='sm_90'):
    word = assembled(text, arch)

    def patch(image, at):
        image[at:at + 16] = word
    return patch


def rewrite(planted, place, text, arch='sm_90'):
    """Puts another instruction into the loaded image."""
    image = bytearray(planted.module.node.relocated)
    replaced(text, arch)(image, planted.module.cubin.sections[place.shndx].offset + place.offset)
    planted.module.node.relocated = bytes(image)


# ---- instructions ----

@case
def changed_bytes_where_the_loader_writes():
    """The loader fills in an address: other bytes there are no sign of a change."""
    for offset, change in ((0x220, False), (0x210, True)):
        planted = Planted('asserts', 'G.sm_90', params=struct.pack('<QQi', HEAP, HEAP, 10))
        place = planted.at(offset, 'check')
        image = bytearray(planted.module.node.relocated)
        at = planted.module.cubin.sections[place.shndx].offset + place.offset
        image[at + 4] ^= 0x55
        planted.module.node.relocated = bytes(image)
        planted.place(State(place, error=place, exception=4))
        yield {**said(planted, 4), 'findings': [('' if change else '!') + 'other bytes there than the cubin', '!the same bytes']}


@case
def architectures_that_a_device_runs():
    """Code runs on its major version from its minor version on; code of a variant only where it was made for."""
    for form, sm, runs in (('li.sm_80', 80, True), ('li.sm_80', 86, True), ('li.sm_90', 91, True), ('li.sm_90', 89, False),
                           ('li.sm_80', 79, False), ('li.sm_80', 90, False), ('li.sm_90', 100, False), ('li.sm_100a', 100, True),
                           ('li.sm_100a', 103, False)):
        name = form.split('.')[1]
        yield {**instruction(26, form=form, gpu=Gpu('a GPU', 'GX', sm, 4), offset=0x40),
               'findings': [f'was made for {name}; the device is sm_{sm}$'],
               'causes': [('!' if runs else '') + 'for an architecture that this device does not run']}


@case
def registers_of_an_instruction():
    """The one that reaches highest is named, with the registers behind it; RZ is none."""
    for text, used, n_regs, beyond in (('IADD3 R30, R7, R9, RZ', 'R30', 31, False), ('IADD3 R30, R7, R9, RZ', 'R30', 30, True),
                                       ('IADD3 R7, R9, R30, RZ', 'R30', 31, False),
                                       ('LDC.64 R28, c[0x0][0x210]', 'R28 to R29', 30, False),
                                       ('LDC.64 R28, c[0x0][0x210]', 'R28 to R29', 29, True)):
        yield {**instruction(28, patch=replaced(text), numRegs=n_regs),
               'findings': [f'uses {used}; the warp has {n_regs} registers, R0 to R{n_regs - 1}'],
               'causes': [('' if beyond else '!') + 'likely: .*(released|did not allocate)']}


@case
def registers_by_the_launch():
    """Dumps of before 525 say for the launch only how many registers a warp has."""
    for driver, given_back in ((400, False), (615, True)):
        yield {**instruction(28, patch=replaced('IADD3 R31, R7, R9, RZ'), options=Options(driver=driver), numRegs=8),
               'findings': [f'uses R31; the warp has {8 if given_back else "[0-9]+"} registers', ('' if given_back else '!') + 'it released some']}


@case
def registers_that_none_gave_back():
    """As many as the launch gave: nothing was released."""
    yield {**instruction(28), 'findings': ['uses R5; the warp has 16 registers, R0 to R15', '!released'], 'causes': ['!likely']}


@case
def registers_that_go_together():
    """Two begin at an even number, four at a multiple of four."""
    for text, odd in (('LDG.E.128 R4, desc[UR4][R8.64]', None), ('LDG.E.128 R6, desc[UR4][R8.64]', 'uses R6 to R9 as one operand.*a multiple of 4'),
                      ('LDG.E.64 R6, desc[UR4][R8.64]', None), ('LDG.E.64 R7, desc[UR4][R8.64]', 'uses R7 to R8 as one operand.*a multiple of 2'),
                      ('LDG.E R7, desc[UR4][R8.64]', None)):
        yield {**instruction(25, patch=replaced(text)), 'findings': [odd or '!as one operand']}


@case
def signatures_of_instructions():
    """The last part of a signature is the kind of the instruction at errorpc."""
    for text, kind in (('IADD3 R2, R3, R4, RZ', 'other instruction'), ('LDG.E R4, desc[UR4][R2.64]', 'load'), ('LDS R4, [R2]', 'load'),
                       ('STG.E desc[UR4][R2.64], R4', 'store'), ('ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR4][R2.64], R5', 'atomic'),
                       ('LDGSTS.E [R2], desc[UR4][R4.64]', 'asynchronous copy'), ('RET.ABS.NODEC R20 0x0', 'return'), ('EXIT', 'exit'),
                       ('BPT.TRAP 0x1', 'trap'), ('BAR.SYNC.DEFER_BLOCKING 0x0', 'barrier'), ('BSYNC B0', 'convergence'), (None, 'unknown instruction')):
        yield {**instruction(4, patch=replaced(text) if text else garbage),
               'signature': f'instruction that cannot be executed | _Z10const_pastPii | const_past | {kind}'}


# ---- memory spaces ----

def shared(form, offset, n_bytes, address=0x500, step=4):
    planted = Planted('shared_past', form, shared=n_bytes, params=struct.pack('<QQi', HEAP, HEAP, 9))
    load = planted.at(offset)
    planted.place(State(load, error=load, exception=5, address={lane: address + step * lane for lane in range(32)}))
    return said(planted, 5)


@case
def the_end_of_shared_memory():
    """A load of 4 bytes may end where the memory does."""
    for n_bytes, address, where in ((1408, 1404, 'inside'), (1408, 1405, 'across the end of'), (1408, 1408, 'just past the end of'),
                                    (1408, 0, 'inside'), (4, 0, 'inside')):
        yield {**shared('li.sm_90', 0x170, n_bytes, address, 0), 'where': f'{where} the {n_bytes} bytes of shared memory of the block',
               'causes': [('!' if where == 'inside' else '') + 'likely: an index past the end of shared memory']}


@case
def parts_of_shared_memory():
    """From sm_90 on the first 1,024 bytes are the system's; a block cannot have less than its image says."""
    for form, offset, n_bytes, words in (('li.sm_90', 0x170, 1280, '1280 static in the image .1024 of them reserved for the system., 0 requested'),
                                         ('li.sm_90', 0x170, 1279, '^[^:]*has 1279 bytes of shared memory$'),
                                         ('li.sm_80', 0xc0, 300, 'has 300 bytes of shared memory: 256 static in the image, 44 requested')):
        yield {**shared(form, offset, n_bytes), 'findings': [words]}


@case
def local_memory_that_is_not_recorded():
    """Left out of the dump, its limits are not known."""
    for options in (Options(driver=615), Options(driver=615, flags=FLAG_SKIP_LOCAL)):
        planted = Planted('big_frame', local=True)
        store = planted.at(0x120, 'spread')
        planted.place(State(store.later(1), (planted.calls()[0].later(1),), error=store, exception=5,
                            address={lane: STACK_TOP - LOCAL_BYTES - 4 for lane in range(32)}))
        lost = 'the local memory of lane 0 is not recorded: its limits are not known'
        yield {**said(planted, 5, options=options), 'findings': [lost if options.flags else '!is not recorded']}


def constant(text, options=None):
    planted = Planted('const_past', params=struct.pack('<Qi', HEAP, 9))
    load = planted.at(0x80)
    rewrite(planted, load, text)
    planted.place(State(load, error=load, exception=29, regs={0: lambda lane: 0x7000 + lane * 4}))
    return said(planted, 29, options=options)


@case
def constants_of_other_banks():
    """Of bank 0 the parameters are named; of a bank that is in no table the size is not known."""
    for text, findings in (('LDC R5, c[0x3][R0]', ['constant bank 3 has 1024 bytes', '!parameters']),
                           ('LDC R5, c[0x0][R0]', ['constant bank 0 has 540 bytes', 'the parameters of the kernel are bytes 0x210 to 0x21c of it']),
                           ('LDC R5, c[0x2][R0]', ['the size of constant bank 2 is not recorded', '!parameters'])):
        yield {**constant(text), 'findings': findings}


@case
def the_lane_whose_address_is_of_another_space():
    """The first one that leads into a window is told, not the first lane."""
    for lanes in (range(5, 32), range(31, 32)):
        planted = Planted('wrong_space', shared=0x500)
        planted.process.memory.append((HEAP, bytes(512)))
        load = planted.at(0x120)
        planted.place(State(load, error=load, exception=7, address={
            lane: LOCAL_WINDOW + 0x100 + 4 * lane if lane in lanes else HEAP + 4 * lane for lane in range(32)}))
        first = lanes[0]
        yield {**said(planted, 7), 'findings': [f'lane {first}: {LOCAL_WINDOW + 0x100 + 4 * first:#x} is the generic address of byte '
                                                f'{0x100 + 4 * first:#x} of local memory']}


# ---- addresses of global memory ----

def one_address(address, errorpc=0x50, pc=0x50, base=HEAP, more=()):
    """All lanes load 8 bytes at one address, by a pointer to 4,096 bytes."""
    planted = Planted('calls_pointer', params=struct.pack('<QQi', base, HEAP, 3))
    planted.process.memory += [(start, bytes(4096)) for start in (HEAP, *more)]
    planted.place(State(planted.at(pc), error=planted.at(errorpc), exception=14, regs={6: lambda _: address, 7: lambda _: address >> 32}))
    return said(planted, 14)


@case
def addresses_beside_what_the_base_points_into():
    """From 256 elements past the end on it is no small mistake; what the first or the last 64 KiB begin is a null pointer."""
    near, far, before, null, wild = ('likely: an index or a loop goes a little past the end', 'likely: a stride, pitch or size parameter is wrong',
                                     'likely: a negative index', 'likely: a null pointer', 'likely: a pointer or index is garbage')
    for address, where, cause in (
            (HEAP, 'inside', 'possible: the memory existed'), (HEAP + 4088, 'inside', 'possible: the memory existed'),
            (HEAP + 4096, 'just past the end of', near), (HEAP + 4092, 'across the end of', near), (HEAP + 4097, '1 byte past the end of', near),
            (HEAP + 4096 + 8 * 255, '2040 bytes past the end of', near), (HEAP + 4096 + 8 * 256, '2048 bytes past the end of', far),
            (HEAP - 8, '8 bytes before the start of', before), (HEAP - 1, '1 byte before the start of', before), (0xffff, None, null),
            (0x10000, f'{HEAP - 0x10000} bytes before the start of', before), (2**64 - 1, None, null), (2**64 - 0x10000, None, null),
            (2**64 - 0x10001, None, wild), (2**57 - 8, f'{2**57 - 8 - HEAP - 4096} bytes past the end of', far), (2**57, None, wild)):
        yield {**one_address(address), 'causes': [cause, '!the buffer was freed'], 'where': where and where + f' the 4096 bytes at {HEAP:#x} that the base points into'}


@case
def addresses_whose_base_points_nowhere():
    """The nearer one of the ranges around it is told, of two as near the one below; a range more than 1 GiB away tells nothing."""
    above, known = HEAP + 0x3000, '{} the nearest known range, 4096 bytes at {:#x}'
    for address, where in ((HEAP + 0x1100, known.format('256 bytes past the end of', HEAP)), (above - 0x100, known.format('256 bytes before the start of', above)),
                           (HEAP + 0x1ffc, known.format('4092 bytes past the end of', HEAP)), (HEAP + 0x1ffd, known.format('4099 bytes before the start of', above)),
                           (above - 4, known.format('4 bytes before the start of', above)), (HEAP + 8, f'inside known memory, 4096 bytes at {HEAP:#x}'),
                           (HEAP + 0xff8, f'inside known memory, 4096 bytes at {HEAP:#x}'), (HEAP + 0xff9, known.format('across the end of', HEAP)),
                           (above + 0x1000 + (1 << 30), known.format(f'{1 << 30} bytes past the end of', above)),
                           (above + 0x1001 + (1 << 30), 'far from any known range')):
        lost = 'likely: the buffer was freed before the kernel ran, or is host memory'
        yield {**one_address(address, base=0x55d000000000, more=(above,)), 'where': where, 'causes': [lost]}


@case
def candidates_without_an_error_pc():
    """Of several instructions before the pc one is likely the one if its address alone is wrong, and stands first."""
    bad = HEAP + 8192
    for first, second, wanted in ((HEAP, bad, [(0x90, 'likely'), (0x80, 'possible')]), (bad, HEAP, [(0x80, 'likely'), (0x90, 'possible')]),
                                  (bad, bad, [(0x90, 'possible'), (0x80, 'possible')]), (HEAP, HEAP, [(0x90, 'possible'), (0x80, 'possible')])):
        planted = Planted('const_past', params=struct.pack('<Qi', HEAP, 9))
        planted.process.memory.append((HEAP, bytes(4096)))
        place = planted.at(0x80)
        rewrite(planted, place, 'STG.E desc[UR4][R6.64], R5')
        regs = {2: second, 3: second >> 32, 6: first, 7: first >> 32}
        planted.place(State(planted.at(0xa0), exception=14, regs={number: lambda _, value=value: value for number, value in regs.items()}))
        yield {**said(planted, 14), 'candidates': [(planted.at(offset).address, sure) for offset, sure in wanted]}


@case
def addresses_that_depend_on_the_block():
    """How far is judged by the first block, where the address is past the end there, too."""
    near, far = 'likely: an index or a loop goes a little past the end', 'likely: a stride, pitch or size parameter is wrong'
    for offset, block, cause, words in (
            (0x1000, 1000, near, '8000 bytes past the end of .* the base points into; in the first block just past that end'),
            (0x1001, 1000, near, '8001 bytes past the end of .* the base points into; in the first block 1 byte past that end'),
            (0x1010, 1000, near, '8016 bytes past the end of .* the base points into; in the first block 16 bytes past that end'),
            (0x0ff8, 1000, far, '7992 bytes past the end of .* the base points into'), (0x1000, 0, near, 'just past the end of .* the base points into')):
        planted = Planted('calls_pointer', params=struct.pack('<QQi', HEAP, HEAP, 1), grid=2000)
        planted.process.memory.append((HEAP, bytes(4096)))
        for at, text in ((0x10, 'S2R R3, SR_CTAID.X'), (0x50, f'LDG.E.64 R6, desc[UR36][R6.64+{offset:#x}]')):
            rewrite(planted, planted.at(at), text)
        planted.place(State(planted.at(0x60), error=planted.at(0x50), exception=14), block=(block, 0, 0))
        yield {**said(planted, 14), 'causes': [rf'{cause}.* \(lane 0: {words}\)$']}


@case
def addresses_that_are_not_aligned():
    """The pointer itself is off, or what is added to it; in all lanes by the same, or in one by a byte."""
    offset, pointer = 'likely: the offset from an aligned pointer is not a multiple of the access width', 'likely: a pointer is offset by less than the width'
    for base, lanes, by, cause, words in ((HEAP, 32, 4, offset, 'lane 0: address 0x7f3a00000004, 4 bytes off a multiple of 8'),
                                          (HEAP + 4, 32, 4, pointer, 'lane 0: address 0x7f3a00000004, 4 bytes off a multiple of 8'),
                                          (HEAP + 1, 32, 1, pointer, 'lane 0: address 0x7f3a00000001, 1 byte off a multiple of 8'),
                                          (HEAP, 1, 7, offset, 'lane 31: address 0x7f3a000000ff, 7 bytes off a multiple of 8')):
        planted = Planted('calls_pointer', params=struct.pack('<QQi', base, base, 1))
        planted.process.memory.append((HEAP, bytes(4096)))
        place = planted.at(0x50)
        planted.place(State(place, error=place, exception=6, regs={6: lambda lane, n=lanes, off=by: HEAP + 8 * lane + (off if lane >= 32 - n else 0), 7: lambda _: HEAP >> 32}))
        yield {**said(planted, 6), 'causes': [rf'{cause}.* \({words}\)$']}


@case
def headlines_of_accesses():
    """What the lane did that stands out, or what all suspects did."""
    one, all_of = 'lane {} {} at {:#x}, {} of the 4096 bytes', 'the 32 suspects {} each from global memory at {}'
    wide, byte, word = 'LDG.E.64 R6, desc[UR36][R6.64]', 'STG.E.U8 desc[UR36][R6.64], R4', 'STG.E desc[UR36][R6.64], R4'
    past = '4096 bytes past the end'
    for text, address, active, words in (
            (wide, lambda lane: HEAP + 8192 + 8 * lane, None, ('thread (0,0,0) and 31 more', one.format(0, 'loads 8 bytes from global memory', HEAP + 8192, past))),
            (wide, lambda lane: HEAP + 8192 + 8 * lane, 1, ('thread (0,0,0)', one.format(0, 'loads 8 bytes from global memory', HEAP + 8192, past))),
            (wide, lambda lane: HEAP + 4096 + 8 * (lane - 20), None,
             ('thread (20,0,0) and 11 more', one.format(20, 'loads 8 bytes from global memory', HEAP + 4096, 'just past the end'))),
            (byte, lambda lane: HEAP + 8192 + lane, None, ('thread (0,0,0) and 31 more', one.format(0, 'stores 1 byte to global memory', HEAP + 8192, past))),
            (word, lambda lane: HEAP + 8192 + 4 * lane, None, ('thread (0,0,0) and 31 more', one.format(0, 'stores 4 bytes to global memory', HEAP + 8192, past))),
            (wide, lambda lane: HEAP + 8 * lane, None, ('among threads (0,0,0) to (31,0,0)', all_of.format('load 8 bytes', f'{HEAP:#x} to {HEAP + 248:#x}'))),
            (wide, lambda lane: HEAP + 64, None, ('among threads (0,0,0) to (31,0,0)', all_of.format('load 8 bytes', f'{HEAP + 64:#x}, inside')))):
        planted = Planted('calls_pointer', params=struct.pack('<QQi', HEAP, HEAP, 3))
        planted.process.memory.append((HEAP, bytes(4096)))
        place = planted.at(0x50)
        rewrite(planted, place, text)
        planted.place(State(place, error=place, exception=14, active=active, regs={6: address, 7: lambda lane, of=address: of(lane) >> 32}))
        yield {**said(planted, 14), 'summary': ', '.join(('block (0,0,0)', '; '.join(words)))}


@case
def instructions_around_a_fault():
    """Eight before the first that is marked, four behind the last; a pc further than 32 instructions from errorpc is not shown with it."""
    for errorpc, pc, first, last, marks in ((0xa0, 0xa0, 0x20, 0xe0, ['errorpc pc']), (0xa0, 0xc0, 0x20, 0x100, ['errorpc', 'pc']),
                                            (0xc0, 0xa0, 0x20, 0x100, ['pc', 'errorpc']), (0x50, 0x50, 0, 0x90, ['errorpc pc']),
                                            (0x80, 0x80, 0, 0xc0, ['errorpc pc']), (0x90, 0x90, 0x10, 0xd0, ['errorpc pc'])):
        yield {**one_address(HEAP, errorpc, pc), 'listing': (first, last, marks)}
    for offset, n in ((0x20 * 16, 32 + 8 + 1), (0x21 * 16, 8 + 1 + 4)):
        planted = Planted('calls_virtual', 'G.sm_90')
        planted.place(State(planted.at(0x80 + offset), error=planted.at(0x80), exception=14))
        yield {**said(planted, 14), 'n_listed': n + 4 * (n > 20)}


# ---- the stack ----

@case
def functions_that_call_themselves():
    """From twice on the stack on; the kernel, which is on it once, does not."""
    for times in (1, 2, 3):
        planted = Planted('recurses', block=4, local=True)
        stop, again = planted.at(0x40, 'descend'), planted.calls('descend')[0].later(1)
        planted.place(State(stop, (again,) * (times - 1) + (planted.calls()[0].later(1),), error=stop, exception=35))
        yield {**said(planted, 35), 'causes': [('!' if times == 1 else '') + 'likely: endless recursion'],
               'findings': [f'`descend` is on the call stack {times} times' if times > 1 else '!`descend` is on the call stack', '!`recurses` is on the call']}


# ---- jumps ----

@case
def addresses_as_from_a_null_pointer():
    """Below 64 KiB, where nothing is ever mapped."""
    for address, null in ((0, True), (0xfff0, True), (0x10000, False)):
        words = f'the code jumped to {address:#x}'
        yield {**said(called('calls_pointer', 6, address, 8), 8),
               'findings': [words + (', as from a null pointer' if null else ': no image of the dump has code there')]}


@case
def a_target_that_was_loaded():
    """The address of the load is told where the state gives it; the value of R6 is the target itself."""
    def patched(number, text):
        def patch(planted):
            place = planted.module.entry(planted.kernel('calls_pointer')).later(number)
            rewrite(planted, place, text)
        return patch
    for which, patch, where in ((3, None, '0x7f3a00000018'), (-2, None, '0x7f39fffffff0'),
                                (3, patched(5, 'LDG.E.64 R6, desc[UR36][R6.64+0x40]'), '0x7f3a00000058'),
                                (3, patched(5, 'LDG.E.128 R4, desc[UR36][R6.64]'), '0x7f3a00000020'),  # its upper half is called
                                (3, patched(7, 'IADD3 R6, R6, 0x10, RZ'), '0x7f3a00000018'),
                                (3, patched(7, 'SEL R6, R6, R3, P0'), None), (3, patched(7, 'MOV R6, R3'), None)):
        planted = called('calls_pointer', 6, 0, 8, params=struct.pack('<QQi', HEAP, HEAP + 0x100, which), patch=patch)
        yield {**said(planted, 8), 'findings': [f'the target was loaded from {where}, as a function pointer is' if where else '!was loaded from']}


# ---- clusters ----

@case
def blocks_of_a_cluster_in_three_dimensions():
    """Ranks count x first, then y, then z, from the first block of the cluster."""
    blocks = [(4 + x, 6 + y, 8 + z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    for own, here in ((7, ()), (2, (0, 5))):
        planted = Planted('shared_past', cluster=(2, 2, 2), shared=1024)
        load = planted.at(0x170)
        for number, rank in enumerate((own, *here)):
            planted.launch.place(2 * number, blocks[rank], lambda _, first=rank == own: State(load, exception=34) if first else State(load))
        planted.process.devices[0].blame(0, 34, target=None)
        gone = ', '.join(f'{rank} {block}'.replace(', ', ',') for rank, block in enumerate(blocks) if rank not in (own, *here))
        yield {**said(planted, 34), 'findings': [rf'the block is rank {own} of a cluster of 8 \(2,2,2\), whose first block is \(4,6,8\)',
                                                 f'{7 - len(here)} of the 8 blocks of the cluster are no longer resident: rank {re.escape(gone)}$']}


# ---- what is not recorded ----

@case
def registers_that_are_not_recorded():
    """The finding that needs them says so."""
    def without(planted, *kinds):
        for warp in planted.cta.warps:
            warp.uregs = None if 'uregs' in kinds else warp.uregs
            for lane in warp.lanes if 'regs' in kinds else ():
                lane.regs = None
        return planted
    stack = Planted('recurses', block=4, local=True)
    stop = stack.at(0x40, 'descend')
    stack.place(State(stop.later(1), (stack.calls()[0].later(1),), error=stop, exception=35))
    yield {**said(without(stack, 'regs'), 35), 'findings': ['the stack pointer, R1, is not recorded', '!bytes of stack']}
    copy = Planted('tma_memory', params=struct.pack('<QQi', HEAP, HEAP, 0), shared=0x810)
    copy.place(State(copy.at(0x100), error=copy.at(0xf0), exception=36))
    yield {**said(without(copy, 'uregs'), 36),
           'findings': ['the uniform registers with the address of the tensor map are not recorded', '!tensor map of']}
    column = Planted('tensor_memory', 'li.sm_100a', block=64, shared=0x410)
    column.place(State(column.at(0x370), error=column.at(0x370), exception=20))
    yield {**said(without(column, 'uregs'), 20), 'findings': ['!addresses lane']}


@case
def versions_that_are_not_recorded():
    """Dumps of before 565 do not say which driver wrote them."""
    for driver, words in ((550, "the driver's version is not recorded: versions cannot be compared"), (565, 'belongs to CUDA 12.7'),
                          (580, 'belongs to CUDA 13.0')):
        yield {**instruction(22, options=Options(driver=driver)), 'findings': [words],
               'causes': [('' if driver == 565 else '!') + 'certain: the toolkit that built the code is newer']}


@case
def a_barrier_with_copies_under_way():
    """The bits between the counts are not documented: they are shown, and nothing is made of them."""
    for bits in (0, 1, 1 << 21, 1 << 42):
        yield {**arrived(word_90(4, 1) | bits),
               'findings': [f'it has undocumented bits set, {bits:#x}: bytes of copies may be pending' if bits else '!undocumented']}


@case
def a_barrier_for_as_many_as_there_are():
    """64 arrivals are expected of a block of 64."""
    yield {**arrived(word_90(1, 1)), 'findings': ['phase 0, 1 arrival expected, 1 pending$', '1 arrival is expected; the block has 64 threads']}
    for expected in (64, 63):
        yield {**arrived(word_90(expected, 1)), 'findings': [('!' if expected == 64 else '') + 'arrivals are expected; the block has 64 threads']}


# ---- tensor maps ----

@case
def bounds_of_tensor_maps():
    """Five dimensions; rows of a box of a multiple of 16 bytes, and no longer than the swizzle; boxes that are interleaved have other rules."""
    def with_word_2(content, clear, bits):
        content = bytearray(content)
        struct.pack_into('<I', content, 8, struct.unpack_from('<I', content, 8)[0] & ~clear | bits)
        return bytes(content)
    long, odd = 'more than its swizzle of', 'must be a multiple of 16'
    rows = [(tensor_map(box=(64, 32)), ['!' + long, '!' + odd, '!as it must be', 'swizzle 128B$', 'boxes of 64 x 32']),
            (tensor_map(box=(72, 16)), ['a row of its box has 144 bytes, more than its swizzle of 128 bytes allows', '!' + odd]),
            (tensor_map(box=(72, 16), swizzle=0), ['!' + long, '!' + odd, 'no swizzle$']),
            (tensor_map(box=(16, 16), swizzle=1), ['!' + long, 'swizzle 32B$']),
            (tensor_map(box=(24, 16), swizzle=1), ['48 bytes, more than its swizzle of 32 bytes allows']),
            (tensor_map(box=(40, 16), swizzle=2), ['80 bytes, more than its swizzle of 64 bytes allows', 'swizzle 64B$']),
            (with_word_2(tensor_map(box=(20, 16)), 0, 1 << 11), ['!' + long, '!' + odd, ', interleaved$']),
            (with_word_2(tensor_map(), 7 << 4, 4 << 4), ['!dimensions; the maximum'])]
    for content, findings in rows:
        yield {**copies(27, content), 'findings': findings}


@case
def tensors_that_end_where_their_memory_does():
    """Of 512 rows of 2,048 bytes the last one has only as many bytes as it needs."""
    for rows, width, past in ((512, 1024, None), (512, 1023, None), (513, 1024, 2048), (513, 1, 2)):
        yield {**copies(36, tensor_map(dims=(width, rows)), 'parameter'),
               'findings': [f'the tensor reaches {past} bytes past the end of the 1048576 bytes' if past else '!past the end']}


# ---- tensor memory ----

@case
def allocated_columns():
    """A bit for 32 columns; neighbours are one range."""
    for mask, text in ((0, 'none'), (1, '0 to 31'), (0x8000, '480 to 511'), (0xffff, '0 to 511'), (0xc003, '0 to 63, 448 to 511'),
                       (0x10001, '0 to 31'), (0x5555, ', '.join(f'{i * 64} to {i * 64 + 31}' for i in range(8)))):
        yield {**tensor_memory(20, 'tensor_memory', 0x370, 0x00200040, mask), 'findings': [f'has allocated: {text}$']}


@case
def bounds_of_tensor_memory():
    """128 lanes, 512 columns."""
    for lane, column, beyond in ((127, 511, False), (128, 511, True), (127, 512, True)):
        yield {**tensor_memory(20, 'tensor_memory', 0x370, lane << 16 | column),
               'findings': [f'addresses lane {lane}, column {column} of tensor memory'],
               'causes': [('' if beyond else '!') + 'past the end of tensor memory']}


# ---- lanes that are not there any more ----

def detected_late(active, valid=0xffffffff, exited=0, block=32, driver=615, warp=0):
    """Lanes stand after a load of memory that is there: none of them did it, as far as their addresses tell."""
    planted = Planted('calls_pointer', block=block, params=struct.pack('<QQi', HEAP, HEAP, 1))
    planted.process.memory.append((HEAP, bytes(4096)))
    load = planted.at(0x50)
    late = State(load.later(2), error=load, exception=14, active=active, regs={6: lambda _: HEAP, 7: lambda _: HEAP >> 32})
    one = planted.launch.place(2, (0, 0, 0), lambda number: late if number == warp else State(load)).warps[warp]
    one.row.update(validLanesMask=one.row['validLanesMask'] & valid, cbuExitedLanesMask=exited)
    one.lanes = [lane for lane in one.lanes if valid >> lane.row['ln'] & 1]
    return said(planted, 14, options=Options(driver=driver))


@case
def some_suspects_whose_address_is_known():
    """Registers of the others are lost, and so is the memory that would show whose address is wrong."""
    for n, address, words in ((1, lambda lane: HEAP + 8 * lane, f'1 of the 32 suspects loads 8 bytes from global memory at {HEAP:#x}'),
                              (2, lambda _: HEAP, f'2 of the 32 suspects load 8 bytes each from global memory at {HEAP:#x}'),
                              (2, lambda lane: HEAP + 8 * lane, f'2 of the 32 suspects load 8 bytes each from global memory at {HEAP:#x} to {HEAP + 8:#x}')):
        planted = Planted('calls_pointer', params=struct.pack('<QQi', HEAP, HEAP, 1))
        for offset, number in ((0x30, 6), (0x40, 7)):  # nobody can compute the address again
            rewrite(planted, planted.at(offset), f'S2R R{number}, SR_CLOCKLO')
        load = planted.at(0x50)
        planted.place(State(load, error=load, exception=14, regs={6: address, 7: lambda _: HEAP >> 32}))
        for lane in planted.cta.warps[0].lanes[n:]:
            lane.regs = None
        yield {**said(planted, 14, options=Options(driver=615, flags=FLAG_SKIP_GLOBAL)), 'summary': f'; {words}'}


@case
def threads_that_were_active():
    """The SM has the exception, no lane does."""
    for active, words in ((1, 'the thread is the one that was active'), (3, 'the thread is one of 2 that were active')):
        planted = Planted('calls_pointer', params=struct.pack('<QQi', HEAP, HEAP, 1))
        load = planted.at(0x50)
        planted.place(State(load, error=load, active=active))
        planted.process.devices[0].blame(2, 14, load)
        yield {**said(planted, 14), 'precision': [f'; {words}$']}


@case
def lanes_that_may_have_done_it_elsewhere():
    """A fault is detected late: the guilty lanes may have gone on or ended by then."""
    for lanes, words in (
            ({'active': 0xff}, 'among threads (0,0,0) to (7,0,0) or 24 lanes of the warp that are elsewhere'),
            ({'active': 4}, 'thread (2,0,0) or 31 lanes of the warp that are elsewhere'),
            ({'active': 0x7fffffff}, 'among threads (0,0,0) to (30,0,0) or 1 lane of the warp that is elsewhere'),
            ({'active': 3, 'valid': 3, 'exited': 0xfffffffc}, 'among threads (0,0,0) to (1,0,0) or 30 lanes of the warp that have exited'),
            ({'active': 0x7ffffffe, 'valid': 0x7ffffffe, 'exited': 1}, 'among threads (1,0,0) to (30,0,0) or 1 lane of the warp that has exited'),
            ({'active': 3, 'valid': 7, 'exited': 0x10}, 'among threads (0,0,0) to (1,0,0) or 2 lanes of the warp that have exited or are elsewhere'),
            ({'active': 6, 'valid': 6, 'block': 20, 'driver': 550}, 'among threads (1,0,0) to (2,0,0) or 18 lanes of the warp that have exited'),
            ({'active': 6, 'valid': 6, 'block': 40, 'warp': 1, 'driver': 550}, 'among threads (33,0,0) to (34,0,0) or 6 lanes of the warp that have exited'),
            ({'active': 6, 'valid': 6, 'block': 64, 'driver': 550}, 'among threads (1,0,0) to (2,0,0) or 30 lanes of the warp that have exited')):
        yield {**detected_late(**lanes), 'summary': ', ' + words + ';', 'precision': ['or among ' + words.split(' or ', 1)[1] + '$']}


# ---- what is looked for in the code ----

@case
def the_copy_before_the_pc():
    """Without an errorpc that is one, the last copy by a tensor map up to 32 instructions before the pc is told."""
    for copy, pc, error, found in ((0x00, 0x10, None, True), (0x00, 0x200, None, True), (0x00, 0x210, None, False), (0x40, 0x240, 0x230, True),
                                   (0x40, 0x40, None, True), (0x40, 0x30, None, False)):
        planted = Planted('tma_memory', params=struct.pack('<QQi', HEAP, HEAP, 0), shared=0x810)
        for offset, text in ((0xf0, 'NOP'), (copy, 'UTMALDG.2D [UR4], [UR8]')):
            rewrite(planted, planted.at(offset), text)
        planted.place(State(planted.at(pc), error=planted.at(error) if error else None, exception=36))
        planted.uregs(UR8_64=HEAP, UR4=0x400)
        nearby = 'certain: no instruction with a tensor map is nearby: which map was used is not known'
        yield {**said(planted, 36), 'findings': [r'possible: the tensor map of `UTMALDG.2D \[UR4\], \[UR8\]` is at 0x7f3a00000000$' if found else nearby,
                                                 ('!' if found else '') + nearby]}


@case
def registers_written_after_a_copy():
    """What the copy used is certain only where nothing between it and the pc writes the register."""
    for text, pc, the_map, the_tile in (('UMOV UR10, 0x2', 0x110, 'certain', 'certain'), ('UMOV UR9, 0x2', 0x110, 'possible', 'certain'),
                                        ('UMOV UR4, 0x2', 0x110, 'certain', 'possible'), ('UMOV UR9, 0x2', 0x100, 'certain', 'certain')):
        planted = Planted('tma_memory', params=struct.pack('<QQi', HEAP, HEAP, 0), shared=0x810)
        rewrite(planted, planted.at(0x100), text)
        planted.place(State(planted.at(pc), error=planted.at(0xf0), exception=36))
        planted.uregs(UR8_64=HEAP, UR4=0x440)
        yield {**said(planted, 36), 'findings': [f'^{the_map}: the tensor map of', f"^{the_tile}: the tile's address in shared memory, 0x440"]}


@case
def operands_for_the_whole_warp():
    """Of an instruction that was refused for a value, the uniform registers that it reads are told."""
    for text, operands in (('HGMMA.64x8x16.F32 R24, gdesc[UR4], RZ, !UPT', 'UR4(.64)? = .*'), ('UIADD3 UR4, UR5, UR6, URZ', 'UR5 = 0x5, UR6 = 0x6'),
                           ('LDG.E R4, desc[UR4][R2.64]', 'UR4.64 = 0x500000004'), ('UMOV UR4, 0x2', None), ('IADD3 R4, R5, R6, RZ', None)):
        planted = Planted('const_past')
        rewrite(planted, planted.at(0x80), text)
        planted.place(State(planted.at(0x90), error=planted.at(0x80), exception=27))
        planted.uregs(UR4_64=0x500000004, UR6=6)
        words = 'possible: its operands for the whole warp are '
        yield {**said(planted, 27), 'findings': [f'{words}{operands}$' if operands else '!for the whole warp']}


@case
def traps():
    """A warp stops at its trap or behind it."""
    for pc, told in ((0x80, True), (0x90, True), (0xa0, False), (0x70, False)):
        planted = Planted('const_past')
        rewrite(planted, planted.at(0x80), 'BPT.TRAP 0x1')
        planted.place(State(planted.at(pc), broken=True))
        yield {**said(planted, 0), 'findings': [('' if told else '!') + 'certain: the warp stopped at `BPT.TRAP 0x1`$']}


@case
def traps_of_stack_checks():
    """A debug build reads where local memory ends up to six instructions before the trap."""
    for read, trap, told in ((0x20, 0x80, True), (0x20, 0x90, False), (0x00, 0x10, True), (0x80, 0x70, False)):
        planted = Planted('const_past')
        for offset, text in ((read, 'S2R R5, SR_LMEMHIOFF'), (trap, 'BPT.TRAP 0x1')):
            rewrite(planted, planted.at(offset), text)
        planted.place(State(planted.at(trap), broken=True))
        yield {**said(planted, 0), 'findings': ['the trap `BPT.TRAP 0x1` is the stack check that a debug build makes' if told else '!stack check']}


@case
def traps_of_surfaces():
    """A store to a surface stops the warp itself where it is told to trap."""
    for mode, told in (('TRAP', True), ('IGN', False)):
        planted = Planted('const_past')
        text = f'SUST.P.2D.STRONG.SM.R.{mode} [R2], R5, UR5, 0x0'
        rewrite(planted, planted.at(0x80), text)
        planted.place(State(planted.at(0x80), broken=True))
        yield {**said(planted, 0), 'findings': [('' if told else '!') + 'certain: the warp stopped at `' + re.escape(text) + '`, which traps when a coordinate'],
               'causes': [('' if told else '!') + 'surface']}


@case
def calls_without_a_stack():
    """Where no return address is recorded, no call is blamed."""
    planted = Planted('calls_pointer')
    planted.place(State(Foreign(0x41414140), error=Foreign(0x41414140), exception=8))
    yield {**said(planted, 8), 'findings': ["certain: no call in the dump's code is on the stack: the address may come from a return or a branch"]}


@case
def constants_of_a_bank_in_a_register():
    """The bank is part of a descriptor: nothing is told of its size."""
    for text, bank, offset, base in (('LDC R5, cx[UR4][R0+0x14]', None, 'offset', 'a constant bank that a register chooses'),
                                     ('LDC R5, c[0x3][R0+0x14]', 3, 'c[0x3] offset', 'constant bank 3')):
        words = 'certain: the bank is chosen by a register, as with a descriptor'
        yield {**constant(text), 'findings': ['!' + words, 'constant bank 3 has'] if bank else [words, '!constant bank'],
               'access': {'bank': bank, 'operands': offset, 'owner': base}}


@case
def barriers_whose_address_is_not_known():
    """The instruction at errorpc is one for global memory, or for none."""
    for offset in (0x120, 0xf0):
        yield {**arrived(word_90(4, 1), offset=offset), 'findings': ['certain: the address of the barrier is not known', '!the word at']}


@case
def columns_with_an_offset():
    """The offset in the instruction is added to the register; loads and stores."""
    for text, column in (('LDTM R5, tmem[UR4+0x40]', 128), ('STTM tmem[UR4+0x20], R5', 96), ('STTM tmem[UR4], R5', 64)):
        planted = Planted('tensor_memory', 'li.sm_100a', block=64, shared=0x410)
        rewrite(planted, planted.at(0x370), text, 'sm_100')
        planted.place(State(planted.at(0x370), error=planted.at(0x370), exception=20))
        planted.uregs(UR4=0x00200040)
        yield {**said(planted, 20), 'findings': [f'certain: `{re.escape(text)}` addresses lane 32, column {column} of tensor memory']}


@case
def numbers_of_allocations():
    """One instruction allocates, two allocate; none is not told."""
    def without(*offsets):
        planted = Planted('tensor_leak', 'li.sm_100a', block=64, shared=0x410)
        for offset in offsets:
            rewrite(planted, planted.at(offset), 'NOP', 'sm_100')
        planted.place(State(planted.at(0x320), error=planted.at(0x320), exception=21))
        return said(planted, 21)
    yield {**without(0x140), 'findings': ['its code has 1 instruction that allocates tensor memory and 0 that release it'], 'causes': ['likely: the kernel does not release']}
    yield {**without(0x140, 0x1a0), 'findings': ['!its code has'], 'causes': ['!likely: the kernel does not release']}


# ---- other kernels, other blocks ----

@case
def kernels_beside():
    """All that run may have caused what the memory system reports."""
    for n in (1, 2, 3):
        planted = Planted('calls_pointer', params=struct.pack('<QQi', HEAP, HEAP, 1))
        load = planted.at(0x50)
        planted.place(State(load, error=load, exception=10))
        for number in range(1, n + 1):  # the last one has no block on the device
            launch = planted.process.launch(planted.module.context, planted.module, planted.kernel('const_past'), (8, 1, 1), (32, 1, 1))
            if number < n:
                launch.place(2 + 2 * number, (0, 0, 0), lambda _, entry=launch.entry: State(entry))
        yield {**said(planted, 10), 'findings': [f'certain: {n} kernels were running: any of them' if n > 1 else 'certain: one kernel was running: it,']}


@case
def blocks_of_no_known_cluster():
    """A cluster has at most 64 blocks here; without one, nothing is told of ranks."""
    for size, known in ((64, True), (65, False), (None, False)):
        planted = Planted('shared_past', cluster=size and (size, 1, 1), grid=size or 8, shared=1024)
        planted.place(State(planted.at(0x170), exception=18), block=(2, 0, 0))
        planted.process.devices[0].blame(2, 18, target=(4, 0, 0))
        rank = ', rank 4 of the cluster,' if known else ''
        yield {**said(planted, 18), 'findings': [('' if known else '!') + 'the block is rank 2 of a cluster of 64', rf'the target block \(4,0,0\){rank} is not resident']}


@case
def one_block_of_a_cluster_that_is_gone():
    """One is, two are."""
    for gone, words in (((3,), '1 of the 4 blocks of the cluster is no longer resident: rank 3'), ((1, 3), '2 of the 4 blocks of the cluster are no longer')):
        planted = Planted('shared_past', cluster=(4, 1, 1), shared=1024)
        for number in range(4):
            if number not in gone:
                planted.launch.place(2 * number, (number, 0, 0), lambda _, n=number: State(planted.at(0x170), exception=0 if n else 34))
        planted.process.devices[0].blame(0, 34, target=None)
        yield {**said(planted, 34), 'findings': [words]}


# ---- memory of atomics ----

@case
def memory_of_atomics():
    """Those that access managed memory are counted, or all, where none does; of suspects whose address is in no memory nothing is told."""
    for first, second, words in ((True, False, '1 of 32 suspects accesses is managed'), (False, True, '31 of 32 suspects access is managed'),
                                 (False, False, '32 of 32 suspects access is not managed'), (None, False, None), (False, None, None)):
        planted = Planted('system_add', params=struct.pack('<Q', HEAP))
        atomic = planted.at(0x60)
        planted.process.memory += [(HEAP + 0x1000 * i, bytes(256)) for i, managed in enumerate((first, second)) if managed is not None]
        planted.place(State(atomic, error=atomic, exception=15, address={lane: HEAP + (0x1000 if lane else 0) + 4 * lane for lane in range(32)}))
        model = planted.process.dump(550)
        for range_ in model.memory:
            range_.row['managed'] = {HEAP: first, HEAP + 0x1000: second}.get(range_.row['address'], False)
        yield {**said(coredump.write(model, Options(driver=550)), 15), 'findings': [f'certain: the memory that {words} memory$' if words else '!managed memory'],
               'causes': [('' if first or second else '!') + 'likely: a system-wide atomic on managed memory']}


@case
def a_block_that_is_its_cluster():
    """It alone is there, or all of four."""
    for n, words in ((1, 'the 1 block of the cluster is still resident'), (4, 'all 4 blocks of the cluster are still resident')):
        planted = Planted('shared_past', cluster=(n, 1, 1), shared=1024)
        for number in range(n):
            planted.launch.place(2 * number, (number, 0, 0), lambda _, one=number: State(planted.at(0x170), exception=0 if one else 34))
        planted.process.devices[0].blame(0, 34, target=None)
        yield {**said(planted, 34), 'findings': [words]}


@case
def addresses_past_a_boundary():
    """Instructions lie at multiples of 16 bytes."""
    for past, words in ((1, '1 byte'), (2, '2 bytes'), (15, '15 bytes')):
        for code in (4, 23):
            planted = Planted('const_past')
            odd = Position(planted.module, planted.launch.entry.shndx, 0x80 + past)
            planted.place(State(odd, error=odd, exception=code))
            yield {**said(planted, code), 'findings': [f'is {words} past an instruction boundary']}


# ---- what old dumps say ----

@case
def numbers_of_old_drivers():
    """Dumps of before 565 do not say which driver wrote them."""
    for driver, words in ((550, 'this number: the dump is from an old one'), (615, 'this number; the dump is from driver 615.21')):
        planted = Planted('calls_pointer', params=struct.pack('<QQi', HEAP, HEAP, 1))
        planted.place(State(planted.at(0x50), error=planted.at(0x50), exception=1))
        yield {**said(planted, 1, options=Options(driver=driver)), 'findings': [f'certain: current drivers no longer report {words}']}


@case
def starts_of_stacks():
    """A stack starts at most where local memory can end, 16 MiB; the word is 0 where it was not written."""
    for start, pointer, used in ((1 << 24, STACK_TOP, (1 << 24) - STACK_TOP), ((1 << 24) + 4, STACK_TOP, None), (0, 0, None), (STACK_TOP, STACK_TOP, 0),
                                 (STACK_TOP, STACK_TOP + 16, None)):
        planted = Planted('recurses', block=4, local=True)
        planted.bank(0x28, 'I', start)
        stop = planted.at(0x40, 'descend')
        planted.place(State(stop, (planted.calls()[0].later(1),), error=stop, exception=35, regs={1: lambda _, at=pointer: at}))
        yield {**said(planted, 35), 'findings': ['!bytes of stack$' if used is None else f'lane 0 has used {used} bytes of stack$']}


@case
def lines_of_assertions():
    """A number as large as no file is long is no line; nor is 0."""
    for line, told in ((1, 1), (0xffffff, 0xffffff), (0x1000000, None), (0, None)):
        planted = Planted('asserts', params=struct.pack('<QQi', HEAP, HEAP + 0x1000, 10))
        call = planted.calls('check')[0]
        rewrite(planted, planted.at(0x100, 'check'), f'IMAD.MOV.U32 R8, RZ, RZ, {line:#x}')
        planted.place(State(call.later(1), (planted.calls()[0].later(1),), error=call, exception=12))
        yield {**said(planted, 12), 'line': told}


# ---- debug images ----

@case
def debug_images_of_other_code():
    """An image may give lines only where its code is the same, byte for byte."""
    with gzip.open(os.path.join(DATA, 'except.li.sm_90.cubin.gz')) as handle:
        image = handle.read()
    start = cb.Cubin(image)
    start = start.sections[start.function('_Z10const_pastPii').shndx].offset
    planted = Process(H100)
    module = planted.context().load(image.replace(b'.debug_line\0', b'.debug_lost\0').replace(b'.nv_debug_line_sass\0', b'.nv_debug_lost_sass\0'))
    launch = planted.launch(module.context, module, '_Z10const_pastPii', (8, 1, 1), (32, 1, 1))
    load = launch.entry.later(8)
    launch.place(2, (0, 0, 0), lambda _: State(load, error=load, exception=29))
    dump = coredump.write(planted.dump(615), Options(driver=615))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'image')
        for changed, words in (((), None), ((3,), '1 instruction differs, the first at offset 0x30'), ((4, 6), '2 instructions differ, the first at offset 0x40')):
            other = bytearray(image)
            for number in changed:
                other[start + 16 * number + 2] ^= 1
            with open(path, 'wb') as handle:
                handle.write(other)
            yield {**said(dump, 29), 'options': ['--debug-image', path], 'advice': words and f'The code in {path} is different: {words}.'}


# ---- the tests ----

def check(program, path, expected):
    with open(path, 'wb') as handle:
        handle.write(expected['dump'])
    text = run(program, 'report', '--json', '--no-source', *expected.get('options', ()), path)
    if '(null)' in text or str(2**32 - 1) in text:
        raise Wrong('what is not known is told as a number or as no text')
    report = json.loads(text)
    focus = report['focus']
    if 'advice' in expected and expected['advice'] != next((one['advice'] for one in report['missing'] if one['what'].startswith('line ')), None):
        raise Wrong(f"missing: {report['missing']}, not {expected['advice']}")
    if expected.get('summary', '') not in report['verdict']['summary']:
        raise Wrong(f"no {expected['summary']!r} in {report['verdict']['summary']!r}")
    if expected.get('signature', report['signature']) != report['signature']:
        raise Wrong(f"signature {report['signature']!r}, not {expected['signature']!r}")
    candidates = [(int(access['pc'], 16), access['found']['confidence']) for access in focus['accesses'] or ()]
    if expected.get('candidates', candidates) != candidates:
        raise Wrong(f"candidates {candidates}, not {expected['candidates']}")
    if 'where' in expected and focus['accesses'][0]['where'] != expected['where']:
        raise Wrong(f"it is {focus['accesses'][0]['where']!r}, not {expected['where']!r}")
    if 'listing' in expected:
        start = int(focus['frames'][0]['pc'], 16) - int(focus['frames'][0]['rel_pc'], 16)
        shown = [int(insn['pc'], 16) - start for insn in focus['insns']]
        marks = [insn['mark'] for insn in focus['insns'] if insn['mark']]
        if (shown, marks) != (list(range(expected['listing'][0], expected['listing'][1] + 1, 16)), expected['listing'][2]):
            raise Wrong(f'instructions {shown}, marks {marks}')
    for what, value in expected.get('access', {}).items():
        told = focus['accesses'][0][what]
        told = [one['name'] for one in told if one['use'] == 'address' and one['constant']] if what == 'operands' else told['claim']['text'] if what == 'owner' else told
        if told not in (value, [value]):
            raise Wrong(f'{what} is {told!r}, not {value!r}')
    if 'line' in expected and focus['assertion']['line'] != expected['line']:
        raise Wrong(f"line {focus['assertion']['line']}")
    if len(focus['likely_causes']) > 3 or len(focus['commands']) > 4:
        raise Wrong('more causes or commands than a page has')
    if 'n_listed' in expected and len(focus['insns']) != expected['n_listed']:
        raise Wrong(f"{len(focus['insns'])} instructions")
    hold('precision', expected['precision'], [focus['precision']['text']])
    hold('next', expected['next'], report['next'])
    hold('findings', expected['findings'], [text for c in focus['findings'] for text in (c['text'], f"{c['confidence']}: {c['text']}")])
    hold('causes', expected['causes'], spoken(focus['likely_causes']))


def main():
    failed = 0
    print(f'1..{len(CASES)}')
    with tempfile.TemporaryDirectory() as folder:
        for number, function in enumerate(CASES, 1):
            try:
                for expected in function():
                    check(sys.argv[1], os.path.join(folder, 'planted.nvcudmp'), expected)
                wrong = None
            except (Wrong, KeyError, subprocess.TimeoutExpired) as error:
                wrong = repr(error)
            failed += wrong is not None
            print(f"{'not ok' if wrong else 'ok'} {number} - {function.__name__.replace('_', ' ')}: {function.__doc__.strip()}")
            if wrong:
                print('# ' + wrong)
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
