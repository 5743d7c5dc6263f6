#!/usr/bin/env python3
"""Converts inputs into every form of timeline and checks the files: the rules of the forms, that both forms tell the
same, event by event, and that the slices of markers are the operators of the input, to the nanosecond.

Arguments: the program, the folder of the data sets."""
import collections
import csv
import gzip
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import trace_db
import trace_json
import trace_perfetto

JOB, NODE = (1 << 20) + 2, (1 << 20) + 3  # pids of the job, and of events of a whole host
CPUS = (1 << 20) + 16  # and of the CPUs of the first host
faults = []


def fault(*words):
    faults.append(" ".join(str(word) for word in words))


def headline(program, inputs, *options):
    """What detect says of the same inputs."""
    done = subprocess.run([program, "detect", *inputs, "--format", "line", *options], capture_output=True, text=True,
                          check=False)
    return done.stdout.rstrip("\n")


def convert(program, inputs, out, *options):
    done = subprocess.run([program, "convert", *inputs, "-o", out, *options], capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        fault(f"convert {inputs} {options}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def operators(path):
    """{(begin, end)} on the host, and on the device, of a marker file without restarts. An operator that has begun on the
    device and not ended is none."""
    spans = {}
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as stream:
        for row in csv.DictReader(stream):
            is_end = row["Flag"] in ("4", "32")
            spans.setdefault((row["SourceKind"], row["Id"]), [None, None])[is_end] = int(row["Timestamp"])
    found = {"0": set(), "1": set()}
    for (kind, number), (begin, end) in spans.items():
        if begin is not None and end is not None and spans.get(("1", number), [0, 0])[1] is not None:
            found[kind].add((begin, end))
    return found["0"], found["1"]


def check_markers(name, trace, folder):
    for path in sorted(folder.glob("hccl_activity*.csv*")):
        rank = int(re.search(r"\.(\d+)\.csv", path.name)[1])
        host, device = operators(path)
        for lane, category, expected in (("host", "host", host), ("device", "communication", device)):
            found = [(e[2], e[3]) for e in trace.events if e[0] == rank + 1 and e[5] == category]
            if len(found) != len(set(found)) or set(found) != expected:
                fault(f"{name}: rank {rank}: {len(found)} slices on the {lane} for {len(expected)} operators, "
                      f"{len(expected ^ set(found))} differ")


def check_verdict(name, trace, culprit):
    """The culprit (None: nobody) has a slice on its own process and on that of the job; each rank has counters."""
    pids = sorted(event[0] for event in trace.events if event[5] == "verdict")
    if pids != ([culprit + 1, JOB] if culprit is not None else []):
        fault(f"{name}: slices of the verdict on the processes {pids}")
    counted = {(pid, counter, unit) for pid, counter, unit, _, _ in trace.counters}
    ranks = [pid for pid in trace.processes if pid < JOB]
    if counted != {(pid, counter, "ms") for pid in ranks for counter in ("own time", "lateness", "loss")}:
        fault(f"{name}: counters {sorted(counted)}")


def check_label(name, trace, told):
    """The label of the job is the headline of detect, and so is a line of the summary."""
    label = trace.labels.get(JOB)
    if label != told:
        fault(f"{name}: label {label!r}, detect says {told!r}")


def check_without_verdict(program, datasets, scratch):
    trace = check_input(program, scratch, "no verdict", [datasets / "faults" / "slow_rank"], "--no-verdict")
    if trace is not None and (trace.counters or trace.labels or any(event[5] == "verdict" for event in trace.events)):
        fault("no verdict: there is one")


def shift_clock(path, by):
    """Makes the clock of the host of a marker file go wrong by so many ns."""
    with gzip.open(path, "rt") as stream:
        header, *rows = stream.read().splitlines()
    place = header.split(",").index("Timestamp")
    for i, row in enumerate(rows):
        fields = row.split(",")
        fields[place - len(header.split(","))] = str(int(fields[place - len(header.split(","))]) + by)
        rows[i] = ",".join(fields)
    path.write_bytes(gzip.compress("\n".join([header, *rows, ""]).encode()))


def check_aligned(program, datasets, scratch):
    """Members of a collective end together once all ranks have one clock; a kernel trace follows its rank."""
    apart, begins, labels, folder = [], [], [], scratch / "shifted"
    shutil.copytree(datasets / "faults" / "slow_rank", folder)
    write_kernel(scratch / "host")
    shift_clock(folder / "mspti" / "hccl_activity-10.1.0.1-.3.csv.gz", 5_000_000)
    for options in ([], ["--clock-align"]):
        trace = check_input(program, scratch, "clocks", [folder, scratch / "host"], "--no-verdict", *options)
        ends = {}
        begins += [event[2] for event in trace.events if event[0] == CPUS][:1] if trace is not None else []
        labels += [trace.labels.get(CPUS)] if trace is not None else []
        for event in trace.events if trace is not None else []:
            for flow in event[7] & set(trace.meetings):
                ends.setdefault(flow, []).append(event[3])
        spans = sorted(max(times) - min(times) for times in ends.values() if len(times) > 2)
        apart.append(spans[len(spans) * 3 // 4] if spans else 0)
    shift = begins[0] - begins[1] if len(begins) == 2 else 0
    if abs(shift - 5_000_000) > 100_000 or labels != ["clock mono_raw", f"clock mono_raw, shifted by {-shift} ns"]:
        fault(f"clocks: a kernel trace is shifted by {shift}: {labels}")
    if apart[1] > 100_000 or apart[0] < 4_000_000:
        fault(f"clocks: members end {apart[0]} ns apart, aligned {apart[1]} ns")


def check_same(name, left, right):
    for what in ("processes", "tracks", "labels"):
        if getattr(left, what) != getattr(right, what):
            fault(f"{name}: {what} differ")
    if sorted(left.counters) != sorted(right.counters):
        fault(f"{name}: counters differ: {len(left.counters)} and {len(right.counters)}")
    if len(left.events) != len(right.events):
        fault(f"{name}: {len(left.events)} and {len(right.events)} events")
    for one, other in zip(left.events, right.events):
        if list(one) != list(other):
            fault(f"{name}: events differ: {one} and {other}")
            return


def check_input(program, scratch, name, inputs, *options):
    """The trace, if all forms are sound and alike; else None."""
    paths = [scratch / f"out{suffix}" for suffix in (".json", ".json.gz", ".pftrace")]
    n_before = len(faults)
    told = [convert(program, inputs, path, *options) for path in paths]
    if len(faults) > n_before:
        return None
    try:
        trace = trace_json.Trace(paths[0])
        check_same(name, trace, trace_perfetto.Trace(paths[2]))
    except (trace_json.Fault, KeyError, IndexError, ValueError) as error:
        fault(f"{name}: {type(error).__name__}: {error}")
        return None
    if gzip.decompress(paths[1].read_bytes()) != paths[0].read_bytes():
        fault(f"{name}: .json.gz is not .json")
    count = len(trace.events) + len(trace.counters)
    if not all(f": {count} event" in text for text in told):
        fault(f"{name}: the summary tells another number of events than {count}: {told[0]}")
    return trace


def check_database(program, scratch, name, inputs, trace, *options):
    """The database of MindStudio, if it tells the same as the trace; else None."""
    path = scratch / "out.db"
    convert(program, inputs, path, *options)
    try:
        found = trace_db.Trace(path)
    except (trace_json.Fault, KeyError, ValueError, sqlite3.Error) as error:
        fault(f"{name}: database: {type(error).__name__}: {error}")
        return None
    for what in ("processes", "tracks", "labels", "counters"):
        if getattr(found, what) != getattr(trace, what):
            fault(f"{name}: {what} of the database differ")
    if [event[:7] for event in found.events] != [event[:7] for event in trace.events]:
        fault(f"{name}: events of the database differ: {len(found.events)} and {len(trace.events)}")
    if sorted(found.flows) != sorted((event[1], event[2], number) for event in trace.events for number in event[7]):
        fault(f"{name}: arrows of the database differ: {len(found.flows)}")
    return found


def check_faults(program, datasets, scratch):
    for name in ("slow_rank", "slow_dataloader", "slow_link", "hang", "clean"):
        folder = datasets / "faults" / name
        now = ["--now", "2025-06-15T16:30:00Z"] if name == "hang" else []
        trace = check_input(program, scratch, name, [folder], *now)
        if trace is not None:
            check_label(name, trace, headline(program, [folder], *now))
            check_markers(name, trace, folder / "mspti")
            if not trace.launches or not trace.meetings:
                fault(f"{name}: no flows")
            if name == "slow_rank":
                check_verdict(name, trace, 5)
                check_database(program, scratch, name, [folder], trace, *now)
            elif name == "hang":
                open_at = [event[0] - 1 for event in trace.events if event[5] == "open operator"]
                if sorted(open_at) != [0, 1, 2, 3, 4, 5, 7]:
                    fault(f"{name}: open operators of ranks {open_at}")
            elif name == "clean":
                check_verdict(name, trace, None)


def check_captures(program, datasets, scratch):
    """Each operator of communication.json is a slice of its rank, and so is each kernel of kernel_details.csv."""
    folder = datasets / "profile" / "slow_rank"
    trace = check_input(program, scratch, "captures", [folder])
    if trace is None:
        return
    expected = collections.Counter()
    for path in folder.glob("*/ASCEND_PROFILER_OUTPUT/communication.json"):
        rank = int(re.search(r"profiler_info_(\d+)", " ".join(map(str, path.parent.parent.iterdir())))[1])
        for step in json.loads(path.read_text()).values():
            for kind in step.values():
                expected[rank + 1] += sum(name != "Total Op Info" for name in kind)
    found = collections.Counter(event[0] for event in trace.events if event[5] == "communication")
    if not expected or found != expected:
        fault(f"captures: {dict(found)} slices of the processes for {dict(expected)} operators")
    check_kernels(program, folder, scratch, trace)


def check_kernels(program, folder, scratch, trace):
    kernels, found = set(), set()
    for path in folder.glob("*/ASCEND_PROFILER_OUTPUT/kernel_details.csv*"):
        rank = int(re.search(r"profiler_info_(\d+)", " ".join(map(str, path.parent.parent.iterdir())))[1])
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as stream:
            for row in csv.DictReader(stream):
                if row["Accelerator Core"] != "COMMUNICATION":
                    begin = trace_json.nanoseconds(row["Start Time(us)"].strip())
                    kernels.add((rank + 1, begin, begin + trace_json.nanoseconds(row["Duration(us)"]), row["Name"]))
    found = {(event[0], event[2], event[3], event[4]) for event in trace.events if event[5] == "kernel"}
    if not kernels or found != kernels:
        fault(f"captures: {len(found)} slices for {len(kernels)} kernels, {len(found ^ kernels)} differ")
    ends = sorted(kernel[2] for kernel in kernels)
    begin, end = ends[len(ends) // 4], ends[len(ends) // 2]
    cut = check_input(program, scratch, "range of captures", [folder], "--from", str(begin), "--to", str(end))
    if cut is not None:
        wanted = collections.Counter(event[5] for event in trace.events if begin <= event[3] <= end)
        if collections.Counter(event[5] for event in cut.events) != wanted or not wanted:
            fault(f"range of captures: {wanted} wanted")


def check_levels(program, datasets, scratch):
    """Memory of a component is that of its records, else what operators tell of it."""
    shutil.copytree(datasets / "profile" / "slow_rank", scratch / "levels")
    output = next((scratch / "levels").glob("*_4003_*/ASCEND_PROFILER_OUTPUT"))
    (output / "memory_record.csv").write_text(
        "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\n"
        "APP,1780000000000500.250,,7,NPU:0\nAPP,1780000000000400,,6,NPU:0\n")
    (output / "operator_memory.csv").write_text(
        "Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(MB),"
        "Allocation Total Reserved(MB),Release Total Allocated(MB),Release Total Reserved(MB)\n"
        "aten::mm,1,1780000000000600,1780000000000700,3,8,2,8\n")
    trace = check_input(program, scratch, "levels", [scratch / "levels"])
    if trace is None:
        return
    second, mega = 1_780_000_000_000_000_000, 1 << 20
    found = [(pid, name, time - second, int(value) // mega) for pid, name, _, time, value in trace.counters]
    if sorted(found) != [(4, "memory allocated of PTA", 600_000, 3), (4, "memory allocated of PTA", 700_000, 2),
                         (4, "memory reserved of APP", 400_000, 6), (4, "memory reserved of APP", 500_250, 7),
                         (4, "memory reserved of PTA", 600_000, 8), (4, "memory reserved of PTA", 700_000, 8)]:
        fault(f"levels: {found}")


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def message(*fields):
    """Fields 1, 2, ... of a message; numbers of 0 and empty texts are left out."""
    out = b""
    for number, value in enumerate(fields, 1):
        if isinstance(value, bytes) and value:
            out += varint(number << 3 | 2) + varint(len(value)) + value
        elif value:
            out += varint(number << 3) + varint(value)
    return out


def entries(*items):
    return b"".join(b"\n" + varint(len(item)) + item for item in items)


def check_host(program, _, scratch):
    """Files of host events: growth of the run delay belongs to the interval before, and stays with its thread."""
    folder, second = scratch / "home" / "osprobe", 1_750_000_000_000_000
    folder.mkdir(parents=True)
    off = [message(7, second, 10, 1000, 4, 3, b"python", b"tar", 99),
           message(8, second + 5, 20, 9, 4, 3, b"acl_thread"),
           message(7, second + 20, 10, 5000, 4, 3, b"python", b"tar", 99),
           message(2, second + 1, 4, 0, 3, 0, b"kswapd0"),
           message(8, 1 << 63, 1, 0, 4, 3, b"broken")]
    (folder / "os_trace_20260130_09_rank_3_77.pb").write_bytes(entries(*off) + b"\x13")
    calls = [message(second + 2, 30, 4, 1, 1, 3, b"part-\xff.bin"), message(second + 40, 0, 4, 1, 7, 3)]
    (folder / "io_trace_trace_rank3_77.pb").write_bytes(entries(*calls))
    frames = b"".join(b"*" + varint(len(item)) + item for item in (message(16, b"libc.so"), message(32, b"libnn.so")))
    (folder / "mutex_trace_trace_rank5_77.pb").write_bytes(
        entries(message(second + 41, 3, 6) + frames, message(second + 50, 4, 7)))
    trace = check_input(program, scratch, "host", [scratch / "home"], "--no-verdict")
    found = [(event[0], event[2] // 1000 - second, event[3] // 1000 - second, event[4], event[6])
             for event in trace.events] if trace is not None else []
    if trace is not None:
        check_database(program, scratch, "host", [scratch / "home"], trace, "--no-verdict")
    expected = [(4, 0, 10, "python", {"key": 7, "run_delay_ns": 4000, "next_task": "tar"}),
                (NODE, 1, 5, "kswapd0", {"key": 2}),
                (4, 2, 32, "part-\ufffd.bin", {"key": 1, "step": 4}),
                (4, 5, 25, "acl_thread", {"key": 8}),
                (4, 20, 30, "python", {"key": 7, "next_task": "tar"}),
                (4, 40, 40, "", {"key": 7, "step": 4}),
                (6, 41, 44, "libc.so+0x10", {"step": 6, "call_path": "libnn.so+0x20;libc.so+0x10"}),
                (6, 50, 54, "(no call path)", {"step": 7, "call_path": "(no call path)"})]
    if found != expected:
        fault(f"host: {found}")
    told = convert(program, [scratch / "home"], scratch / "told.json", "--no-verdict")
    if told.count("left out: 1 records") != 2:
        fault(f"host: {told}")


HOSTILE = b'h"\\\xff'  # the name of a task
HOG = HOSTILE.decode(errors="replace")
KERNEL = """\
          <idle>-0       [001] d..2.     0.000100: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=hog next_pid=9 next_prio=120
            main-5       [000] d..2.     0.000101: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=main next_pid=5 next_prio=120
            main-5       [000] d..2.     0.000108: sched_waking: comm=rank pid=4711 prio=120 target_cpu=001
             hog-9       [001] dNh2.     0.000110: sched_wakeup: comm=rank pid=4711 prio=120 target_cpu=001
             hog-9       [001] d..2.     0.000130: sched_switch: prev_comm=hog prev_pid=9 prev_prio=120 prev_state=R ==> next_comm=rank next_pid=4711 next_prio=120
            rank-4711    [001] d.h..     0.000150: irq_handler_entry: irq=24 name=virtio0
            rank-4711    [001] d.h..     0.000155: irq_handler_exit: irq=24 ret=handled
            rank-4711    [001] d..2.     0.000200: sched_switch: prev_comm=rank prev_pid=4711 prev_prio=120 prev_state=R ==> next_comm=hog next_pid=9 next_prio=120
             hog-9       [001] d..2.     0.000350: sched_switch: prev_comm=hog prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=rank next_pid=4711 next_prio=120
            main-5       [000] d..2.     0.000400: sched_switch: prev_comm=main prev_pid=5 prev_prio=120 prev_state=D ==> next_comm=swapper/0 next_pid=0 next_prio=120
"""


def write_kernel(folder):
    """A kernel trace of rank 3; returns the time of its 0."""
    zero = 1_750_000_000_000_000_000
    folder.mkdir()
    (folder / "trace.txt").write_bytes(KERNEL.encode().replace(b"hog", HOSTILE))
    clocks = {"CLOCK_REALTIME": zero + 1000, "CLOCK_MONOTONIC": 7, "CLOCK_MONOTONIC_RAW": 1000, "trace_clock": "mono_raw"}
    (folder / "trace.clocks.json").write_text(json.dumps(clocks))
    (folder / "ranks.json").write_text('{"pids": {"4711": 3}}')
    return zero


def check_kernel(program, datasets, scratch):
    """A kernel trace stands on the clock of the other events; the threads of a rank stand in its process."""
    folder = scratch / "kernel"
    zero = write_kernel(folder)
    trace = check_input(program, scratch, "kernel", [folder], "--no-verdict")
    if trace is None:
        return
    rank, cpus = 4, CPUS
    lanes = {}
    for pid, lane, begin, end, name, *_ in trace.events:
        if name != "unknown":
            lanes.setdefault((pid, trace.tracks[lane][1] if isinstance(lane, int) else lane), []).append(
                ((begin - zero) // 1000, (end - zero) // 1000, name))
    expected = {
        (cpus, "CPU 0"): [(101, 400, "main")],
        (cpus, "CPU 0 wakes"): [(108, 110, "rank")],
        (cpus, "CPU 1"): [(100, 130, HOG), (130, 200, "rank"), (200, 350, HOG), (350, 400, "rank")],
        (cpus, "CPU 1 interrupts"): [(150, 155, "irq 24 virtio0")],
        (rank, "rank 4711"): [(110, 130, "runnable"), (130, 200, "running"), (200, 350, "runnable (preempted)"),
                              (350, 400, "running")],
        (cpus + 1, f"{HOG} 9"): [(100, 130, "running"), (130, 200, "runnable (preempted)"), (200, 350, "running"),
                              (350, 400, "sleeping")],
        (cpus + 1, "main 5"): [(101, 400, "running")],
    }
    if lanes != expected:
        fault(f"kernel: {lanes}")
    if len(trace.launches) != 1:
        fault(f"kernel: arrows {trace.launches}")
    waiting = [((begin - zero) // 1000, int(value)) for _, name, _, begin, value in trace.counters
               if name == "CPU 1 runnable"]
    if waiting != [(110, 1), (130, 1), (200, 1), (350, 0)]:
        fault(f"kernel: waiting {waiting}")
    check_events(trace_perfetto.Trace(scratch / "out.pftrace"), zero)
    check_tasks(check_database(program, scratch, "kernel", [folder], trace, "--no-verdict"))
    check_two_hosts(program, folder, scratch)
    check_profiled(program, datasets, scratch)
    original = convert(program, [], scratch / "original.json", "--no-verdict", "--input", folder / "trace.txt",
                       "--cpu_list=0")
    if "kernel trace trace.txt" not in original or "CPU 1" in (scratch / "original.json").read_text():
        fault(f"kernel: options of MindStudio: {original}")


def kernel_events(zero):
    """The events of KERNEL as Perfetto has them."""
    for line in KERNEL.replace("hog", HOG).splitlines():
        pid, cpu, micros, name, text = re.match(r" *\S*-(\d+) +\[(\d+)\] \S+ +0\.(\d+): (\w+): (.*)", line).groups()
        values = {key: int(value) if value.isdigit() else value for key, value in re.findall(r"(\w+)=(\S+)", text)}
        if name == "sched_switch":
            values["prev_state"] = "RSD".index(values["prev_state"])
        elif name.startswith("sched_wak"):
            values["success"] = 1
        values.pop("ret", None)
        yield zero + int(micros) * 1000, int(cpu), int(pid), name, values


def check_events(found, zero):
    """The kernel's own events, for the tracks of CPUs and threads that Perfetto makes of them."""
    if found.kernel != list(kernel_events(zero)) or found.losses:
        fault(f"kernel: events for Perfetto: {found.kernel}")
    if found.tasks != {(0, 9): (HOG, None), (0, 5): ("main", None), (0, 4711): ("rank", 4711)}:
        fault(f"kernel: tasks for Perfetto: {found.tasks}")
    if found.commands != {(0, 4711): "rank (rank 3)"}:
        fault(f"kernel: processes for Perfetto: {found.commands}")


def check_two_hosts(program, folder, scratch):
    """The second host is a machine of its own: its tasks may have the ids of others. It lost events of CPU 1."""
    lines = KERNEL.replace("4711", "4712").splitlines(True)
    (scratch / "second.txt").write_text("".join([*lines[:8], "CPU:1 [LOST 3 EVENTS]\n", *lines[8:]]))
    convert(program, [folder / "trace.txt", scratch / "second.txt"], scratch / "two.pftrace", "--no-verdict")
    found = trace_perfetto.Trace(scratch / "two.pftrace")
    tasks = found.tasks
    first, second = (sorted(tid for machine, tid in tasks if machine == number) for number in (0, 1))
    if sorted((first, second)) != [[5, 9, 4711], [5, 9, 4712]] or found.losses != 1:
        fault(f"kernel: two hosts: {tasks}, losses {found.losses}")


def check_profiled(program, datasets, scratch):
    """A profile of Ascend tells the clock, with the options of MindStudio, beside a capture."""
    host, second = scratch / "profile" / "PROF_000001_20250615150640" / "host", 1_750_000_000
    host.mkdir(parents=True)
    (host / "start_info").write_text(json.dumps(
        {"clockMonotonicRaw": "50000", "collectionTimeBegin": str(second * 1_000_000 + 77)}))
    (scratch / "alone.txt").write_text(KERNEL)
    convert(program, [], scratch / "profiled.json", "--input", scratch / "alone.txt", "--profiling_data",
            scratch / "profile", datasets / "profile" / "slow_rank", "--no-verdict")
    trace = trace_json.Trace(scratch / "profiled.json")
    begin = min(event[2] for event in trace.events if event[0] == CPUS)
    captured = {event[0] for event in trace.events if event[5] == "communication"}
    if trace.labels != {CPUS: "clock mono_raw by the profile"} or begin != second * 10**9 + 127_000 or len(captured) != 8:
        fault(f"kernel: clock of a profile: {trace.labels} {begin}")


def check_tasks(found):
    """Sums of MindStudio's tables, us: a rank that is preempted once, an interrupt in its run."""
    if found is None:
        return
    tasks = [row[:3] + tuple(value // 1000 if place in (0, 1, 2, 6, 8) else value for place, value in enumerate(row[3:]))
             for row in found.tasks]
    expected = [(HOG, 9, 1, 180, 50, 70, 2, 1, 0, 0, 0, 0), ("main", 5, 0, 299, 0, 0, 0, 0, 0, 0, 0, 0),
                ("rank", 4711, 1, 120, 0, 170, 1, 1, 0, 0, 1, 5)]
    if tasks != expected or found.irqs != [("rank", 4711, 1, "irq", "virtio0", 1, 5000)]:
        fault(f"kernel: tables of tasks: {tasks} {found.irqs}")


def check_memory(program, datasets, scratch):
    """Records of device memory stand one a microsecond from 0, or from the begin of the other events."""
    folder, gib = scratch / "memory", 1 << 30
    folder.mkdir()
    frame = message(0x40, b"libnn.so")
    blocks = [message(1, 0, 0, 2 * gib, frame), message(2, 1, 0, gib, frame), message(3, 2, 0, 3 * gib, frame)]
    frees = [message(1, 2), message(3, 3)]
    batch = message(3) + b"".join(b"\x12" + varint(len(item)) + item for item in blocks)
    batch += b"".join(b"\x1a" + varint(len(item)) + item for item in frees)
    (folder / "hbm_trace_trace_rank3_77.pb").write_bytes(batch)
    for inputs, begin in (([folder], 0), ([folder, datasets / "faults" / "clean"], None)):
        trace = check_input(program, scratch, "memory", inputs, "--no-verdict")
        if trace is None:
            continue
        begin = min(event[2] for event in trace.events) if begin is None else begin
        found = [(pid, unit, time - begin, int(value)) for pid, name, unit, time, value in trace.counters
                 if name.startswith("held device memory (")]
        values = (2, 3, 6, 4, 1)
        if found != [(4, "bytes", i * 1000, value * gib) for i, value in enumerate(values)]:
            fault(f"memory: {found}")
        peaks = [(event[2] - begin, event[6]["held_bytes"]) for event in trace.events if event[4] == "peak"]
        if peaks != [(2000, 6 * gib)]:
            fault(f"memory: peaks {peaks}")


def lines(path):
    """The events of a JSON file, one a line, without the numbers of launches and collectives."""
    text = re.sub(rb'"bind_id":"0x[0-9a-f]+"|"id":[0-9]+,"name":"collective"', b"", path.read_bytes())
    return sorted(line.rstrip(b",") for line in text.splitlines())


def told_events(path):
    """Events of a JSON file that are no metadata and no flows."""
    return sum(line.startswith((b'{"ph":"X"', b'{"ph":"i"', b'{"ph":"C"')) for line in path.read_bytes().splitlines())


def check_windows(program, _, scratch):
    """A long run is read window by window, unless a time range is asked for: the events are the same."""
    folder, paths = scratch / "long", [scratch / "windows.json", scratch / "whole.json"]
    subprocess.run([program, "simulate", folder, "tp=3", "steps=60", "pairs=52"], capture_output=True, check=True)
    for path, options in zip(paths, ((), ("--from", "0"))):
        convert(program, [folder], path, "--no-verdict", *options)
    if lines(paths[0]) != lines(paths[1]):
        fault("windows: the events differ from those of the whole")
    if paths[0].read_bytes() == paths[1].read_bytes():
        fault("windows: the run is too short for a window")
    packed = scratch / "windows.pftrace"
    told = convert(program, [folder], packed, "--no-verdict")
    trace = trace_perfetto.Trace(packed, True)
    count = len(trace.events) + len(trace.counters)
    if f": {count} event" not in told or count != told_events(paths[0]):
        fault(f"windows: {count} events in the packed form: {told}")


def main():
    program, datasets = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        for check in (check_faults, check_without_verdict, check_aligned, check_captures, check_levels, check_host, check_kernel,
                      check_memory, check_windows):
            check(program, datasets, pathlib.Path(scratch))
    print("\n".join(faults[:40]) or "timelines are sound")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
