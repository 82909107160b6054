#!/usr/bin/env python3
"""warpscope shell: sessions over dumps, scripts, and a terminal. Prints TAP.

usage: test_shell.py WARPSCOPE DUMPS [--update]

DUMPS is examples/dumps. Transcripts (tests/cli/shell/*.txt): sessions.py. With --update they are made anew from their commands:
read the difference.
"""
import fcntl
import glob
import json
import os
import pty
import re
import resource
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time

import sessions

import schemas

PROGRAM, DUMPS = (os.path.abspath(p) for p in sys.argv[1:3])
UPDATE = '--update' in sys.argv[3:]
DUMP = os.path.join(DUMPS, 'illegal-address.nvcudmp')


def run(*words):
    return subprocess.run([PROGRAM, *words], text=True, capture_output=True, timeout=60, check=False)


def batch(script, *words, files=()):
    """Standard output, standard error and exit status of a script, in a folder with more files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (('script', script), *files):
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write(text)
        done = subprocess.run([PROGRAM, 'shell', '--batch', '-x', 'script', *words, DUMP], cwd=folder, text=True, capture_output=True,
                              timeout=60, check=False)
    return done.stdout, done.stderr, done.returncode


def lines_of(script, **more):
    """What a script prints of its own, behind a line that it prints first."""
    out, err, status = batch('echo ----\\n\n' + script, **more)
    return (out.split('----\n', 1)[1] if status == 0 else f'exit status {status}') + err


# From where the command before it led: a command, and the thread to which cuda-gdb 12.4 goes (None: it stays); 'two-kernels', then 'shuffled'.
FOCUS = (
    ('device 0 sm 3 warp 1 lane 14', 'kernel 1, grid 2, block (2,0,0), thread (14,2,0), device 0, sm 3, warp 1, lane 14'),
    ('lane 1 kernel 0', 'kernel 0, grid 1, block (1,0,0), thread (33,0,0), device 0, sm 2, warp 1, lane 1'),
    ('device 0 sm 2 warp 3 lane 12', 'kernel 1, grid 2, block (1,0,0), thread (12,2,0), device 0, sm 2, warp 3, lane 12'),
    ('kernel 0 warp 1', 'kernel 0, grid 1, block (1,0,0), thread (44,0,0), device 0, sm 2, warp 1, lane 12'),
    ('block (0,0,0)', 'kernel 0, grid 1, block (0,0,0), thread (44,0,0), device 0, sm 0, warp 1, lane 12'),
    ('device 0', None), ('grid 1', None), ('warp 1', None),
    ('sm 2', 'kernel 0, grid 1, block (1,0,0), thread (44,0,0), device 0, sm 2, warp 1, lane 12'),
    ('kernel 1', 'kernel 1, grid 2, block (1,0,0), thread (15,0,0), device 0, sm 2, warp 2, lane 15'),
    ('sm 1', 'kernel 1, grid 2, block (0,0,0), thread (15,2,0), device 0, sm 1, warp 1, lane 15'),
    ('thread 3', 'kernel 1, grid 2, block (0,0,0), thread (3,2,0), device 0, sm 1, warp 1, lane 3'),
    ('thread 3,1', 'kernel 1, grid 2, block (0,0,0), thread (3,1,0), device 0, sm 1, warp 0, lane 19'),
    ('block 2 lane 4', 'kernel 1, grid 2, block (2,0,0), thread (4,0,0), device 0, sm 3, warp 0, lane 4'),
    ('sm 2 device 0', 'kernel 0, grid 1, block (1,0,0), thread (4,0,0), device 0, sm 2, warp 0, lane 4'),
    ('warp 9', None), ('sm 77', None), ('block 0 sm 2', None)), (
        ('device 1 sm 0 warp 2 lane 29', 'kernel 0, grid 2, block (4,0,0), thread (29,0,0), device 1, sm 0, warp 2, lane 29'),
        ('lane 11 thread 43', 'kernel 0, grid 2, block (4,0,0), thread (43,0,0), device 1, sm 0, warp 3, lane 11'))


def focus():
    """Words that several threads have name the one that cuda-gdb chooses, and kernels keep their numbers."""
    sys.path.insert(0, os.path.join(sessions.ROOT, 'tests/builders'))
    import build  # pylint: disable=import-outside-toplevel
    with tempfile.TemporaryDirectory() as folder:
        for name, asked in zip(('two-kernels', 'shuffled'), FOCUS):
            dump = os.path.join(folder, name)
            with open(dump, 'wb') as file:
                file.write(build.build(name)[0])
            said = run('shell', '--batch', *[word for words, _ in asked for word in ('-ex', 'echo >>>\\n', '-ex', 'cuda ' + words, '-ex', 'cuda kernel grid block thread device sm warp lane')], dump)
            now = None
            for answer, (words, want) in zip(said.stdout.split('>>>\n')[1:], asked):
                got = next(line for line in answer.split('\n') if line.startswith('kernel '))
                if got != (want or now) or ('Switching' in answer) != (want is not None):
                    return f'{words}: {got}, not {want or now}'
                now = got
            if said.stderr != 'Invalid coordinates requested. CUDA focus unchanged.\n' * sum(words in ('warp 9', 'sm 77', 'block 0 sm 2') for words, _ in asked):
                return said.stderr
    got = lines_of('cuda block x\n') + lines_of('cuda foo 3\n')
    words = 'is not a coordinate; there are kernel, grid, cluster, block, thread, device, sm, warp, lane.'
    return None if got == f"block (1,0,0)\n'x' {words}\n'foo' {words}\n" else got


def defined():
    """Commands of the user's own have arguments, and end when they call themselves."""
    script = 'define add\n  print $arg0 + $arg1\n  printf "%d of them\\n", $argc\nend\nadd 2 3\ndocument add\nadds\nend\nadd 1 1\n'
    got = lines_of(script)
    if got != '$1 = 5\n2 of them\n$2 = 2\n2 of them\n':
        return repr(got)
    got = lines_of('define again\necho .\nagain\nend\nagain')
    if got != '.' * 63 + 'Files and commands are nested more than 64 deep.\n':
        return repr(got)
    got = [lines_of(script) for script in ('define x\nend', 'define\nend', 'define grow\ngrow $arg0$arg0\nend\ngrow ' + 'a' * 1000)]
    want = ["'x' is a command of the program.\n", 'One name is expected: define NAME.\n', 'A line gets longer than 65536 bytes.\n']
    return None if got == want else repr(got)


