#!/usr/bin/env python3
"""`warpscope diff` of dumps that differ in one planted thing: that difference is told, with both values, and nothing else; the other
way round it is the mirror of it, and the text says what the data says. Prints TAP.

usage: test_diff.py WARPSCOPE BUILDER_FOLDER
"""
import json
import os
import pickle
import struct
import subprocess
import sys
import tempfile

TABLE, TABLE_SIZE = 0x7f3a12000000, 0x28000  # global memory, larger than a piece that is read at once
ANY = object()
THREADS = ((0, 0, 0), (0, 2, 0), (0, 0, 1), (0, 2, 1))  # the first ones of the warps of a block of (16,4,2)
LOCAL = '0xfffb80+0x240'  # of each lane, below the top of its stack
PAIR = 'bdffcee9f3fcda14457180d2adc3ae379241955d6b9e66a3921c2fbec5774a08'  # code identity of pair.li.sm_90.cubin
NAMES = 'a.nvcudmp', 'b.nvcudmp'
KINDS = 'verdict device kernel exception group module field warp register memory'.split()


def process_of():
    """Three kernels on two devices, two of them with local and shared memory, several warps in a block."""
    from cubin import CALLS
    from machine import A100, H100, Process, State
    from scenarios import LOADS, spread
    process = Process(A100, H100, ids=(2, 5), local=True)
    module = process.context().load('calls.G.sm_80.cubin')
    at = module.at('_Z9read_wordPKc', 'calls.cu', 'read_word', {0x980})
    frames = tuple(module.at(f, 'calls.cu', m, CALLS).later(1) for f, m in (
        ('_Z7sum_row6Cursori', 'sum_row'), ('_Z4fold6Cursori', 'fold'), ('_Z8checksumPKciiPi', 'checksum')))
    for blocks, sms in ((3, (0, 2, 4)), (1, (6,))):
        launch = process.launch(module.context, module, '_Z8checksumPKciiPi', (8, 1, 1), (48, 1, 1), shared=256,
                                params=struct.pack('<QiiQ', TABLE, 4, blocks, TABLE + 0x1000))
        spread(launch, blocks, lambda *_: State(at, frames), sms=sms)
    other = process.context(1).load('pair.li.sm_90.cubin')
    third = process.launch(other.context, other, '_Z6secondPdPKfi', (32, 2, 3), (16, 4, 2), cluster=(2, 1, 1))
    load = other.op('_Z6secondPdPKfi', LOADS, nth=2)
    for sm, block in ((0, (0, 0, 0)), (2, (1, 0, 0)), (4, (0, 1, 0)), (6, (0, 0, 2))):
        third.place(sm, block, lambda _: State(load))
    process.memory.append((TABLE, process.pattern(TABLE_SIZE, 1)))
    return process


class Model:
    """The dump to change: a copy of one that is made once."""
    made = None

    def __init__(self):
        Model.made = Model.made or pickle.dumps(process_of().dump())
        self.dump = pickle.loads(Model.made)

    def device(self, number=0):
        return self.dump.devices[number]

    def blocks(self, device=0):
        return [block for sm in self.device(device).sms for block in sm.ctas or []]

    def block(self, x, device=0, y=0):
        return next(b for b in self.blocks(device) if (b.row['blockIdxX'], b.row['blockIdxY']) == (x, y))

    def lane(self, block, warp, lane):
        return self.block(block).warps[warp].lanes[lane]

    def memory(self, address):
        return next(m for m in self.dump.memory if m.row['address'] == address)

    def bytes(self):
        import coredump
        return coredump.write(self.dump)


def flipped(data, *offsets):
    out = bytearray(data)
    for offset in offsets:
        out[offset] ^= 0xff
    return bytes(out)


def warp_key(x, thread, device=2, grid=1, y=0):
    return f'device {device} grid {grid} block ({x},{y},0) thread ({",".join(map(str, thread))})'


