"""Kernels in Numba that go wrong as in public reports, and what each is compiled for: KERNELS, for front_ends.py."""
from numba import cuda, int64


def numba_7284(arr, val):
    """forall() rounds the grid up, and the kernel does not look."""
    arr[cuda.grid(1)] += val


KERNELS = [(numba_7284, (int64[::1], int64))]
