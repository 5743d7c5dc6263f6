#!/usr/bin/env python3
"""Writes sysTrace's host records for the ranks of datasets/faults. Arguments: folder, and the rank that waits for
12 of each 40 ms from the middle on, behind stress-ng 9182; -1: none does."""
import pathlib
import subprocess
import sys

BASE_US = 1_750_000_000_000_000  # as host_records.py has it
PERIOD_US, SPAN_US = 40_000, 60_000_000
folder, slow = pathlib.Path(sys.argv[1]), int(sys.argv[2])
writer = pathlib.Path(__file__).resolve().parent.parent / "convert" / "host_records.py"
for rank in range(max(2, slow + 1)):
    pid, delay_ns, events = 4000 + rank, 0, []
    for begin_us in range(0, SPAN_US, PERIOD_US):
        waits = rank == slow and begin_us >= SPAN_US // 2
        queue_us, following = (12_000, "stress-ng 9182") if waits else (50, f"swapper/{rank} 0")
        events.append(f"{pid} 4 {begin_us} {1000 + queue_us} {delay_ns} {rank} python3 {following}")
        delay_ns += queue_us * 1000
    subprocess.run([sys.executable, writer, folder / f"os_trace_20250615_15_rank_{rank}_{pid}.pb", *events], check=True)
