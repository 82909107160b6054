#!/usr/bin/env python3
"""`warpscope debug` of a program on the software GPU: started, attached to in each way, detached from, and killed at random
moments. Prints TAP.

usage: test_session.py WARPSCOPE PROGRAM FATBIN DRIVER LATE KILLS     KILLS: times that each of the three is killed
"""
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid

from processes import PATIENCE, agents, waits, within

WARPSCOPE, PROGRAM, FATBIN, DRIVER, LATE = map(os.path.abspath, sys.argv[1:6])
KILLS = int(sys.argv[6])
# A sanitizer looks for leaks by ptrace, which a program with a debugger has already.
TRACED = ['env', 'ASAN_OPTIONS=detect_leaks=0']
DRIVERS = os.path.dirname(DRIVER)
results = []


def check(what, ok, story=''):
    results.append(ok)
    print(f'{"ok" if ok else "not ok"} {len(results)} - {what}', flush=True)
    if not ok and story:
        print(''.join(f'# {line}\n' for line in str(story).splitlines()[:30]), end='')


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(('CUDA_', 'WARPSCOPE_'))}
    return {**kept, 'LD_LIBRARY_PATH': DRIVERS, **more}


def started(words, **env):
    """Words that are traced may be in front: the process is that of the program all the same."""
    return subprocess.Popen(words, env=environment(**env), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def program(mode, **env):
    """A program that has come to where its module is loaded."""
    child = started([*TRACED, PROGRAM, FATBIN, mode], **env)
    return child, child.stdout.readline() == 'ready\n'


def debug(*words, commands='', cwd=None, **env):
    said = subprocess.run([WARPSCOPE, 'debug', *words], input=commands, cwd=cwd, env=environment(**env), capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    return said.returncode, said.stdout + said.stderr


def goes_on(child):
    """Whether a program in mode `lines` still does what it is asked to."""
    try:
        child.stdin.write('once more\n')
        child.stdin.flush()
        return child.stdout.readline() == 'done\n'
    except BrokenPipeError:
        return False


def meeting_points(pid):
    with open('/proc/net/unix', encoding='ascii', errors='replace') as sockets:
        return [line for line in sockets if f'@warpscope-gpu/{pid}/' in line]


def test_start():
    status, said = debug('--software-gpu', '--', *TRACED, PROGRAM, FATBIN, 'missing', commands='continue\ncontinue\nprint $_exitcode\ncontinue\n')
    check('a program that ends', 'The program begins to use CUDA.' in said and 'CUDA API error: cuCtxAttach returned CUDA_ERROR_NOT_SUPPORTED' in said and
          'The program has exited with status 0.' in said and '$1 = 0' in said and 'run starts it again' in said and status == 0, said)
    status, said = debug('--software-gpu', '--', *TRACED, PROGRAM, FATBIN, 'many', commands='break store\nrun\nkill\nrun\ninfo breakpoints\n')
    check('... that is killed and started again', said.count('Breakpoint 1, ') == 2 and 'already hit 2 times' in said, said)
    status, said = debug('--software-gpu', '--', PROGRAM, FATBIN.replace('.O3.', '.G.'), 'many', commands='break store if i >= 0\nrun\nreverse-stepi\n')
    check('... one of -G, stopped behind the prologue', re.search(r'Breakpoint 1, store<<<.*> \(to=0x[0-9a-f]+, i=\d+\) at .*driver.cu:30', said), said)
    check('... which does not go back, as it shares memory with the device', 'Going back is not offered' in said, said)
    status, said = debug('--software-gpu', '--arch', 'sm_80', '--', *TRACED, PROGRAM, FATBIN, 'say', commands='start\ninfo cuda devices\ncontinue\n')
    check('... on another device, from the first instruction of a kernel', 'first instruction of a kernel' in said and 'sm_80' in said and
          said.count('block 1 of 2') == 32 and 'status 0' in said, said)
    with tempfile.TemporaryDirectory() as folder:
        status, said = debug('--software-gpu', '--', *TRACED, PROGRAM, FATBIN, 'fault', commands='run\nwhy\ngenerate-core-file it.nvcudmp\n', cwd=folder)
        page = subprocess.run([WARPSCOPE, 'it.nvcudmp'], cwd=folder, capture_output=True, text=True, timeout=60, check=False).stdout
    check('a dump at a fault has the memory, which the debugger cannot list', 'Write a dump here' in said and 'skip_' not in said and
          'outside the dump' in page and 'parameters 0: 8 bytes' in page and 'Take the next dump' not in page and
          'not recorded, written by warpscope' in page, said + page)
    status, said = debug('--software-gpu', '--', '/bin/true')
    check('one that does not use CUDA', status == 1 and 'exited with status 0' in said and 'has not begun to use CUDA' in said, said)
    status, said = debug('--software-gpu', '--', '/no/such/program')
    check('one that is not there', status == 1 and 'No such file' in said, said)
    status, said = debug('--software-gpu', '--', 'sh', '-c', 'ulimit -n 6; exec "$0" "$@"', *TRACED, PROGRAM, FATBIN, 'say')
    check('one whose driver cannot begin: the driver says why', status == 1 and 'CUDA internal error: CUDBG_ERROR_OS_RESOURCES (37)\n' in said and
          'the program has no device' in said, said)
    status, said = debug('--software-gpu', '--', 'sh', '-c', 'exec "$0" "$@"', *TRACED, PROGRAM, FATBIN, 'say', commands='break say\nrun\n')
    check('one that another becomes', 'Breakpoint 1, say' in said, said)
    status, said = debug('--software-gpu', '--', *TRACED, LATE, 'abort', commands='run\ncontinue\n')
    check('a signal stops it, and then ends it', 'The program received signal 6, Aborted.' in said and
          'The program was ended by signal 6, Aborted.' in said, said)


def test_attach():
    for way in ('descriptor', 'call', 'init'):
        child, ready = program('wait')
        child.stdout.readline()
        status, said = debug('--pid', str(child.pid), '--attach-by', way, commands='info cuda kernels\ndetach\n')
        check(f'attach by {way}: the kernel stands where it was', ready and status == 0 and 'driver.cu:35' in said and 'wait(arg0=' in said and 'Detached.' in said, said)
        status, said = debug('--pid', str(child.pid), '-batch')
        check('... and again, after it was detached from', status == 0 and 'driver.cu:35' in said and child.poll() is None, said)
        child.kill()
        child.communicate()
    child, ready = program('lines')
    status, said = debug('--pid', str(child.pid), '-batch')
    check('after a debugger that did nothing a program goes on', ready and status == 0 and goes_on(child), said)
    debugger = started([WARPSCOPE, 'debug', '--pid', str(child.pid)])
    debugger.stdin.write('break store\ncontinue\n')
    debugger.stdin.flush()
    said = [debugger.stdout.readline()]
    child.stdin.write('a line\n')
    child.stdin.flush()
    while said[-1] and 'Breakpoint 1, ' not in said[-1]:
        said.append(debugger.stdout.readline())
    rest, err = debugger.communicate('info cuda kernels\ndetach\n', timeout=PATIENCE)
    check('detached from while it stands at a breakpoint, it goes on', 'store(arg0=' in rest and child.stdout.readline() == 'done\n' and goes_on(child),
          ''.join(said) + rest + err)
    killed, _ = program('wait')
    killed.stdout.readline()
    debugger = started([WARPSCOPE, 'debug', '--pid', str(killed.pid)])
    debugger.stdin.write('info cuda kernels\n')
    debugger.stdin.flush()
    said = debugger.stdout.readline()
    killed.kill()
    rest, err = debugger.communicate('detach\n', timeout=PATIENCE)
    check('of one that was killed before it is detached from it is told how it ended', 'ended by signal 9' in rest and 'Detached.' not in rest, said + rest + err)
    killed.communicate(timeout=PATIENCE)
    other = started([WARPSCOPE, 'debug', '--pid', str(child.pid)])
    other.stdin.write('info cuda devices\n')
    other.stdin.flush()
    other.stdout.readline()
    status, said = debug('--pid', str(child.pid), '-batch')
    check('a second debugger is told so', status == 1 and ('permitted' in said or 'debugger' in said), said)
    other.communicate('', timeout=PATIENCE)
    check('... and does no harm', goes_on(child))
    child.communicate('', timeout=PATIENCE)


def test_early():
    """Attached to before there is a driver, before it has begun, or before it has a context."""
    for mode, what, words in (('late', 'no driver', 'has not loaded the CUDA driver yet'),
                              ('soon', 'a driver that has not begun', 'has not begun to use CUDA yet')):
        child = started([*TRACED, LATE, mode])
        child.stdout.readline()
        debugger = started([WARPSCOPE, 'debug', '--pid', str(child.pid)])
        said = debugger.stdout.readline()
        child.stdin.write('\n')
        child.stdin.flush()
        said += debugger.stdout.readline()
        rest, err = debugger.communicate('info cuda devices\n', timeout=PATIENCE)
        check(f'attached to with {what}, it is stopped when that begins', words in said and 'begins to use CUDA' in said and 'sm_90' in rest, said + rest + err)
        check('... and goes on afterwards', child.stdout.readline() == '0\n')
        child.communicate('\n', timeout=PATIENCE)
    for way in ('descriptor', 'call', 'init'):
        child = started([*TRACED, PROGRAM, FATBIN, 'early'])
        early = child.stdout.readline()
        status, said = debug('--pid', str(child.pid), '--attach-by', way, '-batch')
        debugger = started([WARPSCOPE, 'debug', '--pid', str(child.pid), '--attach-by', way, '-ex', 'break store'])
        said += debugger.stdout.readline()
        child.stdin.write('has a context\nand launches\n')
        child.stdin.flush()
        rest, err = debugger.communicate('continue\ndetach\n', timeout=PATIENCE)
        check(f'attached to by {way} without a context, twice, it is stopped in its first kernel and goes on', status == 0 and early == 'waits\n' and
              'pending' in said and 'Breakpoint 1, store' in rest and child.stdout.readline() == 'ready\n' and child.stdout.readline() == 'done\n',
              said + rest + err)
        child.communicate('', timeout=PATIENCE)
    child = started(['cat'])
    debugger = started([WARPSCOPE, 'debug', '--pid', str(child.pid)])
    said = debugger.stdout.readline()
    child.communicate('', timeout=PATIENCE)
    rest, err = debugger.communicate('', timeout=PATIENCE)
    check('attached to, one that has nothing to do with CUDA ends as it would', debugger.returncode == 1 and
          'exited with status 0' in rest + err and child.returncode == 0, said + rest + err)


def killed(who, after, source):
    """Kills one of the three some time after a debugger began. What went wrong, or None."""
    mark = uuid.uuid4().hex
    attaches = source.random() < 0.5
    child = None
    if attaches:
        child, _ = program('many', WARPSCOPE_TEST=mark)
        words = ['--pid', str(child.pid)]
    else:
        words = ['--software-gpu', '--', *TRACED, PROGRAM, FATBIN, 'many']
    debugger = started([WARPSCOPE, 'debug', '-ex', 'break store if 0 == 1', '-ex', 'run', '-batch', *words], WARPSCOPE_TEST=mark)
    time.sleep(after)

    def others():
        return [int(pid) for pid in filter(str.isdigit, os.listdir('/proc')) if is_program(pid, mark)]
    seek = {'debugger': lambda: [debugger.pid], 'program': others, 'agent': lambda: agents(mark)}[who]
    victims = []

    def has_come():
        victims[:] = seek()  # once: a process within exec() has no environment for a moment
        return victims
    problem = None if within(PATIENCE, has_come) else 'it did not come'
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if who == 'debugger':
        debugger.wait()
        ends = time.monotonic() + 0.3
        while time.monotonic() < ends and attaches and not problem:
            problem = 'the program did not go on' if child.poll() is not None else None
            time.sleep(0.02)
    elif not within(PATIENCE, lambda: debugger.poll() is not None):
        problem = problem or 'the debugger hung'
        debugger.kill()
    if child:
        if who == 'agent' and not within(PATIENCE, lambda: child.poll() is not None):
            problem = problem or 'the program hung'
        child.kill()
        child.communicate()

    def none_is_left():
        for pid in others() if who == 'debugger' or problem else []:  # one that it had begun to start may come later
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return not agents(mark) and not others()
    if not within(PATIENCE, none_is_left):
        problem = problem or f'left: agents {agents(mark)}, programs {others()}'
        none_is_left()  # or the pipes stay open
    debugger.communicate()
    if meeting_points(debugger.pid):
        problem = problem or 'a socket was left'
    return f'{problem}; {who} killed after {after:.3f} s, {"attached" if attaches else "started"}' if problem else None


def is_program(pid, mark):
    try:
        with open(f'/proc/{pid}/comm', encoding='ascii', errors='replace') as name, open(f'/proc/{pid}/environ', 'rb') as env, \
             open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as stat:
            return name.read() == 'program\n' and mark.encode() in env.read() and ') Z ' not in stat.read()
    except OSError:
        return False


DIED = 'The process that has the software GPU has died: the device is lost, with all that was on it.\n'


def lost_agent(debugger, mark, until, commands):
    """Kills the agent when the debugger, or its program, has said something. What is said in all."""
    said = ''
    while until not in said and not said.endswith('\n\n'):
        said += debugger.stdout.readline() or '\n\n'
    for pid in agents(mark):
        os.kill(pid, signal.SIGKILL)
    rest, err = debugger.communicate(commands, timeout=PATIENCE)
    return said + rest + err


def stands(pid):
    with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as stat:
        return ') t ' in stat.read()


def test_loss():
    """The agent dies, and a debugger says so once, and nothing of the device that is no more."""
    def check_lost(what, said, wanted):
        missing = [words for words in wanted if words not in said]
        check(what, not missing and said.count(DIED) == 1 and 'COMMUNICATION_FAILURE' not in said and 'internal error' not in said, f'{missing}\n{said}')
    unavailable = 'returned CUDA_ERROR_DEVICE_UNAVAILABLE'
    for what, mode, first, until, commands, wanted in (
            ('stands', 'many', 'break store\nrun\n', 'Breakpoint 1, store', 'info cuda kernels\nbt\nset var $R4 = 7\ncontinue\ncontinue\n',
             ['\nThe device is lost.\n', 'There is no thread: the device is lost.', unavailable, 'exited with status 1.']),
            ('is to be stepped', 'many', 'break store\nrun\n', 'Breakpoint 1, store', 'stepi\ncontinue\nkill\nrun\n',
             [unavailable, 'begins to use CUDA.\n(warpscope) run\nready\n']),
            ('runs', 'wait', 'run\n', 'waits\n', 'info cuda kernels\ncontinue\ncontinue\n', ['The device is lost.\n', unavailable, 'exited with status 1.'])):
        mark = uuid.uuid4().hex
        debugger = started([WARPSCOPE, 'debug', '--software-gpu', '--', *TRACED, PROGRAM, FATBIN, mode], WARPSCOPE_TEST=mark)
        debugger.stdin.write(first)
        debugger.stdin.flush()
        check_lost(f'the agent dies while the device {what}', lost_agent(debugger, mark, until, commands), wanted)
    mark = uuid.uuid4().hex
    child, _ = program('lines', WARPSCOPE_TEST=mark)
    debugger = started([WARPSCOPE, 'debug', '--pid', str(child.pid), '-ex', 'info cuda devices'], WARPSCOPE_TEST=mark)
    said = debugger.stdout.readline() + debugger.stdout.readline()
    debugger.stdin.write('continue\n')
    debugger.stdin.flush()
    runs = within(PATIENCE, lambda: not stands(child.pid))
    said += lost_agent(debugger, mark, '', 'info cuda devices\ndetach\n')
    check_lost('... of a program that was attached to, and asks for nothing', said, ['sm_90', 'The device is lost.\n', 'Detached.'] if runs else ['it runs'])
    check('... which goes on, and is told', 'CUDA_ERROR_DEVICE_UNAVAILABLE' in child.communicate('a line\n', timeout=PATIENCE)[0] and child.returncode == 1)


def test_kills():
    source = random.Random(21)
    for who in ('program', 'agent', 'debugger'):
        # half of them while it is attached to, when threads are waited for one by one
        bad = [killed(who, source.choice([0.06, 0.4]) * source.random(), source) for _ in range(KILLS)]
        bad = [story for story in bad if story]
        check(f'the {who} is killed {KILLS} times: nothing is left, nothing hangs', not bad, '\n'.join(bad))


def main():
    test_start()
    test_attach()
    test_early()
    test_loss()
    test_kills()
    print(f'# the longest wait took {max(waits):.1f} s')
    print(f'1..{len(results)}')
    return 0 if all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
