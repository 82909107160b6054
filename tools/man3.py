#!/usr/bin/env python3
"""Manual pages of the functions that matter most, section 3, from the comments of the public headers.

usage: man3.py NAME.3 FILE        makes that page, with scdoc
       man3.py                    says which there are

The comment above a function is the only room of what it does: its first sentence, its text, @param and @retval become the page.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Function -> its header, in the order in which a newcomer meets them.
PAGES = {
    'ws_report_create_from_file': 'verbs', 'ws_report_create': 'report', 'ws_report_text': 'report', 'ws_report_markdown': 'report',
    'ws_report_html': 'report', 'ws_core_open': 'core', 'ws_core_open_memory': 'core', 'ws_core_check': 'core', 'ws_target_core': 'core',
    'ws_info_answer': 'verbs', 'ws_diff': 'verbs', 'ws_symbolize': 'verbs', 'ws_image_file_open': 'image', 'ws_image_file_cubin': 'image',
    'ws_line_find': 'line', 'ws_debug_start': 'debug', 'ws_debug_attach': 'debug', 'ws_debug_break': 'debug', 'ws_debug_run': 'debug',
    'ws_out_printf': 'out',
}


def page_names():
    return [name + '.3' for name in PAGES]


def declaration(name):
    """The comment above a function and its declaration in one line."""
    with open(os.path.join(ROOT, 'include/warpscope', PAGES[name] + '.h'), encoding='utf-8') as file:
        text = file.read()
    found = re.search(rf'/\*\*((?:(?!\*/).)*)\*/\s*WS_API ((?:(?!;|/\*).)*\b{name}\((?:(?!;).)*);', text, re.DOTALL)
    comment = '\n'.join(re.sub(r'^ ?\* ?', '', line.strip('\t')) for line in found[1].strip().split('\n'))
    code = re.sub(r'\s+', ' ', re.sub(r' WS_(MUST_USE|PRINTF\([^)]*\))', '', found[2]))
    return comment, re.sub(r'\( ', '(', code) + ';'


def escaped(text):
    """Prose for scdoc; what is between backticks is bold."""
    text = re.sub(r'\s+', ' ', text.strip())
    parts = re.split(r'`([^`]*)`', re.sub(r'([\\_*#])', r'\\\1', text))
    return ''.join(f'*{part}*' if i % 2 else part for i, part in enumerate(parts))


def tagged(comment):
    """The paragraphs without tags, and the tags: (kind, names, text)."""
    paragraphs, found = [], []
    for part in re.split(r'\n\s*\n', comment.strip()):
        head, *tags = re.split(r'(?:^|(?<=\s))@(?=param|retval)', part)
        paragraphs += [escaped(head)] if head.strip() else []
        for tag in tags:
            kind, rest = tag.split(None, 1)
            names = re.match(r'\w+(?:, \w+)*', rest)[0]
            found.append((kind, names, rest[len(names):]))
    return paragraphs, found


def source(name):
    """The page for scdoc."""
    comment, code = declaration(name)
    paragraphs, tags = tagged(comment)
    first = re.match(r'(.*?)[.:](?= |$)', paragraphs[0])[1]
    lines = [f'{name}(3)', '', '# NAME', '', f'{name} - {first[0].lower() + first[1:]}', '', '# SYNOPSIS', '',
             f'*#include <warpscope/{PAGES[name]}.h>*', '', f'*{escaped(code)}*', '', 'Link with *-lwarpscope*: *pkg-config --cflags --libs warpscope*.', '',
             '# DESCRIPTION', '', '\n\n'.join(paragraphs), '']
    for kind, title in (('param', 'PARAMETERS'), ('retval', 'RETURN VALUE')):
        chosen = [(names, text) for k, names, text in tags if k == kind]
        if not chosen:
            continue
        lines += [f'# {title}', '']
        for names, text in chosen:
            lines += [f'*{escaped(names)}*', '\t' + (escaped(text) or escaped(meaning(names))), '']
    lines += ['# SEE ALSO', '', f'_warpscope/{PAGES[name]}.h_, which describes what the function works on; _share/doc/warpscope/first-tool.md_', '']
    return '\n'.join(lines)


def meaning(names):
    """What statuses mean that a comment only names."""
    with open(os.path.join(ROOT, 'include/warpscope/base.h'), encoding='utf-8') as file:
        words = dict(re.findall(r'X\((\w+), +"([^"]*)"\)', file.read()))
    return '; '.join(words[name.removeprefix('WS_')] for name in names.split(', ')) + '.'


def main():
    if len(sys.argv) == 1:
        print('\n'.join(page_names()))
        return
    with open(sys.argv[2], 'wb') as out:
        subprocess.run(['scdoc'], input=source(sys.argv[1].removesuffix('.3')).encode(), stdout=out, check=True)


if __name__ == '__main__':
    main()
