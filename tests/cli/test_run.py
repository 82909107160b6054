#!/usr/bin/env python3
"""warpscope run: results, faults, dumps as CUDA's variables ask for, interruption. Prints TAP.

usage: test_run.py WARPSCOPE FOLDER

FOLDER has the fatbins of tests/sim/kernels (tests/data/sim).
"""
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

PROGRAM, IMAGES = (os.path.abspath(p) for p in sys.argv[1:3])
COLLATZ = [0, 1, 7, 2, 5, 8, 16, 3, 19, 6]
cases = []


def case(function):
    cases.append(function)
    return function


def run(folder, *words, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith('CUDA_')}
    environment.update(variables)
    return subprocess.run([PROGRAM, 'run', *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=60,
                          check=False)


def collatz(count, *more):
    """A launch of 64 threads over a buffer of `count` numbers; more than it has is a fault."""
    return [f'{IMAGES}/integer.O3.fatbin', '--kernel', 'int_collatz', '--grid', '2', '--block', '32', '--buffer',
            f'out=u32[{count}]', '--arg', '&out', '--arg', '60', *more]


@case
def results_are_printed(folder):
    done = run(folder, *collatz(64, '--print', 'out:10'))
    assert done.returncode == 0 and done.stderr == '', done
    assert done.stdout == 'out: ' + ' '.join(map(str, COLLATZ)) + '\n', done.stdout


@case
def results_are_data(folder):
    done = run(folder, '--json', *collatz(64, '--print', 'out:10'))
    page = json.loads(done.stdout)
    assert page['schema'] == 'warpscope-run-1' and page['buffers'][0]['values'] == COLLATZ and page['as_expected'] is True, page


@case
def buffers_go_to_files_and_are_compared(folder):
    done = run(folder, *collatz(64, '--save', 'out=numbers'))
    assert done.returncode == 0, done
    path = os.path.join(folder, 'numbers')
    with open(path, 'rb') as file:
        numbers = file.read()
    assert list(struct.unpack('<10I', numbers[:40])) == COLLATZ and len(numbers) == 256
    assert run(folder, *collatz(64, '--expect', 'out=numbers')).returncode == 0
    with open(path, 'wb') as file:
        file.write(numbers[:12] + struct.pack('<I', 77) + numbers[16:])
    done = run(folder, *collatz(64, '--expect', 'out=numbers'))
    assert done.returncode == 10 and done.stdout == 'out[3] is 2, not 77\n', done


@case
def several_launches_from_a_file(folder):
    with open(os.path.join(folder, 'launches'), 'w', encoding='utf-8') as file:
        file.write('# two, in order\n--kernel copy_words --block 32 --arg &a --arg &b --arg 8\n\n'
                   '  --kernel copy_words --grid 2 --block 32 --arg &c --arg &a --arg 8\n')
    done = run(folder, f'{IMAGES}/memory.O3.fatbin', '--launches', 'launches', '--buffer', 'a=u32[8]', '--buffer', 'b=u32[8]:index',
               '--buffer', 'c=u32[8]', '--print', 'c')
    assert done.returncode == 0 and done.stdout == 'c: 0 1 2 3 4 5 6 7\n', done


@case
def every_schedule_gives_the_same(folder):
    pages = {run(folder, *collatz(64, '--schedule', how, '--seed', seed, '--print', 'out')).stdout
             for how in ('round-robin', 'oldest', 'random', 'adversarial') for seed in '12'}
    assert len(pages) == 1, pages


@case
def what_kernels_print_is_shown(folder):
    done = run(folder, f'{IMAGES}/service.O3.fatbin', '--kernel', 'print_some', '--block', '32', '--arg', '2')
    assert sorted(done.stdout.splitlines()) == ['thread 0 of 32: even  0.00 123456789a', 'thread 1 of 32: odd  0.25 123456789b'], done


@case
def a_fault_is_reported(folder):
    done = run(folder, *collatz(40))
    assert done.returncode == 10, done
    assert done.stdout.startswith('Illegal memory access in kernel `int_collatz`; device 0, block (1,0,0), thread (8,0,0)'), done.stdout
    assert os.listdir(folder) == [], os.listdir(folder)


@case
def a_bad_access_may_surface_late(folder):
    def focus(late):
        done = run(folder, '--json', *collatz(40, '--late', str(late)))
        return done, json.loads(done.stdout)
    at_once, at_once_page = focus(0)
    wrong = at_once_page['focus']
    assert at_once.returncode == 10 and wrong['pc'] == wrong['errorpc'], wrong
    done, page = focus(1)
    assert done.returncode == 10 and page['focus']['errorpc'] == wrong['errorpc'], page['focus']
    assert int(page['focus']['pc'], 16) == int(wrong['errorpc'], 16) + 16, page['focus']
    assert page['verdict']['summary'].split(';')[:2] == at_once_page['verdict']['summary'].split(';')[:2], page['verdict']
    done, page = focus(100000)  # all warps have exited by then: the multiprocessor alone knows
    assert done.returncode == 10 and page['focus']['warp'] is None and page['exceptions'][0]['code'] == 14, page['exceptions']
    assert page['exceptions'][0]['errorpc'] == wrong['errorpc'], page['exceptions']


@case
def a_dump_is_written_where_cuda_is_told(folder):
    on = {'CUDA_ENABLE_COREDUMP_ON_EXCEPTION': '1'}
    before = int(time.time())
    run(folder, *collatz(40), CUDA_COREDUMP_FILE='a.%h.%p.%t.%%', **on)
    name, = os.listdir(folder)
    match = re.fullmatch(r'a\.' + re.escape(socket.gethostname()) + r'\.(\d+)\.(\d+)\.%%', name)
    assert match and before <= int(match[2]) <= time.time(), name
    os.remove(os.path.join(folder, name))
    run(folder, *collatz(40), **on)
    name, = os.listdir(folder)
    assert re.fullmatch(r'core_\d+_.*_\d+\.nvcudmp', name), name
    os.remove(os.path.join(folder, name))
    assert run(folder, *collatz(64), **on).returncode == 0 and os.listdir(folder) == []


@case
def the_dump_says_what_the_run_said(folder):
    done = run(folder, *collatz(40), CUDA_ENABLE_COREDUMP_ON_EXCEPTION='1', CUDA_COREDUMP_FILE='dump')
    assert 'the dump is dump' in done.stderr, done.stderr
    report = subprocess.run([PROGRAM, 'report', 'dump'], cwd=folder, capture_output=True, text=True, check=True).stdout
    cut = 'The dump:'
    assert report.partition(cut)[0] == done.stdout.partition(cut)[0], report
    check = subprocess.run([PROGRAM, 'check', 'dump'], cwd=folder, capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stdout


@case
def the_same_run_gives_the_same_bytes(folder):
    dumps = []
    for name, how in (('a', 'random'), ('b', 'random'), ('c', 'round-robin')):
        run(folder, *collatz(40, '--schedule', how, '--seed', '5'), CUDA_ENABLE_COREDUMP_ON_EXCEPTION='1', CUDA_COREDUMP_FILE=name)
        with open(os.path.join(folder, name), 'rb') as file:
            dumps.append(file.read())
    assert dumps[0] == dumps[1] and dumps[0] != dumps[2]


@case
def flags_leave_memory_out(folder):
    sizes = {}
    for flags in ('', 'skip_global_memory', 'gzip_compress', 'skip_everything'):
        done = run(folder, *collatz(40, '--buffer', 'large=u32[100000]:random'), CUDA_ENABLE_COREDUMP_ON_EXCEPTION='1',
                   CUDA_COREDUMP_FILE='dump', CUDA_COREDUMP_GENERATION_FLAGS=flags)
        sizes[flags] = os.path.getsize(os.path.join(folder, 'dump'))
        assert ("'skip_everything' is not known" in done.stderr) == (flags == 'skip_everything'), done.stderr
    assert sizes['skip_global_memory'] < sizes[''] - 400000 and sizes['gzip_compress'] < sizes[''], sizes
    assert sizes['skip_everything'] == sizes['']


def spinning(folder, *words):
    """Threads that wait for blocks that are not there, for ever."""
    return [f'{IMAGES}/atomics.O3.fatbin', '--kernel', 'grid_barrier', '--grid', '2', '--block', '32', '--buffer', 'out=u32[192]',
            '--buffer', 'arrived=s32[1]:-2', '--buffer', 'in=u32[64]', '--arg', '&out', '--arg', '&arrived', '--arg', '&in', '--arg', '1',
            *words]


@case
def a_limit_of_instructions_ends_in_a_report(folder):
    done = run(folder, *spinning(folder, '--max-instructions', '100000'))
    assert done.returncode == 10 and 'as many as --max-instructions allows' in done.stderr, done
    assert 'grid_barrier' in done.stdout and 'spin' in done.stdout, done.stdout


@case
def control_c_ends_in_a_report(folder):
    with subprocess.Popen([PROGRAM, 'run', *spinning(folder)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        page, message = process.communicate(timeout=30)
    assert process.returncode == 10 and 'interrupted' in message and 'grid_barrier' in page, (process.returncode, message, page)


def main():
    failed = 0
    print(f'1..{len(cases)}')
    for number, function in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(folder)
                print(f'ok {number} - {function.__name__.replace("_", " ")}')
            except (AssertionError, subprocess.SubprocessError, ValueError, KeyError, OSError) as error:
                failed += 1
                print(f'not ok {number} - {function.__name__.replace("_", " ")}')
                print('\n'.join('# ' + line for line in f'{type(error).__name__}: {error}'.replace('\\n', '\n').splitlines()[:40]))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
