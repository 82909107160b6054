#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every number that a page shows is one that the JSON of the same report has. Prints TAP.

usage: test_html_every_number.py PROGRAM TESTS [--all]      (without --all: the examples and a third of the scenarios)

Each fact, cell, list item and paragraph of the HTML page belongs to a section, and a section to parts of the JSON (SCOPES). A row of
a table tells of one element of a list (ROWS): all its numbers are in one element. What a page computes is computed here again, by
the rules of `told()`; what no rule gives is in UNTOLD, by the section and the words around it, with the reason. In figures nothing
is looked at: they are drawings of these numbers.

A set of numbers is a weak witness where it is large. So each number of a page is also made one higher and looked up again: the last
case is that most of these are found missing.
"""
import concurrent.futures
import datetime
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile

TESTS = os.path.abspath(sys.argv[2])
# Parts of the JSON that a section of the page shows; of "focus" and "exceptions" only the first: the page tells of one in detail.
FAULT = ('focus', 'exceptions')
SCOPES = {
    'top': ('verdict', 'dump', 'devices', 'kernels', 'waits', *FAULT),
    'cause': FAULT,
    'next': ('next', 'missing', 'kernels', 'map', *FAULT),
    'fault': FAULT,
    'access': FAULT,
    'stack': FAULT,
    'code': ('code', *FAULT),
    'threads': ('groups',),
    'waits': ('waits',),
    'launch': ('kernels',),
    'build': ('image',),
    'facts': ('dump', 'devices', 'diagnostics', 'missing', 'signature', 'image'),
    'gpu': ('map', 'devices', 'kernels', 'verdict'),
    'grid': ('kernels', 'map', 'groups', *FAULT),
}
# Rows and list items that tell of one element each: headings that a table has, and where the elements are.
ROWS = (
    ('threads', {'Threads', 'Warps', 'State'}, ('groups',)),
    ('fault', {'SMs', 'Warps', 'Threads', 'Exception'}, ('exceptions',)),
    ('launch', {'Number', 'Size', 'Address'}, ('kernels', 'params')),
    ('code', {'Mark', 'Address'}, ('focus', 'insns')),
    ('access', {'Lane', 'Address', 'Finding'}, ('lanes',)),
    ('stack', set(), ('focus', 'frames')),
)
# Facts of the exception that is told of first: which of its members.
FACTS = {
    ('fault', 'Exception'): ('code', 'name', 'label', 'cuda_gdb'),
    ('fault', 'Precision'): ('precision', 'precision_instruction', 'precision_thread'),
    ('fault', 'Suspect'): ('suspects',),
    ('fault', 'Lanes'): ('lanes_blamed', 'lanes_active', 'lanes_valid'),
    ('fault', 'In all'): ('lanes', 'warps', 'sms'),
    ('fault', 'errorpc'): ('errorpc', 'frames'),
    ('fault', 'pc'): ('pc', 'errorpc', 'pc_frame', 'frames'),
    ('access', 'Executes'): ('accesses', 'insns'),
}
UNTOLD = ()  # (section, regular expression of the text, why)
# Where constant bank 0 has the parameters, by the first digits of the architecture [measured: nvcc 13.0].
PARAMS_AT = {'sm_7': 0x160, 'sm_8': 0x160, 'sm_9': 0x210, 'sm_1': 0x380}
NUMBER = re.compile(r'(?<![\w.])(0x[0-9a-fA-F]+|[0-9a-f]{12,16}|\d+)(?!\w|\.\d)')  # addresses of code stand without 0x


class Page(html.parser.HTMLParser):
    """[section, tag, headings, label, text] of every piece of text outside figures; rows of tables are one piece each."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.section, self.pieces, self.piece, self.label, self.headings, self.hidden = 'top', [], None, '', (), 0
        self.axis = False
        self.feed(text.partition('</style>')[2])

    def handle_starttag(self, tag, attrs):
        if tag == 'section':
            self.section = dict(attrs)['id']
        elif tag in ('svg', 'script'):
            self.hidden += 1
        elif tag == 'thead':
            self.headings = []
        elif tag == 'dt':
            self.label = ''
            self.piece = None
        elif tag in ('dd', 'tr', 'li', 'p'):
            self.piece = [self.section, tag, self.headings if tag == 'tr' else (), self.label if tag == 'dd' else '', '']
            self.pieces.append(self.piece)
        elif tag in ('td', 'th') and self.piece:
            self.piece[4] += ' | '
        elif tag == 'span' and self.piece and self.axis:
            self.piece[4] += ' '
        if tag == 'p':
            self.axis = 'axis' in dict(attrs).get('class', '')

    def handle_endtag(self, tag):
        if tag in ('svg', 'script'):
            self.hidden -= 1
        elif tag == 'thead':
            self.headings = set(self.pieces.pop()[4].split(' | ')[1:])
        elif tag == 'table':
            self.headings = ()
        elif tag in ('dd', 'tr', 'li', 'p'):
            self.piece = None

    def handle_data(self, data):
        if self.hidden:
            return
        if self.piece:
            self.piece[4] += data
        else:
            self.label += data


