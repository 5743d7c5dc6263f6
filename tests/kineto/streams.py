"""Writes jobs whose hosts run ahead of their devices and whose collectives run beside kernels.

A rank is a program: the host launches in order, kernels run on one stream and collectives on others. A collective
begins when its stream is free and the kernels launched before it are over, unless it is prefetched; it ends for all
members when the last has come and the data went over the link. The host waits for its device at the end of a step.
Clocks of hosts differ, kernels have long tails, devices differ a little for good. The loss of a fault is measured: the
same job runs without it.
"""
import dataclasses
import json
import math
import pathlib
import random

COMPUTE = 7
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
ALL_GATHER = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
REDUCE_SCATTER = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
SEND_RECV = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"


@dataclasses.dataclass
class World:
    ranks: int = 8
    ranks_of_host: int = 4
    steps: int = 4
    seed: int = 1
    noise: float = 0.02        # of kernels
    tail: float = 0.002        # share of kernels that take far longer
    devices: float = 0.008     # how much devices differ for good
    launch_us: float = 6.0
    pause: float = 0.0         # chance of a pause of the host at a launch, 3 to 30 ms
    clock_us: float = 800.0
    has_groups: bool = True
    missing: tuple = ()
    blind: tuple = ()          # ranks whose traces lack kernels
    cut: tuple = ()            # ranks whose traces lack the last step but for its first 2 ms
    has_info: bool = True      # distributedInfo in traces
    uneven: float = 0.15       # how much the load of experts varies
    # Faults.
    kernels: dict = dataclasses.field(default_factory=dict)  # rank: factor
    launches: dict = dataclasses.field(default_factory=dict)  # rank: factor
    loading: dict = dataclasses.field(default_factory=dict)  # rank: factor
    links: dict = dataclasses.field(default_factory=dict)    # members: factor
    rows: dict = dataclasses.field(default_factory=dict)     # rank: factor of the work of experts
    python: dict = dataclasses.field(default_factory=dict)   # rank: us of a function before each step
    copies: dict = dataclasses.field(default_factory=dict)   # rank: copies of 250 us before each step
    lingers: dict = dataclasses.field(default_factory=dict)  # rank: us, before each launch of a collective
    turns: dict = dataclasses.field(default_factory=dict)    # rank: factor of kernels; each is slow in its turn of steps

    def begin_us(self):
        """No clock is so far behind that a trace would begin before its base."""
        return 1000.0 + self.clock_us

    def healthy(self):
        return dataclasses.replace(self, kernels={}, launches={}, loading={}, links={}, rows={}, python={}, copies={},
                                   lingers={}, turns={})


@dataclasses.dataclass
class Kernel:
    name: str
    us: float
    blocks: int = 132


@dataclasses.dataclass
class Collective:
    group: str
    kind: str
    members: tuple
    call: str
    kernel: str
    us: float
    stream: int
    token: str
    is_prefetched: bool = False


@dataclasses.dataclass
class Wait:  # of the kernels for a collective
    token: str


@dataclasses.dataclass
class Load:
    us: float = 600.0


@dataclasses.dataclass
class Begin:
    pass


@dataclasses.dataclass
class End:  # of a step: the host waits for its device
    step: int


def data_parallel(world, rank, layers=12):
    """Gradients in buckets, beside the backward pass."""
    program, everybody = [], tuple(range(world.ranks))
    for step in range(world.steps):
        program += [Begin(), Load()]
        program += [Kernel("gemm_fwd", 300.0), Kernel("layer_norm", 25.0, 64), Kernel("flash_fwd", 120.0, 96)] * layers
        tokens = []
        for layer in range(layers):
            program += [Kernel("gemm_bwd", 600.0), Kernel("flash_bwd", 240.0, 96)]
            if layer % 3 == 2:
                token = "b%d.%d" % (step, layer)
                tokens.append(token)
                program.append(Collective("dp", "DATA_PARALLEL", everybody, "allreduce", ALL_REDUCE, 1500.0, 20, token))
        program += [Wait(token) for token in tokens] + [Kernel("adam", 400.0, 200), End(step)]
    return program


