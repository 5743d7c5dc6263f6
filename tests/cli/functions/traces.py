"""Writes traces of a small job as PyTorch's profiler would, one file a rank: traces.py FOLDER [FAULT=RANK...].

Each of 4 steps loads data (Python), copies a batch to the device, computes in 6 kernels of two kinds, and reduces; all
ranks end the reduction when the last one has come. Faults: kernels (x1.5), python (a function of the data loader takes
5 ms more), copies (20 copies more in each step), wait (it comes late, and nothing tells why), model (it runs other
kernels), calls (a launch takes 310 us instead of 6). counters=RANK adds samples of cores and links; the link of these
ranks is half as fast. cupti=RANK does the same as Kineto writes its hardware counters, keys=RANK as one event with
several keys.
"""
import json
import pathlib
import random
import sys

RANKS, STEPS = 8, 4
GEMM = "void gemm_kernel<float, 128>(float const*, float*)"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int, float*)"
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
COPY = "Memcpy HtoD (Pinned -> Device)"


class Rank:
    def __init__(self, rank, faults):
        self.rank, self.faults = rank, faults
        self.random = random.Random(rank)
        self.events, self.correlation, self.now, self.device = [], 0, 1000.0, 1000.0

    def has(self, fault):
        return self.rank in self.faults.get(fault, ())

    def noisy(self, us):
        return us * self.random.uniform(0.99, 1.01)

    def add(self, cat, name, begin, dur, tid=7000, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 7 if tid != 7 else 0, "tid": tid,
                            "ts": round(begin, 3), "dur": round(dur, 3), "args": args})

    def work(self, cat, name, call, us, **args):
        self.correlation += 1
        us_a_call = 310.0 if self.has("calls") else 6.0
        self.add("cuda_runtime", call, self.now, us_a_call, correlation=self.correlation)
        begin = max(self.now + us_a_call + 4.0, self.device)
        self.now += us_a_call + 2.0
        self.device = begin + us
        self.add(cat, name, begin, us, 7, correlation=self.correlation, stream=7, device=0, **args)

    def load(self):
        begin, us = self.now, self.noisy(2000.0) + (5000.0 if self.has("python") else 0.0)
        tokens = us - 1000.0
        address = f"0x{self.random.getrandbits(44):x}"
        self.add("python_function", "train.py(10): step", begin - 5.0, us + 10.0)
        self.add("python_function", f"data.py({20 + self.rank}): next", begin, us)
        self.add("python_function", "data.py(40): tokens", begin + 500.0, tokens)
        self.add("python_function", f"<built-in method len of list object at {address}>", begin + 600.0, 100.0)
        self.now += us
        self.device = max(self.device, self.now)

    def step(self):
        self.load()
        for _ in range(21 if self.has("copies") else 1):
            self.work("gpu_memcpy", COPY, "cudaMemcpyAsync", self.noisy(250.0), bytes=1 << 20)
        for _ in range(4):
            us = self.noisy(1000.0) * (1.5 if self.has("kernels") else 1.0)
            gemm, add = [name.replace("<", "_other<") if self.has("model") else name for name in (GEMM, ADD)]
            self.work("kernel", gemm, "cudaLaunchKernel", us, grid=[132, 1, 1], block=[256, 1, 1])
            us = self.noisy(300.0) * (1.5 if self.has("kernels") else 1.0)
            self.work("kernel", add, "cudaLaunchKernel", us, grid=[64, 2, 1], block=[128, 1, 1])
        if self.has("wait"):
            self.device += 3000.0
        self.arrival = max(self.now + 10.0, self.device)

    def reduce(self, end, number):
        self.correlation += 1
        self.add("cuda_runtime", "cudaLaunchKernel", self.now, 6.0, correlation=self.correlation)
        self.add("kernel", REDUCE, self.arrival, end - self.arrival, 7, correlation=self.correlation, stream=7, device=0,
                 Seq=number, **{"Collective name": "allreduce", "Process Group Name": "0",
                                "Process Group Ranks": str(list(range(RANKS)))})
        self.now = self.device = end + 5.0


