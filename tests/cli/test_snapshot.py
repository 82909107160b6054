#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the report says by a memory snapshot of PyTorch (docs/formats/memory-snapshot.md). Prints TAP.

usage: test_snapshot.py WARPSCOPE ROOT
"""
import copy
import gzip
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile

PROGRAM, ROOT = (os.path.abspath(p) for p in sys.argv[1:3])
sys.path.insert(0, os.path.join(ROOT, 'tests/builders'))
import coredump  # noqa: E402
import snapshots  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402
from snapshots import block, event, frame, segment, snapshot  # noqa: E402

import schemas

EXAMPLE = os.path.join(ROOT, 'examples/dumps/illegal-address.nvcudmp')
HANG = os.path.join(ROOT, 'examples/dumps/hang.nvcudmp')
IMAGE = os.path.join(ROOT, 'tests/data/reports/pointers.fatbin')
FREED = 0x7f33a2020000  # of a buffer that the kernel gets, and that is not there
MODEL, DATA, TRAIN = frame('/home/ana/lm/model.py', 31, 'forward'), frame('/home/ana/lm/data.py', 12, 'load'), \
    frame('/home/ana/lm/train.py', 89, '<module>')
TORCH = frame('/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py', 1553, '_call_impl')
USE_AFTER_FREE = 'use after free'


class Wrong(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Wrong(what)


def run(*words, expected=0):
    done = subprocess.run([PROGRAM, *words], capture_output=True, check=False, timeout=120, cwd=FOLDER)
    check(done.returncode == expected, f'exit status {done.returncode}: {done.stderr.decode(errors="replace")[:300]}')
    return done.stdout


def write(value, name='snapshot.pickle', how=snapshots.python_pickle):
    path = os.path.join(FOLDER, name)
    with open(path, 'wb') as file:
        file.write(value if isinstance(value, bytes) else how(value))
    return path


def report(dump, value, *words):
    """The whole report as JSON, and what it says by the snapshot."""
    path = value if isinstance(value, str) else write(value)
    whole = json.loads(run('report', dump, '--json', '--no-source', '--memory-snapshot', path, *words))
    why = schemas.misfit(whole['memory_snapshot'], 'report', 'memory_snapshot')
    check(not why, why)
    return whole, whole['memory_snapshot']


def told(dump, value, use='access', parameter=None):
    for one in report(dump, value)[1]['allocations']:
        if one['use'] == use and one['parameter'] == parameter:
            return one
    raise Wrong(f'nothing is told of the {use}')


def text(dump, value, *words):
    return run('report', dump, '--no-source', '--memory-snapshot', write(value), *words).decode()


def causes(whole):
    return [(one['confidence'], one['text'], one['evidence']) for one in whole['focus']['likely_causes']]


def make_dump(name):
    """Of a kernel that gets a buffer which was freed: its dump, and the memory that it has."""
    path = os.path.join(FOLDER, name)
    env = {**os.environ, 'CUDA_ENABLE_COREDUMP_ON_EXCEPTION': '1', 'CUDA_COREDUMP_FILE': path}
    subprocess.run([PROGRAM, 'run', IMAGE, '--kernel', 'tensorrt_llm_15265', *'--grid 2 --block 64 --buffer s=f32[128] '
                    '--buffer o=f32[512] --arg'.split(), str(FREED), *'--arg &s --arg &o --arg 128'.split()],
                   capture_output=True, check=False, env=env, cwd=FOLDER, timeout=120)
    check(os.path.exists(path), 'no dump was made')
    return path


def ranges(dump):
    listed = json.loads(run('info', dump, 'memory', '--json'))
    rows = next(value for value in listed.values() if isinstance(value, list))
    return [(int(row['start'], 16), int(row['size'])) for row in rows if row['space'] == 'global']


def segments_of(dump):
    return [segment(start, [block(start, size, frames=[MODEL])]) for start, size in ranges(dump)]


def history(free=None, alloc=None):
    t = 1751371190000000
    alloc = [TORCH, DATA] if alloc is None else alloc
    free = [TORCH, TRAIN] if free is None else free
    return [event('alloc', FREED, 60000, t, alloc), event('free_requested', FREED, 60000, t + 1000, free),
            event('free_completed', FREED, 60000, t + 1001, free), event('segment_free', FREED, 2 << 20, t + 2000, []),
            event('snapshot', 0, 0, t + 4000)]


# ---- forms of the file ----

def every_form_says_the_same():
    value = snapshots.example()
    first = report(EXAMPLE, value)[1]
    check(len(first['allocations']) == 4, first)
    for protocol in (2, 3, 4, 5):
        check(report(EXAMPLE, snapshots.python_pickle(value, protocol))[1] == first, f'protocol {protocol}')
    check(report(EXAMPLE, snapshots.cpp_pickle(value))[1] == first, 'the writer in C++')
    packed = write(gzip.compress(snapshots.python_pickle(value)), 'packed.gz')
    second = report(EXAMPLE, packed)[1]
    check({**second, 'path': ''} == {**first, 'path': ''}, 'packed')


def the_emitters_are_pickles():
    value = snapshots.example()
    check(pickle.loads(snapshots.cpp_pickle(value)) == value, 'what the C++ form holds')


def long_lists_are_read_whole():
    """Python writes lists in pieces of a thousand."""
    value = snapshots.example()
    start = value['segments'][0]['address'] + 0x10000000000
    many = [segment(start + (i << 24), [block(start + (i << 24), 4096)]) for i in range(2500)]
    t = 1751371190000000
    value['device_traces'].append([event('alloc', start + (i << 24), 4096, t + i, [MODEL] * 70) for i in range(2500)])
    value['segments'] += many
    for how in (snapshots.python_pickle, snapshots.cpp_pickle):
        got = report(EXAMPLE, write(value, how=how))[1]
        check((got['segments'], got['blocks'], got['events']) == (2501, 2501, 2507), got)


# ---- what is said ----

def an_address_past_the_end():
    address = int(told(EXAMPLE, snapshots.example())['address'], 16)
    base = 0x7f3a00000000
    end = address - 20
    whole = [segment(base, [block(base, 8192, frames=[TORCH, MODEL])]),
             segment(end - 4096, [block(end - 4096, 4096, requested=4000, frames=[TORCH, DATA, TRAIN])])]
    one = told(EXAMPLE, snapshot(whole))
    check('20 bytes past the end of a block of 4096 bytes (4000 requested), allocated at `data.py:12` in `load`' in one['text'],
          one['text'])
    whole[1] = segment(address + 100, [block(address + 100, 512, frames=[DATA])])
    check('100 bytes before a block of 512 bytes' in told(EXAMPLE, snapshot(whole))['text'], 'before')
    whole[1] = segment(address - 4050, [block(address - 4050, 4096, requested=4000, frames=[DATA])])
    one = told(EXAMPLE, snapshot(whole))
    check('50 bytes past what was requested in a block of 4096 bytes (4000 requested), allocated' in one['text'], one['text'])
    check(one['state'] == 'allocated', one)


def a_block_that_was_freed():
    dump = make_dump('freed.nvcudmp')
    without = json.loads(run('report', dump, '--json', '--no-source'))
    check('memory_snapshot' not in without, 'nobody asked')
    whole, got = report(dump, snapshot(segments_of(dump), history()))
    check(got['used'] and got['segments_inside'] == got['segments'], got)
    confidence, cause, evidence = causes(whole)[0]
    check(confidence == 'likely' and cause.startswith(USE_AFTER_FREE), causes(whole))
    check('was freed 3.0 ms before the last event of the snapshot at `train.py:89` in `<module>`, allocated at `data.py:12`' in evidence,
          evidence)
    check(len(causes(whole)) == 1, 'one cause')
    one = told(dump, snapshot(segments_of(dump), history()))
    check(one['state'] == 'outside' and 'given back to the driver' in one['text'], one)
    page = text(dump, snapshot(segments_of(dump), history()))
    check(f'- likely: {USE_AFTER_FREE}' in page.split('The fault:')[0], 'on the first screen')


def a_block_that_waits_for_nobody():
    """Free memory of a segment that the snapshot still has."""
    dump = make_dump('inactive.nvcudmp')
    whole = segments_of(dump) + [segment(FREED, [block(FREED, 65536, 'inactive')])]
    page, got = report(dump, snapshot(whole, history()[:3]))
    check(causes(page)[0][1].startswith(USE_AFTER_FREE), causes(page))
    check(got['segments_inside'] == got['segments'] - 1, got)
    check(told(dump, snapshot(whole, history()[:3]))['state'] == 'free', 'free')


def pending_has_two_names():
    dump = make_dump('pending.nvcudmp')
    for state in ('active_pending_free', 'active_awaiting_free'):
        whole = segments_of(dump) + [segment(FREED, [block(FREED, 65536, state, requested=60000)])]
        one = told(dump, snapshot(whole, history()[:2]))
        check(one['state'] == 'pending' and 'which another stream may still use' in one['text'], one)
        check('freed 0 us before' in one['text'] and 'train.py:89' in one['text'], one['text'])


def a_free_without_a_stack_has_no_line():
    """Then PyTorch writes down the stack of the allocation."""
    dump = make_dump('stackless.nvcudmp')
    frames = [TORCH, DATA]
    whole, _ = report(dump, snapshot(segments_of(dump), history(frames, frames)))
    check('(where was not recorded), allocated at `data.py:12`' in causes(whole)[0][2], causes(whole))
    whole, _ = report(dump, snapshot(segments_of(dump), history(frames, frames)[1:]))
    check('(where was not recorded)' in causes(whole)[0][2] and 'data.py' not in causes(whole)[0][2], causes(whole))


def what_was_allocated_again_is_not_freed():
    dump = make_dump('again.nvcudmp')
    t = 1751371199000000
    again = history() + [event('alloc', FREED, 60000, t, [MODEL])]
    whole, _ = report(dump, snapshot(segments_of(dump), again))
    check(USE_AFTER_FREE not in str(causes(whole)), causes(whole))
    live = segments_of(dump) + [segment(FREED, [block(FREED, 65536, frames=[MODEL])])]
    whole, _ = report(dump, snapshot(live, history()))
    check(USE_AFTER_FREE not in str(causes(whole)), causes(whole))


def a_cause_that_is_likely_by_itself_stays():
    """An index that is past the end of its buffer is not the fault of who freed the memory there."""
    address = int(told(EXAMPLE, snapshots.example())['address'], 16)
    value = snapshots.example()
    t = 1751371190000000
    value['device_traces'] = [[event('alloc', address, 4096, t, [DATA]), event('free_completed', address, 4096, t + 5, [TRAIN])]]
    without = json.loads(run('report', EXAMPLE, '--json', '--no-source'))
    check(causes(report(EXAMPLE, value)[0]) == causes(without), 'the causes change')


def an_index_that_was_read_from_freed_memory():
    whole, _ = report(EXAMPLE, snapshots.example())
    cause = causes(whole)[0]
    check(cause[1].startswith('an index read from memory') and 'the memory that it was read from was freed 3.0 ms before' in cause[2]
          and 'at `train.py:89` in `<module>`, allocated at `data.py:12` in `indices`' in cause[2], cause)
    one = told(EXAMPLE, snapshots.example(), 'index')
    check(int(one['address'], 16) == 0x7f3a10000000 + 4 * whole['focus']['accesses'][0]['index']['element'], one)
    value = snapshots.example()
    value['device_traces'][0] = value['device_traces'][0][:3]
    check(causes(report(EXAMPLE, value)[0]) == causes(json.loads(run('report', EXAMPLE, '--json', '--no-source'))), 'not freed')


def what_was_freed_after_the_dump_is_no_cause():
    """The dump is of 1751371200; a program that fails frees what it had."""
    value = snapshots.example()
    for one in value['device_traces'][0]:
        if one['action'].startswith('free'):
            one['time_us'] += 11 * 1000000
    whole, _ = report(EXAMPLE, value)
    check(causes(whole) == causes(json.loads(run('report', EXAMPLE, '--json', '--no-source'))), causes(whole))
    one = told(EXAMPLE, value, 'index')
    check(one['block']['freed_after_dump'] and ', after the time in the dump' in one['text'], one)


def words_that_are_waited_for():
    start = 0x7f3a40000000
    value = snapshot([segment(start, [block(start, 512, requested=4, frames=[MODEL])])])
    page = text(HANG, value)
    check('PyTorch\'s memory snapshot:' in page, 'no section')
    check('0x7f3a40000000: the start of a block of 512 bytes (4 requested), allocated at `model.py:31` in `forward`' in page, page)


# ---- what is not said ----

def others_segments_claim_nothing():
    dump = make_dump('other.nvcudmp')
    far = [segment(0x7e0000000000 + (i << 24), [block(0x7e0000000000 + (i << 24), 512)]) for i in range(4)]
    for value, reason in ((snapshot(far, history()), 'the snapshot\'s segments are not those of the dump'),
                          (snapshot(far + segments_of(dump)[:1], history()), 'only 1 of the snapshot\'s 5 segments'),
                          (snapshot([], history()), 'no memory yet')):
        whole, got = report(dump, value)
        check(not got['used'] and reason in got['reason'] and not got['allocations'], got)
        check(USE_AFTER_FREE not in str(causes(whole)), 'it claims all the same')
        check(reason in text(dump, value), 'the page does not say why')


def a_dump_without_memory():
    built = SCENARIOS['illegal-address'][0]()
    built.options.flags |= coredump.FLAG_SKIP_GLOBAL
    dump = write(coredump.write(built.model, built.options), 'light.nvcudmp')
    got = report(dump, snapshots.example())[1]
    check(got['used'] and got['segments_inside'] is None and 'which nothing here shows' in got['assumed'], got)
    got = report(dump, snapshot([segment(0x7e0000000000, [block(0x7e0000000000, 512)])]))[1]
    check(not got['used'] and 'no memory to compare them with' in got['reason'], got)


class Evil:
    def __reduce__(self):
        return os.mkdir, (os.path.join(FOLDER, 'executed'),)


def no_code_runs():
    for protocol in (2, 3, 4, 5):
        value = snapshots.example()
        value['allocator_settings']['x'] = Evil()
        whole, got = report(EXAMPLE, snapshots.python_pickle(value, protocol))
        check('this pickle would run code (' in got['reason'] and 'GLOBAL): not read' in got['reason'], got)
        check(not got['used'] and whole['verdict']['kind'] == 'fault', got)
    check(not os.path.exists(os.path.join(FOLDER, 'executed')), 'it ran')


def other_files_are_named():
    run('report', EXAMPLE, '--memory-snapshot', os.path.join(FOLDER, 'nowhere'), expected=1)
    for value, reason in ((b'', 'ends inside'), (b'hello', 'is damaged'), (snapshots.python_pickle({'a': 1}), 'not one memory snapshot'),
                          (snapshots.python_pickle([snapshots.example()]), 'not one memory snapshot'),
                          (snapshots.python_pickle({'segments': [], 'other': snapshots.example()}), 'not one memory snapshot'),
                          (snapshots.python_pickle({'segments': [], 'other': [block(4096, 512)]}), 'not one memory snapshot'),
                          (snapshots.python_pickle({'segments': [], 'other': history()}), 'not one memory snapshot'),
                          (snapshots.python_pickle(snapshots.example())[:-9], 'ends inside')):
        got = report(EXAMPLE, write(value))[1]
        check(not got['used'] and reason in got['reason'], got)


def foreign_text_is_text():
    value = snapshots.example()
    nasty = frame('/x/<script>alert(1)</script>`\x1b[31m\n# x.py', 5, '</pre>`\x1b[0m<b>')
    value['segments'][0]['blocks'][0]['frames'] = [nasty]
    path = write(value)
    for form in ('text', 'md', 'html', 'json'):
        page = run('report', EXAMPLE, '--format', form, '--memory-snapshot', path)
        check(b'\x1b' not in page and (form != 'html' or b'<script>alert' not in page), form)
        check(b'x.py:5' in page or form == 'json', f'{form} does not name the line')
        check(form == 'json' or b'\n# x.py' not in page, form)


def damage_is_harmless():
    rng = random.Random(36)
    whole = snapshots.python_pickle(snapshots.example())
    for _ in range(150):
        bad = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        del bad[rng.choice((len(bad), rng.randrange(len(bad)))):]
        report(EXAMPLE, bytes(bad))


def blocks_need_addresses():
    """Of an older PyTorch they have none: nothing is guessed."""
    value = copy.deepcopy(snapshots.example())
    del value['segments'][0]['blocks'][0]['address']
    got = report(EXAMPLE, value)[1]
    check(not got['used'] and 'damaged' in got['reason'], got)


CASES = [every_form_says_the_same, the_emitters_are_pickles, long_lists_are_read_whole, an_address_past_the_end,
         a_block_that_was_freed, a_block_that_waits_for_nobody, pending_has_two_names, a_free_without_a_stack_has_no_line,
         what_was_allocated_again_is_not_freed, a_cause_that_is_likely_by_itself_stays, an_index_that_was_read_from_freed_memory,
         what_was_freed_after_the_dump_is_no_cause,
         words_that_are_waited_for, others_segments_claim_nothing,
         a_dump_without_memory, no_code_runs, other_files_are_named, foreign_text_is_text, damage_is_harmless, blocks_need_addresses]

if __name__ == '__main__':
    print(f'1..{len(CASES)}')
    with tempfile.TemporaryDirectory() as FOLDER:
        for number, case in enumerate(CASES, 1):
            name = case.__name__.replace('_', ' ')
            try:
                case()
                print(f'ok {number} - {name}')
            except (Wrong, subprocess.TimeoutExpired, KeyError, IndexError, StopIteration, ValueError) as error:
                print(f'not ok {number} - {name}\n# {str(error)[:1500]}')
