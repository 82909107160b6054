#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A page on a terminal goes through the user's pager, which is none of the sandbox's business; elsewhere there is none. Prints TAP.

usage: test_pager.py PROGRAM SOURCE_ROOT
"""
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time

from tap import tell

PROGRAM, ROOT = map(os.path.abspath, sys.argv[1:3])
DUMP = os.path.join(ROOT, 'examples/dumps/illegal-address.nvcudmp')
KEEP = 'cat >kept; echo of the pager'


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if k not in ('PAGER', 'WARPSCOPE_PAGER', 'LESS', 'NO_COLOR')}
    return {**kept, 'TERM': 'xterm', 'COLUMNS': '80', **more}


class Terminal:
    def __init__(self, folder, words, **env):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen([PROGRAM, *words], cwd=folder, stdin=slave, stdout=slave, stderr=slave, env=environment(**env),
                                        start_new_session=True)
        os.close(slave)

    def read(self):
        """All that is shown, and the exit status."""
        shown = b''
        while True:
            try:
                part = os.read(self.master, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part
        os.close(self.master)
        return shown.decode(errors='replace').replace('\r\n', '\n'), self.process.wait(timeout=60)


def on_terminal(folder, *words, **env):
    return Terminal(folder, words, **env).read()


def kept(folder):
    path = os.path.join(folder, 'kept')
    if not os.path.exists(path):
        return None
    with open(path, encoding='utf-8') as file:
        text = file.read()
    os.remove(path)
    return text


def others(folder):
    shown, status = on_terminal(folder, DUMP, PAGER=KEEP)
    yield 'PAGER', 'of the pager' in shown and kept(folder), shown
    for name, words, env in (('--no-pager', ('--no-pager', DUMP), {}), ('no name', (DUMP,), {'WARPSCOPE_PAGER': ''}),
                             ('cat', (DUMP,), {'WARPSCOPE_PAGER': 'cat'}), ('a terminal that can do nothing', (DUMP,), {'TERM': 'dumb'})):
        shown, status = on_terminal(folder, *words, **{'PAGER': KEEP, **env})
        yield f'{name}: no pager', 'Illegal memory access' in shown and kept(folder) is None and status == 0, shown
    shown, status = on_terminal(folder, DUMP, WARPSCOPE_PAGER='no-such-pager -x')
    yield 'a pager that is not there is named, and the page shown', "there is no pager 'no-such-pager -x', which WARPSCOPE_PAGER names" in shown and \
        'Illegal memory access' in shown and status == 0, shown
    for words in (('symbolize', DUMP, '0x7f2b4c0009f0'), ('strip', DUMP, '-o', 'small'), ('env',), ('--version',), ('help',)):
        on_terminal(folder, *words, PAGER=KEEP)
        yield f'{words[0]} has none', kept(folder) is None, ''
    done = subprocess.run([PROGRAM, DUMP], cwd=folder, env=environment(PAGER=KEEP), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    with open(os.path.join(folder, 'page'), 'w', encoding='utf-8') as file:
        subprocess.run([PROGRAM, DUMP], cwd=folder, env=environment(PAGER=KEEP), stdout=file, check=False)
    yield 'a pipe and a file have none', 'Illegal memory access' in done.stdout and kept(folder) is None, done.stdout


def ends(folder):
    terminal = Terminal(folder, (DUMP,), WARPSCOPE_PAGER='cat >/dev/null; echo wait; read line <&2; echo left')
    shown = b''
    while b'wait' not in shown:
        shown += os.read(terminal.master, 100)
    os.kill(terminal.process.pid, signal.SIGINT)
    time.sleep(0.3)
    still = terminal.process.poll() is None
    os.write(terminal.master, b'\n')
    rest, status = terminal.read()
    yield 'Ctrl-C leaves the terminal to the pager until that ends', still and 'left' in rest and status == -signal.SIGINT, f'{still} {rest} {status}'
    shown, status = on_terminal(folder, 'info', DUMP, 'lanes', 'sm', 'any', 'warp', 'any', WARPSCOPE_PAGER='head -n 1; echo enough')
    yield 'a pager that is left early ends it', 'enough' in shown and status in (0, -signal.SIGPIPE), f'{shown} {status}'


def cases():
    with tempfile.TemporaryDirectory() as folder:
        whole, _ = on_terminal(folder, '--no-pager', DUMP)
        shown, status = on_terminal(folder, 'report', '--exit-code', DUMP, WARPSCOPE_PAGER=KEEP, PAGER='false')
        page = kept(folder)
        yield 'it gets the page as the terminal would', page == whole and '\x1b[' in page, f'{page}\n{whole}'
        yield 'the exit status is that of the verb', shown == 'of the pager\n' and status == 10, f'{shown} {status}'
        shown, _ = on_terminal(folder, DUMP, WARPSCOPE_PAGER='cat >kept; grep -h ^Seccomp: /proc/$PPID/status /proc/$$/status; echo "$LESS $LV"')
        where = subprocess.run([PROGRAM, '--version'], capture_output=True, text=True, check=False).stdout
        wanted = '2' if 'seccomp' in where else '0'
        yield 'the program is in its sandbox, and the pager is not', re.findall(r'Seccomp:\t(\d)', shown) == [wanted, '0'] and shown.endswith('FRX -c\n'), shown
        kept(folder)
        with open(DUMP, 'rb') as file, open(os.path.join(folder, 'cut'), 'wb') as cut:
            cut.write(file.read()[:20000])
        shown, _ = on_terminal(folder, 'cut', WARPSCOPE_PAGER='cat; sleep 0.3; echo end')
        after = shown.rpartition('\nend\n')[2]
        yield 'warnings come when it has ended', 'warpscope: cut: ' in after and 'warpscope: cut: ' not in shown[:-len(after)], shown
        yield from others(folder)
        yield from ends(folder)


if __name__ == '__main__':
    sys.exit(tell(cases()))
