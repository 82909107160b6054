"""A kernel whose symbol depends on what the process compiled before. usage: oob.py OUT.ptx N_BEFORE; tests/data/names has it"""
import sys
from numba import cuda, types
def other(x): x[cuda.grid(1)] = 1
def oob(x, idx, out):
    i = cuda.grid(1)
    out[i] = x[idx[i]]
for _ in range(int(sys.argv[2])): cuda.compile(other, (types.float32[::1],), cc=(9, 0), device=False, abi='numba')
code, _ = cuda.compile(oob, (types.float32[::1], types.int32[::1], types.float32[::1]), cc=(9, 0), device=False, abi='numba', lineinfo=True)
open(sys.argv[1], 'wb').write(code if isinstance(code, bytes) else code.encode())
