#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The names in the last column of docs/glossary.md are those of the code. Prints TAP.

usage: test_glossary.py SOURCE_ROOT
"""
import os
import re
import sys


def code_of(root):
    parts = []
    for folder in ('include', 'src'):
        for where, _, files in os.walk(os.path.join(root, folder)):
            for name in files:
                if name.endswith(('.h', '.c', '.tbl')):
                    with open(os.path.join(where, name), encoding='utf-8') as handle:
                        parts.append(handle.read())
    return '\n'.join(parts)


def is_there(name, root, code):
    if '/' in name:
        return any(os.path.exists(os.path.join(root, folder, name)) for folder in ('', 'src', 'include/warpscope'))
    patterns = [re.escape(word).replace('…', r'\w*') for word in re.findall(r'[\w…]+', name)]
    return all(re.search(rf'\b{pattern}\b', code) for pattern in patterns)


def main():
    root = sys.argv[1]
    code, failed, rows = code_of(root), 0, []
    with open(os.path.join(root, 'docs', 'glossary.md'), encoding='utf-8') as handle:
        for line in handle:
            cells = [cell.strip() for cell in line.strip().strip('|').split(' | ')]
            if line.startswith('| ') and len(cells) == 3 and cells[0] not in ('word', '---'):
                rows.append((cells[0], re.findall(r'`([^`]+)`', cells[2])))
    print(f'1..{len(rows)}')
    for number, (word, names) in enumerate(rows, 1):
        lost = [name for name in names if not is_there(name, root, code)]
        failed += bool(lost)
        print(f'{"not ok" if lost else "ok"} {number} - {word}{": not in the code: " if lost else ""}{", ".join(lost)}')
    return int(bool(failed or not rows))


if __name__ == '__main__':
    sys.exit(main())
