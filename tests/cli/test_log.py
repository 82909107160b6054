#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""warpscope log: what it says of logs as frameworks write them, and of hostile ones. Every line here is our own, in the formats of
docs/formats/logs.md. Prints TAP.

usage: test_log.py PROGRAM
"""

import bz2
import gzip
import json
import lzma
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile

import schemas

SANITIZED = 'SANITIZED' in os.environ  # its memory and time are not the program's
SECRETS = ('hf_planted', 'sk-planted', '/planted/path', 'planted.example.com', 'planted-name')
XID = 'May  1 10:00:00 node7 kernel: [86400.1] NVRM: Xid (PCI:0000:18:00): '

# Name: (lines, exit status, what the first line has, commands of which one must be there)
JOBS = {
    'PyTorch, a fault': ((
        '[rank3]: Traceback (most recent call last):',
        '[rank3]:   File "/planted/path/train.py", line 7, in <module>',
        '[rank3]: torch.AcceleratorError: CUDA error: an illegal memory access was encountered',
        "[rank3]: Search for `cudaErrorIllegalAddress' in https://planted.example.com for more information.",
        '[rank3]: CUDA kernel errors might be asynchronously reported at some other API call'),
        10, 'First: CUDA error 700: an illegal memory access was encountered, rank 3, at LOG:3', ('warpscope exec', 'dmesg -T')),
    'PyTorch, an assertion': ((
        '/planted/path/IndexKernel.cu:92: operator(): block: [12,0,0], thread: [32,0,0] Assertion `idx < size && "index out of bounds"` failed.',
        'RuntimeError: CUDA error: device-side assert triggered'),
        10, 'First: assertion in a kernel failed (`idx < size && "index out of bounds"` at IndexKernel.cu:92, block (12,0,0)', ('warpscope exec',)),
    'PyTorch, memory': (('torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB',),
                        10, 'First: CUDA error 2: out of memory', ('nvidia-smi --query-compute-apps',)),
    'Triton': (('RuntimeError: Triton Error [CUDA]: misaligned address',), 10, 'First: CUDA error 716: misaligned address', ('warpscope exec',)),
    'JAX': (('jaxlib.xla_extension.XlaRuntimeError: INTERNAL: Failed to synchronize: CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure',),
            10, 'First: CUDA error 719: unspecified launch failure', ('warpscope exec',)),
    'TensorFlow': (('2025-05-01 10:00:00.5: E tensorflow/x.cc:1] failed to query event: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered',),
                   10, 'First: CUDA error 700', ('warpscope exec',)),
    'llama.cpp': (('/planted/path/ggml-cuda.cu:75: CUDA error', 'CUDA error: an illegal memory access was encountered',
                   '  current device: 7, in function f at /planted/path/ggml-cuda.cu:2461'), 10, 'First: CUDA error 700', ('warpscope exec',)),
    'CUDA samples': (('CUDA error at /planted/path/a.cu:12 code=719(cudaErrorLaunchFailure) "cudaDeviceSynchronize()" ',),
                     10, 'First: CUDA error 719', ('warpscope exec',)),
    'vLLM': (('(VllmWorker TP1 pid=4021) ERROR RuntimeError: CUDA error: an illegal instruction was encountered',),
             10, 'First: CUDA error 715: an illegal instruction was encountered, rank 1', ('warpscope exec',)),
    'wrong architecture': (('CUDA error: no kernel image is available for execution on the device',), 10, 'First: CUDA error 209',
                           ('nvidia-smi --query-gpu',)),
    'NCCL': (('planted-name:1:2 [0] NCCL WARN Cuda failure 700 \'an illegal memory access was encountered\'',), 10, 'First: CUDA error 700',
             ('warpscope exec',)),
    'a peer that went away': (('DistBackendError: NCCL error in: x.hpp:275, remote process exited or there was a network error',), 11,
                              'First: NCCL lost a peer', ('warpscope log',)),
    'a hang': (('[rank0]:[E626 06:24:44.9 x.cpp:1] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, '
                'NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600020 milliseconds before timing out.',), 11,
               'First: collective operation timed out (ALLREDUCE, number 8, not done after 600 s), rank 0', ('warpscope trigger', '--on-hang')),
    'a bus': ((XID + "79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",), 10,
              'First: Xid 79: GPU has fallen off the bus, GPU 0000:18:00 on node7', ('nvidia-bug-report.sh',)),
    'ECC': ((XID + '48, pid=1, name=x, DBE (Double Bit Error) ECC Error', XID + '45, pid=1, name=x, Ch 1'), 10, 'First: Xid 48', ('nvidia-smi -q -d ECC',)),
    'NVLink': ((XID + '74, pid=1, NVLink: fatal error detected on link 6',), 10, 'First: Xid 74: NVLink error', ('nvidia-smi nvlink',)),
    'GSP': ((XID + '119, pid=1, name=x, Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 76',), 10,
            "First: Xid 119: the GPU's firmware processor (GSP) does not answer", ('nvidia-bug-report.sh',)),
    'only a consequence': ((XID + '43, pid=1, name=x, Ch 00000008',), 12, 'Only a consequence is here: Xid 43', ('journalctl -k',)),
    'a dump that was written': (('[10:00:00.1] coredump: Detected an exception of type CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS (14)',
                                 '[10:00:01.1] coredump: Writing ELF file to /tmp/core_1_h_2.nvcudmp'), 10,
                                'First: Warp Illegal Address (device exception)', ('warpscope report /tmp/core_1_h_2.nvcudmp',)),
    'a dump with a bad name': (('coredump: Writing ELF file to /tmp/$(touch x);.nvcudmp', 'CUDA error 700'), 10, 'First: CUDA error 700',
                               ('warpscope report DUMP',)),
    'nothing': (('INFO step 1', 'CUDA errors: 0'), 0, 'No line tells of a GPU failure, of 2 in 1 file.', ('warpscope exec',)),
}


class Bench:
    def __init__(self, program, folder):
        self.program, self.folder, self.cases = os.path.abspath(program), folder, []

    def file(self, name, data):
        with open(os.path.join(self.folder, name), 'wb') as handle:
            handle.write(data)
        return name

    def run(self, *words, **options):
        return subprocess.run([self.program, 'log', *words], capture_output=True, check=False, timeout=120, cwd=self.folder, **options)

    def case(self, name, *problems):
        self.cases.append((name, next((str(p)[:2000] for p in problems if p), None)))


def commands_of(page):
    return re.findall(r'^ {8}(\S.*)$', page[page.index('What to do next:'):], re.MULTILINE)


def check_jobs(bench):
    for name, (lines, status, first, commands) in JOBS.items():
        secrets = [f'password={SECRETS[0]} {SECRETS[1]}', f'{SECRETS[3]} {SECRETS[4]} export TOKEN={SECRETS[1]}']
        body = '\n'.join([*lines] if name == 'nothing' else [*lines, *secrets]).encode() + b'\n'
        path = bench.file('LOG', body)
        done = bench.run(path)
        page = done.stdout.decode()
        data = bench.run('--json', path)
        answer = json.loads(data.stdout)
        shown = commands_of(page)
        bench.case(name, (done.returncode, data.returncode) != (status, status) and (done.returncode, done.stderr),
                   not page.startswith(first) and page, schemas.misfit(answer),
                   [c for c in commands if not any(s.startswith(c) or c in s for s in shown)] and shown,
                   [s for s in SECRETS if s in page + data.stdout.decode()],
                   answer['sentence'] not in page and answer['sentence'])
        # what is pasted into a shell has no word of the log that a shell would take apart
        bad = [c for c in shown for word in shlex.split(c) if c.startswith('warpscope ') and re.search(r'[;&$`()<>*?]', word)
               and not c.startswith('warpscope env')]
        bench.case(f'{name}: commands', bad)


def check_hostile(bench):
    """Nothing of a log reaches a terminal as it is; no size and no form of a log takes more memory, or time without end."""
    escape = b'\x1b]0;owned\x07\x1b[31m'
    line = (escape + b'CUDA error: an illegal memory access was encountered' + escape + b'\0\n' + escape + XID.encode() + b'31, pid=' + escape + b'\n' +
            b'x.cu:1: f: block: [1,0,0], thread: [2,0,0] Assertion `' + escape + b'` failed.\n' + b'coredump: Writing ELF file to /tmp/' + escape + b'\n' +
            b'May  1 10:00:00 ' + escape + b' kernel: NVRM: Xid (PCI:0000:18:00): 48, x\n')
    name = bench.file('a\x1bb.log', line)
    for words in ((), ('--json',)):
        done = bench.run(*words, name)
        bench.case(f'escapes {words}', done.returncode != 10 and done, (b'\x1b' in done.stdout or b'\0' in done.stdout or b'\x07' in done.stdout) and done.stdout)
    size = (8 if SANITIZED else 32) << 20
    forms = {
        'no newline': b'NVRM: Xid (PCI:0000:18:00): 31, pid=1, x ',
        'only key words': b'CUDA error CUDA_ERROR_ cudaError========= Assertion `NCCL WARN ',
        'one byte': b'=',
        'empty lines': b'\n',
        'a word that nearly fits': b'========!',
        'other lines': b'INFO step loss 0.123 tokens per second\n',
        'other kinds': b''.join(b'NVRM: Xid (PCI:0000:18:00): %d, x\n' % i for i in range(1, 2000)),
    }
    plain = bench.file('plain', b'INFO step loss 0.123 tokens per second\n' * (size // 39))
    floor = seconds(bench, plain)[0]
    for what, part in forms.items():
        took, memory, done = seconds(bench, bench.file('big', part * (size // len(part) + 1)))
        bench.case(f'{size >> 20} MiB of {what}', done.returncode not in (0, 10) and done, not SANITIZED and took > 60 * floor + 1 and (took, floor),
                   not SANITIZED and memory > 64 << 20 and memory)
    os.unlink(os.path.join(bench.folder, 'big'))


def seconds(bench, path):
    """CPU seconds, the most memory, what came."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # a shell of its own, as the most memory is of all children so far
    code = ('import resource,subprocess,sys; d=subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL);'
            'print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(d.returncode)')
    done = subprocess.run([sys.executable, '-c', code, bench.program, 'log', path], capture_output=True, check=False, timeout=300, cwd=bench.folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, int(done.stdout) << 10, done


def check_files(bench):
    line = b'CUDA error: an illegal memory access was encountered\n'
    plain, packed = bench.file('plain.log', line), bench.file('packed.log.gz', gzip.compress(line))
    cut = bench.file('cut.log.gz', gzip.compress(line * 2 + os.urandom(1 << 16))[:-100])
    want = bench.run(plain).stdout.replace(b'plain.log', b'X')
    got = bench.run(packed).stdout.replace(b'packed.log.gz', b'X')
    bench.case('gzip', got.splitlines()[0] != want.splitlines()[0] and got, b'--log X' not in got and got)
    with open(os.path.join(bench.folder, plain), 'rb') as handle:
        done = bench.run('-', stdin=handle)
    bench.case('standard input', done.stdout.replace(b'at -:1', b'at X:1').splitlines()[:1] != want.splitlines()[:1] and done)
    done = bench.run(cut)
    bench.case('gzip that is cut', done.returncode != 10 and done, b'cut or damaged' not in done.stderr and done.stderr)
    for name, what in (('xz', lzma.compress(line)), ('bzip2', bz2.compress(line)), ('lz4', b'\x04"M\x18' + line), ('zip', b'PK\3\4' + line)):
        foreign, want = bench.file(f'old.{name}', what), f'compressed with {name}, which this build cannot read; unpack it first\n'.encode()
        done = bench.run(foreign)
        bench.case(name, done.returncode != 1 and done, not done.stderr.endswith(b'warpscope: old.%b: ' % name.encode() + want) and done.stderr)
        done = bench.run('-', input=what)
        bench.case(f'{name} from a pipe', done.returncode != 1 and done, not done.stderr.endswith(want) and done.stderr)
    done = bench.run('gone', plain)
    bench.case('one of two is gone', done.returncode != 10 and done, b'gone' not in done.stderr and done.stderr)
    none = bench.file('none.log', b'x\n')
    bench.case('nothing in the other', bench.run('gone', none).returncode != 1)
    dump = bench.file('dump', b'\x7fELF' + bytes(100))
    done = bench.run(dump)
    bench.case('a dump', done.returncode != 1, b'warpscope report DUMP' not in done.stderr and done.stderr)
    done = subprocess.run([bench.program, plain], capture_output=True, check=False, cwd=bench.folder)
    bench.case('a log as a dump', b'warpscope log LOG' not in done.stderr and done.stderr)


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(program, folder)
        check_jobs(bench)
        check_files(bench)
        check_hostile(bench)
    print(f'1..{len(bench.cases)}')
    for i, (name, problem) in enumerate(bench.cases, 1):
        print(f"{'not ok' if problem else 'ok'} {i} - {name}")
        if problem:
            print('# ' + problem.replace('\n', '\n# '))
    return any(problem for _, problem in bench.cases)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
