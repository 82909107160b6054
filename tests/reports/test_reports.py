#!/usr/bin/env python3
"""Kernels that go wrong as in public reports: does the first screen name the cause? Prints TAP.

usage: test_reports.py WARPSCOPE FOLDER [--all] [--half training|held-out] [--show] [CASE...]
       test_reports.py --readme

FOLDER has the fatbins that build.sh makes (tests/data/reports). Each case of cases.py runs on one architecture, or with --all on
each of its architectures, there once more with a fault that surfaces late, as on hardware, and once more built with -G. --half: only that half
(half_of()). --show: also the first screen of each that is not right. --readme writes the list of the reports into README.md.

A case is right if what its report must say is among the first 24 lines. It is wrong if a sentence there that is called likely or
certain names no cause that is true of it. At least 90 % must be right and none wrong. Of a fault that surfaces late nothing may
be wrong; how much can be known then depends on what the threads did since.
"""
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys
import tempfile

from cases import CASES, FAMILIES

FIRST_SCREEN = 24
STARTS = re.compile(r'(Hang|No fault|Cannot tell)\b|.* in (kernel )?`')
HERE = os.path.dirname(os.path.abspath(__file__))
README = os.path.join(HERE, 'README.md')


def half_of(name):
    """The half that a case belongs to, whatever it holds: errors of the program were mended by looking at the one half only."""
    return 'held-out' if hashlib.sha256(name.encode()).digest()[0] & 1 else 'training'


def arch_of(name, case):
    """The one that a case runs on if it does not run on all."""
    return case.archs[hashlib.sha256(name.encode()).digest()[1] % len(case.archs)]


def buffers_of(case):
    return [case.run[i + 1] for i, word in enumerate(case.run) if word == '--buffer']


def names_of(case):
    """The names of its buffers."""
    return [text.split('=')[0] for text in buffers_of(case)]


def addresses(program, image, arch, case, folder):
    """Where the buffers of a case lie: as many bytes in the same order lie at the same places."""
    found = {}
    memory = case.run[case.run.index('--memory'):][:2] if '--memory' in case.run else []
    buffers = [word for text in [*buffers_of(case), 'told=u64[1]'] for word in ('--buffer', text)]
    for name in names_of(case):
        done = subprocess.run([program, 'run', image, '--arch', f'sm_{arch}', *memory, '--kernel', 'put', *buffers, '--arg', '&told', '--arg',
                               f'&{name}', '--print', 'told'], cwd=folder, capture_output=True, text=True, check=True, timeout=60)
        found[name] = int(done.stdout.split()[1])
    return found


def write_files(case, at, folder):
    for name, content in case.files.items():
        with open(os.path.join(folder, name), 'wb') as file:
            file.write(content if isinstance(content, bytes) else content(at))


def command_of(program, images, name, case, arch, kind, folder):
    """The words of the run; writes the files that it reads."""
    image = os.path.join(images, f'{case.image}{".G" if kind == "-G" else ""}.fatbin')
    at = dict.fromkeys(names_of(case), 0)
    write_files(case, at, folder)
    if not all(isinstance(content, bytes) for content in case.files.values()) or any(word.startswith('low:') for word in case.run):
        at = addresses(program, image, arch, case, folder)
        write_files(case, at, folder)
    run = [str(at[word[4:]] & 0xffffffff) if word.startswith('low:') else word for word in case.run]
    limit = [] if '--max-instructions' in run else ['--max-instructions', '500000']
    late = ['--late', '2'] if kind == 'late' else []
    return [program, 'run', image, '--arch', f'sm_{arch}', '--kernel', name, *late, *limit, *run]


def kinds_of(images, case, every):
    """How a case is run: as it is, with a late fault, built with -G."""
    has_debug = case.debug and os.path.exists(os.path.join(images, f'{case.image}.G.fatbin'))
    return ['', 'late', '-G'][:3 if has_debug else 2] if every else ['']


def screen_of(program, images, name, case, arch, kind=''):
    """(words of the command, first screen, what was said beside it)."""
    with tempfile.TemporaryDirectory() as folder:
        command = command_of(program, images, name, case, arch, kind, folder)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, check=False)
        lines = done.stdout.split('\n')
        start = next((i for i, line in enumerate(lines) if STARTS.match(line)), 0)  # what the kernel prints comes before
        return command, lines[start:start + FIRST_SCREEN], done.stderr


