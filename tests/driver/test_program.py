#!/usr/bin/env python3
"""A program of the driver API on the software GPU, as its user sees it: what kernels print, faults and their dumps, what is missing,
and that neither the program nor its agent outlives the other. Prints TAP.

usage: test_program.py WARPSCOPE PROGRAM LATE FATBIN KILLS     LATE: late.c; KILLS: times that each of the two is killed at a random moment
"""
import os
import random
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
import uuid

from processes import PATIENCE, agents, waits, within

WARPSCOPE, PROGRAM, LATE, FATBIN = map(os.path.abspath, sys.argv[1:5])
KILLS = int(sys.argv[5])
ABORTED = 'ready\nwaits\n'  # what a program said that was aborted
results = []


def check(what, ok, story=''):
    results.append(ok)
    print(f'{"ok" if ok else "not ok"} {len(results)} - {what}')
    if not ok and story:
        print(''.join(f'# {line}\n' for line in str(story).splitlines()[:20]), end='')


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(('CUDA_', 'WARPSCOPE_'))}
    return {**kept, **more}


def run(mode, cwd=None, **env):
    return subprocess.run([PROGRAM, FATBIN, mode], cwd=cwd, env=environment(**env), capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_words():
    said = run('say')
    check('what a kernel prints comes where the program prints', said.stdout.splitlines() in (
        ['ready', 'before', 'block 0 of 2'] + ['block 0 of 2'] * 31 + ['block 1 of 2'] * 32 + ['after'],), said.stdout + said.stderr)
    said = run('missing')
    check('what is missing answers so', said.stdout == 'ready\ncuCtxAttach: CUDA_ERROR_NOT_SUPPORTED\nwaits\nafter\n', said.stdout)
    check('... and is told once, at the end', said.stderr == 'warpscope: software GPU: not supported: cuCtxAttach\n', said.stderr)
    said = run('say', WARPSCOPE_SOFTWARE_GPU='sm_80')
    check('another device', said.returncode == 0 and said.stdout.count('block') == 64, said.stdout + said.stderr)
    small = subprocess.run([PROGRAM, FATBIN, 'say'], env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16)))
    check('a limit on the size of files', small.returncode == 0 and small.stdout.count('block') == 64, f'{small.returncode}\n{small.stdout}{small.stderr}')
    said = run('say', WARPSCOPE_SOFTWARE_GPU='sm_75')
    check('an image that does not fit', said.stdout == 'cuModuleLoad: CUDA_ERROR_NO_BINARY_FOR_GPU\n', said.stdout + said.stderr)
    said = run('say', WARPSCOPE_SOFTWARE_GPU='sm_1')
    check('a device that does not exist', said.returncode == 2 and "no device 'sm_1'" in said.stderr, said.stdout + said.stderr)


