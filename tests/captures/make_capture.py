#!/usr/bin/env python3
"""Makes text captures of the Ascend profiler of jobs that an event replay makes up, with a known truth.

usage: make_capture.py FOLDER SPEC

SPEC is JSON, DEFAULTS below tells its keys, and Job.own_work() the kinds of faults. Writes one folder for each rank into
FOLDER and truth.json beside them: the length of a step, and what of it the faults cost, all and those of each rank.

Ranks work between operators. A collective ends when its last member came, plus its transfer. The truth is the same job
without the fault: every random number depends on the seed, the rank and the place alone, so that a fault moves none.
"""
import json
import os
import random
import sys

DEFAULTS = {
    "seed": 1,
    "tp": 1, "dp": 1, "pp": 1,       # tensor parallel ranks are neighbours, stages lie farthest apart
    "steps": 1,
    "micro": 4,                      # micro-batches of a step
    "layers": 3,                     # of a stage; a list: of each
    "repeat": 1,                     # each layer has its kernels so many times
    "experts": False,                # layers exchange tokens among data parallel ranks
    "overlap": False,                # gradients are reduced on a stream of their own beneath kernels
    "grad_mb": 200.0,                # gradients of a rank; 0: they are not exchanged
    "parts": 2,                      # operators that exchange the gradients
    "world": True,                   # a last collective of all ranks
    "host_ranks": 8,                 # devices of a server
    "level": 1,                      # of the profiler; 0: no file of communication, no types of kernels
    "tell_hosts": True,              # files name the server
    "tell_groups": True,             # files tell groups, their members and their links
    "captured": None,                # ranks of which there are files; None: all
    "kernel_us": 150.0,              # mean
    "noise": 0.003,                  # of each kernel, relative
    "spread": 0.015,                 # of devices, for good: fastest to slowest
    "gap_us": 6.0,                   # before each kernel
    "jitter": 0.3,                   # of each gap, sigma of its logarithm
    "hiccup": 0.005,                 # share of gaps that are ten times as long
    "late_begin_ms": {},             # rank: its capture begins so much later
    "clock_us": 100.0,               # clocks of servers differ by up to this
    "idle_only": False,              # the profiler tells no waits, as it does for some groups
    "hidden": None,                  # collectives of this group are kernels of an unknown type
    "faults": [],
}

# Type, share of the mean duration, shapes of the inputs.
LAYER = [("RmsNorm", 0.2, "4096,1,4096;4096"), ("MatMulV2", 1.6, "4096,4096;4096,6144"),
         ("RotaryMul", 0.3, "4096,1,32,128"), ("FlashAttentionScore", 1.4, "4096,1,4096;4096,1,4096"),
         ("MatMulV2", 1.1, "4096,4096;4096,4096"), "tp", ("Add", 0.2, "4096,1,4096;4096,1,4096"),
         ("RmsNorm", 0.2, "4096,1,4096;4096"), ("MatMulV2", 2.2, "4096,4096;4096,14336"),
         ("SwiGlu", 0.4, "4096,14336"), ("MatMulV2", 2.0, "4096,7168;7168,4096"), "tp",
         ("Add", 0.2, "4096,1,4096;4096,1,4096")]
EXPERTS = LAYER[:8] + ["ep", ("GroupedMatmul", 3.0, "%d,4096;8,4096,1408;8"), ("SwiGlu", 0.3, "8192,2816"),
                       ("GroupedMatmul", 2.0, "%d,1408;8,1408,4096;8"), "ep", LAYER[-1]]
ROWS = 8192
MB = 1e6


def group_number(name):
    upper = lower = 0
    for char in name.encode():
        upper = (upper * 29 + char) & 0xFFFFFFFF
        lower = (lower * 131 + char) & 0xFFFFFFFF
    return upper << 32 | lower


class Group:
    def __init__(self, name, kind, ranks):
        self.id, self.kind, self.ranks, self.number = name, kind, ranks, group_number(name)


class Kernel:
    __slots__ = ("type", "us", "shapes", "step", "phase", "gap_us", "place")

    def __init__(self, kind, us, shapes, step, phase):
        self.type, self.us, self.shapes, self.step, self.phase = kind, us, shapes, step, phase
        self.gap_us, self.place = 0.0, 0


