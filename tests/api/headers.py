#!/usr/bin/env python3
"""Every public header compiles alone, as C11 and as C++11, twice in one file, without a warning. Prints TAP.

usage: headers.py HEADER... -- CC... -- CXX...        (no CXX: those cases are skipped)
"""
import os
import subprocess
import sys
import tempfile

PATHS, RULES = sys.argv[1:sys.argv.index('--')], sys.argv[sys.argv.index('--') + 1:]
INCLUDES = {os.path.dirname(os.path.dirname(path)) for path in PATHS}  # of the source, and of the build


def compile_alone(compiler, flags, header, suffix, folder):
    path = os.path.join(folder, 'one' + suffix)
    with open(path, 'w', encoding='utf-8') as out:
        out.write(f'#include <warpscope/{header}>\n' * 2 + 'int main(void) { return 0; }\n')
    command = [*compiler, *flags, '-Wall', '-Wextra', '-Wpedantic', '-Werror',
               *('-I' + include for include in INCLUDES), '-c', path, '-o', os.devnull]
    return subprocess.run(command, capture_output=True, check=False, text=True)


def main():
    cc, cxx = RULES[:RULES.index('--')], RULES[RULES.index('--') + 1:]
    compilers = (('C', cc, ['-std=c11'], '.c'), ('C++', cxx, ['-std=c++11'], '.cpp'))
    headers = sorted(os.path.basename(path) for path in PATHS)
    print(f'1..{2 * len(headers)}')
    number = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for header in headers:
            for language, compiler, flags, suffix in compilers:
                number += 1
                if not compiler:
                    print(f'ok {number} - {header} as {language} # SKIP no {language} compiler')
                    continue
                done = compile_alone(compiler, flags, header, suffix, folder)
                print(f'{"not ok" if done.returncode else "ok"} {number} - {header} as {language}')
                for line in done.stderr.splitlines()[:10]:
                    print(f'# {line}')
                failed += done.returncode != 0
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
