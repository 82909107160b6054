#!/usr/bin/env python3
"""Dumps that the builder makes: info, regs and mem show what the tests' own reader finds. Prints TAP.

usage: test_info.py WARPSCOPE BUILDER_FOLDER [EVERY]

For each EVERYth scenario one case for the tables against tests/builders/reader.py (which shares no code with the program); for
each but those that differ in an exception's code alone one more for the JSON against its schemas (skipped without
python3-jsonschema) and one for text against JSON.
"""
import json
import os
import subprocess
import sys
import tempfile
import zlib

import schemas

TABLES = ('devices', 'contexts', 'modules', 'kernels', 'sms', 'blocks', 'clusters', 'warps', 'lanes', 'threads', 'barriers',
          'exceptions', 'memory', 'sections', 'metadata')
EVERYTHING = {'sms': ['device', 'any'], 'warps': ['sm', 'any'], 'lanes': ['sm', 'any'], 'blocks': ['kernel', 'any'],
              'clusters': ['kernel', 'any'], 'threads': ['kernel', 'any'], 'barriers': ['sm', 'any'],
              'memory': ['device', 'any']}


class Wrong(Exception):
    pass


class Skip(Exception):
    pass


def same(what, is_, should):
    if is_ != should:
        if isinstance(is_, list) and isinstance(should, list):
            for number, (a, b) in enumerate(zip(is_, should)):
                if a != b:
                    raise Wrong(f'{what}: row {number} is {a!r}, should be {b!r}')
            raise Wrong(f'{what}: {len(is_)} rows, should be {len(should)}')
        raise Wrong(f'{what} is {is_!r}, should be {should!r}')


class Program:
    """The program on one dump."""

    def __init__(self, path, dump):
        self.path, self.dump, self.cache = path, dump, {}

    def run(self, *arguments, status=(0,)):
        done = subprocess.run([self.path, *arguments], capture_output=True, check=False, timeout=120)
        if done.returncode not in status:
            raise Wrong(f'{arguments}: exit status {done.returncode}: {done.stderr.decode(errors="replace")[:300]}')
        return done.stdout.decode()

    def json(self, table, *options):
        key = (table, options)
        if key not in self.cache:
            self.cache[key] = json.loads(self.run('info', '--json', *options, self.dump, table, *EVERYTHING.get(table, [])))
        return self.cache[key]

    def rows(self, table, *options):
        return self.json(table, *options)[table]

    def regs(self):
        if 'regs' not in self.cache:
            self.cache['regs'] = json.loads(self.run('regs', '--json', self.dump, 'lane', 'any'))
        return self.cache['regs']


def number(text):
    return None if text is None else int(text, 16)


def dim(row, name):
    return [row[name + axis] for axis in 'XYZ']


def pick(row, *keys):
    return [row[key] for key in keys]


# ---- what the reader found, flat

def walk(dump):
    """(device, SM row, block row, warp row) in the order of devices, SM ids and warp ids."""
    for device in dump['devices'] or []:
        for sm in sorted(device.get('sms') or [], key=lambda s: s['smId']):
            warps = [(block, warp) for block in sm.get('ctas') or [] for warp in block.get('warps') or []]
            for block, warp in sorted(warps, key=lambda item: item[1]['warpId']):
                yield device, sm, block, warp


def lanes_of(warp):
    return sorted(warp.get('lanes') or [], key=lambda lane: lane['ln'])


def check_devices(program, dump):
    same('devices', [[r['device'], r['name'], r['description'], r['sm_type'], r['num_sms'], r['num_warps'], r['num_lanes'],
                      r['num_regs'], r['num_predicates'], r['num_uniform_regs'], r['num_convergence_barriers'], r['pci_bus']]
                     for r in program.rows('devices')],
         [[d['devId'], d['devName'], d['devType'], d['smType'], d['numSMs'], d['numWarpsPerSM'], d['numLanesPerWarp'],
           d['numRegsPerLane'], d['numPredicatesPrLane'], d.get('numUniformRegsPrWarp'),
           d.get('numConvergenceBarriersPrWarp'), f'{d["pciBusId"]:02x}:{d["pciDevId"]:02x}.0']
          for d in dump['devices'] or []])
    for row, device in zip(program.rows('devices'), dump['devices'] or []):
        active = sum(1 << sm['smId'] for sm in device.get('sms') or [] if any(b.get('warps') for b in sm.get('ctas') or []))
        same('active SMs', number(row['active_sms_mask']), active)


def check_sms(program, dump):
    expected = []
    for device in dump['devices'] or []:
        for sm in sorted(device.get('sms') or [], key=lambda s: s['smId']):
            warps = sum(1 << w['warpId'] for b in sm.get('ctas') or [] for w in b.get('warps') or [])
            if warps or sm.get('exception'):
                expected.append([device['devId'], sm['smId'], warps, sm.get('exception'),
                                 sm['errorPC'] if sm.get('errorPCValid') else None])
    same('SMs', [[r['device'], r['sm'], number(r['active_warps_mask']), r['exception_code'], number(r['errorpc'])]
                 for r in program.rows('sms')], expected)


def check_warps(program, dump):
    expected = []
    for device, sm, block, warp in walk(dump):
        active = [lane for lane in lanes_of(warp) if warp['activeLanesMask'] >> lane['ln'] & 1]
        first = active[0] if active else None
        expected.append([device['devId'], sm['smId'], warp['warpId'], warp['activeLanesMask'],
                         warp['validLanesMask'] & ~warp['activeLanesMask'], first and first['virtualPC'],
                         dim(block, 'blockIdx'), first and dim(first, 'threadIdx'), bool(warp['isWarpBroken']),
                         warp['errorPC'] if warp['errorPCValid'] else None, warp.get('numRegs'), warp.get('sharedMemSize')])
    same('warps', [[r['device'], r['sm'], r['warp'], number(r['active_lanes_mask']), number(r['divergent_lanes_mask']),
                    number(r['active_pc']), r['blockIdx'], r['first_active_threadIdx'], r['broken'], number(r['errorpc']),
                    r['num_regs'], r['shared_bytes']] for r in program.rows('warps')], expected)


def check_lanes(program, dump):
    expected = []
    for device, sm, _, warp in walk(dump):
        own = any(lane['exception'] for b in sm['ctas'] for w in b.get('warps') or [] for lane in w.get('lanes') or [])
        for lane in lanes_of(warp):
            active = bool(warp['activeLanesMask'] >> lane['ln'] & 1)
            code = lane['exception']
            if not own and active and warp['errorPCValid']:
                code = sm.get('exception', 0)
            expected.append([device['devId'], sm['smId'], warp['warpId'], lane['ln'], 'active' if active else 'divergent',
                             lane['virtualPC'], dim(lane, 'threadIdx'), code, lane['physPC'], lane['callDepth'],
                             lane['syscallCallDepth']])
    same('lanes', [[*pick(r, 'device', 'sm', 'warp', 'lane', 'state'), number(r['pc']), r['threadIdx'], r['exception_code'],
                    number(r['rel_pc']), r['call_depth'], r['syscall_call_depth']] for r in program.rows('lanes')], expected)