WRONG = 'No symbol "nosuch" in current context: the code was not compiled with -G; registers are $R3.\n'


def failures():
    """A command that fails ends the lines that it is among, up to one that the user gave, as in gdb."""
    body = '  print nosuch\n  echo no\\n\nend\n'
    for script in ('while 1\n' + body, 'if 1\n' + body, f'define two\n{body}two\n', f'while 1\n if 1\n{body}end\n', 'while nosuch\nend\n',
                   'frame apply all -q print nosuch\n', 'faas print 1\nprint nosuch\n', 'define hook-pwd\nprint nosuch\nend\npwd\n', 'with listsize 3 -- print nosuch\n'):
        n = script.count('\n')
        out, err, status = batch(script + 'echo no\\n\n', '-ex', 'echo yes\\n')
        if (out.split('\n')[-2], out.count('no\n'), err, status) != ('yes', 0, f'{WRONG}script:{n}: the lines behind this one are left out.\n', 0):
            return f'a file: {script!r}: {out!r} {err!r} {status}'
        done = subprocess.run([PROGRAM, 'shell', DUMP], input=script + 'echo ye\\nes\\n\n', text=True, capture_output=True, timeout=60, check=False)
        if (done.stdout.count('\nno\n'), done.stdout.count('\nye\nes\n'), done.stderr) != (0, 1, WRONG):
            return f'standard input: {script!r}: {done}'
    got = lines_of('faas print nosuch\nframe apply all -q -c print nosuch\nhandle SIGUSR1 nostop\nset confirm off\ncd /\necho on\\n')
    return None if '\non\n' in got and 'left out' not in got else repr(got)


