#!/usr/bin/env python3
"""Holds the C reader against the tests' own Python reader, field by field: compare.py CORE-PRINT [EVERY]. Prints TAP.

core-print writes what core.h hands out; this script writes the same lines from reader.py's tree, with the order of the
lists worked out from the words of state.h alone. Every scenario of tests/builders is compared, truncated ones
included, or every EVERY-th.
"""

import os
import re
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "builders"))

import reader  # noqa: E402



def signed(value):
    return value - (1 << 64) if value >> 63 else value


def text(value):
    return (value or "").encode("utf-8", "surrogateescape").hex()


def words(values):
    return "".join(f"{value:x}," for value in values or [])


class Lines:
    """The expected output, in the order of core-print."""

    def __init__(self, tree):
        self.tree, self.out = tree, []
        self.counts = {}

    def add(self, kind, *pairs, index=None):
        number = self.counts.get(kind, 0) if index is None else index
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.out.append(f"{kind} {number} " + " ".join(f"{name}={value}" for name, value in pairs))

    @staticmethod
    def pick(row, *names):
        """(our name, its name) pairs of the fields that are there."""
        return [(ours, row[theirs]) for ours, theirs in names if theirs in row]

    @staticmethod
    def dim(row, ours, theirs):
        if f"{theirs}Z" not in row:
            return []
        return [(ours, ",".join(str(row[f"{theirs}{axis}"]) for axis in "XYZ"))]

    def image(self, name, image, missing):
        if image is None:
            return [(name, missing)]
        status = "WS_OK" if image["present"] == image["size"] else "WS_TRUNCATED"
        return [(name, f"{status},{image['present']},{image['crc32']:08x}")]

    def all(self):
        devices = self.tree["devices"] or []
        for device in devices:
            self.device(device)
        self.number(devices)
        for d, device in enumerate(devices):
            for context in device.get("contexts", []):
                self.add("context", ("device_index", d), *self.pick(
                    context, ("id", "contextId"), ("shared_window_base", "sharedWindowBase"),
                    ("local_window_base", "localWindowBase"), ("global_window_base", "globalWindowBase"),
                    ("host_tid", "tid")))
        self.images(devices)
        self.grids(devices)
        for sm in self.sms:
            self.sm(sm)
        for block in self.blocks:
            self.block(block)
        for index, warp in enumerate(self.warps):
            self.warp(index, warp)
        self.memory(devices)
        return self.out

    def device(self, row):
        pairs = [("name", text(row["devName"])), ("type", text(row["devType"])), ("sm_type", text(row["smType"]))]
        names = ("id", "devId"), ("pci_bus", "pciBusId"), ("pci_device", "pciDevId"), ("n_sms", "numSMs"), \
            ("n_warps_per_sm", "numWarpsPerSM"), ("n_lanes_per_warp", "numLanesPerWarp"), \
            ("n_regs_per_lane", "numRegsPerLane"), ("n_preds_per_lane", "numPredicatesPrLane"), ("sm_major", "smMajor"), \
            ("sm_minor", "smMinor"), ("instruction_bytes", "instructionSize"), ("status", "status"), \
            ("n_uniform_regs", "numUniformRegsPrWarp"), ("n_uniform_preds", "numUniformPredicatesPrWarp"), \
            ("n_convergence_barriers", "numConvergenceBarriersPrWarp")
        self.add("device", *pairs, *self.pick(row, *names))

    def number(self, devices):
        """Gives every row its list index, in the order of state.h."""
        self.contexts, self.modules, self.grid_rows, self.sms, self.blocks, self.warps = [], [], [], [], [], []
        for d, device in enumerate(devices):
            for row in device.get("contexts", []):
                row["_device"], row["_index"] = d, len(self.contexts)
                self.contexts.append(row)
            for row in device.get("grids", []):
                row["_device"], row["_index"] = d, len(self.grid_rows)
                self.grid_rows.append(row)
            for row in sorted(device.get("sms", []), key=lambda sm: sm["smId"]):
                row["_device"], row["_index"] = d, len(self.sms)
                self.sms.append(row)
        for context in self.contexts:
            for row in context.get("modules", []):
                row["_context"], row["_index"] = context["_index"], len(self.modules)
                self.modules.append(row)
        for sm in self.sms:
            warps = []
            for block in sm.get("ctas", []):
                block["_sm"], block["_device"], block["_index"] = sm["_index"], sm["_device"], len(self.blocks)
                self.blocks.append(block)
                for warp in block.get("warps", []):
                    warp["_block"] = block
                    warps.append(warp)
            sm["_first"], sm["_n"] = len(self.warps), len(warps)
            self.warps += sorted(warps, key=lambda warp: warp["warpId"])

    def context_of(self, device, context_id):
        return next((c for c in self.contexts if c["_device"] == device and c["contextId"] == context_id), None)

    def images(self, devices):
        del devices
        flags = (self.tree["meta"] or {}).get("flags")
        some = any(m.get("image") for m in self.modules)
        missing = "WS_ABSENT" if (some if flags is None else not flags & 1) else "WS_EXCLUDED"
        for row in self.modules:
            context = self.contexts[row["_context"]]
            self.add("image", ("device_index", context["_device"]), ("context_index", row["_context"]),
                     ("handle", row["moduleHandle"]), *self.image("relocated", row.get("relocated"), "WS_ABSENT"),
                     *self.image("original", row.get("image"), missing))

    def grids(self, devices):
        del devices
        for row in self.grid_rows:
            context = self.context_of(row["_device"], row["contextId"])
            module = next((m for m in (context or {}).get("modules", [])
                           if m["moduleHandle"] == row["moduleHandle"]), None)
            self.add("grid", ("device_index", row["_device"]), ("context_index", context["_index"] if context else "-"),
                     ("module_index", module["_index"] if module else "-"), ("id", signed(row["gridId64"])),
                     ("context_id", row["contextId"]), ("module_handle", row["moduleHandle"]),
                     ("function", row["function"]), ("function_entry", row["functionEntry"]),
                     ("parent_id", signed(row["parentGridId64"])), ("params_offset", row["paramsOffset"]),
                     ("type", row["kernelType"]), ("origin", row["origin"]), ("status", row["gridStatus"]),
                     ("n_regs", row["numRegs"]), *self.dim(row, "grid_dim", "gridDim"),
                     *self.dim(row, "block_dim", "blockDim"), ("launch_blocking", int(row["attrLaunchBlocking"] != 0)),
                     ("host_tid", row["attrHostTid"]), *self.dim(row, "cluster_dim", "clusterDim"),
                     *self.dim(row, "preferred_cluster_dim", "preferredClusterDim"))

    def sm(self, row):
        pairs = [("device_index", row["_device"]), ("id", row["smId"]), ("first_warp_index", row["_first"]),
                 ("n_warps", row["_n"])]
        if "errorPC" in row:
            pairs += [("exception", row["exception"]), ("error_pc_valid", int(row["errorPCValid"] != 0)),
                      ("error_pc", row["errorPC"])]
        if "clusterExceptionTargetBlockIdxZ" in row:
            pairs += [("cluster_target_valid", int(row["clusterExceptionTargetBlockIdxValid"] != 0)),
                      *self.dim(row, "cluster_target", "clusterExceptionTargetBlockIdx")]
        if "exceptionString" in row:
            pairs.append(("exception_text", text(row["exceptionString"])))
        self.add("sm", *pairs)

    def grid_of(self, block):
        return next((g for g in self.grid_rows
                     if g["_device"] == block["_device"] and g["gridId64"] == block["gridId64"]), None)

    def block(self, row):
        grid = self.grid_of(row)
        self.add("block", ("device_index", row["_device"]), ("sm_index", row["_sm"]),
                 ("grid_index", grid["_index"] if grid else "-"), ("grid_id", signed(row["gridId64"])),
                 *self.dim(row, "idx", "blockIdx"), *self.dim(row, "cluster_idx", "clusterIdx"),
                 *self.dim(row, "cluster_dim", "clusterDim"))

    def warp(self, index, row):
        block = row["_block"]
        lanes = sorted((lane for lane in row.get("lanes", []) if lane["ln"] < 32), key=lambda lane: lane["ln"])
        row["_lanes"] = lanes
        pairs = [("device_index", block["_device"]), ("sm_index", block["_sm"]), ("block_index", block["_index"]),
                 *self.pick(row, ("id", "warpId"), ("valid_lanes", "validLanesMask"),
                            ("active_lanes", "activeLanesMask")),
                 ("broken", int(row["isWarpBroken"] != 0)), ("error_pc_valid", int(row["errorPCValid"] != 0)),
                 ("error_pc", row["errorPC"]),
                 *self.pick(row, ("n_regs", "numRegs"), ("shared_bytes", "sharedMemSize"),
                            ("in_syscall_lanes", "inSyscallLanesMask"), ("cbu_active_lanes", "cbuActiveLanesMask"),
                            ("cbu_exited_lanes", "cbuExitedLanesMask"),
                            ("cbu_collective_lanes", "cbuCollectiveLanesMask"), ("barrier_scope", "barrierScope"))]
        if "additionalBarrierInfo" in row:
            pairs.append(("barrier_text", text(row["additionalBarrierInfo"])))
        self.add("warp", *pairs, ("uregs", words(row.get("uregs"))), ("upreds", words(row.get("upreds"))),
                 ("barriers", words(row.get("barriers"))), ("n_lanes", len(lanes)), index=index)
        for number, lane in enumerate(lanes):
            self.lane(f"{index}/{number}", lane)

    def lane(self, index, row):
        frames = sorted(row.get("frames", []), key=lambda frame: frame["level"])
        pairs = self.pick(row, ("id", "ln"), ("pc", "virtualPC"), ("rel_pc", "physPC"))
        pairs += self.dim(row, "thread", "threadIdx")
        pairs += self.pick(row, ("exception", "exception"), ("call_depth", "callDepth"),
                           ("syscall_call_depth", "syscallCallDepth"), ("cc_register", "ccRegister"),
                           ("cbu_state", "cbuThreadState"), ("rpc_lo", "rpcLo"), ("rpc_hi", "rpcHi"))
        stack = "".join(f"{f['level']}:{f['virtualReturnAddress']}:{f['returnAddress']}," for f in frames)
        self.add("lane", *pairs, ("frames", stack), ("regs", words(row.get("regs"))),
                 ("preds", words(row.get("preds"))), index=index)

    def range(self, space, content, start=None, grid="-", block="-", warp="-", lane="-", bank=0):
        self.add(space, ("managed", int(content.get("managed", False))), ("grid_index", grid), ("block_index", block),
                 ("warp_index", warp), ("lane", lane), ("bank", bank),
                 ("start", content["address"] if start is None else start), ("size", content["size"]),
                 ("bytes_present", content["present"]), ("read", "WS_OK"), ("crc", f"{content['crc32']:08x}"),
                 index=self.counts["range"])
        self.counts["range"] += 1

    def overlaid(self, block):
        """A block as an address answers: of those that overlap, the one that begins last."""
        content = bytearray(block["bytes"])
        for other in sorted(self.tree["memory"], key=lambda memory: memory["address"]):
            at = other["address"] - block["address"]
            if 0 < at < len(content):
                part = other["bytes"][:len(content) - at]
                content[at:at + len(part)] = part
        return {**block, "crc32": zlib.crc32(content)}

    def memory(self, devices):
        del devices
        self.counts["range"] = 0
        for block in sorted(self.tree["memory"], key=lambda memory: memory["address"]):
            if block["size"]:
                self.range("global", self.overlaid(block))
        for block in self.blocks:
            if "shared" in block and block.get("warps"):
                self.range("shared", block["shared"], 0, block=block["_index"])
        for index, warp in enumerate(self.warps):
            for lane in warp["_lanes"]:
                if "local" in lane:
                    self.range("local", lane["local"], block=warp["_block"]["_index"], warp=index, lane=lane["ln"])
        for grid in self.grid_rows:
            if "params" in grid:
                self.range("param", grid["params"], grid["paramsOffset"], grid=grid["_index"])
        for grid in self.grid_rows:
            for bank in grid.get("banks", []):
                self.range("const", {**bank, "address": bank["addr"], **self.held(bank["addr"], bank["size"])},
                           grid=grid["_index"], bank=bank["bankId"])

    def held(self, address, size):
        """What the memory blocks hold of these addresses, up to the first gap."""
        content = b""
        while len(content) < size:
            at = address + len(content)
            block = max((b for b in self.tree["memory"] if b["address"] <= at < b["address"] + len(b["bytes"])),
                        key=lambda b: b["address"], default=None)
            if block is None:
                break
            content += block["bytes"][at - block["address"]:][:1]
        return {"present": len(content), "crc32": zlib.crc32(content)}


