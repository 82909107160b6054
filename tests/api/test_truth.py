#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each inspection function of the debugger API answers on built dumps, against what was planted. Prints TAP.

usage: test_truth.py LIBRARY SOURCE_ROOT

The functions are called through ctypes, with the parameters and layouts of src/cudbg/api. What they should answer comes from
tests/builders: reader.py reads the dump's tables with code of its own, NAME.truth.json says what the builder planted in the
threads that fault. The last case holds the list of functions that were compared against the list of all that inspect.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import zlib

LIBRARY, ROOT = (os.path.abspath(path) for path in sys.argv[1:3])
BUILDERS = os.path.join(ROOT, "tests/builders")
sys.path[:0] = [os.path.join(ROOT, "tools"), BUILDERS]

import api_model  # noqa: E402
import reader  # noqa: E402

API = api_model.load(os.path.join(ROOT, "src/cudbg/api"))
FUNCTION = {fn.name: fn for fn in API.functions}
SCENARIOS = ["illegal-address", "many-faults", "cluster-out-of-range", "cluster-block-gone", "two-kernels", "two-devices",
             "two-contexts", "recursion", "gaps", "three-dimensions", "layout-r575", "layout-r615", "trap", "memory", "convergence"]
# Inspection that is proved elsewhere, or that no dump can answer.
ELSEWHERE = {
    "getPhysicalRegister30": "conformance: each entry of a real map", "getPhysicalRegister40": "conformance: each entry of a real map",
    "disassemble": "conformance: code of a real image", "getAdjustedCodeAddress": "conformance",
    "generateCoredump": "conformance: dumps of the target", "readGlobalMemory31": "conformance: windows", "readGlobalMemory55": "conformance: windows",
    "getHostAddrFromDeviceAddr": "conformance: managed memory", "readLaneStatus": "conformance: lane fields",
    "getLoadedFunctionInfo118": "conformance: code of a real image",
    "isDeviceCodeAddress55": "conformance: code of a real image",
}


class Wrong(Exception):
    pass


def same(what, is_, should):
    if is_ != should:
        raise Wrong("%s is %r, planted %r" % (what, is_, should))


def decode(ctype, raw):
    """A value, or the members of a structure, from bytes."""
    struct = API.struct(ctype)
    if not struct:
        return int.from_bytes(raw, "little")

    def members(fields):
        out = {}
        for field in fields:
            part = raw[field.offset:field.offset + field.size]
            if field.array and API.struct(field.ctype):
                one = API.size_of(field.ctype)
                out[field.name] = [decode(field.ctype, part[i:i + one]) for i in range(0, len(part), one)]
            elif field.array:
                one = API.size_of(field.ctype)
                out[field.name] = [int.from_bytes(part[i:i + one], "little") for i in range(0, len(part), one)]
            else:
                out[field.name] = decode(field.ctype, part)
        return out
    return members(struct.members)


class Table:
    """The functions of cudbgGetAPI by name."""

    def __init__(self, version=(13, 2, 172)):
        library = ctypes.CDLL(LIBRARY)
        table = ctypes.c_void_p()
        if library.cudbgGetAPI(*version, ctypes.byref(table)) != 0:
            raise Wrong("no table")
        slots = (ctypes.c_void_p * len(API.functions)).from_address(table.value)
        self.slots, self.seen = list(slots), set()
        self.names = {value.number: value.name for value in API.results()}

    def ask(self, name, *values, expect="CUDBG_SUCCESS", **more):
        """Calls with coordinates in order, others by name; one output is returned as it is, several as a dict."""
        fn, args, outs = FUNCTION[name], [], {}
        given = dict(zip([arg.name for arg in fn.args if arg.coordinate], values), **more)
        types = []
        for arg in fn.args:
            if not arg.pointer():
                types.append(ctypes.c_uint64 if API.size_of(arg.ctype) == 8 else ctypes.c_uint32)
                args.append(given.get(arg.name, 0))
                continue
            if arg.string:
                buffer = ctypes.create_string_buffer(given[arg.name].encode())
            else:
                unit = 1 if arg.unit == "bytes" or arg.base() == "void" else API.size_of(arg.base())
                buffer = ctypes.create_string_buffer(max(unit * (given[arg.count] if arg.count else 1), 1))
                if arg.way == "inout":
                    buffer[:len(given[arg.name])] = given[arg.name]
                outs[arg.name] = (arg, unit, buffer)
            types.append(ctypes.c_void_p)
            args.append(ctypes.cast(buffer, ctypes.c_void_p))
        code = ctypes.CFUNCTYPE(ctypes.c_uint32, *types)(self.slots[fn.slot])(*args)
        result = self.names.get(code, code)
        if result != expect:
            raise Wrong("%s%r answers %s" % (name, values, result))
        self.seen.add(name)
        if code:
            return None
        found = {key: self.output(*value) for key, value in outs.items()}
        return next(iter(found.values())) if len(found) == 1 else found

    @staticmethod
    def output(arg, unit, buffer):
        raw = buffer.raw
        if arg.ctype == "char *":
            return raw.split(b"\0")[0].decode()
        if arg.count and unit == 1:
            return raw
        if arg.count:
            return [decode(arg.base(), raw[i:i + unit]) for i in range(0, len(raw), unit)]
        return decode(arg.base(), raw)


