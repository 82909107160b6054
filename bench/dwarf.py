#!/usr/bin/env python3
"""Debug information of 50 MB: ours against libdw's walk. usage: dwarf.py BUILD

The input is the unit of a real -G image, again and again. Each figure is the best of RUNS processes, ours and libdw's in turn,
in CPU time.
"""
import gzip
import os
import struct
import subprocess
import sys

RUNS = 5
LIMIT = 1.0
BYTES = 50 << 20
IMAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests/data/faults/faults.G.sm_90.cubin.gz')


def sections(data):
    """name -> bytes, of an ELF file."""
    shoff, = struct.unpack_from('<Q', data, 40)
    count, names = struct.unpack_from('<HH', data, 60)
    headers = [struct.unpack_from('<IIQQQQIIQQ', data, shoff + 64 * i) for i in range(count)]
    names = data[headers[names][4]:]
    return {names[h[0]:names.index(b'\0', h[0])].decode(): data[h[4]:h[4] + h[5]] for h in headers}


def write(path):
    with gzip.open(IMAGE) as source:
        real = sections(source.read())
    unit = real['.debug_info']
    parts = [('', b''), ('.debug_info', unit * (BYTES // len(unit))), ('.debug_abbrev', real['.debug_abbrev']), ('.shstrtab', b'')]
    names = b''.join(name.encode() + b'\0' for name, _ in parts)
    body, headers, at, name = b'', b'', 64, 0
    for title, content in parts:
        content = names if title == '.shstrtab' else content
        kind = {'': 0, '.shstrtab': 3}.get(title, 1)
        headers += struct.pack('<IIQQQQIIQQ', name, kind, 0, 0, at if kind else 0, len(content), 0, 0, 1, 0)
        name += len(title) + 1
        at += len(content)
        body += content
    elf = b'\x7fELF\2\1\1\x41\x08' + bytes(7) + struct.pack('<HHIQQQIHHHHHH', 2, 190, 1, 0, 0, at, 0x5a04, 64, 0, 0, 64, len(parts), 3)
    with open(path, 'wb') as out:
        out.write(elf + body + headers)
    return len(unit) * (BYTES // len(unit))


def measure(program, path):
    done = subprocess.run([program, path], capture_output=True, text=True, check=True)
    return {key: float(value) for key, value in (line.split() for line in done.stdout.splitlines())}


def best(answers):
    return {key: min(answer[key] for answer in answers) for key in answers[0]}


def main():
    build = sys.argv[1]
    folder = os.path.join(build, 'bench')
    subprocess.run(['ninja', '-C', build, 'bench/bench-dwarf'], check=True, stdout=subprocess.DEVNULL)
    libdw = subprocess.run(['ninja', '-C', build, 'bench/dwarf-libdw'], check=False, capture_output=True).returncode == 0
    path = os.path.join(folder, 'dwarf.cubin')
    size = write(path)
    mine, theirs = [], []
    for _ in range(RUNS):
        mine.append(measure(os.path.join(folder, 'bench-dwarf'), path))
        if libdw:
            theirs.append(measure(os.path.join(folder, 'dwarf-libdw'), path))
    os.unlink(path)
    ours = best(mine)
    print(f'debug information of {size} bytes, {ours["functions"]:.0f} functions')
    verdict = 'SKIP: no libdw'
    if libdw:
        other = best(theirs)
        if ours['functions'] != other['functions']:
            sys.exit('dwarf.py: the two sides answer differently')
        ratio = ours['seconds'] / other['seconds']
        verdict = (f'libdw {other["seconds"] * 1e3:8.1f} ms  ratio {ratio:6.3f}  (at most {LIMIT}) '
                   f'{"good" if ratio <= LIMIT else "TOO SLOW"}')
    print(f'  dwarf-read      ours {ours["seconds"] * 1e3:8.1f} ms  {verdict}')
    print(f'  dwarf-memory    ours {ours["mib"]:8.1f} MiB')
    print(f'  dwarf-name      {ours["microseconds"]:.2f} us to find a function and name its parameters with their types')


if __name__ == '__main__':
    main()
