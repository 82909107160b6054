#!/usr/bin/env python3
"""Variables and expressions of -G code hold what the program planted, on every architecture. Prints TAP.

usage: test_vars.py WARPSCOPE IMAGES [ARCHITECTURE...]       (all of them, unless some are named)

tests/sim/kernels/vars.cu fails in its innermost function on the software GPU, and the dump is asked. What is in memory (M) must
have its planted value. What is in a register (R) may also have been given up by the compiler, or by a callee: the page must then
say so, and never another value.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../builders'))
PROGRAM, IMAGES = sys.argv[1], os.path.abspath(sys.argv[2])
ARCHITECTURES = sys.argv[3:] or '75 80 86 89 90 100 120'.split()
KERNEL = '_Z4varsPif3VeciPVi'
WHY = {'not live', 'not saved', 'optimized out'}
BOX = ('{<Base> = {id = 42, tag = 7}, <Other> = {weight = 0.75}, data = {1.5, 2.5, -3}, first = ADDRESS, flags = {a = 5, b = 99, c = -4, '
       'd = true, e = 0}, word = {i = 1065353216, f = 1, bytes = "\\000\\000\\200?"}, mode = Mode::OFF, anonymous = {inner = 0, '
       "letter = 10 '\\n'}}")

# frame: {variable: (where, value)}, with ADDRESS for any address
LOCALS = {
    0: {'this': 'R ADDRESS', 'by': 'R 3', 'fault': 'R 0x0', 'before': 'R 4'},
    1: {'big': 'R -5000000000', 'real': 'R 6.25', 'counters': 'R ADDRESS', 'fault': 'R 0x0', 'tiny': "R -5 '\\373'",
        'byte': "R 200 '\\310'", 'small': 'R -1234', 'wide': 'R 65000', 'whole': 'R -100000', 'natural': 'R 4000000000',
        'huge': 'R 1311768467463790320', 'single': 'R 1.5', 'twice': 'R -0.10000000000000001', 'letter': "R 87 'W'",
        'infinite': 'R inf', 'result': 'R never'},
    2: {'box': 'R @ADDRESS: ' + BOX, 'copy': 'M ' + BOX, 'vec': 'R ADDRESS', 'color': 'R GREEN', 'fault': 'R 0x0',
        'counters': 'M {{count = 34, step = 10}, {count = 5, step = 20}}', 'local': 'M {x = 1.25, y = -2.5, z = 3.75}',
        'quad': 'M {x = 1, y = 2, z = 3, w = 4}', 'pair': 'M {x = -7, y = 8}',
        'pixel': "M {x = 1 '\\001', y = 2 '\\002', z = 3 '\\003', w = 255 '\\377'}", 'half': 'M 1.5', 'halves': 'M {x = 0.5, y = -2}',
        'brain': 'M -3.5', 'eight': 'M 1', 'five': 'M -1', 'word': 'M {i = 1065353216, f = 1, bytes = "\\000\\000\\200?"}',
        'same': 'M {0 <repeats 19 times>, 1}', 'steps': 'M {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121}',
        'text': 'M "tile\\000\\000\\000"', 'node': 'M {value = 11, next = ADDRESS}', 'mode': 'R Mode::ON', 'result': 'R never',
        'tile': 'M {100, 101, 102, 103, 104, 105, 106, 107}'},
    3: {'depth': 'R 2', 'box': 'R @ADDRESS: ' + BOX, 'vec': 'R ADDRESS', 'fault': 'R 0x0', 'here': 'R 22'},
    4: {'depth': 'R 1', 'box': 'R @ADDRESS: ' + BOX, 'vec': 'R ADDRESS', 'fault': 'R 0x0', 'here': 'R 11', 'deeper': 'R 12', 'result': 'R never'},
    5: {'depth': 'R 0', 'box': 'R @ADDRESS: ' + BOX, 'vec': 'R ADDRESS', 'fault': 'R 0x0', 'here': 'R 0', 'deeper': 'R 1', 'result': 'R never'},
    6: {'out': 'R ADDRESS', 'f': 'R 1.5', 'given': 'M {x = 1.25, y = -2.5, z = 3.75}', 'n': 'R 0', 'fault': 'R 0x0',
        'box': 'M ' + BOX, 'index': 'R 0', 'odd': 'R 3', 'result': 'R never', 'sums': 'M {1.5, 1.5, 1.5, 1.5}'},
}

# (frame, expression, value)
EXPRESSIONS = [
    (2, 'table', '{10, 20, 30, 40}'), (2, 'table[2]', '30'), (2, 'axis', '{x = 0.5, y = 0.25, z = -1}'), (2, 'scale', '2.5'),
    (2, 'origin.z', '3'), (2, 'grid', '{{1, 2, 3}, {4, 5, 6}}'), (2, 'grid[1]', '{4, 5, 6}'), (2, 'grid[1][2]', '6'),
    (2, 'title', '"warpscope\\000\\000\\000\\000\\000\\000"'), (2, 'title[0:4]', '"warp"'), (2, 'second.value', '22'), (2, 'paint', 'BLUE'),
    (2, 'counter', '7'), (2, 'node.next->value', '22'), (2, '*node.next', '{value = 22, next = 0x0}'), (2, 'steps[2:5]', '{4, 9, 16}'),
    (2, 'steps[10]@2', '{100, 121}'), (2, 'steps[3] * 2 + 1', '19'), (2, 'steps[4] == 16', 'true'), (2, 'steps[4] > 16', 'false'),
    (2, 'copy.data[1]', '2.5'), (2, 'copy.id', '42'), (2, 'copy.weight', '0.75'), (2, 'copy.flags.c', '-4'), (2, 'copy.word.f', '1'),
    (2, 'copy.anonymous.letter', "10 '\\n'"), (2, 'copy.first[2]', '-3'), (2, '*copy.first@2', '{1.5, 2.5}'), (2, 'half * 2', '3'),
    (2, 'brain + half', '-2'), (2, 'quad.x / quad.w', '0.25'), (2, 'pixel.w + 1', '256'), (2, 'sizeof(copy)', '72'),
    (2, 'sizeof(Vec)', '12'), (2, '(int)local.y', '-2'), (2, '(char)87', "87 'W'"), (2, '(Color)5', 'GREEN'), (2, '(Mode)0', 'Mode::OFF'),
    (2, '&local', '(@local Vec*) ADDRESS'), (2, '*&local', '{x = 1.25, y = -2.5, z = 3.75}'), (2, '&tile[2]', '(@shared int*) ADDRESS'),
    (2, '*(@shared int *)&tile[2]', '102'), (2, '*(&tile[0] + 3)', '103'), (2, '&tile[5] - &tile[1]', '4'), (2, '&scale', '(@global float*) ADDRESS'),
    (2, '*(@global float *)&scale', '2.5'), (2, '(&node)->value', '11'), (2, 'counters[1].step % 7', '6'), (2, '-counters[0].count', '-34'),
    (2, '!counters[0].count', 'false'), (2, '~0', '-1'), (2, 'same[19] ? 1 : 2', '1'), (2, 'same[0] ? *(int *)0 : same[2] ? 5 : 6', '6'), (2, 'same[0] && *(int *)0', 'false'),
    (2, 'same[19] || steps[*(int *)0]', 'true'), (2, '&copy.data', '(@local double (*)[3]) ADDRESS'), (2, '1 ? 2', None), (2, '1 ? : 2', None), (2, 'GREEN + 1', '6'), (2, "text[0] == 't'", 'true'),
    (2, '/x word.i', '0x3f800000'), (2, '/f word.i', '1'), (2, '/t 10', '1010'), (2, '/o 64', '0100'), (2, '/c 65', "65 'A'"),
    (2, '/x grid', '{{0x1, 0x2, 0x3}, {0x4, 0x5, 0x6}}'), (2, '/d pixel', '{x = 1, y = 2, z = 3, w = -1}'), (2, '/u pixel.w', '255'),
    (2, '/x copy.flags.c', '0xfffffffc'), (0, 'count', '34'), (0, 'this->step', '10'), (0, 'threadIdx', '{x = 0, y = 0, z = 0}'), (0, 'blockDim.x', '40'),
    (0, 'gridDim', '{x = 1, y = 1, z = 1}'), (0, 'warpSize', '32'), (0, '$pc == $errorpc', 'true'), (0, '$R1 + 0 == $R1', 'true'),
    (0, '1u - 2', '4294967295'), (0, '1 - 2', '-1'), (0, '7 / 2', '3'), (0, '7 / 2.0', '3.5'),
    (0, '1 << 4 | 3', '19'), (6, 'box.data', '{1.5, 2.5, -3}'), (6, 'given.x + given.z', '5'), (6, 'sums[0:2]', '{1.5, 1.5}'),
    (2, '*((int (*)[3])grid + 1)', '{4, 5, 6}'), (2, '(int (*)[3])grid', '(int (*)[3]) ADDRESS'), (2, 'sizeof(int [2][3])', '24'), (2, 'sizeof(int (*)[3])', '8'),
    (2, '(int (*)[3', None), (2, '(int [0])5', None), (2, 'vars', '{void (int*, float, Vec, int, int volatile*)} ADDRESS <vars(int*, float, Vec, int, int volatile*)>'), (2, '*vars == &vars', 'true'),
    (2, '&vars', '(void (*)(int*, float, Vec, int, int volatile*)) ADDRESS <vars(int*, float, Vec, int, int volatile*)>'), (2, 'vars + 16 - vars', '16'), (2, '$pc > shapes', 'true'),
    (2, 'Counter::bump', '{int (Counter* const, int, int volatile*)} ADDRESS <Counter::bump(int, int volatile*)>'),
    (0, '$R255', '0'), (0, '$UR255', None), (2, 'sizeof copy', '72'), (2, 'sizeof copy.data + 1', '25'), (2, 'sizeof(copy)', '72'), (2, 'sizeof', None),
    (0, 'shapes::local', '{x = 1.25, y = -2.5, z = 3.75}'), (0, '&shapes::local', '(@local Vec*) ADDRESS'), (0, 'shapes::tile[3]', '103'), (0, 'shapes::local.y', '-2.5'),
    (0, 'vars::sums[1]', '1.5'), (2, 'vars::given.z', '3.75'), (0, "'shapes'::text", '"tile\\000\\000\\000"'), (6, "'Counter::bump(int, int volatile*)'::missing", None),
    (0, 'shapes::scale', '2.5'), (0, 'shapes::before', None), (0, 'shapes::index', None), (0, 'nothing::local', None), (0, 'make_float4::x', None),
    (0, "'vars.cu'::scale", '2.5'), (2, "'kernels/vars.cu'::grid[1][2]", '6'), (0, "'ars.cu'::scale", None), (0, "'vars.cu'::before", None), (0, "'/vars.cu'::scale", '2.5'),
    (2, '::scale', '2.5'), (2, '::local', None), (2, '::threadIdx', None), (2, "'scale'", '2.5'), (2, "'ns::second'.value", '22'), (2, "'l'", "108 'l'"), (2, "'local", None), (2, "''", None),
    (0, 'Mode::ON', 'Mode::ON'), (0, 'Color::GREEN', 'GREEN'), (2, 'RED', 'RED'), (2, '/d BLUE', '6'), (2, '-GREEN', '-5'), (2, 'GREEN == 5u', 'true'), (2, 'color == RED', 'false'), (2, '1, 2', '2'), (2, '(1, 2) + 3', '5'), (2, '/z 5', '0x00000005'), (2, '/z tiny', None), (1, '/z tiny', '0xfb'), (2, '/d 0xffffffff', '-1'), (2, '-0x80000000', '2147483648'), (2, '0xffffffff == -1', 'true'), (2, '-1 < 1u', 'false'), (2, '-1 < 5000000000', 'true'), (2, '{int} &steps[3]', '9'), (2, '{@shared int} &tile[2]', '102'), (2, '{int} vec', '1067450368'), (2, '{nothing} 5', None), (2, '(void)0', 'void'), (2, 'shapes', '{int (Box<double,3>&, Box<double,3>, Vec const*, Color, int volatile*)} ADDRESS <shapes(Box<double, 3>&, Box<double, 3>, Vec const*, Color, int volatile*)>'), (2, '&shapes', '(int (*)(Box<double,3>&, Box<double,3>, Vec const*, Color, int volatile*)) ADDRESS <shapes(Box<double, 3>&, Box<double, 3>, Vec const*, Color, int volatile*)>'), (0, 'Mode::GONE', None), (2, "'Counter::bump' == Counter::bump", 'true'), (2, "'shapes(Box<double, 3>&, Box<double, 3>, Vec const*, Color, int volatile*)' == shapes", 'true'),
    (2, "'shapes(int)'", None), (0, '$_isvoid(1)', '0'), (0, '$_isvoid($nothing)', None), (0, '$_isvoid', None), (0, '$_gdb_setting("width")', None),
    (0, '(@shared float *)16', '(@shared float*) 0x10'), (0, '(@shared float **)16', '(@shared float**) 0x10'), (0, '(float * @shared *)16', '(float* @shared*) 0x10'),
    (0, '(@global float * @shared *)16', '(@global float* @shared*) 0x10'), (0, '(float *)16', '(float*) 0x10'), (0, '(@generic float *)16', '(@generic float*) 0x10'), (6, '&out', '(@generic int* @parameter*) ADDRESS'),
    (6, 'nothing', None), (6, 'box.nothing', None), (6, '1 / 0', None), (6, '*(int *)', None), (6, 'box +', None),
]


NAMED = {7: 'a', 8: 'b', 9: 't', 10: 'n', 11: 'v', 12: 'f', 13: 'r'}
TEXTS = [''] + [f'\\{NAMED[lane]}' if lane in NAMED else f'\\{lane:03o}' for lane in range(1, 32)]  # of one character, the lane's number


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=False)


def same(got, want):
    """Texts are equal but for addresses where ADDRESS is wanted."""
    return re.fullmatch(re.escape(want).replace('ADDRESS', '0x[0-9a-f]+'), got) is not None


def launch(arch, folder, n_out=40, fault='0'):
    """Words of `run` and `debug`."""
    given = os.path.join(folder, 'given')
    with open(given, 'wb') as file:
        file.write(struct.pack('<3f', 1.25, -2.5, 3.75))
    return [os.path.join(IMAGES, 'vars.G.fatbin'), '--arch', f'sm_{arch}', '--kernel', KERNEL, '--block', '40', '--stack', '4096',
            '--buffer', f'out=s32[{n_out}]', '--buffer', 'fault=s32[1]', '--arg', '&out', '--arg', 'f32:1.5', '--arg', '@' + given,
            '--arg', '0', '--arg', fault]


def make_dump(arch, folder, n_out=40, fault='0'):
    path = os.path.join(folder, f'{arch}-{n_out}.nvcudmp')
    environment = {**os.environ, 'CUDA_ENABLE_COREDUMP_ON_EXCEPTION': '1', 'CUDA_COREDUMP_FILE': path}
    subprocess.run([PROGRAM, 'run', *launch(arch, folder, n_out, fault)], env=environment, capture_output=True, timeout=60, check=False)
    return path


def check_frame(dump, frame, wanted):
    """(exact values, problem)"""
    done = run('locals', '--json', dump, '--frame', str(frame))
    if done.returncode:
        return 0, done.stderr
    answer = json.loads(done.stdout)
    exact, found = 0, {}
    for one in answer['frame']['args'] + answer['locals']:
        found[one['name']] = one
    for name, planted in wanted.items():
        where, value = planted.split(' ', 1)
        one = found.pop(name, None)
        if one is None:
            return exact, f'{name} is missing'
        if one['value'] is None and where == 'R' and one['value_why'] in WHY:
            continue
        if one['value'] is None or not same(one['value'], value):
            return exact, f'{name} is {one["value"]!r} ({one.get("value_why")}), not {value!r}'
        exact += 1
    return exact, f'not planted: {sorted(found)}' if found else None


def check_expressions(dump):
    for frame, text, wanted in EXPRESSIONS:
        done = run('print', '--frame', str(frame), '--', dump, *(text.split(' ', 1) if text[0] == '/' else [text]))
        got = done.stdout.rstrip('\n')
        if wanted is None:
            if done.returncode != 1 or got:
                return f'{text}: {done.returncode}, {got!r}; it must be refused'
        elif wanted is not None and not same(got, wanted):
            return f'{text}: {got!r} {done.stderr!r}, not {wanted!r}'
    return None


def report(dump, *options):
    return json.loads(run('report', '--json', *options, dump).stdout)


def values(found):
    return {one['name']: (one['value'], one['in_address']) for one in found['focus']['variables']}


def check_report(dump):
    """The page has the pointer that was followed, and neither the value that was to be stored nor what is in memory."""
    found = values(report(dump))
    wanted = {'fault': ('0x0000000000000000', True), 'before': (None, False), 'by': (None, False)}
    if {name: found[name] for name in wanted} != wanted or not re.fullmatch('0x[0-9a-f]{16}', found['this'][0]):
        return str(found)
    kernels = run('info', dump, 'kernels').stdout
    if not same(re.search(r'vars\(.*', kernels)[0], 'vars(out=ADDRESS, f=1.5, given=..., n=0, fault=0x0)'):
        return kernels
    stripped = dump + '.stripped'
    done = run('strip', '--for-issue', '-o', stripped, dump)
    if done.returncode:
        return done.stderr
    left, kernels = report(stripped)['focus'], run('info', stripped, 'kernels').stdout
    os.unlink(stripped)
    if {(one['value'], one['value_why']) for one in left['variables']} != {(None, 'left out of the dump')} or '0x' in kernels.split('vars(')[1]:
        return f'after strip: {left["variables"]} {kernels}'
    return None


def check_loaded(arch, folder):
    """What an index was read from memory with is no part of the bad address: x[column[k]] does not show k."""
    path = os.path.join(folder, f'loaded-{arch}.nvcudmp')
    buffers = ('out=f32[32]', 'start=u32[64]:index', 'column=u32[64]:4000000000', 'value=f32[64]', 'x=f32[64]')
    environment = {**os.environ, 'CUDA_ENABLE_COREDUMP_ON_EXCEPTION': '1', 'CUDA_COREDUMP_FILE': path}
    subprocess.run([PROGRAM, 'run', os.path.join(IMAGES, 'whole.G.fatbin'), '--arch', f'sm_{arch}', '--kernel', 'sparse_product', '--block', '32',
                    *[word for one in buffers for word in ('--buffer', one, '--arg', '&' + one.split('=')[0])], '--arg', '32'],
                   env=environment, capture_output=True, timeout=60, check=False)
    found = values(report(path))
    return None if found['k'] == (None, False) and 'i' in found else str(found)


def check_breakpoints(arch, folder):
    """A breakpoint at a function stops where its arguments have their values, and so does a step into it; its condition may ask for them."""
    first = ' if threadIdx.x == 0'
    commands = ['break vars', 'run', 'p n + 5', 'delete', 'break nested if depth == 1 && threadIdx.x == 0', 'c', 'delete', 'break shapes' + first, 'c', 'delete',
                'break numbers' + first, 'c', 'delete', 'tbreak vars.cu:92' + first, 'c', 'step', 'p count']
    said = run('debug', '--batch', *[word for one in commands for word in ('--ex', one)], *launch(arch, folder)).stdout
    for line in (r'Breakpoint 1, vars<<<\(1,1,1\),\(40,1,1\)>>> \(out=A, f=1.5, given=..., n=0, fault=0x0\) at .*:149', r'\$1 = 5',
                 r'Breakpoint 2, nested \(depth=1, box=..., vec=A, fault=0x0\) at .*:136',
                 r'Breakpoint 3, shapes \(box=..., copy=..., vec=A, color=GREEN, fault=0x0\) at .*:100',
                 r'Breakpoint 4, numbers \(big=-5000000000, real=6.25, counters=A, fault=0x0\) at .*:80',
                 r'Counter::bump \(this=A, by=3, fault=0x0\) at .*:71', r'\$2 = 4'):
        if not re.search('^' + line.replace('=A', '=0x[0-9a-f]{9,}') + '$', said, re.M):
            return f'no line {line}: {said}'
    return None


def check_index(arch, folder):
    """An index that is too large is shown by its name, and as the thread that the page names has it."""
    dump = make_dump(arch, folder, 8, '&fault')
    answer = report(dump)
    thread = answer['focus']['suspects']['thread']['threadIdx'][0]
    found = values(answer)
    page = run('report', '--color', 'never', dump).stdout
    os.unlink(dump)
    shown = re.search(r'^ *(?:variables)? +int index = (\d+), part of the address$', page, re.M)
    if answer['focus']['variables_lane'] != thread % 32:
        return f'{thread} is not of lane {answer["focus"]["variables_lane"]}'
    if thread < 8 or found['index'] != (str(thread), True) or not shown or int(shown[1]) != thread:
        return f'{thread}, {found}, {page}'
    others = {name for name, (value, _) in found.items() if value is not None} - {'index'}
    return f'also shown: {others}' if others else None


def planted_dump(folder, name, **changes):
    """misaligned-G made with another State or Process."""
    import coredump  # pylint: disable=import-outside-toplevel
    import scenarios  # pylint: disable=import-outside-toplevel
    plain = {key: getattr(scenarios, key) for key in changes}
    for key, value in changes.items():
        setattr(scenarios, key, value)
    try:
        built = scenarios.misaligned_debug()
    finally:
        for key, value in plain.items():
            setattr(scenarios, key, value)
    path = os.path.join(folder, name + '.nvcudmp')
    with open(path, 'wb') as file:
        file.write(coredump.write(built.model, built.options))
    return path


def system_dump(folder, proven):
    """misaligned-G, but for its innermost function: sum_row called the system. With `proven` its own return address is where it saved it."""
    import scenarios  # pylint: disable=import-outside-toplevel

    class System(scenarios.State):
        def __init__(self, at, frames, **more):
            if 'stack' in more:
                saved = {-0x88 + 0x24: lambda _: struct.pack('<I', frames[1].address & 0xffffffff)} if proven else {}
                more['stack'] = {**more['stack'], **saved}
                at = more['error'] = scenarios.Foreign(0x7f2b3fe00500, 0x100)
                more.update(exception=12, syscall_depth=1, address={})
            super().__init__(at, frames, **more)
    return planted_dump(folder, f'system-{proven}', State=System)


def check_system(folder):
    """Frames of a system call are not shown, registers are those of the thread, and what is in the memory of who called has its value where
    that is proven."""
    for proven in (True, False):
        dump = system_dump(folder, proven)
        stack = json.loads(run('bt', '--json', '--full', dump).stdout)
        frames = [(one['function'].split('(')[0], {v['name']: v['value'] or v['value_why'] for v in one['args'] + one['locals']}) for one in stack['frames']]
        lost = 'not saved'
        wanted = [('sum_row', {'n': lost}), ('fold', {'rows': '5' if proven else lost, 'total': '1000' if proven else lost})]
        for (name, have), (function, values) in zip(frames, wanted):
            if name != function or any(have[key] != value for key, value in values.items()):
                return f'{proven}: {name} {have}, not {values}'
        if ('step = 6' in frames[0][1]['cursor']) != proven or stack['in_system'] != 1 or len(frames) != 3:
            return f'{proven}: {frames}'
        if not run('bt', dump).stdout.startswith('(1 frame of a system call is not shown)\n#0  0x'):
            return run('bt', dump).stdout
        for text, value in (('/x $pc', '0x7f2b3fe00500'), ('$R23', '2')):
            if run('print', dump, *text.split()).stdout.strip() != value:
                return text
        if not run('info', dump, 'line').stdout.startswith('Line 21 of '):
            return run('info', dump, 'line')
    return None


def check_classic(folder):
    """Of host addresses only the kernel's are understood, by its entry; the others are said to be not."""
    import machine  # pylint: disable=import-outside-toplevel
    dump = planted_dump(folder, 'classic', Process=lambda *gpus, **more: machine.Process(*gpus, **{**more, 'classic': True}))
    frames = json.loads(run('bt', '--json', dump).stdout)['frames']
    found = [(one['function'], one.get('function_why')) for one in frames]
    if found != [(None, 'unsupported')] * 3 + [('checksum(char const*, int, int, int*)', None)] or frames[3]['line'] != 40:
        return str(found)
    values = {one['name']: one['value'] for one in frames[3]['args']}
    return None if values['step'] == '6' and values['rows'] == '5' else str(values)


