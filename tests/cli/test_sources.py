#!/usr/bin/env python3
"""Which files of this machine a page may quote, when a dump that anybody made names them. Prints TAP.

usage: test_sources.py WARPSCOPE SOURCE_ROOT
"""
import os
import re
import subprocess
import sys
import tempfile

LINES = 60
TEXT = ''.join(f'secret line {n} of the file\n' for n in range(1, LINES + 1))
SIZE, TIME = len(TEXT), 1_600_000_000
INNERMOST = 18  # the line of the innermost call of the file in the dump; no other is before it


class Wrong(Exception):
    pass


class World:
    """Folders with files, as a user and an attacker might have them."""

    def __init__(self, folder):
        self.folder = os.path.realpath(folder)
        for name in ('work/sub', 'other', 'work/links'):
            os.makedirs(self.path(name))
        for name in ('work/kernel.cu', 'work/sub/deep.cuh', 'other/kernel.cu', 'other/passwd', 'other/notes.txt', 'other/only.cu', 'work/plain',
                     'work/KERNEL2.CU', 'work/script.py'):
            self.write(name)
        for name, lines in (('empty', 0), ('short', 1), ('before', INNERMOST - 1), ('just', INNERMOST)):
            self.write(f'work/{name}.cu', ''.join(TEXT.splitlines(True)[:lines]))
        os.mkfifo(self.path('work/fifo.cu'))
        os.mkdir(self.path('work/folder.cu'))
        with open(self.path('work/huge.cu'), 'wb') as file:
            file.write(TEXT.encode())
            file.truncate(1 << 30)
        for link, to in (('work/out.cu', '../other/kernel.cu'), ('work/passwd.cu', self.path('other/passwd')),
                         ('work/inside.cu', 'sub/deep.cuh'), ('work/links/up', '../../other'), ('work/zero.cu', '/dev/zero'),
                         ('work/loop.cu', 'loop.cu'), ('work/absolute.cu', self.path('work/kernel.cu')), ('link', 'work')):
            os.symlink(to, self.path(link))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text=TEXT):
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.write(text)
        os.utime(self.path(name), (TIME, TIME))