def kernel_ids(program):
    return {(r['device'], int(r['grid'])): r['kernel'] for r in program.rows('kernels')}


def check_threads(program, dump):
    ids, expected = kernel_ids(program), []
    for device, sm, block, warp in walk(dump):
        kernel = ids.get((device['devId'], block['gridId64']))
        for lane in lanes_of(warp):
            block_idx, thread_idx = dim(block, 'blockIdx'), dim(lane, 'threadIdx')
            expected.append((1 << 40 if kernel is None else kernel, block_idx[::-1], thread_idx[::-1],
                             [kernel, block_idx, thread_idx, lane['virtualPC'], device['devId'], sm['smId'], warp['warpId'],
                              lane['ln']]))
    expected.sort(key=lambda item: item[:3])
    single = program.rows('threads', '--coalescing', 'off')
    same('threads', [[r['kernel'], r['blockIdx'], r['threadIdx'], number(r['pc']), *pick(r, 'device', 'sm', 'warp', 'lane')]
                     for r in single], [row for *_, row in expected])
    at = 0
    for row in program.rows('threads'):
        part = single[at:at + row['count']]
        at += row['count']
        same('joined threads', [row['kernel'], row['from_blockIdx'], row['from_threadIdx'], row['to_blockIdx'],
                                row['to_threadIdx'], {row['pc']}, row['filename'], row['current']],
             [part[0]['kernel'], part[0]['blockIdx'], part[0]['threadIdx'], part[-1]['blockIdx'], part[-1]['threadIdx'],
              {r['pc'] for r in part}, part[0]['filename'], any(r['current'] for r in part)])
    same('joined threads in all', at, len(single))


def check_kernels(program, dump):
    expected = []
    for device in dump['devices'] or []:
        for grid in device.get('grids') or []:
            sms = {sm['smId'] for sm in device.get('sms') or [] for b in sm.get('ctas') or []
                   if b['gridId64'] == grid['gridId64']}
            expected.append([device['devId'], grid['gridId64'], sum(1 << n for n in sms), dim(grid, 'gridDim'),
                             dim(grid, 'blockDim'), grid['numRegs'], grid['functionEntry']])
    same('kernels', sorted([r['device'], int(r['grid']), number(r['sms_mask']), r['gridDim'], r['blockDim'], r['num_regs'],
                            number(r['function_entry'])] for r in program.rows('kernels')), sorted(expected))
    same('kernel ids', sorted(r['kernel'] for r in program.rows('kernels')), list(range(len(expected))))


def check_regs(program, dump):
    expected = []
    for device, sm, _, warp in walk(dump):
        for lane in lanes_of(warp):
            expected.append([device['devId'], sm['smId'], warp['warpId'], lane['ln'], lane.get('regs') or None,
                             lane.get('preds') or None, warp.get('uregs') or None, warp.get('upreds') or None,
                             warp.get('barriers') or None])
    same('registers', [[*pick(r, 'device', 'sm', 'warp', 'lane'), *(r[k] or None for k in ('R', 'P', 'UR', 'UP', 'B'))]
                       for r in program.regs()['lanes']], expected)


def check_memory(program, dump):
    shown = [r for r in program.rows('memory') if r['space'] == 'global']
    same('global memory', sorted([number(r['start']), r['size'], r['bytes_present'], r['managed']] for r in shown),
         sorted([m['address'], m['size'], m['present'], m['managed']] for m in dump['memory']))
    for block in dump['memory']:
        start, end = block['address'], block['address'] + block['size']
        if any(m is not block and m['address'] < end and start < m['address'] + m['size'] for m in dump['memory']):
            continue  # whose bytes they are is planted elsewhere
        size = min(block['present'], 1 << 20)
        if not size:
            continue
        got = json.loads(program.run('mem', '--json', program.dump, f'global:{start:#x}', '/b', str(size)))
        if block['present'] == size:
            same(f'bytes at {start:#x}', [got['read'], zlib.crc32(bytes.fromhex(got['bytes']))], [size, block['crc32']])


# How a lane waits, and for whom a warp does (docs/formats).
LANE_STATES = ['exited', 'ready', 'yielded', 'sleeping', 'sleeping, yielded', 'ready at next', 'blocked plus', 'blocked all',
               'blocked collective', *(f'blocked at B{n}' for n in range(16))]
SCOPES = ['none', 'warp', 'warp group', 'block', 'cluster', 'kernel']


def word_of(words, number):
    return None if number is None else words[number] if number < len(words) else str(number)


def cluster_of(grid, block):
    """The cluster index of a block, None when it was launched without clusters."""
    size = block['clusterDimX'] if 'clusterDimX' in block else (grid or {}).get('clusterDimX')
    return dim(block, 'clusterIdx') if size and 'clusterIdxX' in block else None


def grid_of(device, block):
    return next((grid for grid in device.get('grids') or [] if grid['gridId64'] == block['gridId64']), None)


def check_contexts(program, dump):
    same('contexts', [[number(r['context']), *pick(r, 'device', 'host_tid'),
                       *(number(r[key]) for key in ('shared_window_base', 'local_window_base', 'global_window_base'))]
                      for r in program.rows('contexts')],
         [[c['contextId'], d['devId'], c['tid'], c['sharedWindowBase'], c['localWindowBase'], c['globalWindowBase']]
          for d in dump['devices'] or [] for c in d.get('contexts') or []])


def check_modules(program, dump):
    expected = [[m['moduleHandle'], d['devId'], c['contextId'], m['relocated']['size'] if 'relocated' in m else None,
                 m['image']['size'] if 'image' in m else None]
                for d in dump['devices'] or [] for c in d.get('contexts') or [] for m in c.get('modules') or []]
    same('modules', [[r['module'], number(r['handle']), r['device'], number(r['context']), r['relocated_bytes'], r['original_bytes']]
                     for r in program.rows('modules')], [[i, *row] for i, row in enumerate(expected)])


STATUSES = ['Invalid', 'Pending', 'Active', 'Sleeping', 'Terminated', 'Undetermined']


def parent_of(program, device, grid):
    """The kernel number of the grid that launched one, None when the host did or it is gone."""
    return kernel_ids(program).get((device['devId'], grid['parentGridId64'])) if grid['origin'] == 1 else None


