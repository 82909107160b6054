#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The triage names the rank that was first in constructed jobs, and nobody where nobody could tell. Prints TAP.

usage: test_triage_jobs.py PROGRAM BUILDERS [--all]

The jobs are those of builders/jobs.py: with 8 ranks; with --all with 8 to 64, with full and with lightweight dumps, whose files and
names have times in no order. A wrong culprit is a failure, and so is "cannot tell" where the dumps do tell.
"""

import json
import os
import subprocess
import sys
import tempfile


def triage(program, *arguments):
    done = subprocess.run([program, "triage", "--json", *arguments], capture_output=True, check=False, timeout=300)
    if done.returncode not in (0, 10, 12, 13) or done.stderr:
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
    if "nccl" in function and [row["rank"] for row in one["rows"]] != sorted(paths):
        return f"ranks {[row['rank'] for row in one['rows']]}"
    if culprit is not None and page["read"] != named:
        return f"says to read {page['read']}"
    return None


def main():
    program, builders, everything = sys.argv[1], sys.argv[2], "--all" in sys.argv
    sys.path.insert(0, builders)
    import jobs  # pylint: disable=import-outside-toplevel
    maker, cases = jobs.Maker(), []
    rounds = [(8, False), (16, True), (64, False), (32, True), (8, True)] if everything else [(8, False)]
    sample = None if everything else {"fault_and_waits", "fault_and_collateral", "hang_one_idle", "hang_all_wait", "hang_one_left_nothing",
                                      "two_bugs", "fault_and_cut", "clients_of_one_server", "one_collective_fault", "without_ranks", "one_is_behind", "one_is_silent", "two_bugs_in_order",
                                      "two_bugs_of_another_host", "ranks_from_nccl", "last_rank_by_nccl"}
    with tempfile.TemporaryDirectory() as folder:
        for n, light in rounds:
            for name, function in jobs.JOBS.items():
                if sample and name not in sample:
                    continue
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
        gpus = [(gpu["name"], gpu["jobs"], gpu["signatures"]) for gpu in page["gpus"]]
        cases.append(("a GPU that faults in three jobs is listed, and each job has its culprit",
                      None if culprits == {"job0": 3, "job1": 4, "job2": 5} and gpus == [("node0 99:00", 3, 3)] else f"{culprits} {gpus}"))
    print(f"1..{len(cases)}")
    for number, (name, problem) in enumerate(cases, 1):
        print(f"{'not ok' if problem else 'ok'} {number} - {name}")
        if problem:
            print(f"# {problem}")
    return 1 if any(problem for _, problem in cases) else 0


if __name__ == "__main__":
    sys.exit(main())
