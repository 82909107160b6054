#!/usr/bin/env python3
"""Runs every libFuzzer target of a build for a while, starting from its seeds, as many at once as there are cores. Prints TAP.

usage: fuzz.py BUILD SECONDS [--counts FILE] [NAME...]

What a target finds is kept in BUILD/fuzz/NAME.findings; put it into fuzz/seeds/NAME with the mend.
"""
import concurrent.futures
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def seeds_of(name):
    """fuzz/seeds/NAME and the folders that fuzz/meson.build adds."""
    with open(os.path.join(ROOT, 'fuzz/meson.build'), encoding='utf-8') as text:
        row = re.search(rf"^  '{name}': \[(.*)\]", text.read(), flags=re.M)
    more = re.findall(r"'([^']+)'", row.group(1)) if row else []
    folders = [os.path.join(ROOT, 'fuzz', folder) for folder in ['seeds/' + name, *more]]
    return [folder for folder in folders if os.path.isdir(folder)]


def run(build, name, seconds):
    corpus, findings = (os.path.join(build, 'fuzz', f'{name}.{kind}') for kind in ('corpus', 'findings'))
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(findings, exist_ok=True)
    command = [os.path.join(build, 'fuzz', 'fuzz_' + name), f'-max_total_time={seconds}', '-timeout=10',
               '-rss_limit_mb=2048', '-print_final_stats=1', f'-artifact_prefix={findings}/', corpus, *seeds_of(name)]
    # libFuzzer counts what UndefinedBehaviorSanitizer says as a finding only when it ends the program
    return subprocess.run(command, capture_output=True, check=False, text=True, errors='replace',
                          env={**os.environ, 'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1'})


def main():
    build, seconds = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    names = sys.argv[3:]
    counts_file = None
    if names[:1] == ['--counts']:
        counts_file = names[1]
        names = names[2:]
    names = names or sorted(f[len('fuzz_'):] for f in os.listdir(os.path.join(build, 'fuzz'))
                                   if f.startswith('fuzz_') and '.' not in f)
    print(f'1..{len(names)}')
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda name: run(build, name, seconds), names)
        for number, (name, done) in enumerate(zip(names, results), 1):
            runs = [line.split(':')[-1].strip() for line in done.stderr.splitlines() if 'number_of_executed_units' in line]
            if done.returncode == 0:
                print(f'ok {number} - {name}: {runs[0] if runs else "?"} runs in {seconds} s', flush=True)
                continue
            failed += 1
            print(f'not ok {number} - {name}')
            for line in done.stderr.splitlines()[-40:]:
                print(f'# {line}')
    if counts_file:
        with open(counts_file, 'a', encoding='utf-8') as out:
            out.write(f'{len(names) - failed} {failed} 0\n')
    print(f'{len(names) - failed} passed, {failed} failed, 0 skipped')
    return 1 if failed or not names else 0


if __name__ == '__main__':
    sys.exit(main())
