#!/usr/bin/env python3
"""The examples for systems that build and test do what they say, as far as they can without these systems: their scripts run,
with a test that fails on the software GPU. Prints TAP.

usage: test_ci.py WARPSCOPE SOURCE_ROOT DRIVERS PROGRAM FATBIN
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

from tap import tell

WARPSCOPE, ROOT, DRIVERS, PROGRAM, FATBIN = map(os.path.abspath, sys.argv[1:6])


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def github_steps():
    """Name of a step -> its script."""
    text = read(ROOT, 'examples/ci/github.yml')
    found = re.findall(r'- name: (.*)\n(?: +if: .*\n)? +run: \|\n((?: {10}.*\n)+)', text)
    return {name: textwrap.dedent(script) for name, script in found}


def gitlab_scripts():
    text = read(ROOT, 'examples/ci/gitlab.yml')
    return {name: ''.join(line[6:] for line in lines.splitlines(True))
            for name, lines in re.findall(r'^  (script|after_script):\n((?:    - .*\n)+)', text, re.MULTILINE)}


def run(script, folder, **more):
    """As a runner does: a line that fails ends it."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith('CUDA_')}
    environment.update(PATH=f'{folder}/bin:{os.path.dirname(WARPSCOPE)}:' + environment['PATH'], LD_LIBRARY_PATH=DRIVERS, **more)
    return subprocess.run(['sh', '-e', '-c', script], cwd=folder, env=environment, capture_output=True, text=True, timeout=100, check=False)


def workplace(folder, fails):
    """A cmake that builds nothing, and a ctest that runs the program, or nothing."""
    os.mkdir(os.path.join(folder, 'bin'))
    for name, line in (('cmake', 'exit 0'), ('ctest', f'exec {PROGRAM} {FATBIN}' if fails else 'exit 0')):
        path = os.path.join(folder, 'bin', name)
        with open(path, 'w', encoding='utf-8') as out:
            out.write(f'#!/bin/sh\n{line}\n')
        os.chmod(path, 0o755)


def of_github(folder):
    workplace(folder, True)
    steps = github_steps()
    yield 'GitHub: three scripts', list(steps) == ['Build', 'Test', 'Make dumps safe to share'], str(steps)
    done = run(steps['Build'] + steps['Test'], folder)
    notes = re.findall(r'^::error (.*)::(.*)$', done.stderr, re.MULTILINE)
    yield 'GitHub: the test fails, and its bug is an annotation', done.returncode != 0 and len(notes) == 1 and 'Illegal memory access' in notes[0][1] and \
        re.fullmatch(r'file=[^,:]*driver\.cu,line=\d+,title=GPU fault', notes[0][0]), done.stdout + done.stderr
    done = run(steps['Make dumps safe to share'], folder, GITHUB_STEP_SUMMARY='summary')
    shared = os.listdir(os.path.join(folder, 'share'))
    page = subprocess.run([WARPSCOPE, os.path.join(folder, 'share', shared[0])], capture_output=True, text=True, check=False).stdout if shared else ''
    yield 'GitHub: what is uploaded is stripped, and says the same', done.returncode == 0 and len(shared) == 1 and page.startswith('Illegal memory access') and \
        'stripped' in page, done.stdout + done.stderr + page
    yield 'GitHub: the summary has the triage', 'illegal memory access' in read(folder, 'summary'), read(folder, 'summary')


def of_gitlab(folder):
    workplace(folder, True)
    scripts = gitlab_scripts()
    done = run(scripts['script'], folder)
    yield 'GitLab: the test fails', done.returncode != 0, done.stderr
    done = run(scripts['after_script'], folder)
    found = json.loads(read(folder, 'gl-code-quality-report.json')) if done.returncode == 0 else []
    yield 'GitLab: a finding with its line', len(found) == 1 and found[0]['location']['path'].endswith('driver.cu') and \
        found[0]['location']['lines']['begin'] > 1 and found[0]['severity'] == 'critical' and len(found[0]['fingerprint']) == 64, f'{done.stderr}{found}'
    yield 'GitLab: a stripped dump', len(os.listdir(os.path.join(folder, 'share'))) == 1, ''


def of_success(folder):
    workplace(folder, False)
    steps, scripts = github_steps(), gitlab_scripts()
    done = run(steps['Build'] + steps['Test'] + scripts['script'] + scripts['after_script'], folder)
    yield 'a test that passes leaves nothing', done.returncode == 0 and '::' not in done.stderr and not os.listdir(os.path.join(folder, 'share')), done.stderr


def cases():
    for of in (of_github, of_gitlab, of_success):
        with tempfile.TemporaryDirectory() as folder:
            yield from of(folder)


if __name__ == '__main__':
    sys.exit(tell(cases()))
