#!/usr/bin/env python3
"""What differs in the ABI from the last release is told, and before 1.0 only told. Prints TAP.

usage: test_abi.py SOURCE_ROOT VERSION HEADER... -- CC...
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../cli'))
from tap import tell  # noqa: E402

ROOT, VERSION = sys.argv[1:3]
HEADERS, CC = sys.argv[3:sys.argv.index('--')], sys.argv[sys.argv.index('--') + 1:]
TOOL = os.path.join(ROOT, 'tools/abi.py')

# Changes of a header, and what is said of each; whether a program that was built before can notice.
CHANGES = (
    ('base.h', 'struct ws_dim3 {', 'struct ws_dim3 {\n\tuint32_t w;', 'other  struct ws_dim3', True),
    ('core.h', 'bool (*progress)(void *user, uint64_t', 'bool (*progress)(void *user, uint32_t', 'other  struct ws_core_options', True),
    ('report.h', 'WS_API const char *ws_confidence_text(enum ws_confidence confidence);', '', 'gone   function ws_confidence_text', True),
    ('report.h', 'WS_CONFIDENCE_CERTAIN,', 'WS_CONFIDENCE_SURE,', 'other  enum ws_confidence', True),
    ('report.h', 'WS_DIRECTION_ATOMIC }', 'WS_DIRECTION_ATOMIC, WS_DIRECTION_MORE }', 'grown  enum ws_direction', False),
    ('out.h', 'WS_API void ws_out_spaces', 'WS_API void ws_out_dots(struct ws_out *out);\nWS_API void ws_out_spaces', 'new    function ws_out_dots', False),
)


def run(*words):
    done = subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def cases():
    with tempfile.TemporaryDirectory() as folder:
        now, then = os.path.join(folder, 'now.txt'), os.path.join(folder, 'then.txt')
        include = os.path.join(folder, 'include/warpscope')
        os.makedirs(include)
        for header in HEADERS:
            shutil.copy(header, include)
        copies = [os.path.join(include, os.path.basename(header)) for header in HEADERS]
        status, said = run('--write', now, *copies, '--', *CC)
        yield 'the headers are described', status == 0, said
        status, said = run(os.path.join(ROOT, 'data/abi.txt'), now, VERSION)
        for line in said.splitlines():
            print(f'# {line}')  # for who makes a release
        yield 'the ABI is compared with that of the last release', status == 0 and ' differ' in said, said
        for name, old, new, _, _ in CHANGES:
            path = os.path.join(include, name)
            with open(path, encoding='utf-8') as file:
                text = file.read()
            yield f'{name} has what is changed', text.count(old) == 1, old
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text.replace(old, new))
        run('--write', then, *copies, '--', *CC)
        _, said = run(now, then, '0.9.0')
        told = said.splitlines()[:-1]
        for *_, line, _ in CHANGES:
            yield line, line in told, said
        yield 'before 1.0 it is only told', run(now, then, '0.9.0')[0] == 0 and run(now, then, '1.0.0')[0] == 1, said
        yield 'what was there stays', run(now, now, '1.0.0')[0] == 0, said


if __name__ == '__main__':
    sys.exit(tell(cases()))
