#!/usr/bin/env python3
"""Our chains against nvdisasm -gi, at every instruction. Prints TAP.

usage: nvdisasm.py WARPSCOPE FOLDER|CUBIN...

Runs the nvdisasm that WARPSCOPE_NVDISASM names (13.x reads every architecture), else that of the peers script
(12.4, up to sm_90; tests/oracle/README.md), else skips. Adds the folder WARPSCOPE_LINEMAP_CORPUS. nvdisasm prints a chain
where its innermost position changes (not where only the calls around it do): there the whole chain is compared, at the
instructions behind it the innermost position.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import peer  # noqa: E402

NEWEST_OF_12_4 = 90
MAX_SHOWN = 5

SECTION = re.compile(r'\s*\.section\s+\.text\.([^,\s]+),')
NOTE = re.compile(r'\s*//## File "([^"]*)", line (\d+)( inlined at )?')
CODE = re.compile(r'\s*/\*([0-9a-f]{4,})\*/')


def theirs(text):
    """{symbol: {offset: (chain, printed just here)}} of each instruction behind the first note."""
    found, chain, pending, code = collections.defaultdict(dict), None, [], None
    for row in text.splitlines():
        start, note, instruction = SECTION.match(row), NOTE.match(row), CODE.match(row)
        if start:
            code, chain, pending = found[start[1]], None, []
        elif note:
            pending.append((note[1], int(note[2])))
        elif instruction and code is not None:
            chain = tuple(pending) or chain
            if chain:
                code[int(instruction[1], 16)] = chain, bool(pending)
            pending = []
    return found


def ours(program, path):
    """{symbol: sorted [(offset, chain)]} of rows that cover code."""
    done = subprocess.run([program, 'lines', '--json', path], capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors='replace').strip())
    found = {}
    for function in json.loads(done.stdout)['images'][0]['functions']:
        rows = {row['row']: row for row in function['rows']}
        chains = []
        for row in rows.values():
            if row['bytes'] and not row['end_sequence']:
                steps = [row] + [rows[number] for number in row.get('call_sites', [])]
                chains.append((int(row['offset'], 16), tuple((step['file'], step['line']) for step in steps)))
        found[function['function_mangled']] = chains
    return found


def compare(program, disassembly, path):
    """(instructions compared, those with a whole chain, [differences])"""
    mine, count, whole, differences = ours(program, path), 0, 0, []
    for symbol, code in theirs(disassembly).items():
        chains = iter(mine.get(symbol, []))
        following = next(chains, None)
        chain = None
        for offset in sorted(code):
            while following and following[0] <= offset:
                chain, following = following[1], next(chains, None)
            expected, is_whole = code[offset]
            count += 1
            whole += is_whole
            if not chain or (chain != expected if is_whole else chain[0] != expected[0]):
                differences.append(f'{symbol}+{offset:#x}: ours {chain}, nvdisasm {expected}')
    return count, whole, differences


def disassembler():
    """(function from a path to nvdisasm's answer, newest sm, None) or (None, 0, why there is none)"""
    own = os.environ.get('WARPSCOPE_NVDISASM')
    if own:
        return lambda path: subprocess.run([own, '-gi', '-c', path], capture_output=True, text=True, check=False), 999, None
    peers, why = peer.find()
    if not peers:
        return None, 0, why + ' and WARPSCOPE_NVDISASM names no nvdisasm'
    return lambda path: subprocess.run([peers, 'nvdisasm', '-gi', '-c', os.path.basename(path)],
                                       cwd=os.path.dirname(path), capture_output=True, text=True,
                                       check=False), NEWEST_OF_12_4, None


def main():
    program = os.path.abspath(sys.argv[1])
    run, newest, why = disassembler()
    if not run:
        print(f'1..0 # SKIP {why}')
        return 0
    paths = []
    for path in sys.argv[2:] + [os.environ.get('WARPSCOPE_LINEMAP_CORPUS', '')]:
        paths += sorted(glob.glob(os.path.join(path, '*.cubin'))) if os.path.isdir(path) else [path] if path else []
    paths = [os.path.abspath(path) for path in paths if '.none.' not in path]
    print(f'1..{len(paths)}')
    failed = total = total_whole = 0
    for number, path in enumerate(paths, 1):
        name = os.path.basename(path)
        architecture = re.search(r'sm_(\d+)', name)
        if architecture and int(architecture[1]) > newest:
            print(f'ok {number} - {name} # SKIP this nvdisasm does not know sm_{architecture[1]}')
            continue
        done = run(path)
        if done.returncode:
            print(f'ok {number} - {name} # SKIP nvdisasm refuses it: {done.stderr.strip()[:120]}')
            continue
        count, whole, differences = compare(program, done.stdout, path)
        total += count
        total_whole += whole
        failed += bool(differences)
        print(f'{"not ok" if differences else "ok"} {number} - {name}: {count} instructions, {whole} whole chains, '
              f'{len(differences)} differences')
        for difference in differences[:MAX_SHOWN]:
            print(f'# {difference}')
    print(f'# {total} instructions compared, {total_whole} of them with the whole chain')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
