#!/usr/bin/env python3
"""Jobs: folders with a dump per rank, as a failing job leaves them. jobs.py OUTDIR [JOB...]; jobs.py --list prints them.

Each job is a function that says what every rank did; its docstring says what happened, and it returns the culprit (a rank), or None
where nobody could tell from the dumps. Dumps are states of the software GPU (faults.py, hangs.py) on GPUs with a place of their own.
"""

import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import build  # noqa: E402
import coredump  # noqa: E402
import faults  # noqa: E402
import hangs  # noqa: E402

LIGHT = (coredump.FLAG_SKIP_IMAGES | coredump.FLAG_SKIP_GLOBAL | coredump.FLAG_SKIP_SHARED | coredump.FLAG_SKIP_LOCAL |
         coredump.FLAG_SKIP_CONSTBANK)
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
BARRIER_ALL = "nvshmemi_barrier_all_kernel"
PER_HOST = 8
JOBS = {}


def job(function):
    JOBS[function.__name__] = function
    return function


class Maker:
    """Makes dumps, each kind once for each GPU of a host."""

    def __init__(self):
        self.states, self.cubins, self.made = {}, {}, {}

    def state(self, module, kind, kernel):
        if (module, kind) not in self.states:
            self.states[module, kind] = {one["kernel"]: one for one in module.states(kind)}
            self.cubins[module, kind] = module.cubin(kind)
        return self.states[module, kind][kernel], self.cubins[module, kind]

    def process(self, what, kind="O3.sm_90", collective=False):
        """A process with what a rank did: a kernel of faults.cu or hangs.cu."""
        module = faults if what in {one["kernel"] for one in faults.states("O3.sm_90")} else hangs
        state, data = self.state(module, kind, what)
        process, launch, loaded = faults.process_of(kind, state, data)
        fault = state["fault"] if module is faults else None
        if collective:  # a peer took away what it reads
            block = state["blocks"][0]
            fault = {"ctaid": block["ctaid"], "warp": block["warps"][0]["number"], "sm": block["sm"], "code": 14,
                     "errorpc": next(pc for pc in block["warps"][0]["pc"] if pc)}
        for block in state["blocks"]:
            cta = faults.place_block(launch, loaded, block, fault if fault and block["ctaid"] == list(fault["ctaid"]) else None)
            if module is hangs:
                for node, warp in zip(cta.warps, sorted(block["warps"], key=lambda one: one["number"])):
                    node.row["barrierScope"] = warp["scope"] if kind.endswith("sm_90") else 0
        if fault:
            launch.device.blame(fault["sm"], fault["code"], faults.position(loaded, fault["errorpc"]))
        return process

    def dump(self, what, bus=0x1b, light=False, kind="O3.sm_90", driver=590):
        """The bytes of the dump of a rank: "idle", "cut", a kernel, or a kernel with "!": it faults in a collective."""
        key = (what, bus, light, kind, driver)
        if key not in self.made:
            options = coredump.Options(driver=driver, flags=LIGHT if light else 0)
            if what == "cut":
                self.made[key] = self.dump("past_by_one", bus, light, kind, driver)[:3000]
                return self.made[key]
            if what == "idle":
                process = build.SCENARIOS["empty"][0]().process
            else:
                process = self.process(what.rstrip("!"), kind, what.endswith("!"))
            process.devices[0].node.row["pciBusId"] = bus
            self.made[key] = coredump.write(process.dump(driver), options)
        return self.made[key]