def check_columns(program, dump):
    """Columns of devices, SMs and kernels that only --wide shows."""
    same('devices in full', [pick(r, 'compute_capability', 'num_uniform_predicates', 'instruction_bytes', 'resident_warps', 'status')
                             for r in program.rows('devices')],
         [[f'{d["smMajor"]}.{d["smMinor"]}', d.get('numUniformPredicatesPrWarp'), d['instructionSize'],
           sum(len(b.get('warps') or []) for sm in d.get('sms') or [] for b in sm.get('ctas') or []), d['status']]
          for d in dump['devices'] or []])
    same('SMs in full', [[r['cluster_target_block'], r['exception_text']] for r in program.rows('sms')],
         [[dim(sm, 'clusterExceptionTargetBlockIdx') if sm.get('clusterExceptionTargetBlockIdxValid') else None,
           sm.get('exceptionString') or None]
          for d in dump['devices'] or [] for sm in sorted(d.get('sms') or [], key=lambda s: s['smId'])
          if sm.get('exception') or any(b.get('warps') for b in sm.get('ctas') or [])])
    grids = {(d['devId'], g['gridId64']): (d, g) for d in dump['devices'] or [] for g in d.get('grids') or []}
    for r in program.rows('kernels'):
        device, grid = grids[r['device'], int(r['grid'])]
        blocks = [b for sm in device.get('sms') or [] for b in sm.get('ctas') or [] if b['gridId64'] == grid['gridId64']]
        same('a kernel in full', [*pick(r, 'parent', 'status', 'resident_blocks', 'clusterDim', 'origin', 'host_tid'),
                                  number(r['context_id']), number(r['module'])],
             [parent_of(program, device, grid), word_of(STATUSES, grid['gridStatus']), len(blocks),
              dim(grid, 'clusterDim') if 'clusterDimX' in grid else None, 'device' if grid['origin'] == 1 else 'host', grid['attrHostTid'],
              grid['contextId'], grid['moduleHandle']])


def check_threads_of_hardware(program, dump):
    """Columns of warps and lanes that only --wide shows."""
    warps, lanes = [], []
    for _, _, _, warp in walk(dump):
        mask = warp.get('inSyscallLanesMask')
        warps.append([mask, word_of(SCOPES, warp.get('barrierScope'))])
        lanes += [[word_of(LANE_STATES, lane.get('cbuThreadState')), lane['rpcHi'] << 32 | lane['rpcLo'] if 'rpcLo' in lane else None]
                  for lane in lanes_of(warp)]
    same('warps in full', [[number(r['in_syscall_lanes_mask']), r['barrier_scope']] for r in program.rows('warps')], warps)
    same('lanes in full', [[r['cbu_state'], number(r['rpc'])] for r in program.rows('lanes')], lanes)


def check_blocks(program, dump):
    ids, expected = kernel_ids(program), []
    for device in dump['devices'] or []:
        for sm in device.get('sms') or []:
            for block in sm.get('ctas') or []:
                kernel = ids.get((device['devId'], block['gridId64']))
                expected.append((1 << 40 if kernel is None else kernel, dim(block, 'blockIdx')[::-1],
                                 [kernel, dim(block, 'blockIdx'), device['devId'], sm['smId'],
                                  cluster_of(grid_of(device, block), block), len(block.get('warps') or [])]))
    expected = [row for *_, row in sorted(expected, key=lambda item: item[:2])]
    rows = program.rows('blocks', '--coalescing', 'off')
    same('blocks', [pick(r, 'kernel', 'blockIdx', 'device', 'sm', 'clusterIdx', 'warps') for r in rows], expected)
    at = 0
    for row in program.rows('blocks'):
        part = rows[at:at + row['count']]
        at += row['count']
        same('joined blocks', [row['kernel'], row['from_blockIdx'], row['to_blockIdx'], row['current'], {row['kernel']}],
             [part[0]['kernel'], part[0]['blockIdx'], part[-1]['blockIdx'], any(r['current'] for r in part), {r['kernel'] for r in part}])
    same('joined blocks in all', at, len(rows))
    rows = [row for row in rows if row['clusterIdx'] is not None]
    at = 0
    for row in program.rows('clusters'):
        part = rows[at:at + row['count']]
        at += row['count']
        same('clusters', [row['from_blockIdx'], row['to_blockIdx'], row['current']],
             [part[0]['blockIdx'], part[-1]['blockIdx'], any(r['current'] for r in part)])
        same('blocks of a cluster', [[r['kernel'], r['clusterIdx']] for r in part], len(part) * [[row['kernel'], row['clusterIdx']]])
    same('blocks of clusters in all', at, len(rows))


def check_exceptions(program, dump):
    expected = []
    for device in dump['devices'] or []:
        for sm in sorted(device.get('sms') or [], key=lambda s: s['smId']):
            code, taken = sm.get('exception', 0), False
            warps = sorted(((b, w) for b in sm.get('ctas') or [] for w in b.get('warps') or []), key=lambda item: item[1]['warpId'])
            own = any(lane['exception'] for _, w in warps for lane in w.get('lanes') or [])
            for block, warp in warps:
                codes = {}
                for lane in lanes_of(warp):
                    active = warp['activeLanesMask'] >> lane['ln'] & 1
                    its = lane['exception'] if own else code if active and warp['errorPCValid'] else 0
                    if its:
                        codes[its] = codes.get(its, 0) | 1 << lane['ln']
                for its, mask in codes.items():
                    taken = True
                    expected.append([device['devId'], sm['smId'], warp['warpId'], mask, its, 'lane' if own else 'suspect',
                                     warp['errorPC'] if warp['errorPCValid'] else None, dim(block, 'blockIdx')])
            if code and not taken:
                expected.append([device['devId'], sm['smId'], None, None, code, 'sm', sm['errorPC'] if sm['errorPCValid'] else None, None])
    same('exceptions', [[*pick(r, 'device', 'sm', 'warp'), number(r['lanes_mask']), r['code'], r['blame'], number(r['errorpc']),
                         r['blockIdx']] for r in program.rows('exceptions') if r['blame'] != 'trap'], expected)


def lanes_words(mask):
    """0-3,5 of a mask."""
    runs = []
    for lane in (n for n in range(32) if mask >> n & 1):
        if runs and runs[-1][1] == lane - 1:
            runs[-1][1] = lane
        else:
            runs.append([lane, lane])
    return ','.join(f'{a}' if a == b else f'{a}-{b}' for a, b in runs)


def check_barriers(program, dump):
    expected = []
    for device, sm, _, warp in walk(dump):
        alike = {}
        for lane in lanes_of(warp):
            bit = lane['ln']
            cbu = [None if f'cbu{name}LanesMask' not in warp else bool(warp[f'cbu{name}LanesMask'] >> bit & 1)
                   for name in ('Active', 'Exited', 'Collective')]
            member = ','.join(f'B{n}' for n, mask in enumerate(warp.get('barriers') or []) if mask >> bit & 1)
            row = (word_of(LANE_STATES, lane.get('cbuThreadState')), *cbu, member or None)
            alike[row] = alike.get(row, 0) | 1 << bit
        expected += [[device['devId'], sm['smId'], warp['warpId'], mask, lanes_words(mask), *row, warp.get('barrierScope')]
                     for row, mask in alike.items()]
    same('barriers', [[*pick(r, 'device', 'sm', 'warp'), number(r['lanes_mask']),
                       *pick(r, 'lanes', 'cbu_state', 'active', 'exited', 'collective', 'convergence_barriers', 'barrier_scope')]
                      for r in program.rows('barriers')], expected)


