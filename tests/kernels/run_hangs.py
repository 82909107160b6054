#!/usr/bin/env python3
"""Runs the kernels of hangs.cu until nothing changes any more and writes what the GPU would hold then: tests/data/hangs/*.json.gz.

usage: run_hangs.py INTERPRETER [KERNEL...]

INTERPRETER is a folder with sassrun.py, as for run_faults.py. The cubins are those that build.sh made beside the states.

All blocks of a plan that are resident run side by side, one instruction of each warp in turn. What sassrun.py does not know
(barriers with numbers and counts, barriers of clusters, barrier objects) is done here by the words of the PTX manual. A state
holds registers, convergence barriers, stacks, shared and global memory of every warp, and what the plan, which knows the
source, says of it: who waits for what, and for whom. Addresses of shared objects are those that the code used.
"""

import base64
import gzip
import json
import os
import random
import struct
import sys

import run_faults as rf
from run_faults import CONSTANT_WINDOW, Heap, Image, cb, machine

HANGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "hangs")
MASK32 = 0xffffffff
STACK_BYTES = rf.LOCAL_BYTES
# Where the interpreter does not go as the hardware does: branches of warps that diverge at a barrier, lanes that meet again
# inside of a loop, 64-bit conversions, an initialiser whose long loops do not settle, special registers of clusters.
LEFT_OUT = {"lanes_at_two_barriers": ("O3.sm_80", "O3.sm_90", "O3.sm_100", "G.sm_80"),
            "cuda_barrier": ("O3.sm_80", "G.sm_80", "G.sm_90", "G.sm_100"),
            "cluster_block_elsewhere": ("G.sm_90", "G.sm_100")}


class Plan:
    """One launch. expect: what a reader of the source says of the hang; none for a kernel that computes."""

    def __init__(self, params, expect=(), block=(64, 1, 1), grid=(1, 1, 1), resident=None, cluster=None, ended=(),
                 verdict="hang", rounds=0):
        self.params, self.expect, self.block, self.grid = params, list(expect), block, grid
        self.resident = resident or [(0, 0, 0)]  # blocks that run
        self.ended = list(ended)                 # of them: those that end before the state is taken
        self.cluster, self.verdict, self.rounds = cluster, verdict, rounds


def wait(kind, lanes, **more):
    return {"kind": kind, "lanes": lanes, **more}


def away(state, lanes):
    return {"state": state, "lanes": lanes}