def expected(data):
    """The lines, and whether names are known: without section names the C reader guesses which table holds them."""
    dump = reader.Reader(data)
    tree = dump.tables()
    blocks = [s for s in dump.sections[1:] if s.type - reader.BASE in (1, 2)]
    for block, section in zip(tree["memory"], blocks):
        block["bytes"] = bytes(dump.content(section))
    return Lines(tree).all(), dump.strtab is not None


def without_names(line):
    return re.sub(r"^(device \d+) name=\S* type=\S* sm_type=\S*", r"\1", line)


def actual(program, path):
    out = subprocess.run([program, path], stdout=subprocess.PIPE, check=False)
    if out.returncode not in (0, 1):
        return [f"exit status {out.returncode}"]
    lines = [line for line in out.stdout.decode().splitlines() if line.split()[0] not in ("facts", "diagnostic")]
    return [line.replace("  ", " ") for line in lines]


def main(arguments):
    program, folder = arguments[0], tempfile.mkdtemp(prefix="ws-compare-")
    build = [sys.executable, os.path.join(HERE, "..", "builders", "build.py")]
    known = subprocess.run([*build, "--list"], check=True, capture_output=True, text=True).stdout.split()
    subprocess.run([*build, folder, *known[::int(arguments[1]) if arguments[1:] else 1]], check=True, stdout=subprocess.DEVNULL)
    names = sorted(os.path.join(folder, name) for name in os.listdir(folder) if ".nvcudmp" in name)
    print(f"1..{len(names)}")
    failed = 0
    for number, path in enumerate(names, 1):
        with open(path, "rb") as handle:
            want, names_known = expected(handle.read())
        got = actual(program, path)
        if not names_known:
            want, got = [without_names(line) for line in want], [without_names(line) for line in got]
        wrong = [(w, g) for w, g in zip(want, got) if w != g][:3]
        good = not wrong and len(want) == len(got)
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {os.path.basename(path)}: {len(want)} lines")
        if not good:
            print(f"# {len(want)} lines wanted, {len(got)} got")
        for w, g in wrong:
            print(f"# want {w[:700]}\n# got  {g[:700]}")
    subprocess.run(["rm", "-rf", folder], check=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
