#!/usr/bin/env python3
"""warpscope check: sound dumps are sound, damage is found where it was done, dumps come by any road. Prints TAP.

usage: test_check.py WARPSCOPE BUILDER_FOLDER
"""
import gzip
import json
import os
import struct
import subprocess
import sys
import tempfile

import schemas

# What the builder damages or bends on purpose.
UNSOUND = {'assert', 'cut-half', 'cut-late', 'cut-headers', 'cut-no-headers', 'memory', 'wide-rows', 'sparse-levels'}
DAMAGE = ('link', 'entsize0', 'entsizehuge', 'selflink', 'linkcycle')  # each leaves a finding, wherever it strikes
SEEDS = 8
IMAGE, SMS, LANES, MODULES = 0x80000007, 0x8000000b, 0x8000000f, 0x80000010  # types of sections
# What a word of a row of the last table of lanes may be: row, offset, value, how many rows are believed then
LANE_EDGES = ((31, 20, 1023, 32), (31, 20, 1024, 31), (31, 24, 1023, 32), (31, 24, 1024, 31), (31, 28, 63, 32), (31, 28, 64, 31),
              (31, 32, 255, 32), (31, 32, 256, 31), (31, 36, 65535, 32), (31, 36, 65536, 31), (31, 40, 1, 31), (31, 16, 30, 31),
              (16, 16, 0, 16), (15, 16, 0, 15), (4, 16, 0, 4), (3, 16, 0, 0))


class Tests:
    def __init__(self, program):
        self.program, self.number, self.failed = program, 0, 0

    def result(self, good, name, why=''):
        self.number += 1
        self.failed += not good
        print(f'{"ok" if good else "not ok"} {self.number} - {name}')
        if not good:
            print(f'# {why}')

    def skip(self, name, why):
        self.number += 1
        print(f'ok {self.number} - {name} # SKIP {why}')

    def check(self, path, stdin=None):
        done = subprocess.run([self.program, 'check', '--json', path], input=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=60)
        return done.returncode, json.loads(done.stdout) if done.stdout else None


def scenarios(tests, folder):
    for name in sorted(os.listdir(folder)):
        if not name.endswith('.nvcudmp'):
            continue
        status, answer = tests.check(os.path.join(folder, name))
        sound = name.split('.')[0] not in UNSOUND
        good = answer is not None and (status == 0 if sound else status in (0, 10))
        if good:
            good = answer['summary']['sound'] == (status == 0) == (not answer['findings'])
        tests.result(good, f'{name} is {"sound" if sound else "read"}', f'status {status}: {str(answer)[:300]}')


def damages(tests, data, folder, mutate):
    mutator = mutate.Mutator(data)
    path = os.path.join(folder, 'damaged')
    for kind in DAMAGE:
        missed = []
        for seed in range(SEEDS):
            damaged, damage = mutator.run(kind, seed)
            with open(path, 'wb') as out:
                out.write(damaged)
            status, answer = tests.check(path)
            named = answer and any(f['section'] == damage['section'] for f in answer['findings'])
            if status != 10 or not named:
                missed.append((seed, status, dict(damage)))
        tests.result(not missed, f'damage of kind {kind} is found in its section', str(missed[:1]))


