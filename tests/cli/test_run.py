#!/usr/bin/env python3
"""warpscope run: results, faults, dumps as CUDA's variables ask for, interruption. Prints TAP.

usage: test_run.py WARPSCOPE FOLDER

FOLDER has the fatbins of tests/sim/kernels (tests/data/sim).
"""
import gzip
import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'builders'))
import bombs  # noqa: E402

PROGRAM, IMAGES = (os.path.abspath(p) for p in sys.argv[1:3])
COLLATZ = [0, 1, 7, 2, 5, 8, 16, 3, 19, 6]
cases = []


def case(function):
    cases.append(function)
    return function


def run(folder, *words, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith('CUDA_')}
    environment.update(variables)
    return subprocess.run([PROGRAM, 'run', *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=60,
                          check=False)


def collatz(count, *more):
    """A launch of 64 threads over a buffer of `count` numbers; more than it has is a fault."""
    return [f'{IMAGES}/integer.O3.fatbin', '--kernel', 'int_collatz', '--grid', '2', '--block', '32', '--buffer',
            f'out=u32[{count}]', '--arg', '&out', '--arg', '60', *more]


@case
def committed_kernels_are_small(folder):
    assert folder and sum(entry.stat().st_size for entry in os.scandir(IMAGES)) <= 8 << 20


@case
def results_are_printed(folder):
    done = run(folder, *collatz(64, '--print', 'out:10'))
    assert done.returncode == 0 and done.stderr == '', done
    assert done.stdout == 'out: ' + ' '.join(map(str, COLLATZ)) + '\n', done.stdout


@case
def results_are_data(folder):
    done = run(folder, '--json', *collatz(64, '--print', 'out:10'))
    page = json.loads(done.stdout)
    assert page['schema'] == 'warpscope-run-1' and page['buffers'][0]['values'] == COLLATZ and page['as_expected'] is True, page


def textured(kernel, *words):
    """A launch of the kernels of textures, with a buffer `t` of 16 bytes from 0 on."""
    return [f'{IMAGES}/texture.O3.fatbin', '--kernel', kernel, '--block', '8', '--buffer', 't=u8[16]:index', '--buffer', 'at=f32[16]:index',
            '--buffer', 'o=f32[8]', '--arg', '&o', *words]


@case
def textures_and_surfaces_are_arguments(folder):
    at = ['--arg', '&at', '--arg', '8', '--json', '--print', 'o:4']
    # places (0,1) (2,3) (4,5) (6,7) of four rows of four
    for words, places in [('size=4x4', [4, 14, 15, 15]), ('size=4x4,border', [4, 14, None, None]),
                          ('size=2x4,pitch=4', [4, 13, 13, 13]), ('size=2x4,components=2', [4, 14, 14, 14]),
                          ('size=4x4,linear', [2, 11.5, 15, 15]), ('size=4x4,wrap,normalized', [0, 0, 0, 0])]:
        done = run(folder, *textured('sample_2d', '--arg', f'tex:t,float,{words}'), *at)
        want = [p / 255 if p is not None else 0 for p in places]
        got = [float(v) for v in json.loads(done.stdout)['buffers'][0]['values']]
        assert all(abs(g - w) < 1e-6 for g, w in zip(got, want)), (words, got, want)
    done = run(folder, f'{IMAGES}/texture.O3.fatbin', '--kernel', 'write_outside', '--block', '6', '--buffer', 'a=u32[16]', '--arg',
               'surf:a,size=4x4', '--arg', '3', '--arg', '1', '--print', 'a')
    assert done.stdout == 'a: 0 0 0 0 7 0 0 7 0 0 0 0 0 0 0 0\n', done


@case
def a_surface_that_traps_is_told(folder):
    done = run(folder, f'{IMAGES}/texture.O3.fatbin', '--kernel', 'write_outside', '--block', '6', '--buffer', 'a=u32[16]', '--arg',
               'surf:a,size=4x4', '--arg', '4', '--arg', '1')
    assert done.returncode == 10 and '4 bytes outside of a surface' in done.stderr, done
    assert 'likely: a place outside of a surface was accessed' in done.stdout and 'constant bank' not in done.stdout, done.stdout


@case
def images_that_cannot_be_are_refused(folder):
    for words, said in [('tex:no,size=4', 'no such buffer'), ('tex:t', 'is not an image'), ('tex:t,size=4x4,round', 'is not an image'),
                        ('tex:t,size=4x4x4x4', 'is not an image'), ('tex:t,size=4x4,half', 'is not an image'), ('tex:t,size=4,cube', 'is not an image'),
                        ('surf:t,size=4x5', 'not all in one allocation'), ('tex:t,size=4x4,linear', 'needs floating point'),
                        ('tex:t,size=2x2,components=3', '1, 2 or 4 components')]:
        done = run(folder, *textured('sample_2d', '--arg', words, '--arg', '&at', '--arg', '8'))
        assert done.returncode == 1 and said in done.stderr and done.stdout == '', (words, done)


@case
def buffers_go_to_files_and_are_compared(folder):
    done = run(folder, *collatz(64, '--save', 'out=numbers'))
    assert done.returncode == 0, done
    path = os.path.join(folder, 'numbers')
    with open(path, 'rb') as file:
        numbers = file.read()
    assert list(struct.unpack('<10I', numbers[:40])) == COLLATZ and len(numbers) == 256
    assert run(folder, *collatz(64, '--expect', 'out=numbers')).returncode == 0
    with open(path, 'wb') as file:
        file.write(numbers[:12] + struct.pack('<I', 77) + numbers[16:])
    done = run(folder, *collatz(64, '--expect', 'out=numbers'))
    assert done.returncode == 10 and done.stdout == 'out[3] is 2, not 77\n', done


@case
def several_launches_from_a_file(folder):
    with open(os.path.join(folder, 'launches'), 'w', encoding='utf-8') as file:
        file.write('# two, in order\n--kernel copy_words --block 32 --arg &a --arg &b --arg 8\n\n'
                   '  --kernel copy_words --grid 2 --block 32 --arg &c --arg &a --arg 8\n')
    done = run(folder, f'{IMAGES}/memory.O3.fatbin', '--launches', 'launches', '--buffer', 'a=u32[8]', '--buffer', 'b=u32[8]:index',
               '--buffer', 'c=u32[8]', '--print', 'c')
    assert done.returncode == 0 and done.stdout == 'c: 0 1 2 3 4 5 6 7\n', done


@case
def a_line_of_launches_is_one_thread_unless_it_says_more(folder):
    image = assemble(folder, '.arch sm_80\n.kernel k\n\t.param out 8\n\tMOV R0, 0x1\n'
                     '\tIMAD.WIDE.U32 R2, RZ, RZ, c[0x0][`(out)]\n\tRED.E.ADD.STRONG.GPU [R2], R0\n\tEXIT\n.end\n')
    with open(os.path.join(folder, 'launches'), 'w', encoding='utf-8') as file:
        file.write('--kernel k --arg &o\n--kernel k --grid 2,3,5 --block 7,11,1 --arg &p\n')
    done = run(folder, image, '--arch', '80', '--launches', 'launches', '--buffer', 'o=u32[1]', '--buffer', 'p=u32[1]', '--print', 'o', '--print', 'p')
    assert done.stdout == f'o: 1\np: {30 * 77}\n', done


@case
def every_schedule_gives_the_same(folder):
    pages = {run(folder, *collatz(64, '--schedule', how, '--seed', seed, '--print', 'out')).stdout
             for how in ('round-robin', 'oldest', 'random', 'adversarial') for seed in '12'}
    assert len(pages) == 1, pages


@case
def what_kernels_print_is_shown(folder):
    done = run(folder, f'{IMAGES}/service.O3.fatbin', '--kernel', 'print_some', '--block', '32', '--arg', '2')
    assert sorted(done.stdout.splitlines()) == ['thread 0 of 32: even  0.00 123456789a', 'thread 1 of 32: odd  0.25 123456789b'], done


@case
def a_stop_without_a_fault_is_told_of_the_device(folder):
    done = run(folder, *collatz(64, '--max-instructions', '20'))
    assert done.returncode == 10 and done.stdout.startswith('No fault on any device; '), done


@case
def a_fault_is_reported(folder):
    done = run(folder, *collatz(40))
    assert done.returncode == 10, done
    assert done.stdout.startswith('Illegal memory access in kernel `int_collatz`; device 0, block (1,0,0), thread (8,0,0)'), done.stdout
    assert os.listdir(folder) == [], os.listdir(folder)


@case
def lanes_wait_with_masks_that_have_them(folder):
    """Odd lanes call __syncwarp(mask): with even lanes and lane 3, with odd lanes, and with all lanes, of which half wait elsewhere."""
    for arch in 'sm_80', 'sm_90a':  # the mask is in a constant bank, and in a register
        with gzip.open(f'{IMAGES}/../exceptions/operands.li.{arch}.cubin.gz') as packed, open(f'{folder}/operands.cubin', 'wb') as image:
            image.write(packed.read())
        words = ['operands.cubin', '--arch', arch.rstrip('a'), '--kernel', 'lacks_itself', '--block', '32', '--buffer', 'out=u32[32]', '--arg',
                 '&out', '--arg']
        lacks = run(folder, *words, '0x5555555d')
        assert lacks.returncode == 10 and lacks.stdout.startswith('Illegal instruction in kernel `lacks_itself`'), lacks
        assert 'lane 1 waits with the mask 0x5555555d, which lacks it' in lacks.stdout, lacks
        assert run(folder, *words, '0xaaaaaaaa').returncode == 0, arch
        waits = run(folder, *words, '0xffffffff')
        assert waits.stdout.startswith('Hang suspected in kernel `lacks_itself`') and 'must name' not in waits.stdout, waits


@case
def a_bad_access_may_surface_late(folder):
    def focus(late):
        done = run(folder, '--json', *collatz(40, '--late', str(late)))
        return done, json.loads(done.stdout)
    at_once, at_once_page = focus(0)
    wrong = at_once_page['focus']
    assert at_once.returncode == 10 and wrong['pc'] == wrong['errorpc'], wrong
    done, page = focus(1)
    assert done.returncode == 10 and page['focus']['errorpc'] == wrong['errorpc'], page['focus']
    assert int(page['focus']['pc'], 16) == int(wrong['errorpc'], 16) + 16, page['focus']
    assert page['verdict']['summary'].split(';')[:2] == at_once_page['verdict']['summary'].split(';')[:2], page['verdict']
    done, page = focus(100000)  # all warps have exited by then: the multiprocessor alone knows
    assert done.returncode == 10 and page['focus']['warp'] is None and page['exceptions'][0]['code'] == 14, page['exceptions']
    assert page['exceptions'][0]['errorpc'] == wrong['errorpc'], page['exceptions']


@case
def a_dump_is_written_where_cuda_is_told(folder):
    on = {'CUDA_ENABLE_COREDUMP_ON_EXCEPTION': '1'}
    before = int(time.time())
    run(folder, *collatz(40), CUDA_COREDUMP_FILE='a.%h.%p.%t.%%', **on)
    name, = os.listdir(folder)
    match = re.fullmatch(r'a\.' + re.escape(socket.gethostname()) + r'\.(\d+)\.(\d+)\.%%', name)
    assert match and before <= int(match[2]) <= time.time(), name
    os.remove(os.path.join(folder, name))
    run(folder, *collatz(40), **on)
    name, = os.listdir(folder)
    assert re.fullmatch(r'core_\d+_.*_\d+\.nvcudmp', name), name
    os.remove(os.path.join(folder, name))
    assert run(folder, *collatz(64), **on).returncode == 0 and os.listdir(folder) == []


@case
def the_dump_says_what_the_run_said(folder):
    done = run(folder, *collatz(40), CUDA_ENABLE_COREDUMP_ON_EXCEPTION='1', CUDA_COREDUMP_FILE='dump')
    assert 'the dump is dump' in done.stderr, done.stderr
    report = subprocess.run([PROGRAM, 'report', 'dump'], cwd=folder, capture_output=True, text=True, check=True).stdout
    told = report.partition('The dump:')[0]
    for of_dump, of_device in (("the dump's memory", "the device's memory"), ('for this dump', 'for this device')):
        assert of_dump in told, report
        told = told.replace(of_dump, of_device)
    assert told == done.stdout.partition('The device:')[0], report
    check = subprocess.run([PROGRAM, 'check', 'dump'], cwd=folder, capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stdout


@case
def the_same_run_gives_the_same_bytes(folder):
    dumps = []
    for name, how in (('a', 'random'), ('b', 'random'), ('c', 'round-robin')):
        run(folder, *collatz(40, '--schedule', how, '--seed', '5'), CUDA_ENABLE_COREDUMP_ON_EXCEPTION='1', CUDA_COREDUMP_FILE=name)
        with open(os.path.join(folder, name), 'rb') as file:
            dumps.append(file.read())
    assert dumps[0] == dumps[1] and dumps[0] != dumps[2]


@case
def flags_leave_memory_out(folder):
    sizes = {}
    for flags in ('', 'skip_global_memory', 'gzip_compress', 'skip_everything'):
        done = run(folder, *collatz(40, '--buffer', 'large=u32[100000]:random'), CUDA_ENABLE_COREDUMP_ON_EXCEPTION='1',
                   CUDA_COREDUMP_FILE='dump', CUDA_COREDUMP_GENERATION_FLAGS=flags)
        sizes[flags] = os.path.getsize(os.path.join(folder, 'dump'))
        assert ("'skip_everything' is not known" in done.stderr) == (flags == 'skip_everything'), done.stderr
    assert sizes['skip_global_memory'] < sizes[''] - 400000 and sizes['gzip_compress'] < sizes[''], sizes
    assert sizes['skip_everything'] == sizes['']


def assemble(folder, text, name='k.cubin'):
    with open(os.path.join(folder, 'k.s'), 'w', encoding='utf-8') as file:
        file.write(text)
    subprocess.run([PROGRAM, 'as', 'k.s', '-o', name], cwd=folder, check=True)
    return name


def nothing(folder):
    """Words of a run that leaves buffers as they are filled."""
    return [assemble(folder, '.arch sm_80\n.kernel k\nEXIT\n.end\n'), '--arch', 'sm_80', '--kernel', 'k']


@case
def kernels_have_their_names_of_cpp(folder):
    kernels = ('_Z3sumPKiPi', '_Z4twini', '_Z4twinf', 'plain', '_Z5plainv')
    image = assemble(folder, '.arch sm_80\n' + ''.join(f'.kernel {name}\nEXIT\n.end\n' for name in kernels), 'names.cubin')
    for name, said in (('sum', ''), ('sum(int const*, int*)', ''), ('_Z3sumPKiPi', ''), ('twin(int)', ''), ('plain', ''),
                       ('twin', "warpscope: 'twin' is the name of 2 kernels: twin(int), twin(float)\n"),
                       ('nosuch', "warpscope: there is no kernel 'nosuch'; there are: sum(int const*, int*), twin(int), twin(float), plain, plain()\n")):
        done = run(folder, image, '--arch', 'sm_80', '--kernel', name)
        assert (done.returncode, done.stderr) == (1 if said else 0, said), done


def splitmix(index):
    mask = (1 << 64) - 1
    z = (index + 1) * 0x9e3779b97f4a7c15 & mask
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & mask
    z = (z ^ z >> 27) * 0x94d049bb133111eb & mask
    return z ^ z >> 31


@case
def buffers_are_filled_as_asked(folder):
    words = nothing(folder)
    chances = [splitmix(i) for i in range(3)]
    wanted = {
        'u8[3]:index': [0, 1, 2], 's8[2]:-128': [-128, -128], 'u8[1]:0xff': [255], 's16[2]:-2': [-2, -2], 'u16[1]:65535': [65535],
        's32[1]:-2147483648': [-2147483648], 's64[1]:-9223372036854775808': [-2**63], 's64[1]:9223372036854775807': [2**63 - 1],
        'u32[2]': [0, 0], 'u64[1]:zeros': [0], 'u64[3]:random': chances, 'u16[3]:random': [c & 0xffff for c in chances],
        's8[3]:random': [(c & 0xff ^ 0x80) - 0x80 for c in chances], 'f32[3]:index': [0, 1, 2], 'f64[3]:index': [0, 1, 2],
        'f32[2]:-1.5': [-1.5, -1.5], 'f64[1]:0.1': [0.1], 'f32[3]:random': [(c >> 40) / 2**24 for c in chances],
        'f64[3]:random': [(c >> 11) / 2**53 for c in chances],
    }
    for text, numbers in wanted.items():
        done = run(folder, *words, '--buffer', f'b={text}', '--print', 'b')
        kind = {'f3': lambda word: struct.unpack('<f', struct.pack('<f', float(word)))[0], 'f6': float}.get(text[:2], int)
        assert done.stdout[:3] == 'b: ' and [kind(word) for word in done.stdout[3:].split()] == numbers, (text, done)
        page = json.loads(run(folder, '--json', *words, '--buffer', f'b={text}', '--print', 'b').stdout)
        assert page['buffers'] == [{'name': 'b', 'type': text.split('[', maxsplit=1)[0], 'values': page['buffers'][0]['values']}], page
        assert [kind(value) for value in page['buffers'][0]['values']] == numbers, (text, page)


@case
def buffers_that_nobody_fills_may_be_larger_than_memory(folder):
    done = run(folder, *nothing(folder), '--memory', '20000000000', '--buffer', 'b=f64[2400000000]')
    assert done.returncode == 0 and done.stderr == '', done
    done = run(folder, *nothing(folder), '--buffer', 'b=f64[2400000000]')
    assert done.returncode == 1 and 'CUDA_ERROR_OUT_OF_MEMORY' in done.stderr and '--memory' in done.stderr, done
    for text in ('u8[1099511627777]', 'u8[0]', 'u8[18446744073709551615]', 'f64[200000000]:1', 'f64[134217729]:zeros'):
        done = run(folder, *nothing(folder), '--memory', '20000000000', '--buffer', f'b={text}')
        assert done.returncode == 1 and 'is not a count' in done.stderr, (text, done)


@case
def buffers_are_read_from_files(folder):
    words = nothing(folder)
    numbers = list(range(70000))  # more than is read at once
    with open(os.path.join(folder, 'in'), 'wb') as file:
        file.write(struct.pack('<70000H', *(n & 0xffff for n in numbers)))
    done = run(folder, *words, '--buffer', 'b=u16@in', '--print', 'b:3', '--save', 'b=out')
    assert done.stdout == 'b: 0 1 2\n', done
    with open(os.path.join(folder, 'in'), 'rb') as one, open(os.path.join(folder, 'out'), 'rb') as other:
        assert one.read() == other.read()
    done = run(folder, *words, '--buffer', 'b=u16@in', '--expect', 'b=out', '--buffer', 'c=u16[2]', '--expect', 'c=out')
    assert done.returncode == 10 and 'out: 140000 bytes, the buffer c has 4' in done.stderr, done
    with open(os.path.join(folder, 'odd'), 'wb') as file:
        file.write(b'abc')
    done = run(folder, *words, '--buffer', 'b=u16@odd')
    assert done.returncode == 1 and 'odd: 3 bytes are not a whole number of u16' in done.stderr, done


@case
def arguments_have_the_bytes_of_their_parameters(folder):
    load = ''.join(f'\tMOV R{4 + i}, c[0x0][0x{0x168 + 4 * i:x}]\n\tSTG.E [R2.64{"+0x%x" % (4 * i) if i else ""}], R{4 + i}\n' for i in range(8))
    image = assemble(folder, '.arch sm_80\n.kernel k\n\t.param out 8\n\t.param c 1\n\t.param s 2\n\t.param i 4\n\t.param l 8\n'
                     '\t.param p 8\n\t.param three 8\n'
                     f'\tMOV R2, c[0x0][`(out)]\n\tMOV R3, c[0x0][`(out+4)]\n{load}\tEXIT\n.end\n')
    with open(os.path.join(folder, 'pair'), 'wb') as file:
        file.write(bytes(range(8)))

    def stored(*arguments):
        words = [word for argument in arguments for word in ('--arg', argument)]
        done = run(folder, image, '--arch', 'sm_80', '--kernel', 'k', '--buffer', 'o=u32[8]', '--buffer', 'a=u32[4]', *words,
                   '--save', 'o=bytes')
        if done.returncode:
            return done
        with open(os.path.join(folder, 'bytes'), 'rb') as file:
            return struct.unpack('<bxhiqQ8s', file.read()[:32])
    c, s, i, l, p, pair = stored('&o', '-1', '-2', '-3', '-4', '&a+12', '@pair')
    assert [c, s, i, l, p % 256, pair] == [-1, -2, -3, -4, 12, bytes(range(8))], (c, s, i, l, p, pair)
    c, s, i, l, p, pair = stored('&o', '255', '0xffff', '4294967295', '0xffffffffffffffff', '0', '@pair')
    assert [c, s, i, l, p] == [-1, -1, -1, -1, 0], (c, s, i, l, p)
    c, s, i, l, p, pair = stored('&o', 's8:-128', 'u16:1', 'f32:1.5', 'f64:-2.5', 'u64:7', 's64:-1')
    assert [c, s, i, l, p, pair] == [-128, 1, 0x3fc00000, 0xc004000000000000 - 2**64, 7, b'\xff' * 8], (c, s, i, l, p, pair)
    good = ['&o', '1', '1', '1', '1', '&a', '@pair']
    for place, word, message in (
            (1, '256', "'256' is not an argument: a number, TYPE:NUMBER, &BUFFER, tex:..., surf:... or @FILE is expected, for a parameter of 1 bytes"),
            (1, '-129', "'-129' is not an argument"), (3, '1.5', "'1.5' is not an argument"), (3, 'u64:1', "'u64:1' has 8 bytes, parameter 3 has 4"),
            (2, 'x16:1', "'x16:1' is not an argument"), (5, '&b', "'&b': there is no such buffer"), (5, '&a+', "'&a+': there is no such buffer"),
            (4, 'u64:-1', "'u64:-1' is not an argument"), (2, '@pair', "'@pair' has 8 bytes, parameter 2 has 2"), (6, '@none', 'none: ')):
        done = stored(*good[:place], word, *good[place + 1:])
        assert done.returncode == 1 and message in done.stderr, (word, done)
    done = stored(*good[:-1])
    assert done.returncode == 1 and 'k has 7 parameters, 6 arguments are given' in done.stderr, done


@case
def a_report_reads_parameters_by_their_types(folder):
    """params.cu: every kind of scalar; `from` is NULL, so that it fails."""
    image = os.path.join(IMAGES, '..', 'cubins', 'params.G.sm_90.cubin')
    with open(os.path.join(folder, 'flags'), 'wb') as file:
        file.write(struct.pack('<IBxxxdd', 5 | 65 << 3 | 31 << 10, 0, 1.5, 0.1)[:24])

    def values(*arguments):
        words = [word for argument in arguments for word in ('--arg', argument)]
        done = run(folder, '--json', image, '--kernel', 'params', *words, '--arg', '0', '--arg', '@flags', '--arg', '0')
        params = json.loads(done.stdout)['kernels'][0]['params']
        return [param['value'] for param in params[:9]], params[9:]
    got, (source, flags, out) = values('1', '65', '200', '-5', '0xffffffffffffffff', 'f64:0.1', 'f32:0.1', '-2', '200')
    assert got == ['true', '65', '200', '-5', '18446744073709551615', '0.1', '0.1', 'job::Slow (-2)', 'job::Level::High (200)'], got
    assert [source['value'], source['type'], out['value']] == ['0x0', 'int const*', '0x0'], (source, out)
    assert [(f['path'], f['offset'], f.get('bit_offset'), f.get('bit_size'), f['value']) for f in flags['fields']] == [
        ('a', 0, 0, 3, '5'), ('b', 0, 3, 7, '65'), ('c', 0, 10, 5, '-1'), ('on', 2, None, None, 'false'), ('part', 8, None, None, None)], flags
    got, _ = values('0', '-128', '0', '32767', '9', 'f64:1e300', 'f32:16777216', '0', '3')
    assert got == ['false', '-128', '0', '32767', '9', '1e+300', '16777216', 'job::Plain (0)', 'job::Level::Low (3)'], got
    got, _ = values('2', '0', '255', '-32768', '0', 'f64:3.141592653589793', 'f32:-3.1415927', '5', '4')
    assert got == ['2', '0', '255', '-32768', '0', '3.141592653589793', '-3.1415927', '5', '4'], got


@case
def long_parameters_reach_the_kernel_and_the_report(folder):
    """Records of the second kind; up to sm_89 such parameters begin at 0x1a80."""
    with open(os.path.join(folder, 'table'), 'wb') as file:
        file.write(bytes(4800))
    for arch, base in ('sm_80', 0x1a80), ('sm_90', 0x210):
        image = os.path.join(IMAGES, '..', 'cubins', f'longparams.li.{arch}.cubin')
        words = ['--arch', arch, image, '--kernel', 'long_params', '--buffer', 'i=u32[1]', '--buffer', 'o=f32[1]', '--arg', '&i',
                 '--arg', '@table', '--arg', '&o']
        said = run(folder, *words).stdout
        assert '- likely: a null pointer was passed to the kernel (kernel parameter 1, byte 24 of it is null)' in said, said
        assert f'c[0x0][0x{base + 32:x}]' in said and f'1: 4800 bytes at 0x{base + 8:x}, ' in said, said
        kernel = json.loads(run(folder, '--json', *words).stdout)['kernels'][0]
        assert [(p['offset'], p['size']) for p in kernel['params']] == [(0, 8), (8, 4800), (4808, 8)], kernel
        assert 'hidden_param_bytes' not in kernel and 'unknown_attributes' not in kernel, kernel


@case
def hidden_parameters_are_told(folder):
    """They have no record, and no argument reaches them."""
    image = os.path.join(IMAGES, '..', 'cubins', 'hidden.none.sm_90.cubin')
    words = [image, '--kernel', 'hidden_params', '--arg', '5', '--arg', '0', '--arg', '0']
    done = run(folder, *words[:3], '--buffer', 'o=u32[3]:9', '--arg', '&o', *words[3:], '--print', 'o')
    assert done.returncode == 0 and done.stdout.split() == ['o:', '5', '0', '0'], done
    assert 'hidden_params has 172 bytes of hidden parameters, which its front end fills in at a launch: they are 0' in done.stderr, done
    said = run(folder, *words[:3], '--arg', '0', *words[3:]).stdout
    assert '172 bytes of parameters that the image does not describe, at 0x218: what launches the kernel fills them in' in said, said
    kernel = json.loads(run(folder, '--json', *words[:3], '--arg', '0', *words[3:]).stdout)['kernels'][0]
    assert kernel['hidden_param_bytes'] == 172 and len(kernel['params']) == 4, kernel


@case
def an_unknown_attribute_of_the_kernel_is_told(folder):
    image = assemble(folder, '.arch sm_90\n.kernel k\n\t.param a 4\n\tBPT.TRAP 0x1\n\tEXIT\n.end\n')
    with open(os.path.join(folder, image), 'r+b') as file:
        data = file.read()
        file.seek(data.index(bytes([3, 0x1b, 0xff, 0])) + 1)
        file.write(b'\x7f')
    done = run(folder, image, '--kernel', 'k', '--arg', '7')
    assert 'k has an attribute that is not known here, 0x7f: what it says of launches is not heeded' in done.stderr, done
    assert 'the image has 1 attribute of the kernel that is not known here (the first is 0x7f): there may be more parameters' in done.stdout, done
    kernel = json.loads(run(folder, '--json', image, '--kernel', 'k', '--arg', '7').stdout)['kernels'][0]
    assert kernel['unknown_attributes'] == 1, kernel


@case
def parameters_without_a_known_place_are_not_listed(folder):
    image = assemble(folder, '.arch sm_80\n.kernel k\n\t.param a 4\n\t.param b 8\n\tBPT.TRAP 0x1\n\tEXIT\n.end\n')
    words = ['--arch', 'sm_80', '--kernel', 'k', '--arg', '7', '--arg', '9']
    params = json.loads(run(folder, '--json', image, *words).stdout)['kernels'][0]['params']
    assert [(p['offset'], p['bytes']) for p in params] == [(0, '07000000'), (8, '0900000000000000')], params
    with open(os.path.join(folder, image), 'rb') as file:
        data = file.read()
    attribute = b'\x04\x0a\x08\x00'  # where in bank 0 they lie
    assert data.count(attribute) == 1
    with open(os.path.join(folder, image), 'wb') as file:
        file.write(data.replace(attribute, b'\x04\x7e\x08\x00'))
    assert json.loads(run(folder, '--json', image, *words).stdout)['kernels'][0]['params'] == []


@case
def launches_have_clusters_and_shared_memory(folder):
    image = assemble(folder, '.arch sm_90a\n.kernel k\n\t.param out 8\n\t.param at 4\n\tS2R R0, SR_CgaCtaId\n\tS2R R1, SR_CTAID.X\n'
                     '\tMOV R3, 0x4\n\tSHF.L.U32 R7, R0, 0x18, RZ\n\tIADD3 R6, R7, c[0x0][`(at)], RZ\n\tSTS [R6], R0\n\tLDS R0, [R6]\n'
                     '\tIMAD.WIDE.U32 R4, R1, R3, c[0x0][`(out)]\n\tST.E [R4], R0\n\tEXIT\n.end\n')
    words = [image, '--kernel', 'k', '--grid', '6', '--buffer', 'o=u32[6]', '--arg', '&o', '--print', 'o']
    for cluster, numbers in (('1', '0 0 0 0 0 0'), ('3', '0 1 2 0 1 2'), ('2,1,1', '0 1 0 1 0 1')):
        done = run(folder, *words, '--cluster', cluster, '--arg', '4')
        assert done.stdout == f'o: {numbers}\n', done
    done = run(folder, *words, '--cluster', '2', '--preferred-cluster', '6', '--arg', '4')
    assert done.stdout == 'o: 0 1 2 3 4 5\n', done
    done = run(folder, *words, '--cluster', '2', '--preferred-cluster', '3', '--arg', '4')
    assert done.returncode == 1 and 'CUDA_ERROR_INVALID_CLUSTER_SIZE: 3x1x1 blocks are preferred' in done.stderr, done
    done = run(folder, *words, '--cluster', '4', '--arg', '4')
    assert done.returncode == 1 and 'CUDA_ERROR_INVALID_CLUSTER_SIZE: clusters of 4x1x1 blocks' in done.stderr, done
    assert run(folder, *words, '--arg', '1024', '--shared', '16').returncode == 0
    assert run(folder, *words, '--arg', '1040', '--shared', '16').returncode == 10
    done = run(folder, *words, '--arg', '0', '--shared', '200000', '--grid', '133', '--cooperative')
    assert done.returncode == 1 and 'CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: 133 blocks, 132 fit' in done.stderr, done


@case
def a_barrier_is_found_in_each_block_of_a_cluster(folder):
    for rank in range(4):
        done = run(folder, f'{IMAGES}/cluster.O3.fatbin', '--kernel', 'mbarrier_of_one', '--grid', '2,2', '--block', '32', '--arg', str(rank),
                   '--max-instructions', '60000')
        assert '5 of 5 arrivals are missing' in done.stdout, done
        assert f'first      block ({rank % 2},{rank // 2},0), thread (0,0,0)' in done.stdout, done


@case
def a_kernel_may_be_in_any_image_of_a_program(folder):
    program = os.path.join(folder, 'program')
    with open(program, 'wb') as two:
        for name in ('integer', 'cluster'):
            with open(f'{IMAGES}/{name}.O3.fatbin', 'rb') as one:
                two.write(one.read())
    done = run(folder, program, '--kernel', 'mbarrier_of_one', '--grid', '2,2', '--block', '32', '--arg', '9')
    assert done.returncode == 0 and done.stderr == '', done
    done = run(folder, program, '--kernel', 'nowhere')
    assert done.returncode == 1 and "there is no kernel 'nowhere'; there are: int_crc, " in done.stderr, done


@case
def mistakes_are_told(folder):
    words = nothing(folder)
    with open(os.path.join(folder, 'launches'), 'w', encoding='utf-8') as file:
        file.write('# first\n\n--kernel k\n--grid 2\n')
    usage, failure = 2, 1
    for more, status, message in (
            (['--grid', '0'], usage, "--grid takes X, X,Y or X,Y,Z, not '0'"),
            (['--block', '1,2,3,4'], usage, "--block takes X, X,Y or X,Y,Z, not '1,2,3,4'"),
            (['--cluster', '2,'], usage, "--cluster takes X, X,Y or X,Y,Z, not '2,'"),
            (['--grid', '2147483648'], usage, '--grid takes'),
            (['--grid', '2147483647', '--arg', '1'], failure, 'k has 0 parameters'),  # the grid is one
            (['--schedule', 'fair'], usage, "--schedule takes round-robin, oldest, random or adversarial, not 'fair'"),
            (['--arch', 'sm_8'], usage, 'there is no device for --arch sm_8; there are sm_75, sm_80, sm_86, sm_87, sm_89, sm_90a, sm_100a, sm_107a, sm_120a'),
            (['--stack', '4294967296'], usage, '--stack and --late take less than 4 GiB'),
            (['--shared', '4294967296'], failure, '--shared takes less than 4 GiB'),
            (['--launches', 'launches'], usage, 'either --kernel or --launches is needed'),
            (['another'], usage, 'exactly one IMAGE is needed'),
            (['--buffer', 'u32[3]'], failure, "--buffer takes NAME=TYPE[COUNT], not 'u32[3]'"),
            (['--buffer', '=u32[3]'], failure, "--buffer takes NAME=TYPE[COUNT], not '=u32[3]'"),
            (['--buffer', 'a=u8[1]', '--buffer', 'a=u8[2]'], failure, "there are two buffers 'a'"),
            (['--buffer', 'a=i32[1]'], failure, "'i32' is not a type; there are u8, s8, u16, s16, u32, s32, u64, s64, f32, f64"),
            (['--buffer', 'a=u32'], failure, "a buffer is TYPE[COUNT], TYPE[COUNT]:FILLING or TYPE@FILE, not 'u32'"),
            (['--buffer', 'a=u32[1'], failure, "a count is missing in 'u32[1'"),
            (['--buffer', 'a=u32[0]'], failure, "'0' is not a count"),
            (['--buffer', 'a=u32[268435457]:1'], failure, "'268435457' is not a count"),
            (['--buffer', 'a=u32[1]x'], failure, "':' and a filling are expected after ']', not 'x'"),
            (['--buffer', 'a=u32[1]:-1'], failure, "a filling is zeros, index, random or a number of the type, not '-1'"),
            (['--buffer', 'a=s8[1]:128'], failure, 'a filling is'), (['--buffer', 'a=u8[1]:256'], failure, 'a filling is'),
            (['--buffer', 'a=s8[1]:-129'], failure, 'a filling is'), (['--buffer', 'a=f32[1]:1x'], failure, 'a filling is'),
            (['--buffer', 'a=u8[2000]', '--memory', '1000'], failure, 'CUDA_ERROR_OUT_OF_MEMORY: no room for an image'),
            (['--buffer', 'a=u8[20000]', '--memory', '10000'], failure, 'CUDA_ERROR_OUT_OF_MEMORY: no room for a buffer, 20000 bytes: '),
            (['--buffer', 'a=u8@none'], failure, 'none: No such file'),
            (['--buffer', 'a=u8[4]', '--print', 'b'], failure, '--print b: there is no such buffer'),
            (['--buffer', 'a=u8[4]', '--save', 'a'], failure, "--save takes BUFFER=FILE, not 'a'"),
            (['--buffer', 'a=u8[4]', '--save', 'b=x'], failure, "--save takes BUFFER=FILE, not 'b=x'"),
            (['--buffer', 'a=u8[4]', '--expect', 'b=x'], failure, "--expect takes BUFFER=FILE, not 'b=x'"),
            (['--buffer', 'a=u8[4]', '--expect', 'a=x'], failure, 'x: No such file'),
            (['--buffer', 'a=u8[4]', '--save', 'a=no/x'], failure, 'no/x'),
            (['--kernel', 'none'], failure, "there is no kernel 'none'; there are: k\n"), (['--arg', '1'], failure, 'k has 0 parameters, 1 arguments are given')):
        done = run(folder, *words, *more)
        assert done.returncode == status and message in done.stderr and done.stdout == '', (more, done)
    done = run(folder, words[0], '--arch', '80', '--launches', 'launches')
    assert done.returncode == 1 and 'a line of launches needs --kernel' in done.stderr and 'launches: line 4' in done.stderr, done
    done = run(folder, words[0], '--arch', '80', '--launches', 'none')
    assert done.returncode == 1 and 'none: No such file' in done.stderr, done
    done = run(folder, words[0], '--kernel', 'k', '--arch', 'sm_86')
    assert done.returncode == 0, done
    done = run(folder, words[0], '--kernel', 'k', '--arch', 'sm_75')
    assert done.returncode == 1 and 'CUDA_ERROR_NO_BINARY_FOR_GPU: an image for sm_80 on sm_75' in done.stderr, done


@case
def a_bad_image_is_refused_with_the_drivers_name_and_a_reason(folder):
    def refusal(sections):
        with open(os.path.join(folder, 'bad'), 'wb') as file:
            file.write(sections)
        done = run(folder, 'bad', '--kernel', 'kernel')
        assert done.returncode == 1 and done.stdout == '', done
        return done.stderr
    assert 'bad: CUDA_ERROR_INVALID_IMAGE: tables of relocations overlap' in refusal(bombs.build('shared-relocations', 0.01))
    code, symbols, strings = bombs.code_sections(name=b'f' * 5000)
    symbols = symbols[:-1] + (symbols[-1] + bombs.symbol(1, 0x12, 0, 0, 0, 0),)
    table = ('.rela.text.kernel', bombs.SHT_RELA, 0, 0, 2, 1, 24, struct.pack('<QQQ', 0, 2 << 32 | 2, 0))
    said = refusal(bombs.elf([code, symbols, strings, table]))
    assert f"bad: CUDA_ERROR_INVALID_IMAGE: undefined symbol '{'f' * 80}'" in said, said


@case
def memory_bounds_the_whole_device(folder):
    """270,336 threads are resident and use 16 KB of stack each: 4.4 GB, but for the bound."""
    loop = '.arch sm_90\n.kernel k\n.stack 16384\n\tMOV R1, c[0x0][0x28]\nagain:\tIADD3 R1, R1, -0x80, RZ\n\tSTL [R1], R1\n' \
        '\tISETP.GT.AND P0, PT, R1, 0x80, PT\n\t@P0 BRA `(again)\n\tEXIT\n.end\n'
    words = [PROGRAM, 'run', assemble(folder, loop), '--arch', 'sm_90', '--kernel', 'k', '--grid', '264', '--block', '1024', '--memory', str(100 << 20)]
    with open(os.path.join(folder, 'err'), 'w+', encoding='utf-8') as err:
        child = subprocess.Popen(words, cwd=folder, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        said = err.read()
    assert child.returncode == 1 and re.search('no room for local memory of a warp, 4096 bytes: the device takes 1048[0-9]{5} of 104857600', said), said
    assert said.rstrip().endswith('--memory says how much a device may take'), said
    assert usage.ru_maxrss * 1024 < 256 << 20, usage.ru_maxrss  # of what a sanitizer keeps for itself, too


@case
def what_the_device_cannot_execute_is_no_fault_of_the_kernel(folder):
    image = assemble(folder, '.arch sm_80\n.kernel k\n\tMOV R2, RZ\n\tTEX.SCR.DC R0, R1, R2, R2, 0x0, 0x58, 2D\n\tEXIT\n.end\n')
    done = run(folder, image, '--arch', 'sm_80', '--kernel', 'k', CUDA_ENABLE_COREDUMP_ON_EXCEPTION='1')
    assert done.returncode == 1 and '(the kernel is not to blame)' in done.stderr and done.stdout == '', done
    assert sorted(os.listdir(folder)) == ['k.cubin', 'k.s']


@case
def a_name_of_a_dump_may_be_too_long(folder):
    done = run(folder, *collatz(40), CUDA_ENABLE_COREDUMP_ON_EXCEPTION='1', CUDA_COREDUMP_FILE='%p' + 'x' * 5000)
    assert done.returncode == 10 and 'CUDA_COREDUMP_FILE is too long' in done.stderr and os.listdir(folder) == [], done


@case
def a_fault_is_data(folder):
    done = run(folder, '--json', *collatz(40))
    page = json.loads(done.stdout)
    assert done.returncode == 10 and page['schema'].startswith('warpscope-report-') and page['exceptions'][0]['threadIdx'] == [8, 0, 0], page
    done = run(folder, *collatz(40), CUDA_ENABLE_COREDUMP_ON_EXCEPTION='1', CUDA_COREDUMP_FILE='no/such/dump')
    assert done.returncode == 1 and 'no/such/dump' in done.stderr and done.stdout.startswith('Illegal memory access'), done


def spinning(folder, *words):
    """Threads that wait for blocks that are not there, for ever."""
    return [f'{IMAGES}/atomics.O3.fatbin', '--kernel', 'grid_barrier', '--grid', '2', '--block', '32', '--buffer', 'out=u32[192]',
            '--buffer', 'arrived=s32[1]:-2', '--buffer', 'in=u32[64]', '--arg', '&out', '--arg', '&arrived', '--arg', '&in', '--arg', '1',
            *words]


@case
def a_limit_of_instructions_ends_in_a_report(folder):
    done = run(folder, *spinning(folder, '--max-instructions', '100000'))
    assert done.returncode == 10 and 'as many as --max-instructions allows' in done.stderr, done
    assert 'grid_barrier' in done.stdout and 'spin' in done.stdout, done.stdout


@case
def a_limit_of_seconds_ends_in_a_report(folder):
    start = time.monotonic()
    done = run(folder, *spinning(folder, '--max-seconds', '1'))
    assert done.returncode == 10 and 'as long as --max-seconds allows' in done.stderr and 'grid_barrier' in done.stdout, done
    assert 'million' not in done.stderr and 1 <= time.monotonic() - start < 20, done.stderr


@case
def a_long_run_says_on_a_terminal_how_far_it_is(folder):
    ours, theirs = pty.openpty()
    with subprocess.Popen([PROGRAM, 'run', *spinning(folder, '--max-seconds', '2')], cwd=folder, stdin=subprocess.DEVNULL, stdout=theirs,
                          stderr=theirs) as process:
        os.close(theirs)
        said = b''
        try:
            while more := os.read(ours, 65536):
                said += more
        except OSError:  # the other side is closed
            pass
    os.close(ours)
    assert process.returncode == 10 and re.search(rb'\r\d+ million instructions ', said), said


@case
def control_c_ends_in_a_report(folder):
    with subprocess.Popen([PROGRAM, 'run', *spinning(folder)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        page, message = process.communicate(timeout=30)
    assert process.returncode == 10 and 'interrupted' in message and 'grid_barrier' in page, (process.returncode, message, page)


def main():
    failed = 0
    print(f'1..{len(cases)}')
    for number, function in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(folder)
                print(f'ok {number} - {function.__name__.replace("_", " ")}')
            except (AssertionError, subprocess.SubprocessError, ValueError, KeyError, OSError) as error:
                failed += 1
                print(f'not ok {number} - {function.__name__.replace("_", " ")}')
                print('\n'.join('# ' + line for line in f'{type(error).__name__}: {error}'.replace('\\n', '\n').splitlines()[:40]))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
