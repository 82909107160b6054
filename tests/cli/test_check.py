#!/usr/bin/env python3
"""warpscope check: sound dumps are sound, damage is found where it was done, dumps come by any road. Prints TAP.

usage: test_check.py WARPSCOPE BUILDER_FOLDER SCHEMA_FOLDER
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

# What the builder damages or bends on purpose.
UNSOUND = {'assert', 'cut-half', 'cut-late', 'cut-headers', 'cut-no-headers', 'memory', 'wide-rows', 'sparse-levels'}
DAMAGE = ('link', 'entsize0', 'entsizehuge', 'selflink', 'linkcycle')  # each leaves a finding, wherever it strikes
SEEDS = 8


class Tests:
    def __init__(self, program, schemas):
        self.program, self.number, self.failed = program, 0, 0
        with open(os.path.join(schemas, 'warpscope-check-1.json'), encoding='utf-8') as text:
            self.schema = json.load(text)

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
    status, _ = tests.check(write('few.gz', packed[:12]))
    tests.result(status == 1, 'gzip that ends before its first byte is no answer', f'status {status}')
    lost = bytearray(data)
    lost[40:48] = (1 << 40).to_bytes(8, 'little')
    status, answer = tests.check(write('lost', bytes(lost)))
    tests.result(status == 10 and answer['summary']['rows'] > 10, 'headers that nothing leads to are found')
    return tests.check(write('no-headers', b'\0'.join([data[:64], bytes(7), data[-len(data) // 3:]])))[1]


def main(program, builders, schemas):
    sys.path.insert(0, builders)
    import mutate  # noqa: PLC0415 (its folder is an argument)
    tests = Tests(program, schemas)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, os.path.join(builders, 'build.py'), folder], check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(folder, 'illegal-address.nvcudmp'), 'rb') as dump:
            data = dump.read()
        scenarios(tests, folder)
        damages(tests, data, folder, mutate)
        answers = [roads(tests, data, folder), tests.check(os.path.join(folder, 'cut-half.nvcudmp'))[1]]
        if jsonschema is None:
            tests.skip('the JSON fits its schema', 'python3-jsonschema is not installed')
        else:
            problem = ''
            for answer in answers:
                try:
                    jsonschema.validate(answer, tests.schema)
                except jsonschema.ValidationError as error:
                    problem = error.message
            tests.result(not problem, 'the JSON fits its schema', problem)
    print(f'1..{tests.number}')
    return 1 if tests.failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
