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
import time

SKIPPED = 77
TRACEFS = pathlib.Path("/sys/kernel/tracing")
SETTINGS = ["tracing_on", "current_tracer", "trace_clock", "buffer_size_kb", "tracing_cpumask", "set_event",
            "set_event_pid", "trace_options"]
# Ranks and hog come before all other work of the machine, the hog before the ranks.
RANK = """
import os, sys, time
rank, cpu = map(int, sys.argv[1:])
open("/proc/self/comm", "w").write(f"rank{rank}")
os.sched_setaffinity(0, {cpu})
os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
marker = open("/sys/kernel/tracing/trace_marker", "w", buffering=1)
print("ready", flush=True)
sys.stdin.readline()
for step in range(STEPS):
    marker.write(f"failslow step_begin rank={rank} step={step}\\n")
    end = time.process_time() + 0.004
    while time.process_time() < end:
        pass
    time.sleep(0.001)
"""
HOG = """
import os, sys, time
open("/proc/self/comm", "w").write("hog")
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(2))
print("ready", flush=True)
sys.stdin.readline()
for burst in range(50):
    end = time.monotonic() + 0.005
    while time.monotonic() < end:
        pass
    time.sleep(0.003)
"""
STEPS = 120
TRIES = 3  # a busy machine may give the ranks no whole CPU
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


def start(text, *words):
    return subprocess.Popen([sys.executable, "-c", text.replace("STEPS", str(STEPS)), *map(str, words)], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def go(process):
    process.stdin.write("go\n")
    process.stdin.flush()


def record_hog(path, quiet, shared):
    """Two ranks of which one has to share its CPU for a while, and the hog."""
    ranks, hog = [start(RANK, rank, cpu) for rank, cpu in ((0, quiet), (1, shared))], start(HOG, shared)
    try:
        for process in [*ranks, hog]:
            process.stdout.readline()
        made = record("start", "--cpu", f"{quiet},{shared}", "--keep-free", "0", "-o", path)
        for process in ranks:
            go(process)
        time.sleep(0.005 * STEPS / 3)  # the first third of the steps
        go(hog)
        for process in [*ranks, hog]:
            process.wait()
    finally:
        for process in [*ranks, hog]:
            process.kill()
    told = record("stop")
    check(made.returncode == 0 and told.returncode == 0, f"recording failed: {made.stderr} {told.stderr}")
    return hog.pid


def steps_with(path, pid):
    """First and last step of rank 1 that began while the process was on a CPU now and then."""
    marks, times = [], []
    for line in path.read_text(errors="replace").splitlines():
        stamp = re.search(r" (\d+\.\d{6}): ", line)
        mark = re.search(r"step_begin rank=1 step=(\d+)", line)
        if mark:
            marks.append((float(stamp[1]), int(mark[1])))
        elif f" next_pid={pid} " in line:
            times.append(float(stamp[1]))
    inside = [step for time_s, step in marks if times[0] <= time_s <= times[-1]]
    return (min(inside), max(inside)) if inside else (0, 0)


def faults_of_hog(path, hog):
    """What is wrong with what hostbound tells of the recording."""
    made = subprocess.run([program, "hostbound", path, "--format", "json"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"hostbound failed: {made.stderr}"
    trace = json.loads(made.stdout)["traces"][0]
    if trace["coverage"]["stepMarks"] == 0:
        return ""  # kernels before 6.17 keep marks in the global buffer alone
    named = [rank for rank in trace["ranks"] if rank["rank"] == 1 and rank["isNamed"]]
    holders = [(holder["name"], holder["pids"]) for holder in named[0]["holders"]] if named else []
    if not holders or holders[0] != ("hog", [hog]):
        return f"rank 1 is held by {holders}, not by hog {hog}"
    first, last = steps_with(path, hog)
    if named[0]["firstStep"] < first - 2 or named[0]["lastStep"] > last + 2:
        return f"steps {named[0]['firstStep']} to {named[0]['lastStep']}, the hog was there from {first} to {last}"
    return ""


def check_hog(folder):
    cpus = sorted(os.sched_getaffinity(0))
    quiet, shared = cpus[0], cpus[-1]
    told = ""
    for number in range(TRIES if quiet != shared else 0):
        path = folder / f"hog{number}.txt"
        hog = record_hog(path, quiet, shared)
        told = faults_of_hog(path, hog)
        if told == "":
            break
    else:
        check(quiet == shared, told)
        return
    facts = json.loads(path.with_suffix(".clocks.json").read_text())
    stamps = [float(line.split("]")[1].split()[1].rstrip(":")) for line in
              path.read_text(errors="replace").splitlines() if "sched_switch:" in line]
    begin, end = facts["CLOCK_MONOTONIC_RAW"] / 1e9, facts["end"]["CLOCK_MONOTONIC_RAW"] / 1e9
    check(begin - 1e-3 <= min(stamps) and max(stamps) <= end + 1e-3, f"events at {min(stamps)}, clocks from {begin}")
    pids = json.loads(path.with_suffix(".pid_mapping.json").read_text())
    check(str(os.getpid()) in pids, "the map lacks the test")


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


def is_global_buffer_empty():
    return "entries-in-buffer/entries-written: 0/0" in (TRACEFS / "trace").read_text(errors="replace")[:4096]


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
        check_only_buffer(folder)
        was_empty = is_global_buffer_empty()
        check_hog(folder)
        if was_empty:
            (TRACEFS / "trace").write_text("")  # the marks of the ranks
        check_start_and_stop(folder)
        check_killed(folder)
        check(settings() == before, f"{before} became {settings()}")
        check(instances() == before_instances, f"{before_instances} became {instances()}")
    for text in faults:
        print(text)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
