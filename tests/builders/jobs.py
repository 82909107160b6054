#!/usr/bin/env python3
"""Jobs: folders with a dump per rank, as a failing job leaves them. jobs.py OUTDIR [JOB...]; jobs.py --list prints them.

Each job is a function that says what every rank did; its docstring says what happened, and it returns the culprit (a rank), or None
where nobody could tell from the dumps. Dumps are states of the software GPU (faults.py, hangs.py) on GPUs with a place of their own.
"""

import json
import os
import pickle
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
ALL_GATHER = "ncclDevKernel_AllGather_anything_RING_LL"[:len(ALL_REDUCE)]  # as long as that of the all-reduce
ALL_REDUCE_HALF = ALL_REDUCE.replace("f32", "f16")
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
            for other in (ALL_GATHER, ALL_REDUCE_HALF):
                if what == other:  # the all-reduce, under a name of the same length
                    like = self.dump(ALL_REDUCE, bus, False, kind, driver)
                    self.made[key] = like.replace(ALL_REDUCE.encode(), other.encode())
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
        for name, content in self.evidence.items():
            if isinstance(content, list):
                content = ("noise before\n" + "".join(line + "\n" for line in content)).encode()
            with open(os.path.join(folder, name), "wb") as handle:
                handle.write(content)
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

    def recorder(self, rank, groups, form="json"):
        """The dump of PyTorch's flight recorder of a rank. groups: {description: (ranks, enqueued, completed, operation)}."""
        config, status, entries = {}, {}, []
        for number, (description, (ranks, enqueued, completed, operation)) in enumerate(groups.items()):
            name = str(number)
            config[name] = {"name": name, "desc": description, "ranks": str(list(ranks))}
            if rank not in ranks:
                continue
            status[name] = {"last_enqueued_collective": enqueued or -1, "last_started_collective": enqueued or -1,
                            "last_completed_collective": completed or -1}
            for place in range(max(1, enqueued - 5), enqueued + 1):
                entries.append({"frames": [{"name": "step", "filename": "train.py", "line": 17}], "record_id": len(entries), "pg_id": number,
                                "process_group": (name, description), "collective_seq_id": place, "p2p_seq_id": 0, "op_id": place,
                                "profiling_name": f"nccl:{operation}", "time_created_ns": 1751371200000000000 + place, "duration_ms": 0.25,
                                "input_sizes": [[1024, 4]], "input_dtypes": ["Float"], "output_sizes": [[1024, 4]], "output_dtypes": ["Float"],
                                "state": "completed" if place <= completed else "started" if place == completed + 1 else "scheduled",
                                "time_discovered_started_ns": None, "time_discovered_completed_ns": None, "retired": place <= completed,
                                "timeout_ms": 600000, "is_p2p": False})
        whole = {"version": "2.10", "pg_config": config, "pg_status": status, "entries": entries}
        if form == "json":  # whose status has its numbers as texts
            whole["pg_status"] = {name: {key: str(value) for key, value in one.items()} for name, one in status.items()}
            return json.dumps(whole).encode()
        return pickle.dumps(whole, protocol=int(form))

    def ras(self, communicators, gone=()):
        """The status of NCCL's RAS. communicators: [(ranks, {rank: calls})]."""
        def place(number, rank):
            return {"rank": number, "host": f"10.0.0.{rank // PER_HOST}", "pid": 4000 + rank * 13, "cuda_dev": rank % PER_HOST, "nvml_dev": rank % PER_HOST}

        comms = []
        for index, (ranks, calls) in enumerate(communicators):
            there = [{**place(number, rank),
                      "status": {"init_state": 0, "async_error": 0, "finalize_called": False, "destroy_flag": False, "abort_flag": False},
                      "collective_counts": {"Broadcast": 2, "Reduce": 0, "AllGather": 0, "SendRecv": rank, "AllReduce": calls[rank]}}
                     for number, rank in enumerate(ranks) if rank not in gone]
            missing = [{**place(number, rank), "status": {"unresponsive": True, "considered_dead": False}}
                       for number, rank in enumerate(ranks) if rank in gone]
            comms.append({"hash": f"0x{0xabc0 + index:x}", "secondary_hash": "0x1:0x2", "size": len(ranks), "ranks_count": len(there),
                          "missing_ranks_count": len(missing), "ranks": there, "missing_ranks": missing})
        return json.dumps({"nccl_version": "2.28.3", "cuda_runtime_version": 13000, "cuda_driver_version": 13000,
                           "timestamp": "2025-06-26 05:14:36", "communicators_count": len(comms), "communicators": comms,
                           "ras": {"collection_time_sec": 0.012, "timeouts_count": 0}}, indent=2).encode()


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
def hang_one_gathers(j):
    """One rank waits in an all-gather, all others in an all-reduce: they wait for each other."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = ALL_GATHER
    return at


@job
def hang_one_has_another_type(j):
    """One rank calls the all-reduce for other numbers than all others."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = ALL_REDUCE_HALF
    return at


