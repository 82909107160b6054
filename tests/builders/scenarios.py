"""Named dumps. Each scenario is a function that freezes a process and says how to write it; its docstring is the reason
that it exists. build.py writes the dump and, beside it, what is true of it."""

import struct

import cubin as cb
import truth
from coredump import FLAG_SKIP_IMAGES, Options
from machine import A100, H100, Foreign, Process, State

GATHER = "_Z11gather_rowsIfLi4EEvPKT_PKiPS0_i"
REDUCE = "_Z12reduce_tilesPKfPfi"
COPY_ATOM = "include/cute/atom/copy_atom.hpp"
LOADS = {0x381, 0x981, 0x980}
STORES = {0x386, 0x986, 0x385, 0x985}

SCENARIOS = {}


class Built:
    """What a scenario returns: the process, how to write it, and what its truth needs beside the threads."""

    def __init__(self, process, options=None, blamed=None, verdict="fault", dump=None,
                 variables=(), memory=()):
        self.process, self.options, self.blamed, self.verdict = process, options or Options(), blamed, verdict
        self.variables = variables  # (frame, expression, value) of the focus thread
        self.memory = memory  # (space, address, u32 or None: not in the dump) as the focus thread sees it
        self.model = dump or process.dump(self.options.driver)

    def truth(self):
        facts = truth.of(self.process, self.blamed)
        if self.options.driver < 400 and facts["focus"]:  # no uniform registers yet
            known = facts["focus"]["registers"]
            facts["focus"]["registers"] = {name: known[name] for name in known if name[0] != "U"}
        return {"verdict": self.verdict, "driver": self.options.driver, "damaged": self.options.truncate is not None,
                "variables": [dict(zip(("frame", "name", "value"), v)) for v in self.variables],
                "memory": [dict(zip(("space", "address", "value"), m)) for m in self.memory], **facts}


def scenario(name, cuda_gdb=None):
    """cuda_gdb: None when cuda-gdb 12.4 can show what is true of this dump, else the reason why it cannot."""

    def register(function):
        SCENARIOS[name] = (function, cuda_gdb)
        return function

    return register


