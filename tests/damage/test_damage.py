#!/usr/bin/env python3
"""No damage makes a verdict false. Prints TAP, with a table of the classes of damage.

usage: test_damage.py VERDICTS BUILDER_FOLDER COUNT [SEED]

Dumps of the builders (faults in every layout, hangs, dumps without either) are damaged in every way that mutate.py knows and
given to VERDICTS, which prints what the report says and what check finds. What is asked of each:

- a dump with a fault never gets "none" or "hang", one without never "fault"; a hang never "none", a calm one never "hang";
- where the rows that the verdict rests on are all still in the file, undamaged, the verdict is that of the whole dump: kind,
  exception, place and kernel;
- an exception that was not planted is never stated without doubt where check finds anything, and no place is named that the
  dump cannot have;
- "unknown" never comes without a diagnostic (but for calm dumps of drivers before r555, which do not tell), nor does
  "complete" with one; whatever is diagnosed is found by check;
- of every fifth, what is written from it again, and what strip leaves of it, get the same verdict, on the same place.

Which rows survive is known from the builder's own layout of the file (mutate.py), never from the program.
"""
import collections
import json
import os
import struct
import subprocess
import sys
import tempfile

CHUNK = 300
NONE = 0xffffffff
# Damage to one header field, to a name, to the string tables: every row stays where it is.
ROWS_STAY = {'link', 'info', 'entsize', 'entsize0', 'entsizehuge', 'typetab', 'selflink', 'linkcycle', 'name', 'flags', 'strtab'}
EXAMPLES = ('exited', 'hang', 'illegal-address', 'misaligned-G')  # as examples/dumps has them
LAYOUTS = (346, 400, 525, 550, 555, 565, 570, 575, 580, 590, 615)


def scenarios():
    """name: function that gives a Built. Small dumps: what memory holds does not matter here."""
    from coredump import Options  # pylint: disable=import-outside-toplevel
    from machine import A100, H100, Process
    import scenarios as known
    import shapes
    light = shapes.LIGHTWEIGHT

    def fault(driver, headers):
        process = Process(A100)
        launch, bad, _ = known.gather(process, 'deep.li.sm_80.cubin', blocks=3)
        launch.device.blame(2, 14, bad)
        return known.Built(process, Options(driver=driver, flags=light, headers=headers))

    def sm_row(driver):
        process = Process(H100)
        launch, bad, _ = known.gather(process, exception=0, blocks=3)
        launch.device.blame(2, 14, bad)
        return known.Built(process, Options(driver=driver, flags=light))

    def calm(driver, gpus=1):
        process = Process(*[H100] * gpus)
        for device in range(gpus):
            known.gather(process, warp_of_fault=None, blocks=3, device=device)
        return known.Built(process, Options(driver=driver, flags=light), verdict='none')

    out = {}
    for driver in LAYOUTS:
        out[f'fault-r{driver}'] = lambda d=driver: fault(d, 'last' if d % 10 == 5 else 'first')
        out[f'calm-r{driver}'] = lambda d=driver: calm(d)
        if driver >= 555:
            out[f'sm-row-r{driver}'] = lambda d=driver: sm_row(d)
    for name in ('exited', 'hang', 'illegal-address', 'misaligned-G', 'trap', 'shuffled', 'two-contexts', 'two-kernels', 'three-dimensions', 'bad-pc', 'assert',
                 'many-faults', 'warp-gaps', 'code-77', 'code-unknown', 'wide-rows', 'cluster-out-of-range'):
        out[name] = known.SCENARIOS[name][0]
    out['calm-two'] = lambda: calm(590, 2)
    return out