SHOWN, HIDDEN = True, False
# name of the file in the dump ({}: the folder of everything), its size and time there, options, current folder,
# whether its lines may be shown, words that the page must have
CASES = (
    ('a source of the size of the one compiled', '{}/work/kernel.cu', SIZE, TIME, (), 'other', SHOWN, None),
    ('the same with another time, and a note', '{}/work/kernel.cu', SIZE, TIME + 9, (), 'other', SHOWN, 'but different times'),
    ('upper case', '{}/work/KERNEL2.CU', SIZE, TIME, (), 'other', SHOWN, None),
    ('Python', '{}/work/script.py', SIZE, TIME, (), 'other', SHOWN, None),
    ('another size', '{}/work/kernel.cu', SIZE + 1, TIME, (), 'work', HIDDEN, f'it has {SIZE} bytes and had {SIZE + 1}.*--source-dir'),
    ('another size below a folder that was given, and a note', '{}/work/kernel.cu', SIZE + 1, TIME, ('--source-dir', '{}/work'), 'other',
     SHOWN, f'{SIZE} bytes here, {SIZE + 1} when compiled'),
    ('no size, elsewhere', '{}/work/kernel.cu', 0, 0, (), 'other', HIDDEN, 'was not recorded.*--source-dir'),
    ('no size, below the current folder', '{}/work/kernel.cu', 0, 0, (), 'work', SHOWN, None),
    ('no size, deeper below the current folder', '{}/work/sub/deep.cuh', 0, 0, (), 'work', SHOWN, None),
    ('no size, the root as current folder', '{}/work/kernel.cu', 0, 0, (), '/', HIDDEN, 'was not recorded'),
    ('no size, another time, and a note', '{}/work/kernel.cu', 0, TIME - 5, (), 'work', SHOWN, 'its time differs'),
    ('no size, a link out of the current folder', '{}/work/out.cu', 0, 0, (), 'work', HIDDEN, 'was not recorded'),
    ('no size, a folder that was given', '{}/work/kernel.cu', 0, 0, ('--source-dir', '{}/work'), 'other', SHOWN, None),
    ('no suffix, its very size', '{}/other/passwd', SIZE, TIME, (), 'other', HIDDEN, 'not that of a source.*--source-dir'),
    ('another suffix, its very size', '{}/other/notes.txt', SIZE, TIME, (), 'other', HIDDEN, 'not that of a source'),
    ('no suffix, no size, the current folder', '{}/other/passwd', 0, 0, (), 'other', HIDDEN, 'not that of a source'),
    ('/etc/passwd', '/etc/passwd', None, 0, (), 'other', HIDDEN, 'not that of a source'),
    ('no suffix, a folder that was given', '{}/work/plain', 0, 0, ('--source-dir', '{}/work'), 'other', SHOWN, None),
    ('a link with a suffix to a file without, its very size', '{}/work/passwd.cu', SIZE, TIME, (), 'work', HIDDEN, 'not that of a source'),
    ('a link to a source, its very size', '{}/work/out.cu', SIZE, TIME, (), 'other', SHOWN, None),
    ('a relative name', 'kernel.cu', 0, 0, (), 'work', SHOWN, None),
    ('a relative name out of the current folder', '../other/kernel.cu', 0, 0, (), 'work', HIDDEN, 'was not recorded'),
    ('a given folder: a link out of it', '/x/out.cu', 0, 0, ('--source-dir', '{}/work'), 'other', HIDDEN, 'leads out of the given folder'),
    ('a given folder: a folder that is a link out of it', '/x/links/up/only.cu', 0, 0, ('--source-dir', '{}/work'), 'work/links', HIDDEN,
     'leads out'),
    ('a given folder: .. out of it', '/x/../../other/kernel.cu', SIZE + 1, 0, ('--source-dir', '{}/work/sub'), 'work/links', HIDDEN,
     'leads out of the given folder'),
    ('a given folder: .. that stays', '/x/sub/../kernel.cu', 0, 0, ('--source-dir', '{}/work'), 'other', SHOWN, None),
    ('a given folder: a link that stays', '/x/inside.cu', 0, 0, ('--source-dir', '{}/work'), 'other', SHOWN, None),
    ('a given folder: an absolute link that stays', '/x/absolute.cu', 0, 0, ('--source-dir', '{}/work'), 'other', SHOWN, None),
    ('a given folder: the root', '{}/work/kernel.cu', SIZE + 5, 0, ('--source-dir', '/'), 'other', SHOWN, 'bytes here'),
    ('a map to the root', '/x/y{}/work/kernel.cu', SIZE + 5, 0, ('--source-map', '/x/y=/'), 'other', SHOWN, 'bytes here'),
    ('a given folder that is a link', '/x/kernel.cu', 0, 0, ('--source-dir', '{}/link'), 'other', SHOWN, None),
    ('a given folder, relative', '/x/kernel.cu', 0, 0, ('--source-dir', '../work'), 'other', SHOWN, None),
    ('a map', '/x/y/kernel.cu', SIZE + 5, 0, ('--source-map', '/x/y={}/work'), 'other', SHOWN, 'bytes here'),
    ('a map: .. out of it', '/x/y/../other/kernel.cu', SIZE + 5, 0, ('--source-map', '/x/y={}/work'), 'other', HIDDEN, 'leads out'),
    ('a map: a link out of it', '/x/y/out.cu', SIZE + 5, 0, ('--source-map', '/x/y={}/work'), 'other', HIDDEN, 'leads out'),
    ('a map of the file itself', '/x/y/z.cu', SIZE + 5, 0, ('--source-map', '/x/y/z.cu={}/other/kernel.cu'), 'work', SHOWN, 'bytes here'),
    ('Windows: a given folder', 'C:\\build\\sub\\deep.cuh', 0, 0, ('--source-dir', '{}/work'), 'other', SHOWN, None),
    ('Windows: a map', 'C:\\build\\sub\\deep.cuh', 0, 0, ('--source-map', 'C:\\build={}/work'), 'other', SHOWN, None),
    ('Windows: .. out of a map', 'C:\\build\\..\\other\\kernel.cu', 0, 0, ('--source-map', 'C:\\build={}/work'), 'other', HIDDEN, 'leads out'),
    ('Windows: nothing given', 'C:\\build\\sub\\deep.cuh', 0, 0, (), 'work', HIDDEN, 'Not on this machine'),
    ('a FIFO', '{}/work/fifo.cu', SIZE, 0, (), 'work', HIDDEN, 'not a regular file'),
    ('a FIFO in a given folder', '/x/fifo.cu', SIZE, 0, ('--source-dir', '{}/work'), 'other', HIDDEN, 'not a regular file'),
    ('a device', '/dev/zero', 0, 0, ('--source-dir', '/dev'), 'other', HIDDEN, 'not a regular file'),
    ('a link to a device', '{}/work/zero.cu', SIZE, 0, (), 'work', HIDDEN, 'not a regular file'),
    ('a folder', '{}/work/folder.cu', SIZE, 0, (), 'work', HIDDEN, 'not a regular file'),
    ('a link to itself', '{}/work/loop.cu', SIZE, 0, (), 'work', HIDDEN, 'Not on this machine'),
    ('a huge file, its very size', '{}/work/huge.cu', 1 << 30, 0, (), 'work', HIDDEN, 'too large'),
    ('a huge file in a given folder', '/x/huge.cu', 0, 0, ('--source-dir', '{}/work'), 'other', HIDDEN, 'too large'),
    ('an empty file', '{}/work/empty.cu', 0, 0, (), 'work', HIDDEN, 'fewer lines'),
    ('a file that ends before the line', '{}/work/short.cu', 0, 0, (), 'work', HIDDEN, 'fewer lines'),
    ('a file that ends at the line before', '{}/work/before.cu', 0, 0, (), 'work', HIDDEN, 'fewer lines'),
    ('a file that ends at the line', '{}/work/just.cu', 0, 0, (), 'work', SHOWN, None),
    ('a file of the system that has no size', '/proc/self/environ', 0, 0, ('--source-dir', '/proc'), 'other', HIDDEN, None),
    ('no source at all', '{}/work/kernel.cu', SIZE, TIME, ('--no-source',), 'work', HIDDEN, None),
)


