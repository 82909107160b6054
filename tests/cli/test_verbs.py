#!/usr/bin/env python3
"""The command line as a whole: exit statuses of every verb, what is said to a mistyped verb, option or table, to words in the
wrong order and to files of other kinds, what a dumb terminal gets, and the first screen of the report. Prints TAP.

usage: test_verbs.py WARPSCOPE SOURCE_ROOT
"""
import gzip
import io
import atexit
import json
import lzma
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

import schemas

VERBS = 'report info mem regs bt locals print ptype whatis list check lines symbolize disas as diff extract strip store shell run debug triage log exec trigger env trace'.split()


class Bench:
    """Files to try, and the cases so far: [(name, problem or None)]."""

    def __init__(self, warpscope, root, folder):
        self.warpscope, self.root, self.folder, self.cases = warpscope, root, folder, []
        self.dump = os.path.join(root, 'examples/dumps/illegal-address.nvcudmp')
        self.hang = os.path.join(root, 'examples/dumps/hang.nvcudmp')
        self.cubin = os.path.join(root, 'tests/data/cubins/deep.li.sm_90.cubin')

    def file(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as handle:
            handle.write(data)
        return path

    def run(self, *arguments, **options):
        environment = {**os.environ, 'XDG_CACHE_HOME': self.folder, **options.pop('environment', {})}
        return subprocess.run([self.warpscope, *arguments], capture_output=True, check=False, timeout=60, cwd=self.folder,
                              stdin=subprocess.DEVNULL, env=environment, **options)

    def expect(self, name, arguments, status, error=None, output=None, **options):
        """Exit status, and patterns that the one line on standard error and standard output must have."""
        done = self.run(*arguments, **options)
        said = done.stderr.decode(errors='replace')
        problem = None
        if done.returncode != status:
            problem = f'exit status {done.returncode}, not {status}: {said}'
        elif error is not None and (not re.search(error, said) or said.count('\n') != 1):
            problem = f'{said!r} has none of {error}, or is not one line'
        elif output is not None and not re.search(output, done.stdout.decode(errors='replace')):
            problem = f'{done.stdout[:300]!r} has none of {output}'
        self.cases.append((name, problem))


def waiting_process(bench):
    """One that plays a process which can be asked for a dump."""
    environment = {**os.environ, 'CUDA_ENABLE_USER_TRIGGERED_COREDUMP': '1', 'CUDA_ENABLE_COREDUMP_ON_EXCEPTION': '1'}
    process = subprocess.Popen([sys.executable, os.path.join(bench.root, 'tests/cli/exec/program.py'), 'wait'], cwd=bench.folder,
                               env=environment, stdout=subprocess.PIPE)
    atexit.register(process.kill)
    process.stdout.readline()
    return process.pid


def exit_cases(bench):
    """{verb: [(arguments, status)]}: every status that the page of a verb lists."""
    dump, hang, cubin, gone = bench.dump, bench.hang, bench.cubin, os.path.join(bench.folder, 'gone')
    out = os.path.join(bench.folder, 'out')
    source = bench.file('ok.s', b'.arch sm_90\n.kernel f\nEXIT\n.end\n')
    wrong = bench.file('wrong.s', b'.arch sm_90\n.kernel f\nNOTHING R1\n.end\n')
    trace, other = trace_pair(bench)
    sys.path.insert(0, os.path.join(bench.root, 'tests/builders'))
    import build  # pylint: disable=import-outside-toplevel
    fine = bench.file('fine.nvcudmp', build.build('empty')[0])
    known = bench.file('known.txt', b'# a comment\nillegal memory access | _Z11gather_rowsIfLi4EEvPKT_PKiPS0_i | app::Row::fetch | load\n')
    typed = os.path.join(bench.root, 'examples/dumps/misaligned-G.nvcudmp')
    with open(dump, 'rb') as handle:
        cut = bench.file('cut.nvcudmp', handle.read()[:100])
    kernels = os.path.join(bench.root, 'tests/data/sim/integer.O3.fatbin')
    job, waits = (os.path.join(bench.root, 'tests/data/logs', name) for name in ('kernel.log', 'hang.log'))
    after = bench.file('after.log', b'NVRM: Xid (PCI:0000:18:00): 45, pid=7\n')
    collatz = ('--kernel', 'int_collatz', '--arg', '0', '--arg')  # writes as many numbers as the next word says, to address 0
    return {
        'report': [((dump,), 0), (('--exit-code', dump), 10), (('--exit-code', hang), 11), (('--exit-code', cut), 12),
                   ((cut,), 0), ((gone,), 1), ((), 2)],
        'info': [((dump, 'warps'), 0), ((gone, 'warps'), 1), ((dump,), 0), ((dump, 'nothing'), 2), ((dump, 'line'), 0), ((dump, 'symbol', '0x10'), 1),
                 ((dump, 'types', '['), 1), ((dump, 'line', 'nothing'), 1)],
        'mem': [((os.path.join(bench.root, 'examples/dumps/misaligned-G.nvcudmp'), 'global:0x7f3a120001f8'), 0), ((dump, 'global:0x10'), 1), ((dump,), 2)],
        'regs': [((dump,), 0), ((gone,), 1), ((), 2)],
        'bt': [((dump,), 0), ((gone,), 1), ((), 2)],
        'locals': [((typed,), 0), ((dump,), 0), ((typed, '--frame', '99'), 1), ((typed, '--only', 'x'), 2)],
        'print': [((typed, '&*p'), 1), ((typed, '1 + 1'), 0), ((typed, '/q', '1'), 2), ((typed,), 2)],
        'whatis': [((typed, 'Cursor'), 0), ((typed, 'Nothing'), 1), ((typed,), 2)],
        'ptype': [((typed, 'Cursor'), 0), ((typed, 'Nothing'), 1), ((typed,), 2)],
        'list': [((typed,), 0), ((typed, 'nothing'), 1), ((), 2)],
        'check': [((dump,), 0), ((cut,), 10), ((cubin,), 1), ((), 2)],
        'lines': [((cubin,), 0), (('--function', 'nothing', cubin), 1), ((), 2)],
        'symbolize': [((cubin, 'gather_rows'), 0), ((cubin, 'nothing'), 1), ((), 2)],
        'disas': [((cubin,), 0), (('--function', 'nothing', cubin), 1), ((), 2)],
        'as': [((source, '-o', out), 0), ((wrong, '-o', out), 1), ((source,), 2)],
        'diff': [((dump, dump), 0), ((dump, hang), 10), ((dump, gone), 1), ((dump,), 2)],
        'extract': [((dump, 'image', '0', '-o', out), 0), ((dump, 'image', '99', '-o', out), 1), ((dump, 'image', '0'), 2)],
        'strip': [((dump, '-o', out), 0), ((gone, '-o', out), 1), ((dump,), 2)],
        'store': [(('add', cubin), 0), (('find', hang), 1), ((), 2)],
        'run': [((kernels, *collatz, '0'), 0), ((kernels, *collatz, '5'), 10), ((gone, *collatz, '0'), 1), ((kernels,), 2)],
        'shell': [((dump,), 0), ((gone,), 1), (('-x', gone, dump), 1), ((), 2)],
        'debug': [((kernels, *collatz, '0'), 0), ((gone, *collatz, '0'), 1), ((kernels,), 2)],
        'triage': [((fine,), 0), ((dump,), 10), ((cut,), 12), (('--baseline', known, dump), 13), ((gone,), 1), ((), 2)],
        'log': [((job,), 10), ((waits,), 11), ((after,), 12), ((source,), 0), ((gone,), 1), ((), 2)],
        'exec': [((), 2), (('--dumps', '/proc/none', 'true'), 125), (('--dumps', out + 's', source), 126), (('--dumps', out + 's', gone), 127)],
        'trigger': [((str(waiting_process(bench)),), 0), (('2147483647',), 1), (('x',), 2)],
        'env': [((), 0), (('--for', 'all'), 2)],
        'trace': [(('diff', trace, trace), 0), (('diff', trace, other), 10), (('diff', trace, gone), 1), ((), 2)],
    }


def statuses_of(text):
    """{number: words} of a table of exit statuses in a manual page."""
    section = re.search(r'# EXIT STATUS\n(.*?)(\n# |$)', text, re.DOTALL).group(1)
    return {int(number) for number in re.findall(r'^\*(\d+)\*$', section, re.MULTILINE)}


def check_exits(bench):
    cases = exit_cases(bench)
    shown = bench.run('help', 'options').stdout.decode()
    table = re.findall(r'^  (\d+)\s+(?=.)', shown[shown.index('Exit status:'):], re.MULTILINE)
    for verb in VERBS:
        for arguments, status in cases[verb]:
            short = ' '.join(os.path.basename(a) for a in arguments)
            bench.expect(f'exit status {status}: {verb} {short}', (verb, *arguments), status)
        shown = bench.run(verb, '--help').stdout.decode()
        long = [line for line in shown.splitlines() if len(line) > 80]
        bench.cases.append((f'help of {verb} has 80 columns', str(long) if long else None))
        # exec's are those of a program
        named = ('warpscope help options\n' in shown) != (verb == 'exec') and '--color' not in shown
        bench.cases.append((f'help of {verb} says where the options of all verbs are', None if named else shown))
        with open(os.path.join(bench.root, f'docs/man/warpscope-{verb}.1.scd'), encoding='utf-8') as page:
            listed = statuses_of(page.read())
        tried = {status for _, status in cases[verb]}
        bench.cases.append((f'the page of {verb} lists what it exits with',
                            None if listed == tried else f'page {sorted(listed)}, tried {sorted(tried)}'))
    with open(os.path.join(bench.root, 'docs/man/warpscope.1.scd'), encoding='utf-8') as page:
        text = page.read()
    bench.cases.append(('warpscope(1) has the same table',
                        None if statuses_of(text) == {int(n) for n in table} else str(statuses_of(text))))
    bench.cases.append(('warpscope(1) lists the verbs', None if all(f'\n*{v}*\n' in text for v in VERBS) else 'one is missing'))
    bench.cases.append(('warpscope --help lists the verbs',
                        None if re.findall(r'^  ([a-z]+) ', bench.run('--help').stdout.decode(), re.MULTILINE) == VERBS
                        else bench.run('--help').stdout.decode()))


def trace_pair(bench):
    """Two traces of API calls that differ in one answer."""
    line = '{"n":0,"table":0,"call":"getNumDevices","in":{},"result":"CUDBG_SUCCESS","out":{"numDev":"%02x000000"}}\n'
    return [bench.file(f'{n}.jsonl', (line % n).encode()) for n in (1, 2)]


def check_words(bench):
    """What is not understood gets the next best word, or how it goes; standard output stays empty."""
    dump, cubin = bench.dump, bench.cubin
    for typed, meant in (('reprot', 'report'), ('inof', 'info'), ('dissas', 'disas'), ('chek', 'check'), ('sym', 'symbolize'),
                         ('where', 'bt'), ('args', 'locals'), ('warps', 'info DUMP warps'), ('registers', 'regs')):
        for rest in ((dump,), ()):
            bench.expect(f'unknown verb {typed}, {len(rest)} files', (typed, *rest), 2,
                         f"unknown verb '{typed}'.*did you mean: warpscope {meant}\\?")
    bench.expect('unknown verb like none', ('qqqqqq', dump), 2, "unknown verb 'qqqqqq', and no file of that name; see")
    bench.expect('print of nothing', ('print',), 2, 'print: which dump\\?')
    bench.expect('print without an expression', ('print', dump), 2, 'print: which expression\\?')
    bench.expect('print with a format alone', ('print', dump, '/x'), 2, 'print: which expression\\?')
    bench.expect('a path that is no file', ('./gone',), 1, 'No such file')
    bench.expect('a dump that is no file', ('gone.nvcudmp',), 1, 'No such file')
    bench.expect('help of a mistyped verb', ('help', 'inof'), 2, 'did you mean: warpscope info')
    bench.expect('DUMP VERB', (dump, 'info', 'warps'), 2, f'the verb comes first: warpscope info {re.escape(dump)} warps; see: warpscope --help')
    bench.expect('TABLE DUMP', ('info', 'warps', dump), 2, f'the file comes first: warpscope info {re.escape(dump)} warps')
    bench.expect('PLACE FILE', ('symbolize', 'gather_rows', cubin), 2, 'the file comes first: warpscope symbolize')
    bench.expect('two dumps that need no order', ('diff', 'gone', dump), 1, 'gone: No such file')
    bench.expect('mistyped table', ('info', dump, 'wraps'), 2, r"no table 'wraps' \(did you mean warps\?\)")
    bench.expect('prefix of an option', ('report', '--js', dump), 2, r'unknown option --js \(did you mean --json\?\)')
    bench.expect('mistyped option', ('report', '--exit-cdoe', dump), 2, 'did you mean --exit-code')
    bench.expect('value of an option that has none', ('report', '--json=1', dump), 2, '--json takes no value')
    bench.expect('option without its value', ('report', dump, '--format'), 2, '--format needs a value')
    bench.expect('unknown letter', ('report', '-q', dump), 2, 'unknown option -q')
    for verb in VERBS:
        bench.expect(f'{verb}: no letter', (verb, '-\x01', dump), 2, 'unknown option -')


def check_places(bench):
    """Options may stand anywhere; what follows "--" is none."""
    dump = bench.dump
    as_json = r'"schema": "warpscope-'
    bench.expect('option before the verb', ('--json', 'info', dump, 'devices'), 0, output=as_json + 'info')
    bench.expect('option with a value before the verb', ('--color', 'never', 'regs', dump), 0, output='Lane')
    bench.expect('option after the arguments', ('info', dump, 'devices', '--json'), 0, output=as_json + 'info')
    bench.expect('also with POSIXLY_CORRECT', ('info', dump, 'devices', '--json'), 0, output=as_json + 'info',
                 environment={'POSIXLY_CORRECT': '1'})
    bench.expect('a flag of one verb that takes a value in another', ('--source', 'disas', bench.cubin), 0, output='deep.cu:')
    bench.expect('option before the dump', ('--json', dump), 0, output=as_json + 'report')
    bench.expect('after --', ('report', '--', '--json'), 1, '--json: No such file')
    bench.expect('an argument that begins with =', ('report', '--source-map', '=x', dump), 2, "takes FROM=TO, not '=x'")
    bench.expect('a file that begins with =', ('report', '=='), 1, '==: No such file')
    bench.expect('a negative number is no option', ('info', dump, 'kernels', 'grid', '-1'), 0, output='No CUDA kernels')
    for arguments in (('help', 'info'), ('info', '--help'), ('info', '-h'), ('--help', 'info'), ('info', dump, '--help', '--nonsense')):
        bench.expect(f'help by {" ".join(os.path.basename(a) for a in arguments)}', arguments, 0,
                     output='^usage: warpscope info ')
    bench.expect('help alone', ('help',), 0, output='usage: warpscope DUMP')
    bench.expect('--version', ('--version',), 0, output='^warpscope [0-9.]+\nsandbox: .+\n$')


def tar_of(data):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w') as tar:
        member = tarfile.TarInfo('core.nvcudmp')
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def elf(e_type, loader=False):
    header = b'\x7fELF' + bytes([2, 1, 1, 0]) + bytes(8) + struct.pack(
        '<HHIQQQIHHHHHH', e_type, 62, 1, 0, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    return header + struct.pack('<II', 3 if loader else 1, 4) + bytes(300)


def check_files(bench):
    """Files of other kinds are named for what they are, without an offset that tells nothing."""
    with open(bench.dump, 'rb') as handle:
        dump = handle.read()
    with open(os.path.join(bench.root, 'tests/data/fatbins/bare.li.zstd.fatbin'), 'rb') as handle:
        fatbin = handle.read()
    reads = 'these verbs read it: info, lines, symbolize, disas, store'
    for name, data, words in (
            ('tar', tar_of(dump), 'a tar archive; unpack it first'), ('lib.so', elf(3), r'a shared library \(x86-64\)'),
            ('pie', elf(3, True), r'a program \(x86-64\)'), ('exe', elf(2), r'a program \(x86-64\)'),
            ('obj.o', elf(1), r'an object file \(x86-64\)'), ('lib.a', b'!<arch>\n' + bytes(80), 'a static library'),
            ('text', b'GPU core dumped to a file\n' * 4, 'text'), ('exe.win', b'MZ' + bytes(200), 'a Windows program'),
            ('core', elf(4), 'a core of a host process.*CUDA_ENABLE_COREDUMP_ON_EXCEPTION'),
            ('cuda-core', elf(4) + b'/usr/lib/libcuda.so.1', r"the host's core.*look for core_\*\.nvcudmp"),
            ('dump.xz', lzma.compress(dump), 'compressed with xz, which this build cannot read; unpack it first'),
            ('fatbin', fatbin, 'a fatbin.*' + reads), ('empty', b'', 'the file is empty'),
            ('noise', bytes(range(128, 228)), 'not a GPU core dump')):
        path = bench.file(name, data)
        for verb in ('report', 'info', 'check', 'strip'):
            rest = {'info': ('warps',), 'strip': ('-o', 'out')}.get(verb, ())
            bench.expect(f'{verb} of {name}', (verb, path, *rest), 1, '^(?!.*file offset).*' + words)
    bench.expect('report of a cubin', (bench.cubin,), 1, 'a cubin.*' + reads)
    for verb in ('lines', 'disas', 'symbolize'):
        bench.expect(f'{verb} of text', (verb, os.path.join(bench.folder, 'text')), 1, 'text; this verb also reads cubins')
    bench.expect('as of a program', ('as', os.path.join(bench.folder, 'exe'), '-o', 'out'), 1, 'exe: is not text;')
    bench.expect('an offset where it helps', ('diff', bench.dump, bench.file('torn', dump[:60])), 10)
    os.mkdir(os.path.join(bench.folder, 'dumps'))
    for verb in ('report', 'lines'):
        bench.expect(f'{verb} of a folder', (verb, 'dumps'), 1, 'dumps: is a directory; name a file in it\n')
    for name, when in (('a.nvcudmp', 2000), ('b.nvcudmp', 3000), ('c.nvcudmp', 1000), ('notes.txt', 9000)):
        path = bench.file('dumps/' + name, dump)
        os.utime(path, (when, when))
    bench.expect('a folder with dumps', ('dumps/',), 1, 'its newest dump: dumps/b.nvcudmp\n')


def on_terminal(bench, term, *arguments):
    """What a terminal gets: both streams."""
    master, slave = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ('TERM', 'NO_COLOR', 'COLUMNS')}
    environment['WARPSCOPE_PAGER'] = ''
    if term is not None:
        environment['TERM'] = term
    with subprocess.Popen([bench.warpscope, *(arguments or (bench.hang,))], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                          env=environment) as process:
        os.close(slave)
        out = b''
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            out += part
        process.wait(timeout=60)
    os.close(master)
    return out


def check_terminal(bench):
    for term, colour in (('xterm', True), ('dumb', False), (None, False), ('', False)):
        has = b'\x1b' in on_terminal(bench, term)
        bench.cases.append((f'TERM={term}: {"colour" if colour else "no escape sequence"}', None if has == colour else str(has)))


def check_json(bench):
    """--json is taken by every verb or refused in a sentence."""
    dump, path = bench.dump, bench.file('part', b'')
    gone = {'pid': 2147483647, 'dump': None, 'complete': False, 'bytes': 0, 'reason': 'there is no such process'}
    for name, arguments, wanted in (
            ('extract', ('extract', '--json', dump, 'image', '0', '-o', path), {
                'dump': dump, 'part': 'image', 'which': '0', 'output': path, 'bytes': None, 'truncated': False}),
            ('trigger', ('trigger', '--json', '2147483647'), {'processes': [gone]})):
        done = bench.run(*arguments)
        answer = json.loads(done.stdout or b'{}')
        if 'bytes' in wanted:
            wanted['bytes'] = os.path.getsize(path)
        bench.cases.append((f'{name} --json', None if answer == {'schema': f'warpscope-{name}-1', **wanted} else str(done)))
        if schemas.INSTALLED:
            bench.cases.append((f'{name} --json fits its schema', schemas.misfit(answer)))
    bench.expect('extract --json to standard output', ('extract', '--json', dump, 'image', '0', '-o', '-'), 2, 'takes the bytes or, with --json')
    for verb, words in (('shell', (dump,)), ('debug', ('image', '--kernel', 'k'))):
        bench.expect(f'{verb} --json', (verb, '--json', *words), 2, 'a conversation is no JSON; give --json to its commands')


def without_headers(dump):
    """The file with its section headers blanked."""
    with open(dump, 'rb') as handle:
        data = bytearray(handle.read())
    at, = struct.unpack_from('<Q', data, 40)
    count = struct.unpack_from('<H', data, 60)[0] or struct.unpack_from('<Q', data, at + 32)[0]
    data[at:at + 64 * count] = bytes(64 * count)
    return bytes(data)


def check_advice(bench):
    """What to do next is special to the dump, can be pasted, and is there where a file is cut."""
    def advice(path):
        return json.loads(bench.run('report', '--json', path).stdout)['next']
    with open(bench.hang, 'rb') as handle:
        hang = handle.read()
    spaced, odd, cut = bench.file('a dump.nvcudmp', hang), bench.file("it's.nvcudmp", hang), bench.file('cut.nvcudmp', hang[:-1000])
    for path, word in ((bench.hang, bench.hang), (spaced, f"'{spaced}'"), (odd, 'DUMP')):
        said = advice(path)
        good = 'blocks of `wait_for_all` are on the GPU' in said[0] and f'`warpscope info {word} warps`' in said[1] and 'normally has no exception' in said[2]
        bench.cases.append((f'advice for {os.path.basename(path)}', None if good else str(said)))
    bench.cases.append(('a dump that is cut: how to get a whole one', None if any(
        'let the process live' in one and 'CUDA_COREDUMP_GENERATION_FLAGS=skip_global_memory' in one for one in advice(cut)) else str(advice(cut))))
    bench.cases.append(('no such advice for a whole one', None if not any('is missing' in one for one in advice(bench.hang)) else 'there is'))
    bench.expect('two dumps', ('report', bench.hang, bench.dump), 2, 'warpscope triage says which to read, and warpscope diff what')
    tables = json.loads(bench.run('info', '--json', bench.hang).stdout)['tables']
    listed = {row['name']: row['rows'] for row in tables}
    good = listed['warps'] == 8 and listed['kernels'] == 1 and all(f'\n  {name} ' in bench.run('info', bench.hang).stdout.decode() for name in listed)
    bench.cases.append(('info DUMP lists its tables', None if good else str(tables)))


def check_salvage(bench):
    """Without section headers rows are counted by their shape, and none of them makes a verdict."""
    for dump, lanes, sms in ((bench.dump, '256 lanes, 32 with exception 14 (Warp Illegal Address)', '132 SMs, 1 with exception 14'),
                             (bench.hang, '256 lanes;', '132 SMs')):
        path = bench.file('bare.nvcudmp', without_headers(dump))
        page = json.loads(bench.run('report', '--json', path).stdout)
        said = [one['message'] for one in page['diagnostics'] if 'recognised by shape' in one['message']]
        good = page['verdict']['kind'] == 'unknown' and not page['exceptions'] and len(said) == 1 and lanes in said[0] and sms in said[0]
        bench.cases.append((f'rows of {os.path.basename(dump)} without headers', None if good else str(page)[:600]))
        found = json.loads(bench.run('check', '--json', path).stdout)['salvaged']
        n = sum(one['exceptions'] for one in found)
        bench.cases.append((f'their exceptions in check of {os.path.basename(dump)}', None if n == (33 if dump == bench.dump else 0) else str(found)))
    noise = bench.file('noise.nvcudmp', without_headers(bench.hang)[:64] + bytes(range(256)) * 400)
    page = json.loads(bench.run('report', '--json', noise).stdout)
    bench.cases.append(('nothing is recognised in noise', None if not any('recognised' in one['message'] for one in page['diagnostics']) else str(page)[:600]))


def check_limits(bench):
    """Long lists end, and say how many more there are; data is whole."""
    dump = bench.dump
    bench.expect('info --limit', ('info', dump, 'warps', 'sm', 'any', '--limit', '3'), 0,
                 output=r'\n\.\.\. and \d+ more rows; --limit 0 shows all\n$')
    whole = bench.run('info', dump, 'warps', 'sm', 'any').stdout.decode()
    bench.cases.append(('info without a need for it', whole if 'more rows' in whole else None))
    some = json.loads(bench.run('info', '--json', '--limit', '3', dump, 'warps', 'sm', 'any').stdout)
    every = json.loads(bench.run('info', '--json', dump, 'warps', 'sm', 'any').stdout)
    good = len(some['warps']) == 3 and some['rows_left_out'] == len(every['warps']) - 3 and 'rows_left_out' not in every
    bench.cases.append(('info --limit as data', None if good else str(some)))
    with open(dump, 'rb') as handle:
        data = bytearray(handle.read())
    at, = struct.unpack_from('<Q', data, 40)
    count = struct.unpack_from('<H', data, 60)[0] or struct.unpack_from('<Q', data, at + 32)[0]
    for section in range(1, count):  # every section lies outside the file
        struct.pack_into('<Q', data, at + 64 * section + 24, 1 << 40)
    broken = bench.file('broken.nvcudmp', bytes(data))
    bench.expect('check ends its list', ('check', broken), 10, output=r'\n\.\.\. and \d+ more of kind \'\w+\'; --limit 0 shows all\n')
    lines = bench.run('check', '--limit', '2', broken).stdout.decode().splitlines()
    kinds = [line.split()[1] for line in lines if line.startswith(('0x', '- ')) and 'salvaged' not in line]
    bench.cases.append(('check --limit counts each kind', None if kinds and max(map(kinds.count, kinds)) == 2 else str(lines)[:300]))
    full = bench.run('check', '--limit', '0', broken).stdout.decode()
    bench.cases.append(('check --limit 0 shows all', None if ' more of kind' not in full else full[-300:]))


def check_sizes(bench):
    """--size-limit takes bytes, with K, M, G or T, and what unpacks to more is not read."""
    with open(bench.dump, 'rb') as handle:
        packed = bench.file('sizes.nvcudmp.gz', gzip.compress(handle.read()))
    size = os.path.getsize(bench.dump)
    up, down = -(-size // 1024), size // 1024
    for limit in (f'{size}', f'{size:#x}', f'{up}K', '1M', '1G', '1T', f'{2**24 - 1}T'):
        bench.expect(f'--size-limit {limit} of {size} bytes', ('--size-limit', limit, packed), 0, output='Illegal memory access')
    for limit, told in ((f'{size - 1}', size - 1), (f'{size - 1:#x}', size - 1), (f'{down}K', down * 1024)):
        bench.expect(f'--size-limit {limit} of {size} bytes', ('--size-limit', limit, packed), 1, f'more than the limit of {told} bytes$')
    for limit in ('0', '', 'K', '5X', '1.5M', '-1', '1k', f'{2**24}T', '9' * 40):
        bench.expect(f'--size-limit {limit}', ('--size-limit', limit, packed), 2, '--size-limit takes bytes, such as 500M or 64G')


def check_warnings(bench):
    """One line for all images of a file, as for one of them."""
    folder = os.path.join(bench.folder, 'modules')
    subprocess.run([sys.executable, os.path.join(bench.root, 'tests/builders/build.py'), folder, 'many-modules', 'no-lines'], check=True)
    bench.expect('3,000 images, one warning', ('lines', os.path.join(folder, 'many-modules.nvcudmp')), 0,
                 r'^warpscope: .*-lineinfo.* \(3000 times\)\n$')
    bench.expect('one image, no count', ('lines', os.path.join(folder, 'no-lines.nvcudmp')), 1,
                 r'^warpscope: .*-lineinfo(?!.* times\))')
    names = [f'gone-{number}' for number in range(103)]
    said = bench.run('store', '--store', os.path.join(bench.folder, 'store'), 'add', *names, 'gone-7').stderr.decode().splitlines()
    want = [f'warpscope: {name}: No such file or directory{" (2 times)" if name == "gone-7" else ""}' for name in names[:100]]
    bench.cases.append(('a hundred warnings, and how many more', None if said == want + ['warpscope: ... and 3 more warnings'] else str(said[-3:])))


def check_progress(bench):
    """While much is unpacked a terminal sees how far that is, and nothing of it stays; what is no terminal is not told."""
    with open(bench.dump, 'rb') as handle:
        data = bytearray(handle.read())
    at, = struct.unpack_from('<Q', data, 40)
    count = struct.unpack_from('<H', data, 60)[0] or struct.unpack_from('<Q', data, at + 32)[0]
    table, size = data[at:at + 64 * count], 72 << 20
    struct.pack_into('<Q', data, 40, size - len(table))  # the section headers are what is last
    long = bench.file('long.nvcudmp.gz', gzip.compress(data + bytes(size - len(table) - len(data)) + table, 1))
    for term, told in (('xterm', True), ('dumb', False)):
        shown = on_terminal(bench, term, '--color', 'never', 'info', long, 'devices')
        found = re.findall(rb'\runpacking: (\d+)%, (\d+) MiB ', shown)
        good = [mib for _, mib in found] == [b'64'] * told and shown.count(b'\r\x1b[K') == told and all(int(part) <= 100 for part, _ in found)
        bench.cases.append((f'progress with TERM={term}: {told}', None if good else str(shown[:200])))
    done = bench.run('info', long, 'devices')
    bench.cases.append(('no progress in a pipe', None if done.returncode == 0 and not done.stderr else str(done.stderr)))


def check_where(bench):
    """The registers that `info where` names are those that `regs` shows to hold such an address."""
    lanes = json.loads(bench.run('regs', '--json', bench.dump, 'lane', 'any').stdout)['lanes']
    for address, first, last in ((0x7f3a00000010, 0x7f3a00000000, 0x7f3a00001fff), (0x7f3a003fff10, 0x7f3a003fef10, 0x7f3a00400f10),
                                 (0x10400, 0x10400, 0x10400)):
        shown = json.loads(bench.run('info', '--json', bench.dump, 'where', hex(address)).stdout)['where']['holders']
        got = {(h['sm'], h['warp'], h['register']): int(h['lanes'], 16) for h in shown if h['register'][0] == 'R'}
        exact = sum(bin(int(h['exact'], 16)).count('1') for h in shown if h['register'][0] == 'R')
        wide, expected, n_exact = address >> 32 != 0, {}, 0
        for lane in lanes:
            values = lane['R'] or []
            for i in range(0, len(values) - wide, 1 + wide):
                value = values[i] | (values[i + 1] << 32 if wide else 0)
                if first <= value <= last:
                    place = (lane['sm'], lane['warp'], f'R{i}:R{i + 1}' if wide else f'R{i}')
                    expected[place] = expected.get(place, 0) | 1 << lane['lane']
                    n_exact += value == address
        good = got == expected and exact == n_exact and expected
        bench.cases.append((f'holders of {address:#x}', None if good else f'{got} {expected}'))


def check_lanes(bench):
    """--all has the address of each lane, as the data has."""
    data = json.loads(bench.run('report', '--json', bench.dump).stdout)
    page = bench.run('report', '--all', bench.dump).stdout.decode()
    table = re.search(r'\n    Lane  Address  .*?\n((?:      *\d+  .*\n)+)', page)
    rows = [line.split(None, 2) for line in table.group(1).splitlines()] if table else []
    access = data['focus']['accesses'][0]
    wanted = {int(lane): value for lane, value in access['address'].items()}
    got = {int(row[0]): row[1] for row in rows}
    bench.cases.append(('--all has the address of each lane', None if got == wanted and len(got) == 32 else f'{got} {wanted}'))
    brief = bench.run('report', bench.dump).stdout.decode()
    bench.cases.append(('without --all there is none', brief if 'Lane  Address' in brief else None))


def check_jq(bench):
    """The examples with jq of the manual pages, on dumps with lines and without, of a fault, a hang and lanes that are gone."""
    examples = []
    folder = os.path.join(bench.root, 'docs/man')
    for page in sorted(os.listdir(folder)):
        with open(os.path.join(folder, page), encoding='utf-8') as text:
            examples += [line.strip().replace('\\\\', '\\') for line in text if '| jq' in line]
    if len(examples) < 3:
        bench.cases.append(('examples with jq', f'{len(examples)} found'))
    if not shutil.which('jq'):
        bench.cases.append(('examples with jq', 'SKIP jq is not installed'))
        return
    built = os.path.join(bench.folder, 'lines')
    subprocess.run([sys.executable, os.path.join(bench.root, 'tests/builders/build.py'), built, 'no-lines', 'bad-pc', 'empty'], check=True)
    dumps = [bench.dump, bench.hang, os.path.join(bench.root, 'examples/dumps/exited.nvcudmp')]
    dumps += [os.path.join(built, f'{name}.nvcudmp') for name in ('no-lines', 'bad-pc', 'empty')]
    for number, example in enumerate(examples):
        for dump in dumps:
            command = example.replace('warpscope', bench.warpscope, 1).replace('core.nvcudmp', dump).replace('libmine.so', bench.cubin)
            done = subprocess.run(['sh', '-c', command], capture_output=True, check=False, timeout=60)
            text = done.stdout.decode()
            fault = 'hang' not in dump and 'empty' not in dump
            good = done.returncode == 0 and not done.stderr and 'null' not in text and (text or not fault)
            bench.cases.append((f'example {number} with jq, {os.path.basename(dump)}', None if good else f'{text!r} {done.stderr!r}'))


SCENARIOS = ('assert bad-pc classic cluster-block-gone cluster-out-of-range code-77 illegal-address-sm-row lightweight many-faults '
             'no-lines recursion shared-out-of-range two-devices').split()


def problem_of_screen(bench, dump, form):
    """The first screen: what the page begins with, from the verdict to the thread, in 40 lines of 100 columns."""
    brief = bench.run('report', '--brief', '--format', form, dump).stdout.decode()
    whole = bench.run('report', '--format', form, dump).stdout.decode()
    body = brief.split('\n<sub>')[0]
    if not whole.startswith(body):
        return 'the page does not begin with it'
    n_lines = sum(max(1, -(-len(line) // 100)) for line in body.splitlines())
    if n_lines > (40 if form == 'text' else 45):  # fences are lines
        return f'{n_lines} lines'
    wanted = ['What to try next', 'A thread to look at' if '/hang' in dump else 'The fault', ' sm ']
    wanted += ['Who waits for what'] if '/hang' in dump else ['Likely causes here', 'exception ']
    at = [body.find(word) for word in wanted]
    return f'{list(zip(wanted, at))}' if min(at) < 0 or len(body) == len(whole) else None


def check_first_screen(bench):
    folder = os.path.join(bench.folder, 'built')
    subprocess.run([sys.executable, os.path.join(bench.root, 'tests/builders/build.py'), folder, *SCENARIOS], check=True)
    dumps = [os.path.join(bench.root, 'examples/dumps', f'{name}.nvcudmp')
             for name in ('illegal-address', 'hang', 'misaligned-G', 'exited')]
    for dump in dumps + [os.path.join(folder, f'{name}.nvcudmp') for name in SCENARIOS]:
        for form in ('text', 'md'):
            bench.cases.append((f'first screen, {form}: {os.path.basename(dump)}', problem_of_screen(bench, dump, form)))
    for form in ('json', 'html'):
        bench.expect(f'--brief of {form}', ('report', '--brief', '--format', form, bench.dump), 2, 'are always whole')
    bench.expect('--brief --all', ('report', '--brief', '--all', bench.dump), 2, 'exclude each other')


def main():
    warpscope, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(warpscope, root, folder)
        for part in (check_exits, check_words, check_places, check_files, check_terminal, check_json, check_advice, check_salvage, check_limits, check_sizes,
                     check_warnings, check_progress, check_where, check_lanes, check_jq,
                     check_first_screen):
            part(bench)
    failed = sum(problem is not None and not problem.startswith('SKIP ') for _, problem in bench.cases)
    print(f'1..{len(bench.cases)}')
    for number, (name, problem) in enumerate(bench.cases, 1):
        if problem and problem.startswith('SKIP '):
            print(f'ok {number} - {name} # {problem}')
            continue
        print(f'ok {number} - {name}' if problem is None else f'not ok {number} - {name}\n# {problem[:400]!r}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