def streams():
    """Neither stream has more than the limit, unless a user is there to end it."""
    for script, stream in (('while 1\nprint 1\nend\n', 'stdout'), ('define again\ncd /\ncd /\nend\nwhile 1\nagain\nend\n', 'stderr')):
        done = subprocess.run([PROGRAM, 'shell', '--output-limit=100000', DUMP], input=script, text=True, capture_output=True, timeout=60, check=False)
        if len(getattr(done, stream)) > 101000 or done.returncode != 1 or '--output-limit none shows all' not in done.stderr:
            return f'{script!r}: {done.returncode}, {len(done.stdout)} and {len(done.stderr)} bytes, {done.stderr[-200:]!r}'
    return None


def costs():
    """No command takes longer because there are many commands, variables, displays or values, or because a line is long."""
    n = 20000
    each = range(1, n + 1)
    for script in ('print 1' + '+1' * 10 * n, ''.join(f'define c{i}\nend\n' for i in each) + ''.join(f'c{i}\n' for i in each), ''.join(f'alias c{i} = print\n' for i in each),
                   ''.join(f'define c{i}\nend\ndocument c{i}\nx\nend\n' for i in each), ''.join(f'set $v{i} = {i}\n' for i in each) + ''.join(f'output $v{i}\n' for i in each),
                   'display 1\n' * n + ''.join(f'undisplay {i}\n' for i in each), 'display 1\n' * n + 'undisplay ' + ' '.join(map(str, each)), 'output 1\n' * n):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([PROGRAM, 'shell', DUMP], input=script + '\n', text=True, capture_output=True, timeout=120, check=True)
        took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        if took > (6 if 'SANITIZED' in os.environ else 1.5):
            return f'{script[:30]!r}... took {took:.1f} s'
    return None


def printed():
    """echo and printf know C's escapes and formats, and show nothing else."""
    for command, want in (('printf "%d|%5d|%-5d|%05u\\n", 1, 2, 3, 4', '1|    2|3    |00004\n'), ('printf "%x %#lx %o\\n", 255, 255, 8', 'ff 0xff 10\n'),
                          ('printf "%.2f %g %e\\n", 1.0 / 3, 0.5, 2', '0.33 0.5 2.000000e+00\n'), ('printf "%c%c\\n", 65, 27', 'A\\x1b\n'),
                          ('printf "100%%\\n"', '100%\n'), ('printf "%d %d\\n", (1 + 2) * 3, 4', '9 4\n'),
                          ('printf "%s\\n", 1', 'the value is not a string.\n'), ('printf "%s\\n", (int *)0', 'the value is not a string.\n'), ('printf "<%s> %d\\n", "a, b", 2', '<a, b> 2\n'), ('printf "%5s|%-5s|%.2s|%-4.1s|\\n", "abc", "abc", "abc", "abc"', '  abc|abc  |ab|a   |\n'), ('printf "%d\\n"', 'printf has too few expressions.\n'),
                          ('printf "%999999999d\\n", 1', "'%999999999d' is not a format for a number.\n"),
                          ('printf 1', 'printf "FORMAT", EXPRESSION... is expected.\n'), ('echo a\\tb\\101\\n', 'a\tbA\n'),
                          ('echo \\033[31m', '\\x1b[31m'), ('echo a\\', 'a'), ('printf "%d|", \\\n  5\necho a \\\n  b\\n', '5|a   b\n')):
        got = lines_of(command)
        if got != want:
            return f'{command}: {got!r} instead of {want!r}'
    return None


