#!/usr/bin/env python3
"""`warpscope info FILE` of files of images: what it says of each kernel is what ptxas said when it compiled it; every image of a program,
object, archive and fatbin is listed, damaged ones too; one image is in memory at a time. Prints TAP.

usage: test_images.py WARPSCOPE SOURCE_ROOT BUILT (the folder with host.program, host.object, host.archive)
"""
import json
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile

import schemas

SANITIZED = 'SANITIZED' in os.environ  # its memory is not the program's
WARPSCOPE, ROOT, BUILT = (os.path.abspath(a) for a in sys.argv[1:4])
DATA = os.path.join(ROOT, 'tests/data')
FOLDER = tempfile.mkdtemp()
NUMBER = [0, 0]


def result(name, why):
    """`why`: None when it is as it should be."""
    NUMBER[0] += 1
    NUMBER[1] += why is not None
    print(f'{"ok" if why is None else "not ok"} {NUMBER[0]} - {name}')
    if why is not None:
        print(f'# {why}')


def run(*arguments):
    return subprocess.run([WARPSCOPE, 'info', *arguments], capture_output=True, text=True, check=False, timeout=120)


def listed(*arguments):
    return json.loads(run('--json', *arguments).stdout)


def fixture(*parts):
    return os.path.join(DATA, *parts)


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def write(name, data):
    path = os.path.join(FOLDER, name)
    with open(path, 'wb') as file:
        file.write(data)
    return path


def kernels_of(path):
    return {k['function_mangled']: k for image in listed(path)['images'] for k in image['kernels']}


# ---- against ptxas ----

FIELDS = ('registers', 'frame_bytes', 'stack_bytes', 'shared_bytes', 'barriers')


def numbers_are_those_of_ptxas():
    with open(fixture('cubins/resources.tsv'), encoding='utf-8') as text:
        rows = [line.rstrip('\n').split('\t') for line in text if not line.startswith('#')][1:]
    cubins = {}
    for cubin, kernel, *numbers in rows:
        cubins.setdefault(cubin, {})[kernel] = dict(zip(FIELDS, map(int, numbers)))
    result('resources.tsv has rows of 30 cubins', None if len(cubins) >= 30 else f'{len(cubins)}')
    for cubin, wanted in cubins.items():
        got, wrong = kernels_of(fixture('cubins', cubin)), []
        if set(got) != set(wanted):
            wrong.append(f'kernels {sorted(got)}')
        for kernel, numbers in wanted.items():
            for field, number in numbers.items():
                said = got.get(kernel, {}).get(field)
                # a kernel without a barrier may have no record of them; objects know their stack only when they are linked
                unknown = said is None and (field == 'barriers' and number == 0 or field == 'stack_bytes' and cubin.split('.')[0] in OBJECTS)
                if said != number and not unknown:
                    wrong.append(f'{kernel}: {field} {said}, ptxas says {number}')
        result(f'{cubin} as ptxas says', '; '.join(wrong) or None)


OBJECTS = ('link_a', 'link_b', 'names')


def what_sources_say():
    """Launch bounds, clusters, parameters and lines, by the sources and the names of the cubins."""
    bounded = [k for image in listed(fixture('sim/bounds.O3.fatbin'), '--kernel', 'bounded')['images'] for k in image['kernels']]
    result('__launch_bounds__(64)', None if bounded and all(k['max_threads'] == 64 for k in bounded) else str(bounded))
    exchange, = kernels_of(fixture('cubins/cluster.li.sm_90.cubin')).values()
    good = exchange['cluster_dim'] == [4, 1, 1] and (exchange['num_params'], exchange['param_bytes']) == (2, 12) and exchange['max_threads'] is None
    result('__cluster_dims__(4, 1, 1), (unsigned *, unsigned)', None if good else str(exchange))
    result('256 bytes of shared memory, and 1,024 of the system', None if exchange['reserved_shared_bytes'] == 1024 else str(exchange))
    for cubin, word in (('deep.li.sm_90', '-lineinfo'), ('pair.G.sm_90', '-G'), ('bare.none.sm_90', 'not built'), ('names.none.sm_80', 'not built')):
        image, = listed(fixture('cubins', cubin + '.cubin'))['images']
        good = image['lines'] == word and all(k['lines'] == (word[0] == '-') for k in image['kernels']) and image['toolkit'] == '13.0'
        result(f'lines of {cubin}', None if good else str(image))
    deep, link = kernels_of(fixture('cubins/deep.li.sm_90.cubin')), kernels_of(fixture('cubins/bare.none.sm_90.cubin'))
    good = all(k['inlined_calls'] for k in deep.values()) and not any(k['inlined_calls'] for k in link.values())
    result('inlined calls', None if good else str((deep, link)))
    cubin = bytearray(read(fixture('cubins/deep.li.sm_90.cubin')))
    cubin = cubin.replace(b'.debug_line\0', b'.debug_lime\0')
    image, = listed(write('removed.cubin', cubin))['images']
    result('lines that were removed', None if image['lines'] == 'removed' and not any(k['lines'] for k in image['kernels']) else str(image))


