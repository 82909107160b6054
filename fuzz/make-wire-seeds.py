#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the seeds of fuzz_wire: a request of each function for both servers, replies for a client. usage: make-wire-seeds.py OUT"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import api_model  # noqa: E402

API = api_model.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "cudbg", "api"))
VALUES = {"sm": 1, "sz": 16, "size": 64, "type": 0, "length": 4096, "addr": 0x10000000, "handle": 0x100, "gridId": 1, "gridId64": 1, "warpMask": 1}


def value(fn, name):
    counts = [arg.count for arg in fn.args]
    return VALUES.get(name, 2 if name in counts else 0)


def room(fn, arg):
    unit = 1 if arg.unit == "bytes" or arg.base() == "void" else API.size_of(arg.base())
    return unit * (value(fn, arg.count) if arg.count else 1)


def goes_in(fn, arg):
    """The bytes of an argument that the client sends."""
    return b"kernel" if arg.string else bytes(room(fn, arg)) if arg.way in ("in", "inout") or arg.kept else b""


def wire_request(fn):
    numbers, inside, present = b"", b"", 0
    for i, arg in enumerate(fn.args):
        data = goes_in(fn, arg) if arg.pointer() else b""
        present |= arg.pointer() << i
        numbers += struct.pack("<Q", len(data) if arg.pointer() else value(fn, arg.name))
        inside += data
    if fn.name == "setCudaLogRules":
        inside += struct.pack("<Q", 0) * 2
    return struct.pack("<IHHII", len(numbers + inside), fn.slot, present, 0, 13 << 16) + numbers + inside


def rpc_request(fn):
    data = b""
    if fn.name == "initialize":
        data = struct.pack("<III", 12, 4, 142)
    elif fn.name != "getErrorStringEx":
        for arg in fn.args:
            if not arg.pointer():
                data += value(fn, arg.name).to_bytes(API.size_of(arg.ctype), "little")
        for arg in fn.args:
            if arg.string:
                data += struct.pack("<I", 7) + b"kernel\0"
            elif arg.way in ("in", "inout"):
                data += bytes(room(fn, arg))
    return struct.pack("<QII", 16 + len(data), 12, fn.request) + data


def reply(fn):
    numbers = b"".join(struct.pack("<Q", room(fn, arg) if arg.way in ("out", "inout") else 0) for arg in fn.args)
    outside = b"".join(bytes(room(fn, arg)) for arg in fn.args if arg.way in ("out", "inout"))
    return struct.pack("<II", len(numbers + outside), 0) + numbers + outside


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    sessions = [fn for fn in API.functions if fn.name not in ("finalize", "generateCoredump")]
    seeds = {
        "requests": b"\0" + b"".join(wire_request(fn) for fn in sessions),
        "finalize": b"\0" + b"".join(wire_request(API.function(name)) for name in ("initialize", "getNumDevices", "finalize")),
        "pipes": b"\2" + b"".join(rpc_request(fn) for fn in sorted((fn for fn in sessions if fn.request is not None), key=lambda fn: fn.request)),
    }
    for name in ("getNumDevices", "getElfImage", "getNextEvent42", "readValidWarps", "getDeviceName", "readPC"):
        fn = API.function(name)
        seeds["reply-" + name] = b"\1\1" + bytes([fn.slot]) + reply(fn)
    seeds["reply-why"] = b"\1\1\1" + struct.pack("<II", 8, 10) + b"because."
    for name, data in seeds.items():
        with open(os.path.join(out, name), "wb") as handle:
            handle.write(data)


if __name__ == "__main__":
    main()
