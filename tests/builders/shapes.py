"""Scenarios about the file rather than the fault: layouts, orders, sizes, what is left out, what is damaged."""

import random
import struct

import coredump
import cubin as cb
from coredump import FLAG_SKIP_IMAGES, Options
from layout import DRIVERS
from machine import (A100, B200, H100, LOCAL_BYTES, LOCAL_WINDOW, SHARED_WINDOW, STACK_TOP, Process, State,
                     cubin_bytes)
from scenarios import GATHER, LOADS, REDUCE, STORES, Built, gather, scenario, spread

LIGHTWEIGHT = 0x2f  # images, global, shared, local and constant bank memory left out


def register_layouts():
    """The same process in the layout of every driver that changed it."""
    for driver in DRIVERS:
        def one(driver=driver):
            process = Process(A100)
            launch, bad, _ = gather(process, "deep.li.sm_80.cubin", blocks=2)
            launch.device.blame(2, 14, bad)
            return Built(process, Options(driver=driver))

        one.__doc__ = f"The entry sizes of driver r{driver}."
        scenario(f"layout-r{driver}")(one)


register_layouts()


@scenario("abi7")
def abi7():
    """Cubins with the older ELF header (OSABI 0x33, ABI version 7), as CUDA 12 and before made them."""
    process = Process(A100)
    gather(process, cb.to_abi7(cubin_bytes("deep.li.sm_80.cubin")))
    return Built(process, Options(driver=550))


@scenario("sm100")
def blackwell():
    """An sm_100 cubin: the debug sections exist twice, the .nv.merc copies must be left alone."""
    process = Process(B200)
    gather(process, "deep.li.sm_100.cubin")
    return Built(process)


@scenario("relocs-kept")
def relocs_kept():
    """The relocated images still hold their relocation sections (addends in place): they must not be applied again."""
    process = Process(A100)
    gather(process, "deep.li.sm_80.cubin", keep_relocs=True)
    return Built(process)


@scenario("classic", cuda_gdb="12.4 shows ?? for the host addresses of the classic back end")
def classic():
    """The older back end: virtual PCs and return addresses are host addresses of a copy of the code."""
    process = Process(A100, classic=True)
    launch, _, _ = gather(process, "deep.li.sm_80.cubin", blocks=2)
    return Built(process, Options(driver=400))


@scenario("two-devices")
def two_devices():
    """Both devices run the kernel; the fault is on the second."""
    process = Process(H100, H100)
    good, _, _ = gather(process, warp_of_fault=None)
    gather(process, device=1)
    return Built(process)


@scenario("two-contexts")
def two_contexts():
    """Two contexts of one device with one module each (the same cubin at two addresses); the fault is in the second."""
    process = Process(H100)
    one, two = process.context(0, 4211), process.context(0, 4212)
    gather(process, context=one, warp_of_fault=None, sms=(0, 2))
    gather(process, context=two, sms=(1, 3))
    return Built(process)


def shuffled_process(ids):
    process = Process(H100, H100, ids=ids)
    gather(process, warp_of_fault=None)
    launch, _, _ = gather(process, device=1, blocks=6)
    rng = random.Random(7)
    for device in process.devices:
        sms = [sm for sm in device.node.sms if sm.ctas or rng.random() < 0.3]
        rng.shuffle(sms)
        device.node.sms[:] = sms
        for sm in sms:
            rng.shuffle(sm.ctas or [])
            for cta in sm.ctas or []:
                rng.shuffle(cta.warps)
                for warp in cta.warps:
                    rng.shuffle(warp.lanes)
    return process


@scenario("shuffled")
def shuffled():
    """Rows of all tables in random order with SM rows missing, sections in random order: numbers come from the entries."""
    return Built(shuffled_process(None), Options(shuffle=3))


@scenario("gaps", cuda_gdb='12.4 refuses it ("Could not find Module table entry"): it takes device numbers for table rows')
def gaps():
    """As shuffled, and the device numbers are 3 and 5."""
    return Built(shuffled_process((3, 5)), Options(shuffle=4, headers="last"))


@scenario("warp-gaps")
def warp_gaps():
    """Warp slots with holes: the block's warps sit in slots 17 and 40."""
    process = Process(H100)
    launch, bad, stuck = gather(process, blocks=1, warp_of_fault=None)
    threads = len(process.threads)
    launch.place(9, (9, 0, 0), lambda warp: State(stuck, error=bad, exception=14) if warp else State(stuck),
                 first_warp=17)
    warp = process.devices[0].sm(9).ctas[0].warps[1]
    warp.row["warpId"] = 40
    for thread in process.threads[threads:]:
        if thread.warp == 18:
            thread.warp = 40
    return Built(process)


@scenario("headers-last")
def headers_last():
    """The section header table at the end of the file."""
    process = Process(H100)
    gather(process)
    return Built(process, Options(headers="last"))