class Operator:
    __slots__ = ("type", "group", "key", "members", "mb", "step", "is_async", "name", "noise")

    def __init__(self, kind, group, members, mb, step, is_async=False):
        self.type, self.group, self.members, self.mb, self.step = kind, group, members, mb, step
        self.is_async, self.key, self.name, self.noise = is_async, None, None, 1.0


class Wait:
    """The stream of kernels goes on when the other stream is done."""
    __slots__ = ("step",)

    def __init__(self, step):
        self.step = step


class Job:
    def __init__(self, spec):
        unknown = set(spec) - set(DEFAULTS)
        if unknown:
            raise ValueError(f"unknown keys: {sorted(unknown)}")
        self.spec = dict(DEFAULTS, **spec)
        self.tp, self.dp, self.pp = (self.spec[key] for key in ("tp", "dp", "pp"))
        self.n = self.tp * self.dp * self.pp
        layers = self.spec["layers"]
        self.layers = layers if isinstance(layers, list) else [layers] * self.pp
        self.groups = self.make_groups()
        rng = random.Random(f"{self.spec['seed']} devices")
        self.device = [1.0 + self.spec["spread"] * (rng.random() - 0.5) for _ in range(self.n)]
        self.items = [self.program(rank) for rank in range(self.n)]
        for rank in range(self.n):
            self.draw(rank)

    def place(self, rank):
        return rank % self.tp, rank // self.tp % self.dp, rank // (self.tp * self.dp)

    def rank_at(self, t, d, p):
        return t + self.tp * (d + self.dp * p)

    def make_groups(self):
        sets = [("default_group", [range(self.n)])]
        sets.append(("dp", [[self.rank_at(t, d, p) for d in range(self.dp)]
                            for p in range(self.pp) for t in range(self.tp)]))
        sets.append(("tp", [[self.rank_at(t, d, p) for t in range(self.tp)]
                            for p in range(self.pp) for d in range(self.dp)]))
        sets.append(("pp", [[self.rank_at(t, d, p) for p in range(self.pp)]
                            for d in range(self.dp) for t in range(self.tp)]))
        sets.append(("exp", sets[1][1] if self.spec["experts"] else []))
        groups, number = {}, 0
        for kind, members in sets:
            for ranks in members:
                if len(ranks) > 1:
                    group = Group(f"group_name_{number}", kind, list(ranks))
                    groups.update({(kind, rank): group for rank in ranks})
                    number += 1
        return groups

    # What a rank does.

    def program(self, rank):
        items = []
        for step in range(self.spec["steps"]):
            self.add_step(items, rank, step)
        count = {}
        for item in items:
            if isinstance(item, Operator):
                n = count[item.group.id] = count.get(item.group.id, -1) + 1
                use = (item.group.id, tuple(item.members))
                item.key = use + (count.get(use, 0),)
                count[use] = count.get(use, 0) + 1
                item.name = f"hcom_{item.type}__{item.group.number % 1000:03d}_{n}_1"
        return items

    def add_step(self, items, rank, step):
        stage = self.place(rank)[2]
        warmup = min(self.pp - stage - 1, self.spec["micro"])
        n = self.spec["micro"]
        self.add_kernels(items, [("ZerosLike", 0.5, "2048,4096")], step, "begin")
        for _ in range(warmup):
            self.meet(items, rank, stage - 1, step)
            self.add_layers(items, rank, step, "forward", 1.0)
            self.meet(items, rank, stage + 1, step)
        if n > warmup:
            self.meet(items, rank, stage - 1, step)
        for i in range(n - warmup):
            self.add_layers(items, rank, step, "forward", 1.0)
            self.meet(items, rank, stage + 1, step)
            is_last = i == n - warmup - 1 and warmup == 0
            self.add_layers(items, rank, step, "backward", 2.0, self.spec["overlap"] and is_last)
            self.meet(items, rank, stage - 1, step)
        for i in range(warmup):
            self.meet(items, rank, stage + 1, step)
            self.add_layers(items, rank, step, "backward", 2.0, self.spec["overlap"] and i == warmup - 1)
            self.meet(items, rank, stage - 1, step)
        self.add_update(items, rank, step)

    def meet(self, items, rank, stage, step):
        """Batched send and receive with the next or previous stage."""
        t, d, p = self.place(rank)
        if 0 <= stage < self.pp:
            members = sorted((rank, self.rank_at(t, d, stage)))
            items.append(Operator("batchSendRecv", self.groups["pp", rank], members, 8.4, step))

    @staticmethod
    def add_kernels(items, kernels, step, phase, factor=1.0):
        for kind, share, shapes in kernels:
            kind = kind + "Grad" if phase == "backward" and kind == "FlashAttentionScore" else kind
            items.append(Kernel(kind, share * factor, shapes % ROWS if "%d" in shapes else shapes, step, phase))

    def collect(self, items, rank, kind, what, mb, step, is_async=False):
        group = self.groups.get((kind, rank))
        if group is not None:
            items.append(Operator(what, group, group.ranks, mb, step, is_async))

    def add_layers(self, items, rank, step, phase, factor, reduces=False):
        stage = self.place(rank)[2]
        for layer in range(self.layers[stage]):
            for item in EXPERTS if self.spec["experts"] else LAYER:
                if item == "tp":
                    self.collect(items, rank, "tp", "allReduce", 16.8, step)
                elif item == "ep":
                    self.collect(items, rank, "exp", "alltoAllV", 33.6, step)
                else:
                    for _ in range(self.spec["repeat"]):
                        self.add_kernels(items, [item], step, phase, factor)
            if reduces and self.spec["grad_mb"] > 0.0:
                mb = self.spec["grad_mb"] / self.layers[stage]
                self.collect(items, rank, "dp", "reduceScatter", mb, step, is_async=True)

    def add_update(self, items, rank, step):
        mb, n = self.spec["grad_mb"], self.spec["parts"]
        if self.spec["overlap"]:
            items.append(Wait(step))
        elif mb > 0.0:
            for _ in range(n):
                self.collect(items, rank, "dp", "reduceScatter", mb / n, step)
        self.add_kernels(items, [("ApplyAdamW", 1.5, "8192,4096"), ("Cast", 0.5, "8192,4096")] * 3, step, "update")
        if mb > 0.0 and n > 1:
            self.collect(items, rank, "dp", "allGather", mb / 2.0, step)
        if self.spec["world"]:
            self.collect(items, rank, "default_group", "allReduce", 0.001, step)
        self.add_kernels(items, [("Mul", 0.2, "1")], step, "end")

    def draw(self, rank):
        spec, rng = self.spec, random.Random(f"{self.spec['seed']} rank {rank}")
        place = 0
        for item in self.items[rank]:
            if isinstance(item, Kernel):
                gap = spec["gap_us"] * rng.lognormvariate(0.0, spec["jitter"])
                item.gap_us = gap * (10.0 if rng.random() < spec["hiccup"] else 1.0)
                item.us *= spec["kernel_us"] * (1.0 + spec["noise"] * rng.gauss(0.0, 1.0))
                item.place = place
                place += 1
            elif isinstance(item, Operator):
                item.noise = 1.0 + 0.01 * random.Random(f"{spec['seed']} {item.key}").random()

    # Faults.

    def own_work(self, rank, faults, levels):
        """Gap and duration of each kernel of a rank, us, and its shapes, in order; extra ones follow their like."""
        for item in self.items[rank]:
            if not isinstance(item, Kernel):
                yield item, 0.0, 0.0, None
                continue
            us, gap, shapes, n = item.us * self.device[rank] * levels[rank], item.gap_us, item.shapes, 1
            for fault in faults:
                if rank in fault.get("ranks", ()) and fault.get("step", item.step) == item.step:
                    kind = fault["kind"]
                    if kind == "slow_kernels" and fault.get("type", item.type) == item.type:
                        us *= fault["factor"]
                    elif kind == "slow_host":
                        gap += fault["us"]
                    elif kind == "pause" and item.place == fault["at"]:
                        gap += fault["ms"] * 1000.0
                    elif kind == "late_in_turn":
                        half = len(self.items[rank]) // 2
                        is_first = fault["ranks"].index(rank) == 0
                        gap += fault["us"] if (item.place < half * fault["share"]) == is_first else 0.0
                    elif kind == "more_kernels" and item.type == fault.get("type", "MatMulV2"):
                        n = fault["times"]
                    elif kind == "larger_shapes" and item.phase in ("forward", "backward"):
                        us *= fault["factor"]
                        shapes = shapes.replace("4096", str(int(4096 * fault["factor"])), 1)
                    elif kind == "more_rows" and item.type == "GroupedMatmul":
                        us *= fault["factor"]
                        shapes = shapes.replace(str(ROWS), str(int(ROWS * fault["factor"])), 1)
            for _ in range(n):
                yield item, gap, us, shapes
                gap = item.gap_us

    # Links.

    def is_one_host(self, a, b):
        return a // self.spec["host_ranks"] == b // self.spec["host_ranks"]

    def gb_per_s(self, a, b, faults):
        rate = 20.0 if self.is_one_host(a, b) else 12.0
        for fault in faults:
            if fault["kind"] == "slow_link" and sorted(fault["ends"]) == sorted((a, b)):
                rate *= fault["factor"]
        return rate

    @staticmethod
    def link_mb(op):
        n = len(op.members)
        return op.mb if n == 2 and op.type == "batchSendRecv" else op.mb / n

    def transfer_us(self, op, faults):
        rate = min(self.gb_per_s(a, b, faults) for i, a in enumerate(op.members) for b in op.members[i + 1:])
        return 12.0 + op.noise * self.link_mb(op) * 1000.0 / rate

    # Replay.

    def replay(self, faults, levels=None):
        return Replay(self, faults, levels or [1.0] * self.n)