def sharded(world, rank, layers=10):
    """Weights are gathered ahead of the layers that need them, gradients scattered behind."""
    program, everybody = [], tuple(range(world.ranks))

    def gather(token, is_prefetched):
        return Collective("fsdp", "FSDP", everybody, "_allgather_base", ALL_GATHER, 500.0, 20, token, is_prefetched)

    for step in range(world.steps):
        program += [Begin(), Load(), gather("f%d.0" % step, False)]
        for layer in range(layers):
            if layer + 1 < layers:
                program.append(gather("f%d.%d" % (step, layer + 1), True))
            program += [Wait("f%d.%d" % (step, layer)), Kernel("gemm_fwd", 500.0), Kernel("flash_fwd", 200.0, 96)]
        for layer in range(layers):
            program += [gather("b%d.%d" % (step, layer), True), Wait("b%d.%d" % (step, layer)),
                        Kernel("gemm_bwd", 1000.0), Kernel("flash_bwd", 400.0, 96),
                        Collective("fsdp_grad", "FSDP", everybody, "_reduce_scatter_base", REDUCE_SCATTER, 600.0, 24,
                                   "r%d.%d" % (step, layer))]
        program += [Wait("r%d.%d" % (step, layers - 1)), Kernel("adam", 300.0, 200), End(step)]
    return program


def experts(world, rank, layers=8):
    """Uneven work between two exchanges."""
    program, everybody, luck = [], tuple(range(world.ranks)), random.Random(world.seed * 100 + rank)
    for step in range(world.steps):
        program += [Begin(), Load()]
        for layer in range(2 * layers):
            load = max(0.4, luck.gauss(1, world.uneven)) * world.rows.get(rank, 1.0)
            for side in "in", "out":
                token = "%s%d.%d" % (side, step, layer)
                program.append(Kernel("attention", 400.0) if side == "in"
                               else Kernel("grouped_gemm", 600.0 * load, int(132 * load)))
                program += [Collective("ep", "EXPERT_PARALLEL", everybody, "all_to_allv", SEND_RECV, 200.0, 20, token),
                            Wait(token)]
        token = "g%d" % step
        program += [Collective("dp", "DATA_PARALLEL", everybody, "allreduce", ALL_REDUCE, 2000.0, 24, token),
                    Wait(token), Kernel("adam", 300.0, 200), End(step)]
    return program


def pipeline(world, rank, batches=8):
    """Four stages, one forward and one backward in turn."""
    replicas = world.ranks // 4
    stage, replica, program = rank // replicas, rank % replicas, []
    stage_ranks = tuple(stage * replicas + i for i in range(replicas))

    def exchange(way, lower, call, stream, token):
        a = lower * replicas + replica
        return Collective("%s%d_%d" % (way, lower, replica), "PIPELINE", (a, a + replicas), call, SEND_RECV, 100.0,
                          stream, token)

    def forward(step, batch):
        token, part = "f%d.%d" % (step, batch), []
        if stage > 0:
            part += [exchange("pf", stage - 1, "recv", 30, "r" + token), Wait("r" + token)]
        part += [Kernel("gemm_fwd", 400.0), Kernel("flash_fwd", 150.0, 96)] * 3
        return part + ([exchange("pf", stage, "send", 31, "s" + token)] if stage < 3 else [])

    def backward(step, batch):
        token, part = "b%d.%d" % (step, batch), []
        if stage < 3:
            part += [exchange("pb", stage, "recv", 32, "r" + token), Wait("r" + token)]
        part += [Kernel("gemm_bwd", 800.0), Kernel("flash_bwd", 300.0, 96)] * 3
        return part + ([exchange("pb", stage - 1, "send", 33, "s" + token)] if stage > 0 else [])

    for step in range(world.steps):
        program += [Begin(), Load()]
        ahead = 3 - stage
        for batch in range(batches + ahead):
            program += forward(step, batch) if batch < batches else []
            program += backward(step, batch - ahead) if batch >= ahead else []
        token = "g%d" % step
        program += [Collective("dp%d" % stage, "DATA_PARALLEL", stage_ranks, "allreduce", ALL_REDUCE, 2000.0, 24,
                               token), Wait(token), Kernel("adam", 300.0, 200), End(step)]
    return program


def ring(world, rank, layers=6):
    """Each rank sends its block on to the next, and computes on the one that it has."""
    program, n = [], world.ranks
    before, behind = (rank - 1) % n, (rank + 1) % n
    for step in range(world.steps):
        program += [Begin(), Load()]
        for hop in range(layers * (n - 1)):
            token = "h%d.%d" % (step, hop)
            there, here = tuple(sorted((rank, behind))), tuple(sorted((before, rank)))
            program += [Collective("ring%d" % rank, "CONTEXT", there, "send", SEND_RECV, 120.0, 31, "s" + token),
                        Collective("ring%d" % before, "CONTEXT", here, "recv", SEND_RECV, 120.0, 30, "r" + token),
                        Kernel("flash_fwd", 300.0, 96), Wait("r" + token)]
            program += [Kernel("gemm_fwd", 400.0)] if hop % (n - 1) == n - 2 else []
        token = "g%d" % step
        program += [Collective("dp", "DATA_PARALLEL", tuple(range(n)), "allreduce", ALL_REDUCE, 1500.0, 24, token),
                    Wait(token), Kernel("adam", 300.0, 200), End(step)]
    return program


