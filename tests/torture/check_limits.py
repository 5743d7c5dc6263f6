#!/usr/bin/env python3
"""Runs each command below limits that are too low: no run ends with 1, which means an anomaly, nor with a signal.

    check_limits.py PROGRAM DATASETS [few|all]

Limits: memory (ulimit -v), threads (-u), descriptors (-n), and bytes of a file (-f). A run ends with 0, 3 or 4, or
before main() with the loader's 127; it changes no input and leaves no half file. The job is healthy and `detect` has
--exit-code. Prints how many runs ended how.
"""
import collections
import os
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from torture import ENVIRONMENT, LOADER, NOW, Scratch

PROGRAM, DATASETS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
IS_ALL = len(sys.argv) > 3 and sys.argv[3] == "all"
NOBODY = 65534  # limits of threads do not hold for root
KIB, MIB = 1 << 10, 1 << 20
SLOW_SERIES = "value\n" + "20\n21\n19\n20\n" * 10
COMMANDS = {
    "detect": ("faults/clean", ["detect", "--config", "in/model_config.json", "--now", NOW, "--output", "out",
                                "--exit-code", "-j", "2"]),
    "look": ("faults/clean", ["in", "--exit-code", "-j", "2"]),
    "profile": ("profile/slow_rank", ["profile", "in", "--output", "out", "-j", "2"]),
    "series": ("faults/clean", ["series", "series.csv", "--exit-code"]),
    "check": ("faults/clean", ["check", "--output", "out", "--now", NOW]),  # 2: unknown
    "history": ("faults/clean", ["history", "--output", "out"]),
    "config": ("faults/clean", ["config", "check", "in/model_config.json"]),
    "keys": ("faults/clean", ["config", "keys"]),
    "list": ("faults/clean", ["list", "detectors"]),
    "version": ("faults/clean", ["version", "--format", "json"]),
    "simulate": ("faults/clean", ["simulate", "job", "tp=4", "dp=2", "steps=30"]),
    "eval": ("faults/clean", ["eval", "quick", "--limit", "1", "--baselines", "none", "--output", "out", "-j", "2"]),
    "bench": ("faults/clean", ["bench", "--size", "1", "--runs", "1", "--only", "detect"]),
}
LEVELS = {
    "-v": (resource.RLIMIT_AS, [n * MIB for n in ((16, 24, 32, 40, 48, 56, 64, 80, 96, 128, 160, 256, 512)
                                                  if IS_ALL else (32, 64, 160))]),
    "-u": (resource.RLIMIT_NPROC, [1, 2, 3, 4, 8] if IS_ALL else [1]),
    "-n": (resource.RLIMIT_NOFILE, [4, 5, 6, 7, 8, 10, 12, 16, 24, 32] if IS_ALL else [4, 6]),
    "-f": (resource.RLIMIT_FSIZE, [0, 512, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB] if IS_ALL else [0, 4 * KIB]),
}
USUAL = (0, 3, 4)
AFTER_A_RUN = ("check", "history")
faults = []


def lower(limit, level):
    """Called in the child, before the command."""
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    resource.setrlimit(limit, (level, level))


def give_away(folder):
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        for path in folder.rglob("*"):
            os.chown(path, NOBODY, NOBODY)


def check(job):
    name, option, level = job
    inputs, words = COMMANDS[name]
    with Scratch(f"{DATASETS}/{inputs}") as scratch:
        (scratch.path / "series.csv").write_text(SLOW_SERIES)
        how = {"cwd": scratch.path, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "check": False,
               "errors": "replace", "env": {**ENVIRONMENT, "HOME": str(scratch.path), "TMPDIR": str(scratch.path)}}
        if name in AFTER_A_RUN:
            subprocess.run([PROGRAM, *COMMANDS["detect"][1]], **how)
        give_away(scratch.path)
        ended = subprocess.run([PROGRAM, *words], preexec_fn=lambda: lower(LEVELS[option][0], level), **how)
        wrong = scratch.faults()
        is_loader = LOADER in ended.stderr or (option == "-v" and level < 24 * MIB and ended.returncode == -11)
        is_unknown = name == "check" and ended.returncode == 2
        if ended.returncode not in USUAL and not is_loader and not is_unknown:
            wrong.append(f"exit code {ended.returncode}")
        if ended.returncode in (3, 4) and not ended.stderr.strip():
            wrong.append("no message")
        if wrong:
            faults.append(f"{name} with ulimit {option} {level}: {wrong}, stderr {ended.stderr[-300:]!r}")
        return "loader" if is_loader else ended.returncode


with ThreadPoolExecutor(os.cpu_count()) as pool:
    for command in COMMANDS:
        jobs = [(command, option, level) for option, (_, levels) in LEVELS.items() for level in levels]
        ends = collections.Counter(map(str, pool.map(check, jobs)))
        print(f"{command}: {len(jobs)} runs: {', '.join(f'{n} with {end}' for end, n in sorted(ends.items()))}")
if faults:
    sys.exit("\n".join([f"FAILED: {len(faults)}", *faults[:40]]))
