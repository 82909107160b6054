#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbers of the HTML page are those of the JSON (tables of threads, of further exceptions and of lanes, and masks), and its facts
are those of the text page. Prints TAP.

usage: test_html_numbers.py PROGRAM SOURCE_ROOT [EVERY]

Columns are found by their headings, so a page may be laid out anew. Dumps: the examples, planted faults (builders/faults.py), and
scenarios with several exceptions.
"""
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile

SCENARIOS = ('many-faults', 'two-kernels', 'two-devices', 'two-contexts', 'sparse-levels', 'recursion', 'sm100')
# What a finding of a lane or of a mask is called, the one that is told of first in front.
REASONS = {'null_like': 'null', 'noncanonical': 'valid address', 'misaligned': 'misaligned', 'outside': 'outside',
           'unmapped': 'mapped|memory'}


class Tables(html.parser.HTMLParser):
    """All tables as rows of texts, and all definitions as text by term."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tables, self.terms, self.into, self.term = [], [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == 'table':
            self.tables.append([])
        elif tag == 'tr':
            self.tables[-1].append([])
        elif tag in ('td', 'th'):
            self.tables[-1][-1].append('')
            self.into = 'cell'
        elif tag in ('dt', 'dd'):
            self.into = tag
            if tag == 'dt':
                self.terms.append(['', ''])

    def handle_endtag(self, tag):
        if tag in ('td', 'th', 'dt', 'dd'):
            self.into = None

    def handle_data(self, data):
        if self.into == 'cell':
            self.tables[-1][-1][-1] += data
        elif self.into:
            self.terms[-1][self.into == 'dd'] += data

    def rows(self, *headings):
        """Rows of the first table with these headings, as dictionaries by heading; None when there is no such table."""
        for table in self.tables:
            if table and set(headings) <= set(table[0]):
                return [dict(zip(table[0], row)) for row in table[1:]]
        return None


def thread_numbers(example):
    block, thread = (','.join(map(str, example[key])) for key in ('blockIdx', 'threadIdx'))
    return [f'({block})', f'({thread})']


def groups(tables, report):
    """Threads, warps, state, pc and first thread of each group."""
    if not report['groups']:
        return []
    shown = tables.rows('Threads', 'Warps', 'State')
    if shown is None or len(shown) != len(report['groups']):
        return ['the table of threads is not that of the JSON']
    bad = []
    for row, group in zip(shown, report['groups']):
        if [row['Threads'], row['Warps'], row['State']] != [str(group['lanes']), str(group['warps']), group['state']]:
            bad.append(f'{row} for {group["lanes"]} lanes of {group["warps"]} warps, {group["state"]}')
        if group['pc'][2:] not in ''.join(row.values()) and '+0x' not in ''.join(row.values()):
            bad.append(f'no pc {group["pc"]} in {row}')
        if not all(part in ''.join(row.values()) for part in thread_numbers(group['example'])):
            bad.append(f'{group["example"]} is not in {row}')
    return bad


def further(tables, report):
    """SMs, warps and threads of the exceptions after the first."""
    if len(report['exceptions']) < 2:
        return []
    shown = tables.rows('SMs', 'Warps', 'Threads', 'Exception') or []
    told = [[row['SMs'], row['Warps'], row['Threads']] for row in shown]
    wanted = [[str(e[key]) for key in ('sms', 'warps', 'lanes')] for e in report['exceptions'][1:]]
    return [] if told == wanted else [f'further exceptions {told}, in the JSON {wanted}']


def lanes_of(mask):
    return [lane for lane in range(32) if int(mask, 16) >> lane & 1]


def masks(tables, access):
    """Every mask that is not empty, with its reason and its count."""
    text = ' '.join(value for term, value in tables.terms if term == 'Suspects')
    bad = []
    for key, words in REASONS.items():
        n = len(lanes_of(access[key]))
        told = re.search(rf'\b{n} (lanes? )?[^;]*({words})[^;]*0x{int(access[key], 16):08x}', text)
        if n and not told:
            bad.append(f'{n} {key} {access[key]} is not in "{text}"')
    return bad


def lanes(tables, access):
    """Address and finding of each lane."""
    shown = tables.rows('Lane', 'Address', 'Finding')
    if shown is None:
        return [] if len(access['address']) < 2 else ['no table of lanes']
    bad = []
    for row in shown:
        lane = re.match(r'\d+', row['Lane'])[0]
        if access['address'].get(lane, '') not in row['Address']:
            bad.append(f'lane {lane} at {row["Address"]}, in the JSON {access["address"].get(lane)}')
        first = next((key for key in REASONS if int(lane) in lanes_of(access[key])), None)
        if first and not re.search(REASONS[first], row['Finding']):
            bad.append(f'lane {lane} is {first}, the page says "{row["Finding"]}"')
    return bad


# Facts that the HTML page says in the same words. Of the others it says more: how sure a claim is has a place of its own.
FACTS = {'exception', 'driver', 'assertion', 'focus', 'target', 'lanes', 'errorpc', 'pc', 'access', 'executes', 'does', 'kernel', 'grid', 'options',
         'lines', 'code id', 'dump', 'written', 'left out', 'stripped', 'at', 'in', 'from', 'needs', 'missing'}


def facts(tables, page):
    """Each fact of the text page is one of the HTML page."""
    told = {(term[:1].lower() + term[1:], ' '.join(value.split())) for term, value in tables.terms}
    bad = []
    for line in page.splitlines():
        label = line[4:14].rstrip()
        if line[:4] == '    ' and label in FACTS and line[14:15] == ' ' and (label, ' '.join(line[15:].split())) not in told:
            bad.append(f'not in the HTML page: {line.strip()}')
    return bad


def compare(program, path):
    def run(form):
        return subprocess.run([program, 'report', '--format', form, '--all', path], capture_output=True, text=True, check=True).stdout

    report, tables = json.loads(run('json')), Tables(run('html'))
    bad = groups(tables, report) + further(tables, report) + facts(tables, run('text'))
    accesses = report['exceptions'][0]['accesses'] if report['exceptions'] else None
    if accesses and len(accesses) == 1:
        bad += masks(tables, accesses[0]) + lanes(tables, accesses[0])
    return bad, {key for access in accesses or [] for key in REASONS if lanes_of(access[key])}


def main():
    program, root = sys.argv[1:3]
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    builders = os.path.join(root, 'tests', 'builders')
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([sys.executable, os.path.join(builders, 'faults.py'), work, '--every', str(every), 'G.sm_90', 'O3.sm_90', 'O3+types.sm_90'],
                       check=True)
        subprocess.run([sys.executable, os.path.join(builders, 'build.py'), work, *SCENARIOS], check=True)
        examples = os.path.join(root, 'examples', 'dumps')
        paths = sorted(os.path.join(folder, name) for folder in (examples, work) for name in os.listdir(folder)
                       if name.endswith('.nvcudmp'))
        print(f'1..{len(paths) + 1}')
        failed, seen = 0, set()
        for number, path in enumerate(paths, 1):
            bad, reasons = compare(program, path)
            seen |= reasons
            failed += bool(bad)
            print(f'{"not ok" if bad else "ok"} {number} - {os.path.basename(path)}')
            for line in bad[:5]:
                print(f'# {line}')
        missing = set(REASONS) - seen
        print(f'{"not ok" if missing else "ok"} {len(paths) + 1} - every reason is seen in some dump{" but " if missing else ""}'
              f'{", ".join(sorted(missing))}')
    return int(bool(failed or missing))


if __name__ == '__main__':
    sys.exit(main())