class Blocked(Exception):
    """A collective that is waited for has no end yet."""


class Rank:
    def __init__(self, world, number, program):
        self.world, self.number, self.program, self.at = world, number, program, 0
        self.random = random.Random(world.seed * 7919 + number)
        self.host_us, self.kernels_us = world.begin_us(), 0.0
        self.streams = {}   # when each is free, or (group, number) of a collective without an end
        self.tokens, self.uses, self.events, self.correlation = {}, {}, [], 10
        self.device = 1.0 + self.random.gauss(0, world.devices)
        self.step = -1

    def slowness(self):
        """Factor of its kernels in this step."""
        turns = sorted(self.world.turns)
        is_in_turn = turns and turns[self.step % len(turns)] == self.number
        return self.world.kernels.get(self.number, 1.0) * (self.world.turns[self.number] if is_in_turn else 1.0)

    def add(self, cat, name, tid, begin, dur, args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 0 if cat == "kernel" else 7000, "tid": tid,
                            "ts": begin, "dur": dur, "args": args})

    def launch(self, name, times):
        self.correlation += 1
        begin = self.host_us
        self.add("cuda_runtime", name, 7000, begin, 4.0, {"External id": self.correlation, "cbid": 211,
                                                          "correlation": self.correlation})
        self.host_us += times * self.world.launch_us * self.world.launches.get(self.number, 1.0) * self.jitter(0.1)
        if self.random.random() < self.world.pause:
            self.host_us += self.random.uniform(3000, 30000)
        return begin + 8.0

    def jitter(self, sigma):
        return math.exp(self.random.gauss(0, sigma))

    def add_kernel(self, name, stream, begin, dur, correlation, blocks, more=()):
        args = {"External id": correlation, "device": 0, "context": 1, "stream": stream, "correlation": correlation,
                "grid": [blocks, 1, 1], "block": [256, 1, 1]}
        args.update(more)
        self.add("kernel", name, stream, begin, dur, args)


