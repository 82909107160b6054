#!/usr/bin/env python3
"""What is written may hold secrets: nobody can read it who could not read what it is made of. Prints TAP.

usage: test_modes.py WARPSCOPE SOURCE_ROOT
"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile

WARPSCOPE, ROOT = sys.argv[1:3]
DUMP = os.path.join(ROOT, 'examples/dumps/illegal-address.nvcudmp')
CUBIN = os.path.join(ROOT, 'tests/data/cubins/calls.G.sm_90.cubin')
ASSEMBLY = os.path.join(ROOT, 'tests/data/assembly/everything.s')

# Name: the file it reads, what it runs (IN, OUT).
VERBS = {
    'strip': (DUMP, ['strip', 'IN', '-o', 'OUT']),
    'strip --gzip': (DUMP, ['strip', 'IN', '--gzip', '-o', 'OUT']),
    'extract image': (DUMP, ['extract', 'IN', 'image', '0', '-o', 'OUT']),
    'extract section': (DUMP, ['extract', 'IN', 'section', '1', '-o', 'OUT']),
    'extract memory': (DUMP, ['extract', 'IN', 'memory', 'global:0x7f3a00000000+16', '-o', 'OUT']),
    'as': (ASSEMBLY, ['as', 'IN', '-o', 'OUT']),
    'report -o': (DUMP, ['report', 'IN', '-o', 'OUT']),
    'report --format html': (DUMP, ['report', 'IN', '--format', 'html', '-o', 'OUT']),
}

# mode of the source, umask, mode of a file that is there (None: none) -> mode of the output
CASES = [
    (0o644, 0o022, None, 0o644),
    (0o600, 0o022, None, 0o600),
    (0o600, 0o000, None, 0o600),
    (0o666, 0o000, None, 0o666),
    (0o640, 0o022, None, 0o640),
    (0o755, 0o022, None, 0o644),
    (0o444, 0o022, None, 0o644),
    (0o400, 0o022, None, 0o600),
    (0o644, 0o077, None, 0o600),
    (0o644, 0o022, 0o600, 0o600),
    (0o644, 0o022, 0o640, 0o640),
    (0o600, 0o022, 0o666, 0o600),
    (0o644, 0o022, 0o400, 0o600),
]


def mode_of(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def run(command, umask=0o022, **more):
    return subprocess.run(command, capture_output=True, check=False, timeout=60, umask=umask, **more)


def command_of(verb, source, out):
    names = {'IN': source, 'OUT': out}
    return [WARPSCOPE, *(names.get(word, word) for word in VERBS[verb][1])]


def one(verb, folder, mode, umask, there, wanted):
    source, out = os.path.join(folder, 'in'), os.path.join(folder, 'out')
    shutil.copy(VERBS[verb][0], source)
    os.chmod(source, mode)
    if there is not None:
        with open(out, 'wb') as old:
            old.write(b'old')
        os.chmod(out, there)
    done = run(command_of(verb, source, out), umask)
    if done.returncode:
        return str(done)
    if mode_of(out) != wanted:
        return f'{mode_of(out):o}, not {wanted:o}: source {mode:o}, umask {umask:o}, there {there}'
    return None


def links(verb, folder):
    """A link is replaced; what it led to stays as it was, and its permissions bound the new file's."""
    source, target, out = (os.path.join(folder, name) for name in ('in', 'target', 'out'))
    shutil.copy(VERBS[verb][0], source)
    os.chmod(source, 0o644)
    with open(target, 'wb') as old:
        old.write(b'old')
    os.chmod(target, 0o600)
    os.symlink(target, out)
    done = run(command_of(verb, source, out))
    with open(target, 'rb') as old:
        if done.returncode or old.read() != b'old' or mode_of(target) != 0o600:
            return f'the target changed: {done}'
    if os.path.islink(out) or mode_of(out) != 0o600:
        return f'{mode_of(out):o}'
    return None


def dangling(verb, folder):
    source, out = os.path.join(folder, 'in'), os.path.join(folder, 'out')
    shutil.copy(VERBS[verb][0], source)
    os.chmod(source, 0o600)
    os.symlink(os.path.join(folder, 'nowhere'), out)
    done = run(command_of(verb, source, out))
    if done.returncode or os.path.exists(os.path.join(folder, 'nowhere')):
        return str(done)
    return None if not os.path.islink(out) and mode_of(out) == 0o600 else f'{mode_of(out):o}'


def from_pipe(verb, folder):
    """Standard input: a pipe tells nothing, a file what it says."""
    out = os.path.join(folder, 'out')
    with open(VERBS[verb][0], 'rb') as dump:
        done = run(command_of(verb, '-', out), input=dump.read())
    if done.returncode or mode_of(out) != 0o600:
        return f'pipe: {mode_of(out):o} {done}'
    copy = os.path.join(folder, 'copy')
    shutil.copy(VERBS[verb][0], copy)
    os.chmod(copy, 0o640)
    os.unlink(out)
    with open(copy, 'rb') as dump:
        done = run(command_of(verb, '-', out), stdin=dump)
    return None if done.returncode == 0 and mode_of(out) == 0o640 else f'file: {mode_of(out):o} {done}'


def other_group(verb, folder):
    """The group of the new file is not the group that could read the source."""
    source, out = os.path.join(folder, 'in'), os.path.join(folder, 'out')
    shutil.copy(VERBS[verb][0], source)
    os.chown(source, 0, 12345)
    os.chmod(source, 0o640)
    done = run(command_of(verb, source, out))
    return None if done.returncode == 0 and mode_of(out) == 0o600 else f'{mode_of(out):o} {done}'


def store(folder, mode, wanted):
    source, kept = os.path.join(folder, 'in.cubin'), os.path.join(folder, 'store')
    shutil.copy(CUBIN, source)
    os.chmod(source, mode)
    done = run([WARPSCOPE, 'store', '--store', kept, 'add', source])
    made = [os.path.join(where, name) for where, _, names in os.walk(kept) for name in names]
    if done.returncode or not made:
        return str(done)
    return None if all(mode_of(path) == wanted for path in made) else f'{mode_of(made[0]):o}'


def main():
    cases = []
    for verb in VERBS:
        for case in CASES:
            cases.append((f'{verb}: source {case[0]:o}, umask {case[1]:o}, there {"nothing" if case[2] is None else f"{case[2]:o}"}',
                          lambda folder, verb=verb, case=case: one(verb, folder, *case)))
        cases.append((f'{verb} over a link', lambda folder, verb=verb: links(verb, folder)))
        cases.append((f'{verb} over a link to nothing', lambda folder, verb=verb: dangling(verb, folder)))
        cases.append((f'{verb} of standard input', lambda folder, verb=verb: from_pipe(verb, folder)))
        if os.getuid() == 0:
            cases.append((f'{verb} of a file of another group', lambda folder, verb=verb: other_group(verb, folder)))
    for mode, wanted in ((0o644, 0o644), (0o600, 0o600)):
        cases.append((f'store: source {mode:o}', lambda folder, mode=mode, wanted=wanted: store(folder, mode, wanted)))
    failed = 0
    print(f'1..{len(cases)}')
    for number, (name, check) in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as folder:
            problem = check(folder)
        failed += problem is not None
        print(f'{"ok" if problem is None else "not ok"} {number} - {name}')
        if problem:
            print(f'# {problem[:400]}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
