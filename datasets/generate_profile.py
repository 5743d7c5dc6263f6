#!/usr/bin/env python3
"""Writes datasets/profile/slow_rank: folders as the Ascend profiler of PyTorch leaves them, of a job that never ran.

8 ranks (data parallel 4, pipeline 2), 3 steps of two micro-batches. The cores of rank 5 work at 1550 MHz instead of 1800,
so its kernels take 16 % longer and everybody waits for it. Numbers are made up: durations with 0.3 % of noise from a seed,
collectives that end together on all members as soon as the last one has come. Nothing is taken from a real capture.

    datasets/generate_profile.py DIR
"""
import json
import pathlib
import random
import sys

RANKS, STAGES, STEPS = 8, 2, (10, 11, 12)
DP = RANKS // STAGES
SLOW_RANK, CLOCK_MHZ, SLOW_MHZ = 5, 1800, 1550
ORIGIN_NS = 1_780_000_000_000_000_000
GAP_NS, GAP_SPREAD_NS = 20_000, 40_000  # between kernels: launches
BEGIN_NS = 300_000  # idle at the begin of a step
MS = 1_000_000

# Type, input shapes, input data types, core, ms at 1800 MHz.
BF16_2, BF16_3 = "DT_BF16;DT_BF16", "DT_BF16;DT_BF16;DT_BF16"
FORWARD = [
    ("LayerNormV3", "4096,2048;2048;2048", BF16_3, "AI_VECTOR_CORE", 0.8),
    ("MatMulV2", "4096,2048;2048,6144", BF16_2, "AI_CORE", 4.2),
    ("FlashAttentionScore", "4096,1,2048;4096,1,2048;4096,1,2048", BF16_3, "MIX_AIC", 6.5),
    ("MatMulV2", "4096,2048;2048,2048", BF16_2, "AI_CORE", 3.1),
    ("Add", "4096,2048;4096,2048", BF16_2, "AI_VECTOR_CORE", 0.6),
    ("MatMulV2", "4096,2048;2048,8192", BF16_2, "AI_CORE", 5.2),
    ("Gelu", "4096,8192", "DT_BF16", "AI_VECTOR_CORE", 1.1),
]
BACKWARD = [
    ("GeluGrad", "4096,8192;4096,8192", BF16_2, "AI_VECTOR_CORE", 1.4),
    ("MatMulV2", "4096,8192;8192,2048", BF16_2, "AI_CORE", 5.3),
    ("MatMulV2", "2048,4096;4096,8192", BF16_2, "AI_CORE", 5.1),
    ("FlashAttentionScoreGrad", "4096,1,2048;4096,1,2048;4096,1,2048", BF16_3, "MIX_AIC", 12.5),
    ("MatMulV2", "4096,6144;6144,2048", BF16_2, "AI_CORE", 4.3),
    ("MatMulV2", "2048,4096;4096,6144", BF16_2, "AI_CORE", 4.1),
    ("LayerNormV3Grad", "4096,2048;4096,2048;2048", BF16_3, "AI_VECTOR_CORE", 1.6),
]
UPDATE = [("ApplyAdamWV2", "12582912;12582912;12582912", "FLOAT;FLOAT;FLOAT", "AI_VECTOR_CORE", 3.0)] * 2

TRANSFER_NS = {"pp": 2 * MS, "dp": 6 * MS, "world": 300_000}
SIZE_MB = {"pp": 16.777216, "dp": 100.663296, "world": 0.000008}


def group_number(group_id):
    """What the profiler writes behind "@": two polynomials over the bytes of the group's id."""
    high = low = 0
    for c in group_id.encode():
        high, low = (high * 29 + c) % 2**32, (low * 131 + c) % 2**32
    return str(high << 32 | low)


class Group:
    def __init__(self, index, name, kind, ranks):
        self.id, self.name, self.kind, self.ranks = f"group_name_{index}", name, kind, ranks
        self.number, self.n_ops = group_number(self.id), 0

    def op(self, step):
        word = "hcom_batchSendRecv" if self.kind == "pp" else "hcom_allReduce"
        self.n_ops += 1
        return f"{word}__{self.number[-3:]}_{self.n_ops - 1}_{STEPS.index(step) + 1}"


WORLD = Group(0, "default_group", "world", list(range(RANKS)))
DATA = [Group(1 + s, "dp", "dp", list(range(s * DP, (s + 1) * DP))) for s in range(STAGES)]
PIPE = [Group(3 + d, "pp", "pp", [d, d + DP]) for d in range(DP)]
GROUPS = [WORLD, *DATA, *PIPE]


