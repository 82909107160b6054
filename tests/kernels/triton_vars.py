# A Triton kernel with its local variables: what Triton 3.9.0 makes of it is triton_vars.ptx (`python triton_vars.py OUTPUT` with
# LLVM_EXTRACT_DI_LOCAL_VARIABLES=1). Its helper `scaled` loads in the line of `v`; Triton names it after the kernel.
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scaled(p, offs, s):
    v = tl.load(p + offs)
    w = v * s
    return w


@triton.jit
def add(x, y, out, B: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * B + tl.arange(0, B)
    a = scaled(x, offs, 2.0)
    b = tl.load(y + offs)
    tl.store(out + offs, a + b)


if __name__ == '__main__':
    source = ASTSource(fn=add, signature={'x': '*fp32', 'y': '*fp32', 'out': '*fp32', 'B': 'constexpr'}, constexprs={(3,): 128})
    made = triton.compile(source, target=GPUTarget('cuda', 80, 32), options={'num_warps': 4})
    with open(sys.argv[1], 'w', encoding='utf-8') as file:
        file.write(made.asm['ptx'])
