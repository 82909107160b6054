"""Sessions at a prompt, and transcripts of them: files whose first line is "# " and the words of the command line, and whose rest
is what the program prints. Their commands are read from them: the program repeats each behind its prompt."""
import os
import shlex
import subprocess

PROMPT = '(warpscope) '
MORE = '>'  # before the lines of a command of the user's own
# Fixtures were compiled in a tree at /src/ws; what a transcript shows does not depend on whether one is there.
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = ['--source-map', f'/src/ws={ROOT}']


def session(program, verb, words, commands, folder):
    """What the program prints, both streams, and its exit status."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith('CUDA_')}
    done = subprocess.run([program, verb, *SOURCES, *words], cwd=folder, env=environment, input='\n'.join(commands) + '\n', text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
    return done.stdout, done.returncode


def transcript(program, verb, path, folder, update):
    """Whether a session goes as its transcript says; else how not. With `update` it is made anew from its commands."""
    with open(path, encoding='utf-8') as file:
        head, *lines = file.read().splitlines()
    # `output` ends no line: what it printed is before the prompt
    commands = [line.split(PROMPT, 1)[1] if PROMPT in line else line[len(MORE):] for line in lines if PROMPT in line or line.startswith(MORE)]
    got, status = session(program, verb, shlex.split(head[2:]), commands, folder)
    if update:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(head + '\n' + got)
        return None
    if status != 0:
        return f'exit status {status}'
    for number, (want, line) in enumerate(zip(lines + ['(end)'], got.splitlines() + ['(end)']), 2):
        if want != line:
            return f'line {number} is {line!r}, not {want!r}'
    return None


def run_cases(cases):
    """Prints TAP for (name, function) pairs; a function returns None, or what is wrong. An exit status."""
    print(f'1..{len(cases)}')
    failed = 0
    for number, (name, run) in enumerate(cases, 1):
        wrong = run()
        failed += wrong is not None
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
        if wrong:
            print(f'# {wrong}')
    return 1 if failed else 0
