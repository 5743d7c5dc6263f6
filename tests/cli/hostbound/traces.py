#!/usr/bin/env python3
"""Writes a kernel trace of two ranks on two CPUs, and markers of the same job if they are wanted.

    traces.py FOLDER [hog=FIRST-LAST] [quota=FIRST-LAST] [marks] [markers] [kineto] [irq] [lost] [loader] [uneven] [unnamed]
        [shift=NS]

Rank 0 (train 100) runs on CPU 0, rank 1 (train 200) on CPU 1. A step is 20 ms: a rank runs 4 ms, calls, sleeps. In the
steps of `hog` rank 1 waits 15 ms for CPU 1, which stress (900) has; in those of `quota` nobody has it. With `loader` rank
1 has a thread that runs on CPU 2; in step 5 an interrupt wakes it, it waits 10 ms for its CPU, then wakes the rank. No
rank uses CPU 3."""
import json
import pathlib
import sys

STEPS, STEP_US, RUN_US, WAIT_US = 24, 20000, 4000, 15000
BEGIN_US, UTC_NS = 5_000_000_000, 1_700_000_000_000_000_000
PIDS = (100, 200)


def begin_us(options, step):
    """Begin of a step; uneven steps are up to 10.5 ms longer."""
    return BEGIN_US + step * STEP_US + ("uneven" in options) * sum(1500 * (k * 5 % 8) for k in range(step))


class Trace:
    def __init__(self):
        self.lines = []

    def event(self, us, cpu, comm, tid, name, fields, flags="d..2."):
        text = f"{comm:>16}-{tid:<7} [{cpu:03d}] {flags} {us // 1000000:5d}.{us % 1000000:06d}: {name}: {fields}"
        self.lines.append((us, len(self.lines), text))

    def switch(self, us, cpu, prev, state, new):
        fields = (f"prev_comm={prev[0]} prev_pid={prev[1]} prev_prio=120 prev_state={state} ==> "
                  f"next_comm={new[0]} next_pid={new[1]} next_prio=120")
        self.event(us, cpu, prev[0] if prev[1] else "<idle>", prev[1], "sched_switch", fields)

    def wakeup(self, us, cpu, task):
        self.event(us, cpu, "<idle>", 0, "sched_wakeup", f"comm={task[0]} pid={task[1]} prio=120 target_cpu={cpu:03d}",
                   "dNh2.")

    def text(self, is_lossy):
        written = len(self.lines) + (500 if is_lossy else 0)
        head = ["# tracer: nop", "#", f"# entries-in-buffer/entries-written: {len(self.lines)}/{written}   #P:2", "#"]
        return "\n".join(head + [line[2] for line in sorted(self.lines)]) + "\n"


def span(options, name):
    first, last = options.get(name, "-1--2").rsplit("-", 1) if name in options else ("1", "0")
    return range(int(first), int(last) + 1)


def run_loader(trace, at, step):
    cpu, task, idle, hog = 2, ("loader", 210), ("swapper/2", 0), ("stress", 901)
    if step == 0:
        fields = "comm=train pid=200 child_comm=loader child_pid=210"
        trace.event(at + 10, 1, "train", 200, "sched_process_fork", fields)
        trace.switch(at + 100, 3, ("swapper/3", 0), "R", ("cron", 77))
        trace.switch(at + 200, 3, ("cron", 77), "S", ("swapper/3", 0))
    trace.switch(at + 100, cpu, idle, "R", task)
    trace.switch(at + 1600, cpu, task, "S", idle)
    if step != 5:
        return
    trace.switch(at + 4000, cpu, idle, "R", hog)
    trace.event(at + 4500, cpu, hog[0], hog[1], "irq_handler_entry", "irq=36 name=nvme0q1", "d.h..")
    trace.wakeup(at + 4505, cpu, task)
    trace.event(at + 4510, cpu, hog[0], hog[1], "irq_handler_exit", "irq=36 ret=handled", "d.h..")
    trace.switch(at + 14505, cpu, hog, "S", task)
    trace.event(at + STEP_US - 200, cpu, task[0], task[1], "sched_wakeup", "comm=train pid=200 prio=120 target_cpu=001")
    trace.switch(at + STEP_US - 190, cpu, task, "S", idle)


def run_step(trace, options, rank, step):
    cpu, task = rank, ("train", PIDS[rank])
    idle, hog = (f"swapper/{cpu}", 0), ("stress", 900)
    at = begin_us(options, step)
    if "marks" in options:
        trace.event(at, cpu, task[0], task[1], "tracing_mark_write", f"failslow step_begin rank={rank} step={step}",
                    "...1.")
    if rank == 1 and step in span(options, "hog"):
        trace.switch(at + 1000, cpu, task, "R", hog)
        trace.switch(at + 1000 + WAIT_US, cpu, hog, "R", task)
        end = at + 1000 + WAIT_US + 3000
    elif rank == 1 and step in span(options, "quota"):
        trace.switch(at + 1000, cpu, task, "R", idle)
        trace.switch(at + 1000 + WAIT_US, cpu, idle, "R", task)
        end = at + 1000 + WAIT_US + 3000
    else:
        end = at + RUN_US
    if "irq" in options:
        trace.event(end - 900, cpu, task[0], task[1], "irq_handler_entry", "irq=36 name=nvme0q1", "d.h..")
        trace.event(end - 400, cpu, task[0], task[1], "irq_handler_exit", "irq=36 ret=handled", "d.h..")
    trace.switch(end, cpu, task, "S", idle)
    wake = begin_us(options, step + 1) - 200
    if "loader" in options and rank == 1:
        run_loader(trace, at, step)
    if "loader" not in options or rank != 1 or step != 5:
        trace.wakeup(wake, cpu, task)
    trace.switch(wake + 50, cpu, idle, "R", task)
    return end