def settings():
    """What is set is shown and asked for, and what is not is told in one line; commands that are not here take their lines."""
    for command, want in (('set print elements 3\nshow print elements\nprint $_gdb_setting("print elements") + 1\nprint $_gdb_setting_str("print elements")',
                           'Limit on string chars or array elements to print is 3.\n$1 = 4\n$2 = "3"\n'),
                          ('set print repeats unlimited\nprint $_gdb_setting("print repeats")\nprint $_gdb_setting_str("print repeats")', '$1 = 0\n$2 = "unlimited"...\n'.replace('...', '')),
                          ('set print pretty\nprint $_gdb_setting("print pretty")\nset print pretty off\nprint $_gdb_setting("print pretty")', '$1 = 1\n$2 = 0\n'),
                          ('set listsize 4\nshow listsize', 'Number of source lines gdb will list by default is 4.\n'), ('set listsize x', 'A number or "unlimited" is expected.\n'),
                          ('show pagination\nset pagination off\nshow pagination\nset pagination x', 'State of pagination is on.\nState of pagination is off.\n"on" or "off" expected.\n'),
                          ('set height 0\nshow height\nset height 7\nshow height', 'Number of lines gdb thinks are in a page is unlimited.\nNumber of lines gdb thinks are in a page is 7.\n'),
                          ('set confirm on\nset width 0\nshow confirm', 'Settings like this one are accepted, and change nothing.\nWhether to confirm potentially dangerous operations is off.\n'),
                          ('show cuda api_failures\nshow cuda nothing', "api_failures is set to 'ignore'.\nThere is no setting 'cuda nothing' here; set accepts it, and nothing changes.\n"),
                          ('print $_gdb_setting("nothing")', 'there is no $_gdb_setting("nothing").\n'),
                          ('print $_gdb_setting("print")', 'there is no $_gdb_setting("print").\n'), ('print $_nothing("x")', 'there is no $_nothing("x").\n'),
                          ('if $_isvoid($x)\nset $x = 3\nend\nif $_isvoid($x)\necho no\nend\nshow convenience\nprint $x\nshow values', '$x = 3\n$1 = 3\n$1 = 3\n'),
                          ('define hello\necho hi\\n\nend\nshow user hello\nshow user gone', 'User command "hello":\n  echo hi\\n\n\n' + "There is no command 'gone' of your own.\n"),
                          ('set substitute-path /a /b\nshow substitute-path\ndirectory /c\nshow directories', "List of all source path substitution rules:\n  `/a' -> `/b'.\n" + 2 * 'Source directories searched: /c:$cdir:$cwd\n'),
                          ('shell echo x\n!echo x\npython\nif True:\n  print(1)\nend\npython print(1)\nlayout src\necho still here\\n', "'shell' would start a program, and this one starts none: use another terminal.\n"
                           "'!' would start a program, and this one starts none: use another terminal.\n" + 2 * "'python' is not here: scripts have define, if and while; for programs, verbs have --json.\n" +
                           "'layout' is not here: there are no windows.\nstill here\n"),
                          ('define mine\npython\nprint(1)\nend\necho after\\n\nend\nmine', "'python' is not here: scripts have define, if and while; for programs, verbs have --json.\nafter\n")):
        out = lines_of(command)
        if sorted(out.split('\n')) != sorted(want.split('\n')):  # two streams
            return f'{command!r}: {out!r} instead of {want!r}'
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([PROGRAM, 'shell', '--batch', '--ex', 'pwd', '--ex', 'cd /', '--ex', 'show version', DUMP], cwd=folder, text=True, capture_output=True, timeout=60, check=False)
    version = run('--version').stdout.split('\n')[0]
    if done.stdout.count(f'Working directory {os.path.realpath(folder)}.\n') != 2 or f'\n{version}\nLicense' not in done.stdout or 'stays in its folder' not in done.stderr:
        return str(done)
    alone = lines_of('set cuda coalescing off\ninfo cuda threads block 1\nset cuda coalescing on\ninfo cuda threads block 1').split('Kernel 0\n')[1:]
    lines = [len(re.findall(r'0x[0-9a-f]{16}', one)) for one in alone]
    return None if lines[0] == 64 and lines[1] < 10 else str(lines)