def sentences(screen):
    """(how sure, sentence) of each cause of a screen."""
    found = []
    for line in screen:
        start = re.match(r'- (certain|likely|possible): (.*)', line)
        if start:
            found.append([start[1], start[2]])
        elif found and line.startswith('  ') and found[-1][0]:
            found[-1][1] += ' ' + line.strip()
        else:
            found.append([None, ''])
    return [(sure, text) for sure, text in found if sure]


def line_of(case):
    """FILE:LINE of the text that the case has its headline at."""
    for file in (f'{case.image}.cu', 'triton_kernels.py'):
        path = os.path.join(HERE, 'kernels', file)
        if os.path.exists(path):
            with open(path, encoding='utf-8') as source:
                for number, text in enumerate(source, 1):
                    if case.line in text:
                        return f'{file}:{number}'
    raise AssertionError(f'no source has {case.line!r}')


def judge(case, screen):
    """What is missing on the screen, and which sentences are wrong."""
    told = sentences(screen)
    page = re.sub(r'\s+', ' ', ' '.join(screen))
    missing, wrong = [], []
    named = {family for _, text in told for family in FAMILIES if FAMILIES[family].search(text)}
    if case.right and not named & case.right:
        missing.append('a cause: ' + ' or '.join(sorted(case.right)))
    missing += [f'/{words}/' for words in case.says if not re.search(words, page)]
    if case.line and line_of(case) not in screen[0]:
        missing.append(f'the line {line_of(case)} in the headline')
    for sure, text in told:
        families = {family for family in FAMILIES if FAMILIES[family].search(text)}
        if sure != 'possible' and not families & (case.right | case.fine):
            wrong.append(f'{sure}: {text}')
    wrong += [f'/{words}/ is there' for words in case.never if re.search(words, page)]
    return missing, wrong


def readme():
    """README.md with the list of the cases."""
    with open(README, encoding='utf-8') as file:
        before, _, rest = file.read().partition('<!-- reports -->\n')
    rows = [f'| {case.report} | {case.cause} | `{name}` |\n' for name, case in CASES.items()]
    return before + '<!-- reports -->\n| report | what went wrong | kernel |\n| --- | --- | --- |\n' + ''.join(rows) + rest[rest.index('<!-- /reports -->'):]


def main(words):
    if words == ['--readme']:
        text = readme()
        with open(README, 'w', encoding='utf-8') as file:
            file.write(text)
        return 0
    every, show = '--all' in words, '--show' in words
    half = words[words.index('--half') + 1] if '--half' in words else None
    words = [word for word in words if word not in ('--all', '--show', '--half', half)]
    program, images, *chosen = words
    program, images = os.path.abspath(program), os.path.abspath(images)
    runs = [(name, case, arch, kind) for name, case in CASES.items() if (not chosen or name in chosen) and half in (None, half_of(name))
            for arch in (case.archs if every else [arch_of(name, case)]) for kind in kinds_of(images, case, every)]
    print(f'1..{len(runs) + 2}')
    right, wrong_cases, names = {}, set(), {run[0] for run in runs}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        pages = pool.map(lambda run: screen_of(program, images, *run), runs)
        for number, ((name, case, arch, kind), (command, screen, beside)) in enumerate(zip(runs, pages), 1):
            missing, wrong = judge(case, screen)
            missing = ['a report'] if not STARTS.match(screen[0]) else [] if kind == 'late' else missing
            right[name] = right.get(name, True) and not missing
            if wrong:
                wrong_cases.add(name)
            # how many may be missing is for the last line to say, so one that is counts as skipped; in TAP a # begins a directive
            state = 'not ok' if wrong else 'ok'
            unnamed = ' # SKIP the cause is not named' if missing and not wrong else ''
            print(f'{state} {number} - {name} on sm_{arch}{", " + kind if kind else ""}: {case.cause} ({case.report.replace("#", " ")}){unnamed}')
            for text in [f'missing: {text}' for text in missing] + [f'wrong: {text}' for text in wrong]:
                print(f'# {text}')
            if show and (missing or wrong):
                print('\n'.join(f'#   | {line}' for line in [' '.join(command), *screen, *beside.split('\n')]))
    n_right = sum(right.values())
    passed = n_right * 10 >= len(names) * 9 and not wrong_cases
    print(f'# {n_right} of {len(names)} right, {len(wrong_cases)} with a wrong sentence that is called likely or certain')
    print(('ok' if passed else 'not ok') + f' {len(runs) + 1} - at least 90 % of the reports are right, and none is wrong')
    with open(README, encoding='utf-8') as file:
        listed = file.read() == readme()
    print(('ok' if listed else 'not ok') + f' {len(runs) + 2} - README.md lists the reports')
    return 0 if passed and listed else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
