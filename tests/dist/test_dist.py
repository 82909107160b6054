#!/usr/bin/env python3
"""What `make dist` made: static programs that run where nothing else is, and what goes with them. Prints TAP.

usage: test_dist.py WARPSCOPE SOURCE_ROOT DIST [--again]        (DIST: the folder of `make dist`)

The programs of other architectures run by qemu-user-static, which a binfmt_misc of the test's own user namespace starts (flag F: the
kernel opens it before the root folder changes). --again: everything is built a second time, in another folder and without ccache, and
compared; and the programs run in a Debian 11, which debootstrap makes.
"""
import fnmatch
import hashlib
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

MACHINES = {'amd64': 62, 'arm64': 183}
MOST_BYTES = 6_000_000
HERE = {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(platform.machine())
QEMU = '/usr/bin/qemu-aarch64-static'
BINFMT = (r':ws-arm64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:'
          r'\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:' + QEMU + ':F')
EMULATED = f"mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && printf '%s' '{BINFMT}' >/proc/sys/fs/binfmt_misc/register && "
DUMPS = ('illegal-address', 'exited', 'hang')
PT_INTERP, PT_GNU_STACK, PT_GNU_RELRO = 3, 0x6474e551, 0x6474e552


def read(*path):
    with open(os.path.join(*path), 'rb') as file:
        return file.read()


def run(*command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=1500, **more)


class Dist:
    def __init__(self, folder):
        self.folder, self.out = folder, os.path.join(folder, 'out')
        self.names = sorted(os.listdir(self.out))
        self.programs = {name.rsplit('-', 1)[1]: name for name in self.names if re.search('-linux-[a-z0-9]+$', name)}


# ---- what there is ----

def of_program(arch, content):
    machine, = struct.unpack_from('<H', content, 18)
    at, sections, count = struct.unpack_from('<QQ', content, 32) + (struct.unpack_from('<H', content, 56)[0],)
    segments = [struct.unpack_from('<II', content, at + i * 56) for i in range(count)]
    kinds = {kind: flags for kind, flags in segments}
    n_sections, = struct.unpack_from('<H', content, 60)
    tables = [struct.unpack_from('<I', content, sections + i * 64 + 4)[0] for i in range(n_sections)]
    yield f'{arch}: a program for it, at most {MOST_BYTES} bytes', machine == MACHINES[arch] and len(content) <= MOST_BYTES, len(content)
    yield f'{arch}: needs no loader, and is loaded anywhere', PT_INTERP not in kinds and content[16] == 3, kinds
    yield f'{arch}: has no table of symbols', 2 not in tables, tables
    yield f'{arch}: is hardened', PT_GNU_RELRO in kinds and not kinds[PT_GNU_STACK] & 1 and all(flags & 3 != 3 for kind, flags in segments
                                                                                            if kind == 1), segments


def of_archive(dist, arch, root, verbs):
    name = dist.programs[arch]
    with tarfile.open(os.path.join(dist.out, name + '.tar.gz')) as tar:
        files = {member.name[len(name) + 1:]: tar.extractfile(member).read() for member in tar.getmembers()}
        odd = [member.name for member in tar.getmembers() if member.uid or member.gid or not member.name.startswith(name + '/')]
    yield f'{arch}: the archive has the program, and belongs to nobody', files['bin/warpscope'] == read(dist.out, name) and not odd, odd
    pages = {f'share/man/man1/warpscope{verb}.1' for verb in ['', *('-' + verb for verb in verbs)]}
    shells = {'share/bash-completion/completions/warpscope', 'share/zsh/site-functions/_warpscope', 'share/fish/vendor_completions.d/warpscope.fish'}
    yield f'{arch}: a manual page for each verb, and completions', pages | shells <= set(files), (pages | shells) - set(files)
    bill = json.loads(read(dist.out, name + '.spdx.json'))
    libraries = {package['name']: package for package in bill['packages'] if package['name'] != 'warpscope'}
    licences = {os.path.basename(path) for path in files if '/licences/' in path}
    yield f'{arch}: the licence of each library that is in it', licences == set(libraries) and len(licences) >= 6, licences
    yield f'{arch}: the licence of Warpscope', files['share/doc/warpscope/LICENSE'] == read(root, 'LICENSE'), ''
    ours = next(package for package in bill['packages'] if package['name'] == 'warpscope')
    digest = hashlib.sha256(read(dist.out, name)).hexdigest()
    good = bill['spdxVersion'] == 'SPDX-2.3' and ours['checksums'][0]['checksumValue'] == digest
    linked = {row['relatedSpdxElement'] for row in bill['relationships'] if row['relationshipType'] == 'STATIC_LINK'}
    yield f'{arch}: the bill of materials is of this program', good and linked == {package['SPDXID'] for package in libraries.values()}, linked
    wanted = {'libc6-dev', 'zlib1g-dev', 'libzstd-dev', 'liblz4-dev', 'libiberty-dev', 'libedit-dev'}
    unsigned = [one for one in libraries if 'checksums' not in libraries[one] and not one.startswith('libgcc')]
    yield f'{arch}: its libraries are those of the sysroot, and libgcc', wanted <= set(libraries) and not unsigned, (set(libraries), unsigned)


def of_sums(dist):
    rows = dict(reversed(line.split('  ')) for line in read(dist.out, 'SHA256SUMS').decode().splitlines())
    bad = [name for name in dist.names if name != 'SHA256SUMS' and rows.get(name) != hashlib.sha256(read(dist.out, name)).hexdigest()]
    yield 'SHA256SUMS has every file', not bad and len(rows) == len(dist.names) - 1, bad


# ---- where it runs ----

def bare(arch, program, files, folder, *, read_only=True, user=None, base=None):
    """Runs a shell command's worth of words in a folder that has the program and `files` alone, or in a copy of `base`."""
    def call(*words):
        script = f'{EMULATED if arch != HERE else ""}mount -t tmpfs none "$1" && cp "$2" "$1/warpscope" && '
        if base:
            script = f'{EMULATED if arch != HERE else ""}mount --rbind "{base}" "$1" && mount -t tmpfs none "$1/mnt" && ' \
                     'cp "$2" "$1/mnt/warpscope" && '
        inside = '/mnt' if base else ''
        script += ''.join(f'cp "{file}" "$1{inside}/{os.path.basename(file)}" && ' for file in files)
        script += f'chmod -R a+rX "$1{inside}" && ' + (f'mount -o remount,ro "$1{inside}" && ' if read_only else '')
        script += f'to=$1 && shift 2 && exec chroot {f"--userspec={user}:{user}" if user else ""} "$to" {inside}/warpscope "$@"'
        own = ['-m'] if arch == HERE and os.getuid() == 0 else ['-Umr']
        return run('unshare', *own, 'sh', '-c', script, 'sh', folder, program, *words, env={'PATH': os.environ['PATH'] + ':/usr/sbin:/sbin'})
    return call


def of_places(arch, program, plain, root, folder, base=None):
    dumps = [os.path.join(root, 'examples/dumps', name + '.nvcudmp') for name in DUMPS]
    dumps = [dump for dump in dumps if os.path.exists(dump)]
    where = 'a Debian 11' if base else 'an empty folder'
    users = [None, 65534] if arch == HERE and os.getuid() == 0 else [None]
    call = bare(arch, program, dumps, folder, base=base)
    first = call('--version')
    if first.returncode and arch != HERE:
        yield f'{arch}: runs in {where} # SKIP no emulation: {first.stderr.decode().splitlines()[-1:]}', True, ''
        return
    inside = '/mnt/' if base else ''
    for user in users:
        call = bare(arch, program, dumps, folder, user=user, base=base)
        for form in ('text', 'json', 'html'):
            bad = []
            for dump in dumps:
                name = os.path.basename(dump)
                got = call('report', '--no-source', '--format', form, inside + name)
                want = run(plain, 'report', '--no-source', '--format', form, name, cwd=os.path.dirname(dump))
                if got.stdout.replace(inside.encode() + name.encode(), name.encode()) != want.stdout or got.returncode != want.returncode:
                    bad.append((name, got.returncode, got.stdout[-200:], got.stderr[-500:]))
            yield f'{arch}: the same {form} in {where}, read-only, as {user or "root"}', not bad and dumps, bad
    if not base:
        got = call('report', '/' + os.path.basename(dumps[0]), '-o', '/page.txt')
        yield f'{arch}: says that it cannot write there, and why', got.returncode == 1 and b'Read-only file system' in got.stderr, got
        got = bare(arch, program, dumps, folder, read_only=False)('report', '/' + os.path.basename(dumps[0]), '-o', '/page.txt')
        yield f'{arch}: writes where it may, without /dev and /proc', got.returncode == 0 and not got.stderr, got


def of_refusals(arch, program, root, folder):
    dump = os.path.join(root, 'examples/dumps/exited.nvcudmp')
    call = bare(arch, program, [dump], folder)
    if call('--version').returncode:
        return
    for words in (('report', '--api-lib', 'libcuda.so.1', '-'), ('debug', '--api-lib', 'libcuda.so.1'),
                  ('trace', '--api-lib', 'libcuda.so.1', 'replay', 'x.jsonl', '-')):
        got = call(*words)
        yield f'{arch}: says why {words[0]} has no --api-lib', got.returncode == 1 and b'a static program cannot load a library (--api-lib)' in got.stderr, got
    got = call('exec', '--software-gpu', 'true')
    yield f'{arch}: says why exec has no software GPU', got.returncode and b'the static program comes without it' in got.stderr, got


def of_pages(arch, program, root):
    """The golden pages, all but that of a program on the software GPU, whose driver is a library."""
    names = sorted(name[:-4] for name in os.listdir(os.path.join(root, 'tests/golden'))
                   if name.endswith('.cmd') and b'--software-gpu' not in read(root, 'tests/golden', name))
    own = ['unshare', '-Umr'] if arch != HERE else []
    script = (EMULATED if arch != HERE else '') + 'exec "$@"'
    got = run(*own, 'sh', '-c', script, 'sh', sys.executable, os.path.join(root, 'tests/golden/run.py'), program, root, *names)
    text = got.stdout.decode()
    if arch != HERE and not text:
        yield f'{arch}: the golden pages # SKIP no emulation', True, ''
        return
    bad = re.findall('^not ok.*', text, re.MULTILINE)
    yield f'{arch}: the golden pages, {len(re.findall("^ok", text, re.MULTILINE))} of them', got.returncode == 0 and 'ok' in text, (bad, text[-3000:])


# ---- once more ----

def of_another(dist, root, folder):
    """Built again: another folder, deeper, of another name; no cache of objects."""
    there = os.path.join(folder, 'some/where-else/checkout')
    files = run('git', '-C', root, 'ls-files', '-z').stdout.decode().split('\0')
    for name in filter(None, files):
        os.makedirs(os.path.dirname(os.path.join(there, name)), exist_ok=True)
        if os.path.isfile(os.path.join(root, name)):
            shutil.copy2(os.path.join(root, name), os.path.join(there, name))
    when = run('git', '-C', root, 'log', '-1', '--format=%ct').stdout.decode().strip()
    for arch in dist.programs:
        shutil.copytree(os.path.join(dist.folder, arch, 'sysroot'), os.path.join(there, 'made', arch, 'sysroot'), symlinks=True)
        done = run('tools/dist.sh', arch, os.path.join('made', arch), cwd=there, env={**os.environ, 'CCACHE_DISABLE': '1'})
        if done.returncode:
            yield f'{arch} builds again', False, done.stderr[-2000:]
            return
    run('tools/dist.py', 'made', 'made/out', *dist.programs, cwd=there, env={**os.environ, 'SOURCE_DATE_EPOCH': when})
    other = os.path.join(there, 'made/out')
    bad = [name for name in dist.names if not os.path.exists(os.path.join(other, name)) or read(other, name) != read(dist.out, name)]
    yield 'the same bytes when built in another folder', not bad, bad


def debian(folder, release):
    """A small system of that release, or why there is none."""
    base = os.path.join(folder, release)
    mirror = re.search(r'^URIs: (\S+)', read('/etc/apt/sources.list.d/debian.sources').decode(), re.MULTILINE)[1]
    done = run('debootstrap', '--variant=minbase', release, base, mirror)
    return base, done.stderr[-100:] if done.returncode else None


def of_container(dist, plain, root, folder):
    """The recipe of a container, done by hand: its system, what it copies, its user, its program."""
    recipe = read(root, 'examples/ci/Dockerfile').decode()
    (release, source, to, user, program), = re.findall(r'FROM debian:(12)-slim\n.*\nCOPY (\S+) (\S+)\nUSER (\S+)\nENTRYPOINT \["(.*)"\]\n', recipe)
    found = fnmatch.filter(dist.names, source.replace('${TARGETARCH}', HERE))
    yield 'the recipe of a container copies one program', found == [dist.programs[HERE]] and to == program and release == '12', found
    base, problem = debian(folder, 'bookworm')
    if problem:
        yield f'the container # SKIP debootstrap: {problem}', True, ''
        return
    shutil.copy(os.path.join(dist.out, found[0]), base + to)
    dump = os.path.join(root, 'examples/dumps/illegal-address.nvcudmp')
    shutil.copy(dump, base + '/mnt/core.nvcudmp')
    got = run('chroot', f'--userspec={user}', base, program, '/mnt/core.nvcudmp')
    want = run(plain, dump)
    yield 'in it a dump is read', got.stdout == want.stdout.replace(dump.encode(), b'/mnt/core.nvcudmp') and not got.returncode, (got.stdout[-300:], got.stderr)


def of_debian_11(dist, plain, root, folder):
    base, problem = debian(folder, 'bullseye')
    if problem:
        yield f'Debian 11 # SKIP debootstrap: {problem}', True, ''
        return
    place = os.path.join(folder, 'place')
    os.makedirs(place, exist_ok=True)
    for arch, name in dist.programs.items():
        yield from of_places(arch, os.path.join(dist.out, name), plain, root, place, base)


def cases(plain, root, dist, again):
    verbs = re.findall(r'^  ([a-z]+) ', run(plain, '--help').stdout.decode(), re.MULTILINE)
    yield 'a program for each architecture', set(dist.programs) == set(MACHINES), dist.names
    yield from of_sums(dist)
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, 'place')
        os.mkdir(place)
        for arch, name in dist.programs.items():
            program = os.path.join(dist.out, name)
            yield from of_program(arch, read(program))
            yield from of_archive(dist, arch, root, verbs)
            yield from of_places(arch, program, plain, root, place)
            yield from of_refusals(arch, program, root, place)
            yield from of_pages(arch, program, root)
        if again:
            yield from of_debian_11(dist, plain, root, folder)
            yield from of_container(dist, plain, root, folder)
            yield from of_another(dist, root, folder)


def main():
    plain, root, folder = (os.path.abspath(path) for path in sys.argv[1:4])
    if not os.path.isdir(os.path.join(folder, 'out')):
        print('1..0 # SKIP make dist was not run')
        return 0
    failed = number = 0
    for number, (name, good, what) in enumerate(cases(plain, root, Dist(folder), '--again' in sys.argv), 1):
        print(f'{"ok" if good else "not ok"} {number} - {name}', flush=True)
        failed += not good
        for line in [] if good else str(what).splitlines():
            print(f'# {line}')
    print(f'1..{number}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
