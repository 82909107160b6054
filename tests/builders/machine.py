"""A GPU process frozen at a moment: puts blocks of real kernels on SMs and keeps the truth about every thread.

Above coredump.py (which only knows tables) and cubin.py (which only knows images): addresses, handles and registers are
chosen the way a driver would, and every thread stands on a real instruction of a real cubin, so that function, file, line
and inline chain are known without asking the code under test.
"""

import os
import struct

import coredump
import cubin as cb

HERE = os.path.dirname(os.path.abspath(__file__))
CUBINS = os.path.join(HERE, "..", "data", "cubins")
KERNELS = os.path.join(HERE, "..", "kernels")

CODE_BASE = 0x7f2b4c000000
STACK_TOP = 0xfffdc0      # R1 at kernel entry: the stack grows down from near the end of the 16 MiB local window
LOCAL_BYTES = 0x240
SHARED_WINDOW, LOCAL_WINDOW = 0x7f0400000000, 0x7f0402000000


class Gpu:
    """What the device table says about one product."""

    def __init__(self, name, internal, sm, sms, warps=64, barriers=16):
        self.name, self.internal, self.sm, self.sms, self.warps, self.barriers = name, internal, sm, sms, warps, barriers


H100 = Gpu("NVIDIA H100 80GB HBM3", "GH100-A", 90, 132)
H200 = Gpu("NVIDIA H200", "GH100-A", 90, 132)
A100 = Gpu("NVIDIA A100-SXM4-80GB", "GA100-A", 80, 108)
B200 = Gpu("NVIDIA B200", "GB100-A", 100, 148)
RTX5090 = Gpu("NVIDIA GeForce RTX 5090", "GB202-A", 120, 170, warps=48)

BRANCHES = {  # driver branch -> (minor, CUDA major, CUDA minor)
    346: (46, 7, 0), 400: (48, 10, 0), 525: (147, 12, 0), 550: (163, 12, 4), 555: (42, 12, 5), 565: (57, 12, 7),
    570: (195, 12, 8), 575: (57, 12, 9), 580: (95, 13, 0), 590: (48, 13, 1), 615: (21, 13, 4),
}


class Position:
    """One instruction of a loaded module."""

    def __init__(self, module, shndx, offset):
        self.module, self.shndx, self.offset = module, shndx, offset

    @property
    def address(self):
        return self.module.address[self.shndx] + self.offset

    @property
    def function(self):
        return self.module.cubin.function_at(self.shndx, self.offset)

    @property
    def section_function(self):
        """The function that owns the section: a driver knows no other start of code."""
        return next(s for s in self.module.cubin.functions if s.shndx == self.shndx and s.value == 0)

    def chain(self):
        return cb.chain(self.module.cubin, self.module.sequences, self.shndx, self.offset)

    def later(self, instructions):
        return Position(self.module, self.shndx, self.offset + instructions * cb.INSTRUCTION)

    def word(self):
        return self.module.cubin.word(self.shndx, self.offset)

    def truth(self):
        """As truth.json gives a place; a call's return address is looked up one byte earlier."""
        frames = [{"function_mangled": f, "file": file, "line": line} for f, file, line in self.chain()]
        own = self.function
        return {"address": hex(self.address), "offset": hex(self.offset - own.value), "symbol": own.name,
                "section": self.section_function.name, "chain": frames, "rows": self.rows()}

    def rows(self):
        """How many line table rows begin where the row that covers this instruction begins."""
        rows = self.module.sequences.get(self.shndx, [])
        index = cb.row_at(rows, self.offset)
        return 0 if index is None else sum(row.offset == rows[index].offset for row in rows)


class Foreign:
    """A pc outside every module of the dump: system code, or nowhere at all."""

    def __init__(self, address, offset=0):
        self.address, self.offset, self.function = address, offset, None

    def chain(self):
        return []

    def later(self, instructions):
        return Foreign(self.address + instructions * cb.INSTRUCTION, self.offset + instructions * cb.INSTRUCTION)

    def word(self):
        return 0

    def truth(self):
        return {"address": hex(self.address), "offset": None, "symbol": None, "section": None, "chain": [], "rows": 0}


