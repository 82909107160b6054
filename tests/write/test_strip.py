#!/usr/bin/env python3
"""warpscope strip: test_strip.py WARPSCOPE [EVERY]. Prints TAP.

For every scenario of tests/builders, or each EVERYth: the stripped dump gives the same verdict and the Python reader finds it whole. Secrets
planted in every memory space, in registers, strings, paths and PTX are searched for in the bytes of the result. A write that
fails leaves the old file.
"""

import gzip
import json
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "builders"), os.path.join(HERE, "..", "cli")]

import bombs  # noqa: E402
import build  # noqa: E402
import coredump  # noqa: E402
import cubin as cb  # noqa: E402
import reader  # noqa: E402
import schemas  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402

WORD, FLOAT, TEXT = 0x5ec2e7aa, 0x42f6e979, b"TopSecretPrompt!"
SECRETS = (struct.pack("<I", WORD), struct.pack("<I", FLOAT), TEXT, TEXT[:8])


class Wrong(Exception):
    pass


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.out = os.path.join(folder, "out.nvcudmp")

    def put(self, data, name="in.nvcudmp"):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as handle:
            handle.write(data)
        return path

    def run(self, *arguments, status=0, **options):
        done = subprocess.run([self.path, *arguments], capture_output=True, text=True, timeout=120, check=False, **options)
        if done.returncode != status:
            raise Wrong(f"status {done.returncode}: {done.stderr.strip()[:300]}")
        return done

    def strip(self, data, *options):
        self.run("strip", "-o", self.out, *options, self.put(data))
        with open(self.out, "rb") as handle:
            return handle.read()

    def verdict(self, path):
        """Kind and sentence, and whether the dump tells of a loss."""
        report = json.loads(self.run("report", "--json", "--no-source", path).stdout)
        # what tells the suspects apart went with the memory, the words of an assertion with the data of the image
        summary = re.sub(r"^(Assertion failed): .*?; in ", r"\1 in ", report["verdict"]["summary"])
        summary = re.sub(r"(; device \d+, (?:block \S+|SM \d+, warp \d+)), .*", r"\1", summary)
        summary = re.sub(r" \(the wait ends when [^)]*\)", "", summary)  # what the word holds is a value
        suspects = (report["focus"] or {}).get("suspects")
        lost = any(d["what"] not in ("memory", "SM, warp or lane") for d in report["diagnostics"])
        return {"lost": lost, "kind": report["verdict"]["kind"], "summary": summary,
                "lanes": int(suspects["lanes"], 16) if suspects else 0}


def lines_of(report):
    """Functions, files and lines of all frames: folders may go."""
    return [[(f["function"], f["inlined"], os.path.basename(f["file"] or "").rsplit("\\")[-1], f["line"]) for f in e["frames"]]
            for e in report["exceptions"]]


def check_answers(program, data, result):
    """No new diagnostic or finding, the same lines and chains, and nothing left to take away."""
    reports, findings = [], []
    for content in (data, result):
        path = program.put(content)
        reports.append(json.loads(program.run("report", "--json", "--no-source", path).stdout))
        done = subprocess.run([program.path, "check", "--json", path], capture_output=True, text=True, timeout=120, check=False)
        findings.append({f["rule"] for f in json.loads(done.stdout)["findings"]})
    if lines_of(reports[0]) != lines_of(reports[1]):
        raise Wrong(f"frames {lines_of(reports[1])}, were {lines_of(reports[0])}")
    messages = [{d["message"] for d in report["diagnostics"]} for report in reports]
    if len(messages[1]) > len(messages[0]):
        raise Wrong(f"new diagnostics {messages[1] - messages[0]}")
    # of what was lost before, one finding of the whole file is left
    if findings[1] - findings[0] - ({"file"} if findings[0] else set()):
        raise Wrong(f"new findings {findings}")
    again = program.strip(result, "--for-issue")
    if again != result:
        raise Wrong(f"a second time changes {sum(a != b for a, b in zip(again, result))} bytes of {len(result)}, {len(again)}")


