"""Writes small jobs as PyTorch's profiler would have traced them, one file a rank.

A step has layers; each layer computes (three kernels), then reduces over the tensor group, and a step ends with a
reduction over the data group. Every rank begins a collective when its work is done; the collective ends for all of its
members when the last has come and the data went over the link. What is wrong with a job is a Fault.
"""
import dataclasses
import gzip
import json
import pathlib
import random


@dataclasses.dataclass
class Fault:
    kernels: dict = dataclasses.field(default_factory=dict)  # rank: factor of its kernels
    host_us: dict = dataclasses.field(default_factory=dict)  # rank: us that each of its launches comes late
    link: dict = dataclasses.field(default_factory=dict)     # frozenset of members: factor of the transfer


@dataclasses.dataclass
class Job:
    tp: int = 1
    dp: int = 8
    steps: int = 6
    layers: int = 4
    gemm_us: float = 800.0
    tp_us: float = 300.0
    dp_us: float = 1500.0
    noise: float = 0.01
    seed: int = 1
    first_step: int = 10
    has_sequence: bool = True
    has_groups: bool = True      # names of process groups in kernels
    base_ns: int = 1758610000000000000
    base_at_end: bool = True
    missing: tuple = ()
    pretty: bool = True
    name: str = "rank{rank}.pt.trace.json.gz"
    model: str = ""              # a word in the names of all kernels that compute
    kernels: float = 1.0         # factor of the time of kernels, of all ranks


KERNEL = "void gemm_kernel<float, 128>(float const*, float*)"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int, float*)"
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
SCATTER = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


class Rank:
    def __init__(self, job, rank):
        self.rank, self.events, self.correlation = rank, [], 100
        self.host_us = self.device_us = 0.0
        self.random = random.Random(job.seed * 1000 + rank)
        self.sequence = {}

    def launch(self, late_us):
        """A launch; returns when its work may begin on the device."""
        self.correlation += 1
        self.host_us += late_us
        begin = self.host_us
        self.events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7000 + self.rank,
                            "tid": 7000 + self.rank, "ts": begin, "dur": 4.0,
                            "args": {"External id": self.correlation, "cbid": 211, "correlation": self.correlation}})
        self.host_us += 6.0
        return begin + 20.0

    def kernel(self, name, begin, dur, stream, more=()):
        args = {"External id": self.correlation, "queued": 0, "device": 0, "context": 1, "stream": stream,
                "correlation": self.correlation, "grid": [132, 1, 1], "block": [384, 1, 1]}
        args.update(more)
        self.events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": begin,
                            "dur": dur, "args": args})


def groups_of(job):
    """[(kind, name, members)] of all groups."""
    groups = []
    for i in range(job.dp):
        if job.tp > 1:
            groups.append(("TENSOR_MODEL_PARALLEL_GROUP", "tp%d" % i, [i * job.tp + k for k in range(job.tp)]))
    for k in range(job.tp):
        groups.append(("DATA_PARALLEL_GROUP", "dp%d" % k, [i * job.tp + k for i in range(job.dp)]))
    return groups


def collective(job, ranks, group, name, call, us, fault):
    _, title, members = group
    begins = {}
    for r in members:
        rank = ranks[r]
        ready = rank.launch(fault.host_us.get(r, 0.0))
        begins[r] = max(ready, rank.device_us)
    last = max(begins.values())
    end = last + us * fault.link.get(frozenset(members), 1.0) * (1.0 + ranks[members[0]].random.gauss(0, job.noise))
    for r in members:
        rank = ranks[r]
        number = rank.sequence[title] = rank.sequence.get(title, 0) + 1
        more = {}
        if job.has_groups:
            more = {"Collective name": call, "In msg nelems": 1 << 22, "Out msg nelems": 1 << 22,
                    "Group size": len(members), "dtype": "BFloat16", "In split size": "[]", "Out split size": "[]",
                    "Process Group Name": title, "Process Group Ranks": str(members)}
        if job.has_groups and job.has_sequence:
            more["Seq"] = number
        rank.kernel(name, begins[r], end - begins[r], 20, more)
        rank.device_us = end


def simulate(job, fault):
    ranks = [Rank(job, r) for r in range(job.tp * job.dp)]
    groups = groups_of(job)
    for rank in ranks:
        rank.host_us = rank.device_us = 500.0
    for step in range(job.steps):
        marks = [rank.host_us for rank in ranks]
        for _ in range(job.layers):
            for rank in ranks:
                for name, us in ((KERNEL, job.gemm_us), (ADD, 60.0), (KERNEL, job.gemm_us / 2)):
                    ready = rank.launch(fault.host_us.get(rank.rank, 0.0))
                    begin = max(ready, rank.device_us)
                    name = name.replace("kernel<", "kernel_%s<" % job.model) if job.model else name
                    dur = us * job.kernels * fault.kernels.get(rank.rank, 1.0) * (1.0 + rank.random.gauss(0, job.noise))
                    rank.kernel(name, begin, dur, 7)
                    rank.device_us = begin + dur
            for group in groups:
                if group[1].startswith("tp"):
                    collective(job, ranks, group, REDUCE, "allreduce", job.tp_us, fault)
        for group in groups:
            if group[1].startswith("dp"):
                collective(job, ranks, group, SCATTER, "_reduce_scatter_base", job.dp_us, fault)
        for rank, mark in zip(ranks, marks):
            rank.host_us = max(rank.host_us, rank.device_us)  # loss.item()
            rank.events.append({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d" % (job.first_step + step),
                                "pid": 7000 + rank.rank, "tid": 7000 + rank.rank, "ts": mark,
                                "dur": rank.host_us - mark, "args": {"External id": 900000 + step, "Ev Idx": step}})
    return ranks


def document(job, rank):
    world = job.tp * job.dp
    mine = [g for g in groups_of(job) if rank.rank in g[2]]
    config = [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": world,
               "ranks": list(range(world))}]
    config += [{"pg_name": name, "pg_desc": kind, "backend_config": "cuda:nccl", "pg_size": len(members),
                "ranks": members} for kind, name, members in mine]
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "a device", "numSms": 132}]}
    info = {"distributedInfo": {"backend": "nccl", "rank": rank.rank, "world_size": world, "pg_count": len(config),
                                "pg_config": config, "nccl_version": "2.27.3"}}
    events = [dict(e, ts=round(e["ts"], 3), dur=round(e["dur"], 3)) for e in rank.events]
    rank.random.shuffle(events)  # files are not sorted
    tail = {"traceName": "a trace", "displayTimeUnit": "ms"}
    base = {"baseTimeNanoseconds": job.base_ns}
    if job.base_at_end:
        return {**head, **info, "traceEvents": events, **tail, **base}
    return {**head, **base, "traceEvents": events, **info, **tail}


def write(folder, job, fault=None):
    """Writes the job's files below @folder."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for rank in simulate(job, fault or Fault()):
        if rank.rank in job.missing:
            continue
        text = json.dumps(document(job, rank), indent=1 if job.pretty else None)
        path = folder / job.name.format(rank=rank.rank)
        data = gzip.compress(text.encode(), 6, mtime=0) if path.suffix == ".gz" else text.encode()
        path.write_bytes(data)
