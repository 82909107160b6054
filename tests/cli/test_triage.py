#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The triage as a program: records and their size, runs that are killed and go on, workers that die, hostile names, a full disk, parts
of a Slurm array, baselines, pages. Prints TAP.

usage: test_triage.py PROGRAM SOURCE_ROOT [--all]

With --all 100,000 files lie in one folder and runs are killed 40 times.
"""

import contextlib
import decimal
import fcntl
import gzip
import json
import lzma
import os
import pickle
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import schemas

RECORD_BYTES = 4096


class Bench:
    def __init__(self, program, root, folder):
        self.program, self.root, self.folder = os.path.abspath(program), root, folder
        self.dump = os.path.join(root, 'examples/dumps/illegal-address.nvcudmp')
        self.hang = os.path.join(root, 'examples/dumps/hang.nvcudmp')

    def folder_of(self, name):
        path = os.path.join(self.folder, name)
        os.mkdir(path)
        return path

    def fill(self, name, n, source=None):
        """A folder with n links to one dump."""
        path, first = self.folder_of(name), os.path.join(self.folder, name, 'core_1_node0_0.nvcudmp')
        shutil.copy(source or self.dump, first)
        for i in range(1, n):
            os.link(first, os.path.join(path, f'core_1_node{i % 7}_{i}.nvcudmp'))
        return path

    def run(self, *words, **options):
        return subprocess.run([self.program, 'triage', *words], capture_output=True, check=False, timeout=600, **options)

    def records(self, *words, **options):
        done = self.run('--jsonl', *words, **options)
        return [json.loads(line) for line in done.stdout.splitlines()], done

    def page(self, *words, **options):
        return json.loads(self.run('--json', *words, **options).stdout)


def expect(condition, what):
    if not condition:
        raise AssertionError(str(what)[:2000])


def children_of(pid):
    """Processes that a process started, its workers: each of them has started one itself."""
    try:
        with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


# ---- cases ----

def records_keep_their_size(bench):
    """A record has at most 4,096 bytes whatever the names, is valid, and whole when it is asked for."""
    where = bench.folder_of('size')
    import build  # pylint: disable=import-outside-toplevel
    deep = where
    for letter in 'abcdefg':
        deep = os.path.join(deep, letter * 200)
    os.makedirs(deep)
    with open(os.path.join(deep, 'long-names.nvcudmp'), 'wb') as file:
        file.write(build.build('long-names')[0])
    control = os.path.join(where, '\x01' * 200 + '.nvcudmp')
    shutil.copy(bench.dump, control)
    done = bench.run('--jsonl', where)
    lines = done.stdout.splitlines(True)
    expect(len(lines) == 2 and all(len(line) <= RECORD_BYTES for line in lines), [len(line) for line in lines])
    whole, _ = bench.records('--jsonl=full', where)
    paths = {record['path'] for record in whole}
    expect(os.path.join(deep, 'long-names.nvcudmp') in paths, paths)
    expect(any(len(record['kernel_mangled']) > 4000 for record in whole), 'the kernel is cut')
    cut = [json.loads(line) for line in lines]
    expect(all(re.search('~[0-9a-f]{16}$', record['kernel_mangled']) for record in cut if 'long' in record['kernel_mangled']), cut)
    expect({r['signature'] for r in cut} == {r['signature'] for r in whole}, 'a signature depends on the length of other names')
    for record in cut + whole:
        expect(not schemas.misfit(record), schemas.misfit(record))


def a_record_has_the_device_that_failed(bench):
    """Of two devices; the first one where none failed."""
    where = bench.folder_of('devices')
    import coredump  # pylint: disable=import-outside-toplevel
    import machine  # pylint: disable=import-outside-toplevel
    import scenarios  # pylint: disable=import-outside-toplevel
    for wanted, warp in ((1, (1, 1)), (0, None)):
        process = machine.Process(machine.H100, machine.H100)
        launch, bad, _ = scenarios.gather(process, device=1, warp_of_fault=warp)
        if warp:
            launch.device.blame(2, 14, bad)
        path = os.path.join(where, f'{wanted}.nvcudmp')
        with open(path, 'wb') as file:
            file.write(coredump.write(process.dump(), coredump.Options()))
        [record], _ = bench.records('--jsonl=full', path)
        node = process.devices[wanted].node.row
        place = f'{node["pciBusId"]:02x}:{node["pciDevId"]:02x}'
        expect((record['devices'], record['device'], record['pci']) == (2, wanted, place), (record, place))


def place_is_that_of_the_page(bench):
    """Which of several waits names a hang is decided once: headline, signature and record have the same."""
    dump = os.path.join(bench.root, 'examples/dumps/hang.nvcudmp')
    [record], _ = bench.records('--jsonl=full', dump)
    done = subprocess.run([bench.program, 'report', '--json', '--no-source', dump], capture_output=True, check=True)
    report = json.loads(done.stdout)
    [root] = [wait for wait in report['waits'] if wait['root']]
    frame = root['frames'][root['user_frame']]
    place = f'{os.path.basename(frame["file"])}:{frame["line"]}'
    expect(f'at `{place}`' in report['verdict']['summary'], (place, report['verdict']))
    expect((record['file'], record['line'], record['waits_for']) == (frame['file'], frame['line'], root['kind']), (record, root))
    expect(record['signature'].endswith(' | ' + root['kind']), record)


def page_follows_its_schema(bench):
    where = bench.folder_of('page')
    for name in ('illegal-address', 'hang', 'exited'):
        shutil.copy(os.path.join(bench.root, f'examples/dumps/{name}.nvcudmp'), where)
    page = bench.page(where)
    expect(page['dumps']['all'] == 3 and len(page['groups']) == 3 and len(page['jobs'][0]['rows']) == 3, page)
    expect(not schemas.misfit(page), schemas.misfit(page))
    for form in ('text', 'md', 'html', 'github'):
        done = bench.run('--format', form, where)
        expect(done.returncode == 10 and b'gather_rows' in done.stdout and not done.stderr, (form, done))
    pages = os.path.join(bench.folder, 'pages')
    done = bench.run('--html', pages, where)
    made = sorted(os.listdir(pages))
    with open(os.path.join(pages, 'index.html'), encoding='utf-8') as file:
        links = set(re.findall('<a href="([0-9a-f]+[.]html)"', file.read()))
    expect(done.returncode == 10 and len(links) == 3 and made == sorted(links | {'index.html'}), (done, made, links))


def a_doubt_is_told_with_the_verdict(bench):
    """A dump that contradicts itself says so wherever its fault is told; a sound dump of the same bug is a better example."""
    path = bench.folder_of('doubt')
    with open(bench.dump, 'rb') as file:
        dump = bytearray(file.read())
    dump[0x4000:0x5000] = b'\xff' * 0x1000
    for name in ('a', 'b'):
        with open(os.path.join(path, f'{name}.nvcudmp'), 'wb') as file:
            file.write(dump)
    records, _ = bench.records(path)
    expect(all(record['verdict'] == 'fault' and record['doubt'].startswith('the dump contradicts itself') for record in records), records)
    page = json.loads(bench.run('--json', path).stdout)
    expect('in doubt: illegal memory access' in page['sentence'] and page['groups'][0]['in_doubt'], page['sentence'])
    expect(all(row['what'].startswith('in doubt: ') for job in page['jobs'] for row in job['rows']), page['jobs'])
    text = bench.run(path).stdout.decode()
    expect('| load (in doubt)' in text and 'in doubt: ' in text.splitlines()[0], text)
    shutil.copy(bench.dump, os.path.join(path, 'c.nvcudmp'))
    page = json.loads(bench.run('--json', path).stdout)
    expect([(group['dumps'], group['in_doubt'], os.path.basename(group['example'])) for group in page['groups']]
           == [(3, False, 'c.nvcudmp')], page['groups'])


def a_bad_file_costs_its_row(bench):
    """What cannot be read is a row; what is no dump, and nothing calls it one, is passed over."""
    where = bench.fill('bad', 2)
    with open(os.path.join(where, 'notes.txt'), 'wb') as file:
        file.write(b'not a dump at all\n' * 20)
    with open(os.path.join(where, 'core_2_node0_5.nvcudmp'), 'wb'):
        pass
    found, done = bench.records(where, '/gone/nothing.nvcudmp')
    by_name = {os.path.basename(record['path']): record for record in found}
    expect(len(found) == 4 and by_name['nothing.nvcudmp']['status'] == 'failed', done)
    expect(by_name['core_2_node0_5.nvcudmp']['why'] == 'the file is empty', by_name['core_2_node0_5.nvcudmp'])
    expect(by_name['core_2_node0_5.nvcudmp']['pid'] == 5, by_name)
    shutil.copy(os.path.join(where, 'notes.txt'), os.path.join(where, 'core_7_node0_r8'))  # a pattern may call it one, too
    for words, n in (([], 3), (['--name', 'core_%t_%h_r%r'], 4), (['--name', 'core_%t_%h_p%p'], 3)):
        found = [os.path.basename(record['path']) for record in bench.records(*words, where)[0]]
        expect(len(found) == n and ('core_7_node0_r8' in found) == (n == 4), (words, found))
    named, _ = bench.records(os.path.join(where, 'notes.txt'))
    expect(named[0]['status'] == 'failed' and 'text' in named[0]['why'], named)


def links_are_followed_to_files(bench):
    """A link in a folder leads to a dump elsewhere; one to a folder leads nowhere."""
    where = bench.folder_of('links')
    os.symlink(bench.dump, os.path.join(where, 'one.nvcudmp'))
    os.symlink(os.path.dirname(bench.dump), os.path.join(where, 'folder'))
    os.symlink('nowhere', os.path.join(where, 'gone.nvcudmp'))
    found, done = bench.records(where)
    expect([(os.path.basename(r['path']), r['status']) for r in found] == [('one.nvcudmp', 'read')], (found, done))


def merged_pages_stay_in_the_store(bench):
    """Records of others may name any file. Single pages are made of dumps in the folders of --dumps, and of no others."""
    where, other, records = bench.fill('store', 2), bench.fill('elsewhere', 1), os.path.join(bench.folder, 'named.jsonl')
    bench.run('--records', records, where, other, f'{where}/../elsewhere/core_1_node0_0.nvcudmp')
    for number, (words, n) in enumerate((([], 0), (['--dumps', where], 2), (['--dumps', where + '//'], 2), (['--dumps', where, '--dumps', other], 3),
                                         (['--dumps', bench.folder], 3))):
        pages = os.path.join(bench.folder, f'merged{number}')
        done = bench.run('--merge', '--html', pages, *words, records)
        expect(done.returncode == 10 and len(os.listdir(pages)) == n + 1, (words, done, os.listdir(pages)))
    expect(bench.run('--dumps', where, where).returncode == 2, '--dumps without --merge')
    upwards, pages = os.path.join(bench.folder, 'upwards.jsonl'), os.path.join(bench.folder, 'merged-upwards')
    bench.run('--records', upwards, f'/..{where}/core_1_node0_0.nvcudmp')  # a folder that a path leaves is not trusted, wherever it does
    done = bench.run('--merge', '--html', pages, '--dumps', f'/..{where}', upwards)
    expect(done.returncode == 10 and os.listdir(pages) == ['index.html'], (done, os.listdir(pages)))


def names_are_found_as_they_are_given(bench):
    """Folders with and without a slash at their end, patterns that no shell expanded, lines of standard input, folders in folders."""
    where = bench.fill('given', 3)
    names = sorted(os.listdir(where))
    deep = os.path.join(where, *['d'] * 31)
    os.makedirs(os.path.join(deep, 'd'))
    shutil.copy(bench.dump, os.path.join(deep, 'last.nvcudmp'))
    shutil.copy(bench.dump, os.path.join(deep, 'd', 'too-deep.nvcudmp'))
    for given in (where, where + '/'):
        paths = sorted(record['path'] for record in bench.records(given)[0])
        expect(paths == sorted([os.path.join(deep, 'last.nvcudmp')] + [os.path.join(where, name) for name in names]), paths)
    for pattern, n in (('/core_1_node?_*', 3), ('/core_1_node[01]_*', 2), ('/*_2.nvcudmp', 1)):
        expect(len(bench.records(where + pattern)[0]) == n, pattern)
    done = bench.run('--jsonl', where + '/none*')
    expect(done.returncode == 1 and b'none*: No such file' in done.stderr, done)
    odd = os.path.join(where, 'odd[1]*.nvcudmp')  # a file of that name comes before a pattern
    shutil.copy(bench.dump, odd)
    expect([record['path'] for record in bench.records(odd)[0]] == [odd], odd)
    listed = f'{names[0]}\n\n./{names[1]}\n{where}/{names[2]}'.encode()
    done = bench.run('--jsonl', '-', input=listed, cwd=where)
    paths = sorted(json.loads(line)['path'] for line in done.stdout.splitlines())
    expect(paths == sorted([names[0], './' + names[1], os.path.join(where, names[2])]) and not done.stderr, done)
    expect([json.loads(line)['status'] for line in done.stdout.splitlines()] == ['read'] * 3, done)


def what_exec_recorded_is_no_dump(bench):
    """Only a file that is named as exec names its records is one."""
    where = bench.folder_of('recorded')
    line = b'{"schema":"warpscope-exec-1","host":"h","pid":7,"started":1,"RANK":5,"WORLD_SIZE":6}\n'
    shutil.copy(bench.dump, os.path.join(where, 'core_1_h_7.nvcudmp'))
    for name, rank in (('exec_a.jsonl', 5), ('exec_.jsonl', 5), ('exec.jsonl', None), ('xexec_a.jsonl', None), ('exec_a.jsonl.old', None), ('exec_a.json', None)):
        path = os.path.join(where, name)
        with open(path, 'wb') as file:
            file.write(line)
        for words in ([where], [os.path.join(where, 'core_1_h_7.nvcudmp')]):
            found, done = bench.records(*words)
            expect(len(found) == 1 and found[0]['rank'] == rank and found[0]['ranks'] == (rank and 6), (name, words, done))
        os.unlink(path)


def parts_go_by_the_name(bench):
    """A name is in the same part on every host and in every version: 64 bits of FNV-1a, both halves together."""
    where = bench.fill('by-name', 30)

    def part(path, n):
        value = 0xcbf29ce484222325
        for byte in path.encode():
            value = (value ^ byte) * 0x100000001b3 % 2 ** 64
        return (value ^ value >> 32) % n
    for k in range(3):
        done = bench.run('--jsonl', '--shard', f'{k + 1}/3', '.', cwd=where)
        paths = {json.loads(line)['path'] for line in done.stdout.splitlines()}
        expect(paths == {'./' + name for name in os.listdir(where) if part('./' + name, 3) == k}, (k, paths))
    path, environment = os.path.join(bench.folder, 'by-name.jsonl'), {**os.environ, 'SLURM_ARRAY_TASK_ID': '1', 'SLURM_ARRAY_TASK_COUNT': '2'}
    bench.run('--records', path, where)
    done = bench.run('--json', '--merge', path, env=environment)  # whose records are all
    expect(json.loads(done.stdout)['dumps']['all'] == 30 and not done.stderr, done)
    for variables, said in (({'ID': '1', 'COUNT': '2'}, b'part 2 of 2'), ({'ID': '2', 'COUNT': '2'}, None), ({'ID': '0', 'COUNT': '1'}, None),
                            ({'ID': '4', 'COUNT': '2', 'MIN': '5'}, None), ({'ID': '7', 'COUNT': '2', 'MIN': '5', 'STEP': '2'}, b'part 2 of 2'),
                            ({'ID': '1'}, None), ({'ID': '0', 'COUNT': '2', 'STEP': '0'}, None)):
        environment = {**os.environ, **{'SLURM_ARRAY_TASK_' + name: value for name, value in variables.items()}}
        done = bench.run('--jsonl', os.path.join(where, 'core_1_node0_0.nvcudmp'), env=environment)
        expect((said in done.stderr) if said else not done.stderr, (variables, done))
    done = bench.run('--jsonl', '--shard', '1/1', where, env={**os.environ, 'SLURM_ARRAY_TASK_ID': '1', 'SLURM_ARRAY_TASK_COUNT': '2'})
    expect(not done.stderr and done.stdout.count(b'\n') == 30, done)


def words_that_do_not_go_together(bench):
    where = bench.folder_of('words')
    for words, said in (((), 'which dumps?'), (('--merge',), 'which records?'), (('--merge', '--records', 'x', 'y'), 'no --records'),
                        (('--merge', '--shard', '1/2', 'y'), 'no --shard'), (('-j', '0', where), 'above 0'), (('--timeout', '0', where), 'above 0'),
                        (('--json', '--format', 'md', where), '--format md exclude'), (('--format', 'pdf', where), "github, not 'pdf'"),
                        (('--jsonl=some', where), 'takes full, or nothing'), (('--shard', '1/2/3', where), 'such as 1/8'), (('--shard', '/2', where), 'such as 1/8'),
                        (('--shard', '1/4294967296', where), 'such as 1/8'), (('--shard', '0' * 24 + '1/2', where), 'such as 1/8'),
                        (('--log', '-', where), 'files, folders'), (('--dumps', 'x', '--merge', 'y'), '--merge --html'),
                        (('--dumps', 'x', '--html', where, 'y'), '--merge --html'), (('--watch', '--interval', '2147483648', where), 'above 0')):
        done = bench.run(*words)
        expect(done.returncode == 2 and said in done.stderr.decode(), (words, done))
    expect(bench.run('--json', '--format', 'json', bench.dump).returncode == 10, 'twice the same')
    expect(bench.run('--shard', '1/4294967295', where).returncode == 0, 'the most parts')
    for words, said in (((where,), b'no dump was found'), (('--merge', '/dev/null'), b'is not a regular file'), (('--merge', '/gone/x'), b'No such file'),
                        (('--html', '/gone/x', bench.dump), b'/gone/x: No such file'), (('--html', bench.dump, bench.dump), b'Not a directory'),
                        (('-o', '/gone/x', bench.dump), b'/gone/x')):
        done = bench.run(*words)
        expect(done.returncode == 1 and said in done.stderr, (words, done))


def no_failure_is_no_failure(bench):
    """Exit statuses of dumps without a failure, and of some that cannot be read."""
    import build  # pylint: disable=import-outside-toplevel
    where = bench.folder_of('none')
    with open(os.path.join(where, 'idle.nvcudmp'), 'wb') as file:
        file.write(build.build('empty')[0])
    expect(bench.run(where).returncode == 0, 'nothing is wrong')
    with open(os.path.join(where, 'cut.nvcudmp'), 'wb') as file:
        file.write(b'\x7fELF')
    done = bench.run(where)
    expect(done.returncode == 12 and b'1 with neither, 0 too damaged to tell, 1 unreadable' in done.stdout, done)
    shutil.copy(bench.dump, where)
    expect(bench.run(where).returncode == 10, 'one fails')


def a_reader_may_go(bench):
    """Who stops to read records ends the run without a word; a terminal has no line of progress left."""
    where = bench.fill('goes', 20)
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([bench.program, 'triage', '--jsonl', where], stdout=write, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(write)
    expect(done.returncode == 1 and not done.stderr, done)
    for term, wanted in (('xterm', b'\r\x1b[K'), ('dumb', b'')):
        terminal, end = os.openpty()
        done = subprocess.run([bench.program, 'triage', '--jsonl', where], stdout=subprocess.PIPE, stderr=end, check=False, timeout=60,
                              env={**os.environ, 'TERM': term})
        os.set_blocking(terminal, False)
        said = b''
        with contextlib.suppress(OSError):
            said = os.read(terminal, 1000)
        os.close(end)
        os.close(terminal)
        expect(done.stdout.count(b'\n') == 20 and said.endswith(wanted) and bool(said) == bool(wanted), (term, said))


def hostile_names(bench):
    """Names with line ends, escape sequences, markup, bytes that are no text, and leading dashes."""
    where = bench.folder_of('hostile')
    names = [b'new\nline.nvcudmp', b'esc\x1b[31mred.nvcudmp', b'<script>alert(1)<script>.nvcudmp', b'bad\xff\xfeutf.nvcudmp', b'--jsonl.nvcudmp',
             b'back`tick`.nvcudmp', b'$(reboot).nvcudmp', b'quote".nvcudmp', b'%s%n%n.nvcudmp', '\u202egnp.nvcudmp'.encode()]
    for name in names:
        shutil.copy(bench.dump, os.path.join(where.encode(), name))
    done = bench.run('--jsonl', where)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    expect(len(found) == len(names) and all(record['status'] == 'read' for record in found), done)
    for form in ('text', 'md', 'html', 'json', 'github'):
        shown = bench.run('--format', form, where).stdout
        expect(b'\x1b' not in shown and '\u202e'.encode() not in shown and (form != 'html' or b'<script>alert' not in shown), (form, shown))
        expect(b'report $(' not in shown, 'a command that runs what a name says')
    for number, (name, by) in enumerate(((b'$(reboot).nvcudmp', False), (b'a b.nvcudmp', False), (b'plain.nvcudmp', True))):
        alone = bench.folder_of(f'alone{number}')
        shutil.copy(bench.dump, os.path.join(alone.encode(), name))
        shown = bench.run(alone).stdout
        expect((b'warpscope report ' in shown) == by and b'Read first' in shown, ('a command that a shell reads otherwise', shown))
    listed = b'\0'.join(os.path.join(where.encode(), name) for name in names) + b'\0'
    done = subprocess.run([bench.program, 'triage', '--jsonl', '--null', '-'], input=listed, capture_output=True, check=False, timeout=60)
    again = [json.loads(line) for line in done.stdout.splitlines()]
    expect({r['key'] for r in again} == {r['key'] for r in found}, done)


def names_have_ranks(bench):
    """Patterns of names: where rank, host, process and job come from, and why there is none."""
    where = os.path.join(bench.folder_of('names'), 'job-a_b', 'run')
    os.makedirs(where)
    path = os.path.join(where, 'core_r12_my_host_77.nvcudmp.gz')
    shutil.copy(bench.dump, path)
    (record,), _ = bench.records('--name', 'job-%j/run/core_r%r_%h_%p.nvcudmp', path)
    expect((record['rank'], record['host'], record['pid'], record['job']) == (12, 'my_host', 77, 'a_b'), record)
    expect(record['rank_from'] == 'name' and record['rank_why'] is None, record)
    (record,), _ = bench.records(path)
    expect(record['rank'] is None and record['rank_why'] == 'no pattern of names was given', record)
    (record,), _ = bench.records('--name', 'other_%r', path)
    expect(record['rank'] is None and record['rank_why'] == 'the name is not as the pattern says', record)
    (record,), _ = bench.records('--name', '*', path)
    expect(record['rank_why'] == 'the pattern of names has no rank', record)
    driver = os.path.join(where, 'core_1751371200_gpu-7_4711.nvcudmp')
    shutil.copy(bench.dump, driver)
    (record,), _ = bench.records(driver)
    expect((record['host'], record['pid']) == ('gpu-7', 4711), record)
    for pattern, words in (('%h%p', 'nothing says where'), ('%x', 'but no %x'), ('', 'empty'), ('%r' * 20, 'nothing says')):
        done = bench.run('--name', pattern, path)
        expect(done.returncode == 2 and words in done.stderr.decode(), done)
    slow = os.path.join(where, 'a' * 240)
    shutil.copy(bench.dump, slow)
    start = time.monotonic()
    bench.records('--name', '*a*a*a*a*a*a*a*a*a*a*a*b', slow)
    expect(time.monotonic() - start < 10, 'a pattern takes for ever')


def a_killed_run_goes_on(bench, kills):
    """kill -9 at any moment: what is in the file is whole, and runs until the end give each dump one record."""
    n = 400 if kills > 5 else 150
    where, records = bench.fill('killed', n), os.path.join(bench.folder, 'killed.jsonl')
    rng, grown = random.Random(7), 0
    for _ in range(kills):
        with subprocess.Popen([bench.program, 'triage', '--jsonl', '--records', records, where], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            time.sleep(rng.uniform(0.01, 0.25))
            process.kill()
        with open(records, 'ab') as file:  # as if the kill had come in the middle of a write
            file.write(b'{"schema":"warpscope-triage-1","key":"0123')
        have = open(records, 'rb').read().count(b'\n')
        expect(have >= grown, 'a run lost records')
        grown = have
    done = bench.run('--records', records, where)
    with open(records, 'rb') as file:
        lines = file.read()
    expect(lines.endswith(b'\n'), (lines[-100:], done.stderr))
    found = [json.loads(line) for line in lines.splitlines()]
    expect(done.returncode == 10 and len(found) == n and len({record['key'] for record in found}) == n, (done, len(found)))
    page = bench.page('--merge', records, records)
    expect(page['dumps']['all'] == n and page['dumps']['again'] == n, page['dumps'])


def a_dead_worker_costs_a_row(bench):
    """Readers that crash, or never end, cost the rows of their dumps; all other dumps have theirs."""
    n, killed, seen = 200, 0, set()
    where, output = bench.fill('dead', n), os.path.join(bench.folder, 'dead.jsonl')
    with open(output, 'wb') as file, \
         subprocess.Popen([bench.program, 'triage', '--jsonl', '-j', '2', '--timeout', '20', where], stdout=file) as process:
        while killed < 3 and process.poll() is None:
            for child in set(children_of(process.pid)[:1]) - seen:
                seen.add(child)
                with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
                    os.kill(child, signal.SIGKILL)
                    killed += 1
                time.sleep(0.005)
        process.wait(timeout=60)
    with open(output, 'rb') as file:
        found = [json.loads(line) for line in file]
    failed = [record for record in found if record['status'] == 'failed']
    expect(len(found) == n and len(failed) <= killed and killed, (len(found), len(failed), killed))
    expect(all('crashed (signal 9)' in record['why'] for record in failed), failed)
    with subprocess.Popen([bench.program, 'triage', '--jsonl', '-j', '1', '--timeout', '1', where], stdout=subprocess.PIPE) as process:
        child = None
        while not child:
            child = (children_of(process.pid) or [None])[0]
        os.kill(child, signal.SIGSTOP)
        out, _ = process.communicate(timeout=60)
    found = [json.loads(line) for line in out.splitlines()]
    failed = [record['why'] for record in found if record['status'] == 'failed']
    expect(len(found) == n and failed == ['it took too long (--timeout)'], failed)


def a_crash_leaves_no_core(bench):
    """A reader that crashes is a row, and not one more file as large as the process."""
    where, limits = bench.fill('no-core', 200), set()

    def allow():
        most = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (most, most))

    with subprocess.Popen([bench.program, 'triage', '--jsonl', '-j', '1', where], stdout=subprocess.DEVNULL, preexec_fn=allow) as process:
        while process.poll() is None:
            for child in children_of(process.pid)[:1]:
                with contextlib.suppress(OSError), open(f'/proc/{child}/limits', encoding='ascii') as file:
                    limits |= {tuple(line.split()[4:6]) for line in file if line.startswith('Max core file size')}
    expect(('0', '0') in limits, limits)


def records_are_there_at_once(bench):
    """While one reader stands, the records of what the other one read are in the file: few at a time are written together."""
    n, found = 30, []
    where, records = bench.fill('stands', n), os.path.join(bench.folder, 'stands.jsonl')
    for _ in range(20):  # until one was stopped in time
        seen = 0
        with subprocess.Popen([bench.program, 'triage', '--jsonl', '-j', '2', '--timeout', '2', '--records', records, where],
                              stdout=subprocess.DEVNULL) as process:
            child = None
            while not child:
                child = (children_of(process.pid) or [None])[0]
            os.kill(child, signal.SIGSTOP)
            while process.poll() is None:
                time.sleep(0.01)
                with open(records, 'rb') as file:
                    lines = file.read().count(b'\n')
                seen = lines if lines < n else seen
        with open(records, 'rb') as file:
            found = [json.loads(line) for line in file]
        if any(record['status'] == 'failed' for record in found):
            break
        os.remove(records)
    expect(n - 10 <= seen < n, seen)
    expect(len({record['key'] for record in found}) == n and sum(record['status'] == 'failed' for record in found) == 1, found)


def a_full_disk_is_told(bench):
    """A file that cannot grow keeps whole records; the run says so, and the next one goes on."""
    where, records = bench.fill('full', 60), os.path.join(bench.folder, 'full.jsonl')

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

    done = bench.run('--jsonl', '--records', records, where, preexec_fn=limit)
    expect(done.returncode == 1 and b'what is there is whole' in done.stderr, done)
    with open(records, 'rb') as file:
        lines = file.read()
    expect(0 < len(lines) <= 20000 and lines.endswith(b'\n'), len(lines))
    done = bench.run('--records', records, where)
    expect(done.returncode == 10 and open(records, 'rb').read().count(b'\n') == 60, done)


def records_are_not_overwritten(bench):
    """A file of something else is refused as it is; so is one that another run writes."""
    where, other = bench.fill('other', 1), os.path.join(bench.folder, 'mine.txt')
    for text in (b'my notes\n' * 3, b'x' * 9000):
        with open(other, 'wb') as file:
            file.write(text)
        done = bench.run('--records', other, where)
        expect(done.returncode == 1 and open(other, 'rb').read() == text, done)
    own = os.path.join(bench.folder, 'locked.jsonl')
    expect(bench.run('--records', own, where).returncode == 10, 'the first run')
    with open(own, 'r+b') as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        done = bench.run('--records', own, where)
        expect(done.returncode == 1 and b'another triage writes it' in done.stderr, done)
    done = bench.run('--records', '/dev/null', where)
    expect(done.returncode == 1 and b'not a regular file' in done.stderr, done)


def parts_make_the_whole(bench):
    """Each dump is in one part, whatever the number of parts; Slurm's variables name the part."""
    where = bench.fill('parts', 40)
    for n in (1, 3, 8):
        keys = [record['key'] for k in range(n) for record in bench.records('--shard', f'{k + 1}/{n}', where)[0]]
        expect(len(keys) == 40 and len(set(keys)) == 40, (n, len(keys)))
    parts = []
    for task in range(10, 16, 2):
        environment = {**os.environ, 'SLURM_ARRAY_TASK_ID': str(task), 'SLURM_ARRAY_TASK_COUNT': '3', 'SLURM_ARRAY_TASK_MIN': '10',
                       'SLURM_ARRAY_TASK_STEP': '2'}
        path = os.path.join(bench.folder, f'part{task}.jsonl')
        done = bench.run('--records', path, '--jsonl', where, env=environment)
        expect(b'SLURM_ARRAY_TASK_ID' in done.stderr, done)
        parts.append(path)
    expect(bench.page('--merge', *parts)['dumps'] == bench.page(where)['dumps'], 'merged parts differ')
    few = bench.fill('few', 1)
    found = sorted(bench.run('--shard', f'{k}/3', few).returncode for k in (1, 2, 3))
    expect(found == [0, 0, 10] and bench.run(bench.folder_of('no-dump')).returncode == 1, found)
    with open(os.path.join(few, 'core_1_node0_0.nvcudmp'), 'wb') as file:
        file.write(b'no dump')
    found = sorted(bench.run('--shard', f'{k}/3', few).returncode for k in (1, 2, 3))
    expect(found == [0, 0, 12] and bench.run(few).returncode == 1, found)
    for shard in ('0/3', '4/3', '1', 'a/b', '/', '1/0'):
        expect(bench.run('--shard', shard, where).returncode == 2, shard)


