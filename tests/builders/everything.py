# SPDX-License-Identifier: Apache-2.0
"""Dumps of all builders, for tests that look at every page."""
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def dumps(work, every):
    """Paths of each `every`th dump, built below `work`: scenarios, planted faults, planted hangs."""
    def run(script, *words):
        return subprocess.run([sys.executable, os.path.join(HERE, script + ".py"), *words], capture_output=True, text=True, check=True)
    folders = [os.path.join(work, name) for name in ("scenarios", "faults", "hangs")]
    run("build", folders[0], *run("build", "--list").stdout.split()[::every])
    for script in ("faults", "hangs"):
        run(script, os.path.join(work, script), "--every", str(every))
    return [dump for folder in folders for dump in sorted(glob.glob(folder + "/*.nvcudmp"))]
