#!/usr/bin/env python3
"""Planted waits: the report says who waits for what, who is missing, and gives the verdict and the signature. Prints TAP.

usage: test_waits.py WARPSCOPE BUILDER_FOLDER
"""
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[2])

import coredump  # noqa: E402
from build import build  # noqa: E402
from coredump import Options  # noqa: E402
from machine import H100, Process, State  # noqa: E402

CUBIN = 'wait.li.sm_90.cubin'
BAR, LOADS = {0xb1d}, {0x981}
FLAG = 0x7f4400001000
NCCL = 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'


class Bench:
    """One kernel of wait.cu, or of an image, in flight."""

    def __init__(self, kernel, threads=128, grid=1, params=b'', hardware=True, image=CUBIN):
        self.process, self.kernel, self.hardware = Process(H100), kernel, hardware
        self.module = self.process.context().load(image)
        self.launch = self.process.launch(self.module.context, self.module, kernel, (grid, 1, 1), (threads, 1, 1),
                                          params=params, shared=1024)

    def at(self, mark, opcodes):
        return self.module.at(self.kernel, 'wait.cu', mark, opcodes)

    def here(self, offset):
        return self.module.entry(self.kernel).later(offset // 16)

    def place(self, state, blocks=1, gone=()):
        for number in range(blocks):
            block = self.launch.place(2 * number, (number, 0, 0), lambda warp, n=number: state(n, warp))
            block.warps = [warp for i, warp in enumerate(block.warps) if i not in gone]
        return self

    def report(self, folder):
        path = os.path.join(folder, 'waits.nvcudmp')
        with open(path, 'wb') as handle:
            handle.write(coredump.write(self.process.dump(Options().driver), Options()))
        return read(path)


def read(path):
    done = subprocess.run([sys.argv[1], '--json', '--no-source', path], capture_output=True, check=True, timeout=60)
    return json.loads(done.stdout)


def flag_at(position, address):
    """Registers that make a load read at `address`."""
    base = position.word() >> 24 & 0xff
    return {base: lambda _: address, base + 1: lambda _: address >> 32}


def expect(what, value, wanted):
    if value != wanted:
        raise AssertionError(f'{what} is {value!r}, should be {wanted!r}')


def only(report, kind):
    waits = [w for w in report['waits'] if w['kind'] == kind]
    expect(f'number of waits of kind {kind}', len(waits), 1)
    return waits[0]


def threads_that_ended_hold_up_no_barrier_without_a_count(folder):
    for hardware in (3, 0):
        bench = Bench('_Z10early_exitPfi', grid=2)
        stand = bench.at('barrier', BAR)
        report = bench.place(lambda _b, _w: State(stand, barrier=hardware), blocks=2, gone=(3,)).report(folder)
        wait = only(report, 'barrier')
        expect('verdict', report['verdict']['kind'], 'hang' if hardware else 'none')
        expect('waiting warps', report['verdict']['waiting_warps'], 6 if hardware else 0)
        expect('confidence', wait['confidence'], 'certain' if hardware else 'likely')
        expect('barrier', (wait['barrier'], wait['lanes'], wait['warps'], wait['blocks']), (0, 192, 6, 2))
        expect('missing', (wait['missing'], wait['never']), (0, 0))
        expect('absentees', wait['absentees'], [])
        expect('words', wait['missing_text'], 'all threads that have not ended have arrived')
        expect('signature', report['signature'], 'hang | _Z10early_exitPfi | early_exit | barrier' if hardware else None)


def a_faulted_warp_never_comes_to_a_barrier(folder):
    bench = Bench('_Z10early_exitPfi')
    stand, bad = bench.at('barrier', BAR), bench.here(0x10)
    report = bench.place(lambda _b, warp: State(bad, error=bad, exception=14) if warp == 1 else State(stand)).report(folder)
    wait = only(report, 'barrier')
    expect('verdict', report['verdict']['kind'], 'fault')
    expect('missing', (wait['missing'], wait['never']), (32, 32))
    expect('absentees', [(a['state'], a['lanes']) for a in wait['absentees']], [('faulted', 32)])


def threads_at_one_barrier_from_two_places_have_met(folder):
    bench = Bench('_Z10two_placesPViPi', threads=96)
    places = [bench.at('first_place', BAR), bench.at('second_place', BAR), bench.at('elsewhere', LOADS).later(2)]
    report = bench.place(lambda _b, warp: State(places[warp])).report(folder)
    waits = [w for w in report['waits'] if w['kind'] == 'barrier']
    expect('places', sorted(int(w['pc'], 16) for w in waits), sorted(p.address for p in places[:2]))
    for wait in waits:
        expect('missing', (wait['barrier'], wait['lanes'], wait['missing'], wait['never']), (0, 32, 32, 0))
        expect('absentees', [(a['state'], a['lanes']) for a in wait['absentees']], [('waits', 32)])


def lanes_that_left_are_missing_at_a_convergence(folder):
    bench = Bench('_Z8divergedPi', threads=32)
    meet, chase = bench.here(0x1b0), bench.here(0x160)
    pcs = {lane: chase if lane & 1 else meet for lane in range(32)}
    report = bench.place(lambda _b, _w: State(pcs, active=0xaaaaaaaa)).report(folder)
    wait = only(report, 'convergence')
    expect('lanes', (wait['lanes'], wait['missing'], wait['never']), (16, 16, 0))
    expect('absentees', [(a['state'], a['lanes']) for a in wait['absentees']], [('runs', 16)])
    expect('verdict', report['verdict']['kind'], 'none')
    expect('waits', len(report['waits']), 1)  # a chase through memory is no wait
    expect('signature', report['signature'], None)


def a_flag_is_shown_with_its_value(folder):
    bench = Bench('_Z9spin_flagPViPi', threads=64)
    load = bench.at('spin', LOADS)
    bench.process.memory.append((FLAG, struct.pack('<II', 0, 5)))
    report = bench.place(lambda _b, _w: State(load.later(2), regs=flag_at(load, FLAG))).report(folder)
    wait = only(report, 'spin')
    expect('verdict', report['verdict']['kind'], 'hang')
    expect('address', (wait['address'], wait['space'], wait['one_address']), (hex(FLAG), 'global', True))
    expect('value', (wait['value'], wait['value_bytes']), ('0x0', 4))
    expect('pc', int(wait['pc'], 16), load.address)
    expect('confidence', wait['confidence'], 'likely')
    expect('signature', report['signature'], 'hang | _Z9spin_flagPViPi | spin_flag | spin')


def the_flag_of_lanes_behind_others_is_shown(folder):
    """The first lanes are elsewhere: the address is that of the first one that waits."""
    bench = Bench('_Z9spin_flagPViPi', threads=32)
    load = bench.at('spin', LOADS)
    bench.process.memory.append((FLAG, struct.pack('<II', 0, 5)))
    pcs = {lane: load.later(2) if lane >= 5 else bench.here(0x80) for lane in range(32)}
    report = bench.place(lambda _b, _w: State(pcs, active=0xffffffe0, regs=flag_at(load, FLAG))).report(folder)
    wait = only(report, 'spin')
    expect('lanes', (wait['lanes'], wait['example']['lane']), (27, 5))
    expect('address', (wait['address'], wait['one_address'], wait['value']), (hex(FLAG), True, '0x0'))


def an_mbarrier_is_tried_again(folder):
    for offset in (0x120, 0x170, 0x180):
        bench = Bench('_Z8try_waitPi', threads=64)
        report = bench.place(lambda _b, _w, at=bench.here(offset): State(at)).report(folder)
        wait = only(report, 'mbarrier')
        expect('verdict', report['verdict']['kind'], 'hang')
        expect('space', wait['space'], 'shared')
        expect('lanes', wait['lanes'], 64)


def a_grid_barrier_is_known_by_its_function(folder):
    bench = Bench('_Z10all_blocksPi', threads=32, grid=2)
    report = bench.place(lambda block, _w: State(bench.here(0x360 if block else 0x3d0)), blocks=2).report(folder)
    expect('kinds', sorted(w['kind'] for w in report['waits']), ['grid', 'grid'])
    expect('verdict', report['verdict']['kind'], 'hang')


def a_collective_is_known_by_its_kernel(folder):
    bench = Bench(NCCL, threads=64)
    report = bench.place(lambda _b, _w: State(bench.at('peer', LOADS))).report(folder)
    expect('collective', only(report, 'spin')['collective'], 'NCCL all-reduce')
    expect('signature', report['signature'], f'hang | {NCCL} | {NCCL} | NCCL all-reduce')
    expect('the end of the summary', report['verdict']['summary'].rsplit('; ', 2)[1:], ['no exception', 'another rank may be the cause'])
    expect('what to do', [line[:49] for line in report['next'][:1]], ['All ranks take part in the NCCL all-reduce: a rank'[:49]])


def no_fault_is_a_verdict(folder):
    bench = Bench('_Z9spin_flagPViPi', threads=64)
    report = bench.place(lambda _b, _w: State(bench.here(0x80))).report(folder)
    expect('verdict', report['verdict']['kind'], 'none')
    expect('summary', report['verdict']['summary'], 'No fault in this dump; 2 warps are resident')
    expect('waits', report['waits'], [])


def a_signature_is_that_of_the_bug(folder):
    def signature(name):
        path = os.path.join(folder, name + '.nvcudmp')
        with open(path, 'wb') as handle:
            handle.write(build(name)[0])
        return read(path)['signature']
    one = signature('illegal-address')
    expect('other lanes, same bug', signature('illegal-address-some-lanes'), one)
    expect('a newer driver, same bug', signature('illegal-address-sm-row'), one)
    for other in ('misaligned-G', 'exited'):
        if signature(other) == one:
            raise AssertionError(f'{other} has the signature of another bug')
    if '0x' in one or '/' in one:
        raise AssertionError(f'an address or a path in {one!r}')


def assembled(folder, text):
    source, image = os.path.join(folder, 'kernel.s'), os.path.join(folder, 'kernel.cubin')
    with open(source, 'w', encoding='utf-8') as handle:
        handle.write(text)
    subprocess.run([sys.argv[1], 'as', source, '-o', image], check=True, timeout=60)
    return image


def run_until(most, image, *options, kernel='k'):
    """The report of the kernel after as many instructions."""
    done = subprocess.run([sys.argv[1], 'run', image, '--arch', 'sm_90a', '--kernel', kernel, *options, '--max-instructions', str(most),
                           '--json'], capture_output=True, check=False, timeout=60)
    return json.loads(done.stdout)


def threads_that_ended_are_missing_at_a_barrier_with_a_count(folder):
    image = assembled(folder, '.arch sm_90a\n.kernel k\nS2R R0, SR_TID.X\nISETP.GE.U32.AND P0, PT, R0, 0x20, PT\n@P0 EXIT\n'
                              'BAR.SYNC.DEFER_BLOCKING 0x1, 0x60\nEXIT\n.end\n')
    wait = only(run_until(3000, image, '--block', '96'), 'barrier')
    expect('missing', (wait['lanes'], wait['missing'], wait['never']), (32, 64, 64))
    expect('absentees', [(a['state'], a['lanes'], a['warps'], a['example']['blockIdx']) for a in wait['absentees']],
           [('exited', 64, 2, [0, 0, 0])])


# What ends the wait for a word that is compared with 5, and values with which the loop goes on, and ends.
UNTIL = {
    'EQ.U32': ('other', (5,), (4, 6)), 'NE.U32': ('equal', (4, 6, 2**32 - 1), (5,)),
    'LT.U32': ('at least', (0, 4), (5, 2**32 - 1)), 'LE.U32': ('more', (4, 5), (6, 2**32 - 1)),
    'GT.U32': ('at most', (6, 2**32 - 1), (5,)), 'GE.U32': ('less', (5, 2**32 - 1), (4,)),
    'LT': ('at least', (4, 2**32 - 1), (5,)), 'LE': ('more', (5, 2**32 - 1), (6,)),
    'GT': ('at most', (6,), (5, 2**32 - 1)), 'GE': ('less', (5, 6), (4, 2**32 - 1)),
}


def the_end_of_a_wait_is_what_the_loop_tests(folder):
    for test, (ends, waiting, done) in UNTIL.items():
        image = assembled(folder, '.arch sm_90a\n.kernel k\n.param flag 8\nLDC.64 R2, c[0x0][0x210]\nagain:\n'
                                  f'LDG.E.STRONG.SYS R4, desc[UR4][R2.64]\nISETP.{test}.AND P0, PT, R4, 0x5, PT\n@P0 BRA `(again)\nEXIT\n.end\n')
        for value in (*waiting, *done):
            report = run_until(1000, image, '--buffer', f'word=u32[1]:{value}', '--arg', '&word')
            expect(f'the wait of {test} with {value}', [wait['until'] for wait in report.get('waits', [])],
                   [{'test': ends, 'signed': 'U32' not in test, 'value': '0x5', **ONE_WORD, 'met': False}] if value in waiting else [])


# A thread waits for a word that a function reads. The loop can end only by another thread where the function does nothing but read.
CALLING = """.arch sm_90a
.kernel k
.param flag 8
LDC.64 R2, c[0x0][0x210]
again:
MOV R20, 32@lo(back)
MOV R21, 32@hi(back)
CALL.ABS.NOINC `(f)
back:
ISETP.EQ.U32.AND P0, PT, R4, RZ, PT
@P0 BRA `(again)
EXIT
.end
.func f
{body}
LDG.E.STRONG.SYS R4, desc[UR4][R2.64]
RET.ABS.NODEC R20 0x0
.end
.func g
{other}
RET.ABS.NODEC R22 0x0
.end
"""
COUNTS = 'MOV R5, 0x3\ninner:\nIADD3 R5, R5, -0x1, RZ\nISETP.NE.U32.AND P1, PT, R5, RZ, PT\n@P1 BRA `(inner)'
LEAVES_AMID = ('MOV R5, 0x3\ninner:\nIADD3 R5, R5, -0x1, RZ\nISETP.EQ.U32.AND P1, PT, R5, RZ, PT\n@P1 BRA `(out)\n'
               'BRA `(inner)\nout:\nNOP')
CALLS = 'MOV R22, 32@lo(there)\nMOV R23, 32@hi(there)\nCALL.ABS.NOINC `(g)\nthere:\nNOP'
CALLED = {
    'nothing else': ('NOP', 'NOP', 'hang'),
    'a loop': (COUNTS, 'NOP', 'none'),
    'a loop that is left in its middle': (LEAVES_AMID, 'NOP', 'none'),
    'a store': ('STG.E desc[UR4][R2.64+0x8], R5', 'NOP', 'none'),
    'a store to its stack': ('STL [R1], R5', 'NOP', 'hang'),
    'an addition in memory': ('ATOMG.E.ADD.STRONG.GPU PT, R6, desc[UR4][R2.64+0x8], R5', 'NOP', 'none'),
    'a barrier': ('BAR.SYNC.DEFER_BLOCKING 0x0', 'NOP', 'none'),
    'a call of what reads': (CALLS, 'LDG.E R7, desc[UR4][R2.64+0x4]', 'hang'),
    'a call of what loops': (CALLS, COUNTS, 'none'),
}


def a_loop_waits_if_what_it_calls_only_reads(folder):
    for what, (body, other, verdict) in CALLED.items():
        image = assembled(folder, CALLING.format(body=body, other=other))
        for most in (3000, 3001, 3007):  # the thread stands at several places of the loop
            report = run_until(most, image, '--buffer', 'words=u32[4]:zeros', '--arg', '&words')
            expect(f'the verdict on a function with {what}, after {most}', report['verdict']['kind'], verdict)
            if verdict == 'hang':
                wait = only(report, 'spin')
                expect(f'what is read in a function with {what}', (wait['instruction'], [frame['function'] for frame in wait['frames']]),
                       ('LDG.E.STRONG.SYS R4, desc[UR4][R2.64]', ['f', 'k']))


ONE_WORD = {'plus': '0x0', 'words': [], 'word': 0, 'each': False}
LOOP = """.arch sm_90a
.kernel k
.param flag 8
.param other 4
S2R R0, SR_TID.X
LDC.64 R2, c[0x0][0x210]
{before}
again:
{load}
{test}
@P0 BRA `(again)
EXIT
.end
"""


def spinning(folder, test, value, load='LDG.E.STRONG.SYS R4, desc[UR4][R2.64]', before='NOP', other=5, address=lambda _: FLAG):
    """The report of a warp that is about to test what it has read."""
    with open(assembled(folder, LOOP.format(test=test, load=load, before=before)), 'rb') as handle:
        bench = Bench('k', threads=32, image=handle.read(), params=struct.pack('<QI', FLAG, other))
    bench.process.memory.append((FLAG, struct.pack('<32I', value, *range(31))))
    regs = {2: address, 3: lambda lane: address(lane) >> 32, 4: lambda _: value, 6: lambda _: other}
    return bench.place(lambda _b, _w: State(bench.here(0x40), regs=regs)).report(folder)


def a_wait_whose_end_has_come_is_no_hang(folder):
    for test, (_, waiting, done) in UNTIL.items():
        for value in (*waiting, *done):
            report = spinning(folder, f'ISETP.{test}.AND P0, PT, R4, 0x5, PT', value)
            wait = only(report, 'spin')
            expect(f'the value {value} that {test} is tested for is there', wait['until']['met'], value in done)
            expect(f'about to end with {value}, tested for {test}', wait['needs'].endswith(', so it is about to end'), value in done)
            expect(f'the verdict on {test} with {value}', report['verdict']['kind'], 'none' if value in done else 'hang')


def a_hang_of_lanes_with_words_of_their_own_does_not_end_with_one_of_them(folder):
    for size, met in ((4, False), (0, True)):
        report = spinning(folder, 'ISETP.NE.AND P0, PT, R4, 0x5, PT', 5, before='IMAD.WIDE.U32 R2, R0, 0x4, R2' if size else 'NOP',
                          address=lambda lane, size=size: FLAG + size * lane)
        wait = only(report, 'spin')
        expect('one address', wait['one_address'], met)
        expect('all at the same address', 'all at the same address' in wait['text'], met)
        expect('the verdict', report['verdict']['kind'], 'none' if met else 'hang')


def numbers_are_written_as_people_write_them(folder):
    for test, text in (('R4, 0x1869f', '99999'), ('R4, 0x186a0', '0x186a0'), ('R4, -0x1869f', '-99999'), ('R4, -0x186a0', '0xfffe7960')):
        wait = only(spinning(folder, f'ISETP.LT.AND P0, PT, {test}, PT', 0x80000000), 'spin')
        expect(f'the end of a wait for {test}', wait['needs'], f'the wait ends when the value is at least {text}; it is 0x80000000')


def what_a_word_is_compared_with_is_found(folder):
    for before, test, wanted in (('NOP', 'R4, c[0x0][0x218]', '0x9'), ('LDC R6, c[0x0][0x218]', 'R4, R6', '0x9'), ('NOP', 'R4, RZ', '0x0')):
        wait = only(spinning(folder, f'ISETP.NE.U32.AND P0, PT, {test}, PT', 3, before=before, other=9), 'spin')
        expect(f'what is compared in {test}', wait['until'], {'test': 'equal', 'signed': False, 'value': wanted, **ONE_WORD, 'met': False})


def a_part_of_a_word_is_shown_and_not_judged(folder):
    wait = only(spinning(folder, 'ISETP.NE.U32.AND P0, PT, R4, 0x5, PT', 0x205, load='LDG.E.U8.STRONG.SYS R4, desc[UR4][R2.64]'), 'spin')
    expect('the value', (wait['value'], wait['value_bytes'], wait['until']['met']), ('0x5', 1, False))


def several_words_of_one_read_are_told(folder):
    def polling(how, words):
        test = '\n'.join(f'ISETP.{compare} P0, PT, R{8 + word}, 0x7, {other}' for compare, word, other in how)
        with open(assembled(folder, LOOP.format(test=test, load='LDG.E.128.STRONG.SYS R8, desc[UR4][R2.64]', before='NOP')), 'rb') as handle:
            bench = Bench('k', threads=32, image=handle.read(), params=struct.pack('<QI', FLAG, 5))
        bench.process.memory.append((FLAG, struct.pack('<8I', *words, *words)))
        regs = {2: lambda _: FLAG, 3: lambda _: FLAG >> 32}
        report = bench.place(lambda _b, _w: State(bench.here(0x40), regs=regs)).report(folder)
        return report['verdict']['kind'], only(report, 'spin')
    flags = (('NE.AND', 3, 'PT'), ('NE.OR', 1, 'P0'))  # of NCCL's LL protocol: both flags must be 7
    sentinel = (('NE.AND', 1, 'PT'), ('EQ.OR', 0, '!P0'), ('EQ.OR', 2, 'P0'), ('EQ.OR', 3, 'P0'))
    either = (('LT.U32.AND', 0, 'PT'), ('LT.U32.AND', 2, 'P0'))
    for how, words, needs, off, listed, each, kind in (
            (flags, (9, 0, 9, 7), 'words 1 and 3 are 7; word 1 is 0', 4, [1, 3], True, 'hang'),
            (flags, (9, 7, 9, 6), 'words 1 and 3 are 7; word 3 is 6', 12, [1, 3], True, 'hang'),
            (flags, (9, 7, 9, 7), 'words 1 and 3 are 7; word 1 is 7, so it is about to end', 4, [1, 3], True, 'none'),
            (sentinel, (0, 7, 1, 7), 'words 0, 1, 2 and 3 are other than 7; word 1 is 7', 4, [0, 1, 2, 3], True, 'hang'),
            (either, (1, 0, 2, 0), 'any of words 0 and 2 is at least 7; word 0 is 1', 0, [0, 2], False, 'hang'),
            (either, (1, 0, 8, 0), 'any of words 0 and 2 is at least 7; word 2 is 8, so it is about to end', 8, [0, 2], False, 'none'),
            (flags[:1], (7, 7, 7, 6), 'word 3 is 7; it is 6', 12, [3], False, 'hang')):
        verdict, wait = polling(how, words)
        expect(f'the verdict of {words}', verdict, kind)
        expect(f'the end of a wait for {words}', wait['needs'], f'the wait ends when {needs}')
        expect(f'the word of {words}', (wait['address'], wait['value_bytes'], wait['until']['word']), (hex(FLAG + off), 4, off // 4))
        expect(f'the words of {words}', (wait['until']['words'], wait['until']['each']), (listed, each))
    mixed = (('NE.AND', 3, 'PT'), ('NE.OR', 1, 'P0'), ('EQ.AND', 0, 'P0'))  # nothing simple is true of these
    expect('mixed conditions', polling(mixed, (7, 0, 0, 0))[1]['until'], None)


def a_number_that_is_added_is_solved_for(folder):
    compares = {'LT': lambda a, b: a < b, 'EQ': lambda a, b: a == b, 'GE': lambda a, b: a >= b}
    for unsigned in (True, False):
        for plus in (8, -2, 0x7fffffff):
            for name, compare in compares.items():
                for value in (0, 4, 5, 0x7fffffff, 0x80000000, 0xfffffffd):
                    def number(of):
                        return of % 2**32 if unsigned else (of + 2**31) % 2**32 - 2**31
                    test = f'IADD3 R5, R4, {hex(plus)}, RZ\nISETP.{name}{".U32" * unsigned}.AND P0, PT, R5, 0xd, PT'
                    report = spinning(folder, test, value)
                    waits = compare(number(value + plus), 13)
                    wraps = number(value) + plus != number(number(value) + plus)
                    until = only(report, 'spin')['until']
                    if until['value'] is not None:
                        expect(f'{value} + {plus} {name} 13', until['met'], not waits)
                        expect('what is added', until['plus'], hex(plus % 2**32))
                    elif name == 'EQ' or (not wraps and plus == 8):
                        raise AssertionError(f'nothing is told of {value} + {plus} {name} 13')
    wait = only(spinning(folder, 'IADD3 R5, R4, 0x8, RZ\nISETP.LT.U32.AND P0, PT, R5, 0x14, PT', 2), 'spin')
    expect('the step of NCCL', wait['needs'], 'the wait ends when the value is at least 12; it is 2')


def missing_threads_are_told_in_words(folder):
    def placed(threads, *states):
        bench = Bench('_Z10early_exitPfi', threads=threads)
        bar, away = bench.at('barrier', BAR), bench.here(0x10)
        kinds = {'bar': State(bar), 'hardware': State(bar, barrier=3), 'runs': State(away), 'faulted': State(away, error=away, exception=14),
                 'trapped': State(away, broken=True)}
        return only(bench.place(lambda _b, warp: kinds[states[warp]]).report(folder), 'barrier')
    for threads, states, missing, text in (
            (33, ('bar', 'runs'), (1, 0), '1 thread has not arrived'), (34, ('bar', 'runs'), (2, 0), '2 threads have not arrived'),
            (33, ('bar', 'faulted'), (1, 1), '1 thread has not arrived; none of them can arrive any more'),
            (96, ('bar', 'faulted', 'runs'), (64, 32), '64 threads have not arrived; 32 of them never can')):
        wait = placed(threads, *states)
        expect(f'missing of {states}', (wait['missing'], wait['never'], wait['missing_text']), (*missing, text))
    expect('trapped', [a['state'] for a in placed(64, 'bar', 'trapped')['absentees']], ['trapped'])
    expect('one thread', placed(33, 'runs', 'bar')['text'], 'waits at barrier 0 of its block')
    expect('two threads', placed(34, 'runs', 'bar')['text'], 'wait at barrier 0 of their block')
    expect('evidence', placed(96, 'hardware', 'bar', 'hardware')['evidence'],
           'the hardware reports it for 2 of the warps; the others are at the instruction that waits')


def barriers_that_count_say_who_has_arrived(folder):
    def placed(lines, at, states):
        with open(assembled(folder, f'.arch sm_90a\n.kernel k\n{lines}\nEXIT\n.end\n'), 'rb') as handle:
            bench = Bench('k', threads=32 * len(states), image=handle.read())
        return only(bench.place(lambda _b, warp: State(bench.here(at if states[warp] else 0))).report(folder), 'barrier')
    sync, arrive = 'BAR.SYNC.DEFER_BLOCKING 0x1, 0x40', 'BAR.ARV 0x1, 0x40'
    for lines, at, states, missing, text in (
            (f'NOP\n{sync}', 0x10, (1, 1), 0, 'all have arrived'), (f'NOP\n{sync}', 0x10, (1, 0), 32, '32 threads have not arrived'),
            (f'NOP\n{sync}', 0x10, (1, 1, 0), 0, 'all have arrived'),
            (f'NOP\n{arrive}\n{sync}', 0x20, (1, 0), 32, 'at most 32 threads have not arrived: some may have arrived before, without waiting'),
            (f'NOP\n{arrive}\n{sync}', 0x20, (1, 1), 0, 'all have arrived')):
        wait = placed(lines, at, states)
        expect(f'missing of {states} at {lines}', (wait['expected'], wait['missing'], wait['missing_text']), (64, missing, text))
        expect(f'who is missing of {states}', [(a['state'], a['lanes']) for a in wait['absentees']], [('runs', 32)] if missing else [])


def kinds_of_absentees_are_told_apart_up_to_a_limit(folder):
    bench = Bench('_Z10early_exitPfi', threads=1024)
    bar = bench.at('barrier', BAR)
    places = [bench.here(offset) for offset in range(0, 0x150, 16) if bench.here(offset).address != bar.address]
    report = bench.place(lambda _b, warp: State(places[min(warp, 19)] if warp else bar)).report(folder)
    wait = only(report, 'barrier')
    expect('missing', wait['missing'], 992)
    expect('absentees', (len(wait['absentees']), sum(a['lanes'] for a in wait['absentees']), sum(a['warps'] for a in wait['absentees'])),
           (16, 992, 31))


def blocks_that_are_not_there_are_counted_where_all_must_be(folder):
    def spin(kernel, grid, blocks, mark):
        bench = Bench(kernel, threads=32, grid=grid)
        load = bench.at(mark, LOADS)
        bench.process.memory.append((FLAG, bytes(8)))
        return bench.place(lambda _b, _w: State(load.later(2), regs=flag_at(load, FLAG)), blocks=blocks).report(folder)

    def beside_a_barrier():
        bench = Bench('_Z10two_placesPViPi', threads=96, grid=3)
        load, bar = bench.at('elsewhere', LOADS), bench.at('second_place', BAR)
        bench.process.memory.append((FLAG, bytes(8)))
        return bench.place(lambda _b, warp: State(load.later(2), regs=flag_at(load, FLAG)) if warp == 2 else State(bar)).report(folder)

    def at_the_grid():
        bench = Bench('_Z10all_blocksPi', threads=32, grid=5)
        return bench.place(lambda _b, _w: State(bench.here(0x360)), blocks=2).report(folder)
    for what, report, told in (('some', spin('_Z9spin_flagPViPi', 4, 2, 'spin'), 'Only 2 of 4 blocks of `spin_flag` are on the GPU.'),
                               ('all', spin('_Z9spin_flagPViPi', 2, 2, 'spin'), None), ('a collective', spin(NCCL, 4, 2, 'peer'), None),
                               ('a wait behind a larger one', beside_a_barrier(), 'Only 1 of 3 blocks of `two_places` are on the GPU.'),
                               ('the barrier of the grid', at_the_grid(), 'Only 2 of 5 blocks of `all_blocks` are on the GPU, and a cooperative launch starts with '
                                'all of them: the others have left before the barrier of the grid.')):
        expect(f'the verdict on {what}', report['verdict']['kind'], 'hang')
        expect(f'what is said of {what}', [line.split(' Blocks that')[0].split(' Look for')[0] for line in report['next'] if line.startswith('Only')],
               [told] if told else [])
    report = beside_a_barrier()
    expect('kinds, the largest first', [(wait['kind'], wait['lanes']) for wait in report['waits']], [('barrier', 64), ('spin', 32)])
    expect('summary', report['verdict']['summary'].partition(': ')[2],
           '32 threads wait for global memory to change, all at the same address (the wait ends when the value is other than 0; it is 0); '
           'others wait: 64 at a barrier of their block; 3 of 3 resident warps wait; no exception')
    expect('signature', report['signature'], 'hang | _Z10two_placesPViPi | two_places | spin')
    absentees = [(a['state'], a['blocks']) for a in only(at_the_grid(), 'grid')['absentees']]
    expect('blocks that are not resident', absentees, [('not resident', 3)])


def a_deep_stack_is_followed_as_far_as_it_is_read(folder):
    for depth in (15, 16, 17, 40):
        bench = Bench('_Z9spin_flagPViPi', threads=64)
        load = bench.at('spin', LOADS)
        bench.process.memory.append((FLAG, bytes(8)))
        state = State(load.later(2), (bench.here(0x10),) * depth, regs=flag_at(load, FLAG))
        wait = only(bench.place(lambda _b, _w, one=state: one).report(folder), 'spin')
        expect(f'the frames of a stack of {depth}', len(wait['frames']), 1 + min(depth, 16))


def signatures_have_the_name_of_the_kernel(folder):
    """Long names are cut and have a hash; what the compiler makes of an unnamed namespace differs between builds, and is left out."""
    unnamed = '_GLOBAL__N__24598d58_4_a_cu_main'
    for name, wanted in (('k' * 100, 'k' * 100), ('k' * 101, 'k' * 100 + '~' + hashlib.sha256(b'k' * 101).hexdigest()[:8]),
                         (f'_ZN{len(unnamed)}{unnamed}3fooEv', '_ZN12_GLOBAL__N_13fooEv'), (f'_ZN1a{len(unnamed)}{unnamed}3fooEv', '_ZN1a12_GLOBAL__N_13fooEv'),
                         (f'_ZN99{unnamed}3fooEv', f'_ZN99{unnamed}3fooEv'), (f'_ZN5{len(unnamed)}{unnamed}3fooEv', f'_ZN5{len(unnamed)}{unnamed}3fooEv'),
                         ('_ZN12_GLOBAL__M_13fooEv', '_ZN12_GLOBAL__M_13fooEv')):
        image = assembled(folder, '.arch sm_90a\n.kernel k\n.param flag 8\nLDC.64 R2, c[0x0][0x210]\nagain:\nLDG.E.STRONG.SYS R4, desc[UR4][R2.64]\n'
                                  'ISETP.EQ.U32.AND P0, PT, R4, RZ, PT\n@P0 BRA `(again)\nEXIT\n.end\n'.replace('.kernel k', '.kernel ' + name))
        report = run_until(1000, image, '--buffer', 'word=u32[1]:zeros', '--arg', '&word', kernel=name)
        expect(f'the signature of {name}', report['signature'].split(' | ')[1], wanted)


# What a word belongs to is known in the kernel, two calls away from what reads it.
OUTER = """.arch sm_90a
.kernel k
.param first 8
.param flag 8
LDC.64 R24, c[0x0][0x218]
MOV R22, 32@lo(after)
MOV R23, 32@hi(after)
CALL.ABS.NOINC `(g)
after:
EXIT
.end
.func g
MOV R26, R24
MOV R27, R25
again:
MOV R18, 32@lo(back)
MOV R19, 32@hi(back)
CALL.ABS.NOINC `(f)
back:
ISETP.EQ.U32.AND P0, PT, R4, RZ, PT
@P0 BRA `(again)
RET.ABS.NODEC R22 0x0
.end
.func f
NOP
LDG.E.STRONG.SYS R4, desc[UR4][R26.64+0x8]
RET.ABS.NODEC R18 0x0
.end
"""


def the_owner_of_a_word_is_found_through_calls(folder):
    image = assembled(folder, OUTER)
    for most in range(1000, 1008):  # the thread stands at each place of the loop, and of the function that it calls
        wait = only(run_until(most, image, '--buffer', 'words=u32[4]:zeros', '--arg', '0', '--arg', '&words'), 'spin')
        expect(f'the owner after {most}', (wait['owner']['kind'], wait['owner']['parameter'], wait['value']), ('parameter', 1, '0x0'))
        expect(f'the frames after {most}', [frame['function'] for frame in wait['frames']], ['f', 'g', 'k'])


# One of the two blocks of a cluster waits for a word of its own shared memory or the other's; the word says whose it is.
RANKED = """.arch sm_90a
.kernel k
S2R R0, SR_CgaCtaId
S2R R7, SR_SWINHI
ISETP.NE.U32.AND P1, PT, R0, {waits}, PT
SHF.L.U32 R2, R0, 0x18, RZ
LOP3.LUT R6, R2, {other}, RZ, 0x3c, !PT
IADD3 R6, R6, 0x400, RZ
IADD3 R3, R0, 0xa, RZ
STS [R2+0x400], R3
SHFL.IDX PT, R8, R2, RZ, 0x1f
SHFL.IDX PT, R9, R6, RZ, 0x1f
UCGABAR_ARV
UCGABAR_WAIT
@P1 BAR.SYNC.DEFER_BLOCKING 0x1, 0x60
again:
{load}
ISETP.NE.U32.AND P0, PT, R4, RZ, PT
@P0 BRA `(again)
EXIT
.end
"""


def a_word_of_shared_memory_is_that_of_its_block(folder):
    for load in ('LDS R4, [R2+0x400]', 'LDS R4, [R2+0x400]\nMOV R2, R8', 'LD.E R4, [R6]', 'LD.E R4, [R6]\nMOV R6, R9'):
        for waits in (0, 1):
            for other in (0, 1) if 'LD.E' in load else (0,):
                image = assembled(folder, RANKED.format(waits=hex(waits), other=hex(other << 24), load=load))
                for most in (1000, 1001, 1002, 1003):  # the thread stands at each place of the loop
                    wait = only(run_until(most, image, '--grid', '2', '--cluster', '2', '--block', '32', '--shared', '2048'), 'spin')
                    expect(f'the word of {load} in block {waits}, other {other}',
                           (wait['space'], wait['address'], wait['one_address'], wait['value'], wait['example']['blockIdx']),
                           ('shared', '0x400', True, None if other else hex(10 + waits), [waits, 0, 0]))


def main():
    tests = [threads_that_ended_hold_up_no_barrier_without_a_count, a_faulted_warp_never_comes_to_a_barrier,
             threads_at_one_barrier_from_two_places_have_met, lanes_that_left_are_missing_at_a_convergence, a_flag_is_shown_with_its_value, the_flag_of_lanes_behind_others_is_shown, an_mbarrier_is_tried_again,
             a_grid_barrier_is_known_by_its_function, a_collective_is_known_by_its_kernel, no_fault_is_a_verdict,
             a_signature_is_that_of_the_bug, threads_that_ended_are_missing_at_a_barrier_with_a_count,
             the_end_of_a_wait_is_what_the_loop_tests, a_word_of_shared_memory_is_that_of_its_block, a_loop_waits_if_what_it_calls_only_reads,
             a_wait_whose_end_has_come_is_no_hang, a_hang_of_lanes_with_words_of_their_own_does_not_end_with_one_of_them,
             numbers_are_written_as_people_write_them, what_a_word_is_compared_with_is_found, a_part_of_a_word_is_shown_and_not_judged,
             several_words_of_one_read_are_told, a_number_that_is_added_is_solved_for,
             missing_threads_are_told_in_words, barriers_that_count_say_who_has_arrived, kinds_of_absentees_are_told_apart_up_to_a_limit,
             blocks_that_are_not_there_are_counted_where_all_must_be, a_deep_stack_is_followed_as_far_as_it_is_read,
             the_owner_of_a_word_is_found_through_calls, signatures_have_the_name_of_the_kernel]
    print(f'1..{len(tests)}')
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, test in enumerate(tests, 1):
            name = test.__name__.replace('_', ' ')
            try:
                test(folder)
                print(f'ok {number} - {name}')
            except (AssertionError, subprocess.CalledProcessError) as why:
                failed += 1
                print(f'not ok {number} - {name}\n# {why}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