def dim(row, name):
    return {axis.lower(): row.get(name + axis, 0) for axis in "XYZ"}


def flat(axes):
    return [axes[axis] for axis in "xyz"]


# ---- levels of the hardware

def check_device(api, dev, device):
    for name, field in (("getNumSMs", "numSMs"), ("getNumWarps", "numWarpsPerSM"), ("getNumLanes", "numLanesPerWarp"),
                        ("getNumRegisters", "numRegsPerLane"), ("getNumPredicates", "numPredicatesPrLane"),
                        ("getNumUniformRegisters", "numUniformRegsPrWarp"),
                        ("getNumUniformPredicates", "numUniformPredicatesPrWarp")):
        same(name, api.ask(name, dev), device[field])
    for name, field in (("getDeviceName", "devName"), ("getDeviceType", "devType"), ("getSmType", "smType")):
        same(name, api.ask(name, dev, sz=200), device[field])
    same("PCI", list(api.ask("getDevicePCIBusInfo", dev).values()), [device["pciBusId"], device["pciDevId"]])
    sms = {sm["smId"]: sm for sm in device.get("sms") or []}
    faulted = {s for s, sm in sms.items() if sm.get("exception") or any(
        lane["exception"] for block in sm.get("ctas") or [] for warp in block.get("warps") or []
        for lane in warp.get("lanes") or [])}
    words = api.ask("readDeviceExceptionState", dev, numWords=4)
    told = {w * 64 + b for w, word in enumerate(words) for b in range(64) if word >> b & 1}
    same("readDeviceExceptionState", told, faulted)
    old = api.ask("readDeviceExceptionState80", dev)
    same("readDeviceExceptionState80", old, sum(1 << s for s in faulted if s < 64))
    for sm in range(device["numSMs"]):
        warps = {warp["warpId"]: warp for block in sms.get(sm, {}).get("ctas") or [] for warp in block.get("warps") or []}
        same("readValidWarps %d" % sm, api.ask("readValidWarps", dev, sm), sum(1 << w for w in warps))
        same("readBrokenWarps %d" % sm, api.ask("readBrokenWarps", dev, sm),
             sum(1 << w for w, warp in warps.items() if warp["isWarpBroken"]))
    for sm, row in sms.items():
        if "exception" in row and (row["exception"] or not warps_of(row)):
            out = api.ask("readSmException", dev, sm)
            same("readSmException %d" % sm, [out["exception"], out["errorPCValid"]], [row["exception"], row["errorPCValid"]])
            if row["errorPCValid"]:
                same("errorPC of SM %d" % sm, out["errorPC"], row["errorPC"])


def warps_of(sm):
    return [(block, warp) for block in sm.get("ctas") or [] for warp in block.get("warps") or []]


