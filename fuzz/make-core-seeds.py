#!/usr/bin/env python3
"""Makes the small seeds of fuzz_core with the tests' dump builder. usage: make-core-seeds.py OUT"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "builders"))

import coredump as cd  # noqa: E402

KERNEL = 0x7f0000001000


def lane(number):
    row = {"virtualPC": KERNEL + 0x80, "physPC": 0x80, "ln": number, "threadIdxX": number, "callDepth": 1}
    return cd.Lane(row, regs=[number, 7, 0xffffffff], preds=[1, 0], local=(0xfffc00, bytes(range(8))),
                   frames=[{"returnAddress": 0x40, "virtualReturnAddress": KERNEL + 0x40, "level": 0}])


def warp(number):
    return cd.Warp({"warpId": number, "validLanesMask": 3, "activeLanesMask": 1, "errorPC": KERNEL, "errorPCValid": 1,
                    "additionalBarrierInfo": "barrier"},
                   lanes=[lane(0), lane(1)], uregs=[1, 2], upreds=[1], barriers=[3, 0])


def dump():
    block = cd.Cta({"gridId64": 5, "clusterDimX": 2, "clusterDimY": 1, "clusterDimZ": 1}, shared=bytes(range(16)),
                   warps=[warp(3), warp(1)])
    sms = [cd.Sm({"smId": 4, "exception": 14, "errorPC": KERNEL, "errorPCValid": 1, "exceptionString": "illegal"},
                 ctas=[block]), cd.Sm({"smId": 2}, ctas=[])]
    grid = cd.Grid({"gridId64": 5, "contextId": 9, "moduleHandle": 77, "functionEntry": KERNEL, "paramsOffset": 0x210},
                   params=b"params!!", banks=[{"addr": 0x7f0000005000, "size": 8, "bankId": 0}])
    context = cd.Context({"contextId": 9, "sharedWindowBase": 0x7e0000000000, "localWindowBase": 0x7e0100000000},
                         modules=[cd.Module({"moduleHandle": 77}, image=b"\x7fELF", relocated=b"\x7fELF")])
    device = cd.Device({"devName": "GPU", "devType": "G", "smType": "sm_90", "numSMs": 8, "smMajor": 9},
                       contexts=[context], grids=[grid], sms=sms)
    memory = [cd.Memory({"address": 0x7f0000005000}, data=bytes(range(8))),
              cd.Memory({"address": 0x7f0000005008, "managed": True}, data=b"managed"),
              cd.Memory({"address": 0x7f0000005004}, data=b"over")]
    return cd.Dump(devices=[device], memory=memory, meta={"generatorName": "seed", "driverVersionMajor": 590})


def full_warp():
    """32 lanes: what stands beside a section tells which of two claims is the right one."""
    lanes = [cd.Lane({"virtualPC": KERNEL, "ln": number, "threadIdxX": number}, regs=[number]) for number in range(32)]
    warp_ = cd.Warp({"validLanesMask": 0xffffffff, "activeLanesMask": 0xffffffff}, lanes=lanes)
    device = cd.Device({"devName": "GPU"}, contexts=[], grids=[],
                       sms=[cd.Sm({"smId": 0}, ctas=[cd.Cta({"gridId64": 5}, warps=[warp_])])])
    return cd.Dump(devices=[device], memory=[], meta=None)


OPTIONS = {
    "r615": dict(driver=615), "r346-last": dict(driver=346, headers="last", escape=False),
    "r575-shuffled": dict(driver=575, shuffle=1), "wide": dict(driver=590, extra_stride=8, unknown=2),
    "light": dict(driver=590, flags=0x2f), "cut": dict(driver=590, truncate=2500),
}


def main(out):
    os.makedirs(out, exist_ok=True)
    for name, options in OPTIONS.items():
        with open(os.path.join(out, name), "wb") as handle:
            handle.write(cd.write(dump(), cd.Options(**options)))
    with open(os.path.join(out, "full-warp"), "wb") as handle:
        handle.write(cd.write(full_warp(), cd.Options(driver=346)))


if __name__ == "__main__":
    main(sys.argv[1])
