#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots of PyTorch: made up, in the shape of docs/formats/memory-snapshot.md.

`python_pickle()` writes them as PyTorch's Python does (pickle.dump), `cpp_pickle()` with the operations that its
own writer in C++ uses. As a program: snapshots.py OUTPUT writes the one of tests/data/torch.
"""
import pickle
import struct
import sys


def frame(filename, line, name):
    return {'name': name, 'filename': filename, 'line': line}


def block(address, size, state='active_allocated', frames=None, requested=None):
    return {'address': address, 'size': size, 'requested_size': size if requested is None else requested, 'state': state,
            'frames': [] if frames is None else frames}


def segment(address, blocks, device=0):
    size = sum(one['size'] for one in blocks)
    return {'device': device, 'address': address, 'total_size': size, 'allocated_size': size, 'active_size': size,
            'requested_size': size, 'stream': 0, 'segment_type': 'large', 'segment_pool_id': (0, 0),
            'is_expandable': False, 'frames': [], 'blocks': blocks}


def event(action, addr, size, time_us, frames=None):
    return {'action': action, 'device_free' if action == 'oom' else 'addr': addr, 'size': size, 'stream': 0,
            'time_us': time_us, 'compile_context': 'N/A', 'user_metadata': '', 'frames': [] if frames is None else frames}


def snapshot(segments, *traces):
    settings = {'PYTORCH_CUDA_ALLOC_CONF': '', 'max_split_size': -1, 'garbage_collection_threshold': 0.0,
                'expandable_segments': False, 'pinned_num_register_threads': 1, 'release_lock_on_cudamalloc': False,
                'pinned_use_cuda_host_register': False, 'roundup_power2_divisions': {'1': 0, '2': 0}}
    return {'segments': segments, 'device_traces': list(traces), 'allocator_settings': settings,
            'external_annotations': []}


def python_pickle(value, protocol=4):
    return pickle.dumps(value, protocol)


def cpp_pickle(value):
    """Protocol 2; a text is remembered after it, a container after its items, and only if it is used again."""
    uses, ids, texts, out = {}, {}, {}, bytearray(b'\x80\x02')

    def count(one):
        if isinstance(one, (list, dict)):
            uses[id(one)] = uses.get(id(one), 0) + 1
            if uses[id(one)] == 1:
                for item in (one if isinstance(one, list) else one.values()):
                    count(item)

    def memo(kind, number):
        out.extend(bytes([kind[0], number]) if number < 256 else bytes([kind[1]]) + struct.pack('<I', number))

    def put(table, key):
        table[key] = len(ids) + len(texts)
        memo(b'qr', table[key])

    def number(one):
        if 0 <= one < 256:
            out.extend(b'K' + bytes([one]))
        elif 0 <= one < 65536:
            out.extend(b'M' + struct.pack('<H', one))
        elif -2**31 <= one < 2**31:
            out.extend(b'J' + struct.pack('<i', one))
        else:
            out.extend(b'\x8a\x08' + struct.pack('<q', one))

    def container(one):
        if id(one) in ids:
            return memo(b'hj', ids[id(one)])
        out.extend(b']' if isinstance(one, list) else b'}')
        out.extend(b'(')
        for item in one:
            write(item)
            if isinstance(one, dict):
                write(one[item])
        out.extend(b'e' if isinstance(one, list) else b'u')
        if uses[id(one)] > 1:
            put(ids, id(one))

    def write(one):
        if isinstance(one, bool):
            out.extend(b'\x88' if one else b'\x89')
        elif isinstance(one, int):
            number(one)
        elif isinstance(one, float):
            out.extend(b'G' + struct.pack('>d', one))
        elif isinstance(one, str) and one in texts:
            memo(b'hj', texts[one])
        elif isinstance(one, str):
            out.extend(b'X' + struct.pack('<I', len(one.encode())) + one.encode())
            put(texts, one)
        elif isinstance(one, tuple):
            for item in one:
                write(item)
            out.extend(bytes([0x84 + len(one)]))
        else:
            container(one)

    count(value)
    write(value)
    return bytes(out + b'.')


def example():
    """Of the process of examples/dumps/illegal-address.nvcudmp: the table that its kernel gathers from has 8,000 bytes,
    and the indices were freed too early."""
    torch = frame('/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py', 1553, '_wrapped_call_impl')
    table = [torch, frame('/home/ana/lm/model.py', 31, 'forward'), frame('/home/ana/lm/train.py', 90, '<module>')]
    index = [frame('/home/ana/lm/data.py', 12, 'indices'), frame('/home/ana/lm/train.py', 88, '<module>')]
    drop = [frame('/home/ana/lm/train.py', 89, '<module>')]
    t = 1751371190000000
    return snapshot(
        [segment(0x7f3a00000000, [block(0x7f3a00000000, 8192, frames=table, requested=8000)])],
        [event('segment_alloc', 0x7f3a10000000, 131072, t, index),
         event('alloc', 0x7f3a10000000, 131072, t + 10, index),
         event('alloc', 0x7f3a00000000, 8000, t + 20, table),
         event('free_requested', 0x7f3a10000000, 131072, t + 7000, drop),
         event('free_completed', 0x7f3a10000000, 131072, t + 7001, drop),
         event('segment_free', 0x7f3a10000000, 131072, t + 9000, drop),
         event('snapshot', 0, 8192, t + 10000)])


if __name__ == '__main__':
    with open(sys.argv[1], 'wb') as file:
        file.write(python_pickle(example()))