def files():
    """Scripts name other scripts, in the current folder; one that is missing ends the program."""
    got = lines_of('source other\n', files=[('other', 'print 7\nsource gone\n')])
    if got != '$1 = 7\ngone: No such file or directory\n':
        return repr(got)
    _, err, status = batch('', '-x', 'gone')
    if status != 1 or 'gone: No such file' not in err:
        return f'{status}, {err!r}'
    got = lines_of('source script\n')
    if 'nested more than 64 deep' not in got:
        return repr(got)
    got = subprocess.run([PROGRAM, 'shell', '-batch', '-ex', 'print 1', '--command=/dev/null', '--ex=print 2', DUMP], text=True,
                         capture_output=True, timeout=60, check=False).stdout
    return None if got.endswith('\n$1 = 1\n$2 = 2\n') else repr(got)


def terminal():
    """At a terminal lines are edited, completed and recalled, and output stops at each screen, within the sandbox."""
    child, fd = pty.fork()
    if child == 0:
        os.environ['TERM'] = 'xterm'
        os.execv(PROGRAM, [PROGRAM, 'shell', DUMP])

    def read(until):
        """What comes up to a text, and nothing more of it for a while."""
        out, end = b'', time.monotonic() + 30
        while time.monotonic() < end and until not in out:
            if select.select([fd], [], [], 0.1)[0]:
                try:
                    out += os.read(fd, 1 << 16)
                except OSError:
                    break
        return out

    first = read(b'(warpscope) ')
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 12, 0, 0, 0))
    more = b'without paging--'
    wrong = None
    for typed, want in ((b'print 6 * 7\n', b'\n$1 = 42\r\n'), (b'\x1b[A\x7f8\n', b'\n$2 = 48\r\n'), (b'info cuda kern\t\n', b'gather_rows<float, 4>'),
                        (b'complete disas gat\t\n', b'gather_rows'), (b'help\n', more), (b'\n', more), (b'q\n', b'\n'),
                        (b'help\n', more), (b'c\n', b'quit, q ')):
        time.sleep(0.3)  # the editor takes the terminal after it has shown its prompt
        os.write(fd, typed)
        got = read(want)
        if want not in got:
            wrong = wrong or f'{typed!r}: {got!r}'
        if want != more and b'(warpscope) ' not in got.split(want)[-1]:
            read(b'(warpscope) ')
    os.write(fd, b'quit\n')
    read(b'(until it ends)')
    _, status = os.waitpid(child, 0)
    os.close(fd)
    return wrong or (None if status == 0 and b'Illegal Address' in first else f'{status}, {first!r}')


QUESTIONS = [('info', 'line'), ('info', 'line', 'calls.cu:30'), ('info', 'line', 'fold'), ('info', 'line', '*0x7f2b4c000a60'), ('info', 'symbol', '0x7f2b4c000a60'),
             ('info', 'symbol', '$pc'), ('info', 'source'), ('info', 'scope', 'fold'), ('info', 'address', 'word'), ('info', 'functions'), ('info', 'functions', 's'),
             ('info', 'types', '^C'), ('info', 'variables'), ('info', 'sources'), ('list',), ('list', 'fold'), ('list', '10,12'), ('list', 'calls.cu:38'),
             ('ptype', 'Cursor'), ('ptype', 'word'), ('ptype', '*at'), ('info', 'line', 'nothing'), ('info', 'symbol', '0x10'), ('info', 'types', '['),
             ('list', 'nothing'), ('list', '99'), ('ptype', 'nothing'), ('info', 'address', 'nothing'), ('info', 'scope', 'nothing'), ('info', 'line', '*0x10')]


