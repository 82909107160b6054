#!/usr/bin/env python3
"""Compiles the kernels of triton_kernels.py and numba_kernels.py, without a GPU: cubins for each architecture.

usage: front_ends.py FOLDER    writes FOLDER/NAME.sm_NN.cubin; NAME is the kernel's

Needs triton 3.9.0, numba-cuda 0.30.4 and ptxas 13.0.
"""
import os
import re
import subprocess
import sys
import tempfile

import numba_kernels
import triton
import triton_kernels
from numba import cuda
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

ARCHS = (80, 90, 100, 120)


def triton_cubin(kernel, arch):
    function, signature, constants = kernel
    return triton.compile(ASTSource(function, signature, constants), target=GPUTarget('cuda', arch, 32)).asm['cubin']


def numba_cubin(kernel, arch):
    function, signature = kernel
    ptx, _ = cuda.compile_ptx(function, signature, cc=(arch // 10, arch % 10), lineinfo=True)
    ptx = ptx.replace(re.search(r'\.entry (\w+)', ptx)[1], function.__name__)  # Numba's name has a hash of the options
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, 'k.ptx'), os.path.join(folder, 'k.cubin')
        with open(source, 'w', encoding='utf-8') as file:
            file.write(ptx)
        subprocess.run(['ptxas', f'-arch=sm_{arch}', '-lineinfo', source, '-o', target], check=True)
        with open(target, 'rb') as file:
            return file.read()


def main(folder):
    for make, kernels in ((triton_cubin, triton_kernels.KERNELS), (numba_cubin, numba_kernels.KERNELS)):
        for kernel in kernels:
            for arch in ARCHS:
                with open(os.path.join(folder, f'{kernel[0].__name__}.sm_{arch}.cubin'), 'wb') as file:
                    file.write(make(kernel, arch))


if __name__ == '__main__':
    main(sys.argv[1])