class Caller:
    """A pickle of one makes whoever executes pickles write a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, 'w')


def packed_logs_are_read(bench, where, words):
    """Rotated logs are packed; one that is cut tells what comes before."""
    logs = sorted(name for name in os.listdir(where) if name.startswith('nccl_'))
    plain = bench.run('--log', os.path.join(where, 'nccl_*'), *words).stdout
    packed = bench.folder_of('packed')
    for name in logs:
        with open(os.path.join(where, name), 'rb') as file, open(os.path.join(packed, name + '.gz'), 'wb') as out:
            out.write(gzip.compress(file.read()))
    done = bench.run('--log', packed, *words)
    expect(logs and not done.stderr and b'culprit' in plain and done.stdout == plain, done)
    with open(os.path.join(packed, 'cut.gz'), 'wb') as out:
        out.write(gzip.compress(b'no line of interest\n' + os.urandom(1 << 16))[:-100])
    done = bench.run('--log', packed, *words)
    expect(b'cut.gz: the packed file is cut or damaged' in done.stderr and done.stdout == plain, done)
    old = os.path.join(packed, 'old.log.xz')
    with open(old, 'wb') as out:
        out.write(lzma.compress(b'x'))
    done = bench.run('--log', packed, *words)
    told, page = done.stderr.decode().splitlines(), json.loads(done.stdout)
    why = f'{old}: compressed with xz, which this build cannot read; unpack it first'
    expect(f'warpscope: {why}; it is not used' in told and len(told) == 2, told)
    expect(page.pop('unread_logs') == {'all': 1, 'first': old, 'reason': why} and page == json.loads(plain), page)


def files_beside_dumps(bench):
    """A folder may have dumps and companions in one: each is taken as what it is. What is damaged is told, and pickles are not executed."""
    import jobs  # pylint: disable=import-outside-toplevel
    where, job = bench.folder_of('beside'), jobs.Job(8, 'beside')
    culprit = jobs.JOBS['recorder_of_pickles'](job)
    paths = job.write(where, jobs.Maker())
    words = ('--json', '--name', 'core_%t_%h_%p_r%r.nvcudmp', where)
    no_log = b'\x7fELF\n' + job.nccl(0, 500).encode() + b'\n'  # nothing of a dump is a line of a log
    for name, what in (('dump', no_log), ('dump.gz', gzip.compress(no_log))):
        with open(os.path.join(where, name), 'wb') as file:
            file.write(what)
    for log in (where, os.path.join(where, 'nccl_*')):
        done = bench.run('--log', log, *words)
        one = json.loads(done.stdout)['jobs'][0]
        expect(not done.stderr and one['rows'][one['culprit']]['path'] == paths[culprit] and one['missing'] is None, (log, done))
    done = bench.run('--log', os.path.join(where, 'dump.gz'), *words)
    expect(done.returncode == 10 and b'an ELF file is no log' in done.stderr, done)
    packed_logs_are_read(bench, where, words)
    made = os.path.join(where, 'made-by-a-pickle')
    with open(os.path.join(where, 'nccl_trace_rank_0'), 'wb') as file:
        pickle.dump({'entries': [Caller(made)]}, file, 2)
    with open(os.path.join(where, 'trace.json'), 'wb') as file:
        file.write(b'{"pg_config":{}}')
    done = bench.run('--log', where, *words)
    told = done.stderr.decode().splitlines()
    expect(len(told) == 2 and 'nothing of a pickle is executed' in done.stderr.decode() and 'does not end in a rank' in done.stderr.decode(), told)
    expect(json.loads(done.stdout)['jobs'][0]['culprit'] is None and not os.path.exists(made), done)
    for size, taken in ((1 << 26, 1), ((1 << 26) + 1, 0)):  # one that is too large for a snapshot is a log
        with open(os.path.join(where, 'trace.json'), 'wb') as file:
            file.write(b'{"pg_config":{}}'.ljust(size))
        told = bench.run('--log', os.path.join(where, 'trace.json'), *words).stderr.decode()
        expect(told.count('does not end in a rank') == taken, (size, told))
    for log, status in (('/gone/log', 1), ('/gone/*', 1), ('-', 2)):
        expect(bench.run('--log', log, where).returncode == status, log)


def known_bugs_are_known(bench):
    """A baseline is what pages show; its lines decide the exit status."""
    where = bench.folder_of('known')
    for name in ('illegal-address', 'hang'):
        shutil.copy(os.path.join(bench.root, f'examples/dumps/{name}.nvcudmp'), where)
    signatures = [group['signature'] for group in bench.page(where)['groups']]
    path = os.path.join(bench.folder, 'known.txt')
    for known, status in (([], 10), (signatures[:1], 10), (signatures, 13)):
        with open(path, 'w', encoding='utf-8') as file:
            file.write('# known bugs\n\n' + ''.join(f'  {line}\r\n' for line in known))
        expect(bench.run('--baseline', path, where).returncode == status, (known, status))
    expect(bench.run('--baseline', '/gone/known', where).returncode == 1, 'a baseline that is not there')


def damaged_records_are_counted(bench):
    """Records that somebody broke are counted, and the others say what they said."""
    where, path = bench.fill('damaged', 5), os.path.join(bench.folder, 'damaged.jsonl')
    bench.run('--records', path, where)
    with open(path, 'rb') as file:
        lines = file.read().splitlines(True)
    with open(path, 'wb') as file:
        file.write(lines[0] + b'{"schema":"warpscope-triage-2"}\n' + lines[1][:300] + b'\n' + b'\0' * 5000 + b'\n' + b'x' * 200000 + b'\n' + b''.join(lines[2:]))
    done = bench.run('--json', '--merge', path)
    page = json.loads(done.stdout)
    expect(page['dumps']['all'] == 4 and page['not_records'] == 4 and b'4 lines are not records' in done.stderr, (page['dumps'], done.stderr))


def rewritten(line):
    """A record as other programs write it: (what it is, text)."""
    value = json.loads(line)
    yield 'spaces', json.dumps(value)
    yield 'compact, in UTF-8', json.dumps(value, separators=(',', ':'), ensure_ascii=False)
    yield 'sorted', json.dumps(value, sort_keys=True, separators=(' , ', ' : '))
    yield 'backwards', json.dumps(dict(reversed(value.items())))
    yield 'two spaces', json.dumps(value, indent=2)
    yield 'tabs, sorted', json.dumps(value, indent='\t', sort_keys=True)
    yield 'lines without indentation', json.dumps(value, indent=0)
    yield 'lines that end as on Windows', json.dumps(value, indent=4).replace('\n', '\r\n') + '\r'
    yield 'slashes escaped', json.dumps(value).replace('/', '\\/')
    number = {key: one for key, one in value.items() if isinstance(one, int) and not isinstance(one, bool)}
    yield 'numbers with a point', json.dumps({**value, **{key: float(one) for key, one in number.items() if one < 1 << 53}})
    text = json.dumps({**value, **{key: f'@{decimal.Decimal(one):E}@' for key, one in number.items()}})
    yield 'numbers with an exponent', text.replace('"@', '').replace('@"', '')
    if shutil.which('jq'):
        for options in (['.'], ['-c', '.'], ['-S', '-a', '.'], ['--tab', '.']):
            yield f'jq {" ".join(options)}', subprocess.run(['jq', *options], input=line, capture_output=True, text=True, check=True).stdout.rstrip('\n')


def records_of_other_writers(bench):
    """Records that another program wrote anew say the same, are known as done, and count as those of the same dumps."""
    where, path = bench.fill('writers', 12), os.path.join(bench.folder, 'writers.jsonl')
    for source, name in ((bench.hang, 'h\xe4ngt "\u4f60\u597d" \U0001f600\n.nvcudmp'), (bench.hang, 'core_2_node3_77.nvcudmp'), (__file__, 'no dump.nvcudmp')):
        shutil.copy(source, os.path.join(where, name))
    bench.run('--records', path, where)
    with open(path, encoding='utf-8') as file:
        lines = file.read().splitlines()
    page, other, n = bench.run('--json', '--merge', path).stdout, os.path.join(bench.folder, 'other.jsonl'), len(lines)
    expect(n == 15 and json.loads(page)['dumps']['all'] == n, page)
    for writer in zip(*map(rewritten, lines)):
        what = writer[0][0]
        for end in ('\n', ''):  # writers that put newlines between records leave none at the end
            with open(other, 'w', encoding='utf-8', newline='') as file:
                file.write('\n'.join(text for _, text in writer) + end)
            done = bench.run('--json', '--merge', other)
            expect(done.stdout == page and not done.stderr, (what, end, done))
        twice = bench.page('--merge', other, path)['dumps']
        expect((twice['all'], twice['again']) == (n, n), (what, twice))
        with open(other, 'a', encoding='utf-8', newline='') as file:
            file.write('\n')
        before = os.path.getsize(other)
        done = bench.run('--json', '--records', other, where)
        expect(done.stdout == page and os.path.getsize(other) == before, (what, before, os.path.getsize(other), done))
    torn = json.dumps(json.loads(lines[0]), indent=2).splitlines()
    with open(other, 'w', encoding='utf-8') as file:  # what is torn costs itself
        file.write('\n'.join(torn[:5] + lines[:2] + ['{'] + lines[2:4] + ['{', '  "schema": "other"', '}'] + torn[:-1]) + '\n')
    found = json.loads(bench.run('--json', '--merge', other).stdout)
    expect(found['dumps']['all'] == 4 and found['not_records'] == 5 + 1 + 1 + 1, (found['dumps'], found['not_records']))
    folder = bench.folder_of('writers of exec')
    shutil.copy(bench.dump, os.path.join(folder, 'core_1_h_7.nvcudmp'))
    line = '{"schema":"warpscope-exec-1","host":"h","pid":7,"started":1,"title":"a/b","RANK":5,"WORLD_SIZE":6}'
    for what, text in rewritten(line):
        for end in ('\n', ''):
            with open(os.path.join(folder, 'exec_a.jsonl'), 'w', encoding='utf-8', newline='') as file:
                file.write(text + end)
            found, done = bench.records(folder)
            expect([(one['rank'], one['ranks']) for one in found] == [(5, 6)], (what, end, done))


def records_in_parts(bench):
    """More records than are remembered at a time: each dump counts once wherever its second record is, and lines that are none count once."""
    def line(number, more):
        key = f'{number * 0x9e3779b97f4a7c15 % (1 << 64):016x}' * 2
        return '{"schema":"warpscope-triage-1","key":"%s","path":"job%d/%d","status":"read","verdict":"fault","signature":"s%d","rank":%d%s}\n' % (
            key, number % 3, number, number % 7, number % 8, more)

    files, n = [os.path.join(bench.folder, name) for name in ('parts-a.jsonl', 'parts-b.jsonl')], 140000
    for path, numbers, more in ((files[0], range(n), ''), (files[1], range(n - 1, n // 2 - 1, -1), ',"x":1')):
        with open(path, 'w', encoding='utf-8') as file:
            file.writelines(line(number, more) if not more else line(number, more).replace(',', ', ').replace('":', '": ') for number in numbers)
            file.write('no record\n')
    page = bench.page('--merge', '--limit', '2', *files)
    expect((page['dumps']['all'], page['dumps']['again'], page['not_records']) == (n, n // 2, 2), (page['dumps'], page['not_records']))
    expect(sorted(group['dumps'] for group in page['groups']) == [n // 7] * 7, page['groups'])


def many_files_in_one_folder(bench, n):
    """Memory does not follow the number of files."""
    where = bench.folder_of('many')
    empty = os.path.join(where, '0.txt')
    with open(empty, 'wb'):
        pass
    for i in range(1, n):
        os.link(empty, os.path.join(where, f'{i}.txt'))
        if i % 30000 == 0:  # a file has no more links than that everywhere
            empty = os.path.join(where, f'{i}-next.txt')
            with open(empty, 'wb'):
                pass
    shutil.copy(bench.dump, os.path.join(where, 'one.nvcudmp'))
    found, done = bench.records(where)
    expect(len(found) == 1 and not done.stderr, done)


class Watching(subprocess.Popen):
    """Ends with its block, also where a case fails."""

    def __exit__(self, *why):
        self.kill()
        super().__exit__(*why)


def lines_until(process, n, seconds):
    """What a process printed until it has printed so many lines."""
    os.set_blocking(process.stdout.fileno(), False)
    end, said = time.monotonic() + seconds, b''
    while said.count(b'\n') < n and time.monotonic() < end:
        time.sleep(0.05)
        said += process.stdout.read() or b''
    return said.splitlines()


def a_folder_is_watched(bench):
    """New dumps are read when they are whole, once each, also after a restart; nothing in the folder changes."""
    where, records = bench.fill('watched', 2), os.path.join(bench.folder, 'watched.jsonl')
    words = [bench.program, 'triage', '--watch', '--interval', '2', '--jsonl', '--records', records, where]
    with open(os.path.join(where, 'notes.txt'), 'wb') as file:
        file.write(b'no dump')
    with open(bench.hang, 'rb') as file:
        data = file.read()
    with Watching(words, stdout=subprocess.PIPE) as process:
        found = lines_until(process, 2, 20)
        expect(len(found) == 2, found)
        with open(os.path.join(where, 'core_1_node9_9.nvcudmp'), 'wb', buffering=0) as file:
            for i in range(24):  # longer than two looks, and each time something new
                file.write(data[len(data) * i // 24:len(data) * (i + 1) // 24])
                time.sleep(0.2)
        found = [json.loads(line) for line in lines_until(process, 1, 20)]
        expect(len(found) == 1 and found[0]['complete'] and found[0]['verdict'] == 'hang', found)
        os.unlink(os.path.join(where, 'core_1_node1_1.nvcudmp'))
        expect(not lines_until(process, 1, 4.5), 'something was read again')
    shutil.copy(bench.dump, os.path.join(where, 'core_2_node9_10.nvcudmp'))
    listed = sorted(os.listdir(where))
    with Watching(words, stdout=subprocess.PIPE) as process:
        found = [json.loads(line) for line in lines_until(process, 1, 20)]
        expect([os.path.basename(record['path']) for record in found] == ['core_2_node9_10.nvcudmp'], found)
    with open(records, 'rb') as file:
        expect(len(file.read().splitlines()) == 4, 'records')
    expect(sorted(os.listdir(where)) == listed, os.listdir(where))


def a_watched_folder_is_left_by_no_link(bench):
    """What others may link there, and the file of records, which they may have made a link."""
    where, outside, records = bench.fill('linked', 1), bench.fill('outside', 1), os.path.join(bench.folder, 'linked.jsonl')
    os.symlink(os.path.join(outside, os.listdir(outside)[0]), os.path.join(where, 'core_1_node7_7.nvcudmp'))
    words = [bench.program, 'triage', '--watch', '--interval', '1', '--jsonl', where]
    with Watching(words, stdout=subprocess.PIPE) as process:
        found = [json.loads(line)['path'] for line in lines_until(process, 2, 4)]
        expect(len(found) == 1 and 'node7' not in found[0], found)
    os.symlink(os.path.join(bench.folder, 'no records yet'), records)
    done = subprocess.run([*words, '--records', records], capture_output=True, check=False, timeout=60)
    expect(done.returncode == 1 and b'is a link: name the file itself' in done.stderr and not os.path.exists(records), done)


def many_new_dumps_are_all_read(bench):
    """More names than are written at a time."""
    where = bench.fill('many-new', 300)
    with Watching([bench.program, 'triage', '--watch', '--interval', '1', '--jsonl', where], stdout=subprocess.PIPE) as process:
        found = [os.path.basename(json.loads(line)['path']) for line in lines_until(process, 300, 20)]
    expect(sorted(found) == sorted(os.listdir(where)), f'{len(found)} records')


def a_watched_folder_has_a_page(bench):
    where, page = bench.fill('shown', 1), os.path.join(bench.folder, 'shown.json')
    with Watching([bench.program, 'triage', '--watch', '--interval', '1', '--json', '-o', page, where]) as process:
        for n in (1, 2):
            end, have = time.monotonic() + 20, 0
            while have != n and time.monotonic() < end:
                time.sleep(0.05)
                if os.path.exists(page):
                    with open(page, encoding='utf-8') as file:
                        have = json.load(file)['dumps']['all']
            expect(have == n and process.poll() is None, (have, n, process.poll()))
            if n == 1:
                shutil.copy(bench.hang, where)
            if n == 2:  # the page is written again only when there is something new
                before = os.stat(page)
                time.sleep(2.5)
                expect((before.st_ino, before.st_mtime_ns) == (os.stat(page).st_ino, os.stat(page).st_mtime_ns), 'the same page was written again')
        process.terminate()
        process.wait(10)
    expect(process.returncode == -signal.SIGTERM, process.returncode)
    for words, said in ((('--watch', '-'), b'no -'), (('--watch', '--merge', page), b'no --merge'), (('--interval', '5', where), b'with --watch'),
                        (('--watch', '--interval', '0', where), b'above 0')):
        done = bench.run(*words)
        expect(done.returncode == 2 and said in done.stderr, done)


def main():
    program, root, everything = sys.argv[1], os.path.abspath(sys.argv[2]), '--all' in sys.argv
    cases = [records_keep_their_size, a_record_has_the_device_that_failed, place_is_that_of_the_page, page_follows_its_schema, a_doubt_is_told_with_the_verdict, a_bad_file_costs_its_row, links_are_followed_to_files, hostile_names, names_have_ranks,
             names_are_found_as_they_are_given, what_exec_recorded_is_no_dump, parts_go_by_the_name, words_that_do_not_go_together,
             no_failure_is_no_failure, a_reader_may_go, lambda bench: a_killed_run_goes_on(bench, 40 if everything else 4), a_dead_worker_costs_a_row, a_crash_leaves_no_core, records_are_there_at_once,
             a_full_disk_is_told, records_are_not_overwritten, parts_make_the_whole, files_beside_dumps, known_bugs_are_known, damaged_records_are_counted, records_of_other_writers, records_in_parts,
             merged_pages_stay_in_the_store, a_folder_is_watched, a_watched_folder_is_left_by_no_link, many_new_dumps_are_all_read, a_watched_folder_has_a_page,
             lambda bench: many_files_in_one_folder(bench, 100000 if everything else 2000)]
    names = {15: 'a_killed_run_goes_on', 32: 'many_files_in_one_folder'}
    sys.path.insert(0, os.path.join(root, 'tests/builders'))
    failed = 0
    print(f'1..{len(cases)}')
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(program, root, folder)
        for number, case in enumerate(cases):
            name = names.get(number, case.__name__).replace('_', ' ')
            try:
                case(bench)
                print(f'ok {number + 1} - {name}')
            except (AssertionError, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as problem:
                failed += 1
                text = f'{type(problem).__name__}: {problem}'.replace('\n', '\n# ')
                print(f'not ok {number + 1} - {name}\n# {text}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