def test_faults(folder):
    said = run('fault', folder)
    check('a fault is an error of the next call', said.stdout == 'ready\nwaits\ncuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS\nafter\n',
          said.stdout + said.stderr)
    check('... without a dump where none was asked for', os.listdir(folder) == [], os.listdir(folder))
    wanted = {'CUDA_ENABLE_COREDUMP_ON_EXCEPTION': '1', 'CUDA_COREDUMP_FILE': 'core.%p'}
    child = subprocess.Popen([PROGRAM, FATBIN, 'fault'], cwd=folder, env=environment(**wanted), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    out, err = child.communicate(timeout=PATIENCE)
    check('with a dump the program is aborted', child.returncode == -signal.SIGABRT and out == ABORTED, out + err)
    check('the dump has the name of the program\'s process', os.listdir(folder) == [f'core.{child.pid}'], os.listdir(folder))
    page = subprocess.run([WARPSCOPE, os.path.join(folder, f'core.{child.pid}')], capture_output=True, text=True, check=False).stdout
    check('... and says what happened', 'driver.cu:30' in page and 'store' in page and 'llegal' in page, page)
    said = run('fault', folder, **wanted, CUDA_COREDUMP_GENERATION_FLAGS='skip_abort,skip_global_memory')
    check('unless that is not wanted', said.returncode == 1 and 'CUDA_ERROR_ILLEGAL_ADDRESS' in said.stdout, said.stdout + said.stderr)
    said = run('fault', folder, CUDA_ENABLE_COREDUMP_ON_EXCEPTION='1', CUDA_COREDUMP_FILE='no/such/folder')
    check('a dump that cannot be written is told, and nothing is aborted', said.returncode == 1 and 'no/such/folder' in said.stderr,
          said.stdout + said.stderr)


def started(mode, folder, **env):
    """A program that has come to where it waits."""
    child = subprocess.Popen([PROGRAM, FATBIN, mode], cwd=folder, env=environment(**env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = [child.stdout.readline(), child.stdout.readline()]
    return child, said == ['ready\n', 'waits\n']


def test_requests(folder):
    """Dumps of a program that hangs, when somebody writes to its pipe."""
    on = {'CUDA_ENABLE_USER_TRIGGERED_COREDUMP': '1', 'CUDA_COREDUMP_FILE': 'core.%p', 'CUDA_COREDUMP_PIPE': 'pipe.%p'}
    child, waits = started('wait', folder, **on, CUDA_COREDUMP_SHOW_PROGRESS='1')
    pipe = os.path.join(folder, f'pipe.{child.pid}')
    check('a program that may be dumped has a pipe, for its user alone', waits and stat.S_IMODE(os.stat(pipe).st_mode) == 0o600, os.listdir(folder))
    with open(pipe, 'wb', buffering=0) as to:
        to.write(b'x')
    _, err = child.communicate(timeout=PATIENCE)
    check('what is written there makes a dump, and ends it', child.returncode == -signal.SIGABRT and f'core.{child.pid}' in os.listdir(folder), err)
    check('... and progress is told', re.search(r'\[\d\d:\d\d:\d\d\.\d{6}\] coredump: Writing ELF file to core\.\d+\n', err) and 'coredump: All done' in err, err)
    child, waits = started('wait', folder, **on, CUDA_COREDUMP_GENERATION_FLAGS='skip_abort')
    path = os.path.join(folder, f'core.{child.pid}')
    page = ''
    end = time.monotonic() + PATIENCE
    while 'Hang suspected' not in page and time.monotonic() < end:  # the launch may not have begun
        with open(os.path.join(folder, f'pipe.{child.pid}'), 'wb', buffering=0) as to:
            to.write(b'0' * (1 << 20))  # one request, for readers that wait for a full buffer
        made = appears(path)
        page = subprocess.run([WARPSCOPE, path], capture_output=True, text=True, check=False).stdout
        if made:
            os.remove(path)
    check('a program that is not to be aborted goes on, and may be dumped again', waits and child.poll() is None, os.listdir(folder))
    check('... and where its threads are is told', 'driver.cu:35' in page, page)
    time.sleep(0.2)
    check('... and one request makes one dump', not os.path.exists(path), os.listdir(folder))
    child.kill()
    child.communicate()
    child, waits = started('ask-wait', folder)
    with open(os.path.join(folder, f'pipe.{child.pid}'), 'wb', buffering=0) as to:
        to.write(b'x')
    out, _ = child.communicate(timeout=PATIENCE)
    told = 'a dump begins, of device 0; it is not there; of this process\na dump is made, of device 0; it is there; of this process\n'
    check('the program itself may ask for that', child.returncode == -signal.SIGABRT and f'api.{child.pid}' in os.listdir(folder), os.listdir(folder))
    check('... and is told when it begins and when it is made', out == told, out)
    child = subprocess.Popen([PROGRAM, FATBIN, 'ask-fault'], cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    out = child.communicate(timeout=PATIENCE)[0].replace(ABORTED, '')
    check('... and for dumps of faults', child.returncode == -signal.SIGABRT and f'api.{child.pid}' in os.listdir(folder), os.listdir(folder))
    check('... of which it is told, too', out == told, out)
    said = run('ask-fault', folder, CUDA_COREDUMP_FILE='first.%p', CUDA_ENABLE_LIGHTWEIGHT_COREDUMP='1', CUDA_COREDUMP_GENERATION_FLAGS='skip_all')
    check('... but not against the environment', said.stdout == 'ready\nfile: CUDA_ERROR_NOT_PERMITTED\n' and said.returncode == 1, said.stdout)
    check('variables without effect are told', 'CUDA_ENABLE_LIGHTWEIGHT_COREDUMP has no effect' in said.stderr and 'not known' in said.stderr, said.stderr)


def appears(path):
    end = time.monotonic() + PATIENCE
    while not os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.02)
    return os.path.exists(path)


def test_hang(folder):
    """exec asks a program that says nothing any more."""
    for seconds in '1', '5', '30':  # the program may not come to its hang in a second
        words = [WARPSCOPE, 'exec', '--software-gpu', '--on-hang', seconds, '--dumps', 'dumps', '--job', seconds, '--', PROGRAM, FATBIN, 'wait']
        said = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False)
        explained = said.returncode == -signal.SIGABRT and 'driver.cu:35' in said.stderr
        if explained:
            break
    check('exec: a hang on the software GPU is dumped, and explained', explained, f'{said.returncode}\n{said.stdout}{said.stderr}')


def test_exec(folder):
    words = [WARPSCOPE, 'exec', '--software-gpu', '--arch', 'sm_80', '--dumps', 'dumps', '--job', 'one', '--', PROGRAM, FATBIN, 'fault']
    said = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False)
    check('exec: a fault on the software GPU ends the program, and is explained',
          said.returncode == -signal.SIGABRT and said.stdout == ABORTED and 'driver.cu:30' in said.stderr and 'sm_80' in said.stderr,
          said.stdout + said.stderr)
    left = os.listdir(os.path.join(folder, 'dumps', 'one'))
    check('... and leaves one dump', len([name for name in left if name.endswith('.nvcudmp')]) == 1, left)
    words = [WARPSCOPE, 'exec', '--software-gpu', '--arch', '90', '--dumps', 'dumps', '--', LATE, 'close']
    said = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False)
    check('exec: a program that closes the driver does not take the code of its threads away',
          (said.returncode, said.stdout) == (0, 'up\n0\n'), said)


