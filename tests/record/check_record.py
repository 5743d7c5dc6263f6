#!/usr/bin/env python3
"""Records this machine: a process that takes the CPU of one of two ranks shows as the one that took it, and the kernel's
tracer is as before, also after kill -9 of the recorder. Argument: the program. Needs root and a tracefs, else skips."""
import fcntl
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

SKIPPED = 77
TRACEFS = pathlib.Path("/sys/kernel/tracing")
SETTINGS = ["tracing_on", "current_tracer", "trace_clock", "buffer_size_kb", "tracing_cpumask", "set_event",
            "set_event_pid", "trace_options"]
RANK = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
print("ready", flush=True)
while True:
    end = time.monotonic() + 0.01
    while time.monotonic() < end:
        pass
    time.sleep(0.001)
"""
HOG = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
print("ready", flush=True)
while True:
    pass
"""
SWITCH = re.compile(r"\[(\d+)\].*sched_switch: prev_comm=.* prev_pid=(\d+) prev_prio=\d+ prev_state=(\S+) ==> "
                    r"next_comm=.* next_pid=(\d+) ")
program = sys.argv[1]
faults = []


def check(is_right, text):
    if not is_right:
        faults.append(text)


def record(*words, root=None, **options):
    environment = dict(os.environ, LC_ALL="C")
    if root:
        environment["FAILSLOW_TRACEFS"] = str(root)
    return subprocess.run([program, "record", *words], env=environment, capture_output=True, text=True, check=False,
                          **options)


def settings():
    """What others may have set; a buffer that nobody has used yet is shown with a remark."""
    return {name: (TRACEFS / name).read_text().split(" (")[0].strip() for name in SETTINGS}


def instances():
    return sorted(os.listdir(TRACEFS / "instances"))


def wait_for_guard(folder):
    """The guard holds the lock until it has put everything back."""
    lock = os.open(folder, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.close(lock)


def switches(path):
    return [match.groups() for match in map(SWITCH.search, path.read_text(errors="replace").splitlines()) if match]


def start(text, cpu):
    return subprocess.Popen([sys.executable, "-c", text, str(cpu)], stdout=subprocess.PIPE)


def check_hog(folder):
    cpus = sorted(os.sched_getaffinity(0))
    shared, quiet = cpus[-1], cpus[0]
    ranks, hog = [start(RANK, cpu) for cpu in (quiet, shared)], start(HOG, shared)
    try:
        for process in [*ranks, hog]:
            process.stdout.readline()
        made = record("--cpu", f"{quiet},{shared}", "--record-time", "0.4", "--keep-free", "0", "-o", folder / "hog.txt")
    finally:
        for process in [*ranks, hog]:
            process.kill()
            process.wait()
    check(made.returncode == 0, f"recording failed: {made.stderr}")
    taken = {rank.pid: 0 for rank in ranks}
    for _, before, state, after in switches(folder / "hog.txt"):
        if int(after) == hog.pid and int(before) in taken and state in ("R", "R+"):
            taken[int(before)] += 1
    check(taken[ranks[1].pid] > 0, f"the hog took nothing from the rank on CPU {shared}: {taken}")
    check(quiet == shared or taken[ranks[0].pid] == 0, f"the hog took the other rank's CPU: {taken}")
    facts = json.loads((folder / "hog.clocks.json").read_text())
    stamps = [float(line.split("]")[1].split()[1].rstrip(":")) for line in
              (folder / "hog.txt").read_text(errors="replace").splitlines() if "sched_switch:" in line]
    begin, end = facts["CLOCK_MONOTONIC_RAW"] / 1e9, facts["end"]["CLOCK_MONOTONIC_RAW"] / 1e9
    check(begin - 1e-3 <= min(stamps) and max(stamps) <= end + 1e-3, f"events at {min(stamps)}, clocks from {begin}")
    pids = json.loads((folder / "hog.pid_mapping.json").read_text())
    check(str(hog.pid) in pids, "the map lacks the hog")


def check_killed(folder, root=None):
    """Kills a recorder that was started with its whole session."""
    made = record("start", "--keep-free", "0", "-o", folder / "killed.txt", root=root)
    check(made.returncode == 0, f"start failed: {made.stderr}")
    state = json.loads(((root or pathlib.Path("/run/failslow")) / "record.json").read_text())
    os.kill(int(state["pid"]), signal.SIGKILL)
    wait_for_guard(root or TRACEFS)
    told = record("stop", root=root)
    check(told.returncode == 3 and "killed" in told.stderr, f"stop after a kill: {told}")
    (folder / "killed.txt.part").unlink()


def check_start_and_stop(folder):
    made = record("start", "--keep-free", "0", "-o", folder / "first.txt")
    second = record("start", "--keep-free", "0", "-o", folder / "second.txt")
    told = record("stop")
    check(made.returncode == 0 and told.returncode == 0, f"start and stop: {made} {told}")
    check(second.returncode == 3 and "already" in second.stderr, f"second start: {second}")
    check(len(switches(folder / "first.txt")) > 0, "a started recording has no switches")


def check_only_buffer(folder):
    """As on a kernel without instances: links to all files but those."""
    root = folder / "tracefs"
    root.mkdir()
    for path in TRACEFS.iterdir():
        if path.name != "instances":
            (root / path.name).symlink_to(path)
    before = settings()
    made = record("--record-time", "0.2", "--buffer-size", "512", "--keep-free", "0", "-o", folder / "only.txt",
                  root=root)
    if "somebody else" in made.stderr:
        print("the global buffer is in use: left alone")
        return
    check(made.returncode == 0 and len(switches(folder / "only.txt")) > 0, f"global buffer: {made}")
    check(settings() == before, f"global buffer: {before} became {settings()}")
    check_killed(folder, root)
    check(settings() == before, f"global buffer after a kill: {before} became {settings()}")


def main():
    if os.geteuid() != 0 or not os.access(TRACEFS / "instances", os.W_OK):
        print("skipped: needs root and a tracefs (mount -t tracefs tracefs /sys/kernel/tracing)")
        sys.exit(SKIPPED)
    before, before_instances = settings(), instances()
    with tempfile.TemporaryDirectory(prefix="failslow-record-") as name:
        folder = pathlib.Path(name)
        if record("--record-time", "0.1", "--keep-free", "0", "-o", folder / "try.txt").returncode != 0:
            print("skipped: another recording goes on, or the kernel refuses")
            sys.exit(SKIPPED)
        check_hog(folder)
        check_start_and_stop(folder)
        check_killed(folder)
        check(settings() == before, f"{before} became {settings()}")
        check(instances() == before_instances, f"{before_instances} became {instances()}")
        check_only_buffer(folder)
    for text in faults:
        print(text)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
