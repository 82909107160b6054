#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A traced client leaves a log that can be read, made again and compared. Prints TAP.

usage: test_trace.py CLIENT WARPSCOPE LIBRARY DUMP OTHER_DUMP
"""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))

import schemas  # noqa: E402

CLIENT, WARPSCOPE, LIBRARY, DUMP, OTHER = (os.path.abspath(path) for path in sys.argv[1:6])


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def ok(self, good, name, seen=None):
        self.count += 1
        self.failed += not good
        print("%s %d - %s" % ("ok" if good else "not ok", self.count, name))
        if not good and seen is not None:
            print("".join("# %s\n" % line for line in str(seen).splitlines()), end="")


def record(log, dump):
    env = dict(os.environ, WARPSCOPE_CORE=dump, WARPSCOPE_TRACE=log)
    return subprocess.run([CLIENT], capture_output=True, text=True, check=False, env=env)


def trace(*args):
    return subprocess.run([WARPSCOPE, "trace", *args], capture_output=True, text=True, check=False)


def answer(done):
    """The data that --json printed, held against the schema where that can be done."""
    data = json.loads(done.stdout)
    why = schemas.misfit(data)
    assert not why, why
    return data


def write(path, lines):
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
    return path


def call(name, out=None, result="CUDBG_SUCCESS", **inputs):
    """One line; numbers become hexadecimal texts."""
    values = {key: "0x%x" % value if isinstance(value, int) else value for key, value in inputs.items()}
    extra = {"capabilities": "0x0"} if name == "initialize" else {}
    return json.dumps({"n": 0, "table": 1, "call": name, **extra, "in": values, "result": result, "out": out or {}, "ns": 1})


def recording(tap, work):
    log = os.path.join(work, "a.jsonl")
    run = record(log, DUMP)
    with open(log, encoding="utf-8") as lines:
        calls = [json.loads(line) for line in lines]
    names = [one["call"] for one in calls]
    pcs = [one for one in calls if one["call"] == "readVirtualPC"]
    tap.ok(run.returncode == 0, "the client works as ever")
    tap.ok(names[0] == "initialize" and names[-1] == "finalize", "the session is there from start to end")
    tap.ok(pcs and pcs[0]["in"]["dev"] == "0x0" and len(pcs[0]["out"]["pc"]) == 16, "arguments and outputs are shown")
    tap.ok(any(one["result"] == "CUDBG_ERROR_NO_EVENT_AVAILABLE" and one["out"] == {} for one in calls),
           "a failure has a code and no outputs")
    for name, path in (("text:" + os.path.join(work, "log"), os.path.join(work, "log")),
                       (os.path.join(work, "log.txt"), os.path.join(work, "log.txt"))):
        record(name, DUMP)
        with open(path, encoding="utf-8") as text:
            lines = text.read().splitlines()
        form = re.compile(r"\d+ 0 \w+\(.*\) = CUDBG_\w+( \w+=.*)? \[\d+ ns\]$")
        tap.ok(len(lines) == len(calls) and all(form.match(line) for line in lines),
               "as text: %s" % name.replace(work, ""), lines[:1])
    done = trace("replay", os.path.join(work, "log.txt"), DUMP)
    tap.ok(done.returncode == 1 and "not a trace in JSON lines" in done.stderr, "text cannot be replayed, and that is said")
    return log, len(calls)


def replaying(tap, work, log, count):
    same = "%d calls compared, %d the same\n" % (count, count)
    for args in (("replay", log, DUMP), ("--api-lib", LIBRARY, "replay", log, DUMP), ("diff", log, log)):
        done = trace(*args)
        tap.ok(done.returncode == 0 and done.stdout == same, "the same again: %s" % args[0], done.stdout + done.stderr)
    done = trace("--limit", "0", "replay", log, OTHER)
    tap.ok(done.returncode == 10 and "gridDim.x: 512 -> 16" in done.stdout, "another dump answers otherwise", done.stdout[:500])
    other = os.path.join(work, "b.jsonl")
    record(other, OTHER)
    done = trace("--json", "diff", log, other)
    data = answer(done)
    kinds = {one["kind"] for one in data["differences"]}
    tap.ok(done.returncode == 10 and {"output", "only_a", "only_b"} <= kinds and not data["same"] and
           data["counts"]["compared"] > data["counts"]["same"] and
           max(sum(one["kind"] == kind for one in data["differences"]) for kind in kinds) == 20,
           "two clients' traces, as data, at most 20 of a kind", done.stdout[:500])
    with open(log, encoding="utf-8") as text:
        lines = text.read().splitlines()
    for name, changed, kinds in (
            ("one call less", lines[:20] + lines[21:], ["only_a"]),
            ("one call more", lines[:20] + [lines[6]] + lines[20:], ["only_b"]),
            ("one other call", lines[:20] + [lines[6]] + lines[21:], ["only_a", "only_b"])):
        done = trace("--json", "diff", log, write(os.path.join(work, "c.jsonl"), changed))
        found = [one["kind"] for one in json.loads(done.stdout)["differences"]]
        tap.ok(done.returncode == 10 and found == kinds, "the traces meet again after %s" % name, found)
    done = trace("--table", "3", "replay", log, DUMP)
    tap.ok(done.returncode == 0 and done.stdout == "0 calls compared, 0 the same; %d of other tables\n" % count,
           "another table", done.stdout)


def handles(tap, work, log):
    """The driver's numbers of contexts, modules, functions and images change from run to run."""
    with open(log, encoding="utf-8") as text:
        whole = text.read()
    image = next(json.loads(line) for line in whole.splitlines() if '"event":"0100' in line)
    event = bytes.fromhex(image["out"]["event"])
    context, handle = event[8:16].hex(), event[32:40].hex()
    size = int.from_bytes(event[24:32], "little")
    renamed = whole.replace(handle, "11" * 8).replace(context, "22" * 8).splitlines()
    use = call("getElfImageByHandle", {"elfImage": "7f454c46...%d:%016x" % (size, 0)}, dev=0,
               handle=0x1111111111111111, type=1, size=size)
    lines = renamed[:3] + [use.replace('"table": 1', '"table": 0')] + renamed[3:]
    done = trace("--json", "replay", write(os.path.join(work, "h.jsonl"), lines), DUMP)
    found = json.loads(done.stdout)["differences"]
    tap.ok([one["what"] for one in found] == ["elfImage"] and "hash" in found[0]["a"],
           "renamed handles are paired, translated where they are asked for", done.stdout[:800])
    torn = renamed[:3] + whole.splitlines()[3:]  # the next event has the old names
    done = trace("replay", write(os.path.join(work, "h.jsonl"), torn), DUMP)
    tap.ok(done.returncode == 0, "a second name for the same thing passes: a provider may have two", done.stdout)
    mixed = whole.splitlines()[:3] + [line.replace(context, "33" * 8) for line in whole.splitlines()[3:]]
    done = trace("--json", "diff", log, write(os.path.join(work, "h.jsonl"), mixed))
    found = [(one["what"], one["b"]) for one in answer(done)["differences"]]
    tap.ok(found == [("event.cases.kernelReady.context", "0x" + "33" * 8)],
           "a thing that changes its name on the way is a difference", found)