def check_ranges(program, dump):
    """Memory of blocks, lanes and kernels: whose it is."""
    ids, expected = kernel_ids(program), []
    for device in dump['devices'] or []:
        own = device['devId']
        for sm in device.get('sms') or []:
            for block in sm.get('ctas') or []:
                place = [own, ids.get((own, block['gridId64'])), None, dim(block, 'blockIdx'), sm['smId']]
                if 'shared' in block:
                    expected.append(['shared', 0, block['shared']['size'], *place, None, None])
                expected += [['local', lane['local']['address'], lane['local']['size'], *place, warp['warpId'], lane['ln']]
                             for warp in block.get('warps') or [] for lane in warp.get('lanes') or [] if 'local' in lane]
        for grid in device.get('grids') or []:
            place = [own, ids.get((own, grid['gridId64']))]
            if 'params' in grid:
                expected.append(['param', grid['paramsOffset'], grid['params']['size'], *place, None, None, None, None, None])
            expected += [['const', bank['addr'], bank['size'], *place, bank['bankId'], None, None, None, None]
                         for bank in grid.get('banks') or []]
    shown = [[r['space'], number(r['start']), *pick(r, 'size', 'device', 'kernel', 'bank', 'blockIdx', 'sm', 'warp', 'lane')]
             for r in program.rows('memory') if r['space'] not in ('global', 'code')]
    same('memory by its owner', sorted(shown, key=str), sorted(expected, key=str))


def check_sections(program, dump):
    same('sections', [[r['index'], r['name'] or '', number(r['type']), *pick(r, 'link', 'info', 'stride', 'size'), number(r['address']),
                       number(r['file_off'])] for r in program.rows('sections')],
         [[s['index'], s['name'] or '', s['type'], s['link'], s['info'], s['entsize'], s['size'], s['addr'], s['offset']]
          for s in dump['sections']])


CHECKS = (check_devices, check_sms, check_warps, check_lanes, check_kernels, check_threads, check_regs, check_memory, check_contexts,
          check_modules, check_columns, check_threads_of_hardware, check_blocks, check_exceptions, check_barriers, check_ranges,
          check_sections)


def check_reader(program, dump):
    if dump['lost']:
        raise Skip('damaged: the C tests of the reader compare these')
    for check in CHECKS:
        check(program, dump)


def check_schema(program):
    if not schemas.INSTALLED:
        raise Skip(schemas.SKIPPED)
    answers = [program.json(table) for table in TABLES]
    answers += [program.json(table, '--coalescing', 'off') for table in ('blocks', 'threads')]
    answers += [json.loads(program.run('info', '--json', program.dump, 'where', address))
                for address in ('0x7f2b4c0000a0', '0x7f3a12000002', '0x20')]
    answers += [program.regs()]
    answers += [json.loads(program.run('mem', '--json', program.dump, address, '/4xw', status=(0, 1)))
                for address in ('global:0x7f0500010000', 'shared:0', 'const[3]:0x10', '0x10')]
    for answer in answers:
        if why := schemas.misfit({key: value[:8] + value[-8:] if isinstance(value, list) else value for key, value in answer.items()}):
            raise Wrong(f'{answer.get("table", "")}: {why}')


def check_text(program):
    """As many rows in text as in JSON, a star for each current one, a question mark for each in doubt."""
    for table in TABLES[:-1]:
        lines = program.run('info', '--limit', '0', program.dump, table, *EVERYTHING.get(table, [])).splitlines()
        rows = program.rows(table)
        if not rows:
            same(f'lines of the empty {table}', len(lines), 1)
            continue
        body = [line for line in lines[1:] if line.startswith(('  ', '* ', '? '))]
        same(f'rows of {table}', len(body), len(rows))
        same(f'marks of {table}', [line[0] for line in body],
             ['?' if row.get('doubt') else '*' if row['current'] else ' ' for row in rows])
        if any(line != line.rstrip() for line in lines):
            raise Wrong(f'{table}: a line ends in spaces')


FLAG_WORDS = {0: 'skip_nonrelocated_elf_images', 4: 'skip_abort', 5: 'skip_constbank_memory', 6: 'gzip_compress',
              7: 'faulted_contexts_only', 30: 'no_errbar_at_exit', 31: 'log_only'}


def check_flags(program, reader, data):
    """Each bit of the flags has its word; one that nobody named is shown as a number."""
    section = next(s for s in reader.Reader(data).sections if s.type == 0x80000000 + 22)
    for bits, words in [*(([bit], word) for bit, word in FLAG_WORDS.items()), ([6, 31, 12], 'gzip_compress,log_only,0x1000'), ([], 'none')]:
        flags = sum(1 << bit for bit in bits)
        with open(program.dump, 'wb') as out:
            out.write(data[:section.offset + 24] + flags.to_bytes(4, 'little') + data[section.offset + 28:])
        said = json.loads(program.run('info', '--json', program.dump, 'metadata'))['metadata']
        same(f'flags {flags:#x}', (said['flags'], said['flags_text']), (flags, words))


def check_doubted(program, folder):
    """Rows of SMs that the device does not have: the report believes none of them, nor does the table, but if most are such it is
    the row of the device that is wrong. Where most rows cannot be, or there are more than the device has SMs, all are doubted."""
    import bombs
    import coredump
    path = os.path.join(folder, 'doubted.nvcudmp')
    for ids, rows, doubted in (((0,), 1, 0), ((0, 5), 0, 2), ((0, 5, 6), 3, 0), ((0, 0, 0), 0, 3)):
        sms = [coredump.Sm({'smId': i, 'exception': 14, 'errorPC': bombs.CODE_AT, 'errorPCValid': 1}, ctas=[]) for i in ids]
        with open(path, 'wb') as out:
            out.write(bombs.dump_of(bombs.line_image(bombs.line_table(b'')), sms=sms))
        said = [subprocess.run([program, *words, path, *table], capture_output=True, text=True, timeout=60, check=False)
                for words, table in ((('report', '--json'), ()), (('info', '--json'), ('exceptions',)), (('info',), ('exceptions',)))]
        same(f'{ids}: in the report', len(json.loads(said[0].stdout)['exceptions']) > 0, rows > 0)
        same(f'{ids}: rows', len(json.loads(said[1].stdout)['exceptions']), rows)
        same(f'{ids}: in data', json.loads(said[1].stdout).get('doubted_sms'), doubted or None)
        same(f'{ids}: is told', 'are not listed' in said[2].stderr, doubted > 0)
        same(f'{ids}: the text', 'No CUDA exceptions that are certain.' in said[2].stdout, rows == 0)
        same(f'{ids}: the headline', 'in doubt: ' in json.loads(said[0].stdout)['verdict']['summary'], 0 < rows and len(ids) > 1)


# What is planted: rows and columns of SM 0, of its warp 1, of its lane 1; the rows that are marked: SMs, warps, lanes.
IMPOSSIBLE = {
    'nothing': ({}, {}, {}, [], [], []),
    'an SM that the device does not have': ({'smId': 4}, {}, {}, ['4'], [], []),
    'an exception of an SM that cannot be': ({'exception': 300}, {}, {}, ['0'], [], []),
    'an SM twice': ({'smId': 1}, {}, {}, ['1'], [], []),
    'a warp that an SM does not have': ({}, {'warpId': 8}, {}, [], ['0.8'], ['0.8.0', '0.8.1']),
    'a warp twice': ({}, {'warpId': 0}, {}, [], ['0.0'], ['0.0.0', '0.0.1']),
    'a flag of 7': ({}, {'isWarpBroken': 7}, {}, [], ['0.1'], ['0.1.0', '0.1.1']),
    'active lanes that are not valid': ({}, {'activeLanesMask': 7}, {}, [], ['0.1'], ['0.1.0', '0.1.1']),
    'valid lanes without a row': ({}, {'validLanesMask': 7}, {}, [], ['0.1'], ['0.1.0', '0.1.1']),
    'an exception of a lane that cannot be': ({}, {}, {'exception': 300}, [], ['0.1'], ['0.1.1']),
    'a lane whose row was erased': ({}, {}, {'virtualPC': 0, 'physPC': 0, 'ln': 0, 'threadIdxX': 0}, [], ['0.1'], ['0.1.0']),
}