@job
def hang_two_gather(j):
    """Two ranks wait in an all-gather, which may be of a communicator of their own."""
    j.fill(ALL_REDUCE).fill(ALL_GATHER, j.two())


@job
def hang_one_gathers_and_missing(j):
    """One rank waits in an all-gather, and one left no dump."""
    a, b = j.random.sample(range(j.n - 1), 2)
    j.fill(ALL_REDUCE).ranks[a] = ALL_GATHER
    del j.ranks[b]


@job
def fault_and_two_operations(j):
    """One rank faults; others wait in different operations."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks.update({(at + 1) % j.n: ALL_GATHER, at: "past_by_one"})
    return at


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
    # of a smaller group, where ranks are counted anew, nothing is believed
    j.evidence["job.log"] = [line for rank in range(j.n) for line in (j.watchdog(rank, 41 if rank == at else 44 + rank % 2), j.watchdog(
        rank, 3 + (rank - at) % j.n).replace("[PG ID 0 PG GUID 0(default_pg)", "[PG ID 3 PG GUID 7(mesh_tp)"))]
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
def two_bugs_in_two_logs(j):
    """Two ranks fault; one line is in one log, the other one in another."""
    a, b = j.random.sample(range(PER_HOST), 2)
    j.fill(ALL_REDUCE).ranks.update({a: "past_by_one", b: "shared_overrun"})
    j.evidence["kernel.log"], j.evidence["kernel.log.1"] = [j.xid(a)], [j.xid(b)]


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
def two_bugs_of_three_gpus(j):
    """The kernel log has no processes: lines are told apart by GPU, and one is of a GPU without a fault."""
    a, b, other = j.random.sample(range(PER_HOST), 3)
    j.fill(ALL_REDUCE).ranks.update({a: "past_by_one", b: "shared_overrun"})
    j.evidence["kernel.log"] = [j.xid(rank).replace(f"pid={4000 + rank * 13}, name=python", "pid='<unknown>', name=<unknown>") for rank in (other, b, a)]
    return b


@job
def no_ranks_of_two_communicators(j):
    """NCCL's log tells of two communicators of all processes, in which they have different ranks: neither is believed."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = "past_by_one"
    j.named = False
    j.evidence["job.log"] = [line for rank in range(j.n) for line in (j.nccl(rank), j.nccl(rank).replace(
        f" rank {rank} ", f" rank {j.n - 1 - rank} "))] + [j.nccl(0, 10 * j.n).replace(" rank 0 ", f" rank {10 * j.n} ")]
    return at