class Job:
    def __init__(self, world, model):
        self.world = world
        self.ranks = [Rank(world, r, model(world, r)) for r in range(world.ranks)]
        self.ends, self.arrivals, self.groups = {}, {}, {}
        while any([self.go_on(rank) for rank in self.ranks]):
            pass
        assert all(rank.at == len(rank.program) for rank in self.ranks), "ranks wait for each other for good"

    def go_on(self, rank):
        """Runs the rank as far as it gets."""
        begin = rank.at
        try:
            while rank.at < len(rank.program):
                item = rank.program[rank.at]
                getattr(self, "run_" + type(item).__name__.lower())(rank, item)
                rank.at += 1
        except Blocked:
            pass
        return rank.at > begin

    def free(self, rank, stream):
        at = rank.streams.get(stream, 0.0)
        if isinstance(at, tuple):
            if at not in self.ends:
                raise Blocked
            at = rank.streams[stream] = self.ends[at]
        return at

    def run_begin(self, rank, _):
        rank.step_us = rank.host_us
        rank.step += 1

    def run_load(self, rank, item):
        us = item.us * self.world.loading.get(rank.number, 1.0) * rank.jitter(0.1)
        rank.add("python_function", "torch/utils/data/dataloader.py(701): __next__", 7000, rank.host_us, us,
                 {"Python id": rank.correlation, "Python parent id": None})
        rank.host_us += us
        us = self.world.python.get(rank.number, 0.0) * rank.jitter(0.05)
        if us > 0.0:
            rank.add("python_function", "train.py(88): tokenize", 7000, rank.host_us, us,
                     {"Python id": rank.correlation + 1, "Python parent id": None})
            rank.host_us += us
        for _ in range(self.world.copies.get(rank.number, 0)):
            self.copy(rank)

    def copy(self, rank):
        """A copy to the device, in order with its kernels."""
        begin = max(rank.launch("cudaMemcpyAsync", 1), self.free(rank, COMPUTE))
        dur = 250.0 * rank.jitter(0.02)
        rank.streams[COMPUTE] = rank.kernels_us = begin + dur
        rank.add("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", COMPUTE, begin, dur,
                 {"device": 0, "context": 1, "stream": COMPUTE, "correlation": rank.correlation, "bytes": 1 << 22,
                  "memory bandwidth (GB/s)": 16.8})

    def run_kernel(self, rank, item):
        free = self.free(rank, COMPUTE)
        begin = max(rank.launch("cudaLaunchKernel", 1), free)
        dur = item.us * rank.slowness() * rank.device * rank.jitter(self.world.noise)
        if rank.random.random() < self.world.tail:
            dur *= 1.0 + rank.random.expovariate(1.0)
        rank.streams[COMPUTE] = rank.kernels_us = begin + dur
        rank.add_kernel(item.name, COMPUTE, begin, dur, rank.correlation, item.blocks)

    def run_wait(self, rank, item):
        key = rank.tokens[item.token]
        if key not in self.ends:
            raise Blocked
        rank.kernels_us = rank.streams[COMPUTE] = max(self.free(rank, COMPUTE), self.ends[key])

    def run_collective(self, rank, item):
        free = self.free(rank, item.stream)
        rank.host_us += self.world.lingers.get(rank.number, 0.0)
        begin = max(rank.launch("cudaLaunchKernelExC", 2), free, 0.0 if item.is_prefetched else rank.kernels_us)
        number = rank.uses[item.group] = rank.uses.get(item.group, 0) + 1
        key = item.group, number
        self.groups[item.group] = item
        rank.tokens[item.token] = rank.streams[item.stream] = key
        arrived = self.arrivals.setdefault(key, [])
        arrived.append((rank, begin, rank.correlation, item))
        if len(arrived) == len(item.members):
            self.meet(key, arrived)

    def meet(self, key, arrived):
        item = arrived[0][3]
        us = item.us * self.world.links.get(item.members, 1.0) * arrived[0][0].jitter(0.04)
        end = self.ends[key] = max(begin for _, begin, _, _ in arrived) + us
        for rank, begin, correlation, mine in arrived:
            more = {}
            if self.world.has_groups:
                more = {"Collective name": mine.call, "In msg nelems": 1 << 22, "Out msg nelems": 1 << 22,
                        "Group size": len(item.members), "dtype": "BFloat16", "Process Group Name": item.group,
                        "Process Group Description": item.kind, "Process Group Ranks": str(list(item.members)),
                        "Seq": key[1]}
            dur = max(1.0, end - begin + rank.random.gauss(0, 1.5))
            rank.add_kernel(mine.kernel, mine.stream, begin, dur, correlation, 24, more)

    def run_end(self, rank, item):
        end = max([rank.host_us] + [self.free(rank, stream) for stream in list(rank.streams)])
        rank.correlation += 1
        rank.add("cuda_runtime", "cudaStreamSynchronize", 7000, rank.host_us, end - rank.host_us,
                 {"cbid": 131, "correlation": rank.correlation})
        rank.host_us = end + 5.0
        rank.add("user_annotation", "ProfilerStep#%d" % (10 + item.step), 7000, rank.step_us,
                 rank.host_us - rank.step_us, {"External id": 90000 + item.step})

    def step_ms(self):
        return (max(rank.host_us for rank in self.ranks) - self.world.begin_us()) / 1000.0 / self.world.steps


def saved_ms(world, other, model):
    """How much shorter a step of the other world is."""
    return Job(world, model).step_ms() - Job(other, model).step_ms()


def loss_ms(world, model):
    """What the faults of the world cost a step."""
    return saved_ms(world, world.healthy(), model)


def write(folder, world, model):
    """Writes the job's files below @folder."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    job = Job(world, model)
    for rank in job.ranks:
        if rank.number in world.missing:
            continue
        clock = random.Random(world.seed * 31 + rank.number // world.ranks_of_host)
        off = clock.uniform(-world.clock_us, world.clock_us)
        events = [dict(e, ts=round(e["ts"] + off, 3), dur=round(e["dur"], 3)) for e in rank.events
                  if e["cat"] != "kernel" or rank.number not in world.blind
                  and (rank.number not in world.cut or e["ts"] < rank.step_us + 2000.0)]
        rank.random.shuffle(events)
        groups = [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": world.ranks,
                   "ranks": list(range(world.ranks))}]
        groups += [{"pg_name": name, "pg_desc": item.kind, "backend_config": "cuda:nccl", "pg_size": len(item.members),
                    "ranks": list(item.members)} for name, item in job.groups.items() if rank.number in item.members]
        document = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "a device", "numSms": 132}],
                    "distributedInfo": {"backend": "nccl", "rank": rank.number, "world_size": world.ranks,
                                        "pg_count": len(groups), "pg_config": groups, "nccl_version": "2.21.5"},
                    "displayTimeUnit": "ms", "baseTimeNanoseconds": 1758610000000000000, "traceEvents": events,
                    "traceName": "a trace"}
        if not world.has_info:
            del document["distributedInfo"]
        (folder / ("rank%d.pt.trace.json" % rank.number)).write_text(json.dumps(document))