def impossible_dump(sm_row, warp_row, lane_row):
    import bombs
    import coredump as cd
    sms = []
    for s in range(2):
        warps = []
        for w in range(2):
            lanes = [cd.Lane({'virtualPC': bombs.CODE_AT + 0x40, 'physPC': 0x40, 'ln': n, 'threadIdxX': 32 * w + n,
                              **(lane_row if (s, w, n) == (0, 1, 1) else {})}, regs=[n, 7], preds=[]) for n in range(2)]
            warps.append(cd.Warp({'warpId': w, 'validLanesMask': 3, 'activeLanesMask': 3, **(warp_row if (s, w) == (0, 1) else {})},
                                 lanes=lanes))
        block = cd.Cta({'gridId64': 5, 'blockIdxX': s, 'clusterDimX': 1, 'clusterDimY': 1, 'clusterDimZ': 1}, warps=warps)
        sms.append(cd.Sm({'smId': s, **(sm_row if s == 0 else {})}, ctas=[block]))
    return bombs.dump_of(bombs.line_image(bombs.line_table(b'')), sms=sms, device={'numSMs': 2, 'numWarpsPerSM': 8})


def check_impossible(program, folder, planted):
    """The rows that rest on SMs, warps and lanes that cannot be are marked, and no others; the report says the same of them."""
    path = os.path.join(folder, 'impossible.nvcudmp')
    with open(path, 'wb') as out:
        out.write(impossible_dump(*planted[:3]))

    def run(*words):
        return subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=False)
    told = {line['message'] for line in json.loads(run('report', '--json', path).stdout)['diagnostics']}
    for table, keys, marked in zip(('sms', 'warps', 'lanes'), (['sm'], ['sm', 'warp'], ['sm', 'warp', 'lane']), planted[3:]):
        said = json.loads(run('info', '--json', path, table, 'device', 'any', 'sm', 'any').stdout)
        rows = [row for row in said[table] if row['doubt'] is not None]
        same(f'{table} in data', ['.'.join(str(row[key]) for key in keys) for row in rows], marked)
        same(f'{table}: the number', said.get('doubted_rows'), len(marked) or None)
        for row in rows:
            same(f'{table}: the report says {row["doubt"]!r}', row['doubt'] in told, True)
        text = run('info', path, table, 'device', 'any', 'sm', 'any')
        ids = [line[1:].split()[0] for line in text.stdout.splitlines() if line.startswith('?')]
        same(f'{table} in text', ids, [row.split('.')[-1] for row in marked])
        same(f'{table}: is told', f'marked with ? ({len(marked)})' in text.stderr, bool(marked))
    check_impossible_lanes(run, path, set(planted[5]))


# What is planted: columns of the device, of the grid; whether the row of the device is marked, and that of the kernel.
IMPOSSIBLE_ABOVE = {
    'neither': ({}, {}, False, False),
    'a number that no device has': ({'devId': 66561}, {}, True, True),
    'a device with registers that none has': ({'numRegsPerLane': 1 << 30}, {}, True, True),
    'a grid without an extent': ({}, {'gridDimX': 0}, False, True),
    'a grid of a context that is not there': ({}, {'contextId': 0x77}, False, True),
}


def check_impossible_above(program, folder, planted):
    """The same of the tables of devices and kernels; a kernel's row has the number of its device."""
    import coredump as cd
    path = os.path.join(folder, 'above.nvcudmp')
    grid = {'gridId64': 5, 'contextId': 0x99, 'moduleHandle': 0x10, 'gridDimX': 2, 'gridDimY': 1, 'gridDimZ': 1, 'blockDimX': 64,
            'blockDimY': 1, 'blockDimZ': 1, **planted[1]}
    device = cd.Device({'devId': 0, 'numSMs': 2, 'numWarpsPerSM': 8, 'numLanesPerWarp': 32, 'instructionSize': 16, **planted[0]},
                       contexts=[cd.Context({'contextId': 0x99}, modules=[cd.Module({'moduleHandle': 0x10})])], grids=[cd.Grid(grid)])
    with open(path, 'wb') as out:
        out.write(cd.write(cd.Dump(devices=[device])))
    for table, is_marked in zip(('devices', 'kernels'), planted[2:]):
        said = json.loads(subprocess.run([program, 'info', '--json', path, table], capture_output=True, timeout=60, check=False).stdout)
        text = subprocess.run([program, 'info', path, table], capture_output=True, text=True, timeout=60, check=False)
        same(f'{table} in data', [row.get('doubt') is not None for row in said[table]], [is_marked])
        same(f'{table}: the number', said.get('doubted_rows'), 1 if is_marked else None)
        same(f'{table} in text', sum(line.startswith('?') for line in text.stdout.splitlines()), int(is_marked))
        same(f'{table}: is told', 'marked with ? (1)' in text.stderr, is_marked)


def check_impossible_lanes(run, path, marked):
    """The same of tables about threads: each alone, neighbours as one row, those of one state; and of their registers."""
    def lanes_of(row, mask):
        return {f'{row["sm"]}.{row["warp"]}.{lane}' for lane in range(32) if mask >> lane & 1}
    each = json.loads(run('info', '--json', '--coalescing', 'off', path, 'threads').stdout)['threads']
    same('threads in data', {f'{row["sm"]}.{row["warp"]}.{row["lane"]}' for row in each if row['doubt']}, marked)
    joined = json.loads(run('info', '--json', path, 'threads').stdout)
    same('joined threads', sum(row['count'] for row in joined['threads'] if row['doubt']), len([row for row in each if row['doubt']]))
    same('joined threads: all', sum(row['count'] for row in joined['threads']), len(each))
    same('joined threads: the number', joined.get('doubted_rows', 0), len([row for row in joined['threads'] if row['doubt']]))
    waits = json.loads(run('info', '--json', path, 'barriers', 'sm', 'any', 'warp', 'any').stdout)['barriers']
    same('barriers in data', set().union(*(lanes_of(row, int(row['lanes_mask'], 16)) for row in waits if row['doubt'])), marked)
    registers = json.loads(run('regs', '--json', path, 'sm', 'any', 'warp', 'any').stdout)['lanes']
    same('registers in data', {f'{row["sm"]}.{row["warp"]}.{row["lane"]}' for row in registers if row['doubt']}, marked)
    for words, n in ((('info', path, 'threads'), joined.get('doubted_rows', 0)), (('info', '--coalescing', 'off', path, 'threads'), len(marked)),
                     (('info', path, 'barriers', 'sm', 'any', 'warp', 'any'), sum(row['doubt'] is not None for row in waits)),
                     (('regs', path, 'sm', 'any', 'warp', 'any'), len(marked))):
        done = run(*words)
        same(f'{words}: marks', sum(line.startswith('?') for line in done.stdout.splitlines()), n)
        same(f'{words}: is told', f'marked with ? ({n})' in done.stderr, n > 0)
    for lane in marked:
        sm, warp, number = lane.split('.')
        alone = run('regs', path, 'sm', sm, 'warp', warp, 'lane', number).stdout
        same(f'registers of {lane}', alone.count('\ndoubt    '), 1 if alone.count('Lane') == 1 else alone.count('doubt'))