class Module:
    """A cubin loaded into a context."""

    def __init__(self, context, data, handle, code_base, keep_relocs=False, externs=None, with_image=True, given=None):
        self.context, self.data, self.handle = context, data, handle
        self.cubin = cb.Cubin(data)
        self.sequences = cb.line_sequences(self.cubin)
        self.relocated, self.address = cb.relocate(data, code_base, externs=externs, keep_relocs=keep_relocs, given=given)
        self.node = coredump.Module({"moduleHandle": handle}, relocated=self.relocated,
                                    image=data if with_image else None)

    def entry(self, kernel):
        function = self.cubin.function(kernel)
        return Position(self, function.shndx, function.value)

    def at(self, function, source, mark, ops=None, nth=0, outermost=False):
        """The nth instruction of a function on the marked line of a kernel source (see cubin.offsets_of_line)."""
        symbol = self.cubin.function(function)
        line = cb.mark_line(os.path.join(KERNELS, source), mark)
        offsets = cb.offsets_of_line(self.cubin, self.sequences, symbol, os.path.basename(source), line, ops, outermost)
        if nth >= len(offsets):
            raise KeyError(f"{function}: {mark} has {len(offsets)} instructions")
        return Position(self, symbol.shndx, offsets[nth])

    def op(self, function, ops, nth=0):
        """The nth instruction of a function with one of the opcodes."""
        symbol = self.cubin.function(function)
        offsets = [o for o in range(symbol.value, symbol.value + symbol.size, cb.INSTRUCTION)
                   if cb.opcode(self.cubin.word(symbol.shndx, o)) in ops]
        return Position(self, symbol.shndx, offsets[nth])


class State:
    """Where one warp stands.

    pc        Position of all lanes, or {lane: Position}
    frames    call stack of return Positions, innermost caller first (the address after the call)
    active    mask of active lanes (None: all valid)
    error     Position that the hardware blames, or None
    exception code, put on `faulty` lanes (None: all active ones)
    broken    stopped at a trap or breakpoint
    address   {lane: address} of a bad access: put into the registers of the instruction at `error`
    regs      {register: function of the lane},
    preds     {predicate: function of the lane},
    uregs     {uniform register: value} and
    stack     {offset from the top of the stack: function of the lane giving bytes}: planted variables
    """

    def __init__(self, pc, frames=(), active=None, error=None, exception=0, faulty=None, broken=False, address=None,
                 syscall_depth=0, barrier=0, regs=None, stack=None, uregs=None, preds=None):
        self.pc, self.frames, self.active, self.error = pc, frames, active, error
        self.exception, self.faulty, self.broken, self.address = exception, faulty, broken, address or {}
        self.syscall_depth, self.barrier, self.regs, self.stack = syscall_depth, barrier, regs or {}, stack or {}
        self.uregs, self.preds = uregs or {}, preds or {}

    def at(self, lane):
        return self.pc[lane] if isinstance(self.pc, dict) else self.pc

    def frames_of(self, lane):
        return self.frames.get(lane, ()) if isinstance(self.frames, dict) else self.frames


