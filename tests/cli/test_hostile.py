#!/usr/bin/env python3
"""Text of an input stays text: names with control sequences, line breaks, text direction, characters that are not seen and
bytes that are no UTF-8, planted in dumps, images, sources, file names and arguments, come out of every verb, in every
format, escaped. Prints TAP.

usage: test_hostile.py WARPSCOPE SOURCE_ROOT [--full]
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata

STYLES = re.compile(r'\x1b\[(?:0|1|2|1;31)m')  # what --color always adds
IGNORABLE = (0x34f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0, *range(0x180b, 0x1810), *range(0xfe00, 0xfe10))


class Wrong(Exception):
    pass


def is_forbidden(c):
    """By Python's tables, not by the program's; numbering signs of some scripts (Cf, but seen) are harmless."""
    category = unicodedata.category(c)
    seen = 'SIGN' in unicodedata.name(c, '') or 'MARK ABOVE' in unicodedata.name(c, '') or 'ABBREVIATION' in unicodedata.name(c, '')
    return c not in '\n\t' and (category in ('Cc', 'Zl', 'Zp', 'Cs') or (category == 'Cf' and not seen) or ord(c) in IGNORABLE)


FORBIDDEN = {c for c in map(chr, range(0x20000)) if is_forbidden(c)} | {chr(c) for c in range(0xe0000, 0xe1000)}


def check_text(what, data):
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Wrong(f'{what} is not UTF-8: {data[max(error.start - 20, 0):error.end + 20]!r}') from error
    for number, line in enumerate(text.split('\n'), 1):
        bad = sorted(set(line) & FORBIDDEN)
        if bad:
            at = line.index(bad[0])
            raise Wrong(f'{what} has {bad[0]!r} in line {number}: {line[max(at - 40, 0):at + 20]!r}')
        if line.lstrip().startswith(('INJECTED', '# INJECTED', '* INJECTED')):
            raise Wrong(f'{what}: a line of the input is line {number}: {line[:60]!r}')
    return text


def keys_and_strings(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_and_strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_and_strings(inner)
    elif isinstance(value, str):
        yield value


class Case:
    """One command line. `shows`: the planted mark must be in what it prints."""

    def __init__(self, *command, shows=True, stdin=None):
        self.command, self.shows, self.stdin, self.shown = command, shows, stdin, False

    def run(self, warpscope, folder, environment=None):
        command = [c if isinstance(c, bytes) else str(c).encode('utf-8', 'surrogateescape') for c in self.command]
        done = subprocess.run([warpscope.encode(), *command], input=self.stdin or b'', capture_output=True, check=False,
                              timeout=60, cwd=folder, env={**os.environ, 'LC_ALL': 'C.UTF-8', **(environment or {})})
        if done.returncode < 0:
            raise Wrong(f'signal {-done.returncode}')
        out = done.stdout
        if b'always' in command:
            out = STYLES.sub('', out.decode('utf-8', 'surrogateescape')).encode('utf-8', 'surrogateescape')
        text = check_text('standard output', out)
        error = check_text('standard error', done.stderr)
        if b'--json' in command and text:
            json.loads(text)
        self.shown = 'MARK' in text + error
        if self.shows and not self.shown:
            raise Wrong(f'the planted name is not shown: the case tests nothing (exit {done.returncode}, {error[:200]!r})')
        return text


def report_cases(dump, sources):
    for more in ((), ('--full-names', '--all'), ('--source-dir', sources), ('--color', 'always'), ('--no-source',)):
        yield Case('report', *more, dump)
    for kind in ('md', 'json', 'html'):
        yield Case('report', '--format', kind, dump)
        yield Case('report', '--format', kind, '--full-names', '--all', '--source-dir', sources, dump)


INFO = ('devices', 'contexts', 'modules', 'kernels', 'launch_trace', 'launch_children', 'sms', 'blocks', 'clusters', 'warps', 'lanes', 'threads', 'barriers',
        'exceptions', 'memory', 'managed', 'sections', 'metadata')
SHOWING = ('devices', 'kernels', 'sections')


def dump_cases(dump, other, image, sources):
    yield from report_cases(dump, sources)
    for table in INFO:
        shows = table in SHOWING
        yield Case('info', dump, table, shows=shows)
        yield Case('info', '--wide', dump, table, shows=shows)
        yield Case('info', '--json', dump, table, shows=shows)
    yield Case('info', dump, 'where', '0x7f2b4c000010', shows=False)
    yield Case('info', '--json', dump, 'where', '0x7f2b4c000010')
    yield Case('mem', dump, 'global:0x7f3a00000000', '/4s', shows=False)
    yield Case('mem', dump, 'global:0x7f3a00000000', '/40c', shows=False)
    yield Case('mem', '--json', dump, 'global:0x7f3a00000000', '/40xb', shows=False)
    for verb in ('regs', 'check'):
        yield Case(verb, dump, shows=False)
        yield Case(verb, '--json', dump, shows=verb == 'check')
    for more in (('--regs', 'current'), ('--regs', '3', '--full-names'), ('--regs', 'current', '--source'),
                 ('--regs', 'current', '--json')):
        yield Case('disas', *more, dump, shows=False)
    yield Case('diff', dump, other, shows=other != dump)
    yield Case('diff', '--json', dump, other)
    for number in (0, 1, 99):
        yield Case('extract', dump, 'image', number, '-o', 'out.cubin', shows=False)
    yield Case('extract', dump, 'section', 'NoMARK\x1b]0;x\x07', '-o', 'out.section')
    yield Case('strip', dump, '-o', 'out.nvcudmp', shows=False)
    yield Case('strip', '--for-issue', dump, '-o', 'out.nvcudmp', shows=False)
    yield Case('strip', '--json', dump, '-o', 'out.nvcudmp')
    yield Case('store', '--store', 'store', 'find', dump)
    if image:
        yield from image_cases(image)


def image_cases(image):
    yield Case('lines', image)
    yield Case('info', image)
    yield Case('info', '--json', '--full-names', image)
    for more in (('--full-names',), ('--raw',), ('--json',), ('--pc', '0x10'), ('--source', 'nothing.cu:1')):
        yield Case('lines', *more, image, shows='--pc' not in more)
    for more in ((), ('--full-names',), ('--source',), ('--hex',), ('--control',), ('--asm',), ('--cfg',), ('--cfg', '-Tdot'), ('--json',),
                 ('--cfg', '--json'), ('--pc', '0x10')):
        yield Case('disas', *more, image)
    yield Case('symbolize', image, 'MARKno\x1b]0;x\x07such')
    yield Case('symbolize', '--json', image, 'MARKno\x1b]0;x\x07such+0x10')
    yield Case('store', '--store', 'store', 'add', image)
    yield Case('store', '--store', 'store', 'list', shows=False)
    yield Case('store', '--store', 'store', '--json', 'list', shows=False)


VERBS = ('report', 'info', 'mem', 'regs', 'check', 'lines', 'symbolize', 'disas', 'as', 'diff', 'extract', 'strip', 'store', 'trace')


def argument_cases(dump, hostile):
    """Files and words of the command line are foreign too: an editor or a CI system passes on what it was given."""
    missing = os.path.join('no', hostile)
    for verb in VERBS:
        more = {'info': ['devices'], 'mem': ['0x10'], 'extract': ['image', '0', '-o', 'x'], 'strip': ['-o', 'x'], 'as': ['-o', 'x'],
                'diff': [missing]}.get(verb, [])
        start = {'store': ['add'], 'trace': ['diff', missing]}.get(verb, [])
        yield Case(verb, *start, missing, *more)
        yield Case(verb, '--json', *start, missing, *more)
        yield Case(verb, *start, '.', *more, shows=False)
        yield Case(verb, '--color', hostile, dump, shows=False)
        yield Case(verb, '--' + hostile)
        yield Case(verb, '--' + hostile + '=x', dump)
        yield Case(verb, '-\x9b', dump, shows=False)
        yield Case(verb, '-\x1b', dump, shows=False)
    yield Case(hostile, shows=False)
    yield Case('report', '--format', hostile, dump, shows=False)
    yield Case('report', '--source-map', hostile, dump, shows=False)
    yield Case('report', '--debug-image', missing, dump, shows=False)
    yield Case('report', '-o', os.path.join(missing, 'x'), dump, shows=False)
    yield Case('report', '--api-lib', missing, dump, shows=False)
    yield Case('info', dump, hostile, shows=False)
    yield Case('info', dump, 'warps', hostile, shows=False)
    yield Case('info', dump, 'warps', 'sm', hostile, shows=False)
    yield Case('info', '--coalescing', hostile, dump, 'threads', shows=False)
    yield Case('info', dump, 'where', hostile, shows=False)
    yield Case('mem', dump, hostile, shows=False)
    yield Case('mem', dump, 'global:0', '/' + hostile, shows=False)
    yield Case('regs', dump, hostile, shows=False)
    yield Case('disas', '--pc', hostile, dump, shows=False)
    yield Case('disas', '-T', hostile, dump, shows=False)
    yield Case('disas', '--function', hostile, dump, shows=False)
    yield Case('disas', '--arch', hostile, dump, shows=False)
    yield Case('disas', '--regs', hostile, dump, shows=False)
    yield Case('lines', '--pc', hostile, dump, shows=False)
    yield Case('lines', '--source', hostile, dump, shows=False)
    yield Case('lines', '--function', hostile, dump, shows=False)
    yield Case('symbolize', dump, hostile, shows=False)
    yield Case('symbolize', dump, stdin=hostile.replace('\n', '').encode('utf-8', 'surrogateescape'))
    yield Case('extract', dump, hostile, '0', '-o', 'x', shows=False)
    yield Case('extract', dump, 'image', hostile, '-o', 'x', shows=False)
    yield Case('extract', dump, 'memory', hostile, '-o', 'x', shows=False)
    yield Case('extract', dump, 'image', '0', '-o', missing, shows=False)
    yield Case('strip', '--skip', hostile, dump, '-o', 'x', shows=False)
    yield Case('strip', '--keep', hostile, dump, '-o', 'x', shows=False)
    yield Case('strip', '--layout', hostile, dump, '-o', 'x', shows=False)
    yield Case('strip', dump, '-o', os.path.join(missing, 'x'), shows=False)
    yield Case('store', hostile, shows=False)
    yield Case('store', '--store', os.path.join(hostile, 'x'), 'add', dump, shows=False)
    yield Case('store', '--with', missing, '--store', 'store', 'find', dump, shows=False)
    yield Case('trace', hostile, 'a', 'b', shows=False)
    yield Case('diff', '--limit', hostile, dump, dump, shows=False)


def text_cases(hostile):
    """Texts that the program reads: assembly, traces, places."""
    raw = hostile.encode('utf-8', 'surrogateescape')
    yield Case('as', '-', '-o', 'x', stdin=raw + b' R0, R1;\n', shows=False)
    yield Case('as', '-', '-o', 'x', stdin=b'.arch ' + raw + b'\n', shows=False)
    yield Case('as', '-', '-o', 'x', stdin=b'.arch sm_90\n.kernel k\n\tBRA ' + raw.replace(b'\n', b' ') + b'\n\tEXIT\n.end\n', shows=False)
    yield Case('as', '--json', '-', '-o', 'x', stdin=b'.arch sm_90\n.kernel k\n\t' + raw + b'\n.end\n', shows=False)
    line = json.dumps({'n': 0, 'table': 0, 'call': hostile.encode('utf-8', 'replace').decode(), 'in': {'x': hostile.encode('utf-8', 'replace').decode()},
                       'result': 'MARK\x1b]0;x', 'out': {}, 'ns': 1})
    with open('trace.json', 'wb') as file:
        file.write(line.encode() + b'\n' + raw + b'\n')
    with open('empty.json', 'wb') as file:
        file.write(b'{"n":0,"table":0,"call":"getNumDevices","in":{},"result":"CUDBG_SUCCESS","out":{},"ns":1}\n')
    yield Case('trace', 'diff', 'trace.json', 'empty.json', shows=False)
    yield Case('trace', '--json', 'diff', 'trace.json', 'empty.json', shows=False)


def main():
    warpscope, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    full = '--full' in sys.argv
    sys.path.insert(0, os.path.join(root, 'tests/builders'))
    sys.path.insert(0, os.path.join(root, 'tests/cli'))
    import hostile  # pylint: disable=import-outside-toplevel
    import test_pages  # pylint: disable=import-outside-toplevel
    groups, results = [], []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, (kind, planted) in enumerate(hostile.KINDS.items()):
            names = hostile.SCENARIOS if full else hostile.SCENARIOS[:2] if number == 0 else [hostile.SCENARIOS[1 + number]]
            short = planted.replace(b'\0', b'').replace(b'/', b'|')[:120]
            own = short.decode('utf-8', 'surrogateescape')
            sources = f'src-{kind}'
            os.mkdir(sources)
            name = hostile.Image.file(argparse.Namespace(planted=planted), b'deep.cu')
            if len(name) < 256:  # its lines are text of an input, too
                with open(os.path.join(sources.encode(), name), 'wb') as file:
                    file.write(b'LINE ' + planted.replace(b'\n', b'') + b'\n' * 2 + (b'LINE ' + planted.replace(b'\n', b'') + b'\n') * 99)
            for name in names:
                data, images = hostile.dump(name, planted)
                path = f'{name}-{own}.nvcudmp'
                image = f'{name}-{own}.cubin' if images else None
                for file_name, content in ((path, data), (image, images and images[0])):
                    if content:
                        with open(file_name.encode('utf-8', 'surrogateescape'), 'wb') as file:
                            file.write(content)
                other = groups[-1][2] if groups else path
                groups.append((f'{kind} names, {name}', list(dump_cases(path, other, image, sources)), path))
            groups.append((f'{kind} arguments', list(argument_cases(groups[-1][2], own)) + list(text_cases(own)), groups[-1][2]))
        for name, cases, _ in groups:
            bad = []
            for case in cases:
                try:
                    text = case.run(warpscope, folder)
                    if 'html' in case.command:
                        test_pages.check_html(text)
                except (Wrong, test_pages.Wrong, subprocess.TimeoutExpired, ValueError) as problem:
                    bad.append(f'{" ".join(ascii(c)[:60] for c in case.command)}: {problem}')
            shown = sum(case.shown for case in cases)
            if 2 * shown < len(cases):
                bad.append(f'only {shown} commands show what was planted')
            results.append((f'{name}: {len(cases)} commands, {shown} show what was planted', bad))
        os.chdir('/')
    print(f'1..{len(results)}')
    for number, (name, bad) in enumerate(results, 1):
        print(f'{"not ok" if bad else "ok"} {number} - {name}')
        for line in bad:
            print(f'# {ascii(line)[:600]}')
    return 1 if any(bad for _, bad in results) else 0


if __name__ == '__main__':
    sys.exit(main())