# ---- one change each: what it does to the model; the differences: (kind, key, A's value, B's value)

CASES = []


def case(name, *expected):
    def register(change):
        CASES.append((name, change, expected))
        return change
    return register


@case('nothing')
def nothing(_):
    pass


@case('one register of one lane', ('register', warp_key(1, (32, 0, 0)) + ' lane 5 R7', '0x000107b9', '0x00000007'))
def register(model):
    assert model.lane(1, 1, 5).regs[7] == 0x107b9
    model.lane(1, 1, 5).regs[7] = 7


@case('a predicate', ('register', warp_key(0, (0, 0, 0)) + ' lane 3 P1', '0x00000001', '0x00000000'))
def predicate(model):
    model.lane(0, 0, 3).preds[1] = 0


@case('a uniform register and a uniform predicate of a warp',
      ('register', warp_key(2, (0, 0, 0)) + ' UR62', f'0x{62 * 0x01000193 & 0xffffffff:08x}', '0x00000000'),
      ('register', warp_key(2, (0, 0, 0)) + ' UP6', '0x00000000', '0x00000001'))
def uniform(model):
    warp = model.block(2).warps[0]
    warp.uregs[62], warp.upreds[6] = 0, 1


@case('registers that only one side has', *(('register', f'{warp_key(1, (0, 0, 0))} lane 31 P{i}', f'0x{0x7f & 31 >> i & 1:08x}', None)
                                           for i in (5, 6)))
def fewer_registers(model):
    del model.lane(1, 0, 31).preds[5:]


@case('the pc of a lane', ('group', ANY, ANY, ANY), ('group', ANY, ANY, ANY),
      ('warp', warp_key(2, (32, 0, 0)) + ' lane 15', ANY, ANY))
def pc_of_lane(model):
    row = model.lane(2, 1, 15).row
    row['physPC'] += 16
    row['virtualPC'] += 16


@case('a lane that only one side has', ('group', ANY, '192 lanes of 8 warps', '191 lanes of 8 warps'),
      *(('field', f'{warp_key(1, (0, 0, 0))} {mask}_lanes', '0xffffffff', '0xffffffef') for mask in ('valid', 'active')),
      ('memory', f'local {LOCAL} of {warp_key(1, (0, 0, 0))} lane 4', 'recorded', None))
def fewer_lanes(model):
    warp = model.block(1).warps[0]
    del warp.lanes[4]
    warp.row['validLanesMask'] &= ~16
    warp.row['activeLanesMask'] &= ~16


@case('a warp that only one side has', ('verdict', 'verdict', *(f'No fault in this dump; {n} warps are resident' for n in (24, 23))),
      ('group', ANY, '192 lanes of 8 warps', '176 lanes of 7 warps'), ('warp', warp_key(0, (32, 0, 0)), 'resident', None))
def fewer_warps(model):
    del model.block(0).warps[1]


# What is the same is found by its number or place in the grid, wherever the dump has it.
@case('blocks on other SMs, in another order')
def other_sms(model):
    for device in model.dump.devices:
        sms = [sm for sm in device.sms if sm.ctas]
        blocks = [sm.ctas for sm in sms]
        for sm, ctas in zip(sms, reversed(blocks)):
            sm.ctas = ctas


@case('warps of a block in another order')
def other_warps(model):
    for block in model.blocks() + model.blocks(1):
        ids = [warp.row['warpId'] for warp in block.warps]
        for warp, number in zip(block.warps, reversed(ids)):
            warp.row['warpId'] = number


@case('grids in another order')
def other_grids(model):
    model.device().grids.reverse()


@case('a block that stands elsewhere in the grid', ('field', 'device 5 grid 3 block (0,1,0)', 'recorded', None),
      ('field', 'device 5 grid 3 block (2,1,0)', None, 'recorded'), *(('warp', warp_key(0, thread, 5, 3, y=1), 'resident', None) for thread in THREADS),
      *(('warp', warp_key(2, thread, 5, 3, y=1), None, 'resident') for thread in THREADS))