def roads(tests, data, folder):
    def write(name, content):
        path = os.path.join(folder, name)
        with open(path, 'wb') as out:
            out.write(content)
        return path

    packed = gzip.compress(data, 1, mtime=0)
    half = len(data) // 2
    members = gzip.compress(data[:half], 1, mtime=0) + gzip.compress(data[half:], 1, mtime=0)
    tests.result(tests.check(write('a.gz', packed))[0] == 0, 'gzip')
    tests.result(tests.check(write('m.gz', members))[0] == 0, 'two gzip members are one file')
    tests.result(tests.check('-', stdin=packed)[0] == 0, 'gzip on standard input')
    tests.result(tests.check('-', stdin=data)[0] == 0, 'plain on standard input')
    status, answer = tests.check(write('cut.gz', packed[:len(packed) // 2]))
    tests.result(status == 10 and any('ends early' in f['message'] for f in answer['findings']),
                 'gzip that ends early is a cut dump', f'status {status}')
    def said(name, content):
        status, answer = tests.check(write(name, content))
        return status, [f['message'] for f in answer['findings'] if f['rule'] == 'file'] if answer else None

    broken = bytearray(packed)
    broken[-8] ^= 1  # the sum of all bytes
    rest = f'something else follows the gzip data at its byte {len(packed)}; it is ignored'
    for name, content, want in (
            ('a wrong sum', bytes(broken), f'the gzip data is damaged at its byte {len(packed) - 4}: {len(data)} bytes could be unpacked'),
            ('zeros behind it', packed + bytes(70000), None), ('a byte behind zeros', packed + bytes(100) + b'x', rest),
            ('a byte behind many zeros', packed + bytes(300000) + b'x', rest), ('a member behind a zero', packed + b'\0' + packed, rest)):
        got = said('behind.gz', content)
        tests.result(got == ((10, [want]) if want else (0, [])), f'gzip with {name}', str(got))
    status, _ = tests.check(write('few.gz', packed[:12]))
    tests.result(status == 1, 'gzip that ends before its first byte is no answer', f'status {status}')
    lost = bytearray(data)
    lost[40:48] = (1 << 40).to_bytes(8, 'little')
    status, answer = tests.check(write('lost', bytes(lost)))
    tests.result(status == 10 and answer['summary']['rows'] > 10, 'headers that nothing leads to are found')
    return tests.check(write('no-headers', b'\0'.join([data[:64], bytes(7), data[-len(data) // 3:]])))[1]


def zstd(data):
    """One zstd frame that holds the bytes as they are, without the tool."""
    blocks = [data[at:at + 100000] for at in range(0, len(data), 100000)]
    out = b'\x28\xb5\x2f\xfd\xa0' + len(data).to_bytes(4, 'little')
    return out + b''.join((len(block) << 3 | (block is blocks[-1])).to_bytes(3, 'little') + block for block in blocks)


def two_dumps(tests, data, folder):
    """Two dumps in one file: the first is read, and every verb says so."""
    with open(os.path.join(folder, 'hang.nvcudmp'), 'rb') as dump:
        other = dump.read()
    path = os.path.join(folder, 'two')
    words = f'another dump begins at {len(other):#x}: only the first one of the file is read'
    for name, content in (('two dumps', other + data), ('two gzip members', gzip.compress(other, 1) + gzip.compress(data, 1)),
                          ('two zstd frames', zstd(other) + zstd(data)), ('two dumps, zeros between', other + bytes(5000) + data)):
        with open(path, 'wb') as out:
            out.write(content)
        want = words if 'zeros' not in name else words.replace(f'{len(other):#x}', f'{len(other) + 5000:#x}')
        status, answer = tests.check(path)
        good = status == 10 and [f['message'] for f in answer['findings']] == [want]
        for verb in (['report', '--exit-code'], ['regs'], ['info', 'sms'], ['lines'], ['disas'], ['diff', os.path.join(folder, 'hang.nvcudmp')]):
            done = subprocess.run([tests.program, verb[0], path, *verb[1:]], capture_output=True, text=True, check=False, timeout=60)
            good = good and done.stderr.count(want) == 1 and (verb[0] != 'report' or done.returncode == 11)
        tests.result(good, f'{name}: the first is read, and every verb says so', f'status {status} {str(answer)[:300]}')


def contradictions(tests, data, folder):
    """One row or table that is wrong takes nothing from those that are whole."""
    def report(content):
        with open(path, 'wb') as out:
            out.write(content)
        done = subprocess.run([tests.program, 'report', '--json', path], capture_output=True, text=True, check=False, timeout=60)
        return json.loads(done.stdout)['verdict']

    path = os.path.join(folder, 'contradicts')
    with open(os.path.join(folder, 'exited.nvcudmp'), 'rb') as dump:
        exited = bytearray(dump.read())
    whole = report(exited)['summary']
    headers, = struct.unpack_from('<Q', exited, 40)
    struct.pack_into('<I', exited, struct.unpack_from('<Q', exited, headers + 64 + 24)[0] + 36, 1)  # the device is section 1
    said = report(exited)
    tests.result(whole in said['summary'] and said['kind'] == 'fault' and said['doubt'] is not None,
                 'a wrong number of SMs does not disown the SM with the exception', str(said))
    whole, lost = report(data)['summary'], bytearray(data)
    headers, count = struct.unpack_from('<Q', data, 40)[0], struct.unpack_from('<Q', data, struct.unpack_from('<Q', data, 40)[0] + 32)[0]
    for at in range(headers, headers + 64 * count, 64):
        if struct.unpack_from('<I', data, at + 4)[0] == MODULES:
            lost[at:at + 64] = bytes(64)
    said = report(lost)
    tests.result(whole in said['summary'], 'images without a module table are found by their addresses', str(said))


def salvage(tests, data, folder):
    """What is recognised where all headers are lost, by the headers that were there; rows up to the first that cannot be one."""
    table, = struct.unpack_from('<Q', data, 40)
    n, = struct.unpack_from('<Q', data, table + 32)  # so many that the file's header cannot hold the number
    sections = [struct.unpack_from('<IIQQQQIIQQ', data, table + 64 * i) for i in range(n)]
    headless = bytearray(data)
    headless[table:table + 64 * n] = bytes(64 * n)
    path = os.path.join(folder, 'headless')

    def salvaged(content):
        with open(path, 'wb') as out:
            out.write(content)
        return tests.check(path)[1]['salvaged']

    names = {LANES: 'lane table', SMS: 'SM table'}
    want = sorted((s[4], s[5], s[5], s[5] // s[9], s[9], names[s[1]], 'likely') for s in sections if s[1] in names)
    image, = (s for s in sections if s[1] == IMAGE)
    found = salvaged(headless)
    first, *rest = [(f['offset'], f['size'], f['present'], f['rows'], f['stride'], f['what'], f['sureness']) for f in found]
    tests.result([(int(r[0], 16), *r[1:]) for r in rest] == want and int(first[0], 16) == image[4] and 0 < first[1] == first[2] <= image[5]
                 and first[3:] == (0, 0, 'image', 'sure'), 'images and tables are recognised without headers', str(found)[:300])

    lanes = [s for s in sections if s[1] == LANES][-1][4]
    for row, at, value, rows in LANE_EDGES:
        changed = bytearray(headless[:lanes + 1792])
        changed[lanes + 56 * row + at:lanes + 56 * row + at + 4] = value.to_bytes(4, 'little')
        last = salvaged(changed)[-1]
        good = (int(last['offset'], 16) == lanes) == (rows > 0) and (rows == 0 or (last['rows'], last['sureness']) == (
            rows, 'likely' if rows >= 16 else 'possible'))
        tests.result(good, f'word {at} of row {row} is {value:#x}: {rows} rows of lanes', str(last))

    cut = salvaged(headless[:image[4] + 300])
    tests.result([(f['what'], f['present'] < f['size'], f['present']) for f in cut] == [('image', True, 300)], 'an image that is cut off', str(cut))
    said = subprocess.run([tests.program, 'check', path], capture_output=True, text=True, check=False, timeout=60).stdout
    line = f"0x{image[4]:<10x}  salvaged   image (sure): {cut[0]['size']} bytes, 300 of them in the file\n"
    tests.result(line in said, 'the page says the same', said)
    with open(path, 'wb') as out:
        out.write(headless)
    said = subprocess.run([tests.program, 'check', '--limit', '2', path], capture_output=True, text=True, check=False, timeout=60).stdout
    sms = want[0]
    good = f'0x{sms[0]:<10x}  salvaged   SM table (likely): {sms[1]} bytes, {sms[3]} rows of {sms[4]}, 1 with an exception, the first 14\n... and {len(want) - 1} more salvaged' in said
    tests.result(good, 'a page that is limited says how many more', said)


def main(program, builders):
    sys.path.insert(0, builders)
    import mutate  # noqa: PLC0415 (its folder is an argument)
    tests = Tests(program)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, os.path.join(builders, 'build.py'), folder], check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(folder, 'illegal-address.nvcudmp'), 'rb') as dump:
            data = dump.read()
        scenarios(tests, folder)
        damages(tests, data, folder, mutate)
        answers = [roads(tests, data, folder), tests.check(os.path.join(folder, 'cut-half.nvcudmp'))[1]]
        salvage(tests, data, folder)
        two_dumps(tests, data, folder)
        contradictions(tests, data, folder)
        if schemas.INSTALLED:
            problems = [why for answer in answers if (why := schemas.misfit(answer))]
            tests.result(not problems, 'the JSON fits its schema', problems)
        else:
            tests.skip('the JSON fits its schema', schemas.SKIPPED)
    print(f'1..{tests.number}')
    return 1 if tests.failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
