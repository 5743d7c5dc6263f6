#!/usr/bin/env python3
"""Lets one request for memory of a whole command fail, then another one.

Arguments: the program, the shim, the bundled data sets, and the distance of the requests that fail (1: each). The
requests of all libraries count. A run must end as it does with memory, or with exit code 4 and a message; it may leave
no temporary file. Prints how the runs of each command ended.
"""
import collections
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

PROGRAM, SHIM, DATASETS = sys.argv[1:4]
DISTANCE = int(sys.argv[4])
OUT_OF_MEMORY = 4
NOW = "1750000100"
COMMANDS = {
    "look": [f"{DATASETS}/faults/slow_rank"],
    "detect": ["--config", f"{DATASETS}/faults/slow_link/model_config.json", "--now", NOW, "-j", "1"],
    "detect, healthy": ["--config", f"{DATASETS}/faults/clean/model_config.json", "--now", NOW, "-j", "1",
                        "--exit-code"],
    "profile": ["profile", f"{DATASETS}/profile/slow_rank"],
    "convert": ["convert", f"{DATASETS}/faults/hang", f"{DATASETS}/profile/slow_rank"],
    "eval": ["eval", "quick", "--limit", "1", "--baselines", "none", "-j", "1"],
    "check": ["check", "--now", NOW],  # of a result that is made once
    "config check": ["config", "check", f"{DATASETS}/faults/slow_link/model_config.json"],
}
faults = []
result = tempfile.TemporaryDirectory()
subprocess.run([PROGRAM, *COMMANDS["detect"], "--quiet", "--output", result.name], check=True)
COMMANDS["check"] += ["--output", result.name]
TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "hostbound", "traces.py")
subprocess.run([sys.executable, TRACES, f"{result.name}/job", "markers", "hog=12-23", "irq"], check=True)
COMMANDS["hostbound"] = ["hostbound", f"{result.name}/job"]


def run(words, fail_at, **more):
    """Exit code, stderr, and temporary files that were left."""
    with tempfile.TemporaryDirectory() as folder:
        if words[0] not in ("check", "config", "hostbound"):
            suffix = ".json.gz" if words[0] == "convert" else ""
            words = [*words, "--output", f"{folder}/out{suffix}"]
        ended = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                               env={"PATH": os.environ["PATH"], "LC_ALL": "C", "OMP_NUM_THREADS": "1", "HOME": folder,
                                    "LD_PRELOAD": SHIM, "FAIL_AT": str(fail_at), **more})
        left = [name for _, _, names in os.walk(folder) for name in names if name.startswith(".failslow.")]
        return ended.returncode, ended.stderr, left


def count(words):
    with tempfile.NamedTemporaryFile() as file:
        code, _, _ = run(words, 0, FAIL_COUNT=file.name)
        return code, int(file.read())


def check(name, words):
    usual, n_requests = count(words)
    ends = collections.Counter()

    def fail(number):
        return number, *run(words, number)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, code, message, left in pool.map(fail, range(1, n_requests + 1, DISTANCE)):
            ends[code] += 1
            if code not in (usual, OUT_OF_MEMORY) or left or (code == OUT_OF_MEMORY and not message.strip()):
                faults.append(f"{name}: request {number}: exit code {code}, left {left}, stderr {message[-300:]!r}")
    told = ", ".join(f"{n} with {code}" for code, n in sorted(ends.items()))
    print(f"{name}: {n_requests} requests, {sum(ends.values())} failed one by one: ended {told}")


for command, line in COMMANDS.items():
    check(command, line)
if faults:
    sys.exit("\n".join(["FAILED", *faults[:20]]))