class Whole:
    """A dump before it is damaged: its bytes, its truth, and the sections that its verdict rests on."""

    def __init__(self, name, built, mutate, coredump):
        self.name, self.truth, self.rd = name, built.truth(), mutate.rd
        self.kind = self.truth['verdict']
        self.untold = self.kind == 'none' and built.options.driver < 555  # nobody recorded exceptions of SMs
        self.mutator = mutate.Mutator(coredump.write(built.model, built.options))
        self.tables = {s.index for s in self.mutator.tables}
        self.rest_on = self.path(mutate.rd) if self.kind == 'fault' else None
        self.expected = None  # what the program says of the undamaged dump, held against the truth

    def rows(self, rd, kind, table, field, value):
        """Numbers of the rows of a table whose field has the value."""
        at, width = rd.FIELDS[kind][field]
        for row in range(table.size // table.entsize):
            start = table.offset + row * table.entsize + at
            if int.from_bytes(self.mutator.data[start:start + width], 'little') == value:
                yield row

    def below(self, rd, what, table, row):
        number = next(n for n, (kind, _) in rd.KINDS.items() if kind == what)
        return next((s for s in self.mutator.sections if s.type == rd.BASE + number and s.link == table.index
                     and s.info == row), None)

    def path(self, rd):
        """Sections from the device table to the rows of the fault, and those that name its kernel."""
        names = {n: kind for n, (kind, how) in rd.KINDS.items() if how in rd.FIELDS}
        by = {}
        for section in self.mutator.tables:
            by.setdefault(rd.KINDS[section.type - rd.BASE][0], []).append(section)
        focus = self.truth['focus']
        device = self.truth['sm_rows'][0]['device'] if focus is None else focus['device']
        root = by['devices'][0]
        d = next(self.rows(rd, 'device', root, 'devId', device))
        out = [root, self.below(rd, 'sms', root, d), self.below(rd, 'contexts', root, d)]
        grids = self.below(rd, 'grids', root, d)
        out.append(grids)
        for contexts in [out[2]]:
            for row in range(contexts.size // contexts.entsize):
                modules = self.below(rd, 'modules', contexts, row)
                out.append(modules)
                if modules:
                    out += [self.below(rd, 'relocated', modules, m) for m in range(modules.size // modules.entsize)]
        assert names
        if focus is not None:
            s = next(self.rows(rd, 'sm', out[1], 'smId', focus['sm']))
            blocks = self.below(rd, 'ctas', out[1], s)
            out.append(blocks)
            for row in range(blocks.size // blocks.entsize):
                warps = self.below(rd, 'warps', blocks, row)
                for w in self.rows(rd, 'warp', warps, 'warpId', focus['warp']):
                    out += [warps, self.below(rd, 'lanes', warps, w)]
        return {s.index for s in out if s is not None}

    def in_images(self, damage):
        """Whether bytes of an image were changed."""
        return any(section.offset <= off < section.offset + section.size for off in damage.get('offsets') or ()
                   for section in self.mutator.known if self.rd.KINDS.get(section.type - self.rd.BASE, ('',))[0] in ('image', 'relocated'))

    def is_touched(self, damage, sections):
        """Whether whole pages that were damaged have bytes of sections, of a header, of names or of strings."""
        places = [(0, 64), (self.mutator.headers_at, self.mutator.headers_at + 64 * len(self.mutator.sections))]
        places += [(s.offset, s.offset + s.size) for s in self.mutator.sections if s.index in sections or s.type == 3]
        return any(start < until and begin < end for start, end in damage['touched'] for begin, until in places)

    def values(self, kind, *fields):
        """The numbers in fields of all rows of a kind of table."""
        for table in self.mutator.tables:
            if self.rd.KINDS[table.type - self.rd.BASE][1] == kind:
                for row in range(table.size // table.entsize):
                    at = table.offset + row * table.entsize
                    yield tuple(int.from_bytes(self.mutator.data[at + start:at + start + width], 'little')
                                for start, width in (self.rd.FIELDS[kind][field] for field in fields))

    def impossible(self, said):
        """What the headline says of a place that no row of the whole dump allows; None: nothing."""
        devices = list(self.values('device', 'devId', 'numSMs', 'numWarpsPerSM'))
        limits = {'block': list(self.values('grid', 'gridDimX', 'gridDimY', 'gridDimZ')),
                  'thread': list(self.values('grid', 'blockDimX', 'blockDimY', 'blockDimZ'))}
        if said['device'] not in [device for device, _, _ in devices] + [NONE]:
            return f'device {said["device"]}'
        for key, most in (('sm', max(sms for _, sms, _ in devices)), ('warp', max(warps for _, _, warps in devices)), ('lane', 32)):
            if said[key] != NONE and said[key] >= most:
                return f'{key} {said[key]}'
        for key, dims in limits.items():
            if key in said and said['lane'] != NONE:
                at = [said[key] >> 21 * axis & (1 << 21) - 1 for axis in range(3)]
                if not any(all(a < d for a, d in zip(at, dim)) for dim in dims):
                    return f'{key} {at}'
        return None

    def survives(self, damage):
        """Whether all rows of the verdict are still there, and their place can be known."""
        if damage['class'] in ROWS_STAY:
            return True
        if 'touched' in damage:
            return not self.is_touched(damage, self.tables if self.rest_on is None else self.rest_on)
        if damage['paths'] is None or damage['section'] is None:
            return False
        hit = {damage['section']}
        if self.rest_on is None:
            return not hit & self.tables and self.mutator.sections[damage['section']].type - 0x80000000 in (1, 2, 17, 20)
        return not hit & self.rest_on


def truth_problems(whole, said):
    """The undamaged dump: what is said is true."""
    truth, focus = whole.truth, whole.truth['focus']
    if said['verdict'] != ('unknown' if whole.untold else whole.kind) or not said['complete'] or said['diagnostics']:
        return [f'verdict {said["verdict"]}, complete {said["complete"]}, {said["diagnostics"]} diagnostics']
    if whole.kind != 'fault':
        return []
    wanted = {'code': truth['code']}
    if focus is not None:
        wanted.update(device=focus['device'], sm=focus['sm'], warp=focus['warp'], lane=focus['lane'])
        if not truth['trap']:
            wanted.update(pc=int(focus['pc']['address'], 16))
        if focus['errorpc']:
            wanted.update(errorpc=int(focus['errorpc']['address'], 16))
        wanted['kernel'] = focus['kernel']
    else:
        wanted.update(sm=truth['sm_rows'][0]['sm'], errorpc=int(truth['sm_rows'][0]['errorpc'], 16))
    return [f'{key} {said.get(key)}, planted {value}' for key, value in wanted.items() if said.get(key) != value]


FULL = ('verdict', 'code', 'blame', 'device', 'sm', 'warp', 'lane', 'block', 'thread', 'pc', 'errorpc', 'kernel')


def problems(whole, damage, said):
    """What is false in what is said of a damaged dump."""
    out = []
    if 'refused' in said:
        return [] if damage['class'] in MAY_BE_REFUSED or 'touched' in damage else [f'refused: {said["refused"]}']
    if changes_the_fault(whole, damage):
        return []
    verdict = said['verdict']
    kinds, codes = {whole.kind, 'unknown'}, {whole.truth['code']} | {row['code'] for row in whole.truth['sm_rows']} | \
        {lane['code'] for lane in whole.truth['faulting_lanes']}
    believed = not moves_rows(damage) or not (said['doubt'] or is_unseen(whole, damage, said))
    if believed and verdict not in kinds:
        out.append(f'FALSE: a {whole.kind} is said to be {verdict}')
    if believed and verdict == whole.kind == 'fault' and said['code'] not in codes:
        out.append(f'FALSE: exception {said["code"]} was not planted')
    if verdict == 'fault' and said['findings'] and 'foreign' not in damage['class'] and whole.impossible(said):
        out.append(f'FALSE: {whole.impossible(said)} cannot be')
    if verdict == 'unknown' and not said['diagnostics'] and not whole.untold:
        out.append('unknown, and nothing is said to be lost')
    if said['complete'] and (said['diagnostics'] or said['doubt']):
        out.append(f'complete, with {said["diagnostics"]} diagnostics')
    if said['diagnostics'] and not said['findings']:
        out.append('check finds it sound')
    if whole.survives(damage):
        for key in FULL:
            if said.get(key) != whole.expected.get(key) and not is_foreign(damage, said):
                out.append(f'all rows are there, but {key} is {said.get(key)}, not {whole.expected.get(key)}')
                break
    return out


MAY_BE_REFUSED = ('trunc', 'cut', 'flip', 'flipehdr')


def moves_rows(damage):
    """Whether rows may stand where others stood: a false word may be said then, in doubt."""
    return 'touched' in damage or damage['class'] == 'shiftrows'


def is_unseen(whole, damage, said):
    """Whether rows were changed to other ones that break no rule at all: nobody can see that."""
    return moves_rows(damage) and not said['findings'] and said['verdict'] != whole.kind


def is_foreign(damage, said):
    """Whether a page of another dump may tell of a fault of its own, beside this one, in doubt."""
    return damage['class'].startswith('foreign') and said['doubt']


SAYS_FAULT = (('sm', 'exception'), ('sm', 'errorPCValid'), ('lane', 'exception'), ('warp', 'isWarpBroken'),
              ('warp', 'errorPCValid'), ('sm', 'errorPC'), ('warp', 'errorPC'))


def changes_the_fault(whole, damage):
    """Whether damage hit a byte that says that there is an exception, or where. A value that was changed to another one that
    can be is no damage that anybody could see: the row says what it says. Nothing is asked of such a dump."""
    rd = whole.rd
    if damage['field'] in {field for _, field in SAYS_FAULT}:
        return True
    for at in damage.get('offsets', ()):
        for section in whole.mutator.tables:
            kind = rd.KINDS[section.type - rd.BASE][1]
            if section.offset <= at < section.offset + section.size:
                within = (at - section.offset) % section.entsize
                for table, field in SAYS_FAULT:
                    start, width = rd.FIELDS[kind].get(field, (0, 0)) if table == kind else (0, 0)
                    if start <= within < start + width:
                        return True
    return False


def ask(program, dumps, *words):
    """What the program says of each dump; (answers, why it ended)."""
    data = b''.join(struct.pack('<I', len(dump)) + dump for dump in dumps)
    done = subprocess.run([program, *words], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=600)
    answers = [json.loads(text) for text in done.stdout.decode('utf-8', 'replace').split('\x1e')[:-1]]
    return answers, f'status {done.returncode} {done.stderr.decode(errors="replace")[:200]}'


class Campaign:
    def __init__(self, program, mutate, seed):
        self.program, self.mutate, self.seed = program, mutate, seed
        self.table = {kind: collections.Counter() for kind in mutate.CLASSES}
        self.wrong = []
        self.number = collections.Counter()

    def run(self, wholes, count):
        jobs = []
        kinds = list(self.mutate.CLASSES)
        for number in range(count):
            whole = wholes[number % len(wholes)]
            kind = kinds[(number // len(wholes) + number) % len(kinds)]
            jobs.append((whole, kind, f'{self.seed}.{number}'))
            if len(jobs) == CHUNK or number + 1 == count:
                self.chunk(jobs)
                jobs = []

    def chunk(self, jobs):
        made = [whole.mutator.run(kind, seed) for whole, kind, seed in jobs]
        answers, ended = ask(self.program, [data for data, _ in made])
        if len(answers) != len(jobs):
            whole, kind, seed = jobs[len(answers)]
            self.wrong.append(f'{whole.name} {kind} {seed}: no answer: {ended}')
        for (whole, kind, seed), (_, damage), said in zip(jobs, made, answers):
            row = self.table[kind]
            row['dumps'] += 1
            row[f'{whole.kind}: {said.get("verdict", "refused")}'] += 1
            row['must be full'] += whole.survives(damage)
            row['unseen'] += 'refused' not in said and (changes_the_fault(whole, damage) or is_unseen(whole, damage, said))
            row['in doubt'] += 'refused' not in said and said['doubt']
            for problem in problems(whole, damage, said):
                row['false' if problem.startswith('FALSE') else 'wrong'] += 1
                self.wrong.append(f'{whole.name} {kind} {seed} ({damage["field"]} of {damage.get("name")} '
                                  f'{damage.get("old")} -> {damage.get("new")}): {problem}: {said.get("summary")}')

    def written(self, wholes, count):
        """Damaged dumps of which another is made; (number, what is false of these)."""
        bad, kinds = [], list(self.mutate.CLASSES)
        with tempfile.TemporaryDirectory(prefix='ws-damage-') as folder:
            for start in range(0, count, CHUNK):
                jobs = [(wholes[n % len(wholes)], kinds[(n // len(wholes) + n) % len(kinds)], f'{self.seed}.{n}')
                        for n in range(start, min(start + CHUNK, count))]
                mutants = [whole.mutator.run(kind, seed) for whole, kind, seed in jobs]
                made = [data for data, _ in mutants]
                answers, ended = ask(self.program, made, os.path.join(folder, 'written'))
                if len(answers) != len(jobs):
                    bad.append(f'an answer after {start + len(answers)} is missing: {ended}')
                for (whole, kind, seed), (_, damage), said in zip(jobs, mutants, answers):
                    if said.get('stripped', {}).get('kernel') == '' and whole.in_images(damage):
                        said['stripped']['kernel'] = said['kernel']  # a damaged symbol table is on no list of what is kept
                    if kind == 'swapbytes' or said.get('doubt'):  # lanes of other warps: the back end, told by most, is told by these now
                        said.get('stripped', {}).update(pc=said.get('pc'))
                    for how in ('again', 'stripped'):
                        now = said.get(how, said)
                        bad += [f'{whole.name} {kind} {seed}, {how}: {key} is {now.get(key)}, was {said.get(key)}'
                                for key in FULL if now.get(key) != said.get(key)][:1]
                        if said.get('doubt') and not now.get('doubt'):
                            bad.append(f'{whole.name} {kind} {seed}, {how}: the doubt is gone')
                        if now.get('diagnostics') and not now['findings']:
                            bad.append(f'{whole.name} {kind} {seed}, {how}: check finds it sound')
        return bad

    def places(self, wholes):
        """One section of each kind takes each type, and hangs below one of each kind: of a calm dump that stays calm, but where
        it was an image, and with it all that is known of a kernel."""
        jobs, made = [], []
        for whole in wholes:
            one = {section.type: section for section in reversed(whole.mutator.known)}
            values = {'type': [whole.rd.BASE + n for n in (*whole.rd.KINDS, 24, 99)] + [0, 3, 8, 22],
                      'link': [0, 0xffffffff] + [section.index for section in one.values()]}
            images = [whole.rd.BASE + n for n, (kind, _) in whole.rd.KINDS.items() if kind in ('image', 'relocated')]
            for section, field in ((s, f) for s in one.values() if s.type not in images for f in values):
                for value in values[field]:
                    out, damage = bytearray(whole.mutator.data), self.mutate.Damage({'class': field})
                    whole.mutator.set_header(out, damage, section, field, value)
                    jobs.append((whole, damage))
                    made.append(bytes(out))
        answers, ended = ask(self.program, made)
        bad = [] if len(answers) == len(jobs) else [ended]
        for (whole, damage), said in zip(jobs, answers):
            if said.get('verdict') != whole.kind:
                bad.append(f'{whole.name}: {damage["field"]} of {damage["name"]} {damage["old"]:#x} -> {damage["new"]:#x}: '
                           f'{said.get("summary", said)}')
        return len(jobs), bad

    def lost_pages(self, wholes):
        """Each page of 4 KiB is taken out: what follows moves up."""
        jobs, made = [], []
        for whole in wholes:
            for start in range(0, len(whole.mutator.data), 4096):
                end = min(start + 4096, len(whole.mutator.data))
                jobs.append((whole, self.mutate.Damage({'class': 'drop4k', 'field': None, 'touched': [(start, len(whole.mutator.data))]})))
                made.append(whole.mutator.data[:start] + whole.mutator.data[end:])
        answers, ended = ask(self.program, made)
        bad = [] if len(answers) == len(jobs) else [ended]
        for (whole, damage), said in zip(jobs, answers):
            bad += [f'{whole.name}, page at {damage["touched"][0][0]}: {problem}: {said.get("summary")}' for problem in problems(whole, damage, said)]
        return len(jobs), bad

    def print_table(self):
        columns = ['dumps', 'fault: fault', 'fault: unknown', 'fault: none', 'fault: hang', 'hang: hang', 'hang: unknown',
                   'none: none', 'none: unknown', 'none: fault', 'must be full', 'in doubt', 'unseen', 'false', 'wrong']
        print('# ' + 'class'.ljust(12) + ''.join(c.rjust(15) for c in columns))
        total = collections.Counter()
        for kind, row in self.table.items():
            print('# ' + kind.ljust(12) + ''.join(str(row[c]).rjust(15) for c in columns))
            total.update(row)
        print('# ' + 'all'.ljust(12) + ''.join(str(total[c]).rjust(15) for c in columns))


def main():
    program, builders, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seed = sys.argv[4] if len(sys.argv) > 4 else '1'
    sys.path.insert(0, builders)
    import coredump  # pylint: disable=import-outside-toplevel
    import mutate
    print('1..5')
    wholes = [Whole(name, make(), mutate, coredump) for name, make in scenarios().items()]
    for whole in wholes:
        whole.mutator.foreign = [other.mutator.data for other in wholes]
    answers, ended = ask(program, [whole.mutator.data for whole in wholes])
    bad = [] if len(answers) == len(wholes) else [ended]
    for whole, said in zip(wholes, answers):
        whole.expected = said
        bad += [f'{whole.name}: {problem}' for problem in truth_problems(whole, said)]
    print(f'{"not " if bad else ""}ok 1 - {len(wholes)} whole dumps get their verdicts')
    for line in bad:
        print(f'# {line}')
    campaign = Campaign(program, mutate, seed)
    campaign.run(wholes, count)
    campaign.print_table()
    print(f'{"not " if campaign.wrong else ""}ok 2 - {count} damaged dumps get no false verdict')
    for line in campaign.wrong[:int(os.environ.get('MOST', 60))]:
        print(f'# {line}')
    print(f'# {len(campaign.wrong)} wrong')
    n, lost = campaign.places([whole for whole in wholes if whole.name in ('calm-r555', 'calm-r615')])
    print(f'{"not " if lost or not n else ""}ok 3 - {n} headers of a wrong type or below a wrong section hide no fault')
    for line in lost[:60]:
        print(f'# {line}')
    changed = campaign.written(wholes, count // 5)
    print(f'{"not " if changed else ""}ok 4 - {count // 5} damaged dumps keep their verdicts when they are written again and stripped')
    for line in changed[:60]:
        print(f'# {line}')
    pages, moved = campaign.lost_pages([whole for whole in wholes if whole.name in EXAMPLES])
    print(f'{"not " if moved or not pages else ""}ok 5 - {pages} example dumps without one of their pages get no false verdict')
    for line in moved[:60]:
        print(f'# {line}')
    return 1 if campaign.wrong or bad or lost or changed or moved or not n or not pages else 0


if __name__ == '__main__':
    sys.exit(main())