def verbs():
    """Commands of the prompt are verbs: the same words, and JSON that fits its schema; one that fails prints nothing as data."""
    dump = os.path.join(DUMPS, 'misaligned-G.nvcudmp')
    for verb, *rest in QUESTIONS:
        for found in ([], sessions.SOURCES) if verb == 'list' or rest == ['source'] else ([],):
            plain = run(verb, *found, dump, *rest)
            prompt = run('shell', *(found or sessions.SOURCES[:0]), '--batch', '--ex', 'echo ----\\n', '--ex', ' '.join([verb, *rest]), dump)
            want = prompt.stdout.split('----\n')[1].replace('directory DIR, or set substitute-path FROM TO', '--source-dir DIR, or --source-map FROM=TO')
            if (plain.stdout, plain.stderr) != (want, prompt.stderr):
                return f'{verb} {rest}: {plain.stdout!r} {plain.stderr!r}, at the prompt {want!r} {prompt.stderr!r}'
            data = run(verb, '--json', *found, dump, *rest)
            if data.returncode != plain.returncode or bool(data.stdout) != (data.returncode == 0) or data.returncode not in (0, 1):
                return f'{verb} {rest}: {data}'
            if data.returncode == 0 and (why := schemas.misfit(json.loads(data.stdout))):
                return f'{verb} {rest}: {why}'
    return None


def data():
    """The data of these verbs are those of the source, of the frame and the thread that are asked for."""
    dump = os.path.join(DUMPS, 'misaligned-G.nvcudmp')

    def ask(*words):
        return json.loads(run(*words, '--json').stdout)
    with open(os.path.join(sessions.ROOT, 'tests/kernels/calls.cu'), encoding='utf-8') as file:
        source = file.read().splitlines()
    listed = ask('list', *sessions.SOURCES, dump, 'fold')['list']
    if [(one['line'], one['text']) for one in listed['lines']] != list(enumerate(source, 1))[20:30] or listed['code'] or listed['n_lines'] != len(source):
        return str(listed)
    code = ask('list', dump, 'calls.cu:12')['list']
    if code['path'] is not None or code['lines'] or not any('LD.E' in one['text'] and one['function'] == 'read_word(char const*)' for one in code['code']):
        return str(code)
    members = ask('ptype', dump, 'cursor', '--frame', '2')['type']
    if (members['name'], members['size'], [(m['name'], m['type'], m['offset']) for m in members['members']]) != ('Cursor', 16, [('base', 'char const*', 0), ('step', 'int', 8)]):
        return str(members)
    scope = ask('info', dump, 'scope', 'fold')['scope']
    if [(one['name'], one['type'], one['is_argument']) for one in scope] != [('cursor', 'Cursor', True), ('rows', 'int', True), ('total', 'int', False)]:
        return str(scope)
    for words, want in (((), 'read_word'), (('--frame', '1'), 'sum_row'), (('warp', '0', 'lane', '3', '--frame', '2'), 'fold')):
        line = ask('info', dump, 'source', *words)['source']['line']
        if f'@mark {want}' not in source[line - 1]:
            return f'{words}: line {line}'
    found = ask('info', dump, 'line', 'block', '(1,0,0)', 'thread', '(3,0,0)')
    here = found['line'][0]
    if found['focus']['threadIdx'] != [3, 0, 0] or not here['start'] <= here['pc'] < here['end'] or here['positions'][0]['line'] != 12:
        return str(found)
    named = run('list', dump, 'kernel')
    if named.returncode != 1 or named.stderr != "Function \"kernel\" not defined.\n":
        return str(named)
    symbol = ask('info', dump, 'symbol', here['pc'])['symbol']
    return None if (symbol['name'], symbol['offset']) == ('read_word(char const*)', here['offset']) else str(symbol)


def main():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'shell')
    cases = [(os.path.basename(path), lambda path=path: sessions.transcript(PROGRAM, 'shell', path, DUMPS, UPDATE))
             for path in sorted(glob.glob(os.path.join(folder, '*.txt')))]
    cases += [(f.__doc__.split('.')[0], f) for f in (focus, defined, failures, streams, costs, printed, settings, files, terminal, verbs, data)]
    return sessions.run_cases(cases)


sys.exit(main())
