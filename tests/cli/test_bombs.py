#!/usr/bin/env python3
"""Small files that ask for much (tests/builders/bombs.py): no verb takes more memory than 64 MB and 8 times the bytes that it
must read, prints more than 64 MiB and 64 times as many, or more time than those take. Prints TAP.

usage: test_bombs.py WARPSCOPE SOURCE_ROOT [--full]

Without --full: a sample, each bomb with the verb that it was made for. With it: every bomb with every verb, and larger.
"""
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading

WARPSCOPE, ROOT = (os.path.abspath(path) for path in sys.argv[1:3])
FULL = '--full' in sys.argv
SANITIZED = 'SANITIZED' in os.environ  # its memory and time are not the program's
sys.path.insert(0, os.path.join(ROOT, 'tests', 'builders'))
import bombs  # noqa: E402

MEMORY_FREE, MEMORY_PER_BYTE = 64e6, 8
OUTPUT_FREE, OUTPUT_PER_BYTE = 65 << 20, 64
SECONDS_FREE, SECONDS_PER_BYTE = 1.5, 1e-6  # of the processor; besides what printing takes:
SECONDS_PER_PRINTED_BYTE = 1 / 15e6
SCALE = 4 if FULL else 1
DUMP = os.path.join(ROOT, 'examples/dumps/illegal-address.nvcudmp')
number = failed = 0


def case(name, wrong):
    global number, failed
    number += 1
    failed += bool(wrong)
    print(f'{"not ok" if wrong else "ok"} {number} - {name}' + (f': {wrong}' if wrong else ''), flush=True)


class Run:
    """One run of the program: exit status, bytes printed, the largest memory, seconds of the processor."""

    def __init__(self, *words, stdin=subprocess.DEVNULL, seconds=60):
        def limits():
            if not SANITIZED:
                resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        with subprocess.Popen([WARPSCOPE, *words], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=limits, cwd=FOLDER) as process:
            timer = threading.Timer(2 * seconds, process.kill)
            timer.start()
            said = []
            reader = threading.Thread(target=lambda: said.append(process.stderr.read()))
            reader.start()
            self.printed = 0
            while piece := process.stdout.read1(1 << 20):
                self.printed += len(piece)
                if self.printed > 2 << 30:
                    process.kill()
            reader.join()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
        self.status, self.said = process.returncode, said[0].decode(errors='replace')
        self.printed += len(said[0])
        self.memory, self.seconds = usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime

    def wrong(self, size):
        """What is out of proportion to an input of `size` bytes; nothing when all is well."""
        seconds = SECONDS_FREE + size * SECONDS_PER_BYTE + self.printed * SECONDS_PER_PRINTED_BYTE
        if self.status < 0:
            return f'killed by {signal.Signals(-self.status).name}'
        if self.memory > MEMORY_FREE + MEMORY_PER_BYTE * size and not SANITIZED:
            return f'{self.memory / 1e6:.0f} MB of memory for {size / 1e6:.1f} MB'
        if self.printed > OUTPUT_FREE + OUTPUT_PER_BYTE * size:
            return f'{self.printed / 1e6:.0f} MB printed for {size / 1e6:.1f} MB'
        if self.seconds > seconds and not SANITIZED:
            return f'{self.seconds:.1f} s for {size / 1e6:.1f} MB'
        return ''


IMAGE_VERBS = ['lines', 'lines --json', 'lines --raw', 'lines --pc 0x10', 'lines --source a.cu:1', 'symbolize', 'disas',
               'disas --json', 'disas --source', 'disas --asm', 'disas --cfg', 'store find', 'run --kernel kernel',
               'info', 'info --json --wide']
DUMP_VERBS = ['report', 'report --format html', 'report --format json --all', 'info DUMP sections', 'info DUMP memory',
              'info DUMP lanes', 'info DUMP modules', 'check', 'lines', 'disas', 'diff DUMP DUMP', 'regs', 'strip DUMP -o out',
              'extract DUMP image 0 -o out', 'mem DUMP global:0x7f1000000000', 'info DUMP where 0x7f0000001040', 'report --source-dir . --source-map a=.']
TEXT_VERBS = ['as FILE -o out', 'trace diff FILE FILE', 'report', 'lines']
VERBS = {'image': IMAGE_VERBS, 'dump': DUMP_VERBS, 'text': TEXT_VERBS}
SAMPLE = {
    'line-sequences': ['lines --pc 0x10'], 'line-ends': ['lines --source a.cu:1'], 'line-wide': ['lines --pc 0x10'],
    'line-headers': ['symbolize', 'lines --pc 0x10'], 'line-files-5': ['lines --pc 0x10'], 'line-names': ['lines', 'disas --source'],
    'line-paths': ['lines --json'], 'hostile-names': ['lines'], 'dump-sequences': ['report'], 'dump-headers': ['check'],
    'dump-overlaps': ['strip DUMP -o out'], 'dump-path': ['report --source-dir . --source-map a=.'],
    'dump-paths': ['report --source-dir . --source-map a=.'], 'text-labels': ['as FILE -o out'],
    'shared-relocations': ['run --kernel kernel'], 'long-section-names': ['run --kernel kernel'], 'long-relocated-names': ['run --kernel kernel'],
}
SAMPLE_SCALE = {'line-headers': 8, 'line-sequences': 8, 'long-section-names': 32, 'long-relocated-names': 16}  # where it takes more to be seen


def words_of(verb, path):
    words = verb.replace('DUMP', path).replace('FILE', path).split()
    return words if path in words else words + [path]


