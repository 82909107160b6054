#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exec where a program hangs, and trigger, with tests/cli/exec/program.py in the place of one that uses CUDA. Prints TAP.

usage: test_trigger.py PROGRAM SOURCE_ROOT
"""

import contextlib
import glob
import json
import os
import select
import signal
import subprocess
import sys
import time

from exec_bench import children_of, expect, files_of, gone_within, main, marked


# ---- hangs ----

def a_hang_makes_dumps_of_all(bench):
    """No output for so long: every worker is asked, and what they show is said while they still hang."""
    process = bench.start('serve', '3', 'wait', options=('--on-hang', '1'))
    said, end = b'', time.monotonic() + 40
    os.set_blocking(process.stderr.fileno(), False)
    while b'many dumps' not in said and b'Dumps:' not in said and time.monotonic() < end:
        time.sleep(0.1)
        said += process.stderr.read() or b''
    expect(said.count(b'nvcudmp (') == 3 and b'no output for 1 seconds' in said and b'Dumps:' in said, said)
    expect(process.poll() is None and len(marked(process.mark)) >= 4, 'it does not run any more')
    time.sleep(2)
    expect(b'no output' not in (process.stderr.read() or b''), 'asked twice for one silence')
    process.kill()
    process.communicate()
    expect(not gone_within(process.mark, 30), 'something is left')


def nobody_is_asked_after_the_end(bench):
    """The process that asks for dumps ends with the program, also while exec waits for a dump that somebody still writes."""
    message, gate, later = (os.path.join(bench.folder, name) for name in ('asked', 'asked-gate', 'asked-later'))
    process = bench.start('asked', gate, later, options=('--on-hang', '1', '--message', message))
    expect(process.stdout.readline() == b'waits\n', 'it does not wait')
    helpers, end = [], time.monotonic() + 30
    while not helpers and time.monotonic() < end:
        helpers = [pid for pid in children_of(process.pid) if any('/pipe_' in path for path in files_of(pid))]
    expect(len(helpers) == 1, 'nobody was asked')
    with open(gate, 'wb'):
        pass
    while not os.path.exists(message) or not os.path.getsize(message):
        time.sleep(0.02)
    while set(helpers) & set(children_of(process.pid)) and time.monotonic() < end + 30:
        time.sleep(0.02)
    left = set(helpers) & set(children_of(process.pid))
    with open(later, 'wb'):
        pass
    _, err = process.communicate(timeout=60)
    expect(not left and process.returncode == 3 and b'left 1 GPU dump' in err and b'no dump:' not in err, (left, process.returncode, err))


def output_of_another_rank_is_no_hang(bench):
    """Of two execs of one job none asks as long as one program says something."""
    dumps, end = bench.dumps(), os.path.join(bench.folder, 'says-no-more')
    words = [bench.program, 'exec', '--dumps', dumps, '--job', 'one', '--on-hang', '2', '--']
    says = 'while [ ! -e "$0" ]; do echo; sleep 0.2; done'
    with subprocess.Popen([*words, 'sh', '-c', says, end], stdout=subprocess.PIPE, env=bench.plain) as loud:
        loud.stdout.readline()
        with subprocess.Popen([*words, 'sleep', '600'], stderr=subprocess.PIPE, env=bench.plain) as silent:
            asked = select.select([silent.stderr], [], [], 6)[0]
            with open(end, 'wb'):
                pass
            said = silent.stderr.readline()
            silent.kill()
        loud.communicate(timeout=60)
    expect(not asked and b'no output for 2 seconds' in said, (asked, said))


def output_is_no_hang(bench):
    done = subprocess.run([bench.program, 'exec', '--dumps', bench.dumps(), '--on-hang', '2', '--', 'sh', '-c',
                           'for i in 1 2 3 4 5; do echo $i; sleep 0.5; done'], capture_output=True, check=False, timeout=60, env=bench.plain)
    expect((done.returncode, done.stdout, done.stderr) == (0, b'1\n2\n3\n4\n5\n', b''), done)


def trigger_asks_and_explains(bench):
    """By the pipe that a process has open, whatever reader is there; and why there is none."""
    where = os.path.join(bench.folder, 'trigger')
    os.mkdir(where)
    on = {**bench.plain, 'CUDA_ENABLE_COREDUMP_ON_EXCEPTION': '1', 'CUDA_ENABLE_USER_TRIGGERED_COREDUMP': '1'}
    started = []

    def start(*what, env):
        started.append(subprocess.Popen([*bench.double, *what], stdout=subprocess.PIPE, cwd=where, env=env))
        if what[0] == 'wait' and env is not bench.plain:
            expect(started[-1].stdout.readline() == b'waits\n', 'it does not wait')
        return started[-1]

    def trigger(*processes, seconds='12'):
        done = subprocess.run([bench.program, 'trigger', '--timeout', seconds, *[str(p.pid) for p in processes]], capture_output=True,
                              check=False, timeout=60)
        return done.returncode, done.stderr.decode()
    try:
        named = {**on, 'CUDA_COREDUMP_PIPE': where + '/here_%p', 'CUDA_COREDUMP_FILE': where + '/dump_%p_%t'}
        os.mkdir(os.path.join(where, 'sub'))
        below = {**named, 'CUDA_COREDUMP_FILE': 'sub/core_%p_%h'}  # from its own folder
        one, full, default, plain = start('wait', env=named), start('wait', 'full', env=named), start('wait', env=on), start('wait',
                                                                                                                      env=bench.plain)
        relative = start('wait', env=below)
        status, said = trigger(one, full, default, relative)
        size = os.path.getsize(os.path.join(bench.root, 'examples/dumps/hang.nvcudmp'))
        expect(status == 0 and said.count(f' ({size} bytes)') == 4 and f'/dump_{full.pid}_' in said and f'{where}/sub/core_{relative.pid}_' in said, said)
        asked = start('wait', env=named)
        done = subprocess.run([bench.program, 'trigger', '--json', str(asked.pid)], capture_output=True, check=False, timeout=60)
        answer = json.loads(done.stdout)['processes'][0]
        expect(done.returncode == 0 and not done.stderr and answer.pop('dump').startswith(f'{where}/dump_{asked.pid}_')
               and answer == {'pid': asked.pid, 'complete': True, 'bytes': size, 'reason': None}, done)
        os.unlink(glob.glob(f'{where}/dump_{asked.pid}_*')[0])
        status, said = trigger(one, seconds='2')
        expect(status == 1 and 'no dump' in said, f'an older dump counts: {said}')
        expect(len(glob.glob(where + '/dump_*')) == 2 and len(glob.glob(where + '/core_*')) == 1, os.listdir(where))
        status, said = trigger(plain)
        expect(status == 1 and 'warpscope exec --for hang' in said, said)
        stopped = start('wait', env=named)
        stopped.send_signal(signal.SIGSTOP)
        begin = time.monotonic()
        status, said = trigger(stopped, seconds='3')
        expect(status == 1 and 'hangs, too, or is stopped' in said and time.monotonic() - begin < 30, (said, time.monotonic() - begin))
        quiet = start('say', '0', env=bench.plain)
        quiet.wait()
        status, said = trigger(quiet)
        expect(status == 1 and 'no such process' in said, said)
        other = subprocess.Popen(['sh', '-c', 'mkfifo "$0/other"; exec 3<>"$0/other"; echo open; read x <&3; echo got', where], stdout=subprocess.PIPE,
                                 env=on)
        started.append(other)
        other.stdout.readline()
        status, said = trigger(other)
        expect(status == 1 and 'CUDA has not started' in said and other.poll() is None, said)
        mute = subprocess.Popen(['sh', '-c', 'p="$0/here_$$"; mkfifo "$p"; exec 3<>"$p"; exec 4>"$p"; exec 3<&-; echo open; exec sleep 600', where],
                                stdout=subprocess.PIPE, env=named)
        started.append(mute)
        mute.stdout.readline()
        status, said = trigger(mute)
        expect(status == 1 and said == f'warpscope: process {mute.pid}: no dump: nobody reads its pipe\n', said)
    finally:
        for process in started:
            process.kill()
            process.wait()
            process.stdout.close()


def trigger_says_what_became_of_a_request(bench):
    """Each of them took it; and a process that is asked twice dumps once."""
    where = os.path.join(bench.folder, 'became')
    os.mkdir(where)
    on = {**bench.plain, 'CUDA_ENABLE_COREDUMP_ON_EXCEPTION': '1', 'CUDA_ENABLE_USER_TRIGGERED_COREDUMP': '1',
          'CUDA_COREDUMP_PIPE': where + '/pipe_%p', 'CUDA_COREDUMP_FILE': where + '/dump_%p_%t'}
    reads = 'cd "$0"; mkfifo pipe_$$; exec 3<>pipe_$$; echo $1 $$; head -c 1 <&3 >/dev/null; '
    ends = ['exit', 'exec sleep 600', 'exec 4>dump_$$_1; echo >&4; exec sleep 600', 'echo x >dump_$$_1', 'echo x >dump_$$_1; exec sleep 600']
    # a parent that takes their ends in
    script = 'i=0; for script; do sh -c "$script" "$0" $i & i=$((i + 1)); done; wait'
    with subprocess.Popen(['sh', '-c', script, where, *[reads + end for end in ends]], stdout=subprocess.PIPE, env=on, start_new_session=True) as process:
        pids = [pid for _, pid in sorted(process.stdout.readline().split() for _ in ends)]
        done = subprocess.run([bench.program, 'trigger', '--timeout', '2', pids[0], *pids], capture_output=True, check=False, timeout=60)
        os.killpg(process.pid, signal.SIGKILL)
    names = [f'{where}/dump_{int(pid)}_1' for pid in pids]
    became = ['no dump: it ended without a dump', 'no dump: it took the request, and no dump appeared',
              f'no dump: its dump does not grow any more, and is still open: {names[2]}', f'{names[3]} (2 bytes)', f'{names[4]} (2 bytes)']
    said = ''.join(f'warpscope: process {int(pid)}: {what}\n' for pid, what in zip(pids, became))
    expect(done.returncode == 1 and done.stderr.decode() == said, (done, said))


def trigger_looks_into_containers(bench):
    """Names of pipes and dumps have the number that a process has there; and of another user's process nothing is known."""
    where = os.path.join(bench.folder, 'inside')
    os.mkdir(where)
    on = {**bench.plain, 'CUDA_ENABLE_COREDUMP_ON_EXCEPTION': '1', 'CUDA_ENABLE_USER_TRIGGERED_COREDUMP': '1',
          'CUDA_COREDUMP_PIPE': where + '/pipe_%p', 'CUDA_COREDUMP_FILE': where + '/dump_%p'}
    if subprocess.run(['unshare', '-pf', '--kill-child', 'true'], capture_output=True, check=False).returncode:
        return 'no process namespaces here'
    script = 'cd "$0"; mkfifo pipe_$$; exec 3<>pipe_$$; echo $$; head -c 1 <&3 >/dev/null; echo x >dump_$$; exec sleep 600'
    with subprocess.Popen(['unshare', '-pf', '--kill-child', 'sh', '-c', script, where], stdout=subprocess.PIPE, env=on) as process:
        expect(process.stdout.readline() == b'1\n', 'not the first in its container')
        (pid,) = children_of(process.pid)
        done = subprocess.run([bench.program, 'trigger', '--timeout', '5', str(process.pid)], capture_output=True, check=False, timeout=60)
        with contextlib.suppress(PermissionError):
            other = subprocess.run([bench.program, 'trigger', str(pid)], capture_output=True, check=False, timeout=60, user=65534)
            expect(other.returncode == 1 and b'it is another user\'s, or protected' in other.stderr, other)
        process.kill()
    expect(done.returncode == 0 and done.stderr.decode() == f'warpscope: process {pid}: {where}/dump_1 (2 bytes)\n', done)
    return None