def plans(heap, sm):
    """{kernel: function making its Plan}."""
    out = heap.add(bytes(0x1000))
    zero = heap.add(bytes(0x100))

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
        return Plan([("Q", out)], [spin(64, "shared", 0, ["equal", 2])])

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
            wait("mbarrier", 32, pending=32, parity=0, bytes_pending=0, absent=[away("waits", 32)]),
            spin(32, zero, 0, ["not", 0], owner=1)])

    def cuda_barrier():
        return Plan([("Q", out), ("Q", zero)], [
            wait("mbarrier", 60, pending=4, parity=0, bytes_pending=0, absent=[away("waits", 4)]),
            spin(4, zero, 0, ["not", 0], owner=1)])

    def bytes_never_come():
        return Plan([("Q", out)], [wait("mbarrier", 64, pending=0, parity=0, bytes_pending=4096)])

    def pipeline():
        source = heap.add(words("I", range(64)))
        return Plan([("Q", out), ("i", 64), ("Q", source)], [
            wait("mbarrier", 32, pending=32, parity=0, bytes_pending=0),   # the producer: stage 1 was not released by 32
            wait("mbarrier", 64, pending=32, parity=1, bytes_pending=0)],  # the consumers: stage 1 is not filled again
            block=(96, 1, 1))

    def leader_waits():
        return Plan([("Q", out)], [
            wait("mbarrier", 1, pending=1, parity=0, bytes_pending=0),
            wait("convergence", 31, missing=1, absent=[away("waits", 1)])], block=(32, 1, 1))

    def cluster_block_elsewhere():
        return Plan([("Q", out), ("Q", zero)], [
            wait("cluster", 64, missing=64, never=0, absent=[away("waits", 64)]), spin(64, zero, 0, ["not", 0], owner=1)],
            grid=(4, 1, 1), resident=[(2, 0, 0), (3, 0, 0)], cluster=(2, 1, 1))

    def grid_does_not_fit():
        return Plan([("Q", out)], [
            wait("grid", 2, missing_blocks=6, absent=[{"state": "not resident", "blocks": 6}]),
            wait("barrier", None, barrier=0)],
            grid=(8, 1, 1), resident=[(0, 0, 0), (1, 0, 0)])

    def grid_block_elsewhere():
        return Plan([("Q", out), ("Q", zero)], [
            wait("grid", 1, missing_blocks=1, absent=[{"state": "waits", "blocks": 1}]),
            wait("barrier", None, barrier=0), spin(64, zero, 0, ["not", 0], owner=1)],
            grid=(2, 1, 1), resident=[(0, 0, 0), (1, 0, 0)])

    def ncclDevKernel_AllReduce_Sum_f32_RING_LL():
        word = heap.add(words("I", [6]))
        return Plan([("Q", word), ("Q", out)], [spin(64, word, 6, ["at least", 7], collective="NCCL all-reduce", owner=0)])

    def nvshmemi_barrier_all_kernel():
        word = heap.add(words("Q", [3]))
        return Plan([("Q", word), ("Q", 4)], [spin(64, word, 3, None, size=8, collective="NVSHMEM barrier", owner=0)])

    def cross_device_reduce_1stage():
        signals = [heap.add(bytes(32)) for _ in range(8)]
        heap.blocks[signals[2]][:32] = words("I", [9, 9, 9, 9, 9, 8, 9, 9])
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


def words(form, values):
    return rf.words(form, list(values))


# ---- what the interpreter lacks ----


