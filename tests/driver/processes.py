# SPDX-License-Identifier: Apache-2.0
"""Which processes a test of programs on the software GPU has left, and waiting for them."""
import os
import time

PATIENCE = 100  # seconds, for what comes at once unless the machine is very busy


def agents(mark):
    """Processes of an agent that has this in its environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/comm', encoding='ascii', errors='replace') as name, open(f'/proc/{pid}/environ', 'rb') as env:
                if name.read().startswith('warpscope-agent') and mark.encode() in env.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


waits = [0.0]  # seconds that each condition took


def within(seconds, condition):
    """Whether a condition comes true in that time; what it is at the end."""
    begin = time.monotonic()
    while not condition() and time.monotonic() < begin + seconds:
        time.sleep(0.02)
    waits.append(time.monotonic() - begin)
    return condition()
