#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays a program that uses CUDA, as far as dumps are concerned: it reads CUDA's variables, writes dumps where they say, and waits at
their pipe.

usage: program.py WHAT [WORD...]

  say STATUS WORD...   prints the words, each in its line, and ends with the status
  fault [SECONDS]      writes a dump, slowly if it is to take so long, and aborts
  faults N             the same when exec has recorded it; aborts when N whole dumps lie there, as launchers end the others at the first
  leave FILE           a child writes a dump, and its end only when FILE is there; the program ends when it has begun, with status 3
  serve N KIND         N workers, by the title of each, which fault when exec has recorded them, or wait at the pipe; ends with status 4
  wait [FULL]          waits at the pipe, dumps when something is written there, FULL: only for a full buffer; then sleeps
  counts FILE          waits at the pipe, dumps at the first byte, and prints how many bytes came until FILE was there
  asked FILE FILE      a child has a pipe, which it does not read, and a dump, which it ends when the second FILE is there; the program ends
                       when the first is there, with status 3
  signals N            prints the names of N signals that come, and ends with status 5
  count                prints how often SIGINT came until its input had a line, and half a second later
  stubborn             ignores what asks it to end; has a child in a session of its own, and a grandchild without a parent
  becomes N WORD...    when exec has N lines of it, becomes itself again with NAME=VALUE of the first word in its environment, TITLE
                       as its name, and the other words; without one it ends a second later
  orphans N            leaves N children without a parent, which end, and ends with status 6
