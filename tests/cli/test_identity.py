#!/usr/bin/env python3
"""Code identities computed here, from docs/formats/code-identity.md alone, against those that warpscope gives. Prints TAP.

usage: test_identity.py WARPSCOPE TESTS_FOLDER
"""
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(sys.argv[2], "builders"))
import cubin as cb  # noqa: E402

IMMEDIATE = ((1 << 32) - 1) << 32
ADDRESS = 0xff << 16 | ((1 << 47) - 1) << 34
MASK = {0x802: IMMEDIATE, 0x882: IMMEDIATE, 0x943: ADDRESS, 0x343: ADDRESS}


def masked(code):
    out = bytearray(code)
    for at in range(0, len(code) - 15, 16):
        word = int.from_bytes(code[at:at + 16], "little")
        word &= ~MASK.get(word & 0xfff, 0)
        out[at:at + 16] = word.to_bytes(16, "little")
    return bytes(out)


def image_identity(data):
    image = cb.Cubin(data)
    table = next(s for s in image.sections if s.type == cb.SHT_SYMTAB)
    names = image.sections[struct.unpack_from("<I", data, image.shoff + 64 * table.index + 40)[0]]
    ids = []
    for section in image.sections:
        if section.type != 1 or not section.flags & cb.SHF_EXECINSTR:
            continue
        at = table.offset + 24 * (section.info & 0xffffff)
        start = names.offset + struct.unpack_from("<I", data, at)[0]
        name = data[start:data.index(b"\0", start)]
        code = data[section.offset:section.offset + section.size]
        head = b"warpscope code 1\0" + struct.pack("<Q", len(name)) + name + struct.pack("<Q", len(code))
        ids.append(hashlib.sha256(head + masked(code)).digest())
    return hashlib.sha256(b"warpscope image 1\0" + b"".join(sorted(ids))).hexdigest()


def main():
    program, tests = sys.argv[1:3]
    folder = os.path.join(tests, "data", "cubins")
    names = sorted(n for n in os.listdir(folder) if n.endswith(".cubin"))
    print(f"1..{2 * len(names)}")
    failed = 0

    def check(number, what, path, wanted):
        nonlocal failed
        done = subprocess.run([program, "store", "--json", "--store", store, "add", path], capture_output=True, check=False)
        got = [i["id"] for i in json.loads(done.stdout)["images"]] if done.returncode == 0 else done.stderr
        failed += got != [wanted]
        print(f"{'ok' if got == [wanted] else 'not ok'} {number} - {what}")
        if got != [wanted]:
            print(f"# {got} instead of {wanted}")

    with tempfile.TemporaryDirectory() as store:
        for number, name in enumerate(names):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                data = file.read()
            wanted = image_identity(data)
            check(2 * number + 1, name, path, wanted)
            loaded = os.path.join(store, "loaded")
            with open(loaded, "wb") as file:
                file.write(cb.relocate(data, 0x7f4400000000)[0])
            check(2 * number + 2, f"{name}, relocated", loaded, wanted)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
