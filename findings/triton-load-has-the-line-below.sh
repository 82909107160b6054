#!/usr/bin/env bash
# Triton gives a load without a mask the source line below it, even if that is a comment; with a mask the line is right.
#
# Guess before the run: the machine code of `tl.load` has the line of its statement, with a mask and without.
#
# Seen (Triton 3.9.0, for sm_80, sm_90 and sm_120): a load is inline assembly of two lines, a move of 0 and the load. Without a mask the
# PTX has a .loc for each of the two: the statement's line for the move, the line below it for the load, as if the text of the assembly
# went on in the source. A fault at the load is then reported at a comment. With a mask the same two lines, the load under a predicate,
# share one .loc, which is right. Both stores, of one line each, are right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check triton==3.9.0
export TRITON_CACHE_DIR=$work/cache

cat >kernels.py <<'PY'
import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def plain(source, target, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(source + at)
    # plain: below the load
    tl.store(target + at, value + 1.0)
    # plain: below the store


@triton.jit
def masked(source, target, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(source + at, mask=at < n)
    # masked: below the load
    tl.store(target + at, value + 1.0, mask=at < n)
    # masked: below the store


with open(__file__, encoding='utf-8') as file:
    text = file.read().splitlines()
types = {'source': '*fp32', 'target': '*fp32', 'n': 'i32', 'BLOCK': 'constexpr'}
for capability in 80, 90, 120:
    for function in plain, masked:
        source = ASTSource(function, signature=types, constexprs={'BLOCK': 128})
        line = None
        for row in triton.compile(source, target=GPUTarget('cuda', capability, 32)).asm['ptx'].splitlines():
            place = re.match(r'\s*\.loc\s+\d+\s+(\d+)', row)
            line = int(place[1]) if place else line
            access = re.search(r'\b(ld|st)\.global', row)
            if access:
                print(f'sm_{capability} {function.__name__} {access[1]}: {text[line - 1].strip()}')
PY

venv/bin/python kernels.py >seen 2>/dev/null
cat seen
for arch in sm_80 sm_90 sm_120; do
	cat <<OUT
$arch plain ld: # plain: below the load
$arch plain st: tl.store(target + at, value + 1.0)
$arch masked ld: value = tl.load(source + at, mask=at < n)
$arch masked st: tl.store(target + at, value + 1.0, mask=at < n)
OUT
done >expected
cmp seen expected