def check_elsewhere(folder):
    """The warp went on into a module of another context: its code is named there, and no number of instructions is between the two."""
    import coredump  # pylint: disable=import-outside-toplevel
    from machine import H100, Process, State  # pylint: disable=import-outside-toplevel
    process = Process(H100)
    module, far = process.context().load('pair.li.sm_90.cubin'), process.context().load('stop.li.sm_90.cubin')
    placed = process.launch(module.context, module, '_Z5firstPfPKfS1_', (1, 1, 1), (64, 1, 1))
    pc = far.op('$_Z14checked_gatherPKiPKfPfi$_Z11check_indexii', {0x80c})
    placed.place(0, (0, 0, 0), lambda warp: State(placed.entry) if warp else State(pc, error=placed.entry.later(10), exception=14))
    path = os.path.join(folder, 'elsewhere.nvcudmp')
    with open(path, 'wb') as file:
        file.write(coredump.write(process.dump()))
    pages = [run('report', path).stdout, run('bt', path).stdout, run('shell', path, '-ex', 'x/i $pc').stdout]
    for page, wanted in zip(pages, (r'^ +pc +0x\w+  check_index\+0x10, in another image than errorpc, stop\.cu:6$',
                                    r'^#0  0x\w+ in check_index \(\) at .*/stop\.cu:6$', r'^=> +0x\w+ <check_index\+16>:')):
        if not re.search(wanted, page, re.M):
            return f'no {wanted} in\n{page[:2000]}'
    return None


