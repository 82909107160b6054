#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cuda-gdb 12.4 as a client of our debugger API prints of a dump what it prints when it reads the dump itself (TAP).

usage: live.py LIBRARY [SCENARIO ...]

cuda-gdb runs a program that loads a library with a driver's variables and nothing else (live/), and makes a pipe to what it takes
for the driver. Here every request is answered by the function of our table that has its name: arguments and outputs are packed in
their order, so that src/cudbg/api says how. What only a process does (suspend, acknowledge) succeeds. Needs root and the peers
script (README.md).
"""

import ctypes
import difflib
import glob
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
sys.path[:0] = [HERE, os.path.join(ROOT, "tools"), os.path.join(HERE, "..", "builders")]

import api_model  # noqa: E402
import build  # noqa: E402
import peer  # noqa: E402

API = api_model.load(os.path.join(ROOT, "src/cudbg/api"))
FUNCTION = {fn.name: fn for fn in API.functions}
SCENARIOS = ["illegal-address", "many-faults", "assert", "trap", "memory"]
SUCCESS, NO_EVENT, NOT_SUPPORTED = 0, 22, 46

# Number of a request: place in this list. [public doc: libcudbgreq.h of cuda-gdb 12, BSD licence]
REQUESTS = """getAPI getAPIVersion initialize finalize suspendDevice resumeDevice readThreadIdx readBrokenWarps readValidWarps
    readValidLanes readActiveLanes readCodeMemory readConstMemory129 readParamMemory readSharedMemory readLocalMemory readRegister
    readPC readVirtualPC readLaneStatus writeParamMemory writeSharedMemory writeLocalMemory writeRegister getBlockDim getTID
    getDeviceType getSmType getNumDevices getNumSMs getNumWarps getNumLanes getNumRegisters disassemble lookupDeviceCodeSymbol
    getGridAttribute getGridAttributes readLaneException readPinnedMemory writePinnedMemory setBreakpoint unsetBreakpoint
    readTextureMemory readBlockIdx getGridDim readCallDepth readReturnAddress readVirtualReturnAddress getHostAddrFromDeviceAddr
    singleStepWarp41 setNotifyNewEventCallback readSyscallCallDepth readTextureMemoryBindless clearAttachState
    memcheckReadErrorAddress acknowledgeSyncEvents initializeAttachStub getGridInfo55 readGridId getGridStatus
    setKernelLaunchNotificationMode getDevicePCIBusInfo readDeviceExceptionState80 getAdjustedCodeAddress readErrorPC getNextEvent
    getElfImageByHandle resumeWarpsUntilPC60 readWarpState60 readRegisterRange60 readGenericMemory writeGenericMemory
    readGlobalMemory writeGlobalMemory getManagedMemoryRegionInfo isDeviceCodeAddress requestCleanupOnDetach readPredicates
    writePredicates getNumPredicates readCCRegister writeCCRegister getDeviceName singleStepWarp65 readDeviceExceptionState
    getNumUniformRegisters readUniformRegisterRange writeUniformRegister getNumUniformPredicates readUniformPredicates
    writeUniformPredicates getLoadedFunctionInfo118 getGridInfo120 getClusterDim120 readWarpState120 readClusterIdx getErrorStringEx
    getLoadedFunctionInfo generateCoredump getConstBankAddress123 getDeviceInfoSizes getDeviceInfo getConstBankAddress
    singleStepWarp""".split()
OF_A_PROCESS = {"suspendDevice", "resumeDevice", "acknowledgeSyncEvents", "clearAttachState", "setNotifyNewEventCallback",
                "setKernelLaunchNotificationMode", "finalize"}
# The client does without, and then asks for each fact alone, as older drivers have it.
ABSENT = {"getDeviceInfoSizes", "getDeviceInfo", "getErrorStringEx", "getManagedMemoryRegionInfo"}

COMMANDS = ["info cuda devices", "info cuda sms", "info cuda warps", "info cuda lanes", "info cuda kernels", "info cuda blocks",
            "info cuda threads", "bt", "info locals", "info args", "info registers R0 R1 R2 R3 R4 R5 R6 R7 pc errorpc", "print $UR4",
            "print threadIdx", "print blockIdx", "print gridDim", "x/4i $pc", "cuda lane 3", "info locals", "bt",
            "cuda block 0 thread 5", "bt", "info registers R0 R1 R2 R3"]


class Server(threading.Thread):
    """Answers one debugger out of the table over one dump. Loads the library in a process of its own: see main()."""

    def __init__(self, library, root):
        super().__init__(daemon=True)
        self.root, self.table = root, ctypes.c_void_p()
        self.library = ctypes.CDLL(library)
        if self.library.cudbgGetAPI(12, 4, 142, ctypes.byref(self.table)):
            raise RuntimeError("no table for 12.4")

    def call(self, name, packed):
        """Result and packed outputs."""
        fn, values, types, outs = FUNCTION[name], {}, [], []
        at = 0
        for arg in fn.args:
            if not arg.pointer():
                size = API.size_of(arg.ctype)
                values[arg.name] = int.from_bytes(packed[at:at + size], "little")
                at += size
        args = []
        for arg in fn.args:
            if not arg.pointer():
                types.append(ctypes.c_uint64 if API.size_of(arg.ctype) == 8 else ctypes.c_uint32)
                args.append(values[arg.name])
                continue
            unit = 1 if arg.unit == "bytes" or arg.base() == "void" else API.size_of(arg.base())
            buffer = ctypes.create_string_buffer(max(unit * (values[arg.count] if arg.count else 1), 1))
            outs.append(buffer)
            types.append(ctypes.c_void_p)
            args.append(ctypes.cast(buffer, ctypes.c_void_p))
        slots = (ctypes.c_void_p * len(API.functions)).from_address(self.table.value)
        result = ctypes.CFUNCTYPE(ctypes.c_uint32, *types)(slots[fn.slot])(*args)
        return result, b"".join(buffer.raw for buffer in outs)

    def answer(self, name, packed):
        if name == "initialize":
            return self.call(name, b"")[0], struct.pack("<III", 12, 4, 142)
        if name in OF_A_PROCESS:
            return SUCCESS, b""
        if name == "getNextEvent":  # what describes a dump is asked of the one queue and told in the other
            queue = struct.unpack("<I", packed[:4])[0]
            found = self.call(name, struct.pack("<I", queue))
            return self.call(name, struct.pack("<I", 1 - queue)) if found[0] == NO_EVENT else found
        if name not in FUNCTION or name in ABSENT:
            return SUCCESS if name == "getManagedMemoryRegionInfo" else NOT_SUPPORTED, bytes(64)
        return self.call(name, packed)

    def run(self):
        folder, end = None, time.time() + 60
        while not folder and time.time() < end:
            folder = next((name for name in glob.glob(self.root + "/tmp/cuda-dbg/*/*") if os.path.isdir(name)), None)
            time.sleep(0.02)
        if not folder:
            return
        if not os.path.exists(folder + "/pipe.1000.999"):
            os.mkfifo(folder + "/pipe.1000.999")
        with open(folder + "/pipe.1000.999", "rb") as requests, open(folder + "/pipe.999.1000", "wb", 0) as replies:
            while len(head := requests.read(8)) == 8:
                body = requests.read(struct.unpack("<Q", head)[0] - 8)
                number = struct.unpack("<II", body[:8])[1]
                result, out = self.answer(REQUESTS[number] if number < len(REQUESTS) else "", body[8:])
                replies.write(struct.pack("<QI", 12 + len(out), result) + out)


def transcript(work, root, start, name):
    """What cuda-gdb prints from the first of our commands on."""
    words = ["set pagination off", "set width 0", *start]
    for command in COMMANDS:
        words += ["echo >>> %s\\n" % command, command]
    words += ["echo >>> end\\n", "shell kill -9 $PPID"]  # it would wait for a driver to end
    inner = "cd /mnt && exec timeout -k 2 60 cuda-gdb -nx -batch %s %s </dev/null >%s.txt 2>&1" % (
        " ".join("-ex " + shlex.quote(word) for word in words), "./debuggee" if name == "live" else "", name)
    outer = 'mount --bind "$0" "$1/mnt" && mount -t proc proc "$1/proc"; exec chroot "$1" sh -c "$2"'
    subprocess.run(["unshare", "-m", "sh", "-c", outer, work, root, inner], check=False, timeout=80)
    with open(os.path.join(work, name + ".txt"), encoding="utf-8", errors="replace") as text:
        said = text.read()
    return said[said.find(">>>"):] if ">>> end" in said else "cuda-gdb did not come to the end:\n" + said[-1500:]


def compare(library, root, name):
    """Differing lines."""
    with tempfile.TemporaryDirectory() as work:
        for source, options, out in (("debuggee.c", [], "debuggee"), ("libcuda.c", ["-shared", "-fPIC"], "libcuda.so.1")):
            subprocess.run(["cc", "-g", *options, "-o", os.path.join(work, out), os.path.join(HERE, "live", source), "-ldl"], check=True)
        dump = os.path.join(work, "dump.nvcudmp")
        with open(dump, "wb") as handle:
            handle.write(build.build(name)[0])
        shutil.rmtree(root + "/tmp/cuda-dbg", ignore_errors=True)
        os.environ["WARPSCOPE_CORE"] = dump
        Server(library, root).start()
        live = transcript(work, root, ["set breakpoint pending on", "break cuInit", "run", "shell sleep 1", "next"], "live")
        core = transcript(work, root, ["target cudacore dump.nvcudmp"], "core")
    return [line for line in difflib.unified_diff(core.splitlines(), live.splitlines(), "dump", "live", lineterm="", n=0)
            if not re.match(r"[-+]0x|---|\+\+\+|@@", line)]


def main():
    peers, why = peer.find()
    if peers and os.geteuid():
        peers, why = None, "needs root: a debugger in a chroot"
    if not peers:
        print("1..0 # SKIP " + why)
        return 0
    library, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or SCENARIOS
    if len(names) > 1:  # a library serves one dump per process
        print("1..%d" % len(names), flush=True)
        failed = 0
        for number, name in enumerate(names, 1):
            done = subprocess.run([sys.executable, os.path.abspath(__file__), library, name], capture_output=True, text=True, check=False)
            print(done.stdout.partition("\n")[2].replace("ok 1", "ok %d" % number, 1) or "not ok %d - %s\n# %s" % (number, name, done.stderr[-400:]),
                  end="", flush=True)
            failed += done.returncode != 0
        return 1 if failed else 0
    root = subprocess.run([peers, "root"], capture_output=True, text=True, check=True).stdout.strip()
    print("1..1")
    bad = compare(library, root, names[0])
    print("%s 1 - %s" % ("not ok" if bad else "ok", names[0]))
    for line in bad[:40]:
        print("# " + line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