class Job:
    """What every rank left: {rank: what}; ranks without an entry left nothing."""

    def __init__(self, n, seed):
        self.n, self.random = n, random.Random(seed)
        self.ranks, self.bus, self.host, self.pids = {}, {}, {}, {}
        self.named = True     # names have ranks
        self.plain = False    # names say nothing at all
        self.evidence = {}    # name of a companion file -> its text

    def fill(self, what, ranks=None):
        for rank in range(self.n) if ranks is None else ranks:
            self.ranks[rank] = what
        return self

    def pick(self):
        return self.random.randrange(self.n)

    def two(self):
        return self.random.sample(range(self.n), 2)

    def name(self, rank):
        if self.plain:
            return f"dump-{(rank * 7 + 3) % self.n}.nvcudmp"
        host = self.host.get(rank, f"node{rank // PER_HOST}")
        time = 1751371200 + self.random.randrange(600)  # shuffled: no order is true
        pid = self.pids.get(rank, 4000 + rank * 13)
        return f"core_{time}_{host}_{pid}_r{rank}.nvcudmp" if self.named else f"core_{time}_{host}_{pid}.nvcudmp"

    def write(self, folder, maker, light=False):
        """{rank: path}; the files are in no order of time."""
        os.makedirs(folder, exist_ok=True)
        paths = {}
        for rank, what in sorted(self.ranks.items()):
            bus = self.bus.get(rank, 0x10 + 8 * (rank % PER_HOST))
            paths[rank] = os.path.join(folder, self.name(rank))
            with open(paths[rank], "wb") as handle:
                handle.write(maker.dump(what, bus, light))
            when = 1751371200 + self.random.randrange(600)
            os.utime(paths[rank], (when, when))
        for name, lines in self.evidence.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as handle:
                handle.write("noise before\n" + "".join(line + "\n" for line in lines))
        return paths

    def xid(self, rank, number=31, host=None):
        """A line of the kernel log of a rank's host."""
        return (f"Jun 26 05:14:36 {host or f'node{rank // PER_HOST}'} kernel: [86400.123456] NVRM: Xid "
                f"(PCI:0000:{0x10 + 8 * (rank % PER_HOST):02x}:00): {number}, pid={4000 + rank * 13}, name=python, Ch 0000001a")

    def nccl(self, rank, n=None):
        return (f"node{rank // PER_HOST}:{4000 + rank * 13}:9 [{rank % PER_HOST}] NCCL INFO ncclCommInitRank comm 0x55d0c0 rank {rank} "
                f"nranks {n or self.n} cudaDev {rank % PER_HOST} busId 18000 - Init COMPLETE")

    @staticmethod
    def watchdog(rank, enqueued):
        return (f"[rank{rank}]:[E626 06:24:44.9 ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] Exception (either an "
                f"error or timeout) detected by watchdog at work: 43, last enqueued NCCL work: {enqueued}, last completed NCCL work: 42.")


@job
def fault_and_waits(j):
    """One rank faults; all others wait for it in an all-reduce."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = "past_by_one"
    return at


@job
def fault_and_collateral(j):
    """One rank faults; its neighbours lose its memory and fault inside the all-reduce; others wait."""
    at = j.pick()
    j.fill(ALL_REDUCE).fill(ALL_REDUCE + "!", [(at + 1) % j.n, (at + 2) % j.n]).ranks[at] = "null_member"
    return at


@job
def fault_and_aborts(j):
    """One rank faults; the others are between two kernels when they are told to dump."""
    at = j.pick()
    j.fill("idle").ranks[at] = "negative_index"
    return at


@job
def fault_alone(j):
    """One rank faults and leaves the only dump."""
    at = j.pick()
    j.ranks[at] = "misaligned_vector"
    return at


@job
def fault_and_own_work(j):
    """One rank faults while the others compute."""
    at = j.pick()
    j.fill("matrix_product").ranks[at] = "loaded_index"
    return at


@job
def fault_and_spin(j):
    """One rank faults; a pair of others spins on its memory in kernels that no list knows."""
    at = j.pick()
    j.fill("spin_volatile", [(at + 1) % j.n]).fill(ALL_REDUCE, [(at + 2) % j.n]).ranks[at] = "garbage_pointer"
    return at


@job
def hang_one_idle(j):
    """All but one wait in an all-reduce; the host of that one never launched it."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = "idle"
    return at