def check_lanes(dump):
    """One row of all lanes, and the one that differs."""
    runs = json.loads(run('print', '--lanes', '--json', dump, 'threadIdx.x', 'kernel', '0').stdout)
    if [(r['count'], r['value'], r['to_value'], r['step']) for r in runs['runs']] != [(40, '0', '39', '1')]:
        return str(runs)
    odd = json.loads(run('print', '--lanes', '--json', dump, '(threadIdx.x == 9) * 5').stdout)
    if [(r['lane'], r['to_lane'], r['value'], r['outlier']) for r in odd['runs']] != [(0, 8, '0', False), (9, 9, '5', True), (10, 31, '0', False)]:
        return str(odd)
    return None if (odd['min'], odd['max'], odd['usual']) == ('0', '5', '0') else str(odd)


def check_extremes(dump):
    """The least and the greatest value, of numbers of each kind, and the first thread that has it; of 40 threads."""
    for words, least, most in (('threadIdx.x * 0.25 - 2.5', ('-2.5', 0), ('7.25', 39)), ('2.5 - threadIdx.x * 0.25', ('-7.25', 39), ('2.5', 0)),
                               ('(int)threadIdx.x - 3', ('-3', 0), ('36', 39)), ('threadIdx.x - 3', ('0', 3), ('4294967295', 2)),
                               ('(threadIdx.x + 7) % 5', ('0', 3), ('4', 2)), ('threadIdx.x % 2 * 0.5', ('0', 0), ('0.5', 1)),
                               ('2 - (int)((threadIdx.x + 7) % 5)', ('-2', 2), ('2', 3)), ('threadIdx.x * 0 + 6', ('6', 0), ('6', 0))):
        said = run('print', '--lanes', dump, words, 'kernel', '0').stdout
        for name, (value, thread) in (('min', least), ('max', most)):
            if f'\n{name} {value} in lane {thread % 32}, block (0,0,0), thread ({thread},0,0)\n' not in said:
                return f'{words}: {said}'
    said = run('print', '--lanes', dump, '(threadIdx.x == 9) * 5').stdout
    return None if said.endswith('\nmost lanes have 0\n') else said


