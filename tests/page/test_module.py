#!/usr/bin/env python3
"""The module of the page, in Node: it answers as the program does, byte for byte, and bad input never stops it. Prints TAP.

usage: test_module.py WARPSCOPE SOURCE_ROOT PAGE [--all]        (PAGE: the folder of `make page`)

All dumps of tests/builders and examples, opened once and asked many times, as the page does; and the seeds of the fuzzers. --all:
also the planted faults and hangs, and every table.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

HUGE = ('many-modules', 'many-sections')  # seconds each
TABLES = ('devices', 'contexts', 'modules', 'kernels', 'sms', 'blocks', 'clusters', 'warps', 'lanes', 'threads', 'barriers', 'exceptions',
          'memory', 'managed', 'sections', 'metadata')


class Module:
    """A Node that runs the module."""

    def __init__(self, root, page):
        self.command = ['node', '--no-experimental-fetch', os.path.join(root, 'tests/page/ask.js'), os.path.join(page, 'build/page'),
                        os.path.join(root, 'page/engine.js')]
        self.node = None

    def start(self):
        # pylint: disable-next=consider-using-with
        self.node = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(self, **request):
        if not self.node:
            self.start()
        self.node.stdin.write(json.dumps(request) + '\n')
        self.node.stdin.flush()
        line = self.node.stdout.readline()
        if not line:
            self.close()
            return {'status': None, 'out': b'', 'said': '', 'ended': 'Node ended'}
        answer = json.loads(line)
        answer['out'] = base64.b64decode(answer.get('out', ''))
        return answer

    def files(self, folder, *names):
        self.call(folder=folder, names=list(names))

    def close(self):
        if self.node:
            self.node.stdin.close()
            self.node.wait()
            self.node.stdout.close()
            self.node = None


class Checks:
    def __init__(self, program, root, page, folder, everything):
        self.program, self.root, self.folder, self.everything = program, root, folder, everything
        self.module = Module(root, page)
        self.env = {**os.environ, 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC', 'NO_COLOR': '1'}

    def native(self, *words, folder=None):
        done = subprocess.run([self.program, *words], cwd=folder or self.folder, capture_output=True, check=False, env=self.env,
                              stdin=subprocess.DEVNULL, timeout=600)
        return done.returncode, done.stdout, done.stderr.decode(errors='replace')

    def difference(self, words, folder=None, with_said=True):
        """None, or what differs between both answers."""
        want = self.native(*words, folder=folder)
        got = self.module.call(words=list(words))
        if got['status'] != want[0]:
            return f'{words}: exit status {got["status"]}, not {want[0]}: {got["said"][-300:]!r}, not {want[2][-300:]!r}'
        if got['out'] != want[1]:
            at = next((i for i, (a, b) in enumerate(zip(got['out'], want[1])) if a != b), min(len(got['out']), len(want[1])))
            return f'{words}: differs at byte {at}: {got["out"][at - 40:at + 60]!r}, not {want[1][at - 40:at + 60]!r}'
        if with_said and got['said'] != want[2]:
            return f'{words}: says {got["said"]!r}, not {want[2]!r}'
        return None

    # ---- dumps ----

    def questions(self, name):
        for form in ('text', 'json', 'html', 'md'):
            yield 'report', name, '--no-source', '--format', form
        tables = TABLES if self.everything else ('kernels', 'warps', 'lanes', 'exceptions', 'memory')
        for table in tables:
            yield 'info', name, table
            yield 'info', name, table, '--json', '--wide'
        yield 'info', name
        yield 'check', name
        yield 'check', name, '--json', '--limit', '0'
        yield 'regs', name
        yield 'regs', name, '--json'
        yield 'bt', name
        yield 'locals', name
        yield 'mem', name, 'const[0]:0x160', '/xw', '64'
        yield 'disas', name, '--source'
        yield 'disas', name, '--regs'

    def of_dump(self, name):
        self.module.files(self.folder, name)
        opened = self.module.call(open=name)['opened']
        bad = []
        for words in self.questions(name):
            # a dump that is open has been opened once: the line about its damage is not said again
            bad.append(self.difference(words, with_said=not opened))
        bad.append(self.strip(name, opened))
        bad = [one for one in bad if one]
        yield f'{name}: answers as the program does', not bad, '\n'.join(bad[:3])

    def strip(self, name, opened):
        want = self.native('strip', name, '--for-issue', '-o', 'stripped')
        got = self.module.call(words=['strip', name, '--for-issue', '-o', '/made/stripped'])
        if (got['status'], got['out']) != want[:2]:
            return f'strip: {got["status"]} {got["out"]!r} {got["said"]!r}, not {want}'
        if want[0]:
            return None
        with open(os.path.join(self.folder, 'stripped'), 'rb') as file:
            content = file.read()
        os.unlink(os.path.join(self.folder, 'stripped'))
        return None if self.module.call(take='stripped')['out'] == content else f'strip writes another file ({opened})'

    def of_triage(self, names):
        self.module.files(self.folder, *names)
        records = b''
        for name in names:
            about = os.stat(os.path.join(self.folder, name))
            records += self.module.call(record=name, bytes=about.st_size, time=about.st_mtime_ns // 1000000)['out']
        path = self.module.call(put='records.jsonl', text=records.decode())['path']
        for form in ('text', 'json', 'html'):
            want = self.native('triage', '--format', form, *names)
            got = self.module.call(words=['triage', '--merge', path, '--format', form])
            yield f'a triage of {len(names)} dumps as {form}', got['out'] == want[1] and got['status'] == want[0], (got['said'], want[2])

    # ---- code ----

    def of_code(self):
        for where in ('cubins', 'fatbins'):
            folder = os.path.join(self.root, 'tests/data', where)
            names = sorted(name for name in os.listdir(folder) if name.endswith(('.cubin', '.fatbin')))
            names = names if self.everything else names[::4]
            self.module.files(folder, *names)
            bad = []
            for name in names:
                for words in (('info', name), ('lines', name), ('lines', name, '--json'), ('disas', name, '--source'), ('disas', name, '--json'),
                              ('report', name), ('symbolize', name, '0x0')):
                    bad.append(self.difference(words, folder))
            bad = [one for one in bad if one]
            yield f'{len(names)} {where}: answers as the program does', not bad, '\n'.join(bad[:3])

    def of_sources(self):
        folder = os.path.join(self.folder, 'with-sources')
        shutil.copytree(os.path.join(self.root, 'tests/kernels'), os.path.join(folder, 'kernels'))
        shutil.copy(os.path.join(self.root, 'examples/dumps/illegal-address.nvcudmp'), folder)
        self.module.files(folder, 'illegal-address.nvcudmp', 'kernels/deep.cu', 'kernels/include/cute/atom/copy_atom.hpp')
        self.module.call(open='illegal-address.nvcudmp')
        bad = self.difference(('report', 'illegal-address.nvcudmp', '--source-dir', 'kernels'), folder)
        yield 'sources below a folder are shown', not bad, bad

    def of_size(self):
        name, most = 'sparse.nvcudmp', 200 << 20
        subprocess.run([sys.executable, os.path.join(self.root, 'bench/gen_huge.py'), '--sparse', '60', '--busy-sms', '4',
                        os.path.join(self.folder, name)], check=True, stdout=subprocess.DEVNULL)
        self.module.files(self.folder, name)
        before = self.module.call(words=['--version'])['rss']
        opened = self.module.call(open=name)['opened']
        bad = [self.difference(words) for words in (('report', name, '--no-source'), ('info', name, 'memory'), ('mem', name, 'global:0x600000000000'))]
        used = self.module.call(words=['check', name])['rss'] - before
        os.unlink(os.path.join(self.folder, name))
        bad = [one for one in bad if one]
        yield 'a dump of 60 GB is read where it is asked for', opened and not bad and used <= most, (opened, bad, used >> 20)

    # ---- bad input ----

    def of_seeds(self):
        for kind in sorted(os.listdir(os.path.join(self.root, 'fuzz/seeds'))):
            folder = os.path.join(self.root, 'fuzz/seeds', kind)
            names = sorted(name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name)))
            names = names if self.everything else names[:40]
            self.module.files(folder, *names)
            bad = []
            for name in names:
                for words in (('report', name), ('report', name, '--format', 'html'), ('info', name, 'lanes', '--json'), ('check', name),
                              ('disas', name), ('lines', name)):
                    got = self.module.call(words=list(words))
                    if got['ended']:
                        if got['ended'].startswith('the module'):
                            bad.append(f'{words}: {got["ended"]}')
                        self.module.files(folder, *names)
                bad.append(self.difference(('report', name), folder))
            bad = [one for one in bad if one]
            yield f'{len(names)} seeds of {kind}: nothing stops it, and it says what the program says', not bad, '\n'.join(bad[:3])

    def of_refusals(self):
        with open(os.path.join(self.folder, 'notes.txt'), 'w', encoding='utf-8') as file:
            file.write('no dump\n')
        open(os.path.join(self.folder, 'empty'), 'w', encoding='utf-8').close()
        self.module.files(self.folder, 'notes.txt', 'empty')
        bad = [self.difference(words) for words in (('report', 'notes.txt'), ('report', 'empty'), ('report', 'absent'), ('info', 'notes.txt'),
                                                    ('check', 'notes.txt'), ('nonsense',), ('report', '--nonsense', 'empty'), ('regs',))]
        bad = [one for one in bad if one]
        yield 'what cannot be read is refused in the program\'s words', not bad, '\n'.join(bad)
        got = self.module.call(words=['exec', '--', 'true'])
        yield 'verbs of processes say that there are none', got['status'] == 1 and 'a page has none' in got['said'], got


def build_dumps(root, folder, everything):
    builders = os.path.join(root, 'tests/builders')
    for name in os.listdir(os.path.join(root, 'examples/dumps')):
        if '.nvcudmp' in name:
            shutil.copy(os.path.join(root, 'examples/dumps', name), folder)
    listed = subprocess.run([sys.executable, os.path.join(builders, 'build.py'), '--list'], capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.split() if name not in HUGE]
    subprocess.run([sys.executable, os.path.join(builders, 'build.py'), folder, *names], check=True, stdout=subprocess.DEVNULL)
    for more in ('faults.py', 'hangs.py') if everything else ():
        subprocess.run([sys.executable, os.path.join(builders, more), folder], check=True, stdout=subprocess.DEVNULL)
    return sorted(name for name in os.listdir(folder) if '.nvcudmp' in name)


def cases(checks, names):
    yield from checks.of_refusals()
    yield from checks.of_sources()
    yield from checks.of_size()
    for name in names:
        yield from checks.of_dump(name)
    yield from checks.of_triage([name for name in names if name.endswith('.nvcudmp')])
    yield from checks.of_code()
    yield from checks.of_seeds()


def main():
    program, root, page = (os.path.abspath(path) for path in sys.argv[1:4])
    if not os.path.exists(os.path.join(page, 'build/page/module.wasm')):
        print(f'1..0 # SKIP no {page}/build/page/module.wasm: make page')
        return 0
    if not shutil.which('node'):
        print('1..0 # SKIP node is not installed')
        return 0
    failed = number = 0
    with tempfile.TemporaryDirectory() as folder:
        everything = '--all' in sys.argv
        checks = Checks(program, root, page, folder, everything)
        try:
            for number, (name, good, why) in enumerate(cases(checks, build_dumps(root, folder, everything)), 1):
                print(f'{"ok" if good else "not ok"} {number} - {name}', flush=True)
                if not good:
                    failed += 1
                    print('\n'.join('# ' + line for line in str(why).splitlines()), flush=True)
        finally:
            checks.module.close()
    print(f'1..{number}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
