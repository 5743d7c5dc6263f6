#!/usr/bin/env python3
"""Records this machine: a process that takes the CPU of one of two ranks is named with the steps that the ranks' own
markers tell, and the kernel's tracer is as before, also after kill -9 of the recorder. Argument: the program. Needs
root and a tracefs, else skips."""
import fcntl
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
TRACEFS = pathlib.Path("/sys/kernel/tracing")
SETTINGS = ["tracing_on", "current_tracer", "trace_clock", "buffer_size_kb", "tracing_cpumask", "set_event",
            "set_event_pid", "trace_options"]
# Ranks and hog come before all other work of the machine, the hog before the ranks. In each step the ranks meet three
# times: a rank tells the other one that it is there, and waits until the other one is. They write when, as markers.
RANK = """
import os, socket, sys, time
rank, cpu, fd, path = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
open("/proc/self/comm", "w").write(f"rank{rank}")
os.sched_setaffinity(0, {cpu})
os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
other, pid, meetings = socket.socket(fileno=fd), os.getpid(), []
print("ready", flush=True)
sys.stdin.readline()
for step in range(STEPS):
    for name in ("HcclAllGather", "HcclAllReduce", "HcclReduceScatter"):
        end = time.process_time() + 0.0013
        while time.process_time() < end:
            pass
        begin = time.time_ns()
        other.send(b"x")
        sent = time.time_ns()
        other.recv(1)
        meetings.append((name, begin, sent, time.time_ns()))
    time.sleep(0.001)
with open(path, "w") as file:
    print("Flag,Id,Kind,Name,SourceKind,Timestamp,msptiObjectId_Ds_DeviceId,msptiObjectId_Ds_StreamId,"
          "msptiObjectId_Pt_ProcessId,msptiObjectId_Pt_ThreadId", file=file)
    for number, (name, begin, sent, end) in enumerate(meetings, 1):
        for flag, label, source, at in ((16, f"comm:{name}!g0!fp32!1024", 0, begin), (32, "", 0, sent),
                                        (16, "", 1, begin), (32, "", 1, end)):
            print(f"{flag},{number},1,{label},{source},{at},{pid},{pid},{pid},{pid}", file=file)
"""
HOG = """
import os, sys, time
open("/proc/self/comm", "w").write("hog")
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(2))
print("ready", flush=True)
sys.stdin.readline()
print(time.time_ns())
for burst in range(BURSTS):
    end = time.monotonic() + 0.005
    while time.monotonic() < end:
        pass
    time.sleep(0.002 + 0.0005 * (7 * burst % 5))  # bursts with a period would make steps look longer
print(time.time_ns(), flush=True)
os._exit(0)  # the end of the interpreter takes the CPU, too
"""
MEETINGS = 3  # of a step
TOLERANCE = 2  # steps: at its edges the hog is there for a part of a step
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


def start(text, *words, **options):
    return subprocess.Popen([sys.executable, "-c", text, *map(str, words)], text=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, **options)


def go(process):
    process.stdin.write("go\n")
    process.stdin.flush()