def check_local_lanes(folder):
    """A variable in local memory has in each lane the value that the builder planted in that lane's stack."""
    dump, base = system_dump(folder, True), 0x7f3a12000000
    for words, first, step in (('cursor.base', base + 6, 4), ('cursor.step', 6, 0), ('*(@local int *)&cursor', (base + 6) & 0x7fffffff, 4)):
        values = []
        for one in json.loads(run('print', '--lanes', '--json', dump, words).stdout)['runs']:
            values += [int(one['value'].split()[0], 0) + k * int(one['step'] or 0) for k in range(one['count'])]
        if values != [first + step * lane for lane in range(32)]:
            return f'{words}: {values}'
    place = re.search('0x[0-9a-f]+', run('info', planted_dump(folder, 'plain'), 'address', 'cursor', '--frame', '1').stdout)[0]
    runs = json.loads(run('print', '--lanes', '--json', os.path.join(folder, 'plain.nvcudmp'), f'*(@local int *){place}').stdout)['runs']
    first = (base + 6) & 0x7fffffff
    return None if [(r['count'], r['value'], r['to_value'], r['step']) for r in runs] == [(32, str(first), str(first + 124), '4')] else f'{place}: {runs}'


def check_together(dump, folder):
    """Lanes that are evaluated together have what each of them has alone; values that look alike in a format are one row."""
    at = [(0, 0), (0, 5), (0, 31), (1, 0), (1, 7)]  # warp, lane
    indexed = make_dump('90', folder, 8, '&fault')
    rest = dump
    for words in (['index'], ['index * 2 - 7'], ['/x', 'index'], ['out + index'], ['(char *)out + index'], ['index % 3 == 1'], ['by'], ['this'], ['*this'], ['$R4'], ['$RD6'], ['before * by - threadIdx.x'], ['threadIdx.x * 1.5'], ['/x', '$R1 + threadIdx.x'], ['/c', 'threadIdx.x + 65'],
                  ['*(int *)this'], ['(char *)this'], ['nothing'], ['$R200'], ['(bool)threadIdx.x'], ['(char)(threadIdx.x + 60)'], ['/s', 'threadIdx.x'], ['1 / threadIdx.x'], ['fault']):
        dump = indexed if 'index' in words[-1] else rest
        done = run('print', '--lanes', '--json', dump, *words, 'kernel', '0')
        alone = [run('print', dump, *words, 'warp', str(warp), 'lane', str(lane)) for warp, lane in at]
        if done.returncode:
            if any(one.returncode == 0 for one in alone) or done.stderr != alone[-1].stderr:
                return f'{words}: {done.stderr} {alone}'
            continue
        values = []
        for one in json.loads(done.stdout)['runs']:
            for i in range(one['count']):
                first = one['value'].split()[0]
                grown = int(first, 0) + i * int(one['step']) if one['step'] else 0
                values.append(one['value'] if not one['step'] else hex(grown) if first[:2] == '0x' else str(grown))
        for (warp, lane), one in zip(at, alone):
            got, want = values[32 * warp + lane], one.stdout.strip() or '<' + one.stderr.strip().split(': ', 2)[-1] + '>'
            want = want.split(') ')[-1]
            if got.split(') ')[-1] not in (want, want.split()[0]):
                return f'{words}, lane {lane} of warp {warp}: {got}, alone {want}'
    runs = json.loads(run('print', '--lanes', '--json', dump, '/c', '(threadIdx.x & 3) * 256.5', 'kernel', '0').stdout)['runs']
    return None if [(one['count'], one['value'].split()[0]) for one in runs] == [(40, '0')] else str(runs)


