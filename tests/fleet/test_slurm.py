#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""data/triage.sbatch on a real Slurm of one node, on the loopback interface, with munge. Prints TAP.

usage: test_slurm.py PROGRAM SOURCE_ROOT

The daemons (munged, slurmctld, slurmd) run from a folder that goes away, on ports that are free, and end with the test. Skipped where they are
not installed (Debian: slurm-wlm, munge), and for who is not root: slurmd starts tasks as other users.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

DAEMONS = ["munged", "slurmctld", "slurmd"]
TOOLS = ["sbatch", "sacct", "scontrol", "squeue"]
SECONDS = 240
os.environ["PATH"] += ":/usr/sbin:/sbin"


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """One node. A cgroup is not needed: processes are followed as sessions."""

    def __init__(self, folder):
        self.folder, self.running = folder, []
        os.chmod(folder, 0o755)
        self.environment = {**os.environ, "SLURM_CONF": os.path.join(folder, "slurm.conf")}

    def start(self, *command):
        with open(os.path.join(self.folder, command[0] + ".out"), "wb") as out:
            self.running.append(subprocess.Popen(command, env=self.environment, stdout=out, stderr=out))  # pylint: disable=consider-using-with

    def __enter__(self):
        munge, state = os.path.join(self.folder, "munge"), os.path.join(self.folder, "state")
        for path in (munge, state, os.path.join(self.folder, "spool")):
            os.mkdir(path, 0o755)
        with open(os.path.join(munge, "key"), "wb") as key:
            os.fchmod(key.fileno(), 0o600)
            key.write(os.urandom(128))
        name = socket.gethostname().split(".")[0]
        control, node = free_ports(2)
        with open(self.environment["SLURM_CONF"], "w", encoding="utf-8") as conf:
            conf.write(f"""ClusterName=test
SlurmctldHost={name}(127.0.0.1)
SlurmctldPort={control}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={munge}/socket
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmUser=root
StateSaveLocation={state}
SlurmdSpoolDir={self.folder}/spool
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
SelectType=select/cons_res
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1
ReturnToService=2
InactiveLimit=0
NodeName={name} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=one Nodes={name} Default=YES MaxTime=INFINITE State=UP
""")
        self.start("munged", "--foreground", f"--key-file={munge}/key", f"--socket={munge}/socket", f"--pid-file={munge}/pid",
                   f"--log-file={munge}/log", f"--seed-file={munge}/seed", "--force")
        wait_for(lambda: os.path.exists(f"{munge}/socket"), "munged", self)
        self.start("slurmctld", "-D", "-c")
        self.start("slurmd", "-D", "-c", "-N", name)
        wait_for(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T"), "a node that is idle", self)
        return self

    def ask(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, timeout=60).stdout

    def __exit__(self, *_):
        for process in reversed(self.running):
            process.terminate()
        for process in self.running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(condition, what, cluster):
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            logs = ""
            for name in DAEMONS:
                with open(os.path.join(cluster.folder, name + ".out"), encoding="utf-8", errors="replace") as log:
                    logs += f"\n{name}: {log.read()[-600:]}"
            raise RuntimeError(f"waited {SECONDS} s for {what}{logs}")
        time.sleep(0.3)


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def submit(cluster, root, program, tasks, store, results, *options):
    """Submits, waits for the end, and returns {job: state} of all tasks and of the merge."""
    done = subprocess.run([os.path.join(root, "data/triage.sbatch"), "-n", str(tasks), "-s", "--time=10", store, results, *options],
                          env={**cluster.environment, "WARPSCOPE": program}, capture_output=True, text=True, check=False, timeout=60)
    found = re.fullmatch(r"array (\d+), merge (\d+)\n", done.stdout)
    if done.returncode or not found:
        raise RuntimeError(f"triage.sbatch: {done}")
    array, merge = found.groups()
    state = {}

    def is_over():
        for block in cluster.ask("scontrol", "-o", "show", "job").splitlines():
            job, task = re.search(r"\bJobId=(\d+)", block), re.search(r"\bArrayTaskId=(\d+)\b", block)
            owner = re.search(r"\bArrayJobId=(\d+)", block)
            where = (owner or job).group(1)
            if where in (array, merge):
                state[f"part {task.group(1)}" if task else where] = re.search(r"\bJobState=(\S+)", block).group(1)
        return state.get(merge) in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT") and not cluster.ask("squeue", "-h", "-j", f"{array},{merge}")

    wait_for(is_over, "the jobs", cluster)
    state["merge"] = state.pop(merge)
    state.pop(array, None)
    return state


def check(root, program, folder, cluster):
    sys.path.insert(0, os.path.join(root, "tests/builders"))
    import jobs  # pylint: disable=import-outside-toplevel
    store, results, maker, culprits = os.path.join(folder, "store"), os.path.join(folder, "results"), jobs.Maker(), {}
    for name in ("fault_and_waits", "hang_one_computes", "two_bugs"):
        job = jobs.Job(8, name)
        culprits[name] = jobs.JOBS[name](job)
        job.write(os.path.join(store, name), maker)
    cases, pattern = [], ("--name", "core_%t_%h_%p_r%r.nvcudmp")
    state = submit(cluster, root, program, 3, store, results, *pattern)
    parts = {f"part {k}": "COMPLETED" for k in (1, 2, 3)}
    cases.append(("three tasks and the merge end well", None if state == {**parts, "merge": "COMPLETED"} else state))
    whole = json.loads(subprocess.run([program, "triage", "--json", *pattern, store], capture_output=True, check=False).stdout)
    merged = read_json(os.path.join(results, "triage.json"))
    cases.append(("the merged page is that of one run over all dumps", None if merged == whole and whole["dumps"]["all"] == 24 else merged["dumps"]))
    found = {os.path.basename(job["name"].rstrip("/")): job["culprit"] for job in merged["jobs"]}
    cases.append(("each job has its culprit", None if found == culprits else found))
    lines = [sum(1 for _ in open(os.path.join(results, f"records/part-{k}.jsonl"), encoding="utf-8")) for k in (1, 2, 3)]
    cases.append(("each task read its own part", None if sum(lines) == 24 and all(lines) else lines))
    pages = os.listdir(os.path.join(results, "pages"))
    with open(os.path.join(results, "pages/index.html"), encoding="utf-8") as file:
        links = set(re.findall('<a href="([0-9a-f]+[.]html)"', file.read()))
    cases.append(("the index has pages of its dumps", None if len(links) >= 24 and set(pages) == links | {"index.html"} else (len(links), len(pages))))
    # More dumps come; one part's records are cut, as by a kill.
    job = jobs.Job(8, "more")
    jobs.JOBS["fault_and_aborts"](job)
    job.write(os.path.join(store, "more"), maker)
    with open(os.path.join(results, "records/part-2.jsonl"), "r+b") as file:
        file.truncate(os.path.getsize(file.name) - 100)
    before = [os.path.getsize(os.path.join(results, f"records/part-{k}.jsonl")) for k in (1, 2, 3)]
    state = submit(cluster, root, program, 3, store, results, *pattern)
    after = read_json(os.path.join(results, "triage.json"))["dumps"]
    cases.append(("submitted again it goes on, and reads what is new", None if state["merge"] == "COMPLETED" and after["all"] == 32 and after["again"] == 0
                  and all(os.path.getsize(os.path.join(results, f"records/part-{k}.jsonl")) >= n for k, n in zip((1, 2, 3), before)) else (state, after)))
    # A task that cannot write fails; the merge says that a part is missing, and has the pages of the rest.
    broken = os.path.join(folder, "broken")
    os.makedirs(os.path.join(broken, "records", "part-1.jsonl", "in-the-way"))
    state = submit(cluster, root, program, 2, store, broken, *pattern)
    with open(os.path.join(broken, "merge.log"), encoding="utf-8") as file:
        log = file.read()
    cases.append(("a task that fails is a failed task, and so is its merge",
                  None if (state["part 1"], state["part 2"], state["merge"]) == ("FAILED", "COMPLETED", "FAILED")
                  and "1 of 2 parts have no records" in log and os.path.exists(os.path.join(broken, "pages/index.html")) else (state, log)))
    # More tasks than dumps: parts without a dump are no failures.
    few, little = os.path.join(folder, "few"), os.path.join(folder, "little")
    os.mkdir(few)
    shutil.copy(os.path.join(root, "examples/dumps/hang.nvcudmp"), few)
    state = submit(cluster, root, program, 4, few, little)
    cases.append(("parts without a dump are no failures", None if set(state.values()) == {"COMPLETED"} and len(state) == 5 else state))
    return cases


def main():
    program, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    missing = [name for name in DAEMONS + TOOLS if not shutil.which(name)]
    if missing or os.geteuid() != 0:
        print(f"1..0 # SKIP {'no ' + ', '.join(missing) if missing else 'only root can start slurmd'}")
        return 0
    with tempfile.TemporaryDirectory() as folder, Cluster(folder) as cluster:
        cases = check(root, program, folder, cluster)
    print(f"1..{len(cases)}")
    for number, (name, problem) in enumerate(cases, 1):
        print(f"{'not ok' if problem else 'ok'} {number} - {name}")
        if problem:
            print(f"# {problem}")
    return 1 if any(problem for _, problem in cases) else 0


if __name__ == "__main__":
    sys.exit(main())
