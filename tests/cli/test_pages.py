#!/usr/bin/env python3
"""The Markdown and HTML pages as text: nothing of a dump becomes markup, nothing is loaded, everything is closed, and
the largest picture stays small. Prints TAP.

usage: test_pages.py PLANTED_REPORT WARPSCOPE SOURCE_ROOT
"""
import base64
import hashlib
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile

VOID = {'meta', 'br', 'input', 'link', 'hr', 'img'}
SVG_EMPTY = {'path', 'rect'}  # written as <path/>
SIZE_LIMIT = 2_000_000  # bytes, for the warps of eight full GPUs
FOOT = r"<sub>Made by warpscope [\w.-]+\. Shown of registers and memory: [a-z ,]+; nothing else\.</sub>"  # the last line of Markdown
HOSTILE_PARTS = ("<script>document.title='owned'</script>", '<img src=x onerror=', '--><!--', '</code></pre>', '\\x1b[31m',
                 '\\xff\\xfe', '\\xe2\\x80\\xae', '\\xc2\\x9b')


class Wrong(Exception):
    pass


def run(*command):
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    if done.returncode:
        raise Wrong(f'exit status {done.returncode}: {done.stderr.decode(errors="replace")[:300]}')
    return done.stdout.decode()  # strict: pages are UTF-8 whatever the dump holds