def killed(who, mode, after):
    """Kills the program or its agent some time after it began. What went wrong, or None."""
    mark = uuid.uuid4().hex
    child = subprocess.Popen([PROGRAM, FATBIN, mode], env=environment(WARPSCOPE_TEST=mark), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    time.sleep(after)
    for pid in [child.pid] if who == 'program' else agents(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if who == 'agent':
        end = time.monotonic() + PATIENCE  # it may not have been there yet
        while child.poll() is None and time.monotonic() < end:
            for pid in agents(mark):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)
    hangs = not within(PATIENCE, lambda: child.poll() is not None)
    if hangs:
        child.kill()
        child.wait()
        return f'the program hung; {who} killed after {after:.3f} s in {mode}'
    return None if within(PATIENCE, lambda: not agents(mark)) else f'an agent was left; {who} killed after {after:.3f} s in {mode}'


def test_kills():
    source = random.Random(7)
    for who in ('program', 'agent'):
        bad = [killed(who, source.choice(['wait', 'many']), source.uniform(0, 0.2)) for _ in range(KILLS)]
        bad = [story for story in bad if story]
        check(f'the {who} is killed {KILLS} times: nothing is left, nothing hangs', not bad, '\n'.join(bad))


def main():
    test_words()
    with tempfile.TemporaryDirectory() as folder:
        test_faults(folder)
    with tempfile.TemporaryDirectory() as folder:
        test_requests(folder)
    with tempfile.TemporaryDirectory() as folder:
        test_exec(folder)
    with tempfile.TemporaryDirectory() as folder:
        test_hang(folder)
    test_kills()
    print(f'# the longest wait took {max(waits):.1f} s')
    print(f'1..{len(results)}')
    return 0 if all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