def numbers(text):
    return {int(found, 16 if re.search('[xa-f]', found) else 10) for found in NUMBER.findall(text)}


def told(node, key=''):
    """All numbers of a part of the JSON, and those that follow from them by a rule."""
    if node is None or isinstance(node, bool):
        return set()
    if isinstance(node, int):
        if key == 'timestamp':  # told as a date
            at = datetime.datetime.fromtimestamp(node, datetime.timezone.utc)
            return {node, at.year, at.month, at.day, at.hour, at.minute, at.second}
        return {node}
    if isinstance(node, str):
        out = numbers(node)
        if re.fullmatch('0x[0-9a-f]{1,8}', node):  # a mask: how many lanes
            out.add(bin(int(node, 16)).count('1'))
        if key == 'bytes' and 0 < len(node) <= 16 and re.fullmatch('[0-9a-f]+', node):  # a parameter as a number
            out.add(int.from_bytes(bytes.fromhex(node), 'little'))
        if key == 'name':
            out.add(len(node))  # what is left out of a long one
        return out
    if isinstance(node, list):
        out = set().union(*(told(one) for one in node)) if node else set()
        if key.endswith('Dim') and len(node) == 3:
            out.add(node[0] * node[1] * node[2])
        return out
    out = set()
    for name, value in node.items():
        out |= told(value, name)
        if re.fullmatch(r'\d+', name):  # a lane
            out.add(int(name))
    if isinstance(node.get('pc'), str) and isinstance(node.get('errorpc'), str):  # how many instructions lie between
        out.add(abs(int(node['pc'], 16) - int(node['errorpc'], 16)) // 16)
    return out


def at_path(report, path):
    """All elements of the lists at a path."""
    nodes = [report]
    for step in path:
        nodes = [one for node in nodes if node and node.get(step) for one in (node[step] if isinstance(node[step], list) else [node[step]])]
    return nodes


def lanes(report):
    """What is told of each lane of the accesses, lane by lane."""
    accesses = (report['focus'] or {}).get('accesses') or []
    return [{'lane': lane, 'address': [access['address'].get(str(lane)) for access in accesses],
             'values': [operand['values'].get(str(lane)) for access in accesses for operand in access['operands'] or []
                        if isinstance(operand.get('values'), dict)]} for lane in range(32)]


def starts(node):
    """Where functions begin, as frames tell it."""
    if isinstance(node, dict):
        own = {int(node['pc'], 16) - int(node['rel_pc'], 16)} if isinstance(node.get('rel_pc'), str) and isinstance(node.get('pc'), str) else set()
        own |= {int(node['entry'], 16)} if isinstance(node.get('entry'), str) else set()
        return own.union(*map(starts, node.values()))
    return set().union(*map(starts, node)) if isinstance(node, list) else set()


def drawn(rows):
    """Of the map of warps: how many of each state; the last slot that is drawn, in fours."""
    warps = ''.join(row['warps'] for row in rows)
    return {warps.count(state) for state in warps} | {3} | {(len(row['warps']) + 3) // 4 * 4 - 1 for row in rows}


def row_numbers(report, section, element, begins):
    """What one row may show of its element; `begins`: where functions begin."""
    out = told(element)
    if section == 'launch':
        arch = (report['image'] or {}).get('arch') or report['devices'][0]['sm_type'] or ''
        out.add(PARAMS_AT.get(arch[:4], 0) + element['offset'])
    if isinstance(element.get('pc'), str):  # function+0x40
        out |= {int(element['pc'], 16) - start for start in begins}
    return out


def scope_of(report, section):
    scope = {key: report.get(key) for key in SCOPES.get(section, report)}
    if section == 'waits':  # those who are absent are in a row of the threads
        scope['absent'] = [report['groups'][one['group']]['pc'] for wait in report['waits'] for one in wait['absentees'] or []
                           if one['group'] is not None]
        scope['other waits'] = [one['wait'] + 1 for wait in report['waits'] for one in wait['absentees'] or [] if one['wait'] is not None]
    return scope


def untold(report, page):
    """([(section, tag, label, number, text)] that the JSON does not tell, numbers looked at, those that one more would be missed)."""
    bad, seen, missed = [], 0, 0
    whole, of_rows, begins = {}, {}, starts(report)
    report['lanes'] = lanes(report)
    for section, tag, headings, label, text in Page(page).pieces:
        if section not in whole:
            whole[section] = told(scope_of(report, section)) | (drawn(report['map'] or ()) if section == 'gpu' else set())
        allowed = [whole[section]]
        for where, wanted, path in ROWS:
            if tag in ('tr', 'li') and section == where and wanted <= set(headings) and at_path(report, path):
                if path not in of_rows:
                    of_rows[path] = [row_numbers(report, section, element, begins) for element in at_path(report, path)]
                allowed = of_rows[path]
        if tag == 'dd' and (section, label) in FACTS and report['focus']:
            allowed = [told({key: report['focus'][key] for key in FACTS[section, label]})]
        found = numbers(text)
        seen += len(found)
        best = min((found - one for one in allowed), key=len)
        for number in sorted(best):
            if not any(section == s and re.search(words, text) for s, words, _ in UNTOLD):
                bad.append((section, tag, label, number, ' '.join(text.split())[:160]))
        missed += sum(all((found - {number} | {number + 1}) - one for one in allowed) for number in found)
    return bad, seen, missed


def run(program, dump, form):
    done = subprocess.run([program, 'report', '--no-source', '--all', '--format', form, dump], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def main():
    program, everything = sys.argv[1], '--all' in sys.argv
    examples = os.path.join(TESTS, '..', 'examples', 'dumps')
    builders = os.path.join(TESTS, 'builders')
    with tempfile.TemporaryDirectory() as folder:
        listed = subprocess.run([sys.executable, os.path.join(builders, 'build.py'), '--list'], capture_output=True, text=True, check=True)
        names = [name for name in listed.stdout.split() if name not in ('many-modules', 'many-sections')][::1 if everything else 3]
        subprocess.run([sys.executable, os.path.join(builders, 'build.py'), folder, *names], check=True, stdout=subprocess.DEVNULL)
        for more in ('faults.py', 'hangs.py') if everything else ():
            subprocess.run([sys.executable, os.path.join(builders, more), folder], check=True, stdout=subprocess.DEVNULL)
        paths = sorted(os.path.join(place, name) for place in (examples, folder) for name in os.listdir(place) if name.endswith('.nvcudmp'))
        print(f'1..{len(paths) + 1}')
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = pool.map(lambda path: untold(json.loads(run(program, path, 'json')), run(program, path, 'html')), paths)
            seen = missed = failed = 0
            for number, (path, (bad, of_page, of_wrong)) in enumerate(zip(paths, results), 1):
                seen, missed, failed = seen + of_page, missed + of_wrong, failed + bool(bad)
                print(f'{"not ok" if bad else "ok"} {number} - {os.path.basename(path)}')
                for section, tag, label, value, text in bad[:6]:
                    print(f'# {section} {tag} {label}: {value} of "{text}"')
    strong = missed >= 0.7 * seen
    print(f'{"ok" if strong else "not ok"} {len(paths) + 1} - of {seen} numbers, {missed} would be missed when one higher')
    return int(failed > 0 or not strong)


if __name__ == '__main__':
    sys.exit(main())
