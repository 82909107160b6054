#!/usr/bin/env python3
"""Every dump that the builder can make: the report says what was planted. Prints TAP.

usage: test_report_truth.py WARPSCOPE BUILDER_FOLDER [EVERY]

For each scenario one case for the JSON against the planted truth, one for the JSON against its schema
(skipped without python3-jsonschema), one for the text page against the JSON, one for the form of the Markdown and HTML
pages.
"""
import json
import os
import subprocess
import sys
import tempfile

import test_pages

import schemas


class Wrong(Exception):
    pass


def same(what, is_, should):
    if is_ != should:
        raise Wrong(f'{what} is {is_!r}, should be {should!r}')


def run(command, expected=0):
    done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    if done.returncode != expected:
        raise Wrong(f'exit status {done.returncode}: {done.stderr.decode(errors="replace").strip()[:300]}')
    return done.stdout.decode()


def address(text):
    return None if text is None else int(text, 16)


def function_of(symbol):
    """A callee kept inside the section of its kernel has the symbol $kernel$callee."""
    return symbol and symbol.rsplit('$', 1)[-1]


def chain_of(place):
    """The frames of one place as the truth has them."""
    return [(function_of(f['function_mangled']), f['file'], f['line']) for f in place['chain']]


def frame_key(frame):
    return frame['function_mangled'], frame['file'], frame['line']


def check_focus_place(fault, focus, classic):
    """Frames: the chain of errorpc (else pc), then the chains of the callers."""
    place = focus['errorpc'] or focus['pc']
    same('pc', address(fault['pc']), address(focus['pc']['address']))
    same('errorpc', address(fault['errorpc']), address(focus['errorpc'] and focus['errorpc']['address']))
    expected = chain_of(place)
    got = [frame_key(f) for f in fault['frames']]
    if not place['chain']:
        same('function without lines', fault['frames'][0]['function_mangled'], function_of(place['symbol']))
        return
    same('frames of the place', got[:len(expected)], expected)
    if classic:
        return
    callers = []
    for frame in focus['frames']:
        callers += chain_of(frame['call'])
    same('frames of the callers', got[len(expected):], callers)


def check_focus(report, truth):
    focus, shown = truth['focus'], report['focus']
    if focus is None:
        same('focus lane', shown and shown['lane'], None)
        return
    for key in ('device', 'sm', 'warp', 'lane', 'blockIdx', 'threadIdx'):
        same(f'focus {key}', shown[key], focus[key])
    kernel = report['kernels'][shown['kernel']]
    same('kernel', kernel['name_mangled'], focus['kernel'])
    same('grid', kernel['grid'], str(focus['grid']))
    check_focus_place(shown, focus, truth['classic'])


def check_faults(report, truth):
    faults = report['exceptions']
    if truth['trap']:
        same('attribution', faults[0]['attribution'], 'trap')
        same('code', faults[0]['code'], 0)
        return
    if not truth['code']:
        same('exceptions', faults, [])
        return
    same('code', faults[0]['code'], truth['code'])
    lanes = sum(f['lanes'] for f in faults)
    same('faulting lanes', lanes, len(truth['faulting_lanes']))
    codes = sorted({f['code'] for f in faults})
    planted = sorted({f['code'] for f in truth['faulting_lanes']} | {r['code'] for r in truth['sm_rows']})
    same('codes', codes, planted)
    if truth['blamed']:
        expected = chain_of(truth['blamed'])
        same('frames of the SM row', [frame_key(f) for f in faults[0]['frames']], expected)
        same('lane of the SM row', faults[0]['lane_why'], 'absent')


def check_groups(report, truth):
    got = {}
    for group in report['groups']:
        pc = address(group['pc'])
        got[pc] = got.get(pc, 0) + group['lanes']
    same('threads', sum(got.values()), truth['threads'])
    if truth['classic']:
        return
    same('threads by pc', got, {address(g['place']['address']): g['lanes'] for g in truth['groups']})


def check_map(report, truth):
    letters = ''.join(sm['warps'] for sm in report['map'])
    same('warps on the map', len(letters) - letters.count('.'), report['verdict']['resident_warps'])
    if truth['trap']:
        return
    carriers = {(lane['device'], lane['sm'], lane['warp']) for lane in truth['faulting_lanes']}
    on_map = {(sm['device'], sm['sm'], slot) for sm in report['map'] for slot, state in enumerate(sm['warps'])
              if state == 'F'}
    if carriers:
        same('faulted warps on the map', on_map, carriers)
    rows = {(row['device'], row['sm']): row['code'] for row in truth['sm_rows']}
    for sm in report['map']:
        if sm['exception'] is not None and (sm['device'], sm['sm']) in rows:
            same('exception of the SM on the map', sm['exception'], rows[sm['device'], sm['sm']])


