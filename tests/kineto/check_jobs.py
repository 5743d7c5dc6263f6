#!/usr/bin/env python3
"""Traces of PyTorch's profiler: the right rank, cause and cost; damaged files leave the good ranks their verdict.

    check_jobs.py FAILSLOW EVERY [SHARED_DIR]      # every n-th job and kind of damage; shared data if n is 1
"""
import dataclasses
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import nsys
import pftrace
import streams
from jobs import Fault, Job, document, simulate, write

PROGRAM = sys.argv[1]
EVERY = int(sys.argv[2])
SHARED = pathlib.Path(sys.argv[3]) / "data" / "kineto" if len(sys.argv) > 3 and EVERY == 1 else None
faults = []
CONTROLS = set(map(chr, range(32))) - set("\n\t") | set(map(chr, [*range(0x7f, 0xa0), 0x202e]))


def ask(folder, *options):
    run = subprocess.run([PROGRAM, "profile", "--format", "json", *options, str(folder)], capture_output=True, text=True)
    return run, json.loads(run.stdout) if run.stdout.strip().startswith("{") else None


def claim(name, is_true, detail=""):
    if not is_true:
        faults.append("%s: %s" % (name, detail))


def check(name, folder, kind, ranks=(), cause=None, cost_ms=None):
    """The verdict has this kind and names these ranks and no others; the cost is right within 15 %."""
    run, answer = ask(folder)
    if answer is None:
        faults.append("%s: no verdict: %s" % (name, run.stderr[:300]))
        return None
    named = sorted(c["rank"] for c in answer["culprits"])
    claim(name, answer["verdict"] == kind and named == sorted(ranks),
          "%s names %s, not %s %s" % (answer["verdict"], named, kind, list(ranks)))
    for culprit in answer["culprits"]:
        claim(name, cause is None or culprit["cause"] == cause, "cause %s, not %s" % (culprit["cause"], cause))
    gains = answer["whatIf"]
    claim(name, all("-1" not in gain["name"].split(", ") for gain in gains), "a gain of rank -1: %s" % gains)
    if kind == "slow_link":
        claim(name, gains and gains[0]["kind"] == "link", "no gain of the link: %s" % gains)
    if cost_ms is not None:
        cost = answer["lostMsPerStep"]
        claim(name, abs(cost - cost_ms) <= 0.15 * cost_ms, "costs %.2f ms, not %.2f" % (cost, cost_ms))
    return answer


QUIET = ("normal", "compute_bound", "communication_bound")


def nobody(name, folder):
    _, answer = ask(folder)
    claim(name, answer is not None and answer["verdict"] in QUIET and not answer["culprits"],
          "not quiet: %s" % (answer and answer["headline"]))
    return answer


def jobs(root):
    """(name, job, fault, kind, ranks, cause, cost). Work of a step: 4 layers of 1,260 us."""
    work = 4 * 1.26
    for name, job in [("healthy_dp8", Job()), ("healthy_tp4dp2", Job(tp=4, dp=2, seed=2)),
                      ("healthy_noisy", Job(noise=0.05, seed=3)), ("healthy_16", Job(tp=2, steps=3, seed=4)),
                      ("healthy_64", Job(tp=8, steps=3, layers=2, seed=5, pretty=False))][::EVERY]:
        write(root / name, job)
        nobody(name, root / name)
    table = [
        ("kernels_dp8", Job(seed=6), Fault(kernels={5: 1.5}), "slow_rank", [5], "compute", 0.5 * work),
        ("kernels_tp4dp2", Job(tp=4, dp=2, seed=7), Fault(kernels={2: 1.4}), "slow_rank", [2], "compute", 0.4 * work),
        ("two_kernels", Job(dp=16, seed=8), Fault(kernels={3: 1.5, 11: 1.5}), "slow_rank", [3, 11], "compute",
         0.5 * work),
        ("host_dp8", Job(seed=9), Fault(host_us={2: 900.0}), "slow_rank", [2], "host", None),
        ("host_tp4dp2", Job(tp=4, dp=2, seed=10), Fault(host_us={6: 700.0}), "slow_rank", [6], "host", None),
        ("link_of_two", Job(tp=4, dp=2, seed=11), Fault(link={frozenset({2, 6}): 4.0}), "slow_link", [2, 6], "network",
         4.5),
        ("link_of_four", Job(tp=2, dp=4, seed=12), Fault(link={frozenset({1, 3, 5, 7}): 3.0}), "slow_link",
         [1, 3, 5, 7], "network", 3.0),
        ("a_rank_is_missing", Job(tp=4, dp=2, seed=13, missing=(1,)), Fault(kernels={6: 1.3}), "slow_rank", [6],
         "compute", 0.3 * work),
        ("no_sequence", Job(tp=4, dp=2, seed=14, has_sequence=False, base_at_end=False, name="worker{rank}.json"),
         Fault(kernels={6: 1.4}), "slow_rank", [6], "compute", 0.4 * work),
        ("no_groups", Job(seed=15, has_groups=False, steps=3, pretty=False), Fault(kernels={1: 1.2}), "slow_rank", [1],
         "compute", 0.2 * work),
    ]
    for name, job, fault, *right in table[::EVERY]:
        write(root / name, job, fault)
        check(name, root / name, *right)