def trigger_takes_numbers_of_processes(bench):
    for words, said in (((), 'which processes?'), (('0',), "'0' is not the number"), (('x',), "'x' is not"), (('2147483648',), 'is not the number'),
                        ((str(os.getpid()), '-1'), '-1')):
        done = subprocess.run([bench.program, 'trigger', *words], capture_output=True, check=False, timeout=60)
        expect(done.returncode == 2 and said in done.stderr.decode(), (words, done))
    done = subprocess.run([bench.program, 'trigger', '2147483647', '2147483646'], capture_output=True, check=False, timeout=60)
    expect(done.returncode == 1 and done.stderr.decode() == ''.join(f'warpscope: process {pid}: no dump: there is no such process\n'
                                                                   for pid in (2147483647, 2147483646)), done)


def trigger_writes_one_byte(bench):
    """More may be taken for a second request, so it comes only where nobody took the first, or nothing came of it, for seconds."""
    where, gate = (os.path.join(bench.folder, name) for name in ('byte', 'byte-gate'))
    os.mkdir(where)
    on = {**bench.plain, 'CUDA_ENABLE_COREDUMP_ON_EXCEPTION': '1', 'CUDA_ENABLE_USER_TRIGGERED_COREDUMP': '1',
          'CUDA_COREDUMP_PIPE': where + '/pipe_%p', 'CUDA_COREDUMP_FILE': where + '/dump_%p'}
    with subprocess.Popen([*bench.double, 'counts', gate], stdout=subprocess.PIPE, env=on) as process:
        expect(process.stdout.readline() == b'waits\n', 'it does not wait')
        begin = time.monotonic()
        done = subprocess.run([bench.program, 'trigger', str(process.pid)], capture_output=True, check=False, timeout=60)
        seconds = time.monotonic() - begin
        with open(gate, 'wb'):
            pass
        came = int(process.stdout.readline())
    expect(done.returncode == 0 and (came == 1 or seconds > 2), (done, came, seconds))  # a machine may be so busy


if __name__ == '__main__':
    sys.exit(main([
        a_hang_makes_dumps_of_all, nobody_is_asked_after_the_end, output_is_no_hang, output_of_another_rank_is_no_hang,
        trigger_asks_and_explains, trigger_says_what_became_of_a_request, trigger_looks_into_containers,
        trigger_takes_numbers_of_processes, trigger_writes_one_byte]))
