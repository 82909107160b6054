#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Dumps of one bug are one group, and dumps of two are two: other driver, other build, other GPU. Prints TAP.

usage: test_triage_groups.py PROGRAM BUILDERS [--all]

Bugs are the planted faults and hangs, each of several builds (optimised, with -G, for other architectures) and drivers; every build and
driver of one bug must fall into one group, and no two bugs into the same. With --all 5,000 dumps of 40 bugs, 6 drivers, 3 builds.
"""

import json
import os
import subprocess
import sys
import tempfile

HANGS = ["two_named_barriers", "producer_never_arrives", "spin_lock", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"]
DRIVERS = [400, 525, 550, 570, 590, 615]
BUILDS = ["O3.sm_90", "G.sm_90", "O3.sm_80"]
N_BUGS = 40


def triage(program, *arguments):
    done = subprocess.run([program, "triage", "--json", "--all", *arguments], capture_output=True, check=False, timeout=900)
    if done.returncode not in (0, 10) or done.stderr:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


def write(path, data):
    with open(path, "wb") as handle:
        handle.write(data)


def check_bugs(program, folder, maker, bugs, drivers, builds, copies):
    """Builds all, links them under many names, and compares groups with bugs."""
    of_path, n = {}, 0
    for bug in bugs:
        for kind in builds:
            for driver in drivers:
                first = os.path.join(folder, f"{n}.nvcudmp")
                write(first, maker.dump(bug, 0x1b, False, kind, driver))
                for copy in range(copies):
                    path = first if copy == 0 else os.path.join(folder, f"{n}-{copy}.nvcudmp")
                    if copy:
                        os.link(first, path)
                    of_path[path] = bug
                n += 1
        maker.made.clear()
    page = triage(program, folder)
    shown = [group["signature"] for group in page["groups"]]
    if len(page["groups"]) != len(bugs):
        return f"{len(page['groups'])} groups of {len(bugs)} bugs: " + "; ".join(shown)
    each = len(builds) * len(drivers) * copies
    uneven = [(group["signature"], group["dumps"]) for group in page["groups"] if group["dumps"] != each]
    examples = {of_path[group["example"]] for group in page["groups"]}
    return f"groups with other than {each} dumps: {uneven}" if uneven or examples != set(bugs) else None


def renamed(dump, name):
    """The dump with its kernel under another name of the same length."""
    old = b"ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    assert len(old) == len(name) and old in dump
    return dump.replace(old, name)


def check_pairs(program, folder, maker):
    """Names that builds change must join; names that are two bugs must not."""
    dump = maker.dump("ncclDevKernel_AllReduce_Sum_f32_RING_LL")
    pairs = [
        ("the hash of an unnamed namespace", b"_ZN22_GLOBAL__N__24598d58_a8kernel_1EPi", b"_ZN22_GLOBAL__N__bf19f174_a8kernel_1EPi", True),
        ("two kernels of an unnamed namespace", b"_ZN22_GLOBAL__N__24598d58_a8kernel_1EPi", b"_ZN22_GLOBAL__N__24598d58_a8kernel_2EPi", False),
        ("what Numba's process compiled before", b"_ZN1m3oobB2v1B12cw51cXTLSUwvEi", b"_ZN1m3oobB2v4B12cw51cXTLSUwvEi", True),
        ("two kernels of Numba", b"_ZN1m3oobB2v1B12cw51cXTLSUwvEi", b"_ZN1m3oocB2v1B12cw51cXTLSUwvEi", False),
        ("the file around what is static", b"_ZN25_INTERNAL_e5da78a7_4_s_cu1kEi", b"_ZN25_INTERNAL_f5da78a7_4_t_cu1kEi", True),
        ("template arguments of kernels", b"_ZN5space15template_kernelIfLi4EEEvPfPKfiiii_", b"_ZN5space15template_kernelIdLi4EEEvPfPKfiiii_", False),
        ("what only looks like an unnamed namespace", b"_Z27copy_99_GLOBAL__N_of_tables1PfPKfiiiiii", b"_Z27copy_98_GLOBAL__N_of_tables1PfPKfiiiiii",
         False),
    ]
    cases = []
    for number, (what, one, other, joins) in enumerate(pairs):
        one, other = one[:39].ljust(39, b"i"), other[:39].ljust(39, b"i")
        where = os.path.join(folder, f"pair{number}")
        os.mkdir(where)
        write(os.path.join(where, "a.nvcudmp"), renamed(dump, one))
        write(os.path.join(where, "b.nvcudmp"), renamed(dump, other))
        groups = triage(program, where)["groups"]
        cases.append((f"{what}: {'one group' if joins else 'two groups'}",
                      None if len(groups) == (1 if joins else 2) else f"{len(groups)}: " + "; ".join(g["signature"] for g in groups)))
    return cases


def check_assertions(program, folder):
    """Two assertions of one function are two bugs, and the same one again is not a third."""
    import build  # pylint: disable=import-outside-toplevel
    import coredump  # pylint: disable=import-outside-toplevel
    built, text, other = build.SCENARIOS["assert"][0](), b"i >= 0 && i < limit", b"i > -1 && i < limit"
    dump = coredump.write(built.model, built.options)
    assert text in dump
    where = os.path.join(folder, "assertions")
    os.mkdir(where)
    for name, data in (("a", dump), ("b", dump.replace(text, other)), ("c", dump)):
        write(os.path.join(where, name + ".nvcudmp"), data)
    found = sorted((group["signature"].rpartition(" | ")[2], group["dumps"]) for group in triage(program, where)["groups"])
    return None if found == [(other.decode(), 1), (text.decode(), 2)] else f"{found}"


def main():
    program, builders, everything = sys.argv[1], sys.argv[2], "--all" in sys.argv
    sys.path.insert(0, builders)
    import faults  # pylint: disable=import-outside-toplevel
    import jobs  # pylint: disable=import-outside-toplevel
    maker = jobs.Maker()
    known = [{state["kernel"] for state in faults.states(kind)} for kind in BUILDS]
    bugs = sorted(set.intersection(*known)) + HANGS
    bugs = bugs[:N_BUGS - len(HANGS)] + HANGS if everything else bugs[:3] + HANGS[2:]
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "bugs"))
        where = os.path.join(folder, "bugs")
        problem = (check_bugs(program, where, maker, bugs, DRIVERS, BUILDS, 7) if everything
                   else check_bugs(program, where, maker, bugs, DRIVERS[::5], BUILDS[:2], 1))
        cases = [(f"{len(bugs)} bugs of several drivers and builds are {len(bugs)} groups", problem)]
        cases += check_pairs(program, folder, maker)
        cases.append(("two assertions of one function: two groups", check_assertions(program, folder)))
    print(f"1..{len(cases)}")
    for number, (name, problem) in enumerate(cases, 1):
        print(f"{'not ok' if problem else 'ok'} {number} - {name}")
        if problem:
            print(f"# {problem}")
    return 1 if any(problem for _, problem in cases) else 0


if __name__ == "__main__":
    sys.exit(main())