@scenario("plain-counts")
def plain_counts():
    """Section count and name table in the ELF header itself, not escaped into section 0."""
    process = Process(H100)
    gather(process, blocks=1, warp_of_fault=(0, 0))
    return Built(process, Options(escape=False, headers="last", flags=FLAG_SKIP_IMAGES))


@scenario("wide-rows")
def wide_rows():
    """Rows 24 bytes longer than any known driver writes, and sections of unknown types: a future driver."""
    process = Process(H100)
    launch, bad, _ = gather(process)
    launch.device.blame(2, 14, bad)
    return Built(process, Options(driver=615, extra_stride=24, unknown=50))


@scenario("short-rows")
def short_rows():
    """Strides without the trailing padding words, as one public generator writes them."""
    process = Process(H100)
    gather(process)
    return Built(process, Options(strides={"device": 84, "cta": 52, "meta": 24, "grid": 132}))


@scenario("lightweight")
def lightweight():
    """All memory and the non-relocated images left out by flags."""
    process = Process(H100, local=True)
    gather(process)
    return Built(process, Options(flags=LIGHTWEIGHT))


@scenario("gzip", cuda_gdb='12.4 refuses it: "ident verification failed"')
def compressed():
    """The whole file compressed, as drivers of CUDA 13.1 can write it."""
    process = Process(H100)
    gather(process)
    return Built(process, Options(gzip=True, flags=coredump.FLAG_GZIP))


@scenario("many-sections")
def many_sections():
    """More than 65,535 sections: 11 full SMs."""
    process = Process(H100)
    module = process.context().load("pair.li.sm_90.cubin")
    launch = process.launch(module.context, module, "_Z5firstPfPKfS1_", (4096, 1, 1), (256, 1, 1))
    launch.regs = 8
    leaf = module.at("_Z5firstPfPKfS1_", "pair.cu", "poly_leaf", LOADS)
    bad = module.at("_Z5firstPfPKfS1_", "pair.cu", "first", LOADS)
    for number in range(88):
        launch.place(number % 11, (number, 0, 0), lambda warp, n=number: State(
            leaf, error=bad, exception=14) if (n, warp) == (80, 5) else State(leaf if warp & 1 else bad))
    return Built(process, Options(flags=LIGHTWEIGHT))


@scenario("many-modules")
def many_modules():
    """Three thousand modules; the kernel's is loaded last."""
    process = Process(H100)
    context = process.context()
    for _ in range(3000):
        context.load("bare.none.sm_90.cubin", with_image=False)
    gather(process, context=context)
    return Built(process, Options(flags=FLAG_SKIP_IMAGES))


@scenario("long-names")
def long_names():
    """A kernel whose mangled name has more than 4 kB."""
    process = Process(H100)
    module = process.context().load("longname.li.sm_90.cubin")
    kernel = next(f.name for f in module.cubin.functions)
    launch = process.launch(module.context, module, kernel, (4, 1, 1), (32, 1, 1))
    bad = module.at(kernel, "longname.cu", "touch", LOADS)
    spread(launch, 2, lambda block, _: State(bad.later(1), error=bad, exception=14) if block else State(bad))
    return Built(process)


@scenario("empty", cuda_gdb="nothing to focus on")
def empty():
    """Devices that no context used: every table present with zero rows, or absent."""
    process = Process(H100, H100)
    process.devices[1].node.contexts = process.devices[1].node.grids = None
    for sm in process.devices[0].node.sms:
        sm.ctas = []
    return Built(process, verdict="none")


@scenario("sparse-levels", cuda_gdb="12.4 refuses a dump whose valid lanes have no row")
def sparse_levels():
    """Levels that stop early: SMs without a block table, a block without warps, a warp without lanes, lanes without
    registers, predicates or stack."""
    process = Process(H100)
    launch, _, stuck = gather(process)
    launch.place(20, (20, 0, 0), lambda _: State(stuck)).warps = None
    launch.place(21, (21, 0, 0), lambda _: State(stuck)).warps = []
    launch.place(22, (22, 0, 0), lambda _: State(stuck)).warps[1].lanes = None
    process.threads = [t for t in process.threads if t.sm not in (20, 21) and (t.sm, t.warp) != (22, 1)]
    for lane in process.devices[0].sm(0).ctas[0].warps[0].lanes:
        lane.regs = lane.preds = lane.frames = None
    return Built(process)


@scenario("three-dimensions")
def three_dimensions():
    """Grid and block with three dimensions, a last warp that is partly filled."""
    process = Process(H100)
    module = process.context().load("deep.li.sm_90.cubin")
    launch = process.launch(module.context, module, REDUCE, (7, 5, 3), (6, 5, 3), shared=512)
    bad = module.at(REDUCE, "include/cub/thread/thread_load.cuh", "cub_load", LOADS)
    store = module.at(REDUCE, "deep.cu", "user_store", STORES)

    def state(block, warp):
        if (block, warp) == (50, 2):
            return State(bad.later(2), error=bad, exception=14, faulty=1 << 25)
        return State(store if block % 2 else bad.later(2))

    spread(launch, 4, state, first=48)
    return Built(process)


