"""A kernel of cuTile. usage: tiles.py FILE ARCH: tests/data/front-ends has what it makes."""
import sys

import cuda.tile as ct
from cuda.tile.compilation import ArrayConstraint, CallingConvention, ConstantConstraint, KernelSignature, export_kernel


@ct.kernel
def gathers(x, index, y, N: ct.Constant[int]):
    block = ct.bid(0)
    i = ct.load(index, index=(block,), shape=(N,))

    v = ct.gather(x, i, check_bounds=False)
    ct.store(y, index=(block,), tile=v)


def array(dtype):
    return ArrayConstraint(dtype, 1, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=[], may_alias_internally=False,
                           stride_constant=[1])


def main():
    signatures = [KernelSignature([array(dtype), array(ct.int32), array(dtype), ConstantConstraint(128)], CallingConvention.cutile_python_v1())
                  for dtype in (ct.float32, ct.float64)]
    export_kernel(gathers, signatures, sys.argv[1], gpu_code=sys.argv[2], output_format='cubin')


if __name__ == '__main__':
    main()