@job
def no_ranks_of_two_hosts(j):
    """vLLM's lines do not say the host, and two hosts have processes of the same numbers."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = "past_by_one"
    j.named = False
    for rank in range(j.n):
        j.host[rank], j.pids[rank] = f"node{rank % 2}", 4000 + rank // 2
    j.evidence["serve.log"] = [f"(VllmWorker rank={rank} pid={4000 + rank}) INFO 05-17 01:58:02 x" for rank in range(j.n // 2)]
    return at


@job
def no_ranks_of_two_servers(j):
    """Two servers of one host have workers of the same names."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = "past_by_one"
    j.named = False
    j.evidence["serve.log"] = [f"(Worker_TP{rank % 4} pid={4000 + rank * 13}) INFO 05-17 01:58:02 x" for rank in range(j.n)]
    return at


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


def record_all(j, groups_of, form):
    """A flight recorder's dump of every rank; groups_of(rank) -> what recorder() takes."""
    for rank in range(j.n):
        j.evidence[f"nccl_trace_rank_{rank}"] = j.recorder(rank, groups_of(rank), form)


def world(j, enqueued, operation="all_reduce"):
    return {"default_pg": (range(j.n), enqueued, 42, operation)}


@job
def recorder_one_is_behind(j):
    """All wait; the flight recorders (JSON) tell that one rank is behind."""
    at = j.pick()
    j.fill(ALL_REDUCE)
    record_all(j, lambda rank: world(j, 42 if rank == at else 44), "json")
    return at


@job
def recorder_of_pickles(j):
    """The same as pickles, as PyTorch's own writer (2) and Python's (5) make them."""
    at = j.pick()
    j.fill(ALL_REDUCE)
    record_all(j, lambda rank: world(j, 42 if rank == at else 44), "5")
    for rank in range(0, j.n, 2):
        j.evidence[f"nccl_trace_rank_{rank}"] = j.recorder(rank, world(j, 42 if rank == at else 44), "2")
    return at


@job
def recorder_none_is_behind(j):
    """All wait, and all came as far: a kernel or a host is stuck."""
    j.fill(ALL_REDUCE)
    record_all(j, lambda rank: world(j, 44), "json")


@job
def recorder_one_is_cut(j):
    """One rank is behind, and the recorder's dump of another one, which may be further behind, is cut."""
    a, b = j.two()
    j.fill(ALL_REDUCE)
    record_all(j, lambda rank: world(j, 43 if rank == a else 44), "2")
    j.evidence[f"nccl_trace_rank_{b}"] = j.evidence[f"nccl_trace_rank_{b}"][:400]


@job
def recorder_other_operation(j):
    """All came as far, but one rank calls another operation at that place."""
    at = j.pick()
    j.fill(ALL_REDUCE)
    record_all(j, lambda rank: world(j, 44, "all_gather" if rank == at else "all_reduce"), "json")
    return at


@job
def recorder_two_camps(j):
    """Half of the ranks call another operation: either may be wrong."""
    j.fill(ALL_REDUCE)
    record_all(j, lambda rank: world(j, 44, "all_gather" if rank % 2 else "all_reduce"), "json")


@job
def recorder_against_a_dump(j):
    """The recorders tell that one rank is behind; its dump shows that it waits like the others, and that of another one is idle."""
    a, b = j.two()
    j.fill(ALL_REDUCE).ranks[b] = "idle"
    record_all(j, lambda rank: world(j, 43 if rank == a else 44), "json")


@job
def recorder_one_of_two_outside(j):
    """Two ranks are not in the all-reduce; the recorders tell which of them is behind."""
    a, b = j.two()
    j.fill(ALL_REDUCE).ranks.update({a: "idle", b: "matrix_product"})
    record_all(j, lambda rank: world(j, 43 if rank == a else 44), "json")
    return a


