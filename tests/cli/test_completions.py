#!/usr/bin/env python3
"""What shells complete after `warpscope`: the options that each verb takes, and files where a file goes. Prints TAP.

usage: test_completions.py WARPSCOPE SOURCE_ROOT

The folder that is completed in holds a pipe: whoever opens it waits for ever. No warpscope is in PATH: whoever starts it fails.
"""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tap import tell

BASH = '''source "$1"
shift
COMP_WORDS=(warpscope "$@")
COMP_CWORD=$#
_warpscope
printf '%s\\n' "${COMPREPLY[@]}"
'''
# What is typed, the last word unfinished; what must be offered; what must not.
CASES = [
    ([''], ['report', 'triage', 'help', 'core.pipe'], ['--limit']),
    (['re'], ['report', 'regs'], ['info', 'core.pipe']),
    (['report', ''], ['core.pipe', 'folder'], ['report']),
    (['report', '--f'], ['--format', '--full-names'], ['--brief', 'core.pipe']),
    (['report', 'core.pipe', '-o', ''], ['core.pipe'], []),
    (['report', '--source-dir', ''], ['folder'], ['core.pipe']),
    (['report', '--format', ''], [], ['core.pipe', 'folder']),
    (['report', '--brief', ''], ['core.pipe'], []),
    (['info', '--coalescing', ''], ['on', 'off'], ['core.pipe']),
    (['info', 'core.pipe', ''], [], ['core.pipe']),
    (['extract', 'core.pipe', ''], ['image', 'ptx', 'section', 'memory'], ['core.pipe']),
    (['store', ''], ['add', 'list', 'find'], ['core.pipe']),
    (['store', 'add', 'core.pipe', ''], ['core.pipe'], []),
    (['trace', 'replay', ''], ['core.pipe'], []),
    (['trigger', ''], [], ['core.pipe']),
    (['env', ''], [], ['core.pipe']),
    (['--json', 'ch'], ['check'], []),
    (['debug', '--ker'], ['--kernel'], []),
    (['exec', 'folder/tr'], [], ['trigger']),
    (['exec', 'true', ''], ['core.pipe'], []),
]


def offered(command, folder):
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
                          env={'PATH': '/usr/bin:/bin', 'HOME': folder, 'LC_ALL': 'C'})
    return {line.split('\t')[0].rstrip('/') for line in done.stdout.splitlines() if line} | ({done.stderr} if done.stderr else set())


def options_taken(program, verb, names):
    """Those of `names` that a verb does not call unknown."""
    said = {name: subprocess.run([program, verb, name, '/nonexistent', '--zzzz'], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 check=False).stderr for name in names}
    return {name for name in names if f'unknown option {name}' not in said[name]}


def of_options(program, verbs):
    every = {name for verb in verbs for option in verb.options for name in option.names if name.startswith('--')}
    for verb in verbs:
        listed = {name for option in verb.options for name in option.names if name.startswith('--')}
        taken = options_taken(program, verb.name, every)
        yield f'{verb.name} takes the options that are offered, and no others', listed == taken, f'{listed ^ taken}'


def of_shell(name, file, folder, command):
    if not shutil.which(name):
        yield f'{name} # SKIP {name} is not installed', True, ''
        return
    for typed, wanted, unwanted in CASES:
        found = offered([*command, file, *typed], folder)
        good = set(wanted) <= found and not found & set(unwanted) and not any('\n' in word for word in found)
        yield f'{name}: {" ".join(typed)}', good, f'{sorted(found)}'


def cases(program, root):
    spec = importlib.util.spec_from_file_location('completions', os.path.join(root, 'tools/completions.py'))
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    verbs = list(made.verbs_of(root))
    said = subprocess.run([program, '--help'], capture_output=True, text=True, check=False).stdout
    yield 'the verbs are those of --help', [verb.name for verb in verbs] == re.findall(r'^  ([a-z]+) ', said, re.MULTILINE), said
    yield from of_options(program, verbs)
    with tempfile.TemporaryDirectory() as folder:
        where = os.path.join(folder, 'here')
        os.makedirs(os.path.join(where, 'folder'))
        os.mkfifo(os.path.join(where, 'core.pipe'))
        files = []
        for path, text in made.completions(root).items():
            files.append(os.path.join(folder, os.path.basename(os.path.dirname(path))))
            with open(files[-1], 'w', encoding='ascii') as out:
                out.write(text)
        yield from of_shell('bash', files[0], where, ['bash', '--norc', '-c', BASH, 'bash'])
        yield from of_shell('fish', files[2], where, ['fish', '--no-config', '-c', 'source $argv[1]; complete -C "warpscope $argv[2..]"'])
        if shutil.which('zsh'):
            done = subprocess.run(['zsh', '-n', files[1]], capture_output=True, text=True, check=False)
            yield 'zsh reads its file', done.returncode == 0 and not done.stderr, done.stderr
        else:
            yield 'zsh # SKIP zsh is not installed', True, ''


def main():
    return tell(cases(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])))


if __name__ == '__main__':
    sys.exit(main())