def streams_beside(root):
    """Hosts ahead of their devices and collectives beside kernels: the loss is that of the same job without faults."""
    World = streams.World
    for name, world, model in [
            ("streams_dp", World(seed=101, noise=0.05, tail=0.01), streams.data_parallel),
            ("streams_sharded", World(seed=102, clock_us=50000.0), streams.sharded),
            ("streams_experts", World(seed=103, uneven=0.25), streams.experts),
            ("streams_pipeline", World(seed=104, steps=3, noise=0.05), streams.pipeline),
            ("streams_ring", World(seed=105, noise=0.05), streams.ring),
            ("streams_long_runs_of_kernels", World(seed=1852, steps=3, launches={5: 25.0}), streams.data_parallel),
            ("streams_pauses", World(seed=106, noise=0.06, pause=0.0002), streams.data_parallel)][::EVERY]:
        streams.write(root / name, world, model)
        answer = nobody(name, root / name)
        claim(name, "ring" not in name or "pipeline_bubble" not in json.dumps(answer), "a ring is no pipeline")
    table = [
        ("streams_dp_kernels", World(seed=111, kernels={5: 1.3}, cut=(2,)), streams.data_parallel, "slow_rank", [5],
         "compute"),
        ("streams_dp_host", World(seed=112, launches={6: 40.0}), streams.data_parallel, "slow_rank", [6], "host"),
        ("streams_sharded_kernels", World(seed=113, kernels={2: 1.15}), streams.sharded, "slow_rank", [2], "compute"),
        ("streams_sharded_loading", World(seed=114, loading={1: 20.0}), streams.sharded, "slow_rank", [1], "host"),
        ("streams_experts_kernels", World(seed=115, kernels={4: 1.3}), streams.experts, "slow_rank", [4], "compute"),
        ("streams_pipeline_kernels", World(seed=116, steps=3, kernels={5: 1.3}), streams.pipeline, "slow_rank", [5],
         "compute"),
        ("streams_pipeline_loading", World(ranks=12, seed=134, steps=3, loading={9: 25.0}), streams.pipeline,
         "slow_rank", [9], "host"),
        ("streams_one_step", World(seed=131, steps=1, python={5: 15000.0}), streams.data_parallel, "slow_rank", [5],
         "host"),
        ("streams_one_step_of_a_pipeline", World(seed=132, steps=1, loading={6: 20.0}), streams.pipeline, "slow_rank",
         [6], "host"),
        ("streams_first_link", World(seed=128, steps=3, links={(1, 3): 20.0}), streams.pipeline, "slow_link", [1, 3],
         "network"),
        ("streams_pipeline_link", World(seed=118, steps=3, links={(3, 5): 30.0}, has_info=False), streams.pipeline,
         "slow_link", [3, 5], "network"),
        ("streams_ring_kernels", World(seed=120, kernels={5: 1.3}), streams.ring, "slow_rank", [5], "compute"),
        ("streams_ring_loading", World(seed=121, loading={6: 20.0}), streams.ring, "slow_rank", [6], "host"),
        ("streams_ring_link", World(seed=122, links={(3, 4): 8.0}), streams.ring, "slow_link", [3, 4], "network"),
        ("streams_two_are_missing", World(seed=119, kernels={5: 1.3}, missing=(1, 3)), streams.data_parallel,
         "slow_rank", [5], "compute"),
        ("streams_one_without_kernels", World(seed=4103, steps=3, turns={5: 1.6, 1: 1.4}, blind=(2,)), streams.experts,
         "slow_rank", [1, 5], "compute"),
        ("streams_sharded_lingers", World(seed=123, lingers={3: 1500.0}), streams.sharded, "slow_rank", [3], "host"),
        ("streams_in_turn", World(seed=125, turns={1: 1.6, 6: 1.4}), streams.data_parallel, "slow_rank", [1, 6],
         "compute"),
        ("streams_two_stages", World(seed=129, steps=3, kernels={3: 1.5, 6: 1.3}), streams.pipeline, "slow_rank", [3, 6],
         "compute"),
        ("streams_ring_copies", World(seed=130, steps=3, copies={5: 60}), streams.ring, "slow_rank", [5], "host"),
        ("streams_ring_launches", World(seed=124, steps=3, launches={6: 25.0}), streams.ring, "slow_rank", [6], "host"),
    ]
    for name, world, model, *right in table[::EVERY]:
        streams.write(root / name, world, model)
        check(name, root / name, *right, streams.loss_ms(world, model))
    for name, ranks in [("streams_second_stage", (2, 3)), ("streams_last_stage", (6, 7))][::EVERY]:
        world = World(seed=127, steps=3, kernels=dict.fromkeys(ranks, 1.4))
        even = dataclasses.replace(world, kernels=dict.fromkeys(range(8), 1.1))
        streams.write(root / name, world, streams.pipeline)
        check(name, root / name, "stage_imbalance", (), None, streams.saved_ms(world, even, streams.pipeline))
    untold = World(seed=126, steps=3, kernels={5: 1.3}, has_groups=False)
    streams.write(root / "streams_untold", untold, streams.pipeline)
    _, answer = ask(root / "streams_untold")
    claim("streams_untold", answer["verdict"] == "insufficient_evidence" and not answer["culprits"],
          "%s although nobody knows who sends to whom" % answer["headline"])