class Machine:
    """Blocks that run side by side, and the barriers between their threads."""

    def __init__(self, sassrun, image, kernel, plan, heap):
        self.sassrun, self.image, self.kernel, self.plan, self.heap = sassrun, image, kernel, plan, heap
        self.sm = image.sm
        self.runs = []
        self.cluster_arrived, self.cluster_waits = set(), set()
        # the words that cooperative groups find their barrier by
        self.workspace = heap.add(bytes(64))
        for ctaid in plan.resident:
            self.runs.append(self.block(ctaid))
        sassrun.mem, self.old_mem = self.mem, sassrun.mem
        sassrun.execute, self.old_execute = self.execute, sassrun.execute
        sassrun.sreg, self.old_sreg = self.sreg, sassrun.sreg
        self.old_step = sassrun.step

    def close(self):
        self.sassrun.mem, self.sassrun.execute, self.sassrun.sreg = self.old_mem, self.old_execute, self.old_sreg

    def block(self, ctaid):
        plan = rf.Plan(self.plan.params, None, None, None, None, None, block=self.plan.block, grid=self.plan.grid, ctaid=ctaid,
                       cluster=self.plan.cluster)
        run = rf.Run(self.sassrun, self.image, self.kernel, plan, self.heap)
        bank = run.cta.bank[0]
        bank = bytearray(bank) + bytes(max(0, 0x400 - len(bank)))
        for low, high in ((0x90, 0x8c), (0x48, 0x44), (0x258, 0x254), (0x1b8, 0x1b4)):
            if (self.sm < 90) == (low == 0x90) and (self.sm == 90) == (low == 0x48):
                struct.pack_into("<I", bank, low, self.workspace & MASK32)
                struct.pack_into("<I", bank, high, self.workspace >> 32)
        run.bank = bank
        run.cta.bank[0] = bytes(bank)
        run.cta.run, run.last = run, {}
        run.bars = {}
        for warp in run.cta.warps:
            warp.loc = [bytearray(STACK_BYTES) for _ in range(32)]
            warp.blocked = [0] * 32  # pc of the instruction that a lane waits at
            warp.stack = [[] for _ in range(32)]
            warp.stopped = False
        return run

    def warps(self):
        return [(run, warp) for run in self.runs for warp in run.cta.warps]

    def mem(self, warp, lane, space, address, size, store=None):
        run = warp.c.run
        run.wrong = []
        value = run.mem(warp, lane, space, address, size, store)
        if run.wrong:
            raise rf.Fault(f"{self.kernel}: wrong access {run.wrong} at {warp.pc}")
        stack = space == "l" or space == "g" and machine.LOCAL_WINDOW <= address < machine.LOCAL_WINDOW + (1 << 24)
        if store is None and not stack:
            run.last[warp.wid, lane] = run.seen[lane]
        return value

    def sreg(self, warp, lane, number):
        run = warp.c.run
        cluster = self.plan.cluster
        if number == 0x88:
            return run.plan.ctaid[0] % cluster[0] if cluster else 0
        try:
            return self.old_sreg(warp, lane, number)
        except self.sassrun.Unimpl:
            if number in (0x3f, 0x89, 0x8a, 0x8b, 0x8c):
                return 1
            raise

    def execute(self, w, s, ex, pc, nx):
        op, f = s.op, s.f
        run = w.c.run
        handled = True
        regs = lambda lane, r: 0 if r == 255 else w.R[lane][r]  # noqa: E731
        none = 255 if self.sm >= 100 else 63
        uni = lambda r: 0 if r == none else w.U[r]  # noqa: E731

        def shared_address(lane):
            offset = f(40, 24)
            return (regs(lane, f(24, 8)) + uni(f(64, 8) & none) + (offset - (1 << 24) if offset >> 23 else offset)) & MASK32

        def arrive(address, count, expect=0):
            at = address & 0xffffff
            word = int.from_bytes(run.cta.sh[at:at + 8], "little")
            new = object_arrive(word, self.sm, count, expect)
            run.cta.sh[at:at + 8] = new.to_bytes(8, "little")
            return word

        if op in (0xb1d, 0x91d, 0x51d, 0x31d):
            self.bar(run, w, s, ex, pc)
        elif op == 0x31c:  # B2R.RESULT
            for lane in ex:
                if f(16, 8) != 255:
                    w.R[lane][f(16, 8)] = 0
        elif op == 0x5b2:  # SYNCS.EXCH.64: mbarrier.init
            at = (uni(f(24, 8)) + f(40, 24)) & 0xffffff
            run.cta.sh[at:at + 8] = struct.pack("<II", uni(f(32, 8)), uni(f(32, 8) + 1))
        elif op == 0x9a7:  # SYNCS.ARRIVE
            for lane in ex:
                old = arrive(shared_address(lane), *arrive_counts(s, regs(lane, f(32, 8))))
                if f(16, 8) != 255:
                    w.R[lane][f(16, 8)] = old & MASK32
                    w.R[lane][f(16, 8) + 1] = old >> 32
                run.last[w.wid, lane] = shared_address(lane) & 0xffffff
        elif op == 0x5a7:  # SYNCS.PHASECHK: true when the phase of that parity is over
            for lane in ex:
                at = shared_address(lane) & 0xffffff
                word = int.from_bytes(run.cta.sh[at:at + 8], "little")
                done = word >> 63 != regs(lane, f(32, 8)) >> 31
                if f(81, 3) != 7:
                    w.P[lane][f(81, 3)] = int(done)
                run.last[w.wid, lane] = at
        elif op == 0xf8c and f(87, 4) == 9 and self.sm < 90:  # ATOMS.ARRIVE.64
            for lane in ex:
                at = shared_address(lane)
                old = arrive(at, 1)
                if f(16, 8) != 255:
                    w.R[lane][f(16, 8)] = old & MASK32
                    w.R[lane][f(16, 8) + 1] = old >> 32
        elif op == 0x9c7:
            self.cluster_arrived |= {(id(w), lane) for lane in ex}
        elif op == 0xdc7:
            for lane in ex:
                w.st[lane] = ("cluster",)
                w.blocked[lane] = pc
        elif op in (0x3c6, 0x877, 0x9b1, 0x3a7, 0x352, 0x353):  # fences, and a return address put by
            pass
        elif op == 0x82f:  # ELECT
            for lane in ex:
                if f(81, 3) != 7:
                    w.P[lane][f(81, 3)] = int(lane == ex[0])
            if f(16, 8) != none:
                w.U[f(16, 8)] = ex[0]
        elif op == 0x2bf:  # UPOPC
            w.U[f(16, 8)] = bin(uni(f(32, 8))).count("1")
        elif op == 0x446:  # VIADDMNMX.U32 with an immediate as the bound
            for lane in ex:
                total = (regs(lane, f(24, 8)) + regs(lane, f(64, 8))) & MASK32
                w.R[lane][f(16, 8)] = min(total, f(32, 32)) if f(87, 3) == 7 and not s.b(90) else max(total, f(32, 32))
        elif op == 0xf55 or op == 0xf56:
            for lane in ex:
                if op == 0xf56:
                    w.B[f(24, 4)][lane] = w.B[f(16, 4)][lane]
                else:
                    w.B[f(16, 4)][lane] = sum(1 << i for i in ex)
        elif op == 0x3aa:  # QSPC: which space a generic address is in
            for lane in ex:
                address = w.R[lane][f(24, 8)] | w.R[lane][f(24, 8) + 1] << 32
                shared = machine.SHARED_WINDOW <= address < machine.SHARED_WINDOW + (1 << 24)
                if f(81, 3) != 7:
                    w.P[lane][f(81, 3)] = int(shared)
        else:
            handled = False
        if not handled:
            self.old_execute(w, s, ex, pc, nx)
        if op in (0x941, 0x948, 0x348):
            for lane in ex:
                w.blocked[lane] = pc
        if op in (0x943, 0x944, 0x343, 0x344):
            for lane in ex:
                if w.pc[lane] != nx:
                    w.stack[lane] = [nx] + w.stack[lane]
        elif op == 0x950:
            for lane in ex:
                w.stack[lane] = w.stack[lane][1:]
        if op == 0x95c and f(84, 3) in (3, 1):
            raise rf.Fault(f"{self.kernel}: trap")

    def bar(self, run, w, s, ex, pc):
        op, f = s.op, s.f
        mode, both = f(77, 2), op == 0x31d
        for lane in ex:
            register = w.R[lane][f(32, 8)] if op in (0x91d, 0x51d, 0x31d) else 0
            number = register & 15 if op in (0x51d, 0x31d) else f(54, 4)
            count = register >> 16 & 0xfff if both else register if op == 0x91d else f(42, 12)
            bar = run.bars.setdefault(number, {"count": 0, "arrived": set(), "waits": set()})
            bar["count"] = count
            bar["arrived"].add((w.wid, lane))
            if mode != 1:
                bar["waits"].add((w.wid, lane))
                w.st[lane] = ("bar", number)
                w.blocked[lane] = pc

    def release(self):
        """Barriers that are complete: those without a count wait for threads that have not ended."""
        for run in self.runs:
            live = {(w.wid, i) for w in run.cta.warps for i in range(32) if w.st[i] != "exit"}
            for bar in run.bars.values():
                complete = len(bar["arrived"]) >= bar["count"] if bar["count"] else bool(bar["waits"]) and live <= bar["arrived"]
                if not complete:
                    continue
                for wid, lane in bar["waits"]:
                    run.cta.warps[wid].st[lane] = "run"
                bar["arrived"], bar["waits"] = set(), set()
        if self.plan.cluster:
            live = {(id(w), i) for _, w in self.warps() for i in range(32) if w.st[i] != "exit"}
            if live and live <= self.cluster_arrived:
                self.cluster_arrived = set()
                for _, w in self.warps():
                    for i in range(32):
                        if w.st[i] == ("cluster",):
                            w.st[i] = "run"

    def settle(self, seed):
        """Runs until every warp has long been where it is, then a few instructions more."""
        chance = random.Random(seed)
        rounds = self.plan.rounds or 100000
        quiet, seen, last = 0, {}, None
        for number in range(rounds + chance.randrange(40)):
            for run, warp in self.warps():
                if any(state == "run" for state in warp.st):
                    lanes = [i for i in range(32) if warp.st[i] == "run"]
                    seen.setdefault(id(warp), set()).add((min(warp.pc[i] for i in lanes)))
                self.sassrun.step(warp)
            self.release()
            if number % 256 == 255:
                now = {key: frozenset(value) for key, value in seen.items()}, [tuple(map(str, w.st)) for _, w in self.warps()]
                quiet = quiet + 1 if last == now else 0
                last, seen = now, {}
                if quiet == 2 and not self.plan.rounds:
                    break
        else:
            if not self.plan.rounds:
                raise rf.Fault(f"{self.kernel}: does not settle")
        for run, warp in self.warps():
            for _ in range(chance.randrange(30)):
                self.sassrun.step(warp)
        if all(state == "exit" for _, warp in self.warps() for state in warp.st):
            raise rf.Fault(f"{self.kernel}: ends")


