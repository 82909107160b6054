#!/usr/bin/env python3
"""Makes seeds of fuzz_line out of cubins or other ELF files. usage: make-line-seeds.py OUT FILE..."""
import os
import struct
import sys

MAX_SEED = 1 << 16


def sections(data):
    shoff, = struct.unpack_from('<Q', data, 40)
    size, count, names = struct.unpack_from('<HHH', data, 58)
    headers = [struct.unpack_from('<IIQQQQIIQQ', data, shoff + i * size) for i in range(count)]
    start = headers[names][4]
    found = []
    for header in headers:
        name = data[start + header[0]:data.index(b'\0', start + header[0])].decode()
        found.append((name, header, data[header[4]:header[4] + header[5]]))
    return found


def seed(found, line_name):
    line = next((i for i, s in enumerate(found) if s[0] == line_name), None)
    if line is None:
        return None
    text = next((s[2] for s in found if s[0] == '.debug_str'), b'')
    offsets, is_rel = [], False
    for name, header, body in found:
        if header[1] in (4, 9) and header[7] == line:
            is_rel = header[1] == 9
            step = 16 if is_rel else 24
            offsets = [struct.unpack_from('<Q', body, at)[0] for at in range(0, len(body), step)]
    offsets = [o for o in offsets if o < 65536][:63]
    text = text[:65535]
    return (bytes([2 * is_rel, len(offsets)]) + b''.join(struct.pack('<H', o) for o in offsets) +
            struct.pack('<H', len(text)) + text + found[line][2])


def main():
    out = sys.argv[1]
    for path in sys.argv[2:]:
        with open(path, 'rb') as f:
            found = sections(f.read())
        for line_name in ('.debug_line', '.nv_debug_line_sass'):
            data = seed(found, line_name)
            if data and len(data) <= MAX_SEED:
                name = os.path.basename(path) + ('.sass' if 'sass' in line_name else '')
                with open(os.path.join(out, name), 'wb') as f:
                    f.write(data)


if __name__ == '__main__':
    main()
