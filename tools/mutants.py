#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes one line of C at random and sees whether the tests notice; again and again, over all rooms.

usage: mutants.py [--seed N] [--count N] [--room FOLDER] [--change FILE:LINE:TEXT]... [--suites "unit golden ..."] [--jobs N]
                  [--quick SECONDS] [--reached] [--sanitize] [--skip N] [--lock FILE] [--list]

Each change is made in a checkout of HEAD of its own (build-mutants/), which is built and tested until something fails: the cheap
tests first, and those named like the changed file. A change that does not compile, or not without a warning, is replaced by the
next; so is one that the compiler translates to the same object code, byte for byte: it changes no program. A test that fails must
pass right afterwards without the change; if it does not, the machine's load or chance made it fail, and the others are tried. With
--quick, tests that take longer are left out; try what is not noticed again without it. With --reached, each test runs once in a
build of clang (and llvm-profdata, llvm-cov) that records which lines it executes; then a change is tried with the tests that come
to its line, since no other can notice it. A line that none was seen to come to is tried with all: data, and what runs in processes
that are shut in, which leave no record. So is a test that fails in that build: its record may not be whole. With --sanitize, what
is not noticed is tried again in a build with AddressSanitizer and UndefinedBehaviorSanitizer, as `make check-sanitize` makes it.
With --skip, the first N changes of the seed are left out, of which some may be among those that were replaced: a run that was
stopped goes on. With --lock, FILE is locked meanwhile; every two minutes others get their turn. --change makes one that is given
instead: TEXT replaces the line. --list only shows what would be changed. The last line is "N of M changes noticed"; exit status 1
when it is under 85 %.