def arrive_counts(s, operand):
    """(arrivals, bytes expected) of SYNCS.ARRIVE: one and the operand's bytes; .A1T0 one; .ART0 as many as the operand says."""
    return {0: (1, operand), 1: (1, 0), 5: (operand, 0)}[s.f(84, 3)]


def object_arrive(word, sm, count, expect):
    """A barrier object after arrivals. The counts that are left are kept negative, so that the last arrival carries
    into the phase: bits 0-29 and 32-62 on sm_80; 1-20 and 43-62 from sm_90 on, with the bytes in 21-41."""
    if sm < 90:
        left, shift, initial = 31, 32, word & 0x3fffffff
        reload = initial + (1 << 30) & 0x7fffffff
    else:
        left, shift, initial = 20, 43, word >> 1 & 0xfffff
        reload = initial
        word = word & ~(0x1fffff << 21) | ((word >> 21) + expect & 0x1fffff) << 21
    field = word >> shift & (1 << left) - 1
    phase = word >> 63
    field += count
    bytes_left = 0 if sm < 90 else word >> 21 & 0x1fffff
    if field >= 1 << left and bytes_left == 0:
        phase ^= 1
        field = reload
    field &= (1 << left) - 1
    return word & (1 << shift) - 1 | field << shift | phase << 63