@scenario("memory")
def memory():
    """Ranges for address questions: two adjacent blocks, a gap, an overlap (global sections carry no device; both hold the
    asked word at the probes), one managed block, local memory, shared memory, parameters and constant banks."""
    process = Process(H100, local=True)
    context = process.context()
    module = context.load("deep.li.sm_90.cubin")
    launch = process.launch(context, module, GATHER, (512, 1, 1), (64, 1, 1), shared=1024,
                            params=struct.pack("<QQQi", 0x7f3000000000, 0x7f3000001000, 0x7f3000010000, 4096))
    bad = module.at(GATHER, "deep.cu", "user_kernel", LOADS)
    launch.place(4, (4, 0, 0), lambda _: State(bad.later(1), error=bad, exception=14))
    for address, size, seed in ((0x7f3000000000, 0x1000, 1), (0x7f3000001000, 0x800, 2), (0x7f3000002000, 0x100, 3),
                                (0x7f3000010000, 0x200, 4), (0x7f3000010100, 0x200, 5)):
        process.memory.append((address, process.pattern(size, seed)))
    dump = process.dump()
    dump.memory.append(coredump.Memory({"address": 0x7f6000000000, "managed": True}, data=process.pattern(0x400, 6)))

    def word(seed, offset):
        return offset // 4 * 0x10001 + seed

    stack = STACK_TOP - LOCAL_BYTES
    probes = [
        ("global", 0x7f3000000000, word(1, 0)), ("global", 0x7f3000000ffc, word(1, 0xffc)),
        ("global", 0x7f3000001000, word(2, 0)), ("global", 0x7f30000017fc, word(2, 0x7fc)),
        ("global", 0x7f3000001800, None), ("global", 0x7f2fffffffff, None), ("global", 0x7f30000020fc, word(3, 0xfc)),
        ("global", 0x7f3000010080, word(4, 0x80)), ("global", 0x7f30000102fc, word(5, 0x1fc)),
        ("shared", 0, word(4, 0)), ("shared", 0x3fc, word(4, 0x3fc)), ("shared", 0x400, None),
        ("local", stack, word(0, 0)), ("local", STACK_TOP - 4, word(0, LOCAL_BYTES - 4)), ("local", STACK_TOP, None),
        ("generic", 0x7f3000001004, word(2, 4)), ("generic", SHARED_WINDOW + 0x3fc, word(4, 0x3fc)),
        ("generic", LOCAL_WINDOW + stack + 8, word(0, 8)),
        ("parameter", launch.node.row["paramsOffset"] + 24, 4096),
    ]
    return Built(process, dump=dump, memory=probes)


@scenario("convergence")
def convergence():
    """Every convergence barrier, mask and lane state of every warp, and every text of the driver, is another one: no hardware would
    hold such values, but a reader that mixes two of them up is found."""
    process = Process(H100)
    launch, bad, _ = gather(process)
    launch.device.blame(2, 14, bad, text="the words of the driver about SM 2")
    warps = []
    for thread in process.threads:
        if thread.warp_node not in warps:
            warps.append(thread.warp_node)
    for number, warp in enumerate(warps):
        warp.row.update(cbuActiveLanesMask=0x10000001 + 0x100 * number, cbuExitedLanesMask=0x20000002 + 0x100 * number,
                        cbuCollectiveLanesMask=0x40000004 + 0x100 * number, barrierScope=number % 6,
                        additionalBarrierInfo=f"barrier of warp {number}")
        warp.barriers = [0x1000 * number + 0x11 * (barrier + 1) for barrier in range(len(warp.barriers))]
        for node in warp.lanes:
            node.row["cbuThreadState"] = 1 + (node.row["ln"] + number) % 25
    return Built(process)


def register_cuts():
    """Dumps that end early. The truth is that of the whole dump."""
    for name, headers, part in (("cut-half", "first", 0.5), ("cut-late", "first", 0.97), ("cut-headers", "first", 0.02),
                                ("cut-no-headers", "last", 0.9)):
        def one(headers=headers, part=part):
            process = Process(H100)
            launch, bad, _ = gather(process)
            launch.device.blame(2, 14, bad)
            whole = len(coredump.write(process.dump(), Options(headers=headers)))
            return Built(process, Options(headers=headers, truncate=int(whole * part)))

        one.__doc__ = f"Cut to {part:.0%} of its bytes, section headers {headers}."
        scenario(name, cuda_gdb="12.4 refuses the file, or ends with a fatal signal")(one)


register_cuts()