def told(name, folder, *files):
    """All commands that read traces name the files, and print nothing that a terminal obeys."""
    for words in (["profile", "--long"], ["functions", "--format", "json"], ["convert", "-o", str(folder) + ".json"]):
        run = subprocess.run([PROGRAM, *words, str(folder)], capture_output=True, text=True)
        output = run.stdout + run.stderr
        claim(name, run.returncode == 0, "%s: exit code %d: %s" % (words[0], run.returncode, run.stderr[:300]))
        claim(name, not set(output) & CONTROLS, "%s prints control characters" % words[0])
        for file in files:
            claim(name, file in output, "%s does not name %s" % (words[0], file))


def damage_of_files(root, good):
    """Files of which nothing can be read cost their ranks alone; a mark of UTF-8 costs nothing."""
    folder = root / "damage_files"
    shutil.copytree(good, folder)
    name = r"gemm_kernel \u001b[31m \u009b31m \u0000 \u202e"
    for rank in (0, 1, 2, 3, 6, 7):
        (folder / ("rank%d.json" % rank)).unlink()
    for rank in ("rank4.json", "rank5.json"):
        (folder / rank).write_text((good / rank).read_text().replace("gemm_kernel", name))
    events = (good / "rank0.json").read_text().rsplit("]", 1)[0]
    (folder / "rank0.json.gz").write_bytes(gzip.compress(events.encode() + b",{}" * (1 << 20), 1))
    (folder / "rank1.json").write_bytes(bytes(i * i * 7 % 251 for i in range(5000)))
    (folder / "rank2.json.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(range(256)))
    os.mkfifo(folder / "rank3.json")
    (folder / "rank6.json").symlink_to("rank6.json")
    marked = (good / "rank7.json").read_text().replace("gemm_kernel", name)
    (folder / "rank7.json").write_text("\ufeff" + marked)
    answer = check("damage_files", folder, "slow_rank", [5], "compute")
    claim("damage_files", answer is not None and "rank7.json" not in json.dumps(answer["capture"]["remarks"]),
          "a mark of UTF-8 leaves the file out")
    told("damage_files", folder, "rank0.json.gz", "rank1.json", "rank2.json.zst", "rank3.json", "rank6.json")


def damage(root):
    """Good ranks keep their verdict, and a message names the file."""
    good = root / "good"
    write(good, Job(seed=20, pretty=False, name="rank{rank}.json"), Fault(kernels={5: 1.5}))
    text = (good / "rank1.json").read_text()
    half = len(text) // 2
    name = '"name": "%s"' % "void gemm_kernel<float, 128>(float const*, float*)"
    cases = {
        "cut": text[:half],
        "bare_quotes": text.replace(name, '"name": "void a"b"<c>"', 3),
        "control_characters": text.replace(name, '"name": "void \x01 \x02"', 3),
        "missing_value": text.replace('"dtype": "BFloat16"', '"dtype": ', 2),
        "great_ids": text.replace('"correlation": 101', '"correlation": 18446744073709551615'),
        "deep": text[:half] + "[" * 1000000,
        "negative_duration": text.replace('"dur": 4.0', '"dur": -4.0', 5),
        "no_json": "a trace\n" * 100,
        "no_device": json.dumps(dict(json.loads(text), traceEvents=[
            event for event in json.loads(text)["traceEvents"] if event.get("cat") != "kernel"])),
    }
    for case, content in list(cases.items())[::EVERY]:
        folder = root / ("damage_" + case)
        shutil.copytree(good, folder)
        (folder / "rank1.json").write_text(content)
        answer = check("damage_" + case, folder, "slow_rank", [5], "compute")
        run = subprocess.run([PROGRAM, "functions", "--format", "json", str(folder)], capture_output=True, text=True)
        named = [worker["rank"] for worker in json.loads(run.stdout)["workers"] if worker["state"] == "culprit"]
        claim("damage_" + case, named == [5], "functions name %s" % named)
        if answer is not None and case != "great_ids":
            text_of = json.dumps(answer)
            claim("damage_" + case, "rank1.json" in text_of, "the file is not named")
        if case == "cut":
            told("damage_" + case, folder, "rank1.json")
    damage_of_files(root, good)
    twice = root / "twice"
    shutil.copytree(good, twice)
    shutil.copy(good / "rank2.json", twice / "again_rank2.json")
    answer = check("twice", twice, "slow_rank", [5], "compute")
    remarks = json.dumps(answer["capture"]["remarks"]) if answer is not None else ""
    claim("twice", all(text in remarks for text in ("more than once", "again_rank2.json", '"rank2.json')),
          "the files of one rank are not told: " + remarks)


def alone(root):
    """One rank tells where its time goes, and accuses nobody."""
    folder = root / "alone"
    write(folder, Job(seed=30, missing=tuple(range(1, 8))))
    nobody("alone", folder)
    run = subprocess.run([PROGRAM, str(folder / "rank0.pt.trace.json.gz")], capture_output=True, text=True)
    claim("alone", run.returncode == 0 and "rank 0 of a job of 8" in run.stdout, run.stdout[:300] + run.stderr[:300])


def same_answer(root):
    """Threads and the order of names do not matter."""
    folder = root / "threads"
    write(folder, Job(tp=2, dp=2, seed=40), Fault(kernels={2: 1.4}))
    texts = set()
    for jobs_ in ("1", "2", "4"):
        run, _ = ask(folder, "--jobs", jobs_)
        texts.add(run.stdout)
    claim("same_answer", len(texts) == 1, "%d answers" % len(texts))


def same_answer_of_a_large_file(root):
    """Two threads read one file that is not compressed; its names look like the ends of events."""
    folder = root / "large"
    folder.mkdir()
    job = Job(tp=2, dp=2, seed=41)
    text = json.dumps(document(job, next(iter(simulate(job, Fault())))))
    more = ('{"ph": "X", "cat": "python_function", "name": "},{ %s", "pid": 3, "tid": %d,'
            ' "ts": %d.5, "dur": 2, "args": {"Python id": %d}},\n')
    some = "".join(more % ('\\"' if i % 50 == 0 else i % 50, i % 7, 1 + i, i) for i in range(1600))
    begin = text.index("[", text.index('"traceEvents"')) + 1
    path = folder / "rank0.pt.trace.json"
    path.write_text(text[:begin] + 110 * some + text[begin:])
    for n_cut in (0, 2000):
        with path.open("r+") as stream:
            stream.truncate(path.stat().st_size - n_cut)
        claim("large", path.stat().st_size > 16 << 20, "%d bytes" % path.stat().st_size)
        texts = {ask(path, "--jobs", jobs_)[0].stdout for jobs_ in ("1", "2")}
        claim("large", len(texts) == 1 and len(min(texts)) > 100, "%d answers" % len(texts))


def beside(root):
    """What grew since a baseline: kernels, collectives, one rank; nothing in a like job; another model is refused."""
    write(root / "before", Job(tp=2, dp=4, seed=50, steps=3))
    table = [
        ("alike", Job(tp=2, dp=4, seed=51, steps=3, first_step=200), Fault(), set(), "normal"),
        ("kernels", Job(tp=2, dp=4, seed=52, steps=3, kernels=1.5), Fault(), {"slower_than_baseline", "kernel_grew"},
         "job_slowdown"),
        ("collectives", Job(tp=2, dp=4, seed=53, steps=3, dp_us=3000.0), Fault(),
         {"slower_than_baseline", "communication_grew"},
         "job_slowdown"),
        ("one", Job(tp=2, dp=4, seed=54, steps=3), Fault(kernels={3: 1.5}),
         {"rank_slower_than_baseline", "slower_than_baseline"},
         "slow_rank"),
        ("another_model", Job(tp=2, dp=4, seed=55, steps=3, model="other", kernels=2.0), Fault(), set(), None),
    ]
    for name, job, fault, codes, kind in table:
        write(root / name, job, fault)
        _, answer = ask(root / name, "--baseline", str(root / "before"))
        told = {finding["code"] for finding in answer["findings"]}
        told = {code for code in told if code.endswith(("_baseline", "_grew"))}
        claim("beside " + name, codes <= told and (codes or not told), "tells %s, not %s" % (told, codes))
        claim("beside " + name, kind in (None, answer["verdict"]), "is %s, not %s" % (answer["verdict"], kind))
        claim("beside " + name, ("another model" in json.dumps(answer)) == (name == "another_model"), "model")


def write_packets(folder, job, fault, style):
    folder.mkdir()
    for rank in simulate(job, fault):
        suffix = ".pftrace.gz" if style == "plain" else ".pftrace"
        (folder / ("rank%d%s" % (rank.rank, suffix))).write_bytes(pftrace.convert(document(job, rank), style))


def packets(root):
    """The same events as packets of Perfetto have the same verdict; damage costs the file's own rank."""
    work = 4 * 1.26
    for style in ("interned", "plain")[::EVERY]:
        folder = root / ("packets_" + style)
        write_packets(folder, Job(seed=60, steps=3), Fault(kernels={5: 1.5}), style)
        answer = check("packets " + style, folder, "slow_rank", [5], "compute", 0.5 * work)
        claim("packets " + style, answer and answer["capture"]["ranks"][3]["dialect"] == "pftrace", "dialect")
        write_packets(root / ("quiet_packets_" + style), Job(seed=61, steps=3), Fault(), style)
        nobody("quiet packets " + style, root / ("quiet_packets_" + style))
    fault = Fault(link={frozenset({2, 6}): 4.0})
    write_packets(root / "packets_link", Job(tp=4, dp=2, seed=63), fault, "compressed")
    check("packets link", root / "packets_link", "slow_link", [2, 6], "network", 4.5)
    path = root / "packets_link" / "rank1.pftrace"
    data = path.read_bytes()
    at = data.index(b"\x78\x9c") + 500  # in a block of zlib's
    path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1:])
    answer = check("packets in a broken block", root / "packets_link", "slow_link", [2, 6], "network")
    claim("packets in a broken block", answer is not None and "broken compressed packets" in json.dumps(answer), "told")
    folder = root / "packets_interned"
    data = (folder / "rank1.pftrace").read_bytes()
    for name, content in {"cut": data[:len(data) // 2], "end": data + b"\xff" * 100,
                          "middle": data[:9000] + b"\x07" + data[9001:]}.items():
        (folder / "rank1.pftrace").write_bytes(content)
        answer = check("packets " + name, folder, "slow_rank", [5], "compute")
        claim("packets " + name, answer is not None and "rank1.pftrace" in json.dumps(answer), "the file is not named")
    write(root / "packets_beside", Job(seed=62, steps=3), Fault(kernels={5: 1.5}))
    write_packets(root / "packets_alike", Job(seed=62, steps=3), Fault(kernels={5: 1.5}), "plain")
    functions = []
    for path in (root / "packets_beside", root / "packets_alike"):
        run = subprocess.run([PROGRAM, "functions", "--format", "json", str(path)], capture_output=True, text=True)
        answer = json.loads(run.stdout)
        functions.append((answer["verdict"], sorted(answer["gpuCompute"]["majorKernels"]),
                          sorted(answer["cudaRuntime"]), [worker["state"] for worker in answer["workers"]]))
    claim("packets functions", functions[0] == functions[1], "%s" % functions)


def databases(root):
    """Exports of Nsight Systems: the same verdicts, from kernels, launches and ranges of NVTX; no groups are told."""
    work = 4 * 1.26
    table = [
        ("database_kernels", Job(seed=70, steps=3), Fault(kernels={5: 1.5}), "compute", [5], 0.5 * work, "report_%d.sqlite"),
        ("database_host", Job(seed=71, steps=3), Fault(host_us={2: 900.0}), "host", [2], None, "rank%d.sqlite"),
        ("database_tp", Job(tp=4, dp=2, seed=72, steps=3), Fault(kernels={2: 1.4}), "compute", [2], None,
         "report.%d.sqlite"),
    ]
    for name, job, fault, cause, ranks, cost, file in table[::EVERY]:
        (root / name).mkdir()
        for rank in simulate(job, fault):
            nsys.write(root / name / (file % rank.rank), document(job, rank), step="iteration %d")
        answer = check(name, root / name, "slow_rank", ranks, cause, cost)
        claim(name, answer and answer["capture"]["ranks"][3]["dialect"] == "nsys", "dialect")
    path = root / "database_kernels" / "report_1.sqlite"
    path.write_bytes(path.read_bytes()[:path.stat().st_size // 2])
    path = root / "database_kernels" / "report_2.sqlite"
    path.unlink()
    job = Job(seed=70, steps=3)
    nsys.write(path, document(job, simulate(job, Fault(kernels={5: 1.5}))[2]), other_process=True, step="iteration %d")
    answer = check("damaged databases", root / "database_kernels", "slow_rank", [5], "compute")
    text = json.dumps(answer)
    claim("damaged databases", "report_1.sqlite" in text and "several processes" in text, "the files are not told")


def hosts(root):
    """Reports of Nsight Systems that hold several ranks: processes are told apart, and their ranks, or not guessed."""
    work = 4 * 1.26
    documents = [document(job, rank) for job in [Job(seed=80, steps=3)] for rank in simulate(job, Fault(kernels={5: 1.5}))]
    for order, told in (("device", "of their devices"), ("number", "of their process numbers"), ("mpi", "ranks of MPI")):
        folder = root / ("host_" + order)
        folder.mkdir()
        if order == "mpi":  # two reports, whose names do not follow the ranks
            nsys.write_host(folder / "b.sqlite", documents[:4], order)
            nsys.write_host(folder / "a.sqlite", documents[4:], order)
        elif order == "device":  # the second and third of four hosts
            nsys.write_host(folder / "report_1.sqlite", documents[:4], order)
            nsys.write_host(folder / "report_2.sqlite", documents[4:], order)
        else:
            nsys.write_host(folder / "job.sqlite", documents, order)
        culprit = 5 + (4 if order == "device" else 0)
        answer = check("host " + order, folder, "slow_rank", [culprit], "compute", 0.5 * work)
        claim("host " + order, answer is not None and told in json.dumps(answer), "the order is not told")
    folder = root / "host_of_one"
    folder.mkdir()
    nsys.write_host(folder / "rank3.sqlite", documents[:2], "device")
    run, _ = ask(folder)
    claim("host of one", "several processes" in run.stdout and "rank 3" in run.stdout, run.stdout[:300])


def shared():
    if SHARED is None or not SHARED.is_dir():
        return
    many = SHARED / "multirank"
    nobody("shared healthy_dp8", many / "healthy_dp8")
    check("shared compute_rank5_dp8", many / "compute_rank5_dp8", "slow_rank", [5], "compute", 1.64)
    check("shared host_rank2_dp8", many / "host_rank2_dp8", "slow_rank", [2], "host", 1.83)
    check("shared compute_rank6_tp4dp2", many / "compute_rank6_tp4dp2", "slow_rank", [6], "compute", 2.0)
    dialects = {"amd_trace": "rocm_base", "nw4_old": "kineto_2021", "nccl_parser": "kineto_base", "mi300": "rocm_base",
                "df_index": "kineto_epoch", "ns_resolution": "kineto_epoch", "trace_filter": "kineto_epoch"}
    for path in sorted(SHARED.glob("hta/**/*.json.gz")) + sorted(SHARED.glob("t[br]*/*.json.gz")):
        _, answer = ask(path)
        claim(str(path), answer is not None, "no answer")
        dialect = answer and answer["capture"]["ranks"][0]["dialect"]
        wanted = [name for word, name in dialects.items() if word in str(path)] or [dialect]
        claim(str(path), dialect in wanted, "is %s, not %s" % (dialect, wanted))


def main():
    with tempfile.TemporaryDirectory(prefix="fsl_kineto_") as root:
        root = pathlib.Path(root)
        jobs(root)
        streams_beside(root)
        damage(root)
        alone(root)
        same_answer(root)
        same_answer_of_a_large_file(root)
        beside(root)
        packets(root)
        databases(root)
        hosts(root)
    shared()
    for fault in faults:
        print(fault)
    return 1 if faults else 0


sys.exit(main())
