#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""data/triage.sql in a real DuckDB: the ten questions against the same answers by loops over the records. Prints TAP.

usage: test_duckdb.py PROGRAM SOURCE_ROOT

DuckDB is the module of this Python, or comes from PyPI into a folder that goes away; without both the test is skipped. Records are those of
built jobs (builders/jobs.py), in two files that share some, one with a line that a kill has cut.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
import time

JOBS = ["fault_and_waits", "fault_and_cut", "hang_all_wait", "hang_one_computes", "two_bugs", "nothing_wrong"]
DAY = 86400


def with_duckdb(folder):
    """Runs this test again in a Python that has DuckDB; a reason if there is none."""
    python = os.path.join(folder, "venv", "bin", "python")
    for command in ([sys.executable, "-m", "venv", os.path.join(folder, "venv")],
                    [python, "-m", "pip", "-q", "--disable-pip-version-check", "install", "duckdb"]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        except (OSError, subprocess.TimeoutExpired) as problem:
            return str(problem)
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["it failed"])[-1]
    sys.exit(subprocess.run([python, *sys.argv, "--here"], check=False).returncode)


def make_records(program, root, folder):
    """Two files of records, and the records that count."""
    sys.path.insert(0, os.path.join(root, "tests/builders"))
    import jobs  # pylint: disable=import-outside-toplevel
    maker = jobs.Maker()
    for number, name in enumerate(JOBS):
        job = jobs.Job(8, name)
        jobs.JOBS[name](job)
        paths = job.write(os.path.join(folder, "dumps", name), maker, light=number % 2 == 1)
        for path in paths.values():  # what is new since yesterday: the cut dumps and the last jobs; dumps have a time of their own
            os.utime(path, (time.time(), time.time()))
    one, two = (os.path.join(folder, f"part-{k}.jsonl") for k in (1, 2))
    words = [program, "triage", "--name", "core_%t_%h_%p_r%r.nvcudmp", "--records"]
    first, last = (os.path.join(folder, "dumps", name) for name in (JOBS[0], JOBS[-1]))
    subprocess.run([*words, one, os.path.join(folder, "dumps")], stdout=subprocess.DEVNULL, check=False)
    subprocess.run([*words, two, first, last], stdout=subprocess.DEVNULL, check=False)
    with open(one, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    # Some are of today, of another driver, GPU and build; the file is written again as if dumps were so.
    for number, record in enumerate(records):
        if record["time"] and number % 3 == 0:
            record["time"] = int(time.time()) - 3600
        if number % 5 == 0:
            record["driver"] = "615.12"
        if number % 7 == 0 and record["code_id"]:
            record["code_id"] = record["code_id"][::-1]
    min((record for record in records if record["signature"]), key=lambda record: record["path"])["complete"] = False
    new_kind = dict(records[0], key="f" * 32, path=records[0]["path"] + "-new", signature="a new one | kernel | f | load", verdict="fault",
                    time=int(time.time()) - 60)
    records.append(new_kind)
    with open(one, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
        file.write('{"schema":"warpscope-triage-1","key":"0123')
    with open(two, "r+", encoding="utf-8") as file:  # those that are in both: as in the first
        keys = {json.loads(line)["key"] for line in file}
        file.seek(0)
        file.truncate()
        file.writelines(json.dumps(record) + "\n" for record in records if record["key"] in keys)
    return records


def seen(record):
    return record["time"] or record["written"]


def job_of(record):
    return record["path"][:record["path"].rfind("/") + 1] + (f" job {record['job']}" if record["job"] else "")


def grouped(records, *keys):
    groups = collections.defaultdict(list)
    for record in records:
        groups[tuple(key(record) if callable(key) else record[key] for key in keys)].append(record)
    return groups


def different(records, key):
    found = {key(record) if callable(key) else record[key] for record in records}
    return len(found - {None})


def waits(record):
    return record["verdict"] == "hang" and record["collective"] is not None


def answers(records):
    """Each question by loops: view -> (columns, set of rows)."""
    bugs = [record for record in records if record["signature"]]
    faults = [record for record in records if record["verdict"] == "fault" and record["host"] and record["pci"]]
    midnight = int(time.time()) // DAY * DAY
    by_bug = {signature: (len(group), different(group, job_of), different(group, "host"), min(map(seen, group)), max(map(seen, group)), signature)
              for (signature,), group in grouped(bugs, "signature").items()}
    wait = "dumps, jobs, hosts, epoch(first)::BIGINT, epoch(last)::BIGINT, signature"
    result = {
        "bugs": (wait, set(by_bug.values())),
        "new_bugs": (wait, {row for row in by_bug.values() if row[3] >= midnight - DAY}),
        "since(INTERVAL 10 MINUTE)": (wait, {row for row in by_bug.values() if row[3] >= time.time() - 600}),
        "by_driver": ("signature, driver, dumps", {(*key, len(group)) for key, group in grouped(bugs, "signature", "driver").items()}),
        "by_gpu": ("host, pci, faults, jobs, signatures", {(*key, len(group), different(group, job_of), different(group, "signature"))
                                                          for key, group in grouped(faults, "host", "pci").items()}),
        "by_code": ("code_id, dumps, signatures", {(*key, len(group), different(group, "signature"))
                                                  for key, group in grouped(bugs, "code_id").items() if key[0]}),
        "by_device": ("signature, device_name, device_type, dumps",
                      {(*key, len(group)) for key, group in grouped(bugs, "signature", "device_name", "device_type").items()}),
        "by_day": ("(epoch(day) / 86400)::BIGINT, dumps, faults, hangs, bugs, jobs",
                   {(day, len(group), sum(r["verdict"] == "fault" for r in group), sum(r["verdict"] == "hang" for r in group),
                     different(group, "signature"), different(group, job_of))
                    for (day,), group in grouped(records, lambda record: seen(record) // DAY).items()}),
        "by_collective": ("job_name, waiting, faults, outside, unreadable",
                          {(job, sum(map(waits, group)), sum(r["verdict"] == "fault" for r in group),
                            sum(r["status"] == "read" and r["verdict"] != "fault" and not waits(r) for r in group),
                            sum(r["status"] == "failed" for r in group))
                           for (job,), group in grouped(records, job_of).items() if any(map(waits, group))}),
        "by_rank": ("signature, rank, dumps, jobs", {(*key, len(group), different(group, job_of))
                                                    for key, group in grouped(bugs, "signature", "rank").items() if key[1] is not None}),
        "unreadable": ("path, state", {(r["path"], "cannot be read" if r["status"] == "failed" else "is cut" if r["cut"] else "is damaged")
                                       for r in records if r["status"] == "failed" or r["cut"] or not r["complete"]}),
    }
    return result


def check(root, folder, records):
    import duckdb  # pylint: disable=import-outside-toplevel,import-error
    with open(os.path.join(root, "data/triage.sql"), encoding="utf-8") as text:
        sql = text.read()
    with open(os.path.join(root, "docs/schema/warpscope-triage-1.json"), encoding="utf-8") as text:
        columns = json.load(text)["required"]
    base = duckdb.connect(os.path.join(folder, "fleet.db"))
    base.execute(f"SET VARIABLE records = '{folder}/part-*.jsonl'")
    base.execute(sql)
    cases = []
    found = [row[0] for row in base.execute("DESCRIBE records").fetchall()]
    cases.append(("columns are those of the schema", None if found == columns else f"{set(found) ^ set(columns)}, or another order"))
    found = base.execute("SELECT * FROM records").fetchall()
    planted = {tuple(record[key] for key in columns) for record in records}
    cases.append(("records load as they are, each dump once", None if len(found) == len(records) and set(found) == planted else f"{len(found)} of {len(records)}"))
    for view, (what, expected) in answers(records).items():
        found = base.execute(f"SELECT {what} FROM {view}").fetchall()
        cases.append((f"{view}: {len(expected)} rows", None if len(found) == len(expected) and set(found) == expected and found
                      else f"more {set(found) - expected}, less {expected - set(found)}"[:1500]))
    rows = base.execute("SELECT signature, example FROM bugs").fetchall()
    best = {s: min((not r["complete"], r["path"]) for r in group)[1] for (s,), group in grouped([r for r in records if r["signature"]], "signature").items()}
    cases.append(("the example of a bug is a sound dump", None if dict(rows) == best else f"{rows}"))
    parquet = os.path.join(folder, "fleet.parquet")
    before = base.execute("FROM bugs").fetchall()
    base.execute(f"COPY records TO '{parquet}'")
    base.execute(f"CREATE OR REPLACE VIEW records AS FROM '{parquet}'")
    cases.append(("the answers from Parquet are the same", None if base.execute("FROM bugs").fetchall() == before and before else "they differ"))
    return cases


def main():
    program, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        try:
            import duckdb  # noqa: F401 pylint: disable=import-outside-toplevel,unused-import,import-error
        except ImportError:
            reason = "no DuckDB" if "--here" in sys.argv else with_duckdb(folder)
            print(f"1..0 # SKIP DuckDB cannot be installed: {reason}")
            return 0
        cases = check(root, folder, make_records(program, root, folder))
    print(f"1..{len(cases)}")
    for number, (name, problem) in enumerate(cases, 1):
        print(f"{'not ok' if problem else 'ok'} {number} - {name}")
        if problem:
            print(f"# {problem}")
    return 1 if any(problem for _, problem in cases) else 0


if __name__ == "__main__":
    sys.exit(main())
