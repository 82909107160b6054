"""Kernels in Triton that go wrong as in public reports, and what each is compiled for: KERNELS, for front_ends.py."""
import triton
import triton.language as tl


@triton.jit
def flaggems_4153(out, source, indices, stride, n, BLOCK: tl.constexpr):
    """Rows by an index of 32 bits, whose product with the stride stays one."""
    row = tl.program_id(0)
    index = tl.load(indices + row)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(source + (index * stride + offsets), mask=mask, other=0.0)
    tl.store(out + row * n + offsets, values, mask=mask)


@triton.jit
def megablocks_185(a, bins, out, NUM_COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    """The row of a token, times the number of columns."""
    pid = tl.program_id(0)
    offset = tl.load(bins + pid)
    a += tl.multiple_of(offset * NUM_COLUMNS, NUM_COLUMNS)
    columns = tl.arange(0, BLOCK)
    x = tl.load(a + columns, mask=columns < NUM_COLUMNS)
    tl.store(out + pid * NUM_COLUMNS + columns, x, mask=columns < NUM_COLUMNS)


@triton.jit
def triton_6748(pointer, stride_m, num_rows, num_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Zeros for a matrix, by row and column."""
    pid_m = tl.program_id(0)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    pointers = pointer + rows[:, None] * stride_m + columns[None, :]
    tl.store(pointers, tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32), mask=(rows[:, None] < num_rows) & (columns[None, :] < num_cols))


@triton.jit
def vllm_53982(block_table, positions, slots, row_stride, block_size, n, BLOCK: tl.constexpr):
    """The row of a request is narrower than its sequence."""
    request = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    position = tl.load(positions + request * n + offsets, mask=mask, other=0)
    number = tl.load(block_table + request * row_stride + position // block_size, mask=mask, other=0).to(tl.int64)
    tl.store(slots + request * n + offsets, number * block_size + position % block_size, mask=mask)


@triton.jit
def tokenspeed_709(pages, positions, k, cache, page_size, width, BLOCK: tl.constexpr):
    """A page of -1 only pads the table."""
    token = tl.program_id(0)
    page = tl.load(pages + token).to(tl.int64)
    position = tl.load(positions + token)
    slot = page * page_size + position % page_size
    d = tl.arange(0, BLOCK)
    tl.store(cache + slot * width + d, tl.load(k + token * width + d, mask=d < width), mask=d < width)


@triton.jit
def booth_76(a, b, out, n, BLOCK: tl.constexpr):
    """Vectors are added without a mask."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(a + offsets) + tl.load(b + offsets))


@triton.jit
def triton_10336(values, bins, out, stride_v, stride_b, length, BLOCK: tl.constexpr):
    """The mask has the length of another tensor."""
    offsets = tl.arange(0, BLOCK)
    mask = offsets < length
    v = tl.load(values + offsets * stride_v, mask=mask, other=0)
    b = tl.load(bins + offsets * stride_b, mask=mask, other=-1)
    tl.store(out + offsets, v + b, mask=mask)


KERNELS = [
    (flaggems_4153, {'out': '*fp32', 'source': '*fp32', 'indices': '*i32', 'stride': 'i32', 'n': 'i32', 'BLOCK': 'constexpr'}, {'BLOCK': 128}),
    (megablocks_185, {'a': '*bf16', 'bins': '*i32', 'out': '*bf16', 'NUM_COLUMNS': 'constexpr', 'BLOCK': 'constexpr'},
     {'NUM_COLUMNS': 4096, 'BLOCK': 1024}),
    (triton_6748, {'pointer': '*fp32', 'stride_m': 'i32', 'num_rows': 'i32', 'num_cols': 'i32', 'BLOCK_M': 'constexpr', 'BLOCK_N': 'constexpr'},
     {'BLOCK_M': 32, 'BLOCK_N': 32}),
    (vllm_53982, {'block_table': '*i32', 'positions': '*i32', 'slots': '*i64', 'row_stride': 'i32', 'block_size': 'i32', 'n': 'i32',
                  'BLOCK': 'constexpr'}, {'BLOCK': 128}),
    (tokenspeed_709, {'pages': '*i32', 'positions': '*i32', 'k': '*fp32', 'cache': '*fp32', 'page_size': 'i32', 'width': 'i32', 'BLOCK': 'constexpr'},
     {'BLOCK': 128}),
    (booth_76, {'a': '*fp32', 'b': '*fp32', 'out': '*fp32', 'n': 'i32', 'BLOCK': 'constexpr'}, {'BLOCK': 256}),
    (triton_10336, {'values': '*i32', 'bins': '*i32', 'out': '*i32', 'stride_v': 'i32', 'stride_b': 'i32', 'length': 'i32', 'BLOCK': 'constexpr'},
     {'BLOCK': 128}),
]
