#!/usr/bin/env python3
"""Lets one system call of a whole command fail, then another one; or kills the command at it.

    check_syscalls.py PROGRAM DATASETS fail|kill [DISTANCE]

DISTANCE: every so many-th call (1: each). strace makes the calls fail. If a call fails, the command must end with 0, 3
or 4, or with 2 if the configuration cannot be read, tell why if not with 0, change no input, and leave neither half a
file nor a temporary one. If it is killed, the state must be sound, and the next run must end as if nothing had happened
and sweep what was left. Prints how many runs ended how. Exit code 77: there is no strace, or it may not trace.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from torture import ENVIRONMENT, LOADER, NOW, Scratch

PROGRAM, DATASETS, MODE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
DISTANCE = int(sys.argv[4]) if len(sys.argv) > 4 else 1
COMMANDS = {
    "detect": (f"{DATASETS}/faults/slow_link",
               ["detect", "--config", "in/model_config.json", "--now", NOW, "-j", "1", "--output", "out", "--format", "line"]),
    "profile": (f"{DATASETS}/profile/slow_rank",
                ["profile", "in", "-j", "1", "--output", "out", "--export", "msprof-analyze",
                 "--format", "line"]),
}
ERRORS = {
    "openat": ("EIO", "EMFILE", "ENOSPC"), "open": ("EIO",), "read": ("EIO",), "pread64": ("EIO",),
    "write": ("EIO", "ENOSPC"), "pwrite64": ("EIO", "ENOSPC"), "fsync": ("EIO",), "fdatasync": ("EIO",),
    "rename": ("EIO", "ENOSPC"), "renameat2": ("EIO",), "link": ("EIO", "EPERM"), "unlink": ("EIO",),
    "unlinkat": ("EIO",), "mkdir": ("ENOSPC",), "mmap": ("ENOMEM",), "mremap": ("ENOMEM",),
    "munmap": ("ENOMEM",), "mprotect": ("ENOMEM",), "close": ("EIO",), "fstat": ("EIO",), "newfstatat": ("EIO",),
    "lstat": ("EIO",), "stat": ("EIO",), "access": ("EIO",), "lseek": ("EIO",), "getdents64": ("EIO",),
    "fcntl": ("ENOLCK",), "flock": ("ENOLCK",), "ftruncate": ("EIO",), "readlink": ("EIO",), "getrandom": ("ENOSYS",),
    "landlock_create_ruleset": ("ENOSYS", "EPERM"), "landlock_add_rule": ("ENOMEM",),
    "landlock_restrict_self": ("E2BIG",), "prctl": ("EPERM",), "getcwd": ("EIO",), "sysinfo": ("EIO",),
}
# brk is not among them: the kernel answers with the old end, never with an error. A file whose removal fails stays.
MAY_LEAVE = {"unlink", "unlinkat"}
USUAL = (0, 3, 4)
FASTER = {"fail": ["--seccomp-bpf"], "kill": []}  # strace 6.1 sends no signals with a filter
faults, loaded = [], {}


def run(words, scratch, *injections):
    """The command below strace, or alone without injections."""
    trace = ["strace", "-f", "-qq", *FASTER[MODE], "-o", "/dev/null", *injections] if injections else []
    return subprocess.run([*trace, PROGRAM, *words], cwd=scratch.path, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False, errors="replace",
                          env={**ENVIRONMENT, "HOME": str(scratch.path), "TMPDIR": str(scratch.path)})


def count(name):
    """How often the command makes each system call, and how often before its libraries are loaded."""
    inputs, words = COMMANDS[name]
    with Scratch(inputs) as scratch:
        log = scratch.path / "calls"
        ended = subprocess.run(["strace", "-f", "-qq", "-o", log, PROGRAM, *words], cwd=scratch.path, check=False,
                               stdin=subprocess.DEVNULL, capture_output=True, text=True, env=ENVIRONMENT)
        if ended.returncode != 0:
            print(f"strace cannot trace here: {ended.stderr[-200:]}")
            sys.exit(77)
        calls = re.findall(r"^\d+ +(\w+)\(", log.read_text(errors="replace"), re.MULTILINE)
        n_before = calls.index("set_tid_address") if "set_tid_address" in calls else 0
        return collections.Counter(calls), collections.Counter(calls[:n_before])


def fail(job):
    name, call, error, number = job
    inputs, words = COMMANDS[name]
    with Scratch(inputs) as scratch:
        ended = run(words, scratch, "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={number}")
        wrong = scratch.faults(call in MAY_LEAVE)
        is_loader = ended.returncode in (127, -11, 139) and (LOADER in ended.stderr or number <= loaded[name][call])
        is_told = ended.returncode == 2 and "cannot read configuration" in ended.stderr
        if ended.returncode not in USUAL and not is_loader and not is_told:
            wrong.append(f"exit code {ended.returncode}")
        if ended.returncode in (3, 4) and not ended.stderr.strip():
            wrong.append("no message")
        if ended.returncode == 0 and not scratch.documents():
            wrong.append("no verdict")
        if wrong:
            faults.append(f"{name}: {call} {number} fails with {error}: {wrong}, stderr {ended.stderr[-300:]!r}")
        return "loader" if is_loader else ended.returncode


def kill(job):
    name, call, _, number = job
    inputs, words = COMMANDS[name]
    with Scratch(inputs) as scratch:
        ended = run(words, scratch, "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}")
        wrong = scratch.faults(may_leave=True)
        scratch.age_left()
        after = run(words, scratch)
        wrong += scratch.faults()
        if after.returncode != 0 or after.stdout != kill.wanted[name]:
            wrong.append(f"next run ends with {after.returncode} and another verdict: {after.stderr[-300:]!r}")
        if wrong:
            faults.append(f"{name}: killed at {call} {number}: {wrong}")
        return "killed" if ended.returncode in (-9, 137) else ended.returncode


def wanted(name):
    inputs, words = COMMANDS[name]
    with Scratch(inputs) as scratch:
        return run(words, scratch).stdout


if shutil.which("strace") is None:
    print("strace is not installed")
    sys.exit(77)
kill.wanted = {name: wanted(name) for name in COMMANDS}
with ThreadPoolExecutor(os.cpu_count()) as pool:
    for command in COMMANDS:
        numbers, loaded[command] = count(command)
        calls = {call: n for call, n in numbers.items() if call not in ("execve", "exit_group")}
        if MODE == "fail":
            jobs = [(command, call, error, k + 1) for call, errors in ERRORS.items() for error in errors
                    for k in range(calls.get(call, 0))]
        else:
            jobs = [(command, call, "", k + 1) for call, n in calls.items() for k in range(n)]
        ends = collections.Counter(map(str, pool.map(fail if MODE == "fail" else kill, jobs[::DISTANCE])))
        told = ", ".join(f"{n} with {end}" for end, n in sorted(ends.items()))
        if MODE == "kill" and ends["killed"] < len(jobs[::DISTANCE]) // 2:
            faults.append(f"{command}: most runs were not killed")
        print(f"{command}: {sum(calls.values())} system calls of {len(calls)} kinds, {sum(ends.values())} runs: {told}")
if faults:
    sys.exit("\n".join([f"FAILED: {len(faults)}", *faults[:40]]))
