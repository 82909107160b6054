#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A traced client leaves a log in which its calls can be read. Prints TAP.

usage: test_trace.py CLIENT DUMP
"""

import json
import os
import subprocess
import sys
import tempfile


def main():
    print("1..4")
    with tempfile.TemporaryDirectory() as work:
        log = os.path.join(work, "trace.jsonl")
        env = dict(os.environ, WARPSCOPE_CORE=sys.argv[2], WARPSCOPE_TRACE=log)
        run = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=False, env=env)
        with open(log, encoding="utf-8") as lines:
            calls = [json.loads(line) for line in lines]
    names = [call["call"] for call in calls]
    pcs = [call for call in calls if call["call"] == "readVirtualPC"]
    checks = [
        ("the client works as ever", run.returncode == 0),
        ("the session is there from start to end", names[0] == "initialize" and names[-1] == "finalize"),
        ("arguments and outputs are shown", pcs and pcs[0]["in"]["dev"] == "0x0" and len(pcs[0]["out"]["pc"]) == 16),
        ("a failure has a code and no outputs", any(call["result"] == "CUDBG_ERROR_NO_EVENT_AVAILABLE" and
                                                    call["out"] == {} for call in calls)),
    ]
    for number, (name, good) in enumerate(checks, 1):
        print("%s %d - %s" % ("ok" if good else "not ok", number, name))
    return 0 if all(good for _name, good in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