def check_grid(api, at, grid, context):
    dev = at[0]
    number = grid["gridId64"]
    for name in ("getGridInfo", "getGridInfo120", "getGridInfo55"):
        info = api.ask(name, dev, gridId64=number)
        same(name, [info[key] for key in ("dev", "gridId64", "tid", "context", "module", "function", "functionEntry", "type",
                                          "parentGridId", "origin")],
             [dev, number, context["tid"], grid["contextId"], grid["moduleHandle"], grid["function"], grid["functionEntry"],
              grid["kernelType"], grid["parentGridId64"], grid["origin"]])
        same(name + " dims", [info["gridDim"], info["blockDim"]], [dim(grid, "gridDim"), dim(grid, "blockDim")])
        if "clusterDim" in info:
            same(name + " cluster", info["clusterDim"], dim(grid, "clusterDim"))
        if "preferredClusterDim" in info:
            same(name + " preferred", info["preferredClusterDim"], dim(grid, "preferredClusterDim"))
    same("getGridStatus", api.ask("getGridStatus", dev, gridId64=number), grid["gridStatus"])
    same("getGridStatus50", api.ask("getGridStatus50", dev, gridId=number & 0xffffffff), grid["gridStatus"])
    same("getClusterDim120", api.ask("getClusterDim120", dev, gridId64=number), dim(grid, "clusterDim"))
    same("getGridDim", api.ask("getGridDim", *at), dim(grid, "gridDim"))
    same("getGridDim32", api.ask("getGridDim32", *at), {key: dim(grid, "gridDim")[key] for key in "xy"})
    same("getBlockDim", api.ask("getBlockDim", *at), dim(grid, "blockDim"))
    same("getTID", api.ask("getTID", *at), context["tid"])
    same("launch blocking", api.ask("getGridAttribute", *at, attr=0), grid["attrLaunchBlocking"])
    pairs = (0).to_bytes(16, "little") + (1).to_bytes(16, "little")
    out = api.ask("getGridAttributes", *at, pairs=pairs, numPairs=2)
    same("getGridAttributes", [pair["value"] for pair in out], [grid["attrLaunchBlocking"], grid["attrHostTid"]])
    for bank in grid.get("banks") or []:
        out = api.ask("getConstBankAddress", dev, gridId64=number, bank=bank["bankId"])
        same("bank %d" % bank["bankId"], list(out.values()), [bank["addr"], bank["size"]])
        same("getConstBankAddress123", api.ask("getConstBankAddress123", *at, bank=bank["bankId"], offset=4), bank["addr"] + 4)
    params = grid.get("params")
    if params and params["size"]:
        raw = api.ask("readParamMemory", *at, addr=grid["paramsOffset"], sz=params["size"])
        same("readParamMemory", zlib.crc32(raw), params["crc32"])


def check_warp(api, at, sm, block, warp):
    lanes = {lane["ln"]: lane for lane in warp.get("lanes") or []}
    same("readValidLanes", api.ask("readValidLanes", *at), warp["validLanesMask"])
    same("readActiveLanes", api.ask("readActiveLanes", *at), warp["activeLanesMask"])
    same("readGridId", api.ask("readGridId", *at), block["gridId64"])
    same("readGridId50", api.ask("readGridId50", *at), block["gridId64"] & 0xffffffff)
    same("readBlockIdx", api.ask("readBlockIdx", *at), dim(block, "blockIdx"))
    same("readBlockIdx32", api.ask("readBlockIdx32", *at), {key: dim(block, "blockIdx")[key] for key in "xy"})
    out = api.ask("readErrorPC", *at)
    same("readErrorPC", [out["errorPCValid"], out["errorPC"] if warp["errorPCValid"] else 0],
         [warp["errorPCValid"], warp["errorPC"] if warp["errorPCValid"] else 0])
    if "clusterIdxX" in block:
        same("readClusterIdx", api.ask("readClusterIdx", *at), dim(block, "clusterIdx"))
    if "clusterDimX" in block:
        same("getClusterDim", api.ask("getClusterDim", *at), dim(block, "clusterDim"))
    if "numRegs" in warp:
        same("readWarpResources", api.ask("readWarpResources", *at),
             {"numRegisters": warp["numRegs"], "sharedMemSize": warp["sharedMemSize"]})
    if "cbuActiveLanesMask" in warp:
        cbu = api.ask("getCbuWarpState", at[0], at[1], warpMask=1 << at[2], numWarpStates=1)[0]
        same("getCbuWarpState", [cbu["activeMask"], cbu["exitedMask"], cbu["collectiveMask"]],
             [warp["cbuActiveLanesMask"], warp["cbuExitedLanesMask"], warp["cbuCollectiveLanesMask"]])
        if warp.get("barriers"):
            same("barrier masks", cbu["barrierMasks"][:len(warp["barriers"])], warp["barriers"])
        for number, lane in lanes.items():
            same("CBU state", cbu["threadState"][number], lane["cbuThreadState"])
    if "barrierScope" in warp:
        out = api.ask("getHardwareBarrierInfo", *at, min(lanes), bufSz=128)
        text = warp["additionalBarrierInfo"]
        same("getHardwareBarrierInfo", out["scope"], warp["barrierScope"])
        if text:
            same("text of the barrier", out["buf"], text)
    if "exceptionString" in sm:
        out = api.ask("getCudaExceptionString", *at, min(lanes), bufSz=128)
        same("getCudaExceptionString", out["buf"], sm["exceptionString"] or "")
    if warp.get("uregs"):
        n = len(warp["uregs"])
        same("uniform registers", api.ask("readUniformRegisterRange", *at, regno=0, registers_size=n), warp["uregs"])
    if warp.get("upreds"):
        same("uniform predicates", api.ask("readUniformPredicates", *at, predicates_size=len(warp["upreds"])), warp["upreds"])
    if block.get("shared") and block["shared"]["size"]:
        raw = api.ask("readSharedMemory", *at, addr=0, sz=block["shared"]["size"])
        same("readSharedMemory", zlib.crc32(raw), block["shared"]["crc32"])
    if "clusterExceptionTargetBlockIdxValid" in sm:
        out = api.ask("getClusterExceptionTargetBlock", *at)
        hit = sm["clusterExceptionTargetBlockIdxValid"] and any(lane["exception"] for lane in lanes.values())
        same("cluster target", out["blockIdxValid"], int(bool(hit)))
        if hit:
            same("cluster target", out["blockIdx"], dim(sm, "clusterExceptionTargetBlockIdx"))
    check_warp_states(api, at, block, warp, lanes)