class Page(html.parser.HTMLParser):
    """Refuses what a lenient parser would mend."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.text, self.raw = [], [], [], [], {}
        self.feed(text)
        self.close()
        if self.open:
            raise Wrong(f'not closed: {self.open}')

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if len({name for name, _ in attrs}) != len(attrs):
            raise Wrong(f'{tag} has an attribute twice')
        self.attributes += [(tag, name, value) for name, value in attrs]
        source = self.get_starttag_text()
        if re.search(r'=\s*[^"\s>]', re.sub(r'"[^"]*"', '""', source)):
            raise Wrong(f'an attribute without quotes: {source}')
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        if tag not in SVG_EMPTY:
            raise Wrong(f'<{tag}/> closes nothing in HTML')
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise Wrong(f'</{tag}> at {self.getpos()} closes something else')

    def handle_data(self, data):
        if self.open and self.open[-1] in ('script', 'style'):
            self.raw.setdefault(self.open[-1], []).append(data)
        else:
            self.text.append(data)

    def handle_comment(self, data):
        raise Wrong(f'a comment: {data[:80]!r}')

    def unknown_decl(self, data):
        raise Wrong(f'a declaration: {data[:80]!r}')

    def handle_pi(self, data):
        raise Wrong(f'a processing instruction: {data[:80]!r}')

    def values(self, name):
        return [value for _, one, value in self.attributes if one == name]


def check_html(text):
    page = Page(text)
    if any(ord(c) < 32 and c not in '\n\t' for c in text):
        raise Wrong('control characters')
    ids = page.values('id')
    if len(set(ids)) != len(ids):
        raise Wrong('an id twice')
    for name in ('aria-labelledby', 'aria-describedby', 'for'):
        for value in page.values(name):
            if value not in ids:
                raise Wrong(f'{name}="{value}" leads nowhere')
    for tag, name, value in page.attributes:
        if name.startswith('on') or name == 'style' or name in ('src', 'srcset', 'srcdoc', 'action', 'formaction', 'data', 'xlink:href'):
            raise Wrong(f'{tag} has {name}')
        if name == 'href' and not value.startswith('#'):
            raise Wrong(f'{tag} leads to {value}')
    for tag in page.tags:
        if tag in ('iframe', 'object', 'embed', 'img', 'link', 'base', 'form', 'audio', 'video', 'image', 'use', 'foreignobject'):
            raise Wrong(f'<{tag}>')
    check_policy(page, text)
    levels = [int(tag[1]) for tag in page.tags if re.fullmatch('h[1-6]', tag)]
    if levels.count(1) != 1 or any(b > a + 1 for a, b in zip(levels, levels[1:])):
        raise Wrong(f'headings skip a level: {levels}')
    return page


def check_policy(page, text):
    policy = next(v for t, n, v in page.attributes if t == 'meta' and n == 'content' and 'default-src' in v)
    if "default-src 'none'" not in policy or 'unsafe' in policy or 'http' in policy or '*' in policy:
        raise Wrong(f'policy: {policy}')
    for element, directive in (('style', 'style-src'), ('script', 'script-src')):
        body = re.findall(f'<{element}>(.*?)</{element}>', text, re.S)
        if len(body) != 1:
            raise Wrong(f'{len(body)} elements {element}')
        digest = base64.b64encode(hashlib.sha256(body[0].encode()).digest()).decode()
        if f"{directive} 'sha256-{digest}'" not in policy:
            raise Wrong(f'the policy does not name the hash of the {element}')
        if re.search(r'https?:|@import|url\(|fetch|XMLHttp|WebSocket|innerHTML|insertAdjacent|document\.write|eval',
                     body[0].replace('http://www.w3.org/2000/svg', '')):
            raise Wrong(f'the {element} loads or writes markup')


def structure(page):
    """What may not depend on the texts: code marks come from backticks in sentences."""
    return [tag for tag in page.tags if tag != 'code']


def check_hostile(planted):
    page = check_html(run(planted, 'html', 'hostile'))
    if structure(page) != structure(check_html(run(planted, 'html'))):
        raise Wrong('a text changed the structure of the page')
    shown = ''.join(page.text)
    for part in HOSTILE_PARTS:
        if part not in shown:
            raise Wrong(f'{part!r} is not shown as it is')


def luminance(color):
    parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= .04045 else ((p + .055) / 1.055) ** 2.4 for p in parts]
    return .2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2]


def contrast(one, other):
    a, b = sorted((luminance(one), luminance(other)), reverse=True)
    return (a + .05) / (b + .05)


def check_contrast(planted):
    """WCAG 2: 4.5 for text, 3 for graphics, in each of the schemes."""
    style = ''.join(check_html(run(planted, 'html')).raw['style'])
    schemes = [dict(re.findall(r'--([\w-]+): (#[0-9a-f]{6});', block)) for block in re.findall(r':root \{(.*?)\}', style, re.S)]
    if len(schemes) != 3:
        raise Wrong(f'{len(schemes)} schemes')
    for colors in schemes:
        for text in ('ink', 'soft', 'link', 'good'):
            for ground in ('ground', 'panel', 'here', 'bad')[:4 if text == 'ink' else 2]:
                if contrast(colors[text], colors[ground]) < 4.5:
                    raise Wrong(f'{text} {colors[text]} on {ground} {colors[ground]}')
        for state in 'FTBAD':
            if contrast(colors[state], colors['ground']) < 3:
                raise Wrong(f'state {state} {colors[state]} on {colors["ground"]}')


def check_size(planted):
    text = run(planted, 'html', 'large')
    check_html(text)
    if len(text.encode()) > SIZE_LIMIT:
        raise Wrong(f'{len(text.encode())} bytes')


def cells(picture):
    """Cells of each state in a picture: x, y of every unit of its strokes."""
    found = {}
    for state, path in re.findall(r'<path class="([A-Z])"[^>]* d="([^"]*)"', picture):
        for x, y, way, length in re.findall(r'M(\d+) (\d+)([hv])(\d+)', path):
            for i in range(int(length)):
                at = (int(x) + i, int(y)) if way == 'h' else (int(x), int(y) + i)
                found.setdefault(state, []).append(at)
    return found


def check_pictures(planted):
    """What tests/unit/planted_report.c planted: warp i on SM i/8 in slot i%8, block i/4, every seventh at the barrier,
    the 18th faulted."""
    text = run(planted, 'html')
    states = ['F' if i == 17 else 'B' if i % 7 == 0 else 'A' for i in range(128)]
    worst = [min(states[i:i + 4], key='FBA'.index) for i in range(0, 128, 4)]
    expected = {'F': [], 'B': [], 'A': []}
    for i, state in enumerate(states):
        expected[state].append((i // 8, i % 8))
    drawn = cells(re.search(r'<div class="map".*?</svg>', text, re.S).group())
    if {state: sorted(at) for state, at in drawn.items()} != expected:
        raise Wrong('the map does not show what was planted')
    drawn = cells(re.search(r'<div class="blocks".*?</svg>', text, re.S).group())
    by_place = {at: state for state, all_at in drawn.items() for at in all_at}
    if [by_place[i, 0] for i in range(48)] != worst + ['N'] * 16:
        raise Wrong('the grid does not show what was planted')
    drawn = cells(re.search(r'<svg class="threads".*?</svg>', text, re.S).group())
    if {state: len(at) for state, at in drawn.items()} != {'F': 29, 'A': 99}:
        raise Wrong(f'the block shows {({state: len(at) for state, at in drawn.items()})}')


def check_markdown(text):
    """Only our own fences open and close; outside of them nothing is live."""
    fenced = False
    for number, line in enumerate(text.split('\n'), 1):
        if re.match(' {0,3}(```|~~~)', line):
            fenced = not fenced
            if line not in ('```text', '```'):
                raise Wrong(f'line {number} is no fence of ours: {line[:60]!r}')
            continue
        if fenced:
            continue
        if line in ('<details>', '</details>') or re.fullmatch(r'<summary>[\w ,;:.*()-]*</summary>', line):
            continue
        if re.fullmatch(FOOT, line) and not text.split('\n', number)[-1]:
            continue
        rest = re.sub(r'\\[!-/:-@\[-`{-~]|`[^`]+`', '', line)  # an escaped character, or code
        rest = re.sub(r'<!-- -->', '\0', rest)
        rest = re.sub(r'^\*\*(.*)\*\*$', r'\1', rest)
        live = re.search(r'[<>`_|~$&\[\]]|\*\*|https?://|www\.|[@#]\w', rest)
        if live:
            raise Wrong(f'line {number}: {live.group()!r} in {line[:80]!r}')
    if fenced:
        raise Wrong('a fence is open')


COMPILED_WITH = b'calls.ptx -no-bb-merge  -ret-end  -g  -o calls.G.sm_80.cubin -arch sm_80 -m 64 '
SHOWN_OPTIONS = [  # options in the note; what pages show of them
    ('calls.ptx -no-bb-merge  -ret-end  -g  -o calls.G.sm_80.cubin -arch sm_80 -m 64', '-no-bb-merge -ret-end -g -arch sm_80 -m 64'),
    ('/home/jo/jo.ptx -O3 -arch=sm_90a -maxrregcount 64 -I/home/jo -ujo --jo=1', '-O3 -arch=sm_90a -maxrregcount 64'),
    ('-e jo,jo -arch jo -m jo -O3=jo -dlcm ca -g -o jo -g jo64 -fmad=/jo -lineinfo', '-arch -m -dlcm ca -g -g -lineinfo'),
]


def check_options(warpscope, dump):
    """Options of the compiler may name files and people: pages show those that cannot, the JSON has all."""
    with open(dump, 'rb') as file:
        plain = file.read()
    if plain.count(COMPILED_WITH) != 1:
        raise Wrong('the dump has another note')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'dump')
        for options, shown in SHOWN_OPTIONS:
            with open(path, 'wb') as file:
                file.write(plain.replace(COMPILED_WITH, options.encode().ljust(len(COMPILED_WITH))))
            image = json.loads(run(warpscope, '--json', path))['image']
            if image['options'] != options or image['options_shown'] != shown:
                raise Wrong(f'{options!r} became {image}')
            for form in ('text', 'md', 'html'):
                page = run(warpscope, 'report', '--no-source', '--format', form, path)
                if shown not in page or re.search(r'\bjo|calls\.(ptx|G)', page):
                    raise Wrong(f'the page as {form} does not show just {shown!r}')


def main():
    planted, warpscope, root = sys.argv[1:]
    dumps = [f'{root}/examples/dumps/{name}.nvcudmp' for name in ('illegal-address', 'hang', 'exited', 'misaligned-G')]
    cases = {
        'the HTML page is closed, loads nothing, and its policy fits': lambda: check_html(run(planted, 'html')),
        'no text becomes markup of the HTML page': lambda: check_hostile(planted),
        'text and states stand out from their ground': lambda: check_contrast(planted),
        'the pictures show each warp, block and thread': lambda: check_pictures(planted),
        'the map of eight full GPUs stays small': lambda: check_size(planted),
        'the Markdown page is fenced': lambda: check_markdown(run(planted, 'md')),
        'no text becomes markup of the Markdown page': lambda: check_markdown(run(planted, 'md', 'hostile')),
    }
    for dump in dumps:
        name = dump.rsplit('/', 1)[-1]
        cases[f'HTML of {name}'] = lambda dump=dump: check_html(run(warpscope, 'report', '--format', 'html', dump))
        cases[f'Markdown of {name}'] = lambda dump=dump: check_markdown(run(warpscope, 'report', '--format', 'md', dump))
    cases['pages hold no option that may name a file or a person'] = lambda: check_options(warpscope, dumps[3])
    failed = 0
    print(f'1..{len(cases)}')
    for number, (name, case) in enumerate(cases.items(), 1):
        try:
            case()
            print(f'ok {number} - {name}')
        except (Wrong, UnicodeDecodeError, StopIteration) as why:
            failed += 1
            print(f'not ok {number} - {name}\n# {type(why).__name__}: {why}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