@job
def hang_one_computes(j):
    """All but one wait in an all-reduce; that one is still in the kernel before it."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = "matrix_product"
    return at


@job
def hang_one_stuck(j):
    """All but one wait in an all-reduce; that one hangs at a barrier of its own."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = "producer_never_arrives"
    return at


@job
def hang_in_nvshmem(j):
    """All but one wait at NVSHMEM's barrier; that one spins elsewhere."""
    at = j.pick()
    j.fill(BARRIER_ALL).ranks[at] = "spin_until_count"
    return at


@job
def hang_all_wait(j):
    """All wait in the same all-reduce: who is behind is in no dump."""
    j.fill(ALL_REDUCE)


@job
def hang_one_left_nothing(j):
    """All wait but one, which left no dump: it may be the one, or its dump was lost."""
    at = j.random.randrange(j.n - 1)
    j.fill(ALL_REDUCE)
    del j.ranks[at]


@job
def hang_last_left_nothing(j):
    """The last rank left no dump, so that no gap shows it."""
    j.fill(ALL_REDUCE)
    del j.ranks[j.n - 1]


@job
def hang_one_cut(j):
    """All wait but one, whose dump is cut."""
    j.fill(ALL_REDUCE).ranks[j.pick()] = "cut"


@job
def hang_two_outside(j):
    """Two ranks are not in the all-reduce: one of them waits for the other, and nothing says which."""
    a, b = j.two()
    j.fill(ALL_REDUCE).ranks.update({a: "idle", b: "spin_volatile"})


@job
def hang_outside_and_missing(j):
    """One rank computes, another one left no dump."""
    a, b = j.random.sample(range(j.n - 1), 2)
    j.fill(ALL_REDUCE).ranks[a] = "matrix_product"
    del j.ranks[b]


@job
def two_bugs(j):
    """Two ranks fault, each for a reason of its own."""
    a, b = j.two()
    j.fill(ALL_REDUCE).ranks.update({a: "past_by_one", b: "shared_overrun"})


@job
def same_bug_everywhere(j):
    """The same bad index reaches all ranks."""
    j.fill("past_by_one")


@job
def same_bug_twice(j):
    """Two ranks have the same fault; others wait."""
    a, b = j.two()
    j.fill(ALL_REDUCE).fill("count_up", [a, b])


@job
def fault_and_own_hang(j):
    """One rank faults, another one hangs at a barrier of its own: two bugs."""
    a, b = j.two()
    j.fill(ALL_REDUCE).ranks.update({a: "past_by_one", b: "two_named_barriers"})


@job
def fault_and_cut(j):
    """One rank faults; the dump of another one, which faulted too, is cut."""
    a, b = j.two()
    j.fill(ALL_REDUCE).ranks.update({a: "null_member", b: "cut"})


@job
def fault_is_cut(j):
    """The rank that faulted left a cut dump; all others wait."""
    j.fill(ALL_REDUCE).ranks[j.pick()] = "cut"


@job
def fault_is_lost(j):
    """The rank that faulted left no dump; its neighbour faulted inside the all-reduce for want of its memory."""
    at = j.random.randrange(1, j.n - 1)
    j.fill(ALL_REDUCE).ranks[at - 1] = ALL_REDUCE + "!"
    del j.ranks[at]


@job
def collective_faults(j):
    """Half of the ranks fault inside the all-reduce."""
    j.fill(ALL_REDUCE).fill(ALL_REDUCE + "!", range(0, j.n, 2))


@job
def one_collective_fault(j):
    """One rank faults inside the all-reduce; all others wait in it."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = ALL_REDUCE + "!"
    return at


@job
def clients_of_one_server(j):
    """Four processes share a GPU by MPS: one faulted, all four dump, and all look alike."""
    ranks = range(4)
    j.fill(ALL_REDUCE).fill("past_by_one", ranks)
    j.bus.update(dict.fromkeys(ranks, 0x10))
    j.host.update(dict.fromkeys(ranks, "node0"))


@job
def without_ranks(j):
    """One rank faults; names have host and process only."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = "wrong_stride"
    j.named = False
    return at


