#!/usr/bin/env python3
"""Every public header compiles alone, as C11 and as C++11, twice in one file, without a warning. Prints TAP.

usage: headers.py ROOT CC... -- CXX...        (no CXX: those cases are skipped)
"""
import os
import subprocess
import sys
import tempfile


def compile_alone(compiler, flags, root, header, suffix, folder):
    path = os.path.join(folder, 'one' + suffix)
    with open(path, 'w', encoding='utf-8') as out:
        out.write(f'#include <warpscope/{header}>\n' * 2 + 'int main(void) { return 0; }\n')
    command = [*compiler, *flags, '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-I' + os.path.join(root, 'include'),
               '-c', path, '-o', os.devnull]
    return subprocess.run(command, capture_output=True, check=False, text=True)


def main():
    root, rest = sys.argv[1], sys.argv[2:]
    split = rest.index('--')
    compilers = (('C', rest[:split], ['-std=c11'], '.c'), ('C++', rest[split + 1:], ['-std=c++11'], '.cpp'))
    headers = sorted(f for f in os.listdir(os.path.join(root, 'include/warpscope')) if f.endswith('.h'))
    print(f'1..{2 * len(headers)}')
    number = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for header in headers:
            for language, compiler, flags, suffix in compilers:
                number += 1
                if not compiler:
                    print(f'ok {number} - {header} as {language} # SKIP no {language} compiler')
                    continue
                done = compile_alone(compiler, flags, root, header, suffix, folder)
                print(f'{"not ok" if done.returncode else "ok"} {number} - {header} as {language}')
                for line in done.stderr.splitlines()[:10]:
                    print(f'# {line}')
                failed += done.returncode != 0
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