def spread(launch, count, state, sms=(0, 2, 4, 6, 1, 3), first=0):
    """Places blocks the way a scheduler does, one SM after the other; state(block number, warp) -> State."""
    grid = launch.grid
    for number in range(count):
        linear = first + number
        block = (linear % grid[0], linear // grid[0] % grid[1], linear // (grid[0] * grid[1]))
        launch.place(sms[number % len(sms)], block, lambda warp, n=linear: state(n, warp))


def gather(process, cubin="deep.li.sm_90.cubin", device=0, blocks=4, exception=14, warp_of_fault=(1, 1), sms=(0, 2, 4, 6),
           context=None, faulty=None, **load):
    """A gather kernel whose index array holds a wild value; returns the launch and the two positions of interest."""
    context = context or process.context(device)
    module = context.load(cubin, **load)
    table = 0x7f3a00000000 + (process.grids << 32)
    index, out = table + 0x10000000, table + 0x20000000
    launch = process.launch(context, module, GATHER, (512, 1, 1), (64, 1, 1),
                            params=struct.pack("<QQQi", table, index, out, 512 * 64))
    process.memory.append((table, process.pattern(0x2000, 7)))
    process.memory.sort(key=lambda part: part[0])
    bad = module.at(GATHER, COPY_ATOM, "cute_load", LOADS)
    stuck = module.at(GATHER, COPY_ATOM, "cute_load", STORES)
    before = module.at(GATHER, "deep.cu", "user_kernel", LOADS)
    wild = {lane: table + 0x10 * (lane * 0x3fff1) for lane in range(32)}

    def state(block, warp):
        if (block, warp) == warp_of_fault:
            return State(stuck, error=bad, exception=exception, address=wild, faulty=faulty)
        return State(before.later(1) if (block + warp) % 3 else stuck)

    spread(launch, blocks, state, sms=sms)
    return launch, bad, stuck


@scenario("illegal-address")
def illegal_address():
    """Deep inlined -lineinfo code: the faulting load is in a library header, the user's line a few frames out."""
    process = Process(H100)
    launch, bad, _ = gather(process)
    launch.device.blame(2, 14, bad)
    return Built(process, Options(flags=FLAG_SKIP_IMAGES))


@scenario("system-kernel")
def system_kernel():
    """The same fault in a kernel that the driver launched itself, for a call of the host (kernelType 1)."""
    process = Process(H100)
    launch, bad, _ = gather(process)
    launch.device.blame(2, 14, bad)
    launch.node.row["kernelType"] = 1
    return Built(process)


@scenario("misaligned-G")
def misaligned_debug():
    """A -G build, three real calls deep, with local memory. The step is 6 bytes where it must be a multiple of 4, so the
    second row begins at an odd word. All variables of the faulting block are planted: registers, saved registers and
    structures on the stack as this cubin's debug information places them."""
    process = Process(A100, local=True)
    module = process.context().load("calls.G.sm_80.cubin")
    base, step, rows, out = 0x7f3a12000000, 6, 5, 0x7f3a12100000
    launch = process.launch(module.context, module, "_Z8checksumPKciiPi", (8, 1, 1), (32, 1, 1),
                            params=struct.pack("<QiiQ", base, step, rows, out))
    bad = module.at("_Z9read_wordPKc", "calls.cu", "read_word", {0x980})
    frames = tuple(module.at(f, "calls.cu", m, cb.CALLS).later(1) for f, m in (
        ("_Z7sum_row6Cursori", "sum_row"), ("_Z4fold6Cursori", "fold"), ("_Z8checksumPKciiPi", "checksum")))

    def at(lane):
        return base + 4 * lane + step

    def cursor(lane, row):
        return struct.pack("<Qi", base + 4 * lane + step * row, step)

    # Second row (r = 1, n = 2), first word of it (i = 0). Stack: read_word 0, sum_row 0x40, fold 0x38, checksum 0x10 bytes.
    regs = {6: at, 7: lambda lane: at(lane) >> 32, 18: at, 17: lambda lane: at(lane) >> 32, 19: lambda _: 0,
            22: lambda _: 0, 23: lambda _: 2}
    stack = {-0x88: lambda lane: cursor(lane, 1), -0x48: lambda lane: cursor(lane, 1), -0x10: lambda lane: cursor(lane, 0),
             -0x48 - 0x28: lambda lane: struct.pack("<iii", 1000 + lane, 1, rows)}

    def state(block, _):
        if block == 1:
            return State(bad.later(1), frames, error=bad, exception=6, regs=regs, stack=stack,
                         address={lane: at(lane) for lane in range(32)})
        return State(frames[0].later(-4), frames[1:]) if block else State(bad.later(2), frames)

    spread(launch, 3, state)
    launch.device.blame(2, 6, bad)
    process.memory.append((base, struct.pack("<128i", *range(1000, 1128))))
    lane = 0
    variables = [(0, "word", at(lane)), (1, "at", at(lane)), (1, "i", 0), (1, "n", 2), (1, "sum", 0),
                 (1, "cursor.base", at(lane)), (1, "cursor.step", step), (2, "rows", rows), (2, "r", 1),
                 (2, "total", 1000 + lane), (2, "cursor.base", at(lane)), (3, "cursor.base", base + 4 * lane),
                 (3, "bytes", base), (3, "step", step), (3, "rows", rows), (3, "out", out)]
    return Built(process, Options(driver=590, flags=FLAG_SKIP_IMAGES), variables=variables)


@scenario("hang")
def hang():
    """No exception anywhere: the first thread of each block spins in a hand-made grid barrier, the rest wait for it. Two of
    16 blocks are on the GPU, and the counter says so: it is 2 and has to be 16. Registers are what the code left in them."""
    process = Process(H100)
    context = process.context()
    module = context.load("hang.li.sm_90.cubin")
    kernel = "_Z12wait_for_allPjPfj"
    arrived, data, blocks = 0x7f3a40000000, 0x7f3a40200000, 16
    launch = process.launch(context, module, kernel, (blocks, 1, 1), (128, 1, 1), shared=0x600,
                            params=struct.pack("<QQI", arrived, data, blocks))
    spin = module.at(kernel, "hang.cu", "spin", {0x981, 0x980})
    barrier = module.at(kernel, "hang.cu", "block_barrier", cb.BARRIER)
    process.memory += [(arrived, struct.pack("<I", 2).ljust(512, b"\0")), (data, process.pattern(4 * 128 * blocks, 3))]

    def state(block, warp):
        def thread(lane):
            return 32 * warp + lane

        def own(lane):
            return data + 4 * (128 * block + thread(lane))

        regs = {0: lambda lane: 3 + 0x10001 * (128 * block + thread(lane)) if thread(lane) else 2, 2: own,
                3: lambda lane: own(lane) >> 32, 4: lambda lane: 0x400 + 4 * (127 - thread(lane)),
                5: lambda lane: 0x400 + 4 * thread(lane), 6: lambda lane: 0 if thread(lane) else arrived,
                7: lambda lane: 0 if thread(lane) else arrived >> 32}
        planted = {"regs": regs, "uregs": {4: 0x400, 5: blocks}, "preds": {0: lambda lane: thread(lane) != 0}}
        if warp == 0:
            return State({lane: spin if lane == 0 else barrier for lane in range(32)}, active=1, **planted)
        return State(barrier, barrier=3, **planted)

    spread(launch, 2, state, sms=(0, 2))
    return Built(process, Options(flags=FLAG_SKIP_IMAGES), verdict="hang",
                 memory=(("global", arrived, 2), ("parameter", 0x210, arrived & 0xffffffff), ("parameter", 0x220, blocks)))


def without_threads():
    """A process whose kernels have all left, and the place of a store of one of them."""
    process = Process(H100)
    context = process.context()
    module = context.load("deep.li.sm_90.cubin")
    context.load("pair.li.sm_90.cubin")
    for sm in process.devices[0].node.sms:
        sm.ctas = []
    return process, module.at(REDUCE, "deep.cu", "user_store", STORES)


@scenario("exited", cuda_gdb="no thread is left, and 12.4 does not read the exception of an SM row")
def exited():
    """The fault was found after the warp had left: context and modules are there, the grid table has no row, no SM has a
    block, one SM row holds the exception and the error PC."""
    process, bad = without_threads()
    process.devices[0].blame(77, 14, bad)
    return Built(process, Options(), blamed=bad)


@scenario("exited-r550", cuda_gdb="no thread is left")
def exited_before_sm_exceptions():
    """The same from a driver that did not record exceptions of SMs: nothing in the dump tells of the fault, nor that there
    was none."""
    return Built(without_threads()[0], Options(driver=550), verdict="unknown")


@scenario("illegal-address-sm-row", cuda_gdb="12.4 does not read the exception of an SM row")
def illegal_address_sm_row():
    """As newer drivers write it: no lane has an exception, the SM row has it, and the error PC of one warp is valid."""
    process = Process(H100)
    launch, bad, _ = gather(process, exception=0)
    launch.device.blame(2, 14, bad)
    return Built(process)


@scenario("illegal-address-some-lanes")
def illegal_address_some_lanes():
    """Only lanes 5 and 9 carry the exception; the rest of the warp is active beside them."""
    process = Process(H100)
    gather(process, faulty=1 << 5 | 1 << 9)
    return Built(process, Options(driver=550))


@scenario("misaligned-lineinfo")
def misaligned_lineinfo():
    """-O3 -lineinfo with real calls: callees are local symbols inside the kernel's section, lines in one sequence."""
    process = Process(H100)
    module = process.context().load("calls.li.sm_90.cubin")
    launch = process.launch(module.context, module, "_Z8checksumPKciiPi", (8, 1, 1), (32, 1, 1))
    bad = module.at("$_Z9read_wordPKc", "calls.cu", "read_word", {0x980})
    frames = tuple(module.at(f, "calls.cu", m, cb.CALLS).later(1) for f, m in (
        ("$_Z7sum_row6Cursori", "sum_row"), ("$_Z4fold6Cursori", "fold"), ("_Z8checksumPKciiPi", "checksum")))
    spread(launch, 3, lambda block, _: State(bad.later(1), frames, error=bad, exception=6) if block == 2
           else State(bad.later(2), frames))
    return Built(process)


@scenario("assert")
def assertion():
    """A failed assert: the lanes stand in system code that no module of the dump holds; the assert's own frame is a
    caller. One of the frames counts as a syscall."""
    process = Process(H100)
    syscall = Foreign(0x7f2b3fe00500, 0x100)
    module = process.context().load("stop.li.sm_90.cubin", externs={"__assertfail": 0x7f2b3fe00400})
    kernel = "_Z14checked_gatherPKiPKfPfi"
    launch = process.launch(module.context, module, kernel, (4, 1, 1), (64, 1, 1))
    frames = (module.at("$_Z11check_indexii", "stop.cu", "assert", cb.CALLS).later(1),
              module.at(kernel, "stop.cu", "call_check", cb.CALLS).later(1))
    load = module.at(kernel, "stop.cu", "call_check", LOADS)

    def state(block, warp):
        if (block, warp) == (2, 0):
            return State({lane: syscall if lane >= 3 else frames[1] for lane in range(32)},
                         {lane: frames if lane >= 3 else () for lane in range(32)}, active=0xfffffff8, error=syscall,
                         exception=12, syscall_depth=1)
        return State(load.later(1))

    spread(launch, 4, state)
    launch.device.blame(4, 12, syscall)
    return Built(process)


@scenario("trap")
def trap():
    """asm("trap;") by the odd lanes: no exception code exists for it, only the warp's broken flag. The last warp of each
    block is partly filled."""
    process = Process(H100)
    module = process.context().load("stop.li.sm_90.cubin")
    kernel = "_Z11trap_if_oddPi"
    launch = process.launch(module.context, module, kernel, (2, 1, 1), (48, 1, 1))
    stop = module.at(kernel, "stop.cu", "trap")
    after = module.at(kernel, "stop.cu", "after_trap")

    def state(block, warp):
        if (block, warp) == (1, 1):
            return State({lane: stop if lane & 1 else after for lane in range(32)}, active=0xaaaa, broken=True)
        return State(after)

    spread(launch, 2, state)
    return Built(process)


@scenario("shared-out-of-range")
def shared_out_of_range():
    """A shared load past the block's dynamic shared memory; 128 bytes are there."""
    process = Process(H100)
    module = process.context().load("stop.li.sm_90.cubin")
    kernel = "_Z14shared_overrunPii"
    launch = process.launch(module.context, module, kernel, (1, 1, 1), (32, 1, 1), shared=128)
    load = module.at(kernel, "stop.cu", "shared_load", {0x984})
    launch.place(0, (0, 0, 0), lambda _: State(load.later(1), error=load, exception=5,
                                               address={lane: 0x400 + lane * 0x3e80 for lane in range(32)}))
    return Built(process)


def cluster_fault(code, target):
    process = Process(H100)
    module = process.context().load("cluster.li.sm_90.cubin")
    kernel = "_Z8exchangePjj"
    launch = process.launch(module.context, module, kernel, (8, 1, 1), (64, 1, 1), cluster=(4, 1, 1), shared=256)
    load = module.at(kernel, "cluster.cu", "remote_load", {0x980})
    wait = module.at(kernel, "cluster.cu", "cluster_sync")

    def state(block, warp):
        return State(load.later(1), exception=code) if (block, warp) == (6, 1) else State(wait if block < 4 else load)

    spread(launch, 8, state, sms=(0, 2, 4, 6, 8, 10, 12, 14))
    launch.device.blame(12, code, target=target)
    return Built(process)


@scenario("cluster-out-of-range")
def cluster_out_of_range():
    """Code 17: another block's shared memory past its size. cuda-gdb numbers it 18. The SM row names the target block;
    cluster exceptions have no error PC."""
    return cluster_fault(17, (7, 0, 0))


@scenario("cluster-block-gone")
def cluster_block_gone():
    """Code 18: the target block is not there. cuda-gdb numbers it 17."""
    return cluster_fault(18, (4, 0, 0))


@scenario("bad-pc")
def bad_pc():
    """A call through a wild function pointer: the pc lies in no module, the caller's frame does."""
    process = Process(H100)
    module = process.context().load("bare.none.sm_90.cubin")
    kernel = "_Z8no_linesPKiS0_Pi"
    launch = process.launch(module.context, module, kernel, (1, 1, 1), (32, 1, 1))
    wild = Foreign(0x123456780, 0)
    back = module.op(kernel, cb.CALLS).later(1)
    launch.place(0, (0, 0, 0), lambda _: State(wild, (back,), error=wild, exception=8))
    return Built(process)


@scenario("no-lines")
def no_lines():
    """No debug information: the function is known (a local symbol inside the kernel's section), the line is not."""
    process = Process(A100)
    module = process.context().load("bare.none.sm_80.cubin")
    kernel = "_Z8no_linesPKiS0_Pi"
    launch = process.launch(module.context, module, kernel, (4, 1, 1), (64, 1, 1))
    bad = module.op("$_Z6lookupPKii", LOADS | {0x980})
    back = module.op(kernel, cb.CALLS).later(1)
    spread(launch, 2, lambda block, warp: State(bad.later(1), (back,), error=bad, exception=14)
           if (block, warp) == (1, 0) else State(back))
    return Built(process)


def linked_fault(gpu, cubin):
    process = Process(gpu)
    module = process.context().load(cubin)
    launch = process.launch(module.context, module, "_Z6linkedPfPKfi", (16, 1, 1), (128, 1, 1))
    bad = module.at("_Z7outsidePKfi", "link_b.cu", "tail_sum", {0x980}, nth=3)
    back = module.at("_Z6linkedPfPKfi", "link_a.cu", "linked", cb.CALLS).later(1)
    spread(launch, 1, lambda _, warp: State(bad.later(2), (back,), error=bad, exception=14)
           if warp == 3 else State(bad, (back,)))
    return Built(process)


@scenario("linked")
def linked():
    """A module that nvlink made of two objects: the fault is in the second one's line table, its caller in the first."""
    return linked_fault(A100, "linked.li.sm_80.cubin")


@scenario("linked-sm90", cuda_gdb="12.4 believes the string base that the linker left at 0")
def linked_sm90():
    """The same for sm_90, where the linker leaves the second table's string base at 0: who believes it gives the inlined
    function the first object's name (_Z6scaledPKfi for _Z8tail_sumPKfi), as cuda-gdb 12.4 does."""
    return linked_fault(H100, "linked.li.sm_90.cubin")


@scenario("two-kernels")
def two_kernels():
    """Two kernels of one module at once: the same context numbers mean other rows in each."""
    process = Process(H100)
    module = process.context().load("pair.li.sm_90.cubin")
    one = process.launch(module.context, module, "_Z5firstPfPKfS1_", (64, 1, 1), (64, 1, 1))
    two = process.launch(module.context, module, "_Z6secondPdPKfi", (32, 2, 1), (16, 4, 1))
    leaf = module.at("_Z5firstPfPKfS1_", "pair.cu", "poly_leaf", LOADS)
    bad = module.op("_Z6secondPdPKfi", LOADS, nth=2)
    spread(one, 3, lambda *_: State(leaf), sms=(0, 2, 4))
    spread(two, 3, lambda block, warp: State(bad.later(1), error=bad, exception=14) if (block, warp) == (1, 1)
           else State(bad.later(3)), sms=(1, 2, 3))
    return Built(process)


@scenario("recursion")
def recursion():
    """A stack of 1,000 frames that repeat, as a runaway recursion leaves it; code 35."""
    process = Process(H100)
    module = process.context().load("calls.G.sm_90.cubin")
    launch = process.launch(module.context, module, "_Z8checksumPKciiPi", (1, 1, 1), (4, 1, 1))
    again = module.at("_Z7sum_row6Cursori", "calls.cu", "sum_row", cb.CALLS).later(1)
    fold = module.at("_Z4fold6Cursori", "calls.cu", "fold", cb.CALLS).later(1)
    root = module.at("_Z8checksumPKciiPi", "calls.cu", "checksum", cb.CALLS).later(1)
    stop = module.at("_Z9read_wordPKc", "calls.cu", "read_word", {0x980})
    launch.place(0, (0, 0, 0), lambda _: State(stop, (again,) * 998 + (fold, root), error=stop, exception=35))
    return Built(process)


@scenario("many-faults")
def many_faults():
    """Several SMs with the same fault at the same pc, one with another fault, and one SM row that no warp took up."""
    process = Process(H100)
    launch, bad, stuck = gather(process, blocks=3, exception=14)
    for number, sm in enumerate((8, 10, 12, 14)):
        launch.place(sm, (100 + number, 0, 0), lambda _: State(stuck, error=bad, exception=14))
    other = bad.later(4)
    launch.place(16, (200, 0, 0), lambda _: State(other.later(1), error=other, exception=6))
    launch.device.blame(131, 5, other)
    return Built(process)


def single_code(code):
    process = Process(H100)
    gather(process, blocks=1, exception=code, warp_of_fault=(0, 1))
    return Built(process, Options(flags=FLAG_SKIP_IMAGES))


@scenario("misaligned-toolkit")
def misaligned_toolkit():
    """The toolkit's own headers: a CUB load in code compiled with CUDA 13.0's CCCL, on a pointer of odd elements. Paths of
    the toolkit come in two forms (with and without a version, through bin/..)."""
    process = Process(H100)
    module = process.context().load("toolkit.li.sm_90.cubin")
    kernel = next(f.name for f in module.cubin.functions)
    launch = process.launch(module.context, module, kernel, (256, 1, 1), (64, 1, 1), shared=64)
    bad = module.at(kernel, "toolkit.cu", "user_load", LOADS, nth=2, outermost=True)
    odd = {lane: 0x7f3a00000002 + 8 * lane for lane in range(32)}
    spread(launch, 3, lambda block, warp: State(bad.later(1), error=bad, exception=6, address=odd)
           if (block, warp) == (2, 0) else State(bad))
    launch.device.blame(4, 6, bad)
    return Built(process)


def register_codes():
    """One small dump for every exception code of the API's list, one beyond it and the "unknown" value."""
    reasons = {15: "12.4 prints no label", 16: "12.4 has no case for it"}
    for code in [*range(1, 37), 77, 0xffffffff]:
        def one(code=code):
            return single_code(code)

        one.__doc__ = f"Exception code {code} on the active lanes of one warp."
        why = reasons.get(code, "newer than 12.4" if code > 18 and code != 0xffffffff else None)
        scenario(f"code-{code if code < 100 else 'unknown'}", cuda_gdb=why)(one)


register_codes()