def moved_block(model):
    model.block(0, 1, 1).row['blockIdxX'] = 2


@case('the size of a grid', ('kernel', 'device 5 grid 3', 'second <<<(32,2,3),(16,4,2)>>>', 'second <<<(32,2,4),(16,4,2)>>>'))
def grid_size(model):
    model.device(1).grids[0].row['gridDimZ'] = 4


@case('a device', ('device', '5', 'NVIDIA H100 80GB HBM3 sm_90', 'Another sm_90'))
def device_name(model):
    model.device(1).row['devName'] = 'Another'


@case('a byte of global memory beyond the first piece', ('memory', f'global {TABLE:#x}+{TABLE_SIZE:#x}', 'as recorded',
                                                        f'3 bytes differ, the first at {TABLE + 0xffff:#x}'))
def memory_bytes(model):
    memory = model.memory(TABLE)
    memory.data = flipped(memory.data, 0xffff, 0x10000, TABLE_SIZE - 1)


@case('the last byte of global memory', ('memory', f'global {TABLE:#x}+{TABLE_SIZE:#x}', 'as recorded',
                                         f'1 bytes differ, the first at {TABLE + TABLE_SIZE - 1:#x}'))
def last_byte(model):
    memory = model.memory(TABLE)
    memory.data = flipped(memory.data, TABLE_SIZE - 1)


@case('the size of a range', ('memory', f'global {TABLE:#x}+{TABLE_SIZE - 16:#x}', None, 'recorded'),
      ('memory', f'global {TABLE:#x}+{TABLE_SIZE:#x}', 'recorded', None))
def memory_size(model):
    memory = model.memory(TABLE)
    memory.data = memory.data[:-16]


@case('shared memory of one block', ('memory', f'shared 0x0+0x100 of {warp_key(2, (0, 0, 0))}', 'as recorded',
                                     '2 bytes differ, the first at 0x11'))
def shared(model):
    block = model.block(2)
    block.shared = flipped(block.shared, 0x11, 0x12)


@case('local memory of the first and of another lane', *(
    ('memory', f'local {LOCAL} of {warp_key(1, (32, 0, 0))} lane {lane}', 'as recorded', f'1 bytes differ, the first at {at:#x}')
    for lane, at in ((0, 0xfffb80), (9, 0xfffba0))))
def local(model):
    for number, at in ((0, 0), (9, 0x20)):
        lane = model.lane(1, 1, number)
        lane.local = lane.local[0], flipped(lane.local[1], at)


@case('a parameter', ('memory', 'param 0x160+0x18 of device 2 grid 1', 'as recorded', '1 bytes differ, the first at 0x168'))
def parameter(model):
    grid = model.device().grids[0]
    grid.params = flipped(grid.params, 8)


@case('a parameter, and the grids in another order',
      ('memory', 'param 0x160+0x18 of device 2 grid 1', 'as recorded', '1 bytes differ, the first at 0x168'))
def parameter_in_another_order(model):
    parameter(model)
    model.device().grids.reverse()


@case('an exception', ('verdict', 'verdict', ANY, ANY),
      ('exception', '14 Warp Illegal Address at read_word+0xa0 /src/ws/tests/kernels/calls.cu:12', None,
       '16 lanes, first in device 2 block (2,0,0) thread (32,0,0)'),
      ('group', 'active at read_word+0xa0 /src/ws/tests/kernels/calls.cu:12', '192 lanes of 8 warps', '176 lanes of 7 warps'),
      ('group', 'faulted at read_word+0xa0 /src/ws/tests/kernels/calls.cu:12', None, '16 lanes of 1 warps'),
      ('field', warp_key(2, (32, 0, 0)) + ' error_pc', '0x0', ANY), ('field', warp_key(2, (32, 0, 0)) + ' error_pc_valid', 'no', 'yes'),
      *(('warp', f'{warp_key(2, (32, 0, 0))} lane {lane}', 'pc +0xa0 exception 0', 'pc +0xa0 exception 14') for lane in range(16)))
