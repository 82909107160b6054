#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every field of every table of a dump reaches a page and `diff`: test_fields.py PROGRAM TESTS. Prints TAP.

A dump has values in all fields (tests/builders/layout.py has the list). Each field of each table gets another value in one row; then a
page of a verb must say something else, and `diff` must find a difference. What need not be is in NOT_ON_PAGES and NOT_IN_DIFF, with
the reason.
"""
import os
import pickle
import subprocess
import sys
import tempfile

PROGRAM, TESTS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path[:0] = [os.path.join(TESTS, 'builders'), os.path.join(TESTS, 'cli')]

import coredump  # noqa: E402
import layout  # noqa: E402
import test_diff  # noqa: E402

DEVICE = 'layout: the table that the row is in says the device; `check` compares the two'
NOT_ON_PAGES = {('context', 'deviceIdx'): DEVICE,
                ('frame', 'level'): 'layout: the place of the row; `check` compares the two',
                ('frame', 'returnAddress'): 'the offset, in the caller, of the address that is shown'}
NOT_IN_DIFF = {('context', 'deviceIdx'): DEVICE,
               ('warp', 'warpId'): 'the slot of an SM that a warp got: warps match by their threads',
               }
TABLES = ('devices', 'contexts', 'modules', 'kernels', 'sms', 'blocks', 'clusters', 'warps', 'lanes', 'threads', 'barriers', 'exceptions',
          'memory', 'metadata')
PAGES = [('info', 'd', table, '--json', '--wide') for table in TABLES] + [
    ('bt', 'd', '--json'), ('regs', 'd', '--json'), ('report', 'd', '--json', '--no-source')]
OTHER = {'Q': 0x10, 'I': 1}  # what a number is exclusive-ored with


def model():
    """A dump with a value in every field."""
    dump = test_diff.Model().dump
    for device in dump.devices:
        for grid in device.grids:
            grid.row.update(kernelType=1, origin=1, parentGridId64=1, preferredClusterDimX=4, preferredClusterDimY=1,
                            preferredClusterDimZ=1, attrHostTid=77, attrLaunchBlocking=1)
        for sm in device.sms:
            sm.row.update(exception=14, errorPCValid=1, errorPC=0x7f0000001230, clusterExceptionTargetBlockIdxValid=1,
                          clusterExceptionTargetBlockIdxX=1, exceptionString='the words of a driver')
            for cta in sm.ctas or []:
                cta.row.update(clusterDimX=2, clusterDimY=1, clusterDimZ=1)
                for warp in cta.warps:
                    warp.row['warpId'] *= 2  # the slot beside is free: another number is no contradiction, and keeps the order
                    warp.row.update(errorPCValid=1, barrierScope=3, additionalBarrierInfo='a barrier in words', numRegs=32,
                                    cbuActiveLanesMask=0xff, cbuExitedLanesMask=0xff00, cbuCollectiveLanesMask=0xf0)
                    for lane in warp.lanes:
                        lane.row.update(cbuThreadState=3, rpcLo=0x1230, rpcHi=0x7f00)
    return dump


def rows(dump):
    """{table: a row of it}; those below are the first of an SM that has them."""
    device = dump.devices[0]
    sm = next(sm for sm in device.sms if sm.ctas)
    warp = sm.ctas[0].warps[0]
    return {'device': device.row, 'context': device.contexts[0].row, 'module': device.contexts[0].modules[0].row,
            'grid': device.grids[0].row, 'constbank': device.grids[0].banks[0], 'sm': sm.row, 'cta': sm.ctas[0].row,
            'warp': warp.row, 'lane': warp.lanes[0].row, 'frame': warp.lanes[0].frames[0], 'meta': dump.meta}


def altered(before, table, field, kind):
    dump = pickle.loads(before)
    row, options = rows(dump)[table], coredump.Options(driver=615)
    if (table, field) == ('meta', 'flags'):
        options.flags = coredump.FLAG_GZIP  # the builder writes the options' own
    elif field in layout.STRINGS:
        row[field] = row[field][::-1]
    else:
        row[field] = row.get(field, 0) ^ OTHER[kind]
    return coredump.write(dump, options)


class Pages:
    """What verbs say of two dumps; of the first one it is asked once."""

    def __init__(self, folder, data):
        self.folder, self.first = folder, {}
        self.write('a/d', data)

    def write(self, name, data):
        os.makedirs(os.path.dirname(os.path.join(self.folder, name)), exist_ok=True)
        with open(os.path.join(self.folder, name), 'wb') as handle:
            handle.write(data)

    def run(self, side, words):
        return subprocess.run([PROGRAM, *words], cwd=os.path.join(self.folder, side), capture_output=True, text=True, check=False, timeout=60)

    def reaches(self, data):
        """(whether a page differs, whether diff tells)"""
        self.write('b/d', data)
        for page in PAGES:
            if page not in self.first:
                self.first[page] = self.run('a', page).stdout
        told = self.run('b', ('diff', '../a/d', 'd')).returncode
        assert told in (0, 10), told
        return any(self.run('b', page).stdout != self.first[page] for page in PAGES), told == 10


def main():
    bad, before = [], pickle.dumps(model())
    with tempfile.TemporaryDirectory(prefix='ws-fields-') as folder:
        data = coredump.write(pickle.loads(before), coredump.Options(driver=615))
        pages = Pages(folder, data)
        if pages.reaches(data) != (False, False):
            bad.append('the dump itself differs')
        fields = [(table, *field[:2]) for table, listed in layout.TABLES.items() for field in listed]
        for table, field, kind in fields:
            page, told = pages.reaches(altered(before, table, field, kind))
            for is_told, exempt, where in ((page, NOT_ON_PAGES, 'no page'), (told, NOT_IN_DIFF, 'not in diff')):
                if is_told == ((table, field) in exempt):
                    bad.append(f'{table}.{field}: {where if not is_told else where + " was expected, and is wrong"}')
    for line in bad:
        print('#', line)
    print(f'{"not ok" if bad else "ok"} 1 - {len(fields)} fields reach a page and diff')
    print('1..1')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
