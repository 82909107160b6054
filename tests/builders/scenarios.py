"""Named dumps. Each scenario is a function that freezes a process and says how to write it; its docstring is the reason
that it exists. build.py writes the dump and, beside it, what is true of it."""

import os

import cubin as cb
import truth
from coredump import FLAG_SKIP_IMAGES, Options
from machine import A100, H100, Process, State

GATHER = "_Z11gather_rowsIfLi4EEvPKT_PKiPS0_i"
REDUCE = "_Z12reduce_tilesPKfPfi"
COPY_ATOM = "include/cute/atom/copy_atom.hpp"
LOADS = {0x381, 0x981, 0x980}
STORES = {0x386, 0x986, 0x385, 0x985}

SCENARIOS = {}


class Built:
    """What a scenario returns: the process, how to write it, and what its truth needs beside the threads."""

    def __init__(self, process, options=None, blamed=None, verdict="fault"):
        self.process, self.options, self.blamed, self.verdict = process, options or Options(), blamed, verdict

    def truth(self):
        return {"verdict": self.verdict, "driver": self.options.driver, **truth.of(self.process, self.blamed)}


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
    launch = process.launch(context, module, GATHER, (512, 1, 1), (64, 1, 1))
    bad = module.at(GATHER, COPY_ATOM, "cute_load", LOADS)
    stuck = module.at(GATHER, COPY_ATOM, "cute_load", STORES)
    index = module.at(GATHER, "deep.cu", "user_kernel", LOADS)
    wild = {lane: 0x7f3a00000000 + 0x10 * (lane * 0x3fff1) for lane in range(32)}

    def state(block, warp):
        if (block, warp) == warp_of_fault:
            return State(stuck, error=bad, exception=exception, address=wild, faulty=faulty)
        return State(index.later(1) if (block + warp) % 3 else stuck)

    spread(launch, blocks, state, sms=sms)
    return launch, bad, stuck


@scenario("illegal-address")
def illegal_address():
    """Deep inlined -lineinfo code: the faulting load is in a library header, the user's line a few frames out."""
    process = Process(H100)
    launch, bad, _ = gather(process)
    launch.device.blame(2, 14, bad)
    return Built(process, Options(flags=FLAG_SKIP_IMAGES))


@scenario("misaligned-G")
def misaligned_debug():
    """A -G build with real calls: five functions deep, local memory, return addresses."""
    process = Process(A100, local=True)
    context = process.context()
    module = context.load("calls.G.sm_80.cubin")
    launch = process.launch(context, module, "_Z8checksumPKciiPi", (8, 1, 1), (32, 1, 1))
    bad = module.at("_Z9read_wordPKc", "calls.cu", "read_word", {0x980})
    frames = tuple(module.at(f, "calls.cu", m, cb.CALLS).later(1) for f, m in (
        ("_Z7sum_row6Cursori", "sum_row"), ("_Z4fold6Cursori", "fold"), ("_Z8checksumPKciiPi", "checksum")))
    odd = {lane: 0x7f3a12000002 + 4 * lane for lane in range(32)}

    def state(block, warp):
        if block == 1:
            return State(bad.later(1), frames, error=bad, exception=6, address=odd)
        return State(frames[0].later(-4), frames[1:]) if block else State(bad.later(2), frames)

    spread(launch, 3, state)
    launch.device.blame(2, 6, bad)
    return Built(process, Options(driver=590, flags=FLAG_SKIP_IMAGES))


@scenario("hang")
def hang():
    """No exception anywhere: the first thread of every block spins in a hand-made grid barrier, the rest wait for it."""
    process = Process(H100)
    context = process.context()
    module = context.load("hang.li.sm_90.cubin")
    kernel = "_Z12wait_for_allPjPfj"
    launch = process.launch(context, module, kernel, (16, 1, 1), (128, 1, 1), shared=512)
    spin = module.at(kernel, "hang.cu", "spin", {0x981, 0x980})
    barrier = module.at(kernel, "hang.cu", "block_barrier", cb.BARRIER)

    def state(_, warp):
        if warp == 0:
            return State({lane: spin if lane == 0 else barrier for lane in range(32)}, active=1)
        return State(barrier, barrier=3)

    spread(launch, 2, state, sms=(0, 2))
    return Built(process, Options(flags=FLAG_SKIP_IMAGES), verdict="hang")


@scenario("exited", cuda_gdb="no thread is left, and 12.4 does not read the exception of an SM row")
def exited():
    """The fault was found after the warp had left: context and modules are there, the grid table has no row, no SM has a
    block, one SM row holds the exception and the error PC."""
    process = Process(H100)
    context = process.context()
    module = context.load("deep.li.sm_90.cubin")
    context.load("pair.li.sm_90.cubin")
    bad = module.at(REDUCE, "deep.cu", "user_store", STORES)
    process.devices[0].blame(77, 14, bad)
    for sm in process.devices[0].node.sms:
        sm.ctas = []
    return Built(process, Options(), blamed=bad)


def build(name, folder):
    """Writes NAME.nvcudmp and NAME.truth.json data; returns (bytes, truth)."""
    import coredump
    function, why_not = SCENARIOS[name]
    built = function()
    data = coredump.write(built.process.dump(built.options.driver), built.options)
    facts = {"scenario": name, "what": " ".join(function.__doc__.split()), "cuda_gdb_cannot": why_not, **built.truth()}
    return data, facts