def exception(model):
    warp = model.block(2).warps[1]
    warp.row.update(errorPC=warp.lanes[0].row['virtualPC'], errorPCValid=1)
    for lane in warp.lanes:
        lane.row['exception'] = 14


@case('modules in another order, some without code', ('verdict', 'verdict', ANY, ANY),
      *(('module', 'device 5 unknown code', None, f'loaded as 0x{i}000') for i in (1, 2)))
def modules(model):
    import coredump
    model.device(1).contexts[0].modules[:0] = [coredump.Module({'moduleHandle': 0x1000 * i}) for i in (1, 2)]


@case('code that only one side has', ('verdict', 'verdict', ANY, ANY), ('kernel', 'device 5 grid 3', ANY, ANY), ('group', ANY, None, ANY),
      ('group', ANY, ANY, None), ('module', f'device 5 {PAIR}', ANY, None))
def fewer_modules(model):
    model.device(1).contexts[0].modules.clear()


# Bank 0 of a grid is a copy of what lies in global memory; what differs there is told once.
@case('a constant bank', ('memory', 'global 0x7f0500010000+0x178', 'as recorded', '1 bytes differ, the first at 0x7f0500010009'))
def constants(model):
    memory = model.memory(0x7f0500010000)
    memory.data = flipped(memory.data, 9)


@case('a constant bank that lies elsewhere', ('memory', 'global 0x7f0500010000+0x178', 'recorded', None),
      ('memory', 'global 0x7f0600010000+0x178', None, 'recorded'))
def moved_bank(model):
    model.memory(0x7f0500010000).row['address'] = 0x7f0600010000
    model.device().grids[0].banks[0]['addr'] = 0x7f0600010000


@case('a constant bank that lies elsewhere with other contents', ('memory', 'global 0x7f0500010000+0x178', 'recorded', None),
      ('memory', 'global 0x7f0600010000+0x178', None, 'recorded'),
      ('memory', 'const0+0x178 of device 2 grid 1', 'as recorded', '1 bytes differ, the first at 0x9'))
def other_bank(model):
    constants(model)
    moved_bank(model)


@case('a bank of another size', ('memory', 'const3+0x400 of device 5 grid 3', 'recorded', None),
      ('memory', 'const3+0x404 of device 5 grid 3', None, 'recorded'))
def bank_size(model):
    model.device(1).grids[0].banks[1]['size'] += 4


class Bench:
    def __init__(self, warpscope, folder):
        self.warpscope, self.folder, self.cases = os.path.abspath(warpscope), folder, []

    def run(self, *words, status):
        done = subprocess.run([self.warpscope, 'diff', *words, *NAMES], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, check=False)
        if done.returncode != status:
            raise ValueError(f'exit status {done.returncode}, not {status}: {done.stderr[:300]}')
        return done.stdout

    def pair(self, a, b):
        for name, data in zip(NAMES, (a, b)):
            with open(os.path.join(self.folder, name), 'wb') as handle:
                handle.write(data)

    def check(self, name, problem):
        self.cases.append((name, problem))


def rows_of(said):
    return [tuple(row[key] for key in ('kind', 'key', 'a', 'b')) for row in said['differences']]


def line_of(row):
    """A difference as the text tells it."""
    kind, key, a, b = row
    sign = '~' if a is not None and b is not None else '-' if b is None else '+'
    values = f'{a} -> {b}' if sign == '~' else a if b is None else b
    return f'{sign} {kind:9} {key}: {values}'


def fits(row, expected):
    return all(want is ANY or is_ == want for is_, want in zip(row, expected))