class Rank:
    def __init__(self, rank):
        self.rank, self.stage = rank, rank // DP
        self.now = ORIGIN_NS
        self.rows, self.ops = [], []  # (step, name, type, core, begin, dur, shapes, dtypes); (step, group, name, begin, dur)

    def compute(self, step, kernels, noise):
        factor = CLOCK_MHZ / SLOW_MHZ if self.rank == SLOW_RANK else 1.0
        for kind, shapes, dtypes, core, ms in kernels:
            self.now += GAP_NS + int(noise.random() * GAP_SPREAD_NS)
            dur = int(ms * MS * factor * (1 + 0.003 * (2 * noise.random() - 1))) // 10 * 10
            self.rows.append((step, f"aclnn{kind}_{kind}_{kind}", kind, core, self.now, dur, shapes, dtypes))
            self.now += dur


def meet(ranks, group, step):
    """One operator of a group: begun when each member comes, over when the last has come and the data has moved."""
    members = [ranks[r] for r in group.ranks]
    for m in members:
        m.now += GAP_NS
    end = max(m.now for m in members) + TRANSFER_NS[group.kind]
    name = group.op(step)
    for m in members:
        m.ops.append((step, group, name, m.now, end - m.now))
        m.rows.append((step, name, "hcom_batchSendRecv_" if group.kind == "pp" else "hcom_allReduce_", "COMMUNICATION",
                       m.now, end - m.now, "N/A", "N/A"))
        m.now = end


def run_step(ranks, step, noise):
    first, last = ranks[:DP], ranks[DP:]

    def send():
        for group in PIPE:
            meet(ranks, group, step)

    def work(side, kernels):
        for rank in side:
            rank.compute(step, kernels, noise)

    for rank in ranks:
        rank.now += BEGIN_NS
    work(first, FORWARD)
    send()  # activations 1
    work(first, FORWARD)
    work(last, FORWARD + BACKWARD)
    send()  # activations 2
    send()  # gradients 1
    work(first, BACKWARD)
    work(last, FORWARD + BACKWARD)
    send()  # gradients 2
    work(first, BACKWARD)
    for group in DATA:
        meet(ranks, group, step)
    meet(ranks, WORLD, step)
    work(ranks, UPDATE)