def check_verdict(program, name):
    data, truth = build.build(name)
    result = program.strip(data, "--for-issue")
    want, got = program.verdict(program.put(data)), program.verdict(program.out)
    if not truth["damaged"]:
        check_answers(program, data, result)
    if want["lanes"] & ~got["lanes"]:
        raise Wrong("lanes %#x can be guilty, before %#x" % (got["lanes"], want["lanes"]))
    want.pop("lanes"), got.pop("lanes")
    if truth["damaged"]:  # what a cut dump lacks is not known any more, only that it does
        want.pop("summary"), got.pop("summary")
    if got != want:
        raise Wrong(f"verdict {got}, was {want}")
    lost = reader.read(result)["lost"]
    if lost:
        raise Wrong(f"the Python reader lost {lost[:3]}")


def planted():
    """A dump with secrets wherever values are, and what it holds of images."""
    built = SCENARIOS["memory"][0]()
    model = built.model
    words = struct.pack("<IIII", WORD, FLOAT, WORD, FLOAT) + TEXT
    for block in model.memory:
        block.data = words + bytes(block.data)[len(words):] if len(block.data) > len(words) else block.data
    for device in model.devices:
        for grid in device.grids:
            grid.params = words + bytes(grid.params or b"")[len(words):]
        for sm in device.sms:
            sm.row["exceptionString"] = TEXT.decode()
            for cta in sm.ctas or []:
                cta.shared = words + bytes(cta.shared or b"")[len(words):]
                for warp in cta.warps or []:
                    warp.row["additionalBarrierInfo"] = TEXT.decode()
                    warp.uregs = [WORD, FLOAT] * 16
                    for lane in warp.lanes or []:
                        lane.regs = [WORD, FLOAT] * 16
                        lane.regs[1] = 0xfffdc0
                        lane.local = (0xfffdc0, words)
    built.options.flags = 0
    return coredump.write(model, built.options)


def check_secrets(program, options, memory_stays):
    data = planted()
    for secret in SECRETS:
        if data.count(secret) < 4:
            raise Wrong("the secrets were not planted")
    result = program.strip(data, *options)
    found = [secret for secret in SECRETS if secret in result]
    if found:
        at = result.index(found[0])
        raise Wrong(f"{found} at {at:#x}: {[s.name for s in reader.Reader(result).sections[1:] if s.offset <= at < s.offset + s.size]}")
    spaces = {s.type - reader.BASE for s in reader.Reader(result).sections[1:] if s.size} & {1, 2, 3, 4, 18}
    if spaces != {1, 2, 3, 4, 18} if memory_stays else spaces - {2, 3}:  # constant banks and stacks, for their pointers
        raise Wrong(f"memory kinds {spaces}")


def check_classes(program):
    """Each limit of a class, from both sides: what a word becomes, and again what that becomes."""
    other, one, half = 0xbaadf00d, 1, 0x3f800000
    becomes = {0: 0, 1: one, 0xffff: one, 0x10000: other, 0xffff0000: one, 0xfffeffff: other, 0xffffffff: one,
               86 << 23: other, 87 << 23: half, 167 << 23: half, 168 << 23: other, 0x80000000 | 87 << 23: half,
               0x80000000 | 86 << 23: other, half: half, other: other}
    built = SCENARIOS["memory"][0]()
    built.options.flags = 0
    words = [0, 0x123456, *becomes]
    for device in built.model.devices:
        for sm in device.sms:
            for cta in sm.ctas or []:
                for warp in cta.warps or []:
                    for lane in warp.lanes or []:
                        lane.regs = words
    data = coredump.write(built.model, built.options)
    for again in range(2):
        data = program.strip(data, "--redact")
        dump = reader.Reader(data)
        for section in dump.sections[1:]:
            if section.type - reader.BASE == 5 and section.size:
                got = struct.unpack(f"<{len(words)}I", dump.content(section))
                if list(got) != [0, 0x123456, *becomes.values()]:
                    raise Wrong(f"time {again + 1}: {[hex(w) for w in got]}")


