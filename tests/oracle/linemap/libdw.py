#!/usr/bin/env python3
"""Runs libdw_rows on all line maps at hand. usage: libdw.py LIBDW_ROWS FOLDER|FILE...

Adds the sample of the elfutils patch (WARPSCOPE_LINEMAP_SAMPLE, or ../shared/data beside the repository) and the
folder WARPSCOPE_LINEMAP_CORPUS, where they are.
"""
import bz2
import glob
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..'))


def main():
    paths = []
    for path in sys.argv[2:] + [os.environ.get('WARPSCOPE_LINEMAP_CORPUS', '')]:
        paths += sorted(glob.glob(os.path.join(path, '*.cubin'))) if os.path.isdir(path) else [path] if path else []
    with tempfile.TemporaryDirectory() as folder:
        sample = os.environ.get('WARPSCOPE_LINEMAP_SAMPLE',
                                os.path.join(ROOT, '..', 'shared', 'data', 'testfile_nvidia_linemap.bz2'))
        if os.path.exists(sample):
            unpacked = os.path.join(folder, 'testfile_nvidia_linemap')
            with bz2.open(sample) as packed, open(unpacked, 'wb') as out:
                out.write(packed.read())
            paths.append(unpacked)
        return subprocess.run([sys.argv[1], *paths], check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