def check_parts(dump):
    """A bit-field is equal in all lanes though what lies beside it in memory is not, and a pointer leads to each lane's own text."""
    place = re.search('0x[0-9a-f]+', run('print', '--frame', '6', dump, '&box.anonymous.inner').stdout)[0]  # each lane's index is there
    for words, wanted in ((f'((@local Flags *)({place} - 1))->a', [(32, '0')]), (f'(@local int *){place}', [(32, place)]),
                          (f'(@local char *){place}', [(1, f'{place} "{text}"') for text in TEXTS])):
        runs = json.loads(run('print', '--lanes', '--json', dump, words).stdout)['runs']
        if [(one['count'], one['value']) for one in runs] != wanted:
            return f'{words}: {runs}, not {wanted}'
    return None


def check_frames(dump):
    """info frame: where each frame begins, the frames beside it, and where it saved its caller's registers, from which that has its values."""
    script = [word for level in range(7) for word in ('--ex', f'frame {level}', '--ex', 'echo >\\n', '--ex', 'info frame')]
    said = [one.split('\n#')[0] for one in run('shell', '--batch', *script, dump).stdout.split('\n>\n')[1:]]
    frames = json.loads(run('bt', '--json', dump).stdout)['frames']
    begins = [re.match(rf'Stack level {level}, frame at (0x[0-9a-f]+):\n', one) for level, one in enumerate(said)]
    if len(said) != 7 or not all(begins):
        return str(said)
    begins = [one[1] for one in begins]
    for level, one in enumerate(said):
        saved = frames[level + 1]['pc'] if level < 6 else '<not saved>'
        called = f'called by frame at {begins[level + 1]}' if level < 6 else 'Outermost frame: the kernel\n'
        caller = f'caller of frame at {begins[level - 1]}' if level else ''
        lines = [f' pc = {frames[level]["pc"]} in ', f'vars.cu:{frames[level]["line"]}); saved pc = {saved}\n', f' {called}{", " if level and level < 6 else " " if level else ""}{caller}\n',
                 ' source language c++.\n', f' Arglist at {begins[level]}, args: ', f' Locals at {begins[level]},']
        if any(line not in one for line in lines):
            return f'{one}, not {lines}'
    for level in range(5):
        found = json.loads(run('info', '--json', '--frame', str(level), dump, 'frame').stdout)['frame']
        for saved in found['saved_registers']:
            here = run('print', '--frame', str(level + 1), dump, f'/x ${saved["register"]}').stdout
            there = run('print', dump, f'/x *(@local int *){saved["at"]}').stdout
            if here != there or f'{saved["register"]} at {saved["at"]}' not in said[level]:
                return f'{level}: {saved}: {here}, {there}'
    return None if found['saved_registers'] and found['cfa'] == begins[4] else str(found)


