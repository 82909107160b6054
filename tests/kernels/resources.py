#!/usr/bin/env python3
"""What ptxas says of each kernel when it compiles a committed cubin again: registers, stack, shared memory, barriers. Prints the
table that tests/data/cubins/resources.tsv is.

usage: resources.py > ../data/cubins/resources.tsv

Needs nvcc 13.0. Cubins are those whose name is SOURCE.KIND.sm_NN.cubin with a SOURCE.cu that one call of nvcc compiles (build.sh).
"""
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CUBINS = os.path.join(HERE, '../data/cubins')
KINDS = {'li': ['-O3', '-lineinfo'], 'G': ['-G'], 'none': ['-O3']}
OBJECTS = ('link_a', 'link_b', 'names')
NOT = ('dropped', 'twins', 'toolkit', 'unset')  # linked, or with headers of the whole toolkit


def said(source, kind, arch, folder):
    """ptxas -v, as one text."""
    command = ['nvcc', f'-arch={arch}', '-std=c++17', *KINDS[kind], '-Xptxas', '-v', '-cubin', '-o', os.path.join(folder, 'out.cubin'),
               f'-I{HERE}/include', *(['-rdc=true'] if source in OBJECTS else []), os.path.join(HERE, source + '.cu')]
    return subprocess.run(command, check=True, capture_output=True, text=True).stderr


def kernels(text):
    """(mangled name, registers, frame, stack, shared, barriers) of each kernel."""
    for part in re.split(r'Compiling entry function ', text)[1:]:
        name = re.match(r"'([^']+)'", part)[1]
        used = part[part.index('Used '):]
        used = used[:used.index('\n')]

        def number(pattern, where, none='0'):
            found = re.search(pattern, where)
            return found[1] if found else none
        yield (name, number(r'Used (\d+) registers', used), number(rf'properties for {re.escape(name)}\s+(\d+) bytes stack frame', part),
               number(r'(\d+) bytes cumulative stack', used), number(r'(\d+) bytes smem', used), number(r'used (\d+) barriers', used))


def main():
    print('# made by tests/kernels/resources.py: ptxas -v of CUDA 13.0')
    print('cubin', 'kernel', 'registers', 'frame_bytes', 'stack_bytes', 'shared_bytes', 'barriers', sep='\t')
    with tempfile.TemporaryDirectory() as folder:
        for cubin in sorted(os.listdir(CUBINS)):
            parts = cubin.split('.')
            if len(parts) != 4 or parts[1] not in KINDS or parts[0] in NOT or not os.path.exists(os.path.join(HERE, parts[0] + '.cu')):
                continue
            for row in sorted(set(kernels(said(*parts[:3], folder)))):
                print(cubin, *row, sep='\t')


if __name__ == '__main__':
    main()