def run_case(warpscope, hostile, world, case):
    _, path, size, time, options, folder, shown, words = case
    path = path.replace('{}', world.folder)
    if size is None:
        size = os.path.getsize(path)
    dump = world.path('dump')
    with open(dump, 'wb') as file:
        file.write(hostile.with_source('illegal-address', b'deep.cu', path.encode(), size, time))
    for kind in ('text', 'md', 'html', 'json'):
        more = ['--all'] if kind != 'json' else []
        done = subprocess.run([warpscope, 'report', '--format', kind, *more, *(o.replace('{}', world.folder) for o in options), dump],
                              capture_output=True, check=False, timeout=20, stdin=subprocess.DEVNULL, cwd=os.path.join(world.folder, folder))
        page = done.stdout.decode()
        if done.returncode != 0:
            raise Wrong(f'{kind}: exit {done.returncode}: {done.stderr.decode(errors="replace")[:300]}')
        quoted = 'secret line' in page or 'root:' in page
        if quoted != shown:
            raise Wrong(f'{kind}: {"its lines are shown" if quoted else "its lines are not shown"}')
        flat = ' '.join(page.split())
        if words and kind in ('text', 'md') and not re.search(words, flat.replace('\\', '')):
            raise Wrong(f'{kind} does not say: {words}: {flat[:3000]}')


def suffixes_documented(root):
    """The list of suffixes in the code is that of the man page."""
    with open(os.path.join(root, 'src/base/regular.c'), encoding='utf-8') as file:
        table = re.search(r'suffixes\[\] = \{(.*?)\};', file.read(), re.S)
    with open(os.path.join(root, 'docs/man/warpscope-report.1.scd'), encoding='utf-8') as file:
        listed = re.search(r'# SOURCES\n(.*?)\n# ', file.read(), re.S)
    code = {'.' + suffix for suffix in re.findall(r'"([^"]+)"', table.group(1))}
    page = {word.rstrip(',;') for word in listed.group(1).replace('\\', '').split()} if listed else set()
    if code - page:
        raise Wrong(f'the man page does not list {sorted(code - page)}')


def main():
    warpscope, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    sys.path.insert(0, os.path.join(root, 'tests/builders'))
    import hostile  # pylint: disable=import-outside-toplevel
    cases = CASES
    print(f'1..{len(cases) + 1}')
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder)
        jobs = [(c[0], lambda c=c: run_case(warpscope, hostile, world, c)) for c in cases]
        jobs.append(('the man page lists the suffixes', lambda: suffixes_documented(root)))
        for number, (name, job) in enumerate(jobs, 1):
            try:
                job()
                print(f'ok {number} - {name}')
            except (Wrong, subprocess.TimeoutExpired) as problem:
                failed += 1
                print(f'not ok {number} - {name}\n# {ascii(str(problem))[:800]}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
