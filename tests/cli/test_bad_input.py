#!/usr/bin/env python3
"""Input that is no GPU core dump: one clear line on standard error, nothing on standard output, exit status 1.
Wrong usage: exit status 2. Prints TAP.

usage: test_bad_input.py WARPSCOPE SOURCE_ROOT
"""
import os
import re
import struct
import subprocess
import sys
import tempfile


def elf(e_class=2, data=1, e_type=4, machine=62, osabi=0, flags=0):
    """The header of an ELF file of another kind."""
    ident = b'\x7fELF' + bytes([e_class, data, 1, osabi]) + bytes(8)
    order = '<' if data == 1 else '>'
    if e_class == 1:
        return ident + struct.pack(order + 'HHIIIIIHHHHHH', e_type, machine, 1, 0, 0, 0, flags, 52, 0, 0, 40, 0, 0)
    return ident + struct.pack(order + 'HHIQQQIHHHHHH', e_type, machine, 1, 0, 0, 0, flags, 64, 0, 0, 64, 0, 0)


def make_files(folder, root):
    """[(name, path, words of which one must be in the message)]"""
    with open(os.path.join(root, 'tests/data/cubins/deep.li.sm_90.cubin'), 'rb') as handle:
        cubin = handle.read()
    files = {
        'empty': (b'', 'empty|too short'),
        'one-byte': (b'\x7f', 'too short'),
        'text': (b'this is a text about a core dump, and it is long enough to be looked at\n', 'not'),
        'host-core': (elf() + bytes(200), 'host|process|CPU'),
        'cubin': (cubin, 'cubin|module|not a GPU core dump'),
        'elf32': (elf(e_class=1, machine=3) + bytes(200), '32-bit'),
        'big-endian': (elf(data=2, machine=22) + bytes(200), 'big-endian'),
        'executable': (elf(e_type=2) + bytes(200), 'executable|program|not'),
    }
    out = []
    for name, (data, words) in files.items():
        path = os.path.join(folder, name)
        with open(path, 'wb') as handle:
            handle.write(data)
        out.append((name, path, words))
    out.append(('directory', folder, 'directory'))
    out.append(('missing', os.path.join(folder, 'no-such-file'), 'No such file'))
    return out


def run(*command):
    return subprocess.run(command, capture_output=True, check=False, timeout=60, stdin=subprocess.DEVNULL)


def problem_of(done, status, words):
    error = done.stderr.decode(errors='replace')
    if done.returncode != status:
        return f'exit status {done.returncode}: {error!r}'
    if done.stdout:
        return f'standard output has {done.stdout[:80]!r}'
    if error.count('\n') != 1 or not error.startswith('warpscope'):
        return f'not one line: {error!r}'
    if not re.search(words, error):
        return f'{error!r} has none of {words}'
    return None


def problem_of_refused(warpscope, folder, path):
    """As root, who may read everything, the program runs as nobody."""
    os.chmod(folder, 0o755)
    other = {'user': 65534} if os.geteuid() == 0 else {}
    try:
        done = subprocess.run([warpscope, path], capture_output=True, check=False, timeout=60, **other)
    except (PermissionError, OSError) as why:
        return f'SKIP cannot run the program as another user: {why.strerror}'
    return problem_of(done, 1, 'Permission denied')


def main():
    warpscope, root = sys.argv[1:]
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        for name, path, words in make_files(folder, root):
            for mode in ([], ['--json']):
                cases.append((f'{name} {" ".join(mode)}'.strip(),
                              problem_of(run(warpscope, 'report', *mode, path), 1, words)))
        refused = os.path.join(folder, 'refused')
        with open(refused, 'wb') as handle:
            handle.write(bytes(100))
        os.chmod(refused, 0)
        cases.append(('no permission', problem_of_refused(warpscope, folder, refused)))
        dump = os.path.join(root, 'examples/dumps/hang.nvcudmp')
        for name, arguments in (('no dump', ['report']), ('two dumps', ['report', dump, dump]),
                                ('unknown option', ['report', '--nonsense', dump]),
                                ('source map without a value', ['report', '--source-map', 'x', dump]),
                                ('unknown color', ['report', '--color', 'green', dump])):
            done = run(warpscope, *arguments)
            ok = done.returncode == 2 and not done.stdout and b'see: warpscope report --help' in done.stderr
            cases.append((f'usage: {name}', None if ok else f'{done.returncode} {done.stderr!r}'))
        for name, expected in (('hang', 11), ('illegal-address', 10), ('exited', 10)):
            done = run(warpscope, 'report', '--exit-code', os.path.join(root, f'examples/dumps/{name}.nvcudmp'))
            cases.append((f'--exit-code: {name}', None if done.returncode == expected else str(done.returncode)))
        done = run(warpscope, 'report', '--help')
        every = run(warpscope, 'help', 'options')
        ok = (done.returncode == every.returncode == 0
              and all(option in done.stdout for option in (b'--source-map', b'--source-dir', b'--no-source', b'--exit-code', b'--all', b'help options'))
              and all(option in every.stdout for option in (b'--json', b'--color', b'--columns', b'--size-limit', b'--output-limit')))
        cases.append(('help names every option', None if ok else (done.stdout + every.stdout).decode()))
        cases.append(('-V', None if run(warpscope, '-V').stdout == run(warpscope, '--version').stdout else str(run(warpscope, '-V'))))
        done = run(warpscope, '--version')
        cases.append(('--version', None if re.fullmatch(rb'warpscope \d+\.\d+\.\d+\nsandbox: .+\n', done.stdout) else str(done)))
        done = run(warpscope, dump, '--color', 'always')
        cases.append(('--color always', None if b'\x1b[' in done.stdout else 'no escape sequence'))
        done = run(warpscope, dump)
        cases.append(('no color in a pipe', 'escape sequences' if b'\x1b[' in done.stdout else None))
    failed = 0
    print(f'1..{len(cases)}')
    for number, (name, problem) in enumerate(cases, 1):
        if problem and problem.startswith('SKIP '):
            print(f'ok {number} - {name} # {problem}')
        elif problem:
            failed += 1
            print(f'not ok {number} - {name}\n# {problem[:400]}')
        else:
            print(f'ok {number} - {name}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
