"""Writes traces in the form of ACK AI Profiling as far as it is known: ack.py FOLDER [FAULT=RANK...] [form=FORM].

Lanes of Python (begins and ends), CPU, system calls, libraries of CUDA and kernels; processes "host(pid)", args as JSON in
a text, counters. Each of 4 steps loads data: Python reads a file in system calls, then 4 kernels run, then a collective
ends for all ranks when the last one has come. Faults: kernels (x1.5), reads (the file takes 5 ms more). Form: known, or
other (categories that only --lane tells: "trace", processes are named behind their events).
"""
import json
import pathlib
import random
import sys

RANKS, STEPS = 4, 4
CATEGORIES = {"python": "python", "syscall": "syscall", "cudalib": "cuda_runtime", "kernel": "Kernel", "cpu": "CAT_CPU"}


class Rank:
    def __init__(self, rank, faults, form):
        self.rank, self.faults, self.form = rank, faults, form
        self.random = random.Random(rank)
        self.events, self.correlation, self.now = [], 0, 5000.0

    def place(self, lane):
        if self.form == "known":
            return {"cat": CATEGORIES[lane], "pid": f"node-{self.rank}({4000 + self.rank})", "tid": 4000 + self.rank}
        # Lanes are processes of their own; a system call is told by its category, on its thread.
        if lane == "syscall":
            return {"cat": "os", "pid": "py", "tid": 1}
        return {"cat": "trace", "pid": "py" if lane == "python" else lane, "tid": 1}

    def add(self, lane, name, begin, dur, **args):
        args = {"args": json.dumps(args)} if self.form == "known" and args else args
        event = {"name": name, **self.place(lane), "ts": round(begin, 3), "args": args}
        if lane == "python":
            self.events.append({**event, "ph": "B"})
            self.events.append({"name": name, **self.place(lane), "ts": round(begin + dur, 3), "ph": "E"})
        else:
            self.events.append({**event, "ph": "X", "dur": round(dur, 3)})

    def has(self, fault):
        return self.rank in self.faults.get(fault, ())

    def load(self):
        begin, us = self.now, 2000.0 * self.random.uniform(0.99, 1.01) + (5000.0 if self.has("reads") else 0.0)
        self.events.append({"name": "step", **self.place("python"), "ts": begin - 5.0, "ph": "B"})
        self.events.append({"name": "data.py(20): next", **self.place("python"), "ts": begin, "ph": "B"})
        self.add("syscall", "read", begin + 100.0, us - 1000.0, fd=7, bytes=1 << 20)
        for lane, at in (("python", begin + us), ("python", begin + us + 5.0)):
            self.events.append({"name": "", **self.place(lane), "ts": round(at, 3), "ph": "E"})
        self.now += us + 10.0

    def step(self):
        self.load()
        self.device = self.now + 10.0
        for _ in range(4):
            self.correlation += 1
            self.add("cudalib", "cudaLaunchKernel", self.now, 6.0, correlation=self.correlation)
            us = 1000.0 * self.random.uniform(0.99, 1.01) * (1.5 if self.has("kernels") else 1.0)
            self.add("kernel", "void gemm_kernel<float>(float*)", self.device, us, correlation=self.correlation,
                     stream=7, grid=[132, 1, 1], block=[256, 1, 1])
            self.now += 8.0
            self.device += us

    def reduce(self, end, number):
        self.correlation += 1
        self.add("cudalib", "pncclAllReduce", self.now, end - self.now, correlation=self.correlation)
        self.add("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", self.device,
                 end - self.device, correlation=self.correlation, stream=7,
                 **{"Collective name": "allreduce", "Process Group Name": "0", "Seq": number,
                    "Process Group Ranks": str(list(range(RANKS)))})
        if self.form == "known":
            self.events.append({"ph": "C", "cat": "CAT_CPU", "name": f"process_cpu_usage_{4000 + self.rank}",
                                "pid": f"node-{self.rank}({4000 + self.rank})", "tid": "CAT_CPU", "ts": end,
                                "args": {"value": 87.5}})
        self.now = end + 10.0


def write(folder, faults, form):
    ranks = [Rank(rank, faults, form) for rank in range(RANKS)]
    for step in range(STEPS):
        for rank in ranks:
            rank.step()
        end = max(rank.device for rank in ranks) + 1500.0
        for rank in ranks:
            rank.reduce(end, step)
    folder.mkdir(parents=True, exist_ok=True)
    for rank in ranks:
        names = [{"ph": "M", "name": "process_name", "pid": lane, "tid": 0, "args": {"name": f"{title} of {rank.rank}"}}
                 for lane, title in (("py", "Interpreter"), ("cudalib", "Library"), ("kernel", "Device"))]
        events = rank.events + (names if form == "other" else [])
        (folder / f"rank{rank.rank}_trace.json").write_text(json.dumps(events))


def main():
    faults, form = {}, "known"
    for word in sys.argv[2:]:
        key, value = word.split("=")
        if key == "form":
            form = value
        else:
            faults[key] = {int(rank) for rank in value.split(",")}
    write(pathlib.Path(sys.argv[1]), faults, form)


main()