def check_kernels(report, truth):
    got = {(k['device'], k['grid']): k for k in report['kernels']}
    for kernel in truth['kernels']:
        one = got.get((kernel['device'], str(kernel['grid'])))
        if one is None:
            raise Wrong(f'no kernel for grid {kernel["grid"]} of device {kernel["device"]}')
        same('kernel name', one['name_mangled'], kernel['name'])
        same('gridDim', one['gridDim'], kernel['gridDim'])
        same('blockDim', one['blockDim'], kernel['blockDim'])
        if kernel['clusterDim']:
            same('clusterDim', one['clusterDim'], kernel['clusterDim'])


def check_damaged(report, truth):
    """What is left is right, what is not is told."""
    if not report['diagnostics']:
        raise Wrong('damage without a diagnostic')
    if report['verdict']['kind'] not in (truth['verdict'], 'unknown'):
        raise Wrong(f'verdict {report["verdict"]}')
    known = {address(g['place']['address']): g['lanes'] for g in truth['groups']}
    for group in report['groups']:
        if group['lanes'] > known.get(address(group['pc']), 0):
            raise Wrong(f'too many threads at {group["pc"]}')
    if report['exceptions'] and report['exceptions'][0]['lane'] is not None:
        check_focus(report, truth)


def check_truth(report, truth):
    if truth['damaged']:
        check_damaged(report, truth)
        return
    same('verdict', report['verdict']['kind'], truth['verdict'])
    same('complete', report['dump']['complete'], not report['diagnostics'])
    planted = {'memory': ('begins inside another',), 'sparse-levels': ('has no', 'no rows of lanes')}.get(truth['scenario'], ())
    same('diagnostics', [d for d in report['diagnostics'] if not any(p in d['message'] for p in planted)], [])
    check_faults(report, truth)
    check_focus(report, truth)
    check_groups(report, truth)
    check_map(report, truth)
    check_kernels(report, truth)


def check_text(text, report):
    """The page names what the JSON names."""
    if not text.startswith(report['verdict']['summary']):
        raise Wrong(f'the page starts with {text.splitlines()[0]!r}')
    focus = report['focus']
    for frame in (focus or {'frames': []})['frames']:
        name = frame['function'] if frame['function'] and len(frame['function']) <= 76 else frame['function_short']
        for needed in (f'#{frame["level"]} ', name, frame['file'] and frame['line'] and f'{frame["file"]}:{frame["line"]}'):
            if needed and needed not in text:
                raise Wrong(f'the page does not hold {needed!r}')
    for key in ('pc', 'errorpc'):
        if focus and focus[key] and f'0x{int(focus[key], 16):016x}' not in text:
            raise Wrong(f'the page does not hold {key}')
    for group in report['groups']:
        if group['pc'] not in text or f'{group["lanes"]}  ' not in text:
            raise Wrong(f'the page does not hold the group at {group["pc"]}')
    for one in report['diagnostics']:
        if one['message'] not in text:
            raise Wrong(f'the page does not hold {one["message"]!r}')
    for line in text.splitlines():
        if any(ord(c) < 32 for c in line):
            raise Wrong('control characters in the page')


def check_pages(warpscope, path):
    try:
        test_pages.check_html(run([warpscope, 'report', '--format', 'html', '--no-source', path]))
        test_pages.check_markdown(run([warpscope, 'report', '--format', 'md', '--no-source', path]))
    except test_pages.Wrong as why:
        raise Wrong(str(why)) from why


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def case(self, name, test):
        self.count += 1
        try:
            test()
            print(f'ok {self.count} - {name}')
        except (Wrong, KeyError, TypeError, IndexError, json.JSONDecodeError, subprocess.TimeoutExpired) as why:
            self.failed += 1
            print(f'not ok {self.count} - {name}\n# {type(why).__name__}: {str(why)[:600]}')

    def skip(self, name, reason):
        self.count += 1
        print(f'ok {self.count} - {name} # SKIP {reason}')


def main():
    warpscope, folder = sys.argv[1:3]
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    sys.path.insert(0, folder)
    import build as builder
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        for name in list(builder.SCENARIOS)[::every]:
            data, truth = builder.build(name)
            truth = json.loads(json.dumps(truth))
            path = os.path.join(work, name + '.nvcudmp')
            with open(path, 'wb') as dump:
                dump.write(data)
            try:
                report = json.loads(run([warpscope, 'report', '--json', '--no-source', path]))
            except (Wrong, json.JSONDecodeError, subprocess.TimeoutExpired) as why:
                tap.failed += 1
                tap.count += 1
                print(f'not ok {tap.count} - {name}: a report\n# {why}')
                continue
            tap.case(f'{name}: planted truth', lambda: check_truth(report, truth))
            if schemas.INSTALLED:
                def fits():
                    if why := schemas.misfit(report):
                        raise Wrong(why)
                tap.case(f'{name}: schema', fits)
            else:
                tap.skip(f'{name}: schema', schemas.SKIPPED)
            tap.case(f'{name}: text agrees', lambda: check_text(run([warpscope, '--no-source', '--all', path]), report))
            tap.case(f'{name}: pages', lambda: check_pages(warpscope, path))
            os.remove(path)
    print(f'1..{tap.count}')
    return 1 if tap.failed else 0


if __name__ == '__main__':
    sys.exit(main())
