#!/usr/bin/env python3
"""Filters of tables: a table that is asked for a part shows what the whole table has of it, for every word and every table; and
`regs`, `mem` and `extract` take the threads that the filter names. Prints TAP.

usage: test_filters.py WARPSCOPE BUILDER_FOLDER
"""
import json
import os
import subprocess
import sys
import tempfile

# filter: whether a thread is meant
FILTERS = {
    'device 5': lambda t: t['device'] == 5,
    'device 2 sm 2': lambda t: (t['device'], t['sm']) == (2, 2),
    'sm 4': lambda t: t['sm'] == 4,
    'warp 1': lambda t: t['warp'] == 1,
    'lane 3': lambda t: t['lane'] == 3,
    'kernel 0': lambda t: t['kernel'] == 0,
    'kernel 1': lambda t: t['kernel'] == 1,
    'grid 3': lambda t: t['grid'] == 3,
    'block 1': lambda t: t['blockIdx'][0] == 1,
    'block (0,1,0)': lambda t: t['blockIdx'] == [0, 1, 0],
    'block (0,*,2)': lambda t: t['blockIdx'][0] == 0 and t['blockIdx'][2] == 2,
    'thread 33': lambda t: t['threadIdx'][0] == 33,
    'thread (3,2,1)': lambda t: t['threadIdx'] == [3, 2, 1],
    'cluster (0,0,0)': lambda t: t['cluster'] == [0, 0, 0],
    'cluster (0,1,0)': lambda t: t['cluster'] == [0, 1, 0],
    'cluster 7': lambda t: False,
    'sm 4, warp 0, lane 0': lambda t: (t['sm'], t['warp'], t['lane']) == (4, 0, 0),
    'kernel 2 block 1 thread (3,1,0)': lambda t: (t['kernel'], t['blockIdx'], t['threadIdx']) == (2, [1, 0, 0], [3, 1, 0]),
    'device 2 lane 16': lambda t: (t['device'], t['lane']) == (2, 16),
    'lane 77': lambda t: False,
    'device any sm any': lambda t: True,
}


class Wrong(Exception):
    pass


def same(what, is_, should):
    if is_ != should:
        raise Wrong(f'{what}: {str(is_)[:500]}, should be {str(should)[:500]}')


class Bench:
    def __init__(self, program, path):
        self.program, self.path = program, path

    def run(self, *words):
        done = subprocess.run([self.program, *words], capture_output=True, text=True, timeout=60, check=False)
        return json.loads(done.stdout) if done.stdout else None

    def rows(self, table, words):
        return self.run('info', '--json', '--coalescing', 'off', self.path, table, *words.split())[table]


def keys(rows, *names):
    """Each combination of values that rows have, once, in their order."""
    return list(dict.fromkeys(tuple(map(str, (row[name] for name in names))) for row in rows))


def universe(bench):
    """Every thread, with the grid and the cluster of its block."""
    grids = {row['kernel']: int(row['grid']) for row in bench.rows('kernels', 'device any')}
    clusters = {(row['kernel'], *row['blockIdx']): row['clusterIdx'] for row in bench.rows('blocks', 'kernel any')}
    threads = bench.rows('threads', 'kernel any')
    for thread in threads:
        thread['grid'] = grids[thread['kernel']]
        thread['cluster'] = clusters[thread['kernel'], *thread['blockIdx']]
    return threads


def lanes_of(rows):
    return sorted((row['device'], row['sm'], row['warp'], lane) for row in rows for lane in range(32)
                  if int(row['lanes_mask'], 16) >> lane & 1)


def check_filter(bench, threads, words, meant):
    wanted = [thread for thread in threads if meant(thread)]
    place = ('device', 'sm', 'warp', 'lane')
    same('threads', keys(bench.rows('threads', words), *place), keys(wanted, *place))
    same('lanes', sorted(keys(bench.rows('lanes', words), *place)), sorted(keys(wanted, *place)))
    for table, names in (('warps', place[:3]), ('sms', place[:2]), ('blocks', ('kernel', 'blockIdx')), ('kernels', ('kernel',))):
        same(table, sorted(keys(bench.rows(table, words), *names)), sorted(keys(wanted, *names)))
    same('barriers', lanes_of(bench.rows('barriers', words)), sorted(tuple(t[name] for name in place) for t in wanted))
    same('clusters', sum(row['count'] for row in bench.rows('clusters', words)),
         len(keys([t for t in wanted if t['cluster']], 'kernel', 'blockIdx')))
    registers = bench.run('regs', '--json', bench.path, *words.split())['lanes']
    same('regs', sorted(keys(registers, *place)), sorted(keys(wanted, *place)))


def check_memory(bench, threads, words, meant):
    """Memory of a lane is listed when the lane is meant, of a block when it is; what is nobody's is not limited."""
    if 'thread' in words or 'cluster' in words:
        return  # ranges have neither
    wanted = [thread for thread in threads if meant(thread)]
    rows = bench.rows('memory', words)
    place = ('device', 'sm', 'warp', 'lane')
    same('local memory', sorted(keys([r for r in rows if r['space'] == 'local'], *place)), sorted(keys(wanted, *place)))
    if 'warp' not in words and 'lane' not in words:
        same('shared memory', sorted(keys([r for r in rows if r['space'] == 'shared'], 'kernel', 'blockIdx')),
             sorted(keys([t for t in wanted if t['device'] == 2], 'kernel', 'blockIdx')))


def check_first(bench, threads, words, meant):
    """`mem` reads what the first thread of the filter sees, in the order of SMs, warps and lanes."""
    wanted = sorted((t['device'], t['sm'], t['warp'], t['lane'], *t['threadIdx']) for t in threads if meant(t))
    said = bench.run('mem', '--json', bench.path, 'local:0xfffb80', '/w', *words.split())
    if not wanted:
        same('mem', said, None)
        return
    device, sm, _, _, x, y, z = wanted[0]
    number = x if device == 2 else x + 16 * (y + 4 * z)  # of the thread in its block, as the builder fills its memory
    same('mem of a lane', said['bytes'], number.to_bytes(4, 'little').hex())
    done = subprocess.run([bench.program, 'extract', '-o', '-', bench.path, 'memory', 'local:0xfffb80+4', *words.split()],
                          capture_output=True, timeout=60, check=False)
    same('extracted memory of a lane', done.stdout, number.to_bytes(4, 'little'))
    if device == 2:
        said = bench.run('mem', '--json', bench.path, 'shared:0', '/w', *words.split())
        same('mem of a block', said['bytes'], sm.to_bytes(4, 'little').hex())


def main():
    program, builders = os.path.abspath(sys.argv[1]), sys.argv[2]
    sys.path.insert(0, builders)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import test_diff
    failed = case = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(program, os.path.join(folder, 'dump'))
        with open(bench.path, 'wb') as out:
            out.write(test_diff.Model().bytes())
        threads = universe(bench)
        for words, meant in FILTERS.items():
            case += 1
            try:
                same('the dump', len(threads), 4 * 48 + 4 * 128)
                for check in (check_filter, check_memory, check_first):
                    check(bench, threads, words, meant)
                print(f'ok {case} - {words}')
            except Wrong as why:
                failed += 1
                print(f'not ok {case} - {words}\n# {why}')
    print(f'1..{case}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