Kinds of change: a comparison or its bound, a Boolean or arithmetic operator, a condition, a constant, two arguments swapped, a
call left out.
"""
import argparse
import concurrent.futures
import fcntl
import itertools
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TREE = os.path.join(ROOT, 'build-mutants')
TURN = 120
SUITES = 'unit kernels golden api cli fuzz builders'
SANITIZED = 'unit kernels golden live cli fuzz'
ENOUGH = 0.85
TOO_SLOW = ' (too slow)'
NO_BUILD = 'it does not build'
FAILURE = re.compile(r'^not ok', re.M)
SECONDS = 900  # for a build, and for one test of the tree without a change; with one: ten times what it took, and 20 s

SWAPS = [(r' < ', ' <= '), (r' <= ', ' < '), (r' > ', ' >= '), (r' >= ', ' > '), (r' == ', ' != '), (r' != ', ' == '),
         (r' && ', ' || '), (r' \|\| ', ' && '), (r' \+ ', ' - '), (r' - ', ' + '), (r' << ', ' >> '), (r' >> ', ' << '),
         (r' & ', ' | '), (r' \| ', ' & '), (r'\+\+', '--'), (r' \+= ', ' -= '), (r' \|= ', ' &= ')]


def without_text(line, in_comment):
    """The line with strings, characters and comments blanked, and whether a comment goes on after it."""
    out, at = [], 0
    while at < len(line):
        if in_comment:
            end = line.find('*/', at)
            stop = len(line) if end < 0 else end + 2
            in_comment = end < 0
        elif line.startswith('/*', at):
            in_comment, stop = True, at + 2
        elif line.startswith('//', at):
            stop = len(line)
        elif match := re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'').match(line, at):
            stop = match.end()
        else:
            out.append(line[at])
            at += 1
            continue
        out.append(' ' * (stop - at))
        at = stop
    return ''.join(out), in_comment


def changes_of(line, bare):
    """(kind, changed line) of all changes that one line allows; `bare` is the line without text."""
    found = []
    for old, new in SWAPS:
        found += [('operator', line[:m.start()] + new + line[m.end():]) for m in re.finditer(old, bare)]
    for match in re.finditer(r'(?<![\w.])(\d+)(?=u?\b)', bare):
        found.append(('constant', f'{line[:match.start()]}{int(match.group(1)) + 1}{line[match.end():]}'))
    if match := re.fullmatch(r'(\t+(?:\} else )?if \()(.+)(\)(?: \{)?)', bare):
        start, end = match.span(2)
        found.append(('condition', f'{line[:start]}!({line[start:end]}){line[end:]}'))
    for match in re.finditer(r'(\w+\()([\w.>&\[\]-]+), ([\w.>&\[\]-]+)(?=[,)])', bare):
        if match.group(2) != match.group(3):
            found.append(('arguments', f'{line[:match.start()]}{match[1]}{match[3]}, {match[2]}{line[match.end():]}'))
    if re.fullmatch(r'\t+[\w>.-]+\(.*\);', bare):
        found.append(('call', re.match(r'\t+', line)[0] + ';'))
    return found


def candidates(root, path):
    """(line number, line, [(kind, changed line)]) of a C file: lines in functions that can be changed."""
    in_comment, rows = False, []
    with open(os.path.join(root, path), encoding='utf-8') as handle:
        for number, line in enumerate(handle.read().split('\n'), 1):
            bare, in_comment = without_text(line, in_comment)
            if line.startswith('\t') and not re.search(r'\bassert|WSI_PRINTF', bare) and (found := changes_of(line, bare)):
                rows.append((number, line, found))
    return rows


def rooms(root, only):
    listed = subprocess.run(['git', '-C', root, 'ls-files', 'src/*.c', 'cli/*.c', 'cuda/*.c'], capture_output=True, text=True, check=True)
    by_room = {}
    for path in listed.stdout.split():
        room = os.path.dirname(path)
        if only in (None, room):
            by_room.setdefault(room, []).append(path)
    return by_room


def choose(root, seed, only):
    """An endless row of (path, line number, kind, line, changed line): rooms in turn, lines of a room alike likely."""
    rng, by_room = random.Random(seed), rooms(root, only)
    lines = {room: [(path, row) for path in paths for row in candidates(root, path)] for room, paths in by_room.items()}
    seen = set()
    while True:
        order = sorted(room for room in lines if lines[room])
        rng.shuffle(order)
        for room in order:
            path, (number, line, found) = rng.choice(lines[room])
            kind, text = rng.choice(found)
            if (path, number, text) not in seen:
                seen.add((path, number, text))
                yield path, number, kind, line, text


def run(*command, cwd=TREE, env=None):
    try:
        return subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors='replace',
                              timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(command, 1, str(late.stdout or ''), 'too slow')


def make_tree(build='build', *options, **env):
    head = subprocess.run(['git', '-C', ROOT, 'rev-parse', 'HEAD'], capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isdir(TREE):
        subprocess.run(['git', 'clone', '-q', '--shared', ROOT, TREE], check=True)
    subprocess.run(['git', '-C', TREE, 'fetch', '-q', 'origin', head], check=False)
    subprocess.run(['git', '-C', TREE, 'checkout', '-q', '--force', head], check=True)
    if not os.path.isdir(os.path.join(TREE, build)):
        subprocess.run(['meson', 'setup', *options, build], cwd=TREE, env={**os.environ, **env}, stdout=subprocess.DEVNULL,
                       check=True)
    if run('ninja', '-C', build).returncode:
        sys.exit('mutants.py: the tree does not build as it is')
    return head


def lines_executed(folder, programs):
    """{file: lines that were executed} of the counts that one test left in a folder; None when they cannot be read."""
    counts, whole = [os.path.join(folder, name) for name in os.listdir(folder)], os.path.join(folder, 'whole')
    if not counts or run('llvm-profdata', 'merge', '-sparse', '-o', whole, *counts).returncode:
        return None
    objects = [word for program in programs for word in ('-object', program)]
    told = run('llvm-cov', 'export', '-format=lcov', '-instr-profile=' + whole, *objects[1:])
    executed, path = {}, None
    for line in told.stdout.splitlines():
        kind, _, rest = line.partition(':')
        if kind == 'SF':
            path = os.path.relpath(rest, TREE)
        elif kind == 'DA' and path.endswith('.c') and path.startswith(('src/', 'cli/')):
            number, count = rest.split(',')[:2]
            if int(count):
                executed.setdefault(path, set()).add(int(number))
    return None if told.returncode else {path: sorted(lines) for path, lines in executed.items()}


def is_program(path):
    """Whether a file is a program or a shared library of ours."""
    with open(path, 'rb') as handle:
        head = handle.read(20)
    return head[:4] == b'\x7fELF' and head[16] in (2, 3) and head[18] != 190  # not the code of a GPU


def introspect(build):
    """(the tests of a build, the files of its targets)"""
    targets = json.loads(run('meson', 'introspect', build, '--targets').stdout)
    return json.loads(run('meson', 'introspect', build, '--tests').stdout), {one['id']: one['filename'] for one in targets}


def suite_of(test):
    return test['suite'][0].split(':')[1]


class Reached:
    """Which tests execute a line."""

    def __init__(self, jobs, turn):
        flags = '-fprofile-instr-generate -fcoverage-mapping'
        kept_at_once = ' -mllvm -runtime-counter-relocation'  # with %c below: a process that is killed leaves its counts, too
        head = make_tree('coverage', '-Doptimization=1', '-Db_lundef=false', CC='clang', CFLAGS=flags + kept_at_once, LDFLAGS=flags)
        kept = os.path.join(TREE, 'coverage', 'reached.jsonl')  # the commit, then a line for each test
        self.by_test, self.seconds = {}, {}
        if os.path.exists(kept):
            with open(kept, encoding='utf-8') as handle:
                if json.loads(handle.readline()) == head:
                    rows = [json.loads(line) for line in handle if line.endswith('\n')]
                    self.by_test.update((name, files) for name, files, _ in rows)
                    self.seconds.update((name, seconds) for name, _, seconds in rows)
        tests, self.files = introspect('coverage')
        missing = [test for test in tests if test['depends'] and suite_of(test) in SUITES.split() and
                   test['name'] not in self.by_test]
        at_once = jobs if turn.handle else len(missing)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool, open(kept, 'w', encoding='utf-8') as handle:
            rows = [(name, files, self.seconds[name]) for name, files in self.by_test.items()]
            handle.writelines(json.dumps(row) + '\n' for row in [head, *rows])
            for begin in range(0, len(missing), at_once or 1):
                turn.begin()
                for name, files, seconds in pool.map(self.of_test, missing[begin:begin + at_once]):
                    self.by_test[name], self.seconds[name] = files, seconds
                    handle.write(json.dumps((name, files, seconds)) + '\n')
                    handle.flush()
        self.known = {}  # lines that some test was seen to execute
        for files in self.by_test.values():
            for path, lines in (files or {}).items():
                self.known.setdefault(path, set()).update(lines)

    def of_test(self, test):
        begin = time.monotonic()
        programs = sorted({name for target in test['depends'] for name in self.files[target] if is_program(name)})
        # the program's sandbox lets nobody write counts; some processes outlive their test, and write while the folder goes
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            ended = run(*test['cmd'], cwd=test['workdir'] or os.path.join(TREE, 'coverage'),
                        env={**os.environ, **test['env'], 'LLVM_PROFILE_FILE': folder + '/%c%m', 'WARPSCOPE_SANDBOX': 'off'})
            seconds = time.monotonic() - begin
            whole = ended.returncode == 0 and not FAILURE.search(ended.stdout)
            return test['name'], lines_executed(folder, programs) if whole else None, seconds

    def may_notice(self, test, path, number):
        """False: others come to this line, and it does not."""
        files = self.by_test.get(test)
        return files is None or number not in self.known.get(path, ()) or number in files.get(path, ())


class Tests:
    """The tests that run something built, and how long each takes where nothing is changed."""
    folder = 'build'
    building = threading.Lock()

    def __init__(self, suites, jobs, quick, reached, turn):
        self.jobs = jobs
        self.reached = reached
        self.failed = ''
        self.seconds = dict(reached.seconds) if reached else {}
        self.tests = [test for test in self.listed() if test['depends'] and suite_of(test) in suites]
        known = os.path.join(TREE, self.folder, 'seconds.json')
        if os.path.exists(known):
            with open(known, encoding='utf-8') as handle:
                self.seconds.update(json.load(handle))
        missing = [test for test in self.tests if test['name'] not in self.seconds]
        for begin in range(0, len(missing), jobs):
            turn.begin()
            self.seconds.update(self.run_all(missing[begin:begin + jobs]))
            if self.failed:
                sys.exit(f'mutants.py: without any change this fails: {self.failed}')
        with open(known, 'w', encoding='utf-8') as handle:
            json.dump(self.seconds, handle)
        self.tests = [test for test in self.tests if self.seconds[test['name']] <= quick]

    def listed(self):
        tests, self.files = introspect(self.folder)
        return tests

    def build(self, test):
        """Builds what a test needs; whether that is so."""
        folder = os.path.join(TREE, self.folder)
        needed = sorted({os.path.relpath(name, folder) for target in test['depends'] for name in self.files[target]})
        with self.building:
            return run('ninja', '-C', self.folder, *needed).returncode == 0

    def passes(self, name):
        """Whether a test passes now, alone."""
        self.run_all([test for test in self.tests if test['name'] == name.removesuffix(TOO_SLOW)])
        return not self.failed

    def first_failure(self, path, number, aside):
        """Name of a test that fails and is not put aside, or ''. The cheap ones run first, and those named like the path."""
        tests = [test for test in self.tests if test['name'] not in aside and
                 (not self.reached or self.reached.may_notice(test['name'], path, number))]
        words = set(re.split(r'[/._]', path)) - {'src', 'c'}

        def cost(test):
            near = words & set(re.split(r'\W|_', test['name']))
            return self.seconds.get(test['name'], 0) / (10 if near else 1)
        self.run_all(sorted(tests, key=cost))
        return self.failed

    def run_all(self, tests):
        """Seconds by name; `failed` is the name of a test that fails, or ''."""
        self.failed = ''
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return dict(pool.map(self.run_one, tests))

    def run_one(self, test):
        """(name, seconds); ends early when another one fails. What it needs is built before."""
        name = test['name']
        if not self.failed and not self.build(test):
            self.failed = NO_BUILD
        begin = time.monotonic()
        limit = 20 + 10 * self.seconds[name] if name in self.seconds else SECONDS
        with tempfile.TemporaryFile('w+', errors='replace') as out:
            if self.failed:
                return name, 0
            process = subprocess.Popen(  # pylint: disable=consider-using-with
                test['cmd'], cwd=test['workdir'] or os.path.join(TREE, self.folder), stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.DEVNULL, start_new_session=True,
                env={**os.environ, 'MALLOC_PERTURB_': '165', 'UBSAN_OPTIONS': 'halt_on_error=1', **test['env']})
            while process.poll() is None and not self.failed and time.monotonic() < begin + limit:
                time.sleep(0.02)
            status = process.poll()
            if status is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            out.seek(0)
            if self.failed:
                pass
            elif status is None:
                self.failed = name + TOO_SLOW
            elif status or FAILURE.search(out.read()):
                self.failed = name
        return name, time.monotonic() - begin


class SanitizedTests(Tests):
    """The same in a build with sanitizers. Nothing is known of their time."""
    folder = 'asan'

    def __init__(self, tests):  # pylint: disable=super-init-not-called
        make_tree(self.folder, '-Ddebug=true', '-Db_sanitize=address,undefined', '-Db_lundef=false')
        names = {test['name'] for test in tests.tests}
        self.tests = [test for test in self.listed() if test['name'] in names and
                      any(suite.split(':')[1] in SANITIZED.split() for suite in test['suite'])]
        self.jobs, self.reached, self.failed, self.seconds = tests.jobs, tests.reached, '', {}


def object_code(path):
    """What the compiler makes of a file, without notes for debuggers: the bytes of its objects. None when it does not compile."""
    folder = os.path.join(TREE, Tests.folder)
    with open(os.path.join(folder, 'compile_commands.json'), encoding='utf-8') as handle:
        objects = [step['output'] for step in json.load(handle)
                   if os.path.normpath(os.path.join(step['directory'], step['file'])) == os.path.join(TREE, path)]
    if not objects or run('ninja', '-C', Tests.folder, *objects).returncode:
        return None
    code = []
    for name in objects:
        with open(os.path.join(folder, name), 'rb') as handle:
            code.append(handle.read())
    return code


def try_change(path, number, text, *stages):
    """(name of the test that notices, '' when none does, None when it does not compile or changes no code; seconds)."""
    file = os.path.join(TREE, path)
    code = object_code(path)
    with open(file, encoding='utf-8') as handle:
        before = handle.read()
    lines = before.split('\n')
    lines[number - 1] = text
    after = '\n'.join(lines)

    def write(content):
        with open(file, 'w', encoding='utf-8') as handle:
            handle.write(content)
    begin = time.monotonic()
    try:
        write(after)
        if object_code(path) in (None, code):
            return None, time.monotonic() - begin
        for tests in stages:
            aside = set()
            while failed := tests.first_failure(path, number, aside):
                write(before)
                if failed == NO_BUILD:
                    return None, time.monotonic() - begin
                if tests.passes(failed):
                    return failed, time.monotonic() - begin
                print(f'    fails without the change, too: {failed}', flush=True)
                aside.add(failed.removesuffix(TOO_SLOW))
                write(after)
    finally:
        write(before)
    return '', time.monotonic() - begin


class Turn:
    """A lock for machines that several people use, given away after TURN seconds; no file: nothing is locked."""

    def __init__(self, path):
        self.handle = open(path, 'a', encoding='utf-8') if path else None  # pylint: disable=consider-using-with
        self.since = None

    def begin(self):
        if self.handle and self.since and time.monotonic() > self.since + TURN:
            fcntl.flock(self.handle, fcntl.LOCK_UN)
            time.sleep(1)
            self.since = None
        if self.handle and not self.since:
            fcntl.flock(self.handle, fcntl.LOCK_EX)
            self.since = time.monotonic()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('\n\n')[1][7:])
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--count', type=int, default=60)
    parser.add_argument('--room')
    parser.add_argument('--change', action='append', default=[])
    parser.add_argument('--suites', default=SUITES)
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--quick', type=float, default=math.inf)
    parser.add_argument('--reached', action='store_true')
    parser.add_argument('--sanitize', action='store_true')
    parser.add_argument('--skip', type=int, default=0)
    parser.add_argument('--lock')
    parser.add_argument('--list', action='store_true')
    args = parser.parse_args()
    if args.change:
        given = [change.split(':', 2) for change in args.change]
        source = iter([(path, int(number), 'given', '...', text) for path, number, text in given])
        args.count = len(given)
    else:
        source = choose(ROOT if args.list else TREE, args.seed, args.room)
    turn = Turn(args.lock)
    stages = []
    if not args.list:
        turn.begin()
        make_tree('build', '-Dwerror=true')
        reached = Reached(args.jobs, turn) if args.reached else None
        stages.append(Tests(args.suites.split(), args.jobs, args.quick, reached, turn))
        if args.sanitize:
            stages.append(SanitizedTests(stages[0]))
    done = noticed = 0
    for path, number, kind, line, text in itertools.islice(source, args.skip, None):
        if done == args.count:
            break
        where = f'{path}:{number}: {kind}: {line.strip()} -> {text.strip()}'
        if args.list:
            print(where)
            done += 1
            continue
        turn.begin()
        test, seconds = try_change(path, number, text, *stages)
        if test is None:
            if args.change:
                sys.exit(f'mutants.py: {where}: does not compile, or to the same code')
            print(f'    replaced {where}')
            continue
        done += 1
        noticed += bool(test)
        print(f'{done:3} {seconds:5.1f} s {where}\n          {"noticed by " + test if test else "NOT NOTICED"}', flush=True)
    if not args.list:
        print(f'{noticed} of {done} changes noticed')
    return int(not args.list and noticed < ENOUGH * done)


if __name__ == '__main__':
    sys.exit(main())