def check_names(dump):
    """Variables of the image have their types and places, managed ones their values; a pretty value has a line for each member."""
    managed = json.loads(run('info', '--json', dump, 'managed').stdout)['managed']
    if [(one['name'], one['type'], one['size'], one['value']) for one in managed] != [('counter', 'int', 4, '7')]:
        return str(managed)
    at = int(managed[0]['address'], 16)
    rows = [line.split() for line in run('info', dump, 'managed').stdout.splitlines()]
    if rows != [['Name', 'Type', 'Address', 'Size', 'Value'], ['counter', 'int', f'{at:#018x}', '4', '7']]:
        return str(rows)
    said = run('shell', '--batch', '--ex', 'info variables .', '--ex', 'frame 2', '--ex', 'info address local', '--ex', 'info address mode', dump).stdout
    for line in (rf'counter: int, @global, managed, 4 bytes, at {at:#x}', 'table: int \\[4\\], @const, 16 bytes', r'Symbol "local" is a variable in \(@local\) 0x[0-9a-f]+.',
                 r'Symbol "mode" (is a variable in \$R\d+|has no place: .*).'):
        if not re.search(f'^{line}$', said, re.M):
            return f'no line {line}: {said}'
    listed = {one['name'].split('::')[-1]: (one['type'], one['space'], one['size']) for one in json.loads(run('info', '--json', dump, 'variables').stdout)['variables']}
    for name, wanted in (('tile', ('int [8]', 'shared', 32)), ('sums', ('double [4]', 'shared', 32)), ('grid', ('int [2][3]', 'global', 24)), ('axis', ('Vec', 'const', 12))):
        if listed.get(name) != wanted:
            return f'{name} is {listed.get(name)}'
    for text, wanted in (('vec', 'const struct Vec {\n    float x;\n    float y;\n    float z;\n} *'), ('fault', 'int volatile*'), ('node.next', 'struct Node {'), ('&local', '@local struct Vec {'), ('color', 'enum Color {RED, GREEN = 5, BLUE}\n'), ('Mode', 'enum Mode {Mode::OFF, Mode::ON}\n'),
                         ('copy.data', 'double [3]'), ('box', 'struct Box<double,3> : public Base, public Other {')):
        said = run('ptype', '--frame', '2', dump, text).stdout
        if not said.startswith('type = ' + wanted):
            return f'ptype {text}: {said}, not {wanted}'
    for text, wanted in (('Flags', ['0: 0 4 unsigned int a : 3;', '0: 3 4 unsigned int b : 7;', '1: 2 4 int c : 5;', '1: 7 1 bool d : 1;', '2: 0 4 unsigned int e : 2;',
                                    'XXX 6-bit padding', 'XXX 1-byte padding', 'total size (bytes): 4']),
                         ('node', ['0 4 int value;', 'XXX 4-byte hole', '8 8 Node *next;', 'total size (bytes): 16']),
                         ('Word', ['4 int i;', '4 float f;', '4 unsigned char bytes[4];', 'total size (bytes): 4'])):
        said = [' '.join(re.sub(r'/\*|\*/|\|', ' ', line).split()) for line in run('ptype', '--frame', '2', dump, '/o ' + text).stdout.split('\n')[1:]]
        if [line for line in said if line not in ('', '}')] != wanted:
            return f'ptype/o {text}: {said}, not {wanted}'
    enumeration = json.loads(run('whatis', '--json', '--frame', '2', dump, 'color').stdout)
    if enumeration['schema'] != 'warpscope-whatis-1' or enumeration['type']['enumerators'] != [{'name': 'RED', 'value': 0}, {'name': 'GREEN', 'value': 5}, {'name': 'BLUE', 'value': 6}]:
        return str(enumeration)
    for text, wanted in (('copy.data', 'double [3]'), ('&copy.data', '@local double (*)[3]'), ('(@shared float *)16', '@shared float*'), ('(float *)16', 'float*'), ('vec', 'Vec const*'),
                         ('@global int **', '@global int**')):
        said = run('whatis', '--frame', '2', dump, text).stdout
        if said != f'type = {wanted}\n':
            return f'whatis {text}: {said}'
    frame = json.loads(run('info', '--json', '--frame', '2', dump, 'frame').stdout)['frame']
    if frame['frame']['function'].split('(')[0] != 'shapes' or frame['frame']['level'] != 2 or not frame['saved_pc']:
        return str(frame)
    symbol = json.loads(run('info', '--json', dump, 'symbol', 'vars').stdout)['symbol']
    if (symbol['kind'], symbol['name'].split('(')[0], symbol['offset']) != ('function', 'vars', 0):
        return str(symbol)
    symbol = json.loads(run('info', '--json', dump, 'symbol', '&grid[1][0]').stdout)['symbol']
    if (symbol['kind'], symbol['name'], symbol['offset']) != ('variable', 'grid', 12):
        return str(symbol)
    for options, wanted in ((('--pretty',), '{\n  x = 1.25,\n  y = -2.5,\n  z = 3.75\n}'), (('--elements', '2', 'text'), '"ti"...'),
                            (('--elements', '2', 'same'), '{0 <repeats 19 times>...}'), (('--repeats', '20', 'same'), '{' + '0, ' * 19 + '1}'),
                            (('--elements', '0', 'steps'), '{0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121}'),
                            (('--pretty', 'counters'), '{{\n    count = 34,\n    step = 10\n  }, {\n    count = 5,\n    step = 20\n  }}')):
        name = options[-1] if options[-1].isalpha() else 'local'
        got = run('print', '--frame', '2', *[one for one in options if one != name], dump, name).stdout.rstrip('\n')
        if got != wanted:
            return f'{options}: {got}'
    return None