def check_pair(bench, expected):
    """The differences as expected, in data and text, and swapped; returns what is wrong."""
    status = 10 if expected else 0
    said = json.loads(bench.run('--json', status=status))
    rows = rows_of(said)
    if len(rows) != len(expected) or not all(fits(*pair) for pair in zip(rows, expected)):
        return f'{rows} and not {expected}'
    if said['counts'] != {kind: sum(row[0] == kind for row in rows) for kind in KINDS} or said['same'] != (not rows):
        return f'{said["counts"]} of {rows}'
    if (said['a'], said['b']) != NAMES:
        return f'{said["a"]}, {said["b"]}'
    text = bench.run(status=status)
    if text.splitlines() != ([line_of(row) for row in rows] or ['no difference']):
        return text
    return None


def mirrored(row):
    kind, key, a, b = row
    return row if a == 'as recorded' else (kind, key, b, a)


# Registers that are changed together, in the order in which they are told: lane, name, both values.
SEVERAL = [(2, 'R4', 0x1005e, 1), (2, 'R5', 0x10073, 2), (2, 'P0', 0, 1), (9, 'R0', 0x1001f, 3), (9, 'R31', 0x10899, 4)]


def check_limit(bench, limit, shown):
    """The first differences of a kind are shown, all are counted, and the text says how many there are beyond the limit."""
    rows = [('register', f'{warp_key(1, (0, 0, 0))} lane {lane} {name}', f'0x{a:08x}', f'0x{b:08x}') for lane, name, a, b in SEVERAL]
    rows = rows[:shown] + [('memory', f'global {TABLE:#x}+{TABLE_SIZE:#x}', 'as recorded', f'1 bytes differ, the first at {TABLE:#x}')]
    said = json.loads(bench.run('--json', *limit, status=10))
    if (rows_of(said), said['counts']['register'], said['counts']['memory']) != (rows, len(SEVERAL), 1):
        return f'{said}'
    text = bench.run(*limit, status=10).splitlines()
    told = [f'register: {len(SEVERAL)} differences, {shown} shown; --limit 0 shows all'] if shown < len(SEVERAL) else []
    return None if text == [line_of(row) for row in rows] + told else '\n'.join(text)


def check_limits(bench, same):
    model = Model()
    memory = model.memory(TABLE)
    memory.data = flipped(memory.data, 0)
    for lane, name, a, b in SEVERAL:
        file = model.lane(1, 0, lane).regs if name[0] == 'R' else model.lane(1, 0, lane).preds
        assert file[int(name[1:])] == a
        file[int(name[1:])] = b
    bench.pair(same, model.bytes())
    for limit, shown in (((), 5), (('--limit', '0'), 5), (('--limit', '5'), 5), (('--limit', '4'), 4), (('--limit', '1'), 1)):
        bench.check(f'{limit or "no limit"}: {shown} of {len(SEVERAL)}', check_limit(bench, limit, shown))


def check_case(bench, same, change, expected):
    model = Model()
    change(model)
    other = model.bytes()
    for a, b, rows in ((same, other, expected), (other, same, [mirrored(row) for row in expected])):
        bench.pair(a, b)
        try:
            problem = check_pair(bench, rows)
        except ValueError as why:
            problem = str(why)
        if problem:
            return problem if a is same else 'swapped: ' + problem
    return None


def main():
    warpscope, builders = sys.argv[1:3]
    sys.path.insert(0, builders)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(warpscope, folder)
        same = Model().bytes()
        for name, change, expected in CASES:
            bench.check(name, check_case(bench, same, change, expected))
        check_limits(bench, same)
    for number, (name, problem) in enumerate(bench.cases, 1):
        print(f'{"not ok" if problem else "ok"} {number} - {name}')
        for line in (problem or '').splitlines():
            print(f'# {line}')
    print(f'1..{len(bench.cases)}')
    return 1 if any(problem for _, problem in bench.cases) else 0


if __name__ == '__main__':
    sys.exit(main())
