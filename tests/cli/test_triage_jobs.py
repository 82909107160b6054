#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The triage names the rank that was first in constructed jobs, and nobody where nobody could tell. Prints TAP.

usage: test_triage_jobs.py PROGRAM BUILDERS [--all]

The jobs are those of builders/jobs.py: with 8 ranks; with --all with 8 to 64, with full and with lightweight dumps, whose files and
names have times in no order. A wrong culprit is a failure, and so is "cannot tell" where the dumps do tell.
"""

import json
import os
import re
import subprocess
import sys
import tempfile


# Words that the sentence or a reason of a job must have.
WORDS = {
    "none_is_behind": "none is behind, so a kernel, a host or the network is stuck",
    "one_is_silent": "PyTorch's watchdog reports on 7 ranks and not on 1",
    "hang_all_wait": "Cannot tell which rank is missing",
    "hang_one_gathers": "waits in NCCL all-gather, which is the likely cause if they share a communicator; 7 others wait in NCCL all-reduce",
    "hang_one_has_another_type": "waits in ncclDevKernel_AllReduce_Sum_f16_RING_LL, which is the likely cause",
    "hang_two_gather": "which is the likely cause if they share a communicator",
    "hang_one_gathers_and_missing": "Cannot tell which was first: they wait in NCCL all-",
    "fault_and_two_operations": "; 7 others wait in NCCL all-",
    "recorder_one_is_behind": "is behind: it enqueued 42 collectives, others up to 44",
    "recorder_none_is_behind": "none is behind, so a kernel, a host or the network is stuck",
    "recorder_one_is_cut": "PyTorch's flight recorder reports on 7 ranks and not on 1",
    "recorder_other_operation": "calls nccl:all_gather as collective 43, where 7 others call nccl:all_reduce",
    "recorder_two_camps": "ranks call different operations as collective 43: rank 0 nccl:all_reduce, rank 1 nccl:all_gather",
    "recorder_chain_of_groups": "is behind: it enqueued",
    "recorder_cycle_of_groups": "2 ranks wait for each other",
    "clients_of_one_server": "as all clients of an MPS server do",
    "recorder_against_a_dump": "does not wait, and rank",
    "ras_none_is_behind": "all 8 ranks enqueued the same amount of work (19)",
    "ras_of_smaller_communicators": "of group NCCL 0xabc0",
    "ras_one_is_gone": "left no dump and does not answer NCCL's RAS",
}

# What the column of evidence has: of the culprit, and of the others.
ALL_REDUCE = "enqueued 44, completed 42, in nccl:all_reduce"
EVIDENCE = {
    "fault_and_waits": (None, {None}),
    "one_is_behind": ("enqueued 41, completed 42", {"enqueued 44, completed 42", "enqueued 45, completed 42"}),
    "one_is_silent": (None, {None, "enqueued 41, completed 42", "enqueued 44, completed 42"}),
    "two_bugs_in_order": ("Xid 31", {"Xid 31", None}),
    "recorder_one_is_behind": ("enqueued 42, completed 42", {ALL_REDUCE}),
    "recorder_other_operation": ("enqueued 44, completed 42, in nccl:all_gather", {ALL_REDUCE}),
    "recorder_chain_of_groups": ("enqueued 42, completed 42", {"enqueued 8, completed 7, in nccl:broadcast, of group pair 1",
                                                               "enqueued 43, completed 42, in nccl:all_reduce"}),
    "scheduler_of_sglang": ("its scheduler hit an exception", {None}),
    "ras_one_is_behind": ("enqueued 18, of group NCCL 0xabc0", {"enqueued 19, of group NCCL 0xabc0"}),
}


def triage(program, *arguments):
    done = subprocess.run([program, "triage", "--json", *arguments], capture_output=True, check=False, timeout=300)
    told = [line for line in done.stderr.splitlines() if not line.endswith(b"it is not used")]
    if done.returncode not in (0, 10, 12, 13) or told:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.returncode, json.loads(done.stdout)


def check(page, paths, culprit, function=""):
    """What is wrong with the page of one job."""
    if not page["jobs"]:
        return None if culprit is None else "no job is shown"
    one = page["jobs"][0]
    row = None if one["culprit"] is None else one["rows"][one["culprit"]]
    named = row and row["path"]
    if culprit is None and row:
        return f"names {named}, and nobody can tell: {one['sentence']}"
    if culprit is not None and named != paths[culprit]:
        return f"names {named}, not {paths[culprit]}: {one['sentence']}"
    if len(one["rows"]) != len(paths):
        return f"{len(one['rows'])} rows for {len(paths)} dumps"
    told = re.search("; ([0-9]+) others? waits? in", one["sentence"])
    others = sum(row["state"] == "waits" for number, row in enumerate(one["rows"]) if number != one["culprit"])
    if told and int(told.group(1)) != others:
        return f"{others} others wait: {one['sentence']}"
    said = [one["sentence"], *one["reasons"]]
    if len(paths) in (7, 8) and not any(WORDS.get(function, "") in text for text in said):
        return f"nothing has the words '{WORDS[function]}': {said}"
    if function == "labels_of_vllm" and row["name"] != f"DP{culprit // 4} TP{culprit % 4}":
        return f"it is called {row['name']}"
    if function in EVIDENCE and len(paths) in (7, 8):
        of_culprit = row and row["evidence"]
        others = {other["evidence"] for other in one["rows"] if other is not row}
        if (of_culprit, others) != EVIDENCE[function]:
            return f"evidence of the culprit: {of_culprit}, of others: {others}"
    if function.startswith("no_ranks") and any(row["rank"] is not None for row in one["rows"]):
        return f"believes ranks {[row['rank'] for row in one['rows']]}"
    if (function.startswith("rank") or function == "ras_one_is_behind") and [row["rank"] for row in one["rows"]] != sorted(paths):
        return f"ranks {[row['rank'] for row in one['rows']]}"
    if culprit is not None and page["read"] != named:
        return f"says to read {page['read']}"
    return None


def check_server(program, folder, maker, jobs):
    """Of the clients of one MPS server the one is named that alone has a thread with the exception; records say who has."""
    job, problems = jobs.Job(8, 5), []
    jobs.JOBS["clients_of_one_server"](job)
    paths, records = job.write(os.path.join(folder, "server"), maker), os.path.join(folder, "server.jsonl")
    subprocess.run([program, "triage", "--name", "core_%t_%h_%p_r%r.nvcudmp", "--records", records, os.path.join(folder, "server")],
                   stdout=subprocess.DEVNULL, check=False)
    with open(records, encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    for lanes, culprit in (([2], 2), ([1, 2], None), ([], None)):
        with open(records, "w", encoding="utf-8") as file:
            for record in found:
                if record["blame"]:
                    record["blame"] = "lane" if record["rank"] in lanes else "sm"
                file.write(json.dumps(record, separators=(",", ":")) + "\n")
        page = triage(program, "--merge", records)[1]
        problems.append(check(page, paths, culprit))
        if culprit is None and any(f"rank {rank}" not in page["jobs"][0]["sentence"] for rank in (1, 2)):
            problems.append(f"does not name all that faulted: {page['jobs'][0]['sentence']}")
    return "; ".join(filter(None, problems)) or None


def check_long_table(program, folder, maker, jobs):
    """A table ends after 20 rows; that of the rank to read is one of them."""
    seed, culprit = 0, 0
    while culprit < 20:
        seed += 1
        job = jobs.Job(32, seed)
        culprit = jobs.JOBS["fault_and_waits"](job)
    job.write(os.path.join(folder, "long"), maker)
    page = subprocess.run([program, "triage", "--name", "core_%t_%h_%p_r%r.nvcudmp", os.path.join(folder, "long")], capture_output=True, text=True,
                          check=False).stdout
    rows = re.findall(r"^ +rank (\d+) +(.*?)  ", page, re.M)
    good = [int(rank) for rank, _ in rows] == [*range(19), culprit] and rows[-1][1] == "fault, read first" and "and 12 more (--all)" in page
    return None if good and f"rank {culprit} faulted (" in page.splitlines()[0] else page


def check_two_jobs(program, folder, maker, jobs):
    """Counts are told by rank: where there are two jobs, nobody knows of which one."""
    for name in ("first", "second"):
        job = jobs.Job(8, name)
        jobs.JOBS["one_is_behind"](job)
        job.write(os.path.join(folder, "twice", name), maker)
    _, page = triage(program, "--name", "core_%t_%h_%p_r%r.nvcudmp", "--log", os.path.join(folder, "twice/first/job.log"),
                     os.path.join(folder, "twice"))
    return f"{page['jobs']}" if len(page["jobs"]) != 2 or any(job["culprit"] is not None for job in page["jobs"]) else None


def main():
    program, builders, everything = sys.argv[1], sys.argv[2], "--all" in sys.argv
    sys.path.insert(0, builders)
    import jobs  # pylint: disable=import-outside-toplevel
    maker, cases = jobs.Maker(), []
    rounds = [(8, False), (16, True), (64, False), (32, True), (8, True)] if everything else [(8, False)]
    with tempfile.TemporaryDirectory() as folder:
        for n, light in rounds:
            for name, function in jobs.JOBS.items():
                job = jobs.Job(n, f"{name} {n} {light}")
                culprit = function(job)
                where = os.path.join(folder, f"{name}-{n}-{light}")
                paths = job.write(where, maker, light)
                pattern = ["--name", "core_%t_%h_%p_r%r.nvcudmp"] if job.named and not job.plain else []
                logs = [word for log in sorted(job.evidence) for word in ("--log", os.path.join(where, log))]
                _, page = triage(program, *pattern, *logs, where)
                cases.append((f"{name}, {n} ranks, {'lightweight' if light else 'full'}", check(page, paths, culprit, name)))
        # One GPU faults in three jobs, each time in other code.
        for number, kernel in enumerate(("past_by_one", "null_member", "shared_overrun")):
            job = jobs.Job(8, number)
            job.fill(jobs.ALL_REDUCE).ranks[3 + number] = kernel
            job.bus[3 + number] = 0x99
            job.write(os.path.join(folder, "fleet", f"job{number}"), maker)
        _, page = triage(program, "--name", "core_%t_%h_%p_r%r.nvcudmp", os.path.join(folder, "fleet"))
        culprits = {job["name"][-5:-1]: job["rows"][job["culprit"]]["rank"] for job in page["jobs"] if job["culprit"] is not None}
        first = page["groups"][0]["example"]
        problem = None if first == page["read"] in {job["rows"][job["culprit"]]["path"] for job in page["jobs"]} else f"{page['read']}: {page['sentence']}"
        cases.append(("of several jobs a rank that faulted is read first, and none of the many that wait", problem))
        gpus = [(gpu["name"], gpu["jobs"], gpu["signatures"]) for gpu in page["gpus"]]
        cases.append(("a GPU that faults in three jobs is listed, and each job has its culprit",
                      None if culprits == {"job0": 3, "job1": 4, "job2": 5} and gpus == [("node0 99:00", 3, 3)] else f"{culprits} {gpus}"))
        cases.append(("of an MPS server's clients the one with the exception is named", check_server(program, folder, maker, jobs)))
        cases.append(("the rank to read is in a table that is cut", check_long_table(program, folder, maker, jobs)))
        cases.append(("counts of one job do not decide in two", check_two_jobs(program, folder, maker, jobs)))
    print(f"1..{len(cases)}")
    for number, (name, problem) in enumerate(cases, 1):
        print(f"{'not ok' if problem else 'ok'} {number} - {name}")
        if problem:
            print("# " + problem.replace("\n", "\n# "))
    return 1 if any(problem for _, problem in cases) else 0


if __name__ == "__main__":
    sys.exit(main())