# What is planted, as above; whether its exception is listed, or only counted.
UNCERTAIN = {
    'of a sound row': ({}, {}, {'exception': 14}, True),
    'whose number cannot be': ({}, {}, {'exception': 300}, False),
    'in a warp whose row was erased': ({}, {'warpId': 0, 'validLanesMask': 0, 'activeLanesMask': 0}, {'exception': 14}, False),
    'of a lane that its warp does not have': ({}, {'validLanesMask': 1, 'activeLanesMask': 1}, {'exception': 14}, False),
}


def check_uncertain(program, folder, planted):
    """An exception of a lane that proves nothing is not listed, but nobody reads that there is none."""
    path = os.path.join(folder, 'uncertain.nvcudmp')
    with open(path, 'wb') as out:
        out.write(impossible_dump(*planted[:3]))
    said = [subprocess.run([program, 'info', *words, path, 'exceptions'], capture_output=True, text=True, timeout=60, check=False)
            for words in (('--json',), ())]
    data = json.loads(said[0].stdout)
    same('rows', len(data['exceptions']), int(planted[3]))
    same('lanes that are counted', data.get('doubted_lanes'), None if planted[3] else 1)
    same('is told', '1 exception of lanes is not listed' in said[1].stderr, not planted[3])
    same('the text', 'No CUDA exceptions that are certain.' in said[1].stdout, not planted[3])


def varied_dump():
    """Each field that a column shows has many values, and no two rows look alike."""
    import random

    import coredump
    import test_diff
    rng, model = random.Random(7), test_diff.Model()
    for device in model.dump.devices:
        for number, grid in enumerate(device.grids):
            grid.row.update(gridStatus=1 + number, attrHostTid=100 + number)
        for sm in (sm for sm in device.sms if sm.ctas):
            for warp in (w for block in sm.ctas for w in block.warps):
                valid = warp.row['validLanesMask']
                masks = {f'{name}LanesMask': rng.getrandbits(32) & valid
                         for name in ('inSyscall', 'cbuActive', 'cbuExited', 'cbuCollective')}
                active = rng.getrandbits(32) & valid | 1 << rng.randrange(16)
                warp.row.update(barrierScope=rng.randrange(7), activeLanesMask=active, **masks)
                warp.barriers = [rng.getrandbits(32) & rng.getrandbits(32) & valid for _ in warp.barriers]
                for lane in warp.lanes:
                    lane.row.update(cbuThreadState=rng.randrange(27), rpcLo=rng.getrandbits(32), rpcHi=rng.getrandbits(16))
                rng.shuffle(warp.lanes)
    warps = model.block(1).warps  # warps that were placed against the order of their threads
    warps[0].row['warpId'], warps[1].row['warpId'] = warps[1].row['warpId'], warps[0].row['warpId']
    first, second = model.dump.devices[0].grids[:2]
    second.row.update(origin=1, parentGridId64=first.row['gridId64'])
    model.dump.devices[1].grids[0].row.update(origin=1, parentGridId64=first.row['gridId64'])  # of the other device: not this one
    return coredump.write(model.dump, coredump.Options(driver=615))


def check_varied(program, reader, folder):
    data, path = varied_dump(), os.path.join(folder, 'varied.nvcudmp')
    with open(path, 'wb') as out:
        out.write(data)
    check_reader(Program(program, path), {**reader.read(data), 'sections': reader.Reader(data).section_list()})


def check_places(program, folder):
    """As many places as threads: each SM's lanes have in the whole table what they have in one of their own, and the report counts the
    groups that it leaves out."""
    import test_diff
    model, path = test_diff.Model(), os.path.join(folder, 'places.nvcudmp')
    lanes = [lane for block in model.blocks() for warp in block.warps for lane in warp.lanes]
    fold, size = lanes[0].row['virtualPC'] - lanes[0].row['physPC'] + 0xd00, 0xe80  # it lies behind read_word and sum_row
    for index, lane in enumerate(lanes):
        lane.row.update(virtualPC=fold + 16 * index, physPC=16 * index)
        same('inside', 16 * index < size, True)
    with open(path, 'wb') as out:
        out.write(model.bytes())
    run = Program(program, path)
    whole = [row for row in run.rows('lanes') if row['device'] == 2]
    same('functions', [(row['function'], number(row['rel_pc'])) for row in whole], [('fold', 16 * n) for n in range(len(lanes))])
    parts = [row for sm in (0, 2, 4, 6)
             for row in json.loads(run.run('info', '--json', path, 'lanes', 'device', '2', 'sm', str(sm)))['lanes']]
    same('lanes by SM', parts, whole)
    groups = json.loads(run.run('report', '--json', path))['groups']
    page = run.run('report', path)
    shown = len([line for line in page.splitlines() if ' active  0x7f' in line])
    rest = f'{sum(group["lanes"] for group in groups[shown:])} threads in {len(groups) - shown} more groups (--all)'
    same('groups that are left out', rest in page and 'more groups' not in run.run('report', '--all', path) and len(groups) > 192, True)


def check_not_saved(program, folder):
    """Registers that a dump lacks: a range, one, and chosen ones, with why; chosen ones that no lane can have."""
    import test_diff
    model, path = test_diff.Model(), os.path.join(folder, 'few.nvcudmp')
    lane = model.lane(0, 0, 0)
    del lane.regs[30:], lane.preds[6:]
    with open(path, 'wb') as out:
        out.write(model.bytes())
    text = Program(program, path).run('regs', path, 'device', '2', 'sm', '0', 'warp', '0', 'lane', '0')
    same('a range, and one', [line for line in text.splitlines() if 'not saved' in line],
         ['R30-R31  not saved (absent)', 'P6       not saved (absent)'])
    text = Program(program, path).run('regs', path, 'R29-R33', 'P', 'device', '2', 'sm', '0', 'warp', '0', 'lane', '0')
    same('chosen ones', [line.split(maxsplit=1)[1] for line in text.splitlines() if line.startswith(('R3', 'P6'))],
         ['not saved (absent)', 'not saved (absent)', 'none: there are 32', 'none: there are 32', 'not saved (absent)'])
    data = json.loads(Program(program, path).run('regs', '--json', path, 'R29,R30', 'device', '2', 'sm', '0', 'warp', '0', 'lane', '0'))
    chosen = data['lanes'][0]['selected']
    same('chosen ones as data', (chosen['R29'], chosen['R30'], chosen['R30_why']), (lane.regs[29], None, 'absent'))