def check_warp_states(api, at, block, warp, lanes):
    """The same once more, as one structure, in all its versions."""
    for name in ("readWarpState", "readWarpState127", "readWarpState120", "readWarpState60"):
        state = api.ask(name, *at)
        same(name, [state["gridId"], state["validLanes"], state["activeLanes"], state["blockIdx"], state["errorPCValid"]],
             [block["gridId64"], warp["validLanesMask"], warp["activeLanesMask"], dim(block, "blockIdx"), warp["errorPCValid"]])
        for number, lane in lanes.items():
            told = state["lane"][number]
            same("%s lane %d" % (name, number), [told["virtualPC"], told["threadIdx"], told["exception"]],
                 [lane["virtualPC"], dim(lane, "threadIdx"), lane["exception"]])
        if "clusterIdx" in state and "clusterIdxX" in block:
            same(name + " clusterIdx", state["clusterIdx"], dim(block, "clusterIdx"))
        if "inSyscallLanes" in state and "inSyscallLanesMask" in warp:
            same(name + " inSyscallLanes", state["inSyscallLanes"], warp["inSyscallLanesMask"])


def check_past_last(api, at, n_regs):
    """Registers past the warp's last read as 0: clients read in blocks."""
    rest = api.ask("getNumRegisters", at[0]) - n_regs
    if rest <= 0:
        return
    same("a register past the last", api.ask("readRegister", *at, regno=n_regs), 0)
    same("a range past the last", api.ask("readRegisterRange60", *at, index=n_regs, registers_size=rest), [0] * rest)
    out = api.ask("readRegisterRange", *at, index=n_regs, numRegisters=rest)
    same("a counted range past the last", [out["registers"], out["numRegistersRead"]], [[0] * rest, 0])