def check_images(program):
    """No PTX and no folder of ours is left; the names of files are."""
    data, _ = build.build("misaligned-G")
    plain = program.strip(data)
    result = program.strip(data, "--drop-ptx", "--drop-paths")
    for secret in (b".visible .entry", b".target sm_"):
        if secret not in plain or secret in result:
            raise Wrong(f"{secret}: {secret in plain}, then {secret in result}")
    folders = {frame["file"].rsplit("/", 1)[0] for frame in frames(program, data)}
    for folder in folders:
        if folder.encode() not in plain or folder.encode() in result:
            raise Wrong(f"{folder} is still there")
    names = [frame["file"].rsplit("/", 1)[1] for frame in frames(program, data)]
    if [frame["file"].rsplit("/", 1)[1] for frame in frames(program, result)] != names:
        raise Wrong("names of files changed")


def frames(program, data):
    report = json.loads(program.run("report", "--json", "--no-source", program.put(data)).stdout)
    return report["exceptions"][0]["frames"]


def check_keep(program):
    """--keep keeps exactly that range of global memory."""
    data, _ = build.build("memory")
    block = next(s for s in reader.Reader(data).sections if s.type == reader.BASE + 2 and s.size > 64)
    result = reader.Reader(program.strip(data, "--lightweight", "--keep", f"global:{block.addr + 8:#x}+16"))
    kept = [(s.addr, s.size) for s in result.sections if s.type - reader.BASE in (1, 2)]
    if kept != [(block.addr + 8, 16)]:
        raise Wrong(f"kept {kept}")


def check_keep_fault(program):
    """--keep fault keeps what the addresses of the faulting instruction lie in, and no more."""
    data, _ = build.build("misaligned-G")
    report = json.loads(program.run("report", "--json", "--no-source", program.put(data)).stdout)
    touched = [int(at, 16) for at in report["exceptions"][0]["accesses"][0]["address"].values()]
    result = reader.Reader(program.strip(data, "--lightweight", "--keep", "fault"))
    kept = [(s.addr, s.addr + s.size) for s in result.sections if s.type - reader.BASE in (1, 2)]
    if not kept or not touched or any(not any(start <= at < end for start, end in kept) for at in touched):
        raise Wrong(f"kept {kept}, touched {touched}")
    if any(end < min(touched) - 255 or start > max(touched) + 512 for start, end in kept):
        raise Wrong(f"kept {kept}, touched {touched}")
    if any(s.size for s in result.sections if s.type - reader.BASE in (3, 4, 18)):
        raise Wrong("other memory was kept")


def check_launch(program):
    """An SM whose warps are gone keeps the launch of the code at its error PC when others go."""
    sms = [coredump.Sm({"smId": 0, "exception": 14, "errorPC": bombs.CODE_AT + 0x40, "errorPCValid": 1}, ctas=[])]
    others = [coredump.Grid({"gridId64": 6, "contextId": 9, "moduleHandle": 77, "functionEntry": bombs.CODE_AT + 0x100000})]
    data = bombs.dump_of(bombs.line_image(bombs.line_table(b"")), sms=sms, grids=others)
    for options, wanted in (([], ["5", "6"]), (["--for-issue"], ["5"])):
        stripped = program.put(program.strip(data, *options))
        kernels = json.loads(program.run("report", "--json", "--no-source", stripped).stdout)["kernels"]
        if [kernel["grid"] for kernel in kernels] != wanted:
            raise Wrong(f"{options}: {kernels}")


def check_refused(program, options, words, status, out=None):
    data, _ = build.build("bad-pc")
    path = program.put(data)
    done = program.run("strip", "-o", out or program.out, *options, path, status=status)
    if words not in done.stderr:
        raise Wrong(f"said {done.stderr.strip()!r}")
    with open(path, "rb") as handle:
        if handle.read() != data:
            raise Wrong("the input changed")


