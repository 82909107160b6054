"""The kernels of hangs.cu: how each is launched, and what a reader of the source says of it.

A state is what the device holds after a while, as when a user asks for a dump: nothing changes any more but the registers of
threads that spin. Its truth is the plan alone: who waits for what, for how many, and what the word has to be.
"""

import random

import planted
from planted import Wrong, words

SETTLED = 60000  # instructions after which every warp has long been where it stays


class Plan:
    """One launch. expect: what a reader of the source says of the hang; none for a kernel that computes, which is stopped after
    `rounds` instructions. fits: so many blocks are resident, and none of the others comes."""

    def __init__(self, params, expect=(), block=(64, 1, 1), grid=(1, 1, 1), cluster=None, verdict="hang", rounds=SETTLED,
                 cooperative=False, fits=None):
        self.params, self.expect, self.block, self.grid, self.cluster = params, list(expect), block, grid, cluster
        self.verdict, self.rounds, self.cooperative, self.fits = verdict, rounds, cooperative, fits


def wait(kind, lanes, **more):
    return {"kind": kind, "lanes": lanes, **more}


def away(state, lanes):
    return {"state": state, "lanes": lanes}


def plans(heap, sm):
    """{kernel: function making its Plan}."""
    out, zero = heap.add(bytes(0x1000)), heap.add(bytes(0x100))
    shared = 0x400 if sm >= 90 else 0  # where variables in shared memory begin

    def spin(lanes, at, value, needs, size=4, **more):
        return wait("spin", lanes, address=at, value=value, bytes=size, needs=needs, **more)

    def vote_without_one_warp():
        return Plan([("Q", out), ("Q", zero)], [
            wait("barrier", 64, barrier=0, expected=None, missing=32, never=0, absent=[away("waits", 32)]),
            spin(32, zero, 0, ["not", 0], owner=1)], block=(96, 1, 1))

    def two_named_barriers():
        return Plan([("Q", out)], [
            wait("barrier", 32, barrier=1, expected=64, missing=32, absent=[away("waits", 32)]),
            wait("barrier", 32, barrier=2, expected=64, missing=32, absent=[away("waits", 32)])])

    def producer_never_arrives():
        word = heap.add(words("I", [2]))
        return Plan([("Q", out), ("Q", word)], [
            wait("barrier", 64, barrier=3, expected=96, missing=32, absent=[away("waits", 32)]),
            spin(32, word, 2, ["at least", 3], owner=1)], block=(96, 1, 1))

    def barrier_in_register():
        return Plan([("Q", out), ("i", 5), ("i", 64)], [
            wait("barrier", 32, barrier=5, expected=64, missing=32, absent=[away("waits", 32)]),
            wait("barrier", 32, barrier=6, expected=64, missing=32, absent=[away("waits", 32)])])

    def count_misses_ended():
        return Plan([("Q", out), ("i", 64)], [
            wait("barrier", 64, barrier=1, expected=96, missing=32, never=32, absent=[away("exited", 32)])], block=(96, 1, 1))

    def arrived_and_went_on():
        return Plan([("Q", out), ("Q", zero)], [
            wait("barrier", 32, barrier=4, expected=96, missing=None),
            spin(32, zero, 0, ["equal", 7], owner=1), spin(32, zero, 0, ["not", 0], owner=1)], block=(96, 1, 1))

    def one_lane_spins():
        return Plan([("Q", out), ("Q", zero)], [
            wait("convergence", 31, missing=1, never=0, absent=[away("waits", 1)]), spin(1, zero, 0, ["not", 0], owner=1)],
            block=(32, 1, 1))

    def lanes_at_two_barriers():
        return Plan([("Q", out)], [
            wait("barrier", 12, barrier=1, expected=32, missing=20, absent=[away("waits", 20)]),
            wait("barrier", 20, barrier=2, expected=32, missing=12, absent=[away("waits", 12)])], block=(32, 1, 1))

    def half_mask():
        return Plan([("Q", out), ("Q", zero)], [
            wait("convergence", 15, missing=1, absent=[away("waits", 1)]), spin(16, zero, 0, ["not", 0], owner=1),
            spin(1, zero, 0, ["not", 0], owner=1)], block=(32, 1, 1))

    def spin_volatile():
        return Plan([("Q", zero), ("Q", out)], [spin(64, zero, 0, ["not", 0], owner=0)])

    def spin_until_count():
        word = heap.add(words("I", [15]))
        return Plan([("Q", word), ("I", 16), ("Q", out)], [spin(64, word, 15, ["at least", 16], owner=0)])

    def spin_asleep():
        return Plan([("Q", zero), ("Q", out)], [spin(64, zero, 0, ["equal", 12], owner=0)])

    def spin_acquire():
        return Plan([("Q", zero), ("Q", out)], [spin(64, zero, 0, ["not", 0], owner=0)])

    def spin_wide():
        word = heap.add(words("Q", [0x1_0000_0005]))
        return Plan([("Q", word), ("Q", 0x1_0000_0005), ("Q", out)], [
            spin(64, word, 0x1_0000_0005, None, size=8, owner=0)])

    def spin_atomic():
        return Plan([("Q", zero), ("Q", out)], [spin(64, zero, 0, ["not", 0], owner=0)])

    def spin_lock():
        word = heap.add(words("I", [0]))
        return Plan([("Q", word), ("Q", out)], [
            wait("barrier", 32, barrier=0, missing=32, owner=None),
            wait("convergence", 31, missing=1), spin(1, word, 1, ["equal", 0], owner=0)])

    def spin_exchange():
        word = heap.add(words("I", [1]))
        return Plan([("Q", word), ("Q", out)], [spin(64, word, 1, ["not", 1], owner=0)])

    def spin_on_shared():
        return Plan([("Q", out)], [spin(64, shared, 0, ["equal", 2])])

    def spin_in_call():
        return Plan([("Q", zero), ("Q", out)], [spin(64, zero, 0, ["not", 0], owner=0)])

    def spin_own_slot():
        return Plan([("Q", zero), ("Q", out)], [spin(64, zero, 0, ["not", 0], one=False, owner=0)])

    def spin_behind_pointer():
        queue = heap.add(words("Q", [zero]))
        return Plan([("Q", queue), ("Q", out)], [spin(64, zero, 0, ["not", 0])])

    def spin_with_limit():
        return Plan([("Q", zero), ("Q", out), ("i", 1 << 30)], [spin(64, zero, 0, ["not", 0], owner=0)])

    def spin_in_switch():
        return Plan([("Q", out), ("i", 3), ("Q", zero)], [spin(64, zero, 0, ["not", 0], owner=2)])

    def object_misses_one():
        return Plan([("Q", out), ("Q", zero)], [
            wait("mbarrier", 32, address=shared, pending=32, parity=0, bytes_pending=0, absent=[away("waits", 32)]),
            spin(32, zero, 0, ["not", 0], owner=1)])

    def cuda_barrier():
        return Plan([("Q", out), ("Q", zero)], [
            wait("mbarrier", 60, address=shared, pending=4, parity=0, bytes_pending=0, absent=[away("waits", 4)]),
            spin(4, zero, 0, ["not", 0], owner=1)])

    def bytes_never_come():
        return Plan([("Q", out)], [wait("mbarrier", 64, address=shared, pending=0, parity=0, bytes_pending=4096)])

    def pipeline():
        source = heap.add(words("I", range(64)))
        return Plan([("Q", out), ("i", 64), ("Q", source)], [
            # the producer: stage 1 was not released by 32; the consumers: it is not filled again
            wait("mbarrier", 32, within=128, pending=32, parity=0, bytes_pending=0, absent=[away("waits", 64)]),
            wait("mbarrier", 64, within=128, pending=32, parity=1, bytes_pending=0, absent=[away("waits", 32)])],
            block=(96, 1, 1))

    def leader_waits():
        return Plan([("Q", out)], [
            wait("mbarrier", 1, address=shared, pending=1, parity=0, bytes_pending=0),
            wait("convergence", 31, missing=1, absent=[away("waits", 1)])], block=(32, 1, 1))

    def cluster_block_elsewhere():
        return Plan([("Q", out), ("Q", zero)], [
            wait("cluster", 64, missing=64, never=0, absent=[away("waits", 64)]), spin(64, zero, 0, ["not", 0], owner=1)],
            grid=(2, 1, 1), cluster=(2, 1, 1))

    def grid_does_not_fit():
        return Plan([("Q", out)], [
            wait("grid", 2, missing_blocks=6, absent=[{"state": "not resident", "blocks": 6}]),
            wait("barrier", None, barrier=0)],
            grid=(8, 1, 1), fits=2)

    def grid_block_elsewhere():
        return Plan([("Q", out), ("Q", zero)], [
            wait("grid", 1, missing_blocks=1, absent=[{"state": "waits", "blocks": 1}]),
            wait("barrier", None, barrier=0), spin(64, zero, 0, ["not", 0], owner=1)],
            grid=(2, 1, 1), cooperative=True)

    def ncclDevKernel_AllReduce_Sum_f32_RING_LL():
        word = heap.add(words("I", [6]))
        return Plan([("Q", word), ("Q", out)], [spin(64, word, 6, ["at least", 7], collective="NCCL all-reduce", owner=0)])

    def nvshmemi_barrier_all_kernel():
        word = heap.add(words("Q", [3]))
        return Plan([("Q", word), ("Q", 4)], [spin(64, word, 3, None, size=8, collective="NVSHMEM barrier", owner=0)])

    def cross_device_reduce_1stage():
        signals = [heap.add(bytes(32)) for _ in range(8)]
        heap.write(signals[2], words("I", [9, 9, 9, 9, 9, 8, 9, 9]))
        table = heap.add(words("Q", signals))
        return Plan([("Q", table), ("Q", signals[2]), ("I", 9), ("Q", out)], [
            spin(1, signals[2] + 20, 8, ["at least", 9], collective="all-reduce between devices", owner=1),
            wait("convergence", 31), wait("barrier", 32, barrier=0)])

    # no wait

    def busy(params, **more):
        return Plan(params, verdict="none", **more)

    def matrix_product():
        a = heap.add(words("f", [0.5] * 0x8000))
        return busy([("Q", a), ("Q", a), ("Q", out), ("i", 0x100)], block=(32, 1, 1), rounds=300)

    def tiled_product():
        a = heap.add(words("f", [0.5] * 0x4000))
        return busy([("Q", a), ("Q", a), ("Q", out), ("i", 0x4000)], block=(32, 1, 1), rounds=500)

    def long_sum():
        return busy([("Q", heap.add(bytes(0x40000))), ("Q", out), ("i", 0x10000)], block=(32, 1, 1), rounds=300)

    def copy_words():
        return busy([("Q", heap.add(bytes(0x40000))), ("Q", heap.add(bytes(0x40000))), ("i", 0x4000)], block=(32, 1, 1), rounds=300)

    def take_work():
        return busy([("Q", heap.add(bytes(4))), ("Q", out), ("i", 1 << 30)], block=(32, 1, 1), rounds=300)

    def follow_links():
        return busy([("Q", heap.add(words("i", [(i + 1) % 4096 for i in range(4096)]))), ("Q", out)], block=(32, 1, 1), rounds=300)

    def find_key():
        return busy([("Q", heap.add(words("i", [9] * 4096))), ("Q", out), ("i", 5), ("i", 4095)], block=(32, 1, 1), rounds=300)

    def string_length():
        return busy([("Q", heap.add(b"a" * 8192)), ("Q", out)], block=(32, 1, 1), rounds=300)

    def iterate():
        return busy([("f", 2.0), ("Q", out)], block=(32, 1, 1), rounds=300)

    def until_limit_in_memory():
        return busy([("Q", heap.add(words("i", [1 << 30]))), ("Q", out)], block=(32, 1, 1), rounds=300)

    def until_cancelled():
        return busy([("Q", zero), ("Q", out), ("i", 1 << 30)], block=(32, 1, 1), rounds=300)

    def add_until_full():
        return busy([("Q", heap.add(bytes(4))), ("Q", out)], block=(32, 1, 1), rounds=300)

    def walk_by_calls():
        return busy([("Q", heap.add(words("i", [1] * 8192))), ("Q", out)], block=(32, 1, 1), rounds=300)

    return {name: make for name, make in locals().items()
            if callable(make) and name not in ("spin", "busy", "heap")}


