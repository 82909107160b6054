#!/usr/bin/env python3
"""Holds every #include against the may-use table of docs/architecture.md. Prints TAP.

usage: check-deps.py [ROOT]

The table in docs/architecture.md is the only copy: rows "| `folder` | uses | ... |" between the lines
"<!-- may-use -->" and "<!-- /may-use -->". A use is a folder of src/ ("elf"), a file of one ("core/format.h"),
"public" (include/warpscope), or a library ("zlib"). Everything in src/ may use base, public headers and libc.
"""
import os
import re
import sys

LIBRARY_OF = {
    'zlib.h': 'zlib', 'zstd.h': 'libzstd', 'lz4.h': 'liblz4', 'libiberty/demangle.h': 'libiberty',
    'elfutils/libdw.h': 'libdw', 'dwarf.h': 'libdw', 'libelf.h': 'libdw', 'histedit.h': 'libedit',
    'jansson.h': 'jansson', 'dlfcn.h': 'dlopen', 'cudadebugger.h': 'cuda',
}
LIBC = re.compile(r'^(assert|ctype|dirent|errno|fcntl|fenv|float|getopt|glob|inttypes|limits|locale|math|poll|pthread|'
                  r'setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|strings|time|unistd|'
                  r'wchar|sys/[a-z_]+)\.h$')


def table(root):
    uses = {}
    inside = False
    with open(os.path.join(root, 'docs/architecture.md'), encoding='utf-8') as page:
        for line in page:
            if '<!-- may-use -->' in line:
                inside = True
            elif '<!-- /may-use -->' in line:
                inside = False
            elif inside and line.startswith('| `'):
                cells = [c.strip() for c in line.strip().strip('|').split('|')]
                for folder in re.findall(r'`([^`]+)`', cells[0]):
                    uses[folder] = set(re.findall(r'`([^`]+)`', cells[1]))
    return uses


def folder_of(path):
    """src/target/core/x.c -> target/core; cli/x.c -> cli; include/warpscope/x.h -> public"""
    parts = path.split('/')
    if parts[0] == 'include':
        return 'public'
    if parts[0] != 'src':
        return parts[0]
    return '/'.join(parts[1:-1][:2]) if parts[1] == 'target' and len(parts) > 3 else parts[1]


def allowed(folder, include, system, uses, root):
    may = uses[folder]
    if include.startswith('warpscope/'):
        return True
    if folder == 'public':
        return system and bool(LIBC.match(include))
    if LIBC.match(include):
        return True
    if include in LIBRARY_OF:
        return LIBRARY_OF[include] in may
    if folder in ('cli', 'dap', 'examples', 'bench'):
        return '..' not in include and os.path.exists(os.path.join(root, folder, include))
    if include.endswith('.inc') or '/' not in include:
        return True  # generated next to the folder's own files
    target = folder_of('src/' + include)
    return target in ('base', folder) or target in may or include in may


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else '.'
    uses = table(root)
    results = []
    for top in ('src', 'cli', 'dap', 'examples', 'bench', 'include'):
        for where, _, files in os.walk(os.path.join(root, top)):
            for name in sorted(files):
                if not name.endswith(('.c', '.h')):
                    continue
                path = os.path.relpath(os.path.join(where, name), root)
                folder = folder_of(path)
                if folder != 'public' and folder not in uses:
                    results.append((path, [f'folder {folder} has no row in docs/architecture.md']))
                    continue
                uses.setdefault('public', set())
                bad = []
                with open(os.path.join(root, path), encoding='utf-8') as source:
                    for number, line in enumerate(source, 1):
                        m = re.match(r'\s*#\s*include\s+([<"])([^>"]+)[>"]', line)
                        if m and not allowed(folder, m.group(2), m.group(1) == '<', uses, root):
                            bad.append(f'line {number}: {folder} may not include {m.group(2)}')
                results.append((path, bad))
    print(f'1..{len(results)}')
    failed = 0
    for number, (path, bad) in enumerate(results, 1):
        print(f'{"not ok" if bad else "ok"} {number} - {path}')
        for line in bad:
            print(f'# {path}: {line}')
        failed += bool(bad)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
