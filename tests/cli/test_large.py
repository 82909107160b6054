#!/usr/bin/env python3
"""A dump of 60 GB (a sparse file) in bounded memory: mapped, and in windows where there is no room in the address space.
Prints TAP.

usage: test_large.py WARPSCOPE SOURCE_ROOT
"""
import os
import resource
import struct
import sys
import tempfile

WARPSCOPE, ROOT = (os.path.abspath(path) for path in sys.argv[1:3])
SANITIZED = 'SANITIZED' in os.environ  # it takes address space and memory of its own
sys.path.insert(0, os.path.join(ROOT, 'tests', 'builders'))
import reader  # noqa: E402

DUMP = os.path.join(ROOT, 'examples/dumps/illegal-address.nvcudmp')
GLOBAL = 2  # section of it: 8,192 bytes of global memory
MARK = bytes(range(0x41, 0x49))
SPACE, MEMORY = 1 << 30, 64e6
number = failed = 0


def case(name, wrong):
    global number, failed
    number += 1
    failed += bool(wrong)
    print(f'{"not ok" if wrong else "ok"} {number} - {name}' + (f': {wrong}' if wrong else ''), flush=True)


def run(*words, space=None):
    """Exit status, output, and the most memory that was in use, in bytes."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        if space:
            resource.setrlimit(resource.RLIMIT_AS, (space, space))
        os.dup2(write_end, 1)
        os.close(read_end)
        os.execv(WARPSCOPE, [WARPSCOPE, *words])
    os.close(write_end)
    with os.fdopen(read_end, 'rb') as output:
        said = output.read().decode()
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), said, usage.ru_maxrss * 1024


def large(path, size):
    """The example with its second section of global memory at the end, so many bytes long; all zeros but the last ones."""
    with open(DUMP, 'rb') as dump:
        data = bytearray(dump.read())
    parsed = reader.Reader(bytes(data))
    section, at = parsed.sections[GLOBAL], (len(data) + 4095) // 4096 * 4096
    headers_at, = struct.unpack_from('<Q', data, 40)
    struct.pack_into('<QQ', data, headers_at + GLOBAL * 64 + 24, at, size)
    with open(path, 'wb') as made:
        made.write(data)
        made.truncate(at + size)
        made.seek(at + size - len(MARK))
        made.write(MARK)
    return f'0x{section.addr + size - len(MARK):x}'


def compare(path, last):
    reports = []
    for how, space in (('mapped', None), ('in windows', SPACE)):
        for verb, words in ('report', ('--no-source', path)), ('mem', (path, last, '/8xb')), ('check', (path,)):
            status, said, memory = run(verb, *words, space=space)
            wrong = status not in (0, 10) and f'status {status}' or memory > MEMORY and f'{memory / 1e6:.0f} MB'
            case(f'{how}: {verb}', wrong or verb == 'mem' and '0x41' not in said and said)
            if verb == 'report':
                reports.append(said)
    case('the reports are the same', reports[0] != reports[1] and reports)


def main():
    with tempfile.TemporaryDirectory(prefix='ws-large-') as folder:
        path = os.path.join(folder, 'large.nvcudmp')
        if SANITIZED:
            print('1..0 # SKIP a sanitizer takes more address space than the limit')
            return 0
        try:
            last = large(path, 60 << 30)
        except OSError as error:
            print(f'1..0 # SKIP a sparse file of 60 GB: {error}')
            return 0
        print('1..7')
        compare(path, last)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
