#!/usr/bin/env python3
"""Writes a kernel trace of rank 3 of datasets/faults/host_bound, as FOLDER/sched.txt with its clock and ranks: its thread
(python3 4003) waits 12 of each 40 ms for CPU 5 from step 20 on, behind stress-ng 9182."""
import json
import pathlib
import sys

BEGIN_US, UTC_NS = 1_000_000_000, 1_750_000_000_000_000_000
PERIOD_US, SPAN_US, WAIT_US = 40_000, 75_000_000, 12_000
TASK, HOG, IDLE = ("python3", 4003), ("stress-ng", 9182), ("swapper/5", 0)


def switch(us, prev, state, new):
    comm = prev[0] if prev[1] else "<idle>"
    return (f"{comm:>16}-{prev[1]:<7} [005] d..2. {us // 1000000:5d}.{us % 1000000:06d}: sched_switch: prev_comm={prev[0]} "
            f"prev_pid={prev[1]} prev_prio=120 prev_state={state} ==> next_comm={new[0]} next_pid={new[1]} next_prio=120\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True)
    lines = ["# tracer: nop\n"]
    for at in range(0, SPAN_US, PERIOD_US):
        us = BEGIN_US + at
        other, state, wait_us = (HOG, "R", WAIT_US) if at >= 19_000_000 else (IDLE, "S", 50)
        lines += [switch(us, TASK, state, other), switch(us + wait_us, other, "R" if other[1] else "S", TASK)]
    (folder / "sched.txt").write_text("".join(lines))
    clocks = {"CLOCK_REALTIME": UTC_NS, "CLOCK_MONOTONIC_RAW": BEGIN_US * 1000, "trace_clock": "mono_raw"}
    (folder / "sched.clocks.json").write_text(json.dumps(clocks))
    (folder / "ranks.json").write_text('{"pids": {"4003": 3}}')


main()
