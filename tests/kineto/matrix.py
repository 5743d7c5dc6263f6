#!/usr/bin/env python3
"""Measures verdicts: faults x models x sizes of jobs, each with another seed; prints what is wrong, and a table.

    matrix.py FAILSLOW [WORD...]       # only rows that hold each word, as in: ring 16

A fault that costs less than 1 % of a step is none. A row is right if the verdict has the right kind and ranks, and
costs 15 % more or less than the fault does. The second half of a row is `failslow functions`: its verdict, its ranks,
and the section that it names.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import streams

PROGRAM, WORDS = sys.argv[1], sys.argv[2:]
QUIET = ("normal", "compute_bound", "communication_bound", "host_bound")
MODELS = {"dp": streams.data_parallel, "sharded": streams.sharded, "experts": streams.experts,
          "pipeline": streams.pipeline, "ring": streams.ring}


def faults(model, ranks):
    """{name: (fault of the world, kind, ranks, causes, sections)}"""
    one, two = ranks - 3, (1, ranks - 3)
    yield "healthy", {}, None, (), (), ()
    yield "kernels", {"kernels": {one: 1.5}}, "slow_rank", (one,), ("compute",), ("compute",)
    yield "several", {"kernels": {rank: 1.5 for rank in two}}, "slow_rank", two, ("compute",), ("compute",)
    yield "python", {"python": {one: 15000.0}}, "slow_rank", (one,), ("host",), ("python",)
    yield "copies", {"copies": {one: 60}}, "slow_rank", (one,), ("host", "compute", "memory"), ("memory",)
    yield "launches", {"launches": {one: 60.0}}, "slow_rank", (one,), ("host",), ("idle", "runtime", "python")
    if model in ("pipeline", "ring"):
        peer = one - ranks // 4 if model == "pipeline" else one - 1
        link = tuple(sorted((peer, one)))
        yield "link", {"links": {link: 30.0 if model == "pipeline" else 8.0}}, "slow_link", link, ("network",), None


def ask(command, folder):
    run = subprocess.run([PROGRAM, command, "--format", "json", str(folder)], capture_output=True, text=True)
    return json.loads(run.stdout) if run.stdout.startswith("{") else {"verdict": run.stderr.strip()[:80], "workers": []}


def judge(name, folder, world, model, kind, ranks, causes):
    """(right, what was told)"""
    answer = ask("profile", folder)
    named = tuple(sorted(culprit["rank"] for culprit in answer.get("culprits", [])))
    if kind is None:
        return answer["verdict"] in QUIET and not named, "%s %s" % (answer["verdict"], list(named))
    cause = answer["culprits"][0]["cause"] if named else None
    cost, lost = answer.get("lostMsPerStep") or 0.0, streams.loss_ms(world, model)
    told = "%s %s %s %.2f of %.2f ms" % (answer["verdict"], list(named), cause, cost, lost)
    good = answer["verdict"] == kind and named == ranks and cause in causes
    return good and abs(cost - lost) <= 0.15 * lost, told


def compare(folder, model, n_ranks, ranks, sections):
    answer = ask("functions", folder)
    culprits = [worker for worker in answer["workers"] if worker["state"] == "culprit"]
    named = tuple(sorted(worker["rank"] for worker in culprits))
    found = sorted({str(worker["excessSection"]) for worker in culprits})
    told = "%s %s %s" % (answer["verdict"], list(named), found)
    if model == "pipeline" and n_ranks < 3 * 4:  # two workers a stage: nobody can stand out
        return answer["verdict"] == "insufficient_evidence" and not named, told
    if sections is None:  # a link is nobody's function
        return not named, told
    return named == ranks and set(found) <= set(sections), told


def main():
    wrong, counts = 0, {}
    for model, program in MODELS.items():
        for ranks in (8, 16, 32, 64):
            for number, (fault, what, kind, named, causes, sections) in enumerate(faults(model, ranks)):
                name = "%s %d %s" % (model, ranks, fault)
                if not all(word in name.split() for word in WORDS):
                    continue
                world = streams.World(ranks=ranks, steps=3, seed=1000 + ranks * 10 + number, **what)
                job = streams.Job(world, program)
                if kind is not None and streams.loss_ms(world, program) < 0.01 * job.step_ms():
                    kind, named, sections = None, (), None
                with tempfile.TemporaryDirectory(prefix="fsl_matrix_") as folder:
                    streams.write(pathlib.Path(folder) / "job", world, program)
                    rows = [judge(name, pathlib.Path(folder) / "job", world, program, kind, named, causes),
                            compare(pathlib.Path(folder) / "job", model, ranks, named, sections)]
                for command, (good, told) in zip(("profile", "functions"), rows):
                    right, total = counts.get((command, fault), (0, 0))
                    counts[command, fault] = right + good, total + 1
                    wrong += not good
                    print("%-9s %-24s %-9s %s" % ("right" if good else "WRONG", name, command, told), flush=True)
    for (command, fault), (right, total) in sorted(counts.items()):
        print("%-9s %-9s %3d of %3d" % (command, fault, right, total))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