def bombs_are_answered_in_proportion():
    for name in bombs.BOMBS if FULL else SAMPLE:
        scales = [1, SCALE] if FULL else [SAMPLE_SCALE.get(name, 1)]
        for scale in scales:
            data = bombs.build(name, scale)
            path = os.path.join(FOLDER, name)
            with open(path, 'wb') as out:
                out.write(data)
            size = len(data) * (200 if name == 'fatbin-lz4' else 1)
            for verb in VERBS[bombs.BOMBS[name][2]] if FULL else SAMPLE[name]:
                files = 2 if verb.startswith(('diff', 'trace')) else 1
                case(f'{name} x{scale}, {verb}', Run(*words_of(verb, path)).wrong(files * size))
            os.unlink(path)


def packed(name, data, zeros):
    """A file of `data` and then zeros, as one zstd file that holds them 32,768 to 1, without the tool."""
    def block(kind, size, content, last=0):
        return (last | kind << 1 | size << 3).to_bytes(3, 'little') + content
    whole = 1 << 17
    out = b'\x28\xb5\x2f\xfd\x00\x58' + b''.join(
        block(0, len(data[at:at + whole]), data[at:at + whole]) for at in range(0, len(data), whole))
    out += block(1, whole, b'\0') * (zeros // whole) + block(0, 0, b'', 1)
    path = os.path.join(FOLDER, name)
    with open(path, 'wb') as file:
        file.write(out)
    return path


def no_more_is_unpacked_than_needed():
    with open(DUMP, 'rb') as file:
        dump = file.read()
    run = Run('report', packed('zeros.zst', b'', 2 << 30), seconds=10)
    case('2 GB of zeros that are no dump are not unpacked',
         run.wrong(1 << 17) or run.status != 1 and f'status {run.status}' or run.seconds > 1 and not SANITIZED and f'{run.seconds:.1f} s')
    run = Run('report', packed('dump.zst', dump, 2 << 30), seconds=10)
    case('2 GB behind the last section are not unpacked, which is said',
         run.wrong(len(dump)) or run.status and f'status {run.status}' or
         'was unpacked' not in run.said and run.said or run.seconds > 1 and not SANITIZED and f'{run.seconds:.1f} s')
    run = Run('report', packed('sound.zst', dump, 0))
    case('a dump that ends where its sections do is unpacked whole', run.status or run.said)
    big = bytearray(dump)
    big[40:48] = (0).to_bytes(8, 'little')  # no section headers: all of it may matter
    zeros = (1 << 30) if FULL else (256 << 20)
    run = Run('report', packed('headerless.zst', bytes(big), zeros), seconds=20)
    case('zeros that must be unpacked take no memory', run.status < 0 and f'status {run.status}' or
         run.memory > MEMORY_FREE + 0.6 * zeros and not SANITIZED and f'{run.memory / 1e6:.0f} MB')


def devices_and_fifos_end():
    for path in ('/dev/zero', '/dev/urandom'):
        run = Run('report', path, seconds=10)
        case(f'{path} is refused', run.status != 1 or 'is a device' not in run.said and run.said)
    with open('/dev/zero', 'rb') as zeros:
        run = Run('report', '-', stdin=zeros, seconds=10)
    case('/dev/zero as standard input is refused', run.status != 1 or 'is a device' not in run.said and run.said)
    with subprocess.Popen(['sh', '-c', 'cat "$0" /dev/zero', DUMP], stdout=subprocess.PIPE) as cat:
        run = Run('report', '-', stdin=cat.stdout, seconds=10)
        cat.stdout.close()
        cat.kill()
    case('a pipe that never ends ends behind the last section', run.wrong(1 << 20) or run.status)
    with subprocess.Popen(['yes'], stdout=subprocess.PIPE) as yes:
        run = Run('report', '-', stdin=yes.stdout, seconds=10)
        yes.stdout.close()
    case('an endless pipe of something else is refused', run.status != 1 or 'text' not in run.said and run.said)
    fifo = os.path.join(FOLDER, 'fifo')
    os.mkfifo(fifo)
    for verb in (['report', fifo], ['lines', fifo], ['strip', fifo, '-o', 'out']) if FULL else (['report', fifo],):
        run = Run(*verb, seconds=10)
        case(f'{verb[0]}: a FIFO that nobody writes to', run.status != 1 or 'nobody writes' not in run.said and run.said)
    writer = threading.Thread(target=lambda: subprocess.run(['cp', DUMP, fifo], check=True))
    writer.start()
    run = Run('report', fifo)
    writer.join()
    case('a FIFO with a writer is read', run.status or run.said)


def limits_can_be_lifted():
    path = os.path.join(FOLDER, 'names')
    with open(path, 'wb') as out:
        out.write(bombs.build('line-names', 0.05))
    cut = Run('lines', '--output-limit', '1M', path)
    case('the output ends at --output-limit, which is said with status 1',
         cut.status != 1 or cut.printed - len(cut.said) != 1 << 20 or '--output-limit none' not in cut.said)
    whole = Run('lines', '--output-limit', 'none', path)
    case('--output-limit none lifts it', whole.status or whole.printed <= 80 << 20 and f'{whole.printed} bytes')
    case('--output-limit takes a number', Run('lines', '--output-limit', 'x', path).status != 2)


with tempfile.TemporaryDirectory() as FOLDER:
    os.mkdir(os.path.join(FOLDER, 'src'))  # dump-paths goes in and out of it
    bombs_are_answered_in_proportion()
    no_more_is_unpacked_than_needed()
    devices_and_fifos_end()
    limits_can_be_lifted()
print(f'1..{number}')
sys.exit(failed > 0)