# ---- every kind of file ----

def every_image_of_every_file():
    bare = [('sm_80', 'cubin', 'zstd'), ('sm_90', 'cubin', 'zstd'), ('compute_90', 'ptx', 'zstd')]
    debug = [('sm_90', 'cubin', 'lz4'), ('compute_90', 'ptx', 'lz4')]
    files = {'fatbin': (fixture('fatbins/bare.li.zstd.fatbin'), bare, {None}),
             'program': (os.path.join(BUILT, 'host.program'), None, {'.nv_fatbin'}),
             'object': (os.path.join(BUILT, 'host.object'), None, {'__nv_relfatbin'}),
             'archive': (os.path.join(BUILT, 'host.archive'), None,
                         {'a-long-member-name-of-host.program', 'a-long-member-name-of-host.object'})}
    for what, (path, wanted, containers) in files.items():
        answer = listed(path)
        got = [(i['arch'], i['kind'], i['packing']) for i in answer['images']]
        fits = wanted is None and set(got) <= set(bare + debug) and len(got) >= 2 or got == wanted
        names = all([k['function'] for k in i['kernels']] == ['no_lines(int const*, int const*, int*)'] for i in answer['images'])
        good = fits and names and {i['container'] for i in answer['images']} == containers
        result(f'images of a {what}', None if good else str(answer)[:600])
        text = run(path).stdout
        said = re.findall(r'^image (\d+), (\w+): (unlinked cubin|cubin|PTX)', text, re.M)
        good = [(int(n), a) for n, a, _ in said] == [(i['image'], i['arch']) for i in answer['images']] and f'\n{len(got)} images: ' in text
        result(f'the same of a {what} as text', None if good else text[:600])
    ptx = listed(files['fatbin'][0])['images'][2]
    result('PTX says its version', None if re.fullmatch(r'9\.\d', ptx['ptx_version']) else str(ptx))
    for arguments, archs in ((('--arch', 'sm_80'), ['sm_80']), (('--arch', '90'), ['sm_90', 'compute_90']), (('--kernel', 'no_lines'), [b[0] for b in bare]),
                             (('--kernel', '_Z8no_linesPKiS0_Pi', '--arch', 'sm_90'), ['sm_90', 'compute_90'])):
        got = [i['arch'] for i in listed(*arguments, files['fatbin'][0])['images']]
        result(' '.join(arguments), None if got == archs else str(got))


def refusals():
    def expect(name, status, words, *arguments):
        done = run(*arguments)
        good = done.returncode == status and re.search(words, done.stderr)
        result(name, None if good else str(done)[:500])
    fatbin, dump = fixture('fatbins/bare.li.zstd.fatbin'), os.path.join(ROOT, 'examples/dumps/hang.nvcudmp')
    expect('a program without GPU code', 1, ': no GPU code inside', sys.executable)
    expect('a kernel that is not there', 1, ': no kernel nosuch for sm_80$', '--kernel', 'nosuch', '--arch', 'sm_80', fatbin)
    expect('an architecture that is not there', 1, ': no GPU code for sm_75$', '--arch', 'sm_75', fatbin)
    expect('no architecture', 2, "--arch takes sm_NN, not 'x'", '--arch', 'x', fatbin)
    expect('--kernel of a dump', 2, '--arch and --kernel choose from the images', '--kernel', 'k', dump)
    expect('a table of a program', 1, 'these verbs read it: info, lines', fatbin, 'warps')
    expect('images of a dump', 2, "no table 'images'; use: warpscope info DUMP modules", dump, 'images')


# ---- damage ----