@job
def recorder_chain_of_groups(j):
    """A rank is behind in its pair; its neighbour waits for it, and is behind in the world, where all others wait for that one."""
    at = 2 * j.random.randrange(j.n // 2)
    j.fill(ALL_REDUCE)

    def groups_of(rank):
        groups = world(j, 42 if rank in (at, at + 1) else 43)
        groups["pair"] = ((at, at + 1), 7 if rank == at else 8, 7, "broadcast")
        return groups

    record_all(j, groups_of, "json")
    return at


@job
def recorder_cycle_of_groups(j):
    """Two ranks call the collectives of two groups in different orders: each waits for the other."""
    a, b = sorted(j.two())
    j.fill(ALL_REDUCE)

    def groups_of(rank):
        groups = world(j, 42)
        groups["one"] = ((a, b), 8 if rank == a else 7, 7, "broadcast")
        groups["other"] = ((a, b), 8 if rank == b else 7, 7, "reduce")
        return groups

    record_all(j, groups_of, "2")


@job
def ras_one_is_behind(j):
    """All wait; NCCL's RAS tells that one rank called fewer collectives of the communicator of all, names tell no rank."""
    at = j.pick()
    j.fill(ALL_REDUCE)
    j.named = False
    j.evidence["ras.json"] = j.ras([(range(j.n), {rank: 16 if rank == at else 17 for rank in range(j.n)})])
    return at


@job
def ras_none_is_behind(j):
    """All called as many; numbers of messages between two ranks, which differ, do not count."""
    j.fill(ALL_REDUCE)
    j.evidence["ras.json"] = j.ras([(range(j.n), {rank: 17 for rank in range(j.n)})])


@job
def ras_of_smaller_communicators(j):
    """Ranks of a smaller communicator are counted anew from 0 in it; one of them is behind there."""
    half = range(j.n // 2, j.n)
    at = j.random.choice(half)
    j.fill(ALL_REDUCE)
    j.evidence["ras.json"] = j.ras([(half, {rank: 3 if rank == at else 4 for rank in half}), (range(j.n), {rank: 17 for rank in range(j.n)})])
    return at


@job
def ras_one_is_gone(j):
    """All that left a dump wait; the one that left none does not answer RAS. (No row of a dump is the culprit.)"""
    at = j.random.randrange(j.n - 1)
    j.fill(ALL_REDUCE)
    del j.ranks[at]
    j.evidence["ras.json"] = j.ras([(range(j.n), {rank: 17 for rank in range(j.n)})], gone=(at,))


@job
def ranks_of_vllm(j):
    """Names have no rank; lines of vLLM's workers have, and one worker faults."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = "past_by_one"
    j.named = False
    forms = ("(VllmWorker rank={0} pid={1}) INFO 05-17 01:58:02 [utils.py:1071] Found nccl",
             "(Worker_TP{0}_EP{0} pid={1}) INFO 08-04 10:29:28 [multiproc_executor.py:519] Parent process exited")
    j.evidence["serve.log"] = [forms[rank % 2].format(rank, 4000 + rank * 13) for rank in range(j.n) for _ in range(3)]
    return at


@job
def labels_of_vllm(j):
    """Workers have two coordinates, which are no rank: they are named by them."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = "past_by_one"
    j.named = False
    j.evidence["serve.log"] = [f"(Worker_DP{rank // 4}_TP{rank % 4} pid={4000 + rank * 13}) INFO 08-04 10:29:28 x" for rank in range(j.n)]
    return at


@job
def scheduler_of_sglang(j):
    """One rank faults, and SGLang's log tells that its scheduler hit an exception; who is meant by two coordinates is not known."""
    at = j.pick()
    j.fill(ALL_REDUCE).ranks[at] = "past_by_one"
    j.evidence["serve.log"] = [
        *(f"[2025-08-04 10:29:{rank:02} TP{rank}] max_total_num_tokens=1024" for rank in range(j.n)),
        f"[2025-08-04 10:29:28 DP1 TP{(at + 1) % j.n}] Scheduler hit an exception: Traceback (most recent call last):",
        f"[without a time TP{(at + 2) % j.n}] Scheduler hit an exception: Traceback (most recent call last):",
        f"[2025-08-04 10:29:28 TP{at}] Scheduler hit an exception: Traceback (most recent call last):"]
    return at


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