class Launch:
    """A grid in flight."""

    def __init__(self, process, context, module, kernel, grid, block, grid_id, cluster, params, shared):
        self.process, self.context, self.module = process, context, module
        self.grid, self.block, self.grid_id, self.cluster, self.shared = grid, block, grid_id, cluster, shared
        self.entry = module.entry(kernel)
        self.kernel = self.entry.function.name
        self.regs = (module.cubin.registers(self.entry.function) + 7) // 8 * 8
        self.device = context.device
        offset, size = module.cubin.param_bank(self.entry.function)
        bank_base = 0x7f0500000000 + grid_id * 0x10000
        params = params.ljust(size, b"\0")
        dims = dict(zip(("clusterDimX", "clusterDimY", "clusterDimZ"), cluster or (0, 0, 0)))
        self.node = coredump.Grid({
            "gridId64": grid_id, "contextId": context.handle, "function": module.handle + 0x40 + self.entry.shndx * 8,
            "functionEntry": self.entry.address, "moduleHandle": module.handle, "parentGridId64": 0,
            "paramsOffset": offset, "kernelType": 2, "origin": 0, "gridStatus": 2, "numRegs": self.regs,
            "gridDimX": grid[0], "gridDimY": grid[1], "gridDimZ": grid[2],
            "blockDimX": block[0], "blockDimY": block[1], "blockDimZ": block[2],
            "attrLaunchBlocking": 0, "attrHostTid": context.tid, **dims,
            "preferredClusterDimX": dims["clusterDimX"], "preferredClusterDimY": dims["clusterDimY"],
            "preferredClusterDimZ": dims["clusterDimZ"],
        }, params=params, banks=[{"addr": bank_base, "size": offset + size, "bankId": 0},
                                 {"addr": bank_base + 0x4000, "size": 0x400, "bankId": 3}])
        process.memory.append((bank_base, self.driver_constants(offset) + params))
        context.device.node.grids.append(self.node)

    def driver_constants(self, size):
        """The start of bank 0: where code finds the local window and its first stack pointer [measured: -G code of nvcc 13.0]."""
        bank = bytearray(size)
        if self.process.local:
            window, stack = (0x2f8, 0x37c) if self.device.gpu.sm >= 100 else (0x20, 0x28)
            struct.pack_into("<Q", bank, window, LOCAL_WINDOW)
            struct.pack_into("<I", bank, stack, STACK_TOP)
        return bytes(bank)

    def place(self, sm, block, states, first_warp=None):
        """Puts a block on an SM: states(warp number in the block) -> State. Warp slots are taken in order."""
        device = self.device
        node = device.sm(sm)
        slot = device.next_slot.get(sm, 0) if first_warp is None else first_warp
        threads = self.block[0] * self.block[1] * self.block[2]
        warps = []
        for number in range((threads + 31) // 32):
            warps.append(self.warp(sm, block, slot + number, number, min(32, threads - 32 * number), states(number)))
        device.next_slot[sm] = slot + len(warps)
        row = {"gridId64": self.grid_id, "blockIdxX": block[0], "blockIdxY": block[1], "blockIdxZ": block[2]}
        if self.cluster:
            for axis, name in enumerate("XYZ"):
                row["clusterIdx" + name] = block[axis] // self.cluster[axis]
                row["clusterDim" + name] = self.cluster[axis]
        cta = coredump.Cta(row, warps=warps, shared=self.process.pattern(self.shared, sm) if self.shared else None)
        node.ctas = (node.ctas or []) + [cta]
        return cta

    def warp(self, sm, block, slot, number, lanes, state):
        valid = (1 << lanes) - 1
        active = valid if state.active is None else state.active & valid
        faulty = active if state.faulty is None else state.faulty
        row = {"warpId": slot, "validLanesMask": valid, "activeLanesMask": active, "isWarpBroken": int(state.broken),
               "errorPCValid": int(state.error is not None), "errorPC": state.error.address if state.error else 0,
               "numRegs": self.regs, "sharedMemSize": self.shared, "inSyscallLanesMask": 0,
               "cbuActiveLanesMask": active, "cbuExitedLanesMask": 0, "cbuCollectiveLanesMask": 0,
               "barrierScope": state.barrier}
        if state.syscall_depth:
            row["inSyscallLanesMask"] = active
        nodes = []
        for lane in range(lanes):
            code = state.exception if state.exception and faulty >> lane & 1 else 0
            nodes.append(self.lane(sm, block, slot, number, lane, state, code, active >> lane & 1))
        gpu = self.device.gpu
        uregs = [state.uregs.get(i, (slot * 64 + i) * 0x01000193 & 0xffffffff) for i in range(63)]
        node = coredump.Warp(row, lanes=nodes, uregs=uregs,
                             upreds=[i & 1 for i in range(7)],
                             barriers=[valid if i == 0 and active != valid else 0 for i in range(gpu.barriers)])
        for thread in self.process.threads[-lanes:]:
            thread.warp_node, thread.node = node, nodes[thread.lane]
        return node

    def lane(self, sm, block, slot, number, lane, state, code, is_active):
        process, device = self.process, self.device
        linear = 32 * number + lane
        thread = (linear % self.block[0], linear // self.block[0] % self.block[1],
                  linear // (self.block[0] * self.block[1]))
        pos, frames = state.at(lane), state.frames_of(lane)
        lane_state = 1 if is_active else 9  # ready, or waiting for convergence barrier 0
        row = {"virtualPC": process.virtual(pos), "physPC": pos.offset, "ln": lane, "threadIdxX": thread[0],
               "threadIdxY": thread[1], "threadIdxZ": thread[2], "exception": code, "callDepth": len(frames),
               "syscallCallDepth": state.syscall_depth, "ccRegister": 0, "cbuThreadState": lane_state,
               "rpcLo": pos.address & 0xffffffff, "rpcHi": pos.address >> 32}
        regs = [(linear + 1) * (7 * i + 3) + block[0] * 0x10001 & 0xffffffff for i in range(self.regs)]
        regs[1] = STACK_TOP - sum(self.module.cubin.frame_size(p.function) for p in (pos, *frames) if p.function)
        for number, value in state.regs.items():
            regs[number] = value(lane) & 0xffffffff
        if lane in state.address and state.error is not None:
            self.plant_address(regs, state.error.word(), state.address[lane])
        process.threads.append(Thread(self, sm, slot, lane, block, thread, pos, frames, code, is_active, state))
        table = [{"returnAddress": f.offset, "virtualReturnAddress": process.virtual(f), "level": level}
                 for level, f in enumerate(frames)]
        local = None
        if process.local:
            stack = bytearray(process.pattern(LOCAL_BYTES, linear))
            for offset, value in state.stack.items():
                stack[LOCAL_BYTES + offset:LOCAL_BYTES + offset + len(value(lane))] = value(lane)
            local = (STACK_TOP - LOCAL_BYTES, bytes(stack))
        preds = [int(state.preds[i](lane)) if i in state.preds else lane >> i & 1 for i in range(7)]
        return coredump.Lane(row, regs=regs, preds=preds, frames=table, local=local)

    @staticmethod
    def plant_address(regs, word, address):
        """Gives the registers that a load or store at fault used the address that it used."""
        base, offset = word >> 24 & 0xff, word >> 40 & 0xffffff
        address -= offset - (1 << 24) if offset >> 23 else offset
        if base + 1 < len(regs):
            regs[base], regs[base + 1] = address & 0xffffffff, address >> 32 & 0xffffffff


class Thread:
    """What is true of one thread: for truth.json."""

    def __init__(self, launch, sm, warp, lane, block, thread, pos, frames, code, is_active, state):
        self.launch, self.sm, self.warp, self.lane, self.block, self.thread = launch, sm, warp, lane, block, thread
        self.pos, self.frames, self.code, self.is_active, self.state = pos, frames, code, is_active, state
        self.warp_node = self.node = None  # the model's rows, once they are made


def cubin_bytes(name):
    """A cubin of tests/data/cubins."""
    with open(os.path.join(CUBINS, name), "rb") as handle:
        return handle.read()


class ContextHandle:
    def __init__(self, process, device, handle, tid):
        self.process, self.device, self.handle, self.tid = process, device, handle, tid
        self.node = coredump.Context({
            "contextId": handle, "sharedWindowBase": SHARED_WINDOW, "localWindowBase": LOCAL_WINDOW,
            "globalWindowBase": 0, "deviceIdx": device.id, "tid": tid}, modules=[])
        device.node.contexts.append(self.node)

    def load(self, name, **options):
        """Loads a cubin by its file name in tests/data/cubins, or as bytes."""
        data = name if isinstance(name, bytes) else cubin_bytes(name)
        module = Module(self, data, self.process.next_handle(), self.process.next_code(), **options)
        self.node.modules.append(module.node)
        return module


class DeviceHandle:
    def __init__(self, process, gpu, number, index):
        self.gpu, self.id, self.next_slot, self.sm_at = gpu, number, {}, {}
        self.node = coredump.Device({
            "devName": gpu.name, "devType": gpu.internal, "smType": f"sm_{gpu.sm}", "devId": number,
            "pciBusId": 0x1b + 0x21 * index, "pciDevId": 0, "numSMs": gpu.sms, "numWarpsPerSM": gpu.warps,
            "numLanesPerWarp": 32, "numRegsPerLane": 255, "numPredicatesPrLane": 7, "smMajor": gpu.sm // 10,
            "smMinor": gpu.sm % 10, "instructionSize": 16, "status": 0, "numUniformRegsPrWarp": 63,
            "numUniformPredicatesPrWarp": 7, "numConvergenceBarriersPrWarp": gpu.barriers,
        }, contexts=[], grids=[], sms=[])
        for sm in range(gpu.sms):
            node = coredump.Sm({"smId": sm}, ctas=None)
            self.sm_at[sm] = node
            self.node.sms.append(node)

    def sm(self, number):
        return self.sm_at[number]

    def blame(self, sm, code, error=None, target=None, text=None):
        """Fills the exception words of an SM row."""
        row = self.sm_at[sm].row
        row.update(exception=code, errorPCValid=int(error is not None), errorPC=error.address if error else 0)
        if target:
            row.update(zip(("clusterExceptionTargetBlockIdxX", "clusterExceptionTargetBlockIdxY",
                            "clusterExceptionTargetBlockIdxZ"), target), clusterExceptionTargetBlockIdxValid=1)
        if text:
            row["exceptionString"] = text


class Process:
    """The frozen process: devices, contexts, modules, launches; dump() makes the model that coredump.write() packs."""

    def __init__(self, *gpus, ids=None, classic=False, local=False):
        self.classic, self.local = classic, local
        self.memory, self.threads = [], []
        self.handle, self.code, self.grids = 0x55d0c3a84e10, CODE_BASE, 0
        self.devices = [DeviceHandle(self, gpu, ids[i] if ids else i, i) for i, gpu in enumerate(gpus)]

    def next_handle(self):
        self.handle += 0x1b70
        return self.handle

    def next_code(self):
        self.code += 0x200000
        return self.code - 0x200000

    def virtual(self, pos):
        """The value of virtualPC: the classic back end ran on a copy of the code in host memory."""
        return pos.address - CODE_BASE + 0x55d0d0000000 if self.classic else pos.address

    @staticmethod
    def pattern(size, seed):
        return b"".join(struct.pack("<I", i * 0x10001 + seed & 0xffffffff) for i in range(size // 4))

    def context(self, device=0, tid=4211):
        return ContextHandle(self, self.devices[device], self.next_handle(), tid)

    def launch(self, context, module, kernel, grid, block, cluster=None, params=b"", shared=0, grid_id=None):
        self.grids += 1
        return Launch(self, context, module, kernel, grid, block, grid_id or self.grids, cluster, params, shared)

    def dump(self, driver=590, generator="CUDA driver"):
        minor, major_cuda, minor_cuda = BRANCHES[driver]
        meta = {"generatorName": generator, "driverVersionMajor": driver, "driverVersionMinor": minor,
                "cudaDriverVersionMajor": major_cuda, "cudaDriverVersionMinor": minor_cuda, "timestamp": 1751371200}
        memory = [coredump.Memory({"address": address}, data=data) for address, data in self.memory]
        return coredump.Dump(devices=[d.node for d in self.devices], memory=memory, meta=meta)