class Jam:
    """Two ranks of which one has to share its CPU with the hog for a while."""

    def __init__(self, folder, number, n_steps, n_bursts):
        self.folder, self.n_steps, self.n_bursts = folder / f"job{number}", n_steps, n_bursts
        self.path = folder / f"hog{number}.txt"
        self.folder.mkdir()

    def markers(self, rank):
        return self.folder / f"hccl_activity-127.0.0.1-.{rank}.csv"

    def start_rank(self, rank, cpu, end):
        text = RANK.replace("STEPS", str(self.n_steps))
        return start(text, rank, cpu, end.fileno(), self.markers(rank), pass_fds=[end.fileno()])

    def record(self, quiet, shared):
        ends = socket.socketpair()
        ranks = [self.start_rank(rank, cpu, ends[rank]) for rank, cpu in ((0, quiet), (1, shared))]
        hog = start(HOG.replace("BURSTS", str(self.n_bursts)), shared)
        for end in ends:
            end.close()
        try:
            for process in [*ranks, hog]:
                process.stdout.readline()
            made = record("start", "--cpu", f"{quiet},{shared}", "--keep-free", "0", "-o", self.path)
            for process in ranks:
                go(process)
            time.sleep(0.0055 * self.n_steps / 3)  # the first third of the steps
            go(hog)
            self.begin_ns, self.end_ns = (int(word) for word in hog.stdout.read().split())
            for process in [*ranks, hog]:
                process.wait()
        finally:
            for process in [*ranks, hog]:
                process.kill()
        told = record("stop")
        check(made.returncode == 0 and told.returncode == 0, f"recording failed: {made.stderr} {told.stderr}")
        self.pid = hog.pid

    def steps(self):
        """First and last step of rank 1 in which the hog was there, by the clock of the machine."""
        rows = [line.split(",") for line in self.markers(1).read_text().splitlines()[1:]]
        begins = [int(row[5]) for row in rows if row[0] == "16" and row[4] == "0"][::MEETINGS]
        inside = [step for step, (begin, end) in enumerate(zip(begins, [*begins[1:], 2**63]))
                  if begin < self.end_ns and end > self.begin_ns]
        return inside[0], inside[-1]


def faults_of_hog(jam):
    """What is wrong with what hostbound tells of the recording, beside the markers of the job."""
    words = [program, "hostbound", jam.path, "--markers", jam.folder, "--format", "json"]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"hostbound failed: {made.stderr}"
    trace = json.loads(made.stdout)["traces"][0]
    check(trace["coverage"]["stepMarks"] == 0, "the ranks write no marks")
    named = [rank for rank in trace["ranks"] if rank["isNamed"]]
    if [rank["rank"] for rank in named] != [1]:
        return f"named are {[rank['rank'] for rank in named]}, not rank 1: {made.stderr}"
    holder = named[0]["holders"][0]
    if (holder["name"], holder["pids"]) != ("hog", [jam.pid]):
        return f"rank 1 is held by {holder['name']} {holder['pids']}, not by hog {jam.pid}"
    told, (first, last) = (named[0]["firstStep"], named[0]["lastStep"]), jam.steps()
    if abs(told[0] - first) > TOLERANCE or abs(told[1] - last) > TOLERANCE:
        return f"steps {told[0]} to {told[1]}, the hog was there from {first} to {last}"
    print(f"rank 1 is held by hog {jam.pid} in steps {told[0]} to {told[1]}, it was there from {first} to {last}")
    return ""


def check_hog(folder, n_steps, n_bursts):
    cpus = sorted(os.sched_getaffinity(0))
    quiet, shared = cpus[0], cpus[-1]
    told = ""
    for number in range(TRIES if quiet != shared else 0):
        jam = Jam(folder, f"{n_steps}-{number}", n_steps, n_bursts)
        jam.record(quiet, shared)
        told = faults_of_hog(jam)
        if told == "":
            break
        print(f"try {number}: {told}")
    else:
        check(quiet == shared, told)
        return
    path = jam.path
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


def check_only_buffer(folder):
    """As on a kernel without instances: links to all files but those."""
    root = folder / "tracefs"
    root.mkdir()
    for path in TRACEFS.iterdir():
        if path.name != "instances":
            (root / path.name).symlink_to(path)
    filtered = TRACEFS / "events/sched/sched_switch/filter"
    was_filtered = filtered.read_text().strip()
    filtered.write_text("prev_pid == 4194000")  # left by somebody who no longer traces
    before = settings()
    made = record("--record-time", "0.2", "--buffer-size", "512", "--keep-free", "0", "-o", folder / "only.txt",
                  root=root)
    check(filtered.read_text().strip() == "prev_pid == 4194000", "the filter of switches is lost")
    filtered.write_text("0" if was_filtered == "none" else was_filtered)
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
        check_hog(folder, 120, 50)
        check_hog(folder, 150, 25)
        check_start_and_stop(folder)
        check_killed(folder)
        check(settings() == before, f"{before} became {settings()}")
        check(instances() == before_instances, f"{before_instances} became {instances()}")
    for text in faults:
        print(text)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
