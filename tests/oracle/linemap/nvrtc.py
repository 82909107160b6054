#!/usr/bin/env python3
"""Compiles a source with the run-time compiler. usage: nvrtc.py LIBNVRTC sm_NN IN.cu OUT.cubin"""
import ctypes
import sys


def main():
    library, arch, source, output = sys.argv[1:5]
    nvrtc = ctypes.CDLL(library)

    def call(name, *args):
        status = getattr(nvrtc, name)(*args)
        if status:
            sys.exit(f'{name}: error {status}')

    with open(source, 'rb') as f:
        text = f.read()
    program = ctypes.c_void_p()
    call('nvrtcCreateProgram', ctypes.byref(program), text, source.encode(), 0, None, None)
    options = [f'--gpu-architecture={arch}'.encode(), b'--generate-line-info']
    call('nvrtcCompileProgram', program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    call('nvrtcGetCUBINSize', program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    call('nvrtcGetCUBIN', program, cubin)
    with open(output, 'wb') as f:
        f.write(cubin.raw)


if __name__ == '__main__':
    main()
