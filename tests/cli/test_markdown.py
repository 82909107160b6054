#!/usr/bin/env python3
"""Pages as a tracker shows them, by cmark-gfm: nothing that an input says becomes markup in the Markdown page, and the plain
page, pasted as it is, keeps its paragraphs, lists and blocks. Prints TAP.

usage: test_markdown.py WARPSCOPE SOURCE_ROOT
"""
import html.parser
import os
import re
import subprocess
import sys
import tempfile

PLAIN = {'p', 'ul', 'li', 'pre', 'code'}
MARKDOWN = PLAIN | {'strong', 'details', 'summary', 'sub'}
VOID = {'br', 'hr', 'img', 'input'}
SCENARIOS = ('illegal-address', 'misaligned-G', 'assert', 'hang', 'recursion')
REFERENCE = re.compile(r'@\w|(?<!&)#\d|https?://|www\.', re.I)


class Wrong(Exception):
    pass


class Shown(html.parser.HTMLParser):
    """What a page became: its elements, and its text inside and outside of code."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.prose, self.code, self.blocks = [], [], [], [], [], 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.blocks += tag == 'pre'
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise Wrong(f'</{tag}> closes something else')

    def handle_comment(self, data):
        if data.strip():
            raise Wrong(f'a comment: {data[:60]!r}')

    def handle_data(self, data):
        (self.code if 'code' in self.open or 'pre' in self.open else self.prose).append(data)


def render(page):
    done = subprocess.run(['cmark-gfm', '--unsafe', '-e', 'table', '-e', 'strikethrough', '-e', 'autolink', '-e', 'tasklist'],
                          input=page, capture_output=True, check=True, timeout=60)
    return Shown(done.stdout.decode())


def check(page, shown, allowed):
    extra = sorted(set(shown.tags) - allowed)
    if extra:
        raise Wrong(f'elements {extra}')
    for tag, name, value in shown.attributes:
        if (tag, name, value) != ('code', 'class', 'language-text'):
            raise Wrong(f'<{tag} {name}={value[:80]!r}>')
    prose = ''.join(shown.prose)
    for word in ('MARK', 'evil', 'INJECTED', 'alert', 'onerror'):
        if word in prose:
            at = prose.index(word)
            raise Wrong(f'text of the input outside of code: {prose[max(at - 80, 0):at + 40]!r}')
    live = REFERENCE.search(prose)
    if live:
        raise Wrong(f'a reference outside of code: {prose[max(live.start() - 60, 0):live.end() + 20]!r}')
    if 'MARK' not in ''.join(shown.code):
        raise Wrong('the planted name is not shown: the case tests nothing')
    if not page.endswith(b'\n'):
        raise Wrong('the page does not end in a line break')


def check_shape(page, shown):
    """Every line that is indented is in a block, and the blocks are those of the page."""
    blocks, before = [], ''
    for line in page.decode().split('\n'):
        if line.startswith('    ') and not before.startswith('    ') and not (blocks and before == '' and blocks[-1] == 'open'):
            blocks.append('open')
        elif line and not line.startswith('    ') and blocks:
            blocks[-1] = 'closed'
        before = line
    if shown.blocks != len(blocks):
        raise Wrong(f'{len(blocks)} blocks became {shown.blocks}')
    titles = [line for line in page.decode().split('\n') if line.endswith(':') and not line.startswith((' ', '-'))]
    for title in titles:
        if title not in ''.join(shown.prose):
            raise Wrong(f'the title {title!r} is none any more')


def main():
    warpscope, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    sys.path.insert(0, os.path.join(root, 'tests/builders'))
    import hostile  # pylint: disable=import-outside-toplevel
    cases = [(kind, name) for kind in hostile.KINDS for name in SCENARIOS]
    print(f'1..{2 * len(cases)}')
    failed = number = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'MARK.nvcudmp')
        for kind, name in cases:
            with open(path, 'wb') as file:
                file.write(hostile.dump(name, hostile.KINDS[kind])[0])
            for form, allowed in (('text', PLAIN), ('md', MARKDOWN)):
                number += 1
                page = subprocess.run([warpscope, 'report', '--format', form, '--all', path], capture_output=True, check=True,
                                      timeout=60).stdout
                try:
                    shown = render(page)
                    check(page, shown, allowed)
                    if form == 'text':
                        check_shape(page, shown)
                    print(f'ok {number} - {form}, {kind} names, {name}')
                except Wrong as problem:
                    failed += 1
                    print(f'not ok {number} - {form}, {kind} names, {name}\n# {ascii(str(problem))[:500]}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