def damage_is_local():
    fatbin = bytearray(read(fixture('fatbins/bare.li.zstd.fatbin')))
    first = listed(fixture('fatbins/bare.li.zstd.fatbin'))['images'][0]
    at = int(first['file_off'], 16)
    fatbin[at + 20:at + 60] = bytes(40)
    path = write('damaged.fatbin', fatbin)
    images = listed(path)['images']
    good = [bool(i.get('damage')) for i in images] == [True, False, False] and images[0]['kernels'] is None and images[0]['kernels_why'] == 'damaged'
    result('an image that does not unpack', None if good else str(images)[:600])
    done = run(path)
    good = done.returncode == 0 and re.search(r'^image 0, sm_80: cubin .*\n  damaged: .+\n\nimage 1, sm_90: cubin', done.stdout)
    result('the same as text', None if good else str(done)[:600])
    program = read(os.path.join(BUILT, 'host.program'))
    done = run(write('cut.program', program[:-100]))
    result('a program that is cut says so', None if done.returncode == 1 and 'GPU code in it cannot be read: the file is cut' in done.stderr else str(done))
    broken = bytearray(program)
    struct.pack_into('<I', broken, 64 + 16 + 4, 1 << 30)  # the header of its first entry
    done = run(write('broken.program', broken))
    good = done.returncode == 0 and 'a fatbin entry is broken (file offset 0x50)' in done.stderr and 'image 0, ' in done.stdout
    result('a broken fatbin loses what follows in it, and the next one is listed', None if good else str(done)[:600])
    whole = [name for name in sorted(os.listdir(fixture('cubins'))) if name.endswith('.cubin') and 'damage' in listed(fixture('cubins', name))['images'][0]]
    result('no committed cubin is damaged', str(whole) if whole else None)
    # an object's variables, which a linker places, take no bytes: here there are fewer behind them than they take
    objects = bytearray(read(fixture('cubins/names.none.sm_90.cubin')))
    at, n = struct.unpack_from('<Q', objects, 40)[0], struct.unpack_from('<H', objects, 60)[0]
    later = [at + 64 * i for i in range(n) if struct.unpack_from('<I', objects, at + 64 * i + 4)[0] in (0x70000007, 0x7000000a)]
    for header in later:
        struct.pack_into('<Q', objects, header + 32, 1 << 20)
    image, = listed(write('large.cubin', objects))['images']
    result('variables of an object take no bytes', None if later and 'damage' not in image else str((later, image))[:600])
    cubin = read(fixture('cubins/deep.li.sm_90.cubin'))
    image, = listed(write('cut.cubin', cubin[:len(cubin) * 3 // 4]))['images']
    result('a cubin that is cut', None if 'damage' in image and image['arch'] == 'sm_90' else str(image)[:600])


# ---- size ----

def entry(kind, payload):
    return struct.pack('<HHIQIIHHIIIQQQ', kind, 0x101, 64, len(payload), 0, 0, 1, 0, 90, 0, 0, 0, 0, 0) + payload


def packed(payload, size):
    """An entry that unpacks to `size` bytes."""
    padded = payload + bytes(-len(payload) % 8)
    return struct.pack('<HHIQIIHHIIIQQQ', 1, 0x101, 64, len(padded), len(payload), 0, 9, 0, 90, 0, 0, 0x2000, 0, size) + padded


def lz4_of_spaces(size):
    """A block of LZ4: a space, and a match of `size` - 6 more, five literals."""
    more, out = size - 6 - 4 - 15, bytearray([0x1f]) + b' ' + struct.pack('<H', 1)
    while more >= 255:
        out.append(255)
        more -= 255
    return bytes(out) + bytes([more, 0x50]) + b'     '


def one_image_is_in_memory():
    size, n = 4 << 20, 100
    block = lz4_of_spaces(size)
    body = packed(block, size) * n
    path = write('large.fatbin', struct.pack('<IHHQ', 0xba55ed50, 1, 16, len(body)) + body)
    done = run(path)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    good = done.returncode == 0 and f'\n{n} images: {n} for compute_90; 0 kernels\n' in done.stdout and (SANITIZED or memory < 100)
    result(f'{n * size >> 20} MiB of images in less than 100 MiB', None if good else f'{memory} MiB: {str(done)[-300:]}')


def long_lists_end():
    body = b''.join(entry(1, f'.version 9.0 // .entry no\n.target sm_90a /* .entry no */ .visible .entry k{i:04}(".entry no")\n{{}}'.encode().ljust(104))
                    for i in range(600))
    path = write('many.fatbin', struct.pack('<IHHQ', 0xba55ed50, 1, 16, len(body)) + body)
    text = run(path).stdout
    good = text.endswith('... and 200 more rows; --limit 0 shows all\n\n600 images: 600 for compute_90a; 600 kernels\n') and '\n  k0499\n' in text
    result('1,000 rows, and how many more there are', None if good and 'k0500' not in text else text[-300:])
    result('--limit 0', None if '\n  k0599\n' in run('--limit', '0', path).stdout else 'k0599 is missing')
    answer = listed(path)
    some = listed('--limit', '3', path)
    good = len(answer['images']) == 600 and 'rows_left_out' not in answer and some['rows_left_out'] == 1197
    good &= [k['function'] for i in some['images'] for k in i['kernels']] == ['k0000']
    result('as data they are whole, or as many as asked for', None if good else str(some)[:300])


def answers_fit_the_schema():
    if not schemas.INSTALLED:
        NUMBER[0] += 1
        print(f'ok {NUMBER[0]} - answers fit the schema # SKIP {schemas.SKIPPED}')
        return
    paths = [fixture('cubins', name) for name in sorted(os.listdir(fixture('cubins'))) if name.endswith('.cubin')]
    paths += [os.path.join(FOLDER, name) for name in ('damaged.fatbin', 'cut.cubin', 'removed.cubin')] + [os.path.join(BUILT, 'host.archive')]
    why = next((f'{path}: {why}' for path in paths if (why := schemas.misfit(listed(path)))), None)
    result(f'{len(paths)} answers fit the schema', why)


def main():
    numbers_are_those_of_ptxas()
    what_sources_say()
    every_image_of_every_file()
    refusals()
    damage_is_local()
    long_lists_end()
    answers_fit_the_schema()
    one_image_is_in_memory()
    print(f'1..{NUMBER[0]}')
    return 1 if NUMBER[1] else 0


if __name__ == '__main__':
    sys.exit(main())
