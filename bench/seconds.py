# SPDX-License-Identifier: Apache-2.0
"""What a command costs, for benchmarks of the program."""
import resource
import subprocess
import sys


def cpu(*command, **more):
    """CPU seconds of a command with all that it started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, **more)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
