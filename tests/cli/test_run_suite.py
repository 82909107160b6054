#!/usr/bin/env python3
"""What make check prints about a test that failed: all that it said, how to run it again, and a list at the end.
Prints TAP.

usage: test_run_suite.py SOURCE_ROOT
"""
import os
import subprocess
import sys
import tempfile

PROJECT = '''project('suite', version: '1')
foreach name : ['good one', 'two fail', 'dies', 'never ends']
  test(name, find_program('sh'), args: [files(name.replace(' ', '-') + '.sh')], suite: 'unit', protocol: 'tap', timeout: 1)
endforeach
'''
SCRIPTS = {
    'good-one': 'echo 1..2; echo ok 1 - fine; echo "# a good word"; echo ok 2 - also fine',
    'two-fail': '''echo 1..4; echo ok 1 - fine; echo "# before the second"; echo not ok 2 - second; echo "# why the second"
echo "and without a mark"; echo ok 3 - third; echo "not ok 4 - fourth"; i=0; while [ $i -lt 400 ]; do echo "# line $i"; i=$((i + 1)); done
echo "a word on standard error" >&2; exit 1''',
    'dies': 'echo 1..2; echo ok 1 - fine; echo "the last word"; kill -9 $$',
    'never-ends': 'echo 1..1; echo "# still here"; sleep 20',
}


def run_suite(root):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'meson.build'), 'w', encoding='utf-8') as out:
            out.write(PROJECT)
        for name, text in SCRIPTS.items():
            with open(os.path.join(folder, name + '.sh'), 'w', encoding='utf-8') as out:
                out.write(text + '\n')
        build = os.path.join(folder, 'build')
        subprocess.run(['meson', 'setup', build, folder], check=True, capture_output=True)
        done = subprocess.run([sys.executable, os.path.join(root, 'tools/run-suite.py'), build, 'unit'], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, build


def the_end(root):
    status, said, build = run_suite(root)
    lines = said.splitlines()
    listed = lines[lines.index('Failed:'):] if 'Failed:' in lines else []
    end = said[said.find('===='):]
    at_the_end = said.find('====') > said.index('4/4')
    yield 'the status and the last line count', status == 1 and lines[-1] == '5 passed, 4 failed, 0 skipped', lines[-1:]
    yield 'every test that failed is in the list before the last line', sorted(listed[1:-2]) == [
        'dies: ERROR', 'never ends: TIMEOUT', 'two fail: not ok 2 - second',
        'two fail: not ok 4 - fourth'] and at_the_end, listed
    wanted = ('# before the second', 'not ok 2 - second', '# why the second', 'and without a mark', 'not ok 4 - fourth', '# line 0\n',
              '# line 399', 'a word on standard error', 'the last word', '# still here', f"again: meson test -C {build} --verbose 'two fail'")
    lacking = [text for text in wanted if text not in end]
    yield 'a case that failed is there whole, with its neighbours\' lines left out', not lacking and 'ok 3' not in end and 'good' not in end, lacking
    yield 'what is too long is cut in the middle, with the place of the rest', f'lines left out: {build}/meson-logs' in end and '# line 200\n' not in end, []


def main():
    cases = list(the_end(sys.argv[1]))
    print(f'1..{len(cases)}')
    for number, (name, good, facts) in enumerate(cases, 1):
        print(f'{"ok" if good else "not ok"} {number} - {name}')
        for fact in [] if good else facts:
            print(f'# {fact}')
    return 0 if all(good for _, good, _ in cases) else 1


if __name__ == '__main__':
    sys.exit(main())
