"""Kernels of Triton. usage: programs.py FOLDER NAME ARCH [OPTION=NUMBER...]: tests/data/front-ends has what it makes."""
import sys

import triton
import triton.language as tl


@triton.jit
def offsets(BLOCK: tl.constexpr):
    return tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = offsets(BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(y_ptr + offs, x * 2.0, mask=offs < n)


@triton.jit
def quads(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offs = offsets(BLOCK)
    x = tl.load(x_ptr + offs)

    tl.store(y_ptr + offs, x + 1.0)


@triton.jit
def masked(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = offsets(BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, x + 1.0, mask=offs < n)


@triton.jit
def rows(x_ptr, y_ptr, stride, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    row = x_ptr + tl.program_id(0) * stride
    x = tl.load(row + cols, mask=cols < n, other=0.0)
    tl.store(y_ptr + tl.program_id(0) * BLOCK + cols, x, mask=cols < n)


@triton.jit
def waits(x_ptr, y_ptr, M, N, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BLOCK, BLOCK])
    a = x.load([tl.program_id(0) * BLOCK, 0])

    cols = tl.arange(0, BLOCK)
    tl.store(y_ptr + cols[:, None] * N + cols[None, :], a + 1.0)


@triton.jit
def fetch(x_ptr, offs):
    return tl.load(x_ptr + offs)


@triton.jit
def helped(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offs = offsets(BLOCK)
    tl.store(y_ptr + offs, fetch(x_ptr, offs))


SIGNATURES = {
    'helped': {'x_ptr': '*fp32', 'y_ptr': '*fp32'},
    'scale': {'x_ptr': '*fp32', 'y_ptr': '*fp32', 'n': 'i32'},
    'quads': {'x_ptr': '*fp32', 'y_ptr': '*fp32'},
    'masked': {'x_ptr': '*fp32', 'y_ptr': '*fp32', 'n': 'i32'},
    'rows': {'x_ptr': '*fp32', 'y_ptr': '*fp32', 'stride': 'i32', 'n': 'i32'},
    'waits': {'x_ptr': '*fp32', 'y_ptr': '*fp32', 'M': 'i32', 'N': 'i32'},
}
ALIGNED = [['tt.divisibility', 16]]  # pointers and sizes that are multiples of 16


def main():
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    folder, name, arch = sys.argv[1:4]
    options = {key: int(value) for key, value in (word.split('=') for word in sys.argv[4:])}
    block = options.pop('BLOCK')
    signature = dict(SIGNATURES[name], BLOCK='constexpr')
    aligned = {'quads': [0, 1], 'waits': [0, 1, 2, 3]}.get(name, [])
    source = ASTSource(globals()[name], signature, constexprs={(len(signature) - 1,): block}, attrs={(i,): ALIGNED for i in aligned})
    kernel = triton.compile(source, target=GPUTarget('cuda', int(arch), 32), options=options)
    with open(f'{folder}/{name}-triton-{triton.__version__}.sm_{arch}.cubin', 'wb') as file:
        file.write(kernel.asm['cubin'])


if __name__ == '__main__':
    main()