def grid_words(console, image, heap, device):
    """The words that blocks of a grid wait by, put where code looks for them; a driver gives them to cooperative launches only,
    whose blocks all fit."""
    at, bank = heap.add(bytes(64)), next(bank["addr"] for bank in device["grids"][0]["banks"] if bank["bankId"] == 0)
    console.ask("write", bank + planted.GRID_WORDS[image.sm], words("I", [at >> 32, at & 0xffffffff]).hex())


def reads_of(plan, image, device, memory):
    """[start, size] of what threads may be reading, by the source, until it changes."""
    ranges = [[one["address"], one.get("bytes", 8)] for one in plan.expect if "address" in one]
    ranges += [[0x400 if image.sm >= 90 else 0, one["within"]] for one in plan.expect if "within" in one]
    if any(one["kind"] == "grid" for one in plan.expect):
        bank = next(bank["addr"] for bank in device["grids"][0]["banks"] if bank["bankId"] == 0)
        content = next(one["bytes"] for one in memory if one["address"] == bank)[planted.GRID_WORDS[image.sm]:]
        ranges.append([int.from_bytes(content[:4], "little") << 32 | int.from_bytes(content[4:8], "little"), 64])
    return ranges


def state_of(console, image, kernel, symbol, run):
    """The state of a kernel that hangs or computes, with its truth."""
    fits = plans(planted.NoHeap(), image.sm)[kernel]().fits
    planted.start(console, image, run, n_sms=1 if fits else 0)
    heap = planted.Heap(console)
    plan = plans(heap, image.sm)[kernel]()
    # so much dynamic shared memory that two blocks fit on a multiprocessor
    planted.launch(console, symbol, plan, {80: 56, 120: 40}.get(image.sm, 76) * 1024 if fits else 0, plan.cooperative)
    if fits:
        grid_words(console, image, heap, planted.dump(console)[0])
    answer = console.ask("run", plan.rounds + random.Random(f"{kernel} {run.seed}").randrange(4000 if plan.expect else 100))
    if answer[0] not in (planted.LIMIT, planted.STUCK) or (answer[0] == planted.STUCK and not plan.expect):
        raise Wrong(f"outcome {answer[0]}, exception {answer[1]:#x} at {answer[2]:#x}")
    device, memory = planted.dump(console)
    state = planted.state_of(device, memory, plan, most=0x1000)
    return {"kernel": kernel, "symbol": symbol, **state,
            "truth": {"verdict": plan.verdict, "waits": plan.expect, "reads": reads_of(plan, image, device, memory)}}, planted.addresses(device)