def check_lane(api, at, warp, lane, image_of):
    for name, field in (("readPC", "physPC"), ("readVirtualPC", "virtualPC"), ("readLaneException", "exception"),
                        ("readCallDepth", "callDepth"), ("readCCRegister", "ccRegister")):
        same(name, api.ask(name, *at), lane[field])
    same("readThreadIdx", api.ask("readThreadIdx", *at), dim(lane, "threadIdx"))
    same("readSyscallCallDepth", api.ask("readSyscallCallDepth", *at), 0)  # fixed by the manual
    if "rpcLo" in lane:
        same("readRpcRegisters", list(api.ask("readRpcRegisters", *at).values()), [lane["rpcLo"], lane["rpcHi"]])
    frames = sorted(lane.get("frames") or [], key=lambda frame: frame["level"])
    for frame in frames[:40]:
        same("readReturnAddress", api.ask("readReturnAddress", *at, level=frame["level"]), frame["returnAddress"])
        same("readVirtualReturnAddress", api.ask("readVirtualReturnAddress", *at, level=frame["level"]),
             frame["virtualReturnAddress"])
    if len(frames) == lane["callDepth"] and frames:
        out = api.ask("readAllVirtualReturnAddresses", *at, numAddrs=len(frames))
        same("readAllVirtualReturnAddresses", [out["addrs"], out["callDepth"]],
             [[frame["virtualReturnAddress"] for frame in frames], len(frames)])
    regs, preds = lane.get("regs") or [], lane.get("preds") or []
    if regs:
        same("readRegister", api.ask("readRegister", *at, regno=len(regs) - 1), regs[-1])
        same("readRegisterRange60", api.ask("readRegisterRange60", *at, index=0, registers_size=len(regs)), regs)
        out = api.ask("readRegisterRange", *at, index=0, numRegisters=len(regs))
        same("readRegisterRange", [out["registers"], out["numRegistersRead"]], [regs, len(regs)])
        check_past_last(api, at, max(len(regs), warp.get("numRegs", 0)))
    if preds:
        same("readPredicates", api.ask("readPredicates", *at, predicates_size=len(preds)), preds)
    local = lane.get("local")
    if local and local["size"]:
        raw = api.ask("readLocalMemory", *at, addr=local["address"], sz=local["size"])
        same("readLocalMemory", zlib.crc32(raw), local["crc32"])
    if lane["virtualPC"] in image_of:
        same("readCodeMemory", api.ask("readCodeMemory", at[0], addr=lane["virtualPC"], sz=16), image_of[lane["virtualPC"]])


def check_first_active(api, at, warp):
    """Functions of old versions without a lane tell of the first active one."""
    lanes = {lane["ln"]: lane for lane in warp.get("lanes") or []}
    active = [n for n in sorted(lanes) if warp["activeLanesMask"] >> n & 1]
    if not active:
        return
    lane = lanes[active[0]]
    same("readCallDepth32", api.ask("readCallDepth32", *at), lane["callDepth"])
    for frame in (lane.get("frames") or [])[:3]:
        same("readReturnAddress32", api.ask("readReturnAddress32", *at, level=frame["level"]), frame["returnAddress"])
        same("readVirtualReturnAddress32", api.ask("readVirtualReturnAddress32", *at, level=frame["level"]),
             frame["virtualReturnAddress"])


# ---- the whole device in one buffer

def check_device_info(api, dev, device):
    sizes = api.ask("getDeviceInfoSizes", dev)
    out = api.ask("getDeviceInfo", dev, type=0, length=sizes["requiredBufferSize"])
    raw, at = out["buffer"][:out["dataLength"]], 0

    def take(ctype, size, attributes, flags):
        nonlocal at
        row = decode(ctype, raw[at:at + size])
        at += size
        values = {}
        for bit, length in enumerate(attributes):
            if row.get(flags, 0) >> bit & 1:
                values[bit] = int.from_bytes(raw[at:at + length], "little")
                at += length
        return row, values
    _row, values = take("CUDBGDeviceInfo", sizes["deviceInfoSize"], sizes["deviceInfoAttributeSizes"], "deviceAttributeFlags")
    sms = sorted((sm for sm in device.get("sms") or [] if warps_of(sm)), key=lambda sm: sm["smId"])
    same("SMs with warps", values.get(1), sum(1 << sm["smId"] for sm in sms))
    for sm in sms:
        info, _ = take("CUDBGSMInfo", sizes["smInfoSize"], sizes["smInfoAttributeSizes"], "smAttributeFlags")
        warps = sorted(warps_of(sm), key=lambda pair: pair[1]["warpId"])
        same("warps", info["warpValidMask"], sum(1 << warp["warpId"] for _block, warp in warps))
        for block, warp in warps:
            told, values = take("CUDBGWarpInfo", sizes["warpInfoSize"], sizes["warpInfoAttributeSizes"], "warpAttributeFlags")
            same("warp", [told["gridId"], told["blockIdx"], told["validLanes"], told["activeLanes"]],
                 [block["gridId64"], dim(block, "blockIdx"), warp["validLanesMask"], warp["activeLanesMask"]])
            lanes = sorted(warp.get("lanes") or [], key=lambda lane: lane["ln"])
            same("exception", values.get(2, 0), next((lane["exception"] for lane in lanes if lane["exception"]), 0))
            for lane in lanes:
                pc, _ = take("CUDBGLaneInfo", sizes["laneInfoSize"], [], "")
                same("virtualPC", pc["virtualPC"], lane["virtualPC"])
    same("length", at, out["dataLength"])