@job
def without_names(j):
    """One rank faults; names say nothing."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = "three_d"
    j.plain = True
    return at


@job
def one_is_behind(j):
    """All wait; the watchdog of each tells how far it came, and one is behind."""
    at = j.pick()
    j.fill(ALL_REDUCE)
    j.evidence["job.log"] = [j.watchdog(rank, 41 if rank == at else 44 + rank % 2) for rank in range(j.n)]
    return at


@job
def none_is_behind(j):
    """All wait, and all came as far."""
    j.fill(ALL_REDUCE)
    j.evidence["job.log"] = [j.watchdog(rank, 44) for rank in range(j.n)]


@job
def one_is_silent(j):
    """One rank is behind, and of another one, which may be further behind, there is no line."""
    a, b = j.two()
    j.fill(ALL_REDUCE)
    j.evidence["job.log"] = [j.watchdog(rank, 41 if rank == a else 44) for rank in range(j.n) if rank != b]


@job
def two_are_behind(j):
    """Two ranks are as far behind."""
    pair = j.two()
    j.fill(ALL_REDUCE)
    j.evidence["job.log"] = [j.watchdog(rank, 41 if rank in pair else 44) for rank in range(j.n)]


@job
def two_bugs_in_order(j):
    """Two ranks of one host fault, and its kernel log has one of them first."""
    a, b = j.random.sample(range(PER_HOST), 2)
    j.fill(ALL_REDUCE).ranks.update({a: "past_by_one", b: "shared_overrun"})
    j.evidence["kernel.log"] = [j.xid(b, 45), j.xid(a), j.xid(b), j.xid(a, 43)]
    return a


@job
def two_bugs_after_effects(j):
    """Two ranks fault; the kernel log has only what followed."""
    a, b = j.random.sample(range(PER_HOST), 2)
    j.fill(ALL_REDUCE).ranks.update({a: "past_by_one", b: "shared_overrun"})
    j.evidence["kernel.log"] = [j.xid(a, 45), j.xid(b, 43), j.xid(b, 45)]


@job
def two_bugs_half_logged(j):
    """Two ranks fault; the kernel log tells of one of them."""
    a, b = j.random.sample(range(PER_HOST), 2)
    j.fill(ALL_REDUCE).ranks.update({a: "past_by_one", b: "shared_overrun"})
    j.evidence["kernel.log"] = [j.xid(a)]


@job
def two_bugs_of_another_host(j):
    """Two ranks fault; the kernel log is that of another machine, with GPUs at the same places."""
    a, b = j.random.sample(range(PER_HOST), 2)
    j.fill(ALL_REDUCE).ranks.update({a: "past_by_one", b: "shared_overrun"})
    j.evidence["kernel.log"] = [j.xid(a, host="node99"), j.xid(b, host="node99")]


@job
def ranks_from_nccl(j):
    """Names have no rank; NCCL's log has, and tells of smaller communicators, too."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = "past_by_one"
    j.named = False
    j.evidence["job.log"] = [line for rank in range(j.n) for line in (j.nccl(rank), j.nccl(rank).replace(f"nranks {j.n}", "nranks 2").replace(
        f" rank {rank} ", f" rank {rank % 2} "))]
    return at


@job
def last_rank_by_nccl(j):
    """A rank computes while others wait, but the last one left no dump: NCCL's log knows of it."""
    j.fill(ALL_REDUCE).ranks[0] = "matrix_product"
    del j.ranks[j.n - 1]
    j.evidence["job.log"] = [j.nccl(rank) for rank in range(j.n)]


@job
def nothing_wrong(j):
    """All were told to dump while they computed."""
    j.fill("matrix_product")


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(JOBS))
        return 0
    if not arguments:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    maker = Maker()
    for name in arguments[1:] or JOBS:
        one = Job(8, name)
        culprit = JOBS[name](one)
        one.write(os.path.join(arguments[0], name), maker)
        print(f"{name}: {'nobody can tell' if culprit is None else f'rank {culprit}'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