"""
import glob
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

DUMPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../examples/dumps')


def expand(pattern):
    words = {'h': socket.gethostname(), 'p': str(os.getpid()), 't': str(int(time.time())), '%': '%'}
    return re.sub('%(.)', lambda m: words.get(m.group(1), m.group()), pattern)


def until(happened):
    """Not for a time that is mostly enough: the machine may be busy."""
    while not happened():
        time.sleep(0.05)


def dump(name='illegal-address', seconds=0.0, gate=None):
    """As the driver: nothing without its variable."""
    if os.environ.get('CUDA_ENABLE_COREDUMP_ON_EXCEPTION') != '1':
        return
    with open(os.path.join(DUMPS, name + '.nvcudmp'), 'rb') as file:
        data = file.read()
    with open(expand(os.environ.get('CUDA_COREDUMP_FILE', 'core_%t_%h_%p.nvcudmp')), 'wb', buffering=0) as file:
        for i in range(10):
            file.write(data[len(data) * i // 10:len(data) * (i + 1) // 10])
            time.sleep(seconds / 10)
            if gate and i == 8:
                until(lambda: os.path.exists(gate))


def beside(pattern):
    return glob.glob(os.path.join(glob.escape(os.path.dirname(os.environ['CUDA_COREDUMP_FILE'])), pattern))


def is_recorded():
    """Whether exec has a line for this process, and by the title that it has now."""
    for path in beside('exec_*.jsonl'):
        with open(path, 'rb') as file:
            lines = [json.loads(line) for line in file if line.endswith(b'\n')]
        if any(line['pid'] == os.getpid() and line['title'] == os.path.basename(sys.orig_argv[0].split(' ')[0]) for line in lines):
            return True
    return False


def whole_dumps():
    return [path for path in beside('core_*') if os.path.getsize(path) == os.path.getsize(os.path.join(DUMPS, 'illegal-address.nvcudmp'))]


def pipe_make():
    path = expand(os.environ.get('CUDA_COREDUMP_PIPE', 'corepipe.cuda.%h.%p'))
    os.mkfifo(path, 0o600)
    return os.open(path, os.O_RDWR)  # so that there is always a reader, and never an end


def wait_at_pipe(full=False):
    if os.environ.get('CUDA_ENABLE_USER_TRIGGERED_COREDUMP') == '1':
        fd = pipe_make()
        have = 0
        if not sys.orig_argv[0].startswith('VLLM'):  # else the parent says it of all
            print('waits', flush=True)
        while have < (4096 if full else 1):
            have += len(os.read(fd, 4096))
        dump('hang', seconds=1)
    time.sleep(600)


def counts(gate):
    fd = pipe_make()
    print('waits', flush=True)
    time.sleep(0.5)  # as a process that has other things to do
    have = len(os.read(fd, 1 << 16))
    dump('hang')
    until(lambda: os.path.exists(gate))
    os.set_blocking(fd, False)
    try:
        while True:
            have += len(os.read(fd, 1 << 16))
    except BlockingIOError:
        print(have, flush=True)


def asked(gate, later):
    if os.fork() == 0:
        pipe_make()
        dump(gate=later)
        os._exit(0)
    until(lambda: beside('core_*') and beside('pipe_*'))
    print('waits', flush=True)
    until(lambda: os.path.exists(gate))
    sys.exit(3)


def serve(n, kind):
    script = os.path.abspath(__file__)
    what = {'fault': ['faults', '1'], 'wait': ['wait']}[kind]
    more = f' --api-key {os.environ["API_KEY"]}' if 'API_KEY' in os.environ else ''  # as some titles have
    children = [subprocess.Popen([f'VLLM::Worker_TP{i}{more}', script, *what], executable=sys.executable) for i in range(n)]
    while kind == 'wait' and len(beside('pipe_*')) < n:
        print('.', end='', flush=True)  # or this silence would be a hang
        time.sleep(0.05)
    print('up', flush=True)
    for child in children:
        child.wait()
    sys.exit(4)


def signals(n):
    awaited = {signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP, signal.SIGWINCH}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    print('ready', flush=True)
    for _ in range(n):
        print(signal.Signals(signal.sigwait(awaited)).name, flush=True)
    sys.exit(5)


def count():
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.set_wakeup_fd(write)  # a byte for each, written as it comes
    print('ready', flush=True)
    sys.stdin.readline()
    time.sleep(0.5)  # one that should not come, and is late
    os.write(write, b'.')
    print(len(os.read(read, 100)) - 1, 'times', flush=True)


def stubborn():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        time.sleep(600)
    if os.fork() == 0:
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
    print('ready', flush=True)
    time.sleep(600)


def lines_of_this():
    """How many lines of the record are of this process."""
    return sum(json.loads(line)['pid'] == os.getpid() for path in beside('exec_*.jsonl')
               for line in open(path, 'rb') if line.endswith(b'\n'))


def becomes(words, n=1):
    until(lambda: lines_of_this() >= n)
    if not words:
        time.sleep(1)
        print('ended', flush=True)
        return
    name, value = words[0].split('=')
    title = value if name == 'TITLE' else sys.orig_argv[0]
    os.execve(sys.executable, [title, __file__, 'becomes', str(n + 1), *words[1:]], {**os.environ, name: value})


def main():
    what, words = sys.argv[1], sys.argv[2:]
    if what == 'say':
        print('\n'.join(words[1:]))
        sys.exit(int(words[0]))
    if what == 'fault':
        dump(seconds=float(words[0]) if words else 0)
        os.abort()
    if what == 'faults':
        until(is_recorded)
        dump()
        until(lambda: len(whole_dumps()) >= int(words[0]))
        os.abort()
    if what == 'leave':
        if os.fork() == 0:
            dump(gate=words[0])
            os._exit(0)
        until(lambda: beside('core_*'))
        sys.exit(3)
    if what == 'serve':
        serve(int(words[0]), words[1])
    if what == 'wait':
        wait_at_pipe(bool(words))
    if what == 'counts':
        counts(words[0])
    if what == 'asked':
        asked(*words)
    if what == 'becomes':
        becomes(words[1:], int(words[0]))
    if what == 'signals':
        signals(int(words[0]))
    if what == 'count':
        count()
    if what == 'stubborn':
        stubborn()
    if what == 'orphans':
        for _ in range(int(words[0])):
            if os.fork() == 0:
                if os.fork() == 0:
                    time.sleep(0.2)
                os._exit(0)
        time.sleep(0.6)
        sys.exit(6)


main()