# ---- a dump

def enumerate_devices(dump):
    return [(device["devId"], device) for device in dump["devices"] or []]


def check_images(api, dev, device, at_of_grid):
    """Images by handle and by warp; code and names of functions in them."""
    code = {}
    for context in device.get("contexts") or []:
        for module in context.get("modules") or []:
            handle = module["moduleHandle"]
            for kind, key, relocated in ((0, "image", False), (1, "relocated", True)):
                image = module.get(key)
                if not image:
                    continue
                raw = api.ask("getElfImageByHandle", dev, handle=handle, type=kind, size=image["size"])
                same("getElfImageByHandle", zlib.crc32(raw), image["crc32"])
                for grid in device.get("grids") or []:
                    if grid["moduleHandle"] != handle or grid["gridId64"] not in at_of_grid:
                        continue
                    for name in ("getElfImage", "getElfImage32"):
                        out = api.ask(name, *at_of_grid[grid["gridId64"]], relocated=relocated)
                        raw_there = ctypes.string_at(out["elfImage"], out["size"])
                        same(name, zlib.crc32(raw_there), image["crc32"])
                if relocated:
                    code.update(check_functions(api, dev, handle, raw))
    return code


def check_functions(api, dev, handle, raw):
    """Function symbols with a section and an address of their own; {address: 16 bytes there}."""
    import cubin
    image, code = cubin.Cubin(raw), {}
    loaded = {}
    for symbol in image.symbols:
        if symbol.kind != 2 or not symbol.shndx:
            continue
        section = image.sections[symbol.shndx]
        at = symbol.value - image.sections[symbol.shndx].addr
        body = raw[section.offset:section.offset + section.size]
        code.update({symbol.value + o: body[at + o:at + o + 16] for o in range(0, symbol.size, 16)})
        out = api.ask("lookupDeviceCodeSymbol", symName=symbol.name)
        same("lookupDeviceCodeSymbol found", out["symFound"], 1)
        same("isDeviceCodeAddress", api.ask("isDeviceCodeAddress", addr=symbol.value), 1)
        if at == 0:
            loaded[symbol.value] = symbol.shndx
    out = api.ask("getLoadedFunctionInfo", dev, handle=handle, startIndex=0, numEntries=64)
    told = {row["address"]: row["sectionIndex"] for row in out if row["address"]}
    same("getLoadedFunctionInfo", told, loaded)
    return code


def check_memory(api, dump):
    dev = enumerate_devices(dump)[0][0]
    for block in dump["memory"]:
        overlaps = [other for other in dump["memory"] if other is not block and
                    other["address"] < block["address"] + block["size"] and block["address"] < other["address"] + other["size"]]
        if not block["size"] or block["size"] > 1 << 22 or overlaps:
            continue
        raw = api.ask("readGlobalMemory", addr=block["address"], sz=block["size"])
        same("readGlobalMemory", zlib.crc32(raw), block["crc32"])
        same("readConstMemory129", zlib.crc32(api.ask("readConstMemory129", dev, addr=block["address"], sz=block["size"])),
             block["crc32"])
    managed = sorted((block["address"], block["size"]) for block in dump["memory"] if block["managed"])
    out = api.ask("getManagedMemoryRegionInfo", startAddress=0, memoryInfo_size=64)
    same("managed", [(row["startAddress"], row["size"]) for row in out["memoryInfo"][:out["numEntries"]]], managed)


