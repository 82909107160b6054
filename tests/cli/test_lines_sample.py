#!/usr/bin/env python3
"""What the elfutils patch's own two tests demand, of our program: all rows with their chains, and every extended opcode.

usage: test_lines_sample.py WARPSCOPE LIBDW_SHIM (examples/libdw-shim.c, built)

Two cubins: the patch's sample (WARPSCOPE_LINEMAP_SAMPLE, by default ../shared/data/testfile_nvidia_linemap.bz2 beside the
repository; skipped where it is not) and one of our own, whose tables were made with elfutils' own programs. Prints TAP.
"""
import bz2
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
OWN = os.path.join(ROOT, 'tests', 'data', 'cubins', 'nested.li.sm_80.cubin')
OWN_TABLES = os.path.join(ROOT, 'tests', 'data', 'linemap', 'nested.li.sm_80')
SAMPLE = os.environ.get('WARPSCOPE_LINEMAP_SAMPLE') or os.path.join(ROOT, '..', 'shared', 'data',
                                                                   'testfile_nvidia_linemap.bz2')


def run(program, *args):
    done = subprocess.run([program, 'lines', '--json', *args], capture_output=True, check=True)
    return json.loads(done.stdout)['images'][0]


def table(path):
    with open(path, encoding='utf-8') as text:
        return [line.rstrip('\n').split('\t') for line in text][1:]


def place(row):
    return f'{os.path.basename(row["file"])}:{row["line"]}'


def chain(rows, row):
    """callee@call site, innermost first."""
    steps = []
    for number in row.get('call_sites', []):
        steps.append(f'{row["function_mangled"]}@{place(rows[number])}')
        row = rows[number]
    return ' '.join(steps) or '-'


def rows_of(program, cubin):
    functions = run(program, cubin)['functions']
    assert len(functions) == 1, 'one sequence'
    rows = {row['row']: row for row in functions[0]['rows']}
    return [[str(n), row['offset'], os.path.basename(row['file']), str(row['line']),
             'yes' if row['end_sequence'] else 'no', chain(rows, row)] for n, row in sorted(rows.items())]


def shim_rows(shim, cubin):
    done = subprocess.run([shim, cubin], capture_output=True, text=True, check=True)
    return [line.split('\t') for line in done.stdout.splitlines()]


def opcodes_of(program, cubin):
    (one,) = run(program, '--raw', cubin)['tables']
    header = [one[key] for key in ('version', 'min_inst_length', 'line_base', 'line_range', 'opcode_base')]
    base = one['function_names_base']
    opcodes = [[op['offset'], str(op['operands'][0]), op['text'], hex(base + op['operands'][1])]
               for op in one['program'] if op['name'] == 'DW_LNE_NVIDIA_inlined_call']
    return header, opcodes, one['header_length']


def main():
    program, shim = sys.argv[1:3]
    failed = 0

    def check(number, name, got, expected):
        nonlocal failed
        if got == expected:
            print(f'ok {number} - {name}')
            return
        failed += 1
        print(f'not ok {number} - {name}')
        for mine, wanted in zip(got, expected):
            if mine != wanted:
                print(f'# got {mine}, expected {wanted}')

    def check_cubin(number, cubin, tables, name):
        check(number, f'{name}: rows with their chains', rows_of(program, cubin), table(tables + '.expected.tsv'))
        header, opcodes, _ = opcodes_of(program, cubin)
        check(number + 1, f'{name}: extended opcodes', opcodes, table(tables + '.opcodes.tsv'))
        check(number + 2, f'{name}: header', header, [2, 1, -5, 14, 10])
        check(number + 3, f'{name}: the two functions of libdw over ours', shim_rows(shim, cubin),
              table(tables + '.expected.tsv'))

    print('1..9')
    check_cubin(1, OWN, OWN_TABLES, 'our own')
    if not os.path.exists(SAMPLE):
        for number in range(5, 10):
            print(f'ok {number} - sample of the patch # SKIP {SAMPLE} is not there (set WARPSCOPE_LINEMAP_SAMPLE)')
        return failed != 0
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, 'sample.cubin')
        with bz2.open(SAMPLE) as packed, open(cubin, 'wb') as out:
            out.write(packed.read())
        tables = os.path.join(os.path.dirname(SAMPLE), 'testfile_nvidia_linemap')
        check_cubin(5, cubin, tables, 'sample of the patch')
        check(9, 'sample of the patch: 18 rows, header of 111 bytes',
              [len(rows_of(program, cubin)), opcodes_of(program, cubin)[2]], [18, 111])
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