def us(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def write_kernels(path, rank):
    lines = ["Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),"
             "Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
             "Output Data Types,Output Formats,Context ID"]
    end = None
    for task, (step, name, kind, core, begin, dur, shapes, dtypes) in enumerate(rank.rows):
        wait = us(begin - end) if end is not None else "0"
        if core == "COMMUNICATION":
            tail = "N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A"
            head = f"{step},{rank.rank},4294967295,N/A,N/A"
            state = "N/A"
        else:
            tail = f'40,0,NO,"""{shapes}""",{dtypes},ND,"""N/A""",N/A,ND,N/A'
            head = f"{step},{rank.rank},4294967295,{task},2"
            state = "static"
        lines.append(f"{head},{name},{kind},{state},{core},{us(begin)}\t,{us(dur)},{wait},{tail}")
        end = begin + dur
    path.write_text("\n".join(lines) + "\n")


def write_steps(path, rank):
    lines = ["Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
             "Communication(Not Overlapped and Exclude Receive),Preparing"]
    for step in STEPS:
        own = [row for row in rank.rows if row[0] == step]
        later = [row[4] for row in rank.rows if row[0] == step + 1]
        computing = sum(row[5] for row in own if row[3] != "COMMUNICATION")
        exposed = sum(row[5] for row in own if row[3] == "COMMUNICATION")
        span = (later[0] if later else own[-1][4] + own[-1][5]) - own[0][4]
        free = span - computing - exposed
        lines.append(f"{rank.rank},{step},{us(computing)},{us(exposed)},0.0,{us(exposed)},{us(free)},{us(span)},0,"
                     f"{us(exposed)},205.25")
    path.write_text("\n".join(lines) + "\n")


def link(kind, size, time_ms):
    return {"Transport Type": kind, "Transit Size(MB)": size, "Transit Time(ms)": time_ms,
            "Bandwidth(GB/s)": round(size / time_ms, 4)}


def write_communication(folder, rank):
    times, matrix = {}, {}
    for step, group, name, begin, dur in rank.ops:
        part = "p2p" if group.kind == "pp" else "collective"
        transfer = TRANSFER_NS[group.kind]
        wait = dur - transfer
        size, ms = SIZE_MB[group.kind], transfer / MS
        moved = {"Transit Size(MB)": size, "Transit Time(ms)": ms, "Bandwidth(GB/s)": round(size / ms, 4),
                 "Large Packet Ratio": 1.0, "Size Distribution": {str(size): [1, ms]}}
        entry = {
            "Communication Time Info": {
                "Start Timestamp(us)": begin / 1000, "Elapse Time(ms)": dur / MS, "Transit Time(ms)": ms,
                "Wait Time(ms)": wait / MS, "Synchronization Time(ms)": wait / MS, "Idle Time(ms)": 0,
                "Wait Time Ratio": round(wait / dur, 4), "Synchronization Time Ratio": round(wait / dur, 4)},
            "Communication Bandwidth Info": {"HCCS": moved, "SDMA": moved}}
        times.setdefault(f"step{step}", {"p2p": {}, "collective": {}})[part][f"{name}@{group.number}"] = entry
        links = matrix.setdefault(f"step{step}", {"p2p": {}, "collective": {}})[part]
        kind = "batchsendrecv" if part == "p2p" else "allreduce"
        own = group.ranks.index(rank.rank)
        for top in ("bottom1", "total"):
            peers = {f"{own}-{own}": link("LOCAL", size, 0.05)}
            for place in range(len(group.ranks)):
                if place != own:
                    peers[f"{own}-{place}"] = link("HCCS", size, ms)
            for peer in peers.values():
                if top != "total":
                    peer["Op Name"] = name
            links[f"{kind}-{top}@{group.number}"] = peers
    (folder / "communication.json").write_text(json.dumps(times))
    (folder / "communication_matrix.json").write_text(json.dumps(matrix))


def write_statistics(folder, rank):
    sums = {}
    for _, _, kind, core, _, dur, _, _ in rank.rows:
        if core != "COMMUNICATION":
            sums.setdefault((kind, core), []).append(dur)
    whole = sum(sum(durs) for durs in sums.values())
    lines = ["Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"]
    for (kind, core), durs in sorted(sums.items(), key=lambda item: -sum(item[1])):
        lines.append(f"{rank.rank},{kind},{core},{len(durs)},{us(sum(durs))},{us(min(durs))},{us(sum(durs) // len(durs))},"
                     f"{us(max(durs))},{100 * sum(durs) / whole:.3f}")
    (folder / "op_statistic.csv").write_text("\n".join(lines) + "\n")
    n = len(rank.rows)
    lines = ["Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance",
             f"host,acl,aclrtSynchronizeStream,{3 * 850.5:.2f},3,850.5,840.1,861.2,70.1",
             f"host,node,launch,{n * 6.2:.2f},{n},6.2,4.1,19.8,3.2",
             f"host,acl,aclnnMatmul,{n * 2.4:.2f},{n},2.4,1.9,8.8,0.6"]
    (folder / "api_statistic.csv").write_text("\n".join(lines) + "\n")


def write_trace(path, rank):
    """The clock of the cores alone: the rest of a timeline is large and told by the other files."""
    pid = 1000 + rank.rank
    events = [{"name": "process_name", "pid": pid, "tid": 0, "args": {"name": "AI Core Freq"}, "ph": "M"},
              {"name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": f"NPU {rank.rank}"}, "ph": "M"}]
    begin, end = rank.rows[0][4], rank.rows[-1][4] + rank.rows[-1][5]
    clock = SLOW_MHZ if rank.rank == SLOW_RANK else CLOCK_MHZ
    for at in (begin, (begin + end) // 2, end):
        events.append({"name": "AI Core Freq", "ts": us(at), "pid": pid, "tid": 0, "args": {"MHz": clock}, "ph": "C"})
    path.write_text(json.dumps(events))


def write_rank(target, rank):
    folder = target / f"node0_{4000 + rank.rank}_20260528203000{rank.rank:03d}_ascend_pt"
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    schedule = {"wait": 0, "active": len(STEPS), "warmup": 1, "repeat": 1, "skip_first": STEPS[0] - 1}
    info = {"config": {"common_config": {"activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"],
                                         "schedule": schedule, "record_shapes": True},
                       "experimental_config": {"_profiler_level": "Level1", "_export_type": ["text"]}},
            "torch_npu_version": "2.7.1", "cann_version": "8.3.RC1", "rank_id": str(rank.rank)}
    (folder / f"profiler_info_{rank.rank}.json").write_text(json.dumps(info, indent=4) + "\n")
    groups = {g.id: {"group_name": g.name, "group_rank": g.ranks.index(rank.rank), "global_ranks": g.ranks}
              for g in GROUPS if rank.rank in g.ranks}
    args = {"tensor_model_parallel_size": 1, "pipeline_model_parallel_size": STAGES, "data_parallel_size": DP,
            "context_parallel_size": 1, "expert_model_parallel_size": 1, "sequence_parallel": False, "rank": rank.rank,
            "world_size": RANKS}
    (folder / "profiler_metadata.json").write_text(json.dumps({"distributed_args": args, "parallel_group_info": groups}))
    write_kernels(output / "kernel_details.csv", rank)
    write_steps(output / "step_trace_time.csv", rank)
    write_communication(output, rank)
    write_statistics(output, rank)
    write_trace(output / "trace_view.json", rank)


def main():
    if len(sys.argv) != 2:
        sys.exit("name the folder to write: datasets/generate_profile.py build/profile")
    target = pathlib.Path(sys.argv[1])
    if target.exists() and any(target.iterdir()):
        sys.exit(f"{target} is not empty: name another folder")
    noise = random.Random(5)
    ranks = [Rank(r) for r in range(RANKS)]
    for step in STEPS:
        run_step(ranks, step, noise)
    for rank in ranks:
        rank.rows.sort(key=lambda row: row[4])
        write_rank(target, rank)


main()