class Replay:
    """events[rank]: (item, begin, end, shapes), us; transfers: per operator key."""

    def __init__(self, job, faults, levels):
        self.job, self.faults = job, faults
        self.events = [[] for _ in range(job.n)]
        self.transfers, self.came = {}, {}
        self.work = [job.own_work(rank, faults, levels) for rank in range(job.n)]
        self.now = [0.0] * job.n
        self.stream = [[] for _ in range(job.n)]  # operators beneath kernels: launched, not ended
        self.stream_free = [0.0] * job.n
        self.blocked = [None] * job.n
        ready = list(range(job.n))
        while ready:
            ready.extend(self.run(ready.pop()))
        if any(item is not None for item in self.blocked):
            raise RuntimeError("ranks wait for each other")
        self.span = max(event[2] for events in self.events for event in events)

    def arrive(self, rank, op, begin):
        """Ranks that go on, as this one was the last."""
        members = self.came.setdefault(op.key, {})
        members[rank] = (op, begin)
        if len(members) < len(op.members):
            return []
        us = self.transfers[op.key] = self.job.transfer_us(op, self.faults)
        end = us + max(begin for _, begin in members.values())
        go_on = []
        for member, (own, own_begin) in members.items():
            self.events[member].append((own, own_begin, end, None))
            if own.is_async:
                self.stream[member].pop(0)
                self.stream_free[member] = end
                go_on.extend(self.launch_next(member))
                if isinstance(self.blocked[member], Wait) and not self.stream[member]:
                    self.now[member] = max(self.now[member], self.stream_free[member])
                    self.blocked[member] = None
                    go_on.append(member)
            else:
                self.now[member] = end
                self.blocked[member] = None
                go_on.append(member)
        return go_on

    def launch_next(self, rank):
        if not self.stream[rank]:
            return []
        op, at = self.stream[rank][0]
        return self.arrive(rank, op, max(at, self.stream_free[rank] + 2.0))

    def run(self, rank):
        if self.blocked[rank] is not None:
            return []
        go_on = []
        for item, gap, us, shapes in self.work[rank]:
            if isinstance(item, Kernel):
                begin = self.now[rank] + gap
                self.now[rank] = begin + us
                self.events[rank].append((item, begin, begin + us, shapes))
            elif isinstance(item, Wait):
                if self.stream[rank]:
                    self.blocked[rank] = item
                    return go_on
                self.now[rank] = max(self.now[rank], self.stream_free[rank])
            elif item.is_async:
                self.stream[rank].append((item, self.now[rank]))
                if len(self.stream[rank]) == 1:
                    go_on.extend(self.launch_next(rank))
            else:
                self.blocked[rank] = item
                return go_on + self.arrive(rank, item, self.now[rank] + 2.0)
        return go_on