# ---- states ----


def pack(raw):
    return base64.b64encode(raw).decode()


def warp_state(warp, n_regs, valid):
    lanes = []
    runnable = [i for i in range(valid) if warp.st[i] == "run"]
    first = min((warp.pc[i] for i in runnable), default=None)
    for i in range(valid):
        state = warp.st[i]
        if state == "exit":
            lanes.append({"at": "exit"})
            continue
        blocked = state != "run"
        lanes.append({"at": "blocked" if blocked else "run", "by": state[0] if blocked else None,
                      "b": state[1] if blocked and state[0] == "B" else None,
                      "pc": warp.blocked[i] if blocked else warp.pc[i], "stack": warp.stack[i]})
    low = min((warp.R[i][1] for i in range(valid)), default=0)
    used = max(0, min(STACK_BYTES, rf.LOCAL_TOP - low + 64)) if low else 0
    return {
        "lanes": lanes, "valid": valid,
        "active": [i for i in runnable if warp.pc[i] == first] or [i for i in range(valid) if warp.st[i] != "exit"],
        "regs": [pack(words("I", [warp.R[i][r] for i in range(valid)])) for r in range(n_regs)],
        "preds": [[int(v) for v in warp.P[i][:7]] for i in range(valid)],
        "uregs": [int(v) for v in warp.U[:63]], "upreds": [int(v) for v in warp.UP[:7]],
        "barriers": [barrier_mask(warp, number) for number in range(16)],
        "local": [pack(bytes(warp.loc[i][STACK_BYTES - used:])) for i in range(valid)], "local_at": rf.LOCAL_TOP - used,
    }


