#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""data/triage.sbatch, exec behind srun, and the scripts of docs/recipes.md on a real Slurm of one node, on the loopback interface, with
munge. Prints TAP.

usage: test_slurm.py PROGRAM SOURCE_ROOT

The daemons (munged, slurmctld, slurmd) run from a folder that goes away, on ports that are free, and end with the test. Skipped where they are
not installed (Debian: slurm-wlm, munge), and for who is not root: slurmd starts tasks as other users.
"""

import glob
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
SECONDS, NOBODY = 240, 65534
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

    def __init__(self, folder, epilog):
        self.folder, self.running, self.epilog = folder, [], epilog
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
Epilog={self.epilog}
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


def recipes(root, dumps, program, words):
    """The scripts of the chapter about Slurm, for this machine: a job, one with a time limit, an epilog."""
    with open(os.path.join(root, "docs/recipes.md"), encoding="utf-8") as file:
        chapter = re.search("## Slurm\n(.*?)\n## ", file.read(), re.S).group(1)
    scripts = re.findall("```sh\n(.*?)```", chapter, re.S)
    scripts = [script.replace("/shared/dumps", dumps).replace("python train.py", words).replace("warpscope ", program + " ") for script in scripts]
    return [script if script.startswith("#!") else "#!/bin/sh\n" + script for script in scripts]


def write_script(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
        os.fchmod(file.fileno(), 0o755)
    return path


class Batch:
    """A batch job of two tasks."""

    def __init__(self, cluster, name, text, *options, folder=None):
        self.cluster, self.out = cluster, os.path.join(folder or cluster.folder, name + ".out")
        script = write_script(os.path.join(cluster.folder, name + ".sh"), text)
        self.number = cluster.ask("sbatch", "--parsable", "-n", "2", "-o", self.out, *options, script).strip()

    def state(self):
        found = re.search(r"\bJobState=(\S+).*\bExitCode=(\S+)", self.cluster.ask("scontrol", "-o", "show", "job", self.number))
        return found.groups() if found else (None, None)

    def wait(self):
        wait_for(lambda: self.state()[0] in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"), "a batch job", self.cluster)
        return self.state()


def check_exec(root, program, cluster):
    python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable  # one that every user can run
    double = f"{python} {os.path.join(root, 'tests/cli/exec/program.py')}"
    cases, dumps, where = [], os.path.join(cluster.folder, "dumps"), "core_*.nvcudmp"

    def records(folder):
        done = subprocess.run([program, "triage", "--jsonl", folder], capture_output=True, check=False)
        return sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda record: record["rank"])

    job = Batch(cluster, "faults", recipes(root, dumps, program, f"{double} faults 2")[0])
    state, ranks = job.wait(), [(r["rank"], r["rank_from"], r["ranks"]) for r in records(os.path.join(dumps, f"job-{job.number}.0"))]
    cases.append(("exec behind srun: dumps of all ranks in one folder", None if ranks == [(0, "exec", 2), (1, "exec", 2)] and state[0] == "FAILED"
                  else (ranks, state)))
    with open(job.out, encoding="utf-8") as file:
        said = re.findall(r"\(task (\d)\) was ended by signal 6 \(Aborted\) and left (\d+) GPU dump", file.read())
    cases.append(("each exec tells of its own", None if sorted(said) == [("0", "1"), ("1", "1")] else said))
    # The signal of the time limit comes early here.
    job = Batch(cluster, "limit", recipes(root, dumps, program, f"{double} wait")[1])
    folder = os.path.join(dumps, f"job-{job.number}.0")
    wait_for(lambda: len(glob.glob(os.path.join(folder, "pipe_*"))) == 2, "two processes at their pipes", cluster)
    cluster.ask("scancel", "-b", "-s", "USR1", job.number)

    def told():
        with open(job.out, encoding="utf-8") as file:
            return re.findall(r"(\S+nvcudmp) \((\d+) bytes\)", file.read())

    wait_for(lambda: len(told()) == 2, "two dumps on request", cluster)
    found, size = records(folder), os.path.getsize(os.path.join(root, "examples/dumps/hang.nvcudmp"))
    steps = cluster.ask("squeue", "-h", "-s", "-o", "%i").split()
    good = [r["rank"] for r in found] == [0, 1] and all(r["bytes"] == size for r in found) and f"{job.number}.0" in steps
    cases.append(("before the time limit all ranks are asked, and go on", None if good else (found, steps, told())))
    cluster.ask("scancel", job.number)
    job = Batch(cluster, "status", recipes(root, dumps, program, f"{double} say 7")[1])
    state = job.wait()
    cases.append(("such a job ends as its step", None if state == ("FAILED", "7:0") else state))
    # The epilog reads as the user.
    theirs = os.path.join(cluster.folder, "theirs")
    os.mkdir(theirs)
    os.chown(theirs, NOBODY, NOBODY)
    write_script(cluster.epilog, recipes(root, theirs, program, "")[2])
    job = Batch(cluster, "epilog", recipes(root, theirs, program, f"{double} faults 2")[0], "--uid", str(NOBODY), "--gid", str(NOBODY), "-D", theirs, folder=theirs)
    job.wait()
    page = os.path.join(theirs, f"job-{job.number}.0", "triage.txt")
    wait_for(lambda: os.path.exists(page), "the page of the epilog", cluster)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    good = os.stat(page).st_uid == NOBODY and "rank 0" in text and "rank 1" in text and len(glob.glob(os.path.join(os.path.dirname(page), where))) == 2
    cases.append(("the epilog leaves a page, as the user", None if good else (os.stat(page), text)))
    return cases


def main():
    program, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    missing = [name for name in DAEMONS + TOOLS if not shutil.which(name)]
    if missing or os.geteuid() != 0:
        print(f"1..0 # SKIP {'no ' + ', '.join(missing) if missing else 'only root can start slurmd'}")
        return 0
    with tempfile.TemporaryDirectory() as folder, Cluster(folder, write_script(os.path.join(folder, "epilog"), "#!/bin/sh\n")) as cluster:
        cases = check_exec(root, program, cluster) + check(root, program, folder, cluster)
    print(f"1..{len(cases)}")
    for number, (name, problem) in enumerate(cases, 1):
        print(f"{'ok' if problem is None else 'not ok'} {number} - {name}")
        if problem is not None:
            print(f"# {problem}")
    return 0 if all(problem is None for _, problem in cases) else 1


if __name__ == "__main__":
    sys.exit(main())
