#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays a program that uses CUDA, as far as dumps are concerned: it reads CUDA's variables, writes dumps where they say, and waits at
their pipe.

usage: program.py WHAT [WORD...]

  say STATUS WORD...   prints the words, each in its line, and ends with the status
  fault [SECONDS]      writes a dump, slowly if it is to take so long, and aborts
  faults N             the same when it is recorded; aborts when N dumps lie there, as launchers end the others at the first
  leave SECONDS        a child writes a dump that takes so long; the program ends at once, with status 3
  serve N KIND         N workers, by the title of each, which fault or wait at the pipe; ends with status 4
  wait [FULL]          waits at the pipe, dumps when something is written there, FULL: only for a full buffer; then sleeps
  signals N            prints the names of N signals that come, and ends with status 5
  count SECONDS        prints how often SIGINT came in that time
  stubborn             ignores what asks it to end; has a child in a session of its own, and a grandchild without a parent
  orphans N            leaves N children without a parent, which end, and ends with status 6
"""
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


def dump(name='illegal-address', seconds=0.0):
    """As the driver: nothing without its variable."""
    if os.environ.get('CUDA_ENABLE_COREDUMP_ON_EXCEPTION') != '1':
        return
    with open(os.path.join(DUMPS, name + '.nvcudmp'), 'rb') as file:
        data = file.read()
    with open(expand(os.environ.get('CUDA_COREDUMP_FILE', 'core_%t_%h_%p.nvcudmp')), 'wb', buffering=0) as file:
        for i in range(10):
            file.write(data[len(data) * i // 10:len(data) * (i + 1) // 10])
            time.sleep(seconds / 10)


def wait_at_pipe(full=False):
    path = expand(os.environ.get('CUDA_COREDUMP_PIPE', 'corepipe.cuda.%h.%p'))
    if os.environ.get('CUDA_ENABLE_USER_TRIGGERED_COREDUMP') == '1':
        os.mkfifo(path, 0o600)
        fd = os.open(path, os.O_RDWR)  # so that there is always a reader, and never an end
        have = 0
        if 'SERVE_SECONDS' not in os.environ:  # else the parent says it of all
            print('waits', flush=True)
        while have < (4096 if full else 1):
            have += len(os.read(fd, 4096))
        dump('hang')
    time.sleep(600)


def serve(n, kind):
    script = os.path.abspath(__file__)
    children = [subprocess.Popen([f'VLLM::Worker_TP{i}', script, kind], executable=sys.executable) for i in range(n)]
    pipes = os.path.dirname(os.environ.get('CUDA_COREDUMP_PIPE', ''))
    while kind == 'wait' and len([name for name in os.listdir(pipes) if name.startswith('pipe_')]) < n:
        time.sleep(0.05)
    print('up', flush=True)
    time.sleep(float(os.environ.get('SERVE_SECONDS', '0')))
    for child in children:
        child.wait()
    sys.exit(4)


def signals(n):
    caught = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP, signal.SIGWINCH):
        signal.signal(number, lambda number, frame: caught.append(number))
    print('ready', flush=True)
    said = 0
    while said < n:
        signal.pause() if len(caught) == said else None
        while said < len(caught):
            print(signal.Signals(caught[said]).name, flush=True)
            said += 1
    sys.exit(5)


def count(seconds):
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.set_wakeup_fd(write)  # a byte for each, written as it comes
    print('ready', flush=True)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.1)
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


def main():
    what, words = sys.argv[1], sys.argv[2:]
    if what == 'say':
        print('\n'.join(words[1:]))
        sys.exit(int(words[0]))
    if what == 'fault':
        time.sleep(float(os.environ.get('FAULT_AFTER', '0')))
        dump(seconds=float(words[0]) if words else 0)
        os.abort()
    if what == 'faults':
        time.sleep(1.2)
        dump()
        for _ in range(300):
            if len([n for n in os.listdir(os.path.dirname(os.environ['CUDA_COREDUMP_FILE'])) if n.startswith('core_')]) >= int(words[0]):
                break
            time.sleep(0.1)
        time.sleep(0.5)
        os.abort()
    if what == 'leave':
        if os.fork() == 0:
            dump(seconds=float(words[0]))
            os._exit(0)
        time.sleep(0.3)
        sys.exit(3)
    if what == 'serve':
        serve(int(words[0]), words[1])
    if what == 'wait':
        wait_at_pipe(bool(words))
    if what == 'signals':
        signals(int(words[0]))
    if what == 'count':
        count(float(words[0]))
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