CUPTI = {"gpu_sm_util": ("sm__throughput.avg.pct_of_peak_sustained_elapsed", 1.0),
         "gpu_link_transmit": ("nvltx__bytes.sum.per_second", 1.0), "gpu_pcie_receive": ("pcie__read_bytes.sum", 1e-4)}


def counter_events(form, device, now, values):
    """The values of a device as events of one of the forms."""
    event = {"ph": "C", "cat": "hardware_counters", "pid": "GPU %d Counters" % device, "tid": 0, "ts": round(now, 3)}
    if form == "counters":
        return [{**event, "cat": "CAT_XPU", "name": name, "pid": 0, "tid": f"CAT_XPU_{device}", "args": {"value": value}}
                for name, value in values.items()]
    if form == "cupti":
        named = [(*CUPTI[name], value) for name, value in values.items()]
        return [{**event, "name": name, "args": {"": value * factor}} for name, factor, value in named] + \
            [{**event, "name": "sm__cycles_active.avg", "args": {"": 1e5 + now}}]
    keys = {name.replace("gpu_", ""): value for name, value in values.items() if "util" not in name}
    return [{**event, "name": "GPU links", "args": {"nvlink tx": keys["link_transmit"], "pcie rx": keys["pcie_receive"]}},
            {**event, "name": "SM_util", "pid": 0, "args": {"GPU %d" % device: values["gpu_sm_util"]}}]


def samples(rank, form):
    """Counters each 100 us; another device has counters of its own."""
    spans = [(e["ts"], e["ts"] + e["dur"], e["cat"], e["name"]) for e in rank.events if e["tid"] == 7]
    now, end, kind = min(span[0] for span in spans) - 50.0, max(span[1] for span in spans) + 200.0, {}
    while now < end:
        running = [cat + name for begin, until, cat, name in spans if begin <= now < until]
        is_reducing = any("ncclDev" in name for name in running)
        is_copying = any("memcpy" in name for name in running)
        kind["gpu_sm_util"] = 90.5 if running and not is_reducing and not is_copying else 4.0
        kind["gpu_link_transmit"] = (2e11 if not rank.has(form) else 1e11) if is_reducing else 1e6
        kind["gpu_pcie_receive"] = 2e10 if is_copying else 5e5
        for device, factor in ((0, 1.0), (1, 7.0)):
            values = {name: value * factor for name, value in kind.items()}
            rank.events += counter_events(form, device, now, values)
        if form == "counters":
            rank.events.append({"ph": "C", "cat": "CAT_NET", "name": "net_tx_rate", "pid": 0, "tid": "CAT_NET",
                                "ts": round(now, 3), "args": {"value": 1000}})
        now += 100.0


def write(folder, faults, n_ranks):
    ranks = [Rank(rank, faults) for rank in range(n_ranks)]
    for step in range(STEPS):
        begins = [rank.now for rank in ranks]
        for rank in ranks:
            rank.step()
        end = max(rank.arrival for rank in ranks) + 1500.0
        for rank, begin in zip(ranks, begins):
            rank.reduce(end, step)
            rank.add("user_annotation", f"ProfilerStep#{step}", begin - 5.0, end - begin + 5.0)
    folder.mkdir(parents=True, exist_ok=True)
    for rank in ranks:
        for form in {"counters", "cupti", "keys"} & set(faults):
            samples(rank, form)
        rank.random.shuffle(rank.events)
        document = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank.rank, "world_size": n_ranks},
                    "traceEvents": rank.events, "baseTimeNanoseconds": 1700000000000000000}
        (folder / f"rank{rank.rank}.pt.trace.json").write_text(json.dumps(document))


def main():
    faults, n_ranks = {}, RANKS
    for word in sys.argv[2:]:
        key, value = word.split("=")
        if key == "ranks":
            n_ranks = int(value)
        else:
            faults[key] = {int(rank) for rank in value.split(",")}
    write(pathlib.Path(sys.argv[1]), faults, n_ranks)


main()