def check_lost(program, folder):
    """What is shown of blocks whose grid the dump lost, and of a kernel and a module whose image cannot be read."""
    import test_diff
    path = os.path.join(folder, 'lost.nvcudmp')

    def written(model):
        with open(path, 'wb') as out:
            out.write(model.bytes())
        return Program(program, path)
    model = test_diff.Model()
    del model.device(1).grids[0]
    run = written(model)
    headings = {table: [line for line in run.run('info', path, table, 'device', '5').splitlines() if line.startswith('Kernel')]
                for table in ('blocks', 'clusters', 'threads')}
    same('headings', headings, {'blocks': ['Kernel -'], 'clusters': ['Kernel - ClusterDim (2,1,1)'], 'threads': ['Kernel -']})
    same('headings of each thread', [line for line in run.run('info', '--coalescing', 'off', path, 'threads', 'device', '5').splitlines()
                                     if line.startswith('Kernel')], ['Kernel -'])
    for table, count in (('blocks', 4), ('clusters', 4), ('threads', 512)):  # nothing is known to stand beside it
        rows = [row for row in run.rows(table) if row['kernel'] is None]
        same(f'{table} of no kernel', ([row['kernel_why'] for row in rows], [row['count'] for row in rows]), (count * ['absent'], count * [1]))
    same('warps of no kernel', [row['kernel_why'] for row in run.rows('warps') if row['device'] == 5], 16 * ['absent'])
    same('memory of no kernel', {(row['kernel'], row['space']) for row in run.rows('memory') if row['device'] == 5}, {(None, 'local')})
    model = test_diff.Model()
    module = model.device(0).contexts[0].modules[0]
    module.relocated, module.image = module.relocated[:40], None
    run = written(model)
    row, sound = run.rows('modules')
    same('a module that is cut', [row[key + why] for key in ('arch', 'toolkit', 'lines', 'num_kernels', 'num_functions', 'code_id')
                                  for why in ('', '_why')], 6 * [None, 'damaged'])
    same('its images', [row['relocated_bytes'], row['original_bytes'], row['original_bytes_why']], [40, None, 'absent'])
    same('the other', pick(sound, 'arch', 'toolkit', 'lines', 'num_kernels', 'num_functions', 'code_id'),
         ['sm_90', '13.0', '-lineinfo', 2, 2, test_diff.PAIR])
    same('kernels', [(row['invocation'], row.get('invocation_why')) for row in run.rows('kernels')][1:], 2 * [(None, 'absent')])


def check_twins(program, folder):
    """Threads that a damaged dump has twice: in the order of warps, then of lanes."""
    import test_diff
    model, path = test_diff.Model(), os.path.join(folder, 'twins.nvcudmp')
    block = model.block(1)
    for warp in block.warps:
        for lane in warp.lanes:
            lane.row['threadIdxX'] = 7
    block.warps.reverse()
    with open(path, 'wb') as out:
        out.write(model.bytes())
    rows = Program(program, path).rows('threads', '--coalescing', 'off')
    same('places', [(row['warp'], row['lane']) for row in rows if row['blockIdx'] == [1, 0, 0] and row['kernel'] == 0],
         [(0, n) for n in range(32)] + [(1, n) for n in range(16)])


AT, BEYOND = 0x7f3a12000000, 0x7f3a12001000  # global memory: 512 bytes and, with a hole between, 64


def where_dump():
    """A dump whose focus is lane 0 of the second warp of block 1, with addresses in registers; and the positions of its code."""
    import coredump
    from cubin import CALLS
    from machine import A100, Process, State
    process = Process(A100, ids=(2,), local=True)
    module = process.context().load('calls.G.sm_80.cubin')
    launch = process.launch(module.context, module, '_Z8checksumPKciiPi', (8, 1, 1), (48, 1, 1), shared=256)
    bad = module.at('_Z9read_wordPKc', 'calls.cu', 'read_word', {0x980})
    frames = tuple(module.at(f, 'calls.cu', m, CALLS).later(1) for f, m in (
        ('_Z7sum_row6Cursori', 'sum_row'), ('_Z4fold6Cursori', 'fold'), ('_Z8checksumPKciiPi', 'checksum')))
    many = {number: lambda lane: 0x4321 for number in range(22, 32)}
    regs = {8: lambda lane: AT + 16 + 8 * lane, 9: lambda lane: AT >> 32, 20: lambda lane: 0x1234 if lane == 3 else 7,
            21: lambda lane: 0xffffffff, **many}
    uregs = {4: AT & 0xffffffff, 5: AT >> 32, 61: BEYOND & 0xffffffff, 62: BEYOND >> 32}
    states = {(1, 1): State(bad.later(1), frames, error=bad, exception=14, regs=regs, uregs=uregs)}
    for number in range(2):
        launch.place(2 * number, (number, 0, 0), lambda warp, number=number: states.get((number, warp), State(bad, frames, regs=many)))
    process.memory += [(AT, process.pattern(512, 1)), (BEYOND, bad.address.to_bytes(8, 'little') + process.pattern(56, 2))]
    return coredump.write(process.dump()), process.memory[0][0], bad, frames


def code_of(code):
    return code['module'], code['function_mangled'], number(code['rel_pc'])