def old_file_stays(program, what):
    """Runs `what`, which must fail, over an old file."""
    program.put(b"the old file", "out.nvcudmp")
    what()
    with open(program.out, "rb") as handle:
        if handle.read() != b"the old file":
            raise Wrong("the old file is gone")


def overlapping(kind, flags, name, info, fill, more_names=0):
    """An image with 40,000 sections of that kind, all of the same 4 MB."""
    with open(os.path.join(HERE, "..", "data", "cubins", "deep.li.sm_90.cubin"), "rb") as handle:
        data = handle.read()
    cubin = cb.Cubin(data)
    names = bytearray(cubin.bytes_of(cubin.sections[cubin.shstrndx]))
    at, size = len(names), 4 << 20
    names += name + b"a" * more_names + b"\0"
    headers = bytearray(data[cubin.shoff:cubin.shoff + 64 * cubin.shnum])
    for number in range(40000):
        headers += struct.pack("<IIQQQQIIQQ", at + number % (more_names + 1), kind, flags, 0, len(data), size, 3, info, 1, 0)
    image = bytearray(data) + (fill * (size // len(fill) + 1))[:size]
    struct.pack_into("<QQ", headers, 64 * cubin.shstrndx + 24, len(image), len(names))
    image += names + bytes(-(len(image) + len(names)) % 8)
    struct.pack_into("<Q", image, 40, len(image))
    struct.pack_into("<H", image, 60, 0)
    struct.pack_into("<Q", headers, 32, len(headers) // 64)
    return bytes(image + headers)


def check_cost(program):
    """Sections that share their bytes cost what the file costs."""
    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
    function = b"_Z11apply_twicePii"
    for arguments in ((1, 6, b".text.x", 1, b"code"), (1, 2, b".nv.constant3", 1, b"data"), (1, 2, b".nv.constant0.x", 1, b"x", 1 << 20),
                      (0x70000000, 0x40, b".nv.info." + function, 21, b"\4\x1e\4\0\1\0\0\0"), (7, 0, b".note.nv.tkinfo", 0, b"note"),
                      (4, 0x40, b".rela.debug_line", 5, bytes(24)), (4, 0x40, b".rela.text." + function, 21, bytes(24)),
                      (2, 0, b".symtab", 1, bytes(24)), (1, 0, b".nv_debug_line_sass", 0, bytes(8))):
        built = SCENARIOS["bad-pc"][0]()
        built.options.flags = 0
        built.model.devices[0].contexts[0].modules[0].relocated = overlapping(*arguments)
        path = program.put(coredump.write(built.model, built.options))
        program.run("strip", "-o", program.out, "--redact", "--drop-paths", path, preexec_fn=limited)


def check_full(program):
    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
    path = program.put(build.build("illegal-address")[0])
    before = set(os.listdir(program.folder)) | {"out.nvcudmp"}
    old_file_stays(program, lambda: program.run("strip", "-o", program.out, path, status=1, preexec_fn=limited))
    if set(os.listdir(program.folder)) != before:
        raise Wrong("something was left behind")


def being_written(program, process):
    """Whether the process has its output open: without a name, where the system can do that, or with a temporary one."""
    for number in os.listdir(f"/proc/{process.pid}/fd"):
        try:
            where = os.readlink(f"/proc/{process.pid}/fd/{number}")
        except OSError:
            continue
        if where.startswith(os.path.realpath(program.folder)) and not where.endswith("in.nvcudmp"):
            return where
    return None


def check_signal(program):
    path = program.put(build.build("many-modules")[0])
    before = set(os.listdir(program.folder)) | {"out.nvcudmp"}

    def killed():
        running = subprocess.Popen([program.path, "strip", "--gzip", "-o", program.out, path])
        seen = None
        while not seen and running.poll() is None:
            seen = being_written(program, running)
        running.kill()
        if running.wait() != -signal.SIGKILL:
            raise Wrong("it ended before it could be killed")
        left = set(os.listdir(program.folder)) - before
        if left and seen.endswith("(deleted)"):
            raise Wrong(f"left behind: {left}")
        for name in left:
            os.unlink(os.path.join(program.folder, name))
    old_file_stays(program, killed)


def check_packed(program):
    """A packed dump that takes many buffers unpacks to what is written without --gzip, but for the flag that says so."""
    data, _ = build.build("many-modules")
    plain = program.strip(data)
    for _ in range(3):
        packed = gzip.decompress(program.strip(data, "--gzip"))
        meta = next(s for s in reader.Reader(packed).sections if s.type - reader.BASE == 22)
        flags = meta.offset + 24
        if packed[:flags] + plain[flags:flags + 1] + packed[flags + 1:] != plain:
            raise Wrong("not the same dump")


def check_json(program):
    data, _ = build.build("illegal-address")
    done = program.run("strip", "--for-issue", "--json", "-o", program.out, program.put(data))
    account = json.loads(done.stdout)
    if account["schema"] != "warpscope-strip-1" or account["bytes_after"] != os.path.getsize(program.out):
        raise Wrong(str(account))
    if why := schemas.misfit(account):
        raise Wrong(why)
    if account["kept"]["warps"] != {"before": 8, "after": 1} or not account["ptx_bytes_blanked"]:
        raise Wrong(str(account))


def cases(program, every):
    for name in list(build.SCENARIOS)[::every]:
        yield f"{name}: the same verdict", lambda name=name: check_verdict(program, name)
    yield "values are gone from every kept space", lambda: check_secrets(program, ["--redact"], True)
    yield "nothing planted leaves with --for-issue", lambda: check_secrets(program, ["--for-issue"], False)
    yield "each value becomes that of its class", lambda: check_classes(program)
    yield "sections that share their bytes cost little", lambda: check_cost(program)
    yield "PTX and folders are gone from images", lambda: check_images(program)
    yield "a range is kept", lambda: check_keep(program)
    yield "the launch of a fault without warps is kept", lambda: check_launch(program)
    yield "what the faulting instruction touched is kept", lambda: check_keep_fault(program)
    yield "packed, the same dump", lambda: check_packed(program)
    yield "what was taken away, in JSON", lambda: check_json(program)
    yield "the input is not written over", lambda: check_refused(
        program, [], "is the input", 1, os.path.join(program.folder, "in.nvcudmp"))
    os.symlink("in.nvcudmp", os.path.join(program.folder, "link"))
    yield "nor by another name", lambda: check_refused(program, [], "is the input", 1, os.path.join(program.folder, "link"))
    yield "a device is not written over", lambda: check_refused(program, [], "not a regular file", 1, "/dev/null")
    yield "a missing folder", lambda: check_refused(program, [], "No such file", 1,
                                                    os.path.join(program.folder, "none", "out"))
    yield "a wrong range", lambda: check_refused(program, ["--keep", "global:5"], "--keep takes", 2)
    yield "a wrong kind of memory", lambda: check_refused(program, ["--skip", "texture"], "--skip knows", 2)
    yield "a full disk leaves the old file", lambda: check_full(program)
    yield "a signal leaves the old file", lambda: check_signal(program)


def main(arguments):
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ws-strip-") as folder:
        everything = list(cases(Program(arguments[0], folder), int(arguments[1]) if len(arguments) > 1 else 1))
        print(f"1..{len(everything)}")
        for number, (name, test) in enumerate(everything, 1):
            try:
                test()
                print(f"ok {number} - {name}", flush=True)
            except (Wrong, KeyError, IndexError, OSError, subprocess.TimeoutExpired) as why:
                failed += 1
                print(f"not ok {number} - {name}\n# {type(why).__name__}: {str(why)[:900]}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