def main():
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        for arch in ARCHITECTURES:
            dump, exact = make_dump(arch, folder), 0
            for frame, wanted in LOCALS.items():
                n, problem = check_frame(dump, frame, wanted)
                exact += n
                cases.append((f'sm_{arch}: frame {frame} has its {len(wanted)} variables', problem))
            cases.append((f'sm_{arch}: {exact} variables have a value', None if exact >= 48 else 'fewer than 48'))
            cases.append((f'sm_{arch}: {len(EXPRESSIONS)} expressions', check_expressions(dump)))
            cases.append((f'sm_{arch}: all lanes as a table', check_lanes(dump)))
            cases.append((f'sm_{arch}: the least and the greatest of all lanes', check_extremes(dump)))
            if arch == '90':
                cases.append((f'sm_{arch}: lanes together and alone', check_together(dump, folder)))
                cases.append((f'sm_{arch}: each frame begins and saves where the next one says', check_frames(dump)))
                cases.append((f'sm_{arch}: a part of a word, and a text, in all lanes', check_parts(dump)))
            cases.append((f'sm_{arch}: names of the image, and how much is printed', check_names(dump)))
            cases.append((f'sm_{arch}: the report shows addresses only', check_report(dump)))
            cases.append((f'sm_{arch}: an index that was read is not made of another', check_loaded(arch, folder)))
            cases.append((f'sm_{arch}: breakpoints are where arguments are', check_breakpoints(arch, folder)))
            cases.append((f'sm_{arch}: the report shows the index', check_index(arch, folder)))
        cases.append(('a local variable in all lanes', check_local_lanes(folder)))
        cases.append(('frames of system calls', check_system(folder)))
        cases.append(('frames of the classic back end', check_classic(folder)))
        cases.append(('a pc in another module than the fault', check_elsewhere(folder)))
    print(f'1..{len(cases)}')
    for number, (name, problem) in enumerate(cases, 1):
        print(f'{"not ok" if problem else "ok"} {number} - {name}')
        if problem:
            print('# ' + problem.replace('\n', '\n# '))
    return 1 if any(problem for _, problem in cases) else 0


sys.exit(main())