def check_dump(api, path, truth):
    with open(path, "rb") as handle:
        dump = reader.read(handle.read())
    same("getNumDevices", api.ask("getNumDevices"), max(dev for dev, _ in enumerate_devices(dump)) + 1)
    check_memory(api, dump)
    for dev, device in enumerate_devices(dump):
        check_device(api, dev, device)
        check_device_info(api, dev, device)
        grids = {grid["gridId64"]: grid for grid in device.get("grids") or []}
        contexts = {context["contextId"]: context for context in device.get("contexts") or []}
        at_of_grid = {}
        for sm in device.get("sms") or []:
            for block, warp in warps_of(sm):
                at_of_grid.setdefault(block["gridId64"], (dev, sm["smId"], warp["warpId"]))
        code = check_images(api, dev, device, at_of_grid)
        for number, at in at_of_grid.items():
            check_grid(api, at, grids[number], contexts[grids[number]["contextId"]])
        for sm in device.get("sms") or []:
            for block, warp in warps_of(sm):
                at = (dev, sm["smId"], warp["warpId"])
                check_warp(api, at, sm, block, warp)
                check_first_active(api, at, warp)
                lanes = warp.get("lanes") or []
                for lane in lanes[:1] + lanes[-1:] + [lane for lane in lanes if lane["exception"]][:2]:
                    check_lane(api, at + (lane["ln"],), warp, lane, code)
    check_planted(api, truth)
    check_probes(api, truth)


def check_planted(api, truth):
    """What the builder says of its faults, not read out of the dump at all."""
    for lane in truth["faulting_lanes"]:
        at = [lane[key] for key in ("device", "sm", "warp", "lane")]
        told = api.ask("readLaneException", *at) or api.ask("readSmException", *at[:2])["exception"]
        same("exception", told, lane["code"])
    focus = truth["focus"]
    if not focus:
        return
    at = [focus[key] for key in ("device", "sm", "warp", "lane")]
    same("virtualPC", api.ask("readVirtualPC", *at), int(focus["virtualPC"], 16))
    same("threadIdx", flat(api.ask("readThreadIdx", *at)), focus["threadIdx"])
    same("blockIdx", flat(api.ask("readBlockIdx", *at[:3])), focus["blockIdx"])
    for name, value in focus["registers"].items():
        if name.startswith("R"):
            same(name, api.ask("readRegister", *at, regno=int(name[1:])), value)
        elif name.startswith("P"):
            same(name, api.ask("readPredicates", *at, predicates_size=7)[int(name[1:])], value)


def check_probes(api, truth):
    """Words at addresses that the builder names; None where nothing is."""
    focus = truth["focus"]
    at = [focus[key] for key in ("device", "sm", "warp", "lane")] if focus else []
    for probe in truth["memory"]:
        space, address, value = (probe[key] for key in ("space", "address", "value"))
        name = {"global": "readGlobalMemory", "shared": "readSharedMemory", "local": "readLocalMemory",
                "generic": "readGenericMemory", "parameter": "readParamMemory"}[space]
        if value is not None:
            raw = api.ask(name, **dict(zip(("dev", "sm", "wp", "ln"), at)), addr=address, sz=4)
            same("%s:0x%x" % (space, address), int.from_bytes(raw, "little"), value)


def main():
    number = failed = 0

    def case(name, check):
        nonlocal number, failed
        number += 1
        try:
            check()
            print("ok %d - %s" % (number, name))
        except Wrong as wrong:
            failed += 1
            print("not ok %d - %s\n# %s" % (number, name, wrong))
    table = Table()
    with tempfile.TemporaryDirectory() as work:
        known = subprocess.run([sys.executable, os.path.join(BUILDERS, "build.py"), "--list"], capture_output=True, text=True,
                               check=True).stdout.split()
        wanted = [name for name in SCENARIOS if name in known]
        subprocess.run([sys.executable, os.path.join(BUILDERS, "build.py"), work, *wanted], check=True)
        ctypes.c_uint32.in_dll(ctypes.CDLL(LIBRARY), "cudbgDebuggerCapabilities").value = 1 << 2  # exited warps too
        for name in wanted:
            path = os.path.join(work, name + ".nvcudmp")
            os.environ["WARPSCOPE_CORE"] = path
            with open(os.path.join(work, name + ".truth.json"), encoding="utf-8") as text:
                truth = json.load(text)
            table.ask("initialize")
            case(name, lambda path=path, truth=truth: check_dump(table, path, truth))
            table.ask("finalize")
    inspection = {fn.name for fn in API.functions if fn.group in ("inspect", "grid", "device", "image") and fn.dump[0] == "works"}
    missing = sorted(inspection - table.seen - set(ELSEWHERE))

    def complete():
        same("functions that nothing was compared of", missing, [])
    case("%d functions compared with what was planted, %d elsewhere" % (len(inspection & table.seen), len(ELSEWHERE)), complete)
    print("1..%d" % number)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