def not_replayed(tap, work):
    victim = os.path.join(work, "victim")
    cut = "00" * 16 + "...2097152:0000000000000000"
    lines = [call("initialize"),
             call("generateCoredump", filename=victim.encode().hex(), flags=0),
             call("setNotifyNewEventCallback", callback="function", userData=None),
             call("writeGlobalMemory", addr=4096, buf=cut, sz=2097152),
             call("readGlobalMemory", {"buf": ""}, addr=4096, sz=0xffffffff),
             call("getNumDevices", {"numDev": "01000000"})]
    done = trace("--json", "replay", write(os.path.join(work, "n.jsonl"), lines), DUMP)
    data = answer(done)
    whys = [one["b"] for one in data["differences"] if one["kind"] == "not_replayed"]
    tap.ok(whys == ["it writes a file", "it names a callback", "the trace has cut an input", "its buffers are too big"] and
           data["counts"]["compared"] == 2 and not os.path.exists(victim), "what is not made again, and why", done.stdout)


def hostile(tap, work):
    good = call("readPC", {"pc": "00" * 8}, dev=0, sm=2, wp=1, ln=0)
    cases = [
        ("no object", "[1]"), ("not JSON", "readPC(0)"), ("nothing in it", "{}"), ("an escape", good.replace("readPC", "read\\u0050C")),
        ("no such function", good.replace("readPC", "readPD")), ("no such result", good.replace("SUCCESS", "FAILURE")),
        ("a coordinate too big", call("readPC", {"pc": "00" * 8}, dev=2 ** 32, sm=0, wp=0, ln=0)),
        ("a number as a number", good.replace('"0x2"', "2")), ("an argument missing", call("readPC", {"pc": "00"}, dev=0, sm=0, wp=0)),
        ("an argument twice", good.replace('"wp"', '"sm"')), ("an argument unknown", call("finalize", dev=0)),
        ("an output too long", call("readPC", {"pc": "00" * 9}, dev=0, sm=2, wp=1, ln=0)),
        ("a huge count", call("getGridAttributes", dev=0, sm=0, wp=0, pairs="00" * 16, numPairs=2 ** 32 - 1)),
        ("a huge cut", call("readPC", {"pc": "00...99999999999999999999:0000000000000000"}, dev=0, sm=2, wp=1, ln=0)),
        ("a text with NUL", call("lookupDeviceCodeSymbol", symName="6100", symFound=None, symAddr=None)),
        ("an output of a null pointer", call("readPC", {"pc": "00" * 8}, dev=0, sm=2, wp=1, ln=0, pc=None)),
        ("deep nesting", good.replace('"ns": 1', '"x": ' + "[" * 100000)), ("odd digits", good.replace('"' + "00" * 8, '"' + "0" * 15)),
        ("a table too big", good.replace('"table": 1', '"table": 4294967295')), ("a negative time", good.replace('"ns": 1', '"ns": -1')),
    ]
    cases += [("cut at %d" % n, good[:n]) for n in range(1, len(good))]
    path = write(os.path.join(work, "d.jsonl"), [call("initialize")] + [line for _name, line in cases] + [good + " "])
    done = trace("--limit", "0", "--json", "replay", path, DUMP)
    data = answer(done)
    damaged = {one["line_a"] for one in data["differences"] if one["kind"] == "damaged" and one["a"]}
    missed = [name for number, (name, _line) in enumerate(cases, 2) if number not in damaged]
    tap.ok(not missed, "damaged lines are told and passed over", missed)
    tap.ok(data["counts"]["compared"] == 2 and data["counts"]["damaged"] == len(cases), "and cost nothing else", data["counts"])
    for name, text in (("nothing", ""), ("only damage", "{\n{\n"), ("zeros", "\0" * 5000)):
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        done = trace("--json", "replay", path, DUMP)
        tap.ok(done.returncode == 1 and path in done.stderr and not done.stdout, "no trace: %s" % name, done.stderr)
    for args in ((), ("replay", path), ("replay", path, DUMP, DUMP), ("show", path, path), ("--limit", "x", "diff", path, path)):
        tap.ok(trace(*args).returncode == 2, "wrong usage: %s" % " ".join(args).replace(work, ""))


def privacy(tap, work):
    for there in (None, 0o644, 0o600):
        log = os.path.join(work, "private.log")
        if there is not None:
            os.chmod(log, there)
        before = os.umask(0)
        done = record(log, DUMP)
        os.umask(before)
        mode = os.stat(log).st_mode & 0o777
        tap.ok(done.returncode == 0 and os.path.getsize(log) and mode == 0o600,
               "the log is its owner's alone, %s" % ("made new" if there is None else "over one of mode %o" % there), oct(mode))


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        privacy(tap, work)
        log, count = recording(tap, work)
        replaying(tap, work, log, count)
        handles(tap, work, log)
        not_replayed(tap, work)
        hostile(tap, work)
    print("1..%d" % tap.count)
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