def check_where(program, folder):
    """Ranges, neighbours, windows and registers of planted addresses."""
    from machine import LOCAL_WINDOW, SHARED_WINDOW
    data, bank, bad, frames = where_dump()
    path = os.path.join(folder, 'where.nvcudmp')
    with open(path, 'wb') as out:
        out.write(data)
    local = 0xfffb80
    pair = ['R8:R9', 2, 2, 1, 0xffff, 16, AT + 16, AT + 16 + 8 * 15]
    uniform = ['UR4:UR5', 2, 2, 1, 0xffff, 16, AT, AT]
    # address: ranges (space, start, size, offset), start below, start above, windows, registers, holders and their exact lanes
    planted = {
        AT + 16: ([('global', AT, 512, 16)], bank, BEYOND, [], ['R8:R9'], [[*pair, 1], [*uniform, 0]]),
        AT: ([('global', AT, 512, 0)], bank, BEYOND, [], ['UR4:UR5'], [[*pair, 0], [*uniform, 0xffff]]),
        AT + 511: ([('global', AT, 512, 511)], bank, BEYOND, [], [], [[*pair, 0], [*uniform, 0]]),
        AT + 512: ([], AT, BEYOND, [], [], [[*pair, 0], [*uniform, 0]]),
        AT - 1: ([], bank, AT, [], [], [[*pair, 0], [*uniform, 0]]),
        AT - 4096: ([], bank, AT, [], [], [[*uniform, 0]]),
        AT - 4097: ([], bank, AT, [], [], []),
        AT + 16 + 8 * 15 + 4096: ([], BEYOND, None, [], [], [[*pair[:4], 0x8000, 1, pair[-1], pair[-1], 0]]),
        BEYOND: ([('global', BEYOND, 64, 0)], AT, None, [], ['UR61:UR62'], []),  # holders start at even numbers
        BEYOND + 63: ([('global', BEYOND, 64, 63)], AT, None, [], [], []),
        0x1234: ([], None, bank, [], [], [['R20', 2, 2, 1, 8, 1, 0x1234, 0x1234, 8]]),
        0xffffffff: ([], None, bank, [], ['R21'], [['R21', 2, 2, 1, 0xffff, 16, 0xffffffff, 0xffffffff, 0xffff]]),
        255: ([('shared', 0, 256, 255)], None, bank, [], [], None),
        0x168: ([('param', 0x160, 0x18, 8)], None, bank, [], [], None),
        local + 4: ([('local', local, 576, 4)], None, bank, [], [], None),
        SHARED_WINDOW + 16: ([('shared', 0, 256, 16)], None, bank, [('shared', 16)], [], []),
        LOCAL_WINDOW + local: ([('local', local, 576, 0)], None, bank, [('local', local)], [], []),
        bad.address: ([], bank, AT, [], ['errorpc'], []),
        bad.address + 16: ([], bank, AT, [], ['pc'], []),
        frames[0].address: ([], bank, AT, [], ['return address 0'], []),
        frames[2].address: ([], bank, AT, [], ['return address 2'], []),
    }
    for address, expected in planted.items():
        done = subprocess.run([program, 'info', '--json', path, 'where', hex(address), 'device', '2'], capture_output=True, text=True,
                              timeout=60, check=False)
        said = json.loads(done.stdout)['where']
        holders = [[*pick(r, 'register', 'device', 'sm', 'warp'), number(r['lanes']), r['count'], number(r['lowest']), number(r['highest']),
                    number(r['exact'])] for r in said['holders']]
        same(hex(address), ([(r['space'], number(r['start']), r['size'], number(r['offset'])) for r in said['ranges']],
                            said['below'] and number(said['below']['start']), said['above'] and number(said['above']['start']),
                            [(w['space'], number(w['offset'])) for w in said['windows']], said['registers'],
                            expected[5] and holders), expected)
        code = said['code'] and [code_of(said['code']), [pick(line, 'function_mangled', 'line') for line in said['code']['chain']]]
        same(f'code at {address:#x}', code, [(0, '_Z9read_wordPKc', 0xa0), [['_Z9read_wordPKc', 12]]] if address == bad.address else code)


    said = subprocess.run([program, 'mem', path, f'global:{BEYOND:#x}', '/a'], capture_output=True, text=True, timeout=60, check=False)
    same('an address of code', said.stdout, f'{BEYOND:#x}:\t{bad.address:#x} <read_word+{0xa0}>\n')
    for words, rows in (((), 20), (('--limit', '3'), 3), (('--limit', '0'), 40)):
        said = subprocess.run([program, 'info', *words, path, 'where', '0x4321'], capture_output=True, text=True, timeout=60, check=False)
        same(f'rows with {words}', len([line for line in said.stdout.splitlines() if '0x4321' in line and ':' not in line]), rows + 1)


def check_no_symbol(program, folder):
    """Code behind the end of a function has a place in its section and a line, but no name."""
    import struct
    import test_diff
    model, path = test_diff.Model(), os.path.join(folder, 'symbol.nvcudmp')
    module, code = model.device(0).contexts[0].modules[0], model.lane(0, 0, 0).row['virtualPC'] & ~0xfff
    symbol = struct.pack('<QQ', code, 0x200)  # read_word, the first function: where it is, and its size
    module.relocated = module.relocated.replace(symbol, struct.pack('<QQ', code, 0x100), 1)
    with open(path, 'wb') as out:
        out.write(model.bytes())
    run = Program(program, path)
    for offset, function, said in ((0xf0, '_Z9read_wordPKc', 'read_word+0xf0'), (0x180, None, '(no symbol)+0x180')):
        place = json.loads(run.run('info', '--json', path, 'where', hex(code + offset)))['where']['code']
        same(f'code at {offset:#x}', (place['function_mangled'], place.get('function_mangled_why'), number(place['rel_pc'])),
             (function, None if function else 'absent', offset))
        same(f'words at {offset:#x}', run.run('info', path, 'where', hex(code + offset)).splitlines()[1].split(maxsplit=1)[1], f'{said}, module 0')


def main():
    program, builders = sys.argv[1:3]
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    sys.path.insert(0, builders)
    import build as builder
    import reader
    failed = case = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in list(builder.SCENARIOS)[::every]:
            data, _ = builder.build(name)
            path = os.path.join(folder, name + '.nvcudmp')
            with open(path, 'wb') as out:
                out.write(data)
            run = Program(os.path.abspath(program), path)
            checks = [('reader', lambda: check_reader(run, {**reader.read(data), 'sections': reader.Reader(data).section_list()}))]
            if not name.startswith('code-') or name == 'code-unknown':
                checks += [('schema', lambda: check_schema(run)), ('text', lambda: check_text(run))]
            if name == 'illegal-address':
                checks.append(('words of flags', lambda: check_flags(run, reader, data)))
            for what, check in checks:
                case += 1
                try:
                    check()
                    print(f'ok {case} - {name} {what}')
                except Skip as why:
                    print(f'ok {case} - {name} {what} # SKIP {why}')
                except (Wrong, subprocess.TimeoutExpired, KeyError, ValueError) as why:
                    failed += 1
                    print(f'not ok {case} - {name} {what}')
                    print(f'# {type(why).__name__} {why}')
            os.remove(path)
        checks = [('rows that cannot be are no exceptions', lambda: check_doubted(os.path.abspath(program), folder))]
        checks.append(('rows of which no two are alike', lambda: check_varied(os.path.abspath(program), reader, folder)))
        checks.append(('as many places as threads', lambda: check_places(os.path.abspath(program), folder)))
        checks.append(('registers that were not saved', lambda: check_not_saved(os.path.abspath(program), folder)))
        checks.append(('a grid and an image that are lost', lambda: check_lost(os.path.abspath(program), folder)))
        checks.append(('threads that are there twice', lambda: check_twins(os.path.abspath(program), folder)))
        checks.append(('planted addresses: what is there', lambda: check_where(os.path.abspath(program), folder)))
        checks.append(('code that no symbol covers', lambda: check_no_symbol(os.path.abspath(program), folder)))
        for name, planted in IMPOSSIBLE.items():
            checks.append((f'{name}: the rows are marked',
                           lambda planted=planted: check_impossible(os.path.abspath(program), folder, planted)))
        for name, planted in IMPOSSIBLE_ABOVE.items():
            checks.append((f'{name}: the rows above are marked',
                           lambda planted=planted: check_impossible_above(os.path.abspath(program), folder, planted)))
        for name, planted in UNCERTAIN.items():
            checks.append((f'an exception of a lane {name}: it is listed, or counted',
                           lambda planted=planted: check_uncertain(os.path.abspath(program), folder, planted)))
        for name, check in checks:
            case += 1
            try:
                check()
                print(f'ok {case} - {name}')
            except Wrong as why:
                failed += 1
                print(f'not ok {case} - {name}')
                print(f'# {why}')
    print(f'1..{case}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