def levels_of(job, whole):
    """What comes back if a rank of a healthy job works as short as the shortest of its stage does."""
    work = [sum(event[2] - event[1] + event[0].gap_us for event in events if isinstance(event[0], Kernel))
            for events in whole.events]
    out = {}
    for rank in range(job.n):
        stage = [other for other in range(job.n) if job.place(other)[2] == job.place(rank)[2]]
        level = min(work[other] for other in stage) / work[rank]
        if level < 1.0 and len(stage) > 1 and job.n <= 16:
            levels = [level if other == rank else 1.0 for other in range(job.n)]
            out[str(rank)] = (whole.span - job.replay([], levels).span) / (1000.0 * job.spec["steps"])
    return out


def truth_of(job, whole):
    """Per step, ms: with and without the faults, of each rank that has one, and of links."""
    faults, n = job.spec["faults"], job.spec["steps"]
    ms = 1000.0 * n
    none = job.replay([]) if faults else whole
    truth = {"spec": job.spec, "stepMs": whole.span / ms, "healthyMs": none.span / ms,
             "lostMs": (whole.span - none.span) / ms, "ranks": {}}
    for rank in sorted({rank for fault in faults for rank in fault.get("ranks", ())}):
        alone = [dict(fault, ranks=[r if r == rank else -1 for r in fault["ranks"]])
                 for fault in faults if "ranks" in fault]
        truth["ranks"][str(rank)] = (job.replay(alone).span - none.span) / ms
    truth["levels"] = {} if faults else levels_of(job, whole)
    if len(set(job.layers)) > 1:
        work = [sum(item.us for item in items if isinstance(item, Kernel)) for items in job.items]
        even = job.replay(faults, [sum(work) / job.n / own for own in work])
        truth["evenMs"] = (whole.span - even.span) / ms
    return truth


