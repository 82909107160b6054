#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exec and env as programs, with tests/cli/exec/program.py in the place of one that uses CUDA. Prints TAP.

usage: test_exec.py PROGRAM SOURCE_ROOT [--all]

With --all exec is killed 60 times.
"""

import calendar
import ctypes
import glob
import gzip
import json
import os
import pty
import random
import re
import select
import signal
import stat
import subprocess
import sys
import time

from exec_bench import children_of, command_of, expect, files_of, gone_within, main, marked, record_of

SECRET = 'sk-0123456789-not-to-be-kept'


# ---- exec as a wrapper ----

def it_is_transparent(bench):
    """Output, arguments and status of the program pass; exec itself says nothing."""
    done, _ = bench.run('say', '0', '--json', '--help', '--version', '-x', '--', 'end')
    expect((done.returncode, done.stdout, done.stderr) == (0, b'--json\n--help\n--version\n-x\n--\nend\n', b''), done)
    for options in ((), ('--on-hang', '50')):
        done, _ = bench.run('say', '7', 'x', options=options)
        said = f'warpscope exec: {os.path.basename(sys.executable)} ended with status 7 and left no GPU dump; no process was seen with a GPU open\n'
        expect((done.returncode, done.stdout, done.stderr.decode()) == (7, b'x\n', said), done)
    done = subprocess.run([bench.program, 'exec', '--dumps', bench.dumps(), 'sh', '-c', 'echo $0 "$@"', '--version', '--json'],
                          capture_output=True, check=False, timeout=60)
    expect((done.returncode, done.stdout) == (0, b'--version --json\n'), done)
    done = subprocess.run([bench.program, 'exec', '--dumps', bench.dumps(), '--', 'cat'], input=b'a\0b', capture_output=True,
                          check=False, timeout=60)
    expect(done.stdout == b'a\0b', done)
    lines = 'for i in $(seq 50); do echo out $i; echo err $i >&2; done'
    for options in ((), ('--on-hang', '50')):
        said = subprocess.run([bench.program, 'exec', '--dumps', bench.dumps(), *options, '--', 'sh', '-c', lines], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=True, timeout=60, env=bench.plain).stdout.decode()
        expect(said == ''.join(f'out {i}\nerr {i}\n' for i in range(1, 51)), said)


def the_program_starts_as_without_it(bench):
    """Signals that are blocked or ignored, and open files; and exec learns of ends also where its own parent ignores them."""
    def run(*words, **more):
        return subprocess.run(words, capture_output=True, check=False, timeout=60, env=bench.plain, **more)

    # no shell in between: it may unblock signals
    looks = (['grep', '-E', '^Sig(Blk|Ign)', '/proc/self/status'], ['ls', '/proc/self/fd'])
    plain = [run(*words).stdout for words in looks]
    for options in ([], ['--on-hang', '2147483647']):
        through = [bench.program, 'exec', '--dumps', bench.dumps(), *options, '--']
        for words, out in zip(looks, plain):
            done = run(*through, *words)
            expect((done.returncode, done.stdout, done.stderr) == (0, out, b''), (done, out))
        done = run(*through, 'sh', '-c', 'exit 7', preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        expect(done.returncode == 7, done)


def statuses_of_what_cannot_run(bench):
    def run(*words):
        return subprocess.run([bench.program, 'exec', *words], capture_output=True, check=False, timeout=60, cwd=bench.folder)
    done = run('--dumps', bench.dumps(), '--', '/nowhere/at-all')
    expect(done.returncode == 127 and b'/nowhere/at-all: No such file' in done.stderr, done)
    plain = os.path.join(bench.folder, 'no-program')
    with open(plain, 'wb'):
        os.chmod(plain, 0o644)
    done = run('--dumps', bench.dumps(), '--', plain)
    expect(done.returncode == 126 and b'Permission denied' in done.stderr, done)
    done = run('--dumps', '/proc/none', '--', 'true')
    expect(done.returncode == 125 and b'/proc/none' in done.stderr, done)
    percent = os.path.join(bench.folder, 'a%h')
    done = run('--dumps', percent, '--', 'true')
    expect(done.returncode == 125 and b'%' in done.stderr, done)
    done = run('--dumps', os.path.join(bench.folder, *['d' * 200] * 5), '--', 'true')
    expect(done.returncode == 125, done)
    for words, said in (((), b'which program?'), (('--for', 'all', 'true'), b'--for takes'), (('--on-hang', '0', 'true'), b'above 0'),
                        (('--on-hang', '5', '--for', 'share', 'true'), b'--for hang or full'),
                        (('--on-hang', '2147483648', 'true'), b'above 0'), (('--arch', 'sm_90', 'true'), b'--arch is for --software-gpu'), (('--json', 'true'), b'has no JSON')):
        done = run(*words)
        expect(done.returncode == 2 and said in done.stderr, done)


def it_ends_as_the_program(bench):
    """By the same signal, and without a core of its own."""
    done, _ = bench.run('fault')
    expect(done.returncode == -signal.SIGABRT, done)
    process = bench.start('signals', '9')
    process.stdout.readline()
    child = [pid for pid in marked(process.mark) if 'program.py' in command_of(pid)[1]]
    os.kill(child[0], signal.SIGKILL)
    process.communicate(timeout=60)
    expect(process.returncode == -signal.SIGKILL, process.returncode)


def leaves_core(bench, words):
    """Whether the kernel made a core of the process when the words ended."""
    limits = ['sh', '-c', 'ulimit -c unlimited && cd "$0" && exec "$@" >/dev/null 2>&1', bench.folder]
    return os.WCOREDUMP(os.waitpid(os.posix_spawn('/bin/sh', [*limits, *words], bench.plain), 0)[1])


def it_leaves_no_core(bench):
    """A core of the program may be wanted; one of exec beside it is not."""
    if not leaves_core(bench, [*bench.double, 'fault']):
        return 'no cores here'
    expect(not leaves_core(bench, bench.words(bench.dumps(), what=('fault',))), 'exec left a core of its own')
    return None


def signals_pass(bench):
    """Each signal comes once and in order."""
    process = bench.start('signals', '4')
    expect(process.stdout.readline() == b'ready\n', 'not ready')
    for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        process.send_signal(number)
        expect(process.stdout.readline() == number.name.encode() + b'\n', number)
    out, err = process.communicate(timeout=60)
    expect((process.returncode, out) == (5, b''), (process.returncode, out, err))


# ---- dumps ----

def a_fault_is_told(bench):
    message = os.path.join(bench.folder, 'message')
    done, job = bench.run('fault', options=('--message', message), env={'API_KEY': SECRET, 'RANK': '3', 'WORLD_SIZE': '8'})
    said = done.stderr.decode()
    name = os.path.basename(sys.executable)
    expect(f'warpscope exec: {name} (rank 3) was ended by signal 6 (Aborted) and left 1 GPU dump in {job}\n' in said and 'gather_rows' in said, said)
    expect(f'for all ranks: warpscope triage {job}' in said, said)
    with open(message, 'rb') as file:
        first = file.read()
    expect(len(first) <= 4096 and b'signal 6' in first and b'gather_rows' in first and first.endswith(b'\n'), first)
    (dump,) = glob.glob(os.path.join(job, 'core_*'))
    expect(re.search('/core_r3_[0-9]+_.+_[0-9]+[.]nvcudmp$', dump), dump)
    for path in glob.glob(os.path.join(job, '*')) + [job, os.path.dirname(job), message]:
        mode = stat.S_IMODE(os.stat(path).st_mode)
        expect(path == dump or mode == (0o700 if os.path.isdir(path) else 0o600), (path, oct(mode)))
        if os.path.isfile(path):
            with open(path, 'rb') as file:
                expect(SECRET.encode() not in file.read(), f'{path} has the secret')
    (record,) = bench.triage(job)
    expect((record['rank'], record['rank_from']) == (3, 'name'), record)


def dumps_go_through_a_command(bench):
    taken = os.path.join(bench.folder, 'taken')
    os.mkdir(taken)
    with open(os.path.join(bench.root, 'examples/dumps/illegal-address.nvcudmp'), 'rb') as file:
        content = file.read()
    done, job = bench.run('fault', options=('--dumps-through', f'cat >{taken}/$WARPSCOPE_DUMP'))
    said, (name,) = done.stderr.decode(), os.listdir(taken)
    with gzip.open(os.path.join(taken, name)) as file:
        expect(file.read() == content, 'it is another one')
    expect(re.fullmatch(r'core_.*[.]nvcudmp[.]gz', name) and not glob.glob(os.path.join(job, 'core_*')), os.listdir(job))
    expect(f'the command took {job}/{name[:-3]}, which is removed here' in said and 'gather_rows' in said and done.returncode == -6, said)
    for command, options, why in (('cat >/dev/null; exit 3', (), 'the command ended with status 3'), ('kill -9 $$', (), 'the command was ended by signal 9'),
                                  ('no-such-command', (), 'the command ended with status 127'),
                                  ('cat >/dev/null', ('--size-limit', '1K'), f'its {len(content)} bytes are more than the limit')):
        done, job = bench.run('fault', options=('--dumps-through', command, *options))
        (dump,) = glob.glob(os.path.join(job, 'core_*'))
        with open(dump, 'rb') as file:
            expect(file.read() == content, command)
        expect(f'{dump} stays here: {why}' in done.stderr.decode() and done.returncode == -6, (command, done.stderr))


def a_command_that_waits_does_not_keep_a_stopped_exec(bench):
    for number, status in ((signal.SIGTERM, -signal.SIGABRT), (signal.SIGKILL, -signal.SIGKILL)):
        process = bench.start('fault', options=('--dumps-through', 'echo it has begun >&2; sleep 600; :'))
        said = b''
        while b'it has begun' not in said:
            said += process.stderr.read1(4096)
        process.send_signal(number)
        expect(process.wait(timeout=30) == status, process.returncode)
        left = gone_within(process.mark, 10)
        expect(not left, left)


def dumps_of_earlier_runs_are_not_told(bench):
    """A job that is started again has the same folder."""
    dumps = bench.dumps()
    first, _ = bench.run('fault', options=('--job', 'one'), dumps=dumps)
    again, job = bench.run('say', '7', options=('--job', 'one'), dumps=dumps)
    expect(b'left 1 GPU dump' in first.stderr and len(glob.glob(os.path.join(job, 'core_*'))) == 1, (first, job))
    expect(again.returncode == 7 and b'left no GPU dump' in again.stderr, again)


def dumps_are_named_and_as_old_as_the_run(bench):
    """A regular file, named as the variables say, of this host and this part of the job, and not older than the record of the run."""
    script = """if True:
        import glob, os, sys
        folder, host, second = os.path.dirname(os.environ['CUDA_COREDUMP_FILE']), os.uname().nodename, 10 ** 9
        made = os.stat(glob.glob(folder + '/exec_*')[0]).st_mtime_ns
        at = lambda name, time: (open(f'{folder}/{name}', 'w').close(), os.utime(f'{folder}/{name}', ns=(time, time)))
        for i, time in enumerate((made, made + 1, (made // second + 1) * second)):
            at(f'core_{i}_{host}_7.nvcudmp', time)
        for i, time in enumerate((made - 1, made // second * second - 1)):
            at(f'core_{i}_{host}_8.nvcudmp', time)
        for name in (f'core_1_not-{host}_7.nvcudmp', f'core_r1_1_{host}_7.nvcudmp', f'core_1_{host}_7.nvcudmp.part', f'xcore_1_{host}_7.nvcudmp'):
            at(name, made)
        os.symlink(f'core_0_{host}_7.nvcudmp', f'{folder}/core_0_{host}_9.nvcudmp')
        os.mkdir(f'{folder}/core_1_{host}_9.nvcudmp')
        os.mkfifo(f'{folder}/core_2_{host}_9.nvcudmp')
        sys.exit(3)"""
    done = subprocess.run([bench.program, 'exec', '--dumps', bench.dumps(), '--', sys.executable, '-c', script], capture_output=True, check=False,
                          timeout=60, env=bench.plain)
    expect(done.returncode == 3 and b'left 3 GPU dumps in' in done.stderr, done)


def dumps_have_the_part_in_their_name(bench):
    """A rank where a launcher gives one; with Slurm's number alone, which all workers of a server share, a task of several."""
    most = 2 ** 31 - 1
    for env, part in (({}, ''), ({'RANK': '0'}, 'r0_'), ({'RANK': str(most)}, f'r{most}_'), ({'RANK': str(most + 1)}, ''), ({'RANK': 'x'}, ''),
                      ({'OMPI_COMM_WORLD_RANK': '2'}, 'r2_'), ({'PMIX_RANK': '3'}, 'r3_'), ({'PMI_RANK': '4', 'SLURM_PROCID': '5'}, 'r4_'),
                      ({'RANK': '6', 'OMPI_COMM_WORLD_RANK': '2'}, 'r6_'), ({'RANK': 'x', 'PMI_RANK': '4'}, 'r4_'), ({'SLURM_PROCID': '5'}, ''),
                      ({'SLURM_PROCID': '5', 'SLURM_STEP_NUM_TASKS': '1'}, ''), ({'SLURM_PROCID': '5', 'SLURM_STEP_NUM_TASKS': '2'}, 't5_')):
        done = bench.shell('basename "$CUDA_COREDUMP_FILE"', env=env)
        expect(done.stdout.decode() == f'core_{part}%t_%h_%p.nvcudmp\n', (env, done))


def a_job_has_the_name_of_its_launcher(bench):
    slurm, step, torch = {'SLURM_JOB_ID': '71'}, {'SLURM_STEP_ID': '3'}, {'TORCHELASTIC_RUN_ID': 'again'}
    mpi = {'OMPI_COMM_WORLD_RANK': '0', 'PMIX_NAMESPACE': 'prterun-a@1'}
    for env, options, name in ((slurm, (), 'job-71'), ({**slurm, **step}, (), 'job-71.3'), (torch, (), 'job-again'), (mpi, (), 'job-prterun-a_1'),
                               ({**slurm, **step, **torch}, (), 'job-71.3-again'), ({**slurm, **step, **mpi, **torch}, (), 'job-71-prterun-a_1'),
                               ({**slurm, 'TORCHELASTIC_RUN_ID': 'none'}, (), 'job-71'), ({**slurm, **torch}, ('--job', '.a/b c'), '_a_b_c'),
                               (step, (), None), ({'TORCHELASTIC_RUN_ID': 'none'}, (), None), ({'PMIX_NAMESPACE': 'ns'}, (), None)):
        begin = int(time.time())
        got = os.path.basename(bench.run('say', '0', env=env, options=options)[1])
        if name:
            expect(got == name, (env, got))
            continue
        parts = re.fullmatch('run-([0-9]{8}T[0-9]{6}Z)-(.+)-[0-9]+', got)
        at = parts and calendar.timegm(time.strptime(parts[1], '%Y%m%dT%H%M%SZ'))
        expect(parts and begin <= at <= time.time() and parts[2] == re.sub('[^-_.A-Za-z0-9]', '_', os.uname().nodename), (env, got))


def the_message_comes_first(bench):
    """While the dump is being written, the message says already how the program ended."""
    message, gate = os.path.join(bench.folder, 'early'), os.path.join(bench.folder, 'gate')
    process, said = bench.start('leave', gate, options=('--message', message)), b''
    while b'status 3' not in said and process.poll() is None:
        time.sleep(0.05)
        if os.path.exists(message):
            with open(message, 'rb') as file:
                said = file.read()
    expect(process.poll() is None and b'status 3' in said and b'gather_rows' not in said, said)
    with open(gate, 'wb'):
        pass
    _, err = process.communicate(timeout=60)
    with open(message, 'rb') as file:
        said = file.read()
    expect(process.returncode == 3 and b'gather_rows' in said and b'gather_rows' in err, (process.returncode, said, err))


def the_message_is_all_that_the_file_has(bench):
    """It replaces what was there, and only in a regular file."""
    path = os.path.join(bench.folder, 'used')
    with open(path, 'wb') as file:
        file.write(b'x' * 9000)
    done = bench.shell('exit 3', options=('--message', path))
    with open(path, 'rb') as file:
        expect(file.read() == done.stderr and b'status 3' in done.stderr, done)
    for path, why in (('/dev/null', b'is not a regular file'), (bench.folder, b'Is a directory'), (bench.folder + '/none/x', b'No such file or directory')):
        done = bench.shell('exit 3', options=('--message', path))
        expect(done.returncode == 3 and done.stderr.startswith(f'warpscope exec: {path}: '.encode() + why + b'\n'), done)


def the_message_follows_no_link(bench):
    """In a folder of all, somebody may have put a link there, or a file of his own."""
    path, kept = os.path.join(bench.folder, 'linked'), os.path.join(bench.folder, 'kept')
    for make, why in ((os.symlink, 'is not a regular file'), (os.link, 'is a file of another user, or has another name too'), (None, 'is a file of another user, or has another name too')):
        with open(kept, 'w', encoding='ascii') as file:
            file.write('mine')
        if make:
            make(kept, path)
        elif os.geteuid() == 0:
            os.rename(kept, path)
            os.chown(path, 65534, 65534)
        else:
            continue
        done = bench.shell('exit 3', options=('--message', path))
        with open(path, encoding='ascii') as file:
            expect(file.read() == 'mine' and done.stderr.startswith(f'warpscope exec: {path}: {why}\n'.encode()), done)
        os.unlink(path)


def a_runtime_of_the_vendor_is_told_first(bench):
    """A program that has it inside, as nvcc links it by default; not one that needs it as a library."""
    import struct  # pylint: disable=import-outside-toplevel
    path = os.path.join(bench.folder, 'static')
    for text, is_told in ((b'cudaErrorNoKernelImageForDevice libcuda.so.1', True), (b'cudaErrorNoKernelImageForDevice', False), (b'libcuda.so.1', False)):
        names = b'\0.nv_fatbin\0.shstrtab\0'
        sections = [(0,) * 10, (1, 1, 2, 0, 64, len(text), 0, 0, 1, 0), (12, 3, 0, 0, 64 + len(text), len(names), 0, 0, 1, 0)]
        with open(path, 'wb') as file:
            file.write(struct.pack('<16sHHIQQQIHHHHHH', b'\x7fELF\2\1\1', 2, 62, 1, 0, 0, 64 + len(text) + len(names), 0, 64, 56, 0, 64, 3, 2))
            file.write(text + names + b''.join(struct.pack('<IIQQQQIIQQ', *one) for one in sections))
        os.chmod(path, 0o600)  # it is told before it could run
        done = subprocess.run([bench.program, 'exec', '--dumps', bench.dumps(), '--software-gpu', '--', path], capture_output=True, check=False, timeout=60, env=bench.plain)
        expect((b'link it with -cudart shared' in done.stderr) == is_told, done)


def a_device_that_is_not_there_is_refused(bench):
    done = bench.shell('exit 0', options=('--software-gpu', '--arch', 'sm_99'))
    expect(done.returncode == 2 and b'there is no device for --arch sm_99; there are sm_75,' in done.stderr, done)


# Ends when a process below has begun a dump, and never ends it.
LEAVES = 'dump="$(dirname "$CUDA_COREDUMP_FILE")/core_1_$(uname -n)_$$.nvcudmp"; (echo >"$dump"; exec sleep 600 >>"$dump" 2>&1 <&-) &' \
         'until [ -s "$dump" ]; do sleep 0.02; done; exit 3'


def nobody_waits_longer_than_asked(bench):
    """For a dump that somebody has open, as long as --wait says, or until a signal comes that ends."""
    def start(*options):
        started.append(subprocess.Popen([bench.program, 'exec', '--dumps', bench.dumps(), *options, '--', 'sh', '-c', LEAVES], stderr=subprocess.PIPE,
                                        env={**bench.plain, 'EXEC_TEST_MARK': mark}))
        return started[-1]

    def message(path):
        try:
            with open(path, 'rb') as file:
                return file.read()
        except OSError:
            return b''

    started, mark = [], f'exec-test-{os.getpid()}-waits'
    try:
        start('--wait', '0')
        numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR2)
        paths = [os.path.join(bench.folder, f'waits-{number}') for number in numbers]
        for number, path in zip(numbers, paths):
            process, end = start('--message', path), time.monotonic() + 30
            while b'status 3' not in message(path) and time.monotonic() < end:
                time.sleep(0.02)
            process.send_signal(number)
        for process in started[:-1]:
            process.wait(30)
            said = process.stderr.read()
            expect(process.returncode == 3 and b'left 1 GPU dump in' in said, (process.returncode, said))
        expect(started[-1].poll() is None, 'a signal that does not end it ended it')
    finally:
        for process in started:
            process.kill()
            process.wait()
            process.stderr.close()
        gone_within(mark, 0)


def what_is_set(bench):
    names = ('CUDA_COREDUMP_FILE', 'CUDA_COREDUMP_GENERATION_FLAGS', 'CUDA_COREDUMP_PIPE', 'CUDA_ENABLE_CPU_COREDUMP_ON_EXCEPTION',
             'CUDA_ENABLE_COREDUMP_ON_EXCEPTION', 'CUDA_ENABLE_USER_TRIGGERED_COREDUMP', 'CUDA_COREDUMP_SHOW_PROGRESS')

    def seen(*options, env=None):
        done = subprocess.run([bench.program, 'exec', '--dumps', dumps, '--job', 'one', *options, '--', 'env'], capture_output=True,
                              check=False, timeout=60, env={**bench.plain, **(env or {})})
        pairs = dict(line.split('=', 1) for line in done.stdout.decode().splitlines() if '=' in line)
        return {name: pairs[name] for name in names if name in pairs}, done.stderr.decode()

    dumps = bench.dumps()
    for purpose in ('fault', 'hang', 'share', 'full'):
        said = subprocess.run([bench.program, 'env', '--for', purpose, '--dumps', os.path.join(dumps, 'one'), '--json'], capture_output=True,
                              check=True).stdout
        listed = {item['name']: item['value'] for item in json.loads(said)['variables']}
        expect(seen('--for', purpose)[0] == listed, (purpose, listed, seen('--for', purpose)))
        shell = subprocess.run(['sh', '-c', 'eval "$("$0" env --for "$1" --dumps "$2")"; env', bench.program, purpose,
                                os.path.join(dumps, 'one')], capture_output=True, check=True, env=bench.plain).stdout.decode()
        expect(all(f'\n{name}={value}\n' in '\n' + shell for name, value in listed.items()), (purpose, shell))
    odd = "/tmp/it's $(reboot) a `x`"
    shell = subprocess.run(['sh', '-c', 'eval "$("$0" env --dumps "$1")"; echo "$CUDA_COREDUMP_FILE"', bench.program, odd],
                           capture_output=True, check=True).stdout.decode()
    expect(shell == odd + '/core_%t_%h_%p.nvcudmp\n', shell)
    expect(seen('--no-abort')[0]['CUDA_COREDUMP_GENERATION_FLAGS'].endswith(',skip_abort'), 'skip_abort')
    longest = '/' + 'a' * (1023 - len('//core_%t_%h_%p.nvcudmp'))
    for folder, status, said in ((longest, 0, f"CUDA_COREDUMP_FILE='{longest}/core_"), (longest + 'a', 2, 'at most 1,023 characters')):
        done = subprocess.run([bench.program, 'env', '--dumps', folder], capture_output=True, check=False)
        expect(done.returncode == status and said in (done.stdout + done.stderr).decode(), done)
    mine = {'CUDA_COREDUMP_GENERATION_FLAGS': 'skip_global_memory,skip_everything', 'CUDA_COREDUMP_FILE': 'x'}
    got, said = seen(env=mine)
    expect(got['CUDA_COREDUMP_GENERATION_FLAGS'] == mine['CUDA_COREDUMP_GENERATION_FLAGS'] and 'stays as it is' in said, (got, said))
    expect("takes 'skip_everything'" in said and 'CUDA_COREDUMP_FILE was set, and is replaced' in said, said)
    got, said = seen('--for', 'full', env=mine)
    expect('CUDA_COREDUMP_GENERATION_FLAGS' not in got, got)
    got, said = seen('--for', 'full', '--no-abort', env=mine)
    expect(got['CUDA_COREDUMP_GENERATION_FLAGS'] == 'skip_abort', got)


def checks_before_the_start(bench):
    def said(env=None, dumps=None, **more):
        return bench.run('say', '0', env=env, dumps=dumps, **more)[0].stderr.decode()
    expect('CUDA 13.0 removed it' in said({'CUDA_ENABLE_LIGHTWEIGHT_COREDUMP': '1'}), 'a removed variable')
    expect('waits for a debugger' in said({'CUDA_DEVICE_WAITS_ON_EXCEPTION': '1'}), 'waits')
    expect('loaded this way' in said({'CUDA_INJECTION64_PATH': '/opt/nsys.so'}), 'a tool')
    expect('under MPS' in said({'CUDA_MPS_PIPE_DIRECTORY': '/tmp/mps'}), 'MPS')
    quiet = {'CUDA_DEVICE_WAITS_ON_EXCEPTION': '0', 'CUDA_INJECTION64_PATH': '', 'CUDA_MPS_PIPE_DIRECTORY': '0'}
    expect(said(quiet) == '', said(quiet))
    known = 'skip_global_memory,skip_abort,,no_errbar_at_exit,log_only,gzip_compress,'
    stays = 'warpscope exec: CUDA_COREDUMP_GENERATION_FLAGS stays as it is; --for replaces it\n'
    expect(said({'CUDA_COREDUMP_GENERATION_FLAGS': known}) == stays, said({'CUDA_COREDUMP_GENERATION_FLAGS': known}))
    told = re.findall("takes '(.*)'", said({'CUDA_COREDUMP_GENERATION_FLAGS': f'skip,{known}skip_abor,skip_abort2,x'}))
    expect(told == ['skip', 'skip_abor', 'skip_abort2', 'x'], told)
    for tool, name in (('cuda-gdb', 'cuda-gdb'), ('nsys-launcher', 'nsys-launcher'), ('compute-sanitizer', 'compute-saniti'), ('sync', None)):
        link = os.path.join(bench.folder, tool)
        os.symlink('/bin/sh', link)
        done = subprocess.run([link, '-c', '"$@"; exit $?', 'sh', *bench.words(bench.dumps(), what=('say', '0'))], capture_output=True, check=True, env=bench.plain)
        expect((f'it runs under {name}' in done.stderr.decode()) if name else not done.stderr, (tool, done))
    wide = bench.dumps()
    os.makedirs(os.path.join(wide, 'mine'), 0o755)
    os.chmod(os.path.join(wide, 'mine'), 0o755)
    told = said(dumps=wide, options=('--job', 'mine'))
    expect('other users can read this folder' in told and '(mode 755)' in told, told)
    expect('srun warpscope exec' not in said(), 'a program that is no launcher')
    srun = os.path.join(bench.folder, 'srun')
    os.symlink('/bin/true', srun)
    for options, words in (([], 'recorded; better: srun warpscope exec'), (['--on-hang', '5'], '--on-hang does not find them')):
        done = subprocess.run([bench.program, 'exec', '--dumps', bench.dumps(), *options, '--', srun], capture_output=True, check=True, timeout=60)
        expect(words in done.stderr.decode(), done)
    limited = subprocess.run(['sh', '-c', 'ulimit -f 100; exec "$@"', 'sh', *bench.words(bench.dumps(), what=('say', '0'))],
                             capture_output=True, check=True, env=bench.plain).stderr
    expect(b'files may have at most 51200 bytes here (ulimit -f)' in limited or b'files may have at most 102400 bytes here' in limited, limited)


def a_debugger_is_told(bench):
    """One that is attached to exec itself."""
    seize, libc = 0x4206, ctypes.CDLL(None, use_errno=True)
    words = ['sh', '-c', 'read go; exec "$@"', 'sh', bench.program, 'exec', '--dumps', bench.dumps(), '--', 'true']
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=bench.plain) as process:
        failed = libc.ptrace(seize, process.pid, None, None)
        _, said = process.communicate(b'go\n', timeout=60)
    if failed:
        return 'no process can be traced here'
    expect(f'a debugger is attached (process {os.getpid()}): it may prevent dumps\n' in said.decode(), said)
    return None


# Another /dev, which has what a driver with these GPUs has there, and a folder with 3 MiB.
GPUS = 'set -e; mkdir "$1" "$2"; mount -t tmpfs none "$1"; mount -t tmpfs -o size=3m none "$2"; cd "$1"; touch null $3\n' \
       'mount --bind /dev/null null; cd /; mount --rbind "$1" /dev; shift 3; exec "$@"'
TWO_GPUS = 'nvidia0 nvidia1 nvidiactl nvidia-uvm nvidia-x'
OPENS = """n() { cat "$d"/exec_*.jsonl | wc -l; }
d=$(dirname "$CUDA_COREDUMP_FILE")
for files in '3</dev/nvidiactl 4</dev/nvidia-uvm' '3</dev/nvidia0 4</dev/nvidia0' '3</dev/nvidia0 4</dev/nvidia1' '3</dev/nvidiactl 4</dev/nvidia1'; do
  CUDA_ENABLE_USER_TRIGGERED_COREDUMP=1 sh -c "exec $files; exec sleep 600" & last=$!; all="$all $last"
done
i=0; while [ $(n) -lt 3 ] && [ $i -lt 300 ]; do sleep 0.05; i=$((i + 1)); done
"$0" trigger --timeout 0 $last; kill $all; cat "$d"/exec_*.jsonl; exit 3"""


def gpus_are_seen(bench):
    """Which GPU a process has open, if it is one, is recorded; how many there are says how much room dumps may take."""
    devices, small = (os.path.join(bench.folder, name) for name in ('dev', 'little-room'))

    def run(*words, has=TWO_GPUS):
        return subprocess.run(['unshare', '-m', 'sh', '-c', GPUS, 'sh', devices, small, has, bench.program, 'exec', '--dumps', small, '--job', 'one', *words],
                              capture_output=True, check=False, timeout=60, env=bench.plain)

    done = run('--', 'sh', '-c', OPENS, bench.program)
    if b'unshare' in done.stderr or b'mount:' in done.stderr:
        return 'no mounts here'
    lines = {line['pid']: line['gpu'] for line in map(json.loads, done.stdout.splitlines())}  # the last of each
    expect(sorted(lines.values(), key=str) == [0, 1, None], done)
    said = done.stderr.decode()
    expect('it uses a GPU, but has no pipe open' in said and said.endswith('sh ended with status 3 and left no GPU dump\n'), said)
    gpus, most = 'dumps of 2 GPUs may take 2 GiB\n', ', or more: as much as their memory holds\n'
    one = 'dumps of 1 GPU may take 1 GiB\n'
    for has, words, room in ((TWO_GPUS, [], gpus), (TWO_GPUS, ['--for', 'full'], 'dumps of 2 GPUs may take 160 GiB' + most), (TWO_GPUS, ['--for', 'hang'], gpus),
                             (TWO_GPUS, ['--for', 'full', '--software-gpu'], one), ('nvidia-uvm', [], one)):
        for name in (devices, small):
            os.rmdir(name)
        said = run(*words, '--', 'true', has=has).stderr.decode()
        expect(said == f'warpscope exec: {small}/one: 3 MiB are free; {room}', (words, said))
    return None


# ---- nothing is left ----

def a_killed_exec_leaves_nothing(bench):
    kills = 60 if '--all' in sys.argv else 6
    """kill -9 of exec at any moment ends all below it, and its record has whole lines only."""
    rng = random.Random(11)
    for i in range(kills):
        dumps = bench.dumps()
        what = (('stubborn',), ('fault', '0.2'), ('serve', '3', 'fault'))[i % 3]
        process = bench.start(*what, dumps=dumps, options=('--on-hang', '100') if i % 2 else (), env={'RANK': '1'})
        time.sleep(rng.uniform(0, 1.2) if i else 0.8)
        process.kill()
        process.wait()
        left = gone_within(process.mark, 30)
        process.stdout.close()
        process.stderr.close()
        expect(not left, (what, left))
        for folder in glob.glob(os.path.join(dumps, '*')):
            for line in record_of(folder):
                expect(line['schema'] == 'warpscope-exec-1', line)


def a_killed_exec_ends_its_helpers(bench):
    """Those that pass output on and ask for dumps, whatever they do: here they stand still."""
    process = bench.start('wait', options=('--on-hang', '1'))
    expect(process.stdout.readline() == b'waits\n', 'it does not wait')
    (program,) = [pid for pid in marked(process.mark) if 'program.py' in command_of(pid)[1]]
    os.kill(program, signal.SIGSTOP)
    expect(b'no output for 1 seconds' in process.stderr.readline(), 'it was not asked')
    with open(f'/proc/{program}/stat', encoding='ascii') as file:
        keeper = int(file.read().rsplit(')', 1)[1].split()[1])
    helpers, end = [], time.monotonic() + 30
    while not any('/pipe_' in path for pid in helpers for path in files_of(pid)) and time.monotonic() < end:
        helpers = [pid for pid in children_of(process.pid) if pid != keeper]
    expect(len(helpers) == 2, helpers)
    for pid in helpers:
        os.kill(pid, signal.SIGSTOP)
    process.kill()
    process.wait()
    process.stdout.close()
    process.stderr.close()
    expect(not gone_within(process.mark, 30), 'something is left')


def a_key_pressed_is_not_passed_on(bench):
    """The terminal sends it to the group of the program, and not to one that left the group, as without exec."""
    for outside, times in (([], b'1 times'), (['setsid'], b'0 times')):
        words = [bench.program, 'exec', '--dumps', bench.dumps(), '--', *outside, *bench.double, 'count']
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(words[0], words, bench.plain)
        said = b''
        while b'ready' not in said:
            said += os.read(terminal, 1000)
        os.write(terminal, b'\x03')
        os.write(terminal, b'now\n')
        try:
            while b'times' not in said:
                said += os.read(terminal, 1000)
        finally:
            os.close(terminal)
            os.waitpid(pid, 0)
        expect(times in said, said)


def a_killed_keeper_leaves_nothing(bench):
    process = bench.start('stubborn')
    expect(process.stdout.readline() == b'ready\n', 'not ready')
    (keeper,) = children_of(process.pid)
    os.kill(keeper, signal.SIGKILL)
    process.communicate(timeout=60)
    expect(process.returncode == -signal.SIGKILL and not gone_within(process.mark, 30), process.returncode)


def a_keeper_holds_no_output(bench):
    """Who reads the program's output sees its end as without exec. Here the keeper stands still when exec and the program are gone."""
    process = bench.start('signals', '9')
    expect(process.stdout.readline() == b'ready\n', 'not ready')
    (keeper,) = children_of(process.pid)
    (program,) = children_of(keeper)
    os.kill(keeper, signal.SIGSTOP)
    try:
        process.kill()
        os.kill(program, signal.SIGKILL)
        for stream in (process.stdout, process.stderr):
            expect(select.select([stream], [], [], 30)[0] and stream.read() == b'', 'the output has no end')
    finally:
        os.kill(keeper, signal.SIGCONT)
    process.wait()
    expect(not gone_within(process.mark, 30), 'something is left')
    # The process that passes output on ends with the output.
    words = [bench.program, 'exec', '--dumps', bench.dumps(), '--on-hang', '100', '--', 'sh', '-c', 'echo up; exec sleep 600 >/dev/null 2>&1']
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=bench.plain) as process:
        expect(process.stdout.readline() == b'up\n', 'it is not up')
        end = time.monotonic() + 30
        while len(children_of(process.pid)) != 1 and time.monotonic() < end:
            time.sleep(0.02)
        left = [command_of(pid) for pid in children_of(process.pid)]
        process.kill()
    expect(len(left) == 1, left)


def what_the_program_leaves_lives_on(bench):
    """As without exec: a daemon that a program starts outlives it."""
    done = subprocess.run([bench.program, 'exec', '--dumps', bench.dumps(), '--', 'sh', '-c', 'setsid sleep 30 >/dev/null 2>&1 & echo $!'],
                          capture_output=True, check=True, timeout=60)
    pid = int(done.stdout)
    os.kill(pid, signal.SIGKILL)  # fails if it is gone
    begin = time.monotonic()
    done = subprocess.run([bench.program, 'exec', '--dumps', bench.dumps(), '--on-hang', '100', '--', 'sh', '-c', 'sleep 100 & echo $!'],
                          capture_output=True, check=True, timeout=60)
    os.kill(int(done.stdout), signal.SIGKILL)
    expect(time.monotonic() - begin < 50, 'exec waited for the output of a daemon')


# ---- ranks ----

def workers_have_ranks(bench):
    """A server's workers are told apart by their titles; the record keeps named numbers only."""
    done, job = bench.run('serve', '4', 'fault', env={'API_KEY': SECRET, 'SLURM_PROCID': '0', 'SLURM_STEP_NUM_TASKS': '2'})
    expect(done.returncode == 4 and b'(task 0) ended with status 4 and left 4 GPU dumps' in done.stderr, done)
    expect(len(glob.glob(os.path.join(job, 'core_t0_*'))) == 4, os.listdir(job))
    titles = {line['pid']: line['title'] for line in record_of(job)}
    dumps = [re.search('_([0-9]+)[.]nvcudmp', path).group(1) for path in glob.glob(os.path.join(job, 'core_*'))]
    expect(sorted(titles[int(pid)] for pid in dumps) == [f'VLLM::Worker_TP{i}' for i in range(4)], titles)
    expect(SECRET not in json.dumps(record_of(job)), 'a secret')
    files = glob.glob(os.path.join(job, 'core_*'))
    for paths in ([job], files):
        records = bench.triage(*paths)
        expect(sorted(str(r['rank']) for r in records) == list('0123') and {r['rank_from'] for r in records} == {'exec'}, records)
    os.chdir(job)
    expect(len({r['rank'] for r in bench.triage(*[os.path.basename(path) for path in files])}) == 4, 'names without a folder')
    os.chdir(bench.root)


def what_a_process_becomes_is_recorded(bench):
    """Each change has a line, and what stays as it is has none."""
    steps = ['WORLD_SIZE=9', 'RANK=2', 'LOCAL_RANK=1', 'TORCHELASTIC_RESTART_COUNT=3', 'TITLE=other:name']
    done, job = bench.run('becomes', '1', *steps, env={'RANK': '1', 'WORLD_SIZE': '8'})
    expect(done.returncode == 0 and done.stdout == b'ended\n', done)
    names = ('RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'TORCHELASTIC_RESTART_COUNT')
    lines = [tuple(line.get(name) for name in names) + (':' in line['title'],) for line in record_of(job)]
    want = [(1, 8, None, None, False), (1, 9, None, None, False), (2, 9, None, None, False), (2, 9, 1, None, False), (2, 9, 1, 3, False),
            (2, 9, 1, 3, True)]
    expect(lines == want and len({line['pid'] for line in record_of(job)}) == 1, lines)
    keys = ['schema', 'host', 'pid', 'started', 'RANK', 'WORLD_SIZE', 'OMPI_COMM_WORLD_RANK', 'OMPI_COMM_WORLD_SIZE', 'PMIX_RANK', 'PMI_RANK', 'PMI_SIZE',
            'SLURM_PROCID', 'SLURM_STEP_NUM_TASKS', 'LOCAL_RANK', 'TORCHELASTIC_RESTART_COUNT', 'title', 'gpu']
    for line in record_of(job):
        expect(list(line) == keys and line['host'] == os.uname().nodename and line['pid'] > 1 and line['started'] > 0 and line['gpu'] is None, line)


def memory_has(pid, text):
    """Whether bytes are in the memory that a process can write to, but for what only a sanitizer maps: terabytes."""
    with open(f'/proc/{pid}/maps', encoding='utf-8') as maps, open(f'/proc/{pid}/mem', 'rb', buffering=0) as memory:
        for line in maps:
            if ' rw' in line and '[v' not in line:
                start, end = (int(word, 16) for word in line.split()[0].split('-'))
                if end - start > 1 << 26:
                    continue
                memory.seek(start)
                if text in memory.read(end - start):
                    return True
    return False


def environments_are_forgotten(bench):
    """What a program sets for its children, and exec has read, is not in its memory afterwards."""
    script = 'export KEY=$(printf %s%s late- secret-value) FILL=$(head -c 9000 /dev/zero | tr "\\0" x); RANK=5 exec sleep 600'
    dumps = bench.dumps()
    with subprocess.Popen([bench.program, 'exec', '--dumps', dumps, '--job', 'one', '--', 'sh', '-c', script], env=bench.plain) as process:
        end = time.monotonic() + 30
        while not any(line['RANK'] == 5 for line in record_of(os.path.join(dumps, 'one'))) and time.monotonic() < end:
            time.sleep(0.05)
        found = [memory_has(process.pid, b'late-secret-value') for _ in range(5)]  # it may be reading
        expect(memory_has(process.pid, b'secret-value)'), 'its own arguments are not found')
        process.kill()
    expect(not all(found), found)


def a_full_disk_costs_the_record_only(bench):
    """Where nothing can be written any more, the program still runs and ends as it does."""
    script = 'mount -t tmpfs -o size=16k none "$1" && shift && exec "$@"'
    mount = os.path.join(bench.folder, 'small')
    os.mkdir(mount)
    words = bench.words(mount, what=('say', '9', 'out'))
    fill = ['sh', '-c', 'head -c 20000 /dev/zero > "$0"/fill 2>/dev/null; RANK=1 exec "$@"', mount, *words]
    done = subprocess.run(['unshare', '-m', 'sh', '-c', script, 'sh', mount, *fill], capture_output=True, check=False, timeout=60,
                          env=bench.plain)
    if b'unshare' in done.stderr or b'mount:' in done.stderr:
        return 'no mounts here'
    expect(done.returncode == 125 and b'No space left' in done.stderr, done)
    later = ['sh', '-c', 'RANK=1 exec "$@"', 'sh', *bench.words(mount, what=('fault', '0.1'))]
    done = subprocess.run(['unshare', '-m', 'sh', '-c', script, 'sh', mount, *later], capture_output=True, check=False, timeout=60,
                          env=bench.plain)
    expect(done.returncode in (1, -6) and b'left 1 GPU dump' in done.stderr and b'MiB are free' in done.stderr, done)
    return None


def a_record_has_no_half_line(bench):
    """A line that does not fit on the disk any more is taken back: readers of records see whole ones."""
    mount, said = os.path.join(bench.folder, 'page'), os.path.join(bench.folder, 'said')
    os.mkdir(mount)
    ranks = 'for i in $(seq 20); do RANK=$i sleep 600 & done; wait'
    script = 'mount -t tmpfs -o size=16k none "$2" && head -c 12288 /dev/zero >"$2/fill" || exit\n' \
             '"$1" exec --dumps "$2" --job one -- sh -c "$4" >/dev/null 2>"$3" & exec=$!\n' \
             'until grep -q "not recorded" "$3"; do sleep 0.1; done; cat "$2"/one/exec_*; kill -9 $exec'
    done = subprocess.run(['unshare', '-m', 'sh', '-c', script, 'sh', bench.program, mount, said, ranks], capture_output=True, check=False,
                          timeout=60, env=bench.plain)
    if b'unshare' in done.stderr or b'mount:' in done.stderr:
        return 'no mounts here'
    lines = done.stdout.splitlines(True)
    expect(0 < len(lines) < 20 and lines[-1].endswith(b'}\n'), done)
    expect({json.loads(line)['schema'] for line in lines} == {'warpscope-exec-1'}, lines)
    return None


# ---- process 1 ----

def it_works_as_process_1(bench):
    """In a container: takes in orphans, passes signals on, and leaves its first screen."""
    inside = ['unshare', '-pf', '--kill-child', '--mount-proc']
    if subprocess.run([*inside, 'true'], capture_output=True, check=False).returncode:
        return 'no process namespaces here'
    message = os.path.join(bench.folder, 'one')
    done = subprocess.run([*inside, *bench.words(bench.dumps(), '--message', message, what=('fault',))], capture_output=True, check=False,
                          timeout=60, env=bench.plain)
    expect(done.returncode == 128 + signal.SIGABRT and b'gather_rows' in done.stderr, done)
    with open(message, 'rb') as file:
        expect(b'gather_rows' in file.read(4097), 'the message')
    done = subprocess.run([*inside, *bench.words(bench.dumps(), what=('orphans', '20'))], capture_output=True, check=False, timeout=60,
                          env=bench.plain)
    expect(done.returncode == 6, done)
    done = subprocess.run(['unshare', '-pf', *bench.words(bench.dumps(), what=('say', '0'))], capture_output=True, check=False, timeout=60,
                          env=bench.plain)
    expect(done.returncode == 0 and b'/proc does not belong to this container' in done.stderr, done)
    # the orphan is gone, and no zombie: a zombie can be sent signals
    zombies = 'orphan=$(sleep 0.1 >/dev/null & echo $!); for i in $(seq 100); do kill -0 $orphan || break; sleep 0.1; done; kill -0 $orphan; echo $?'
    done = subprocess.run([*inside, bench.program, 'exec', '--dumps', bench.dumps(), 'sh', '-c', zombies], capture_output=True, check=False,
                          timeout=60, env=bench.plain)
    expect(done.returncode == 0 and done.stdout == b'1\n', done)
    return None


if __name__ == '__main__':
    sys.exit(main([
        it_is_transparent, the_program_starts_as_without_it, statuses_of_what_cannot_run, it_ends_as_the_program, it_leaves_no_core,
        signals_pass, a_fault_is_told, dumps_go_through_a_command, a_command_that_waits_does_not_keep_a_stopped_exec,
        dumps_of_earlier_runs_are_not_told, dumps_are_named_and_as_old_as_the_run,
        dumps_have_the_part_in_their_name, the_message_is_all_that_the_file_has, the_message_follows_no_link,
        a_runtime_of_the_vendor_is_told_first, a_device_that_is_not_there_is_refused, nobody_waits_longer_than_asked,
        a_job_has_the_name_of_its_launcher, the_message_comes_first, what_is_set, checks_before_the_start, a_debugger_is_told,
        gpus_are_seen, a_killed_exec_leaves_nothing, a_killed_exec_ends_its_helpers, a_key_pressed_is_not_passed_on,
        a_killed_keeper_leaves_nothing, a_keeper_holds_no_output, what_the_program_leaves_lives_on, workers_have_ranks,
        what_a_process_becomes_is_recorded, environments_are_forgotten, a_full_disk_costs_the_record_only, a_record_has_no_half_line,
        it_works_as_process_1]))