def write_markers(folder, rank, ends, offset_ns, options):
    rows = ["Flag,Id,Kind,Name,SourceKind,Timestamp,msptiObjectId_Ds_DeviceId,msptiObjectId_Ds_StreamId,"
            "msptiObjectId_Pt_ProcessId,msptiObjectId_Pt_ThreadId"]
    number, pid = 0, PIDS[rank]
    for step, end in enumerate(ends):
        at = begin_us(options, step)
        all_end = max(begin_us(options, step + 1) - 300, end + 100)
        for k, name in enumerate(("HcclAllGather", "HcclAllReduce", "HcclReduceScatter")):
            number += 1
            call = at + 300 + 100 * k
            begin = max(end - 600, call + 50) + 200 * k
            for flag, us, source in ((16, call, 0), (32, call + 20, 0), (16, begin, 1), (32, all_end - 600 + 300 * k, 1)):
                label = f"comm:{name}!g0!fp32!1024" if flag == 16 and source == 0 else ""
                rows.append(f"{flag},{number},1,{label},{source},{us * 1000 + offset_ns},{pid},{pid},{pid},{pid}")
    (folder / f"hccl_activity-10.0.0.1-.{rank}.csv").write_text("\n".join(rows) + "\n")


def write_kineto(folder, rank, all_ends, offset_ns):
    """A trace of PyTorch's profiler: steps of the rank's main thread, kernels until it is done, then all meet."""
    pid, events = PIDS[rank], []

    def add(cat, name, us, dur, tid, **more):
        args = {"device": 0, "stream": tid} if cat == "kernel" else {}
        place = {"pid": 0 if cat == "kernel" else pid, "tid": tid}
        events.append({"ph": "X", "cat": cat, "name": name, "ts": us, "dur": dur, "args": args | more} | place)

    for step in range(STEPS):
        us, ends = BEGIN_US + step * STEP_US + offset_ns // 1000, [ends[step] + offset_ns // 1000 for ends in all_ends]
        add("user_annotation", f"ProfilerStep#{step}", us, STEP_US - 150, pid)
        number, launches = 100 * step, [us + 200, us + 500, us + 700]
        launches += [ends[rank] - 3000 + 600 * k for k in range(4)]
        for at in launches:
            number += 1
            add("cuda_runtime", "cudaLaunchKernel", at, 20, pid, correlation=number)
            add("kernel", "gemm", at + 50, 500 if at > us + 800 else 150, 7, correlation=number)
        add("cuda_runtime", "cudaLaunchKernel", ends[rank] - 400, 20, pid, correlation=number + 1)
        collective = {"Collective name": "allreduce", "In msg nelems": 1024, "Group size": 2, "Process Group Name": "0",
                      "Process Group Ranks": "[0, 1]", "dtype": "Float"}
        add("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", ends[rank], max(ends) - ends[rank] + 300, 8,
            correlation=number + 1, **collective)
    job = {"backend": "nccl", "rank": rank, "world_size": 2}
    trace = {"schemaVersion": 1, "distributedInfo": job, "traceEvents": events}
    (folder / f"node7_{pid}.1700000000000000000.pt.trace.json").write_text(json.dumps(trace))


def write_profile(folder, host, offset_ns):
    """Clocks of a host in a profile of Ascend."""
    (folder / "PROF_1" / "host").mkdir(parents=True)
    raw_ns = BEGIN_US * 1000
    for name, kind, late_us in (("start_info", "collectionTimeBegin", 0), ("end_info", "collectionTimeEnd", 900000)):
        info = {kind: str((raw_ns + offset_ns) // 1000 + late_us), "clockMonotonicRaw": str(raw_ns + late_us * 1000)}
        (folder / "PROF_1" / "host" / name).write_text(json.dumps(info))
    (folder / "PROF_1" / "host" / "info.json").write_text(json.dumps({"hostname": host}))


def main():
    folder = pathlib.Path(sys.argv[1])
    options = dict(word.split("=", 1) if "=" in word else (word, "") for word in sys.argv[2:])
    (folder / "ftrace").mkdir(parents=True)
    trace = Trace()
    ends = [[run_step(trace, options, rank, step) for step in range(STEPS)] for rank in range(2)]
    (folder / "ftrace" / "sched.txt").write_text(trace.text("lost" in options))
    if "markers" in options:
        offset_ns = UTC_NS - BEGIN_US * 1000
        for rank in range(2):
            write_markers(folder, rank, ends[rank], offset_ns, options)
        clocks = {"CLOCK_REALTIME": UTC_NS + int(options.get("shift", "0")), "CLOCK_MONOTONIC_RAW": BEGIN_US * 1000,
                  "trace_clock": "mono_raw"}
        if "unnamed" in options:
            del clocks["trace_clock"]
        (folder / "ftrace" / "sched.clocks.json").write_text(json.dumps(clocks))
    if "kineto" in options:
        offset_ns = UTC_NS - BEGIN_US * 1000
        for rank in range(2):
            write_kineto(folder, rank, ends, offset_ns)
        write_profile(folder / "a", "node7", offset_ns + int(options.get("shift", "0")))
        write_profile(folder / "b", "node8", offset_ns + 3600 * 10**9)


main()