def barrier_mask(warp, number):
    """The mask that lanes parked at a convergence barrier wait for."""
    masks = {warp.B[number][i] for i in range(32) if isinstance(warp.st[i], tuple) and warp.st[i][:2] == ("B", number)}
    return masks.pop() if len(masks) == 1 else warp.B[number][next((i for i in range(32) if warp.st[i] != "exit"), 0)]


def reads_of(box):
    """What lanes that are not parked read last, by their block: no other address can be what they wait for."""
    return [[list(run.plan.ctaid), warp.wid, lane, run.last[warp.wid, lane]] for run, warp in box.warps() for lane in range(32)
            if warp.st[lane] == "run" and (warp.wid, lane) in run.last]


def state_of(sassrun, data, kernel, symbol):
    heap = Heap()
    image = Image(data)
    plan = plans(heap, image.sm)[kernel]()
    box = Machine(sassrun, image, symbol, plan, heap)
    try:
        box.settle(f"{kernel} {len(data)}")
    finally:
        box.close()
    n_regs = (max(image.cubin.registers(f) for f in image.cubin.functions) + 7) // 8 * 8
    own = image.cubin.function(symbol)
    n_regs = min(n_regs, 128)
    threads = plan.block[0] * plan.block[1] * plan.block[2]
    banks = {0: bytes(box.runs[0].bank)}
    for name, content in image.bank.items():
        bank = int("".join(c for c in name.split(".")[2] if c.isdigit()))
        if bank and (name.endswith("." + symbol) or name.count(".") == 2):
            banks[bank] = bytes(content)
    blocks = [{"ctaid": run.plan.ctaid, "shared": pack(bytes(run.cta.sh)),
               "warps": [warp_state(w, n_regs, min(32, threads - 32 * w.wid)) for w in run.cta.warps]} for run in box.runs]
    return {
        "kernel": kernel, "symbol": symbol, "section": own.shndx, "grid": plan.grid, "block": plan.block, "cluster": plan.cluster,
        "constant_window": CONSTANT_WINDOW, "n_regs": n_regs, "blocks": blocks,
        "memory": [[base, pack(bytes(content))] for base, content in sorted({**heap.blocks, **image.globals}.items())
                   if base in dict(used_memory(plan, heap))],
        "banks": {str(bank): pack(content) for bank, content in banks.items()},
        "truth": {"verdict": plan.verdict, "waits": plan.expect, "reads": reads_of(box)},
    }


def used_memory(plan, heap):
    """Small blocks are kept: tests look at words, not at arrays."""
    return [(base, content) for base, content in heap.blocks.items() if len(content) <= 0x1000]


def main(arguments):
    if not arguments:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    sassrun = rf.load_interpreter(arguments[0])
    only, failed = set(arguments[1:]), 0
    for name in sorted(os.listdir(HANGS)):
        if not name.endswith(".cubin.gz"):
            continue
        with gzip.open(os.path.join(HANGS, name)) as handle:
            data = handle.read()
        cubin = cb.Cubin(data)
        if cubin.sm > 100:
            continue
        symbols = {s.name: s.name for s in cubin.functions}
        states = []
        for kernel in plans(Heap(), cubin.sm):
            symbol = next((s for s in symbols if s == kernel or s.startswith(f"_Z{len(kernel)}{kernel}")), None)
            if symbol is None or (only and kernel not in only) or name[len("hangs."):-len(".cubin.gz")] in LEFT_OUT.get(kernel, ()):
                continue
            sassrun.cache.clear()
            try:
                states.append(state_of(sassrun, data, kernel, symbol))
            except (rf.Fault, sassrun.Unimpl, sassrun.Trap, KeyError, IndexError) as error:
                print(f"{name}: {kernel}: {type(error).__name__} {error}", file=sys.stderr)
                failed += 1
        text = json.dumps(states, separators=(",", ":")).encode()
        if not only:
            with open(os.path.join(HANGS, name.replace(".cubin.gz", ".json.gz")), "wb") as handle:
                handle.write(gzip.compress(text, 9, mtime=0))
        print(f"{name}: {len(states)} states")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
