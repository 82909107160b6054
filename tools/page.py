#!/usr/bin/env python3
"""Puts warpscope.html together: one file, the same bytes whenever it is made from the same sources and packages.

usage: page.py FOLDER OUT        FOLDER: what tools/page.sh built

The module is in it as text (gzip, base64). The content security policy allows the scripts and style sheets that are in it, those of
reports, and nothing else: no address is loaded from, none is sent to.
"""
import base64
import gzip
import hashlib
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST_BYTES = 1_600_000


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def hash_of(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy(style, script, report):
    """A policy for the page; frames and workers that it makes get it, too."""
    styles = re.search(r'PAGE_STYLE_HASH "(.*)"', report)[1]
    scripts = re.search(r'PAGE_SCRIPT_HASH "(.*)"', report)[1]
    return (f"default-src 'none'; script-src {hash_of(script)} {scripts} 'wasm-unsafe-eval'; style-src {hash_of(style)} {styles}; "
            "worker-src blob:; base-uri 'none'; form-action 'none'")


def packed(content):
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def licences(folder):
    """What the packages say of themselves, and what the compiler's package says of the C library that it brings."""
    names = sorted(os.listdir(os.path.join(folder, 'sysroot/root/licences')))
    parts = [(name, read(folder, 'sysroot/root/licences', name)) for name in names]
    with open('/usr/share/doc/emscripten/copyright', encoding='utf-8') as file:
        parts.append(('emscripten (musl, its runtime)', file.read()))
    return '\n\n'.join(f'==== {name} ====\n\n{text.strip()}' for name, text in parts)


def main():
    folder, out = sys.argv[1:]
    build = os.path.join(folder, 'build')
    with open(os.path.join(build, 'page/module.wasm'), 'rb') as file:
        module = file.read()
    style = read(ROOT, 'src/render/page/page.css') + read(ROOT, 'page/page.css')
    script = read(ROOT, 'page/page.js')
    worker = '\n'.join((read(build, 'page/module.js'), read(ROOT, 'page/engine.js'), read(ROOT, 'page/worker.js')))
    parts = {
        'POLICY': policy(style, script, read(build, 'src/render/page.inc')),
        'STYLE': style,
        'SCRIPT': script,
        'WORKER': packed(worker.encode()),
        'WASM': packed(module),
        'VERSION': json.loads(read(build, 'meson-info/intro-projectinfo.json'))['version'],
        'LICENCES': packed(licences(folder).encode()),
    }
    for name in ('STYLE', 'SCRIPT'):
        if re.search('</(script|style)|<!--', parts[name], re.IGNORECASE):
            raise SystemExit(f'page.py: {name} would end the element that it stands in')
    page = re.sub('@([A-Z]+)@', lambda match: parts[match[1]], read(ROOT, 'page/page.html'))
    if len(page.encode()) > MOST_BYTES:
        raise SystemExit(f'page.py: the page has {len(page.encode())} bytes, more than {MOST_BYTES}')
    os.makedirs(os.path.dirname(out), exist_ok=True)
    with open(out, 'w', encoding='utf-8') as file:
        file.write(page)
    print(f'{len(page.encode()):>9} {out}')


if __name__ == '__main__':
    main()