# Files.

COLUMNS = ("Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),"
           "Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
           "Output Data Types,Output Formats,Context ID")
BRIEF_COLUMNS = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim"
FIRST_STEP = 11
EPOCH_US = 1780000000000000


def union(spans):
    spans, out = sorted(spans), []
    for begin, end in spans:
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([begin, end])
    return out


def length(spans):
    return sum(end - begin for begin, end in spans)


def core_of(kind):
    if "MatMul" in kind or "Matmul" in kind:
        return "AI_CORE"
    return "MIX_AIC" if "Attention" in kind else "AI_VECTOR_CORE"


class RankFiles:
    def __init__(self, job, run, rank, folder):
        self.job, self.run, self.rank = job, run, rank
        self.folder = os.path.join(folder, f"node{rank // job.spec['host_ranks']}_{4000 + rank}_"
                                           f"20260528203000{rank:03d}_ascend_pt")
        self.output = os.path.join(self.folder, "ASCEND_PROFILER_OUTPUT")
        clocks = random.Random(f"{job.spec['seed']} clock {rank // job.spec['host_ranks']}")
        self.clock_us = job.spec["clock_us"] * clocks.random()
        cut_us = 1000.0 * job.spec["late_begin_ms"].get(str(rank), 0.0)
        self.events = sorted((self.shown(*event) for event in run.events[rank] if event[1] >= cut_us),
                             key=lambda event: event[1])

    def shown(self, item, begin, end, shapes):
        if isinstance(item, Operator) and item.group.kind == self.job.spec["hidden"]:
            item, shapes = Kernel(f"Turbo{item.type.capitalize()}", 0.0, "4096,1,4096", item.step, None), "4096,1,4096"
        return item, begin, end, shapes

    def write(self):
        os.makedirs(self.output)
        self.write_info()
        self.write_kernels()
        self.write_steps()
        if self.job.spec["level"] > 0:
            self.write_communication()
        if self.job.spec["level"] > 0 and self.job.spec["tell_groups"]:
            self.write_matrix()

    def dump(self, name, value, folder=None):
        with open(os.path.join(folder or self.folder, name), "w", encoding="ascii") as file:
            json.dump(value, file)

    def write_info(self):
        job, spec = self.job, self.job.spec
        self.dump(f"profiler_info_{self.rank}.json", {
            "config": {"common_config": {"activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"],
                                         "schedule": {"wait": 0, "active": spec["steps"], "warmup": 1, "repeat": 1,
                                                      "skip_first": FIRST_STEP - 1}, "record_shapes": True},
                       "experimental_config": {"_profiler_level": f"Level{spec['level']}", "_export_type": ["text"]}},
            "torch_npu_version": "2.7.1", "cann_version": "8.3.RC1", "rank_id": str(self.rank)})
        groups = {}
        for (kind, rank), group in job.groups.items():
            if rank == self.rank:
                groups[group.id] = {"group_name": kind, "group_rank": group.ranks.index(rank),
                                    "global_ranks": group.ranks}
        if spec["tell_groups"]:
            self.write_metadata(groups)
        if spec["tell_hosts"]:
            device = self.rank % spec["host_ranks"]
            folder = os.path.join(self.folder, "PROF_000001_20260528203000000_MADE", f"device_{device}")
            os.makedirs(folder)
            self.dump(f"info.json.{device}", {"hostUid": f"host{self.rank // spec['host_ranks']}",
                                              "rank_id": self.rank}, folder)

    def write_metadata(self, groups):
        job, spec = self.job, self.job.spec
        self.dump("profiler_metadata.json", {
            "distributed_args": {"tensor_model_parallel_size": job.tp, "pipeline_model_parallel_size": job.pp,
                                 "data_parallel_size": job.dp, "context_parallel_size": 1,
                                 "expert_model_parallel_size": job.dp if spec["experts"] else 1,
                                 "sequence_parallel": False, "rank": self.rank, "world_size": job.n},
            "parallel_group_info": groups})

    def stamp(self, us):
        ns = round((us + self.clock_us) * 1000.0)
        return f"{EPOCH_US + ns // 1000}.{ns % 1000:03d}"

    def write_kernels(self):
        device, last = self.rank % self.job.spec["host_ranks"], None
        is_brief = self.job.spec["level"] == 0
        lines = [BRIEF_COLUMNS if is_brief else COLUMNS]
        for task, (item, begin, end, shapes) in enumerate(self.events):
            wait = 0.0 if last is None else max(0.0, begin - last)
            last = end
            head = f"{FIRST_STEP + item.step},{device},4294967295"
            times = f"{self.stamp(begin)}\t,{end - begin:.3f},{wait:.3f}"
            if is_brief:
                name = f"aclnn{item.type}_{item.type}" if isinstance(item, Kernel) else item.name
                lines.append(f"{FIRST_STEP + item.step},{name},N/A,N/A,{times},0")
            elif isinstance(item, Kernel):
                lines.append(f'{head},{task},2,aclnn{item.type}_{item.type},{item.type},static,{core_of(item.type)},'
                             f'{times},40,0,NO,"""{shapes}""",DT_BF16,ND,"""N/A""",N/A,ND,N/A')
            else:
                lines.append(f"{head},N/A,N/A,{item.name},hcom_{item.type}_,N/A,COMMUNICATION,{times}"
                             + ",N/A" * 10)
        with open(os.path.join(self.output, "kernel_details.csv"), "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")

    def steps(self):
        by_step = {}
        for event in self.events:
            by_step.setdefault(event[0].step, []).append(event)
        return sorted(by_step.items())

    def write_steps(self):
        lines = ["Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
                 "Communication(Not Overlapped and Exclude Receive),Preparing"]
        for step, events in self.steps():
            kernels = union((begin, end) for item, begin, end, _ in events if isinstance(item, Kernel))
            comms = union((begin, end) for item, begin, end, _ in events if isinstance(item, Operator))
            busy = union(kernels + comms)
            exposed = length(busy) - length(kernels)
            whole = busy[-1][1] - busy[0][0]
            values = [length(kernels), exposed, length(comms) - exposed, length(comms), whole - length(busy), whole, 0.0,
                      exposed, 180.0]
            lines.append(f"{self.rank % self.job.spec['host_ranks']},{FIRST_STEP + step},"
                         + ",".join(f"{value:.3f}" for value in values))
        with open(os.path.join(self.output, "step_trace_time.csv"), "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")

    def transport(self, peer):
        return "HCCS" if self.job.is_one_host(self.rank, peer) else "RDMA"

    def write_communication(self):
        out = {}
        for step, events in self.steps():
            kinds = {"p2p": {}, "collective": {}}
            for op, begin, end, _ in events:
                if isinstance(op, Operator):
                    kind = "p2p" if op.type == "batchSendRecv" else "collective"
                    kinds[kind][f"{op.name}@{op.group.number}"] = self.communication(op, begin, end)
            out[f"step{FIRST_STEP + step}"] = kinds
        self.dump("communication.json", out, self.output)

    def communication(self, op, begin, end):
        elapse, transfer = (end - begin) / 1000.0, self.run.transfers[op.key] / 1000.0
        wait, idle = elapse - transfer, 0.0
        if self.job.spec["idle_only"]:
            wait, idle, transfer = 0.0, elapse, 0.0
        ratio = round(wait / (wait + transfer), 4) if wait + transfer > 0.0 else 0
        band = {}
        peer = next(member for member in op.members if member != self.rank)
        mb = self.job.link_mb(op) * (len(op.members) - 1)
        ms = self.run.transfers[op.key] / 1000.0
        entry = {"Transit Size(MB)": round(mb, 6), "Transit Time(ms)": round(ms, 6),
                 "Bandwidth(GB/s)": round(mb / ms, 4), "Large Packet Ratio": 1.0,
                 "Size Distribution": {str(round(mb, 6)): [1, round(ms, 6)]}}
        band[self.transport(peer)] = entry
        if self.transport(peer) == "HCCS":
            band["SDMA"] = entry
        return {"Communication Time Info": {
            "Start Timestamp(us)": round(EPOCH_US + begin + self.clock_us, 1), "Elapse Time(ms)": round(elapse, 6),
            "Transit Time(ms)": round(transfer, 6), "Wait Time(ms)": round(wait, 6),
            "Synchronization Time(ms)": round(wait, 6), "Idle Time(ms)": round(idle, 6),
            "Wait Time Ratio": ratio, "Synchronization Time Ratio": ratio},
            "Communication Bandwidth Info": band}

    def write_matrix(self):
        out = {}
        for step, events in self.steps():
            kinds = {"p2p": {}, "collective": {}}
            for op, _, _, _ in events:
                if isinstance(op, Operator):
                    self.add_links(kinds, op)
            for links in kinds.values():
                for row in links.values():
                    for link in row.values():
                        link["Bandwidth(GB/s)"] = round(link["Transit Size(MB)"] / link["Transit Time(ms)"], 4)
            out[f"step{FIRST_STEP + step}"] = kinds
        self.dump("communication_matrix.json", out, self.output)

    def add_links(self, kinds, op):
        kind = "p2p" if op.type == "batchSendRecv" else "collective"
        row = kinds[kind].setdefault(f"{op.type.lower()}-total@{op.group.number}", {})
        own = op.group.ranks.index(self.rank)
        for peer in op.members:
            name = f"{own}-{op.group.ranks.index(peer)}"
            mb = self.job.link_mb(op)
            rate = 330.0 if peer == self.rank else self.job.gb_per_s(self.rank, peer, self.run.faults)
            transport = "LOCAL" if peer == self.rank else self.transport(peer)
            link = row.setdefault(name, {"Transport Type": transport, "Transit Size(MB)": 0.0, "Transit Time(ms)": 0.0})
            link["Transit Size(MB)"] += mb
            link["Transit Time(ms)"] += op.noise * mb / rate


def write_capture(spec, folder):
    """Returns the truth."""
    job = Job(spec)
    run = job.replay(job.spec["faults"])
    for rank in range(job.n) if job.spec["captured"] is None else job.spec["captured"]:
        RankFiles(job, run, rank, folder).write()
    truth = truth_of(job, run)
    with open(os.path.join(folder, "truth.json"), "w", encoding="ascii") as file:
        json.dump(truth, file, indent=1)
    return truth


def main():
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    truth = write_capture(json.loads(sys.argv[2]), sys.argv[1])
    print(json.dumps({key: value for key, value in truth.items() if key != "spec"}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
