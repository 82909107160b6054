#!/usr/bin/env python3
"""Makes docs/page.png, the picture in README.md: the first screen of the HTML page of an example dump, by headless Chromium.

usage: readme-picture.py WARPSCOPE ROOT      (make picture)

The picture is reduced to a palette of 256 colours, so that it stays small in the history of the repository.
"""
import collections
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

WIDTH, HEIGHT = 1280, 980
MOST_BYTES = 200_000


def screenshot(warpscope, root, folder):
    browser = shutil.which('chromium') or shutil.which('chromium-browser')
    if not browser:
        sys.exit('readme-picture.py: chromium is not installed (tools/packages-browser.txt)')
    page, picture = os.path.join(folder, 'page.html'), os.path.join(folder, 'page.png')
    subprocess.run([os.path.abspath(warpscope), '--source-map', '/src/ws=.', '--format', 'html', '-o', page,
                    'examples/dumps/illegal-address.nvcudmp'], cwd=root, check=True)
    subprocess.run([browser, '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', f'--user-data-dir={folder}/profile',
                    f'--window-size={WIDTH},{HEIGHT}', f'--screenshot={picture}', f'file://{page}'], check=True,
                   stderr=subprocess.DEVNULL, timeout=120)
    with open(picture, 'rb') as handle:
        return handle.read()


def chunks(png):
    at = 8
    while at < len(png):
        length, kind = struct.unpack_from('>I4s', png, at)
        yield kind, png[at + 8:at + 8 + length]
        at += 12 + length


def rows_of(png):
    """(width, [row of (r, g, b) for each row]) of a PNG of 8 bits, RGB or RGBA [public doc: PNG, RFC 2083]."""
    parts = collections.defaultdict(bytes)
    for kind, body in chunks(png):
        parts[kind] += body
    width, height, depth, colour, _, _, interlace = struct.unpack('>IIBBBBB', parts[b'IHDR'])
    step = {2: 3, 6: 4}[colour]
    assert depth == 8 and interlace == 0
    data, before, rows = zlib.decompress(parts[b'IDAT']), bytearray(width * step), []
    for y in range(height):
        start = y * (width * step + 1)
        rule, row = data[start], bytearray(data[start + 1:start + 1 + width * step])
        for i in range(len(row) if rule else 0):
            left, up, corner = (row[i - step] if i >= step else 0), before[i], (before[i - step] if i >= step else 0)
            if rule == 1:
                add = left
            elif rule == 2:
                add = up
            elif rule == 3:
                add = (left + up) // 2
            else:
                guess = left + up - corner
                add = min((left, up, corner), key=lambda one, guess=guess: abs(guess - one))
            row[i] = row[i] + add & 255
        rows.append([tuple(row[i:i + 3]) for i in range(0, len(row), step)])
        before = row
    return width, rows


def chunk(kind, body):
    return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))


def with_palette(width, rows):
    """The picture in 256 colours: colours that look alike are one, the commonest of them; rare ones become the nearest."""
    count = collections.Counter(colour for row in rows for colour in row)
    alike = collections.defaultdict(list)
    for colour, _ in count.most_common():
        alike[tuple(value >> 4 for value in colour)].append(colour)
    groups = sorted(alike.values(), key=lambda group: -sum(count[colour] for colour in group))
    palette = [group[0] for group in groups[:256]]
    index = {}
    for colour in count:
        index[colour] = min(range(len(palette)), key=lambda i, c=colour: sum((a - b) ** 2 for a, b in zip(palette[i], c)))
    data = b''.join(b'\0' + bytes(index[colour] for colour in row) for row in rows)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, len(rows), 8, 3, 0, 0, 0)) +
            chunk(b'PLTE', bytes(value for colour in palette for value in colour)) +
            chunk(b'IDAT', zlib.compress(data, 9)) + chunk(b'IEND', b''))


def main():
    warpscope, root = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        picture = with_palette(*rows_of(screenshot(warpscope, root, folder)))
    if len(picture) > MOST_BYTES:
        sys.exit(f'readme-picture.py: {len(picture)} bytes, more than {MOST_BYTES}')
    with open(os.path.join(root, 'docs/page.png'), 'wb') as out:
        out.write(picture)
    print(f'docs/page.png: {len(picture)} bytes')
    return 0


if __name__ == '__main__':
    sys.exit(main())
