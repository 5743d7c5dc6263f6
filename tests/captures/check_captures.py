#!/usr/bin/env python3
"""Makes captures with a known truth and asks the program about them.

usage: check_captures.py FAILSLOW [--every N] [WORD...]

With words only cases with one of them in their name, and each Nth of these. Each must get the verdict, exactly the culprits, their cause, and
a loss within 20 % of the truth, or 1 % of a step and 5 ms.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

import make_capture

# With a baseline, the same job without its faults is a capture, too.
# With the faults of a job whose experts get even rows, the gain of even rows is the difference.
Case = collections.namedtuple("Case", "name spec verdict culprits cause loss has_baseline said even",
                              defaults=[False, None, None])

# Of the truth, and of a step (but no more than 5 ms).
LOSS_SHARE_MAX, LOSS_OF_STEP_MAX, LOSS_MS_MAX = 0.20, 0.01, 5.0
# Less than a step's share tells nobody to do anything.
IDLE_SHARE_MAX = 0.005
# Findings about somebody of the job. In a healthy one they must gain no more than mending the named rank does.
BLAMING = {"slow_rank_compute", "slow_rank_host", "slow_rank_unexplained", "more_work", "consistently_late",
           "stage_imbalance", "slow_rank_network", "slow_links", "slow_link", "expert_imbalance"}


def healthy(name, **spec):
    return Case(name, spec, "normal", (), None, None)


def slow(name, kind, ranks, spec, verdict="slow_rank", cause="compute", **fault):
    whole = dict(spec, faults=[dict(fault, kind=kind, ranks=list(ranks))])
    return Case(name, whole, verdict, tuple(ranks), cause, "lostMs")


def host(name, ranks, us, spec, verdict="slow_rank"):
    return slow(name, "slow_host", ranks, spec, verdict, "host", us=us)


def link(name, ends, spec, factor=0.5):
    whole = dict(spec, faults=[{"kind": "slow_link", "ends": list(ends), "factor": factor}])
    return Case(name, whole, "slow_link", tuple(ends), "network", "lostMs")


def work(name, kind, ranks, spec, **fault):
    whole = dict(spec, faults=[dict(fault, kind=kind, ranks=list(ranks))])
    return Case(name, whole, "work_imbalance", (), None, "lostMs")


def alone(name, verdict, said, **spec):
    """One captured rank of a job whose groups no file tells; @said is told of it."""
    return Case(name, dict(spec, tell_groups=False), verdict, (), None, None, False, said)


def rows(name, rank, factor, spec, verdict="work_imbalance", culprits=(), faults=()):
    """The experts of one rank get @factor times as many rows."""
    def uneven(ranks, times):
        return dict(kind="more_rows", ranks=list(ranks), factor=times)
    even = [uneven(range(spec["dp"]), 1.0 + (factor - 1.0) / spec["dp"]), *faults]
    return Case(name, dict(spec, faults=[uneven([rank], factor), *faults]), verdict, culprits, None, "lostMs", even=even)


def stages(name, **spec):
    return Case(name, spec, "stage_imbalance", (), None, "evenMs")


def beside_baseline(name, ranks, factor, spec, verdict="job_slowdown", culprits=()):
    whole = dict(spec, faults=[{"kind": "slow_kernels", "ranks": list(ranks), "factor": factor}])
    return Case(name, whole, verdict, culprits, None, "lostMs", True)


def cases():
    pair = {"dp": 2, "layers": 6, "jitter": 0.6, "hiccup": 0.02}
    return [
        healthy("two_ranks_with_jitter_are_healthy", seed=11, **pair),
        healthy("two_other_ranks_with_jitter_are_healthy", seed=12, **pair),
        healthy("two_ranks_of_tensor_parallel_are_healthy", seed=13, tp=2, layers=5, jitter=0.6),
        healthy("stages_of_two_ranks_are_healthy", seed=14, dp=2, pp=2, layers=4, jitter=0.6, hiccup=0.02),
        healthy("four_stages_of_two_ranks_are_healthy", seed=15, tp=2, pp=4, micro=8, layers=2),
        healthy("pairs_over_three_steps_are_healthy", seed=16, steps=3, micro=2, **pair),
        healthy("five_data_parallel_ranks_are_healthy", seed=17, dp=5),
        healthy("twelve_ranks_over_two_servers_are_healthy", seed=18, dp=12, layers=2),
        healthy("three_stages_alone_are_healthy", seed=19, pp=3, micro=6, layers=3),
        healthy("four_by_three_by_two_is_healthy", seed=20, tp=2, dp=3, pp=4, layers=2),
        healthy("gradients_beneath_kernels_are_healthy", seed=21, dp=6, overlap=True, layers=6, grad_mb=600.0),
        healthy("overlap_in_a_pipeline_is_healthy", seed=22, dp=4, pp=2, overlap=True, grad_mb=600.0),
        healthy("one_collective_a_step_is_healthy", seed=23, dp=6, parts=1, world=False, steps=4, micro=2),
        healthy("one_collective_of_two_ranks_is_healthy", seed=24, dp=2, parts=1, world=False, steps=3, jitter=0.6),
        healthy("captures_that_begin_late_are_healthy", seed=25, dp=6, tp=2, late_begin_ms={"3": 9.0, "7": 22.0}),
        healthy("a_pipeline_whose_rank_begins_late_is_healthy", seed=26, dp=3, pp=2, late_begin_ms={"4": 15.0}),
        healthy("sixty_four_ranks_are_healthy", seed=27, dp=16, tp=4, layers=1, micro=2),
        healthy("experts_of_six_ranks_are_healthy", seed=28, dp=6, experts=True, layers=2),
        Case("a_job_whose_hosts_hardly_keep_up_is_bound_by_them", {"seed": 29, "dp": 6, "kernel_us": 30.0, "gap_us": 25.0,
             "layers": 4, "jitter": 0.5}, "host_bound", (), None, None),
        healthy("communication_in_kernels_of_an_unknown_type_is_healthy", seed=31, tp=4, dp=2, hidden="tp"),
        healthy("experts_in_kernels_of_an_unknown_type_are_healthy", seed=32, dp=6, layers=2, experts=True, hidden="exp"),
        healthy("waits_that_the_profiler_does_not_tell_are_healthy", seed=30, dp=3, pp=2, idle_only=True),

        slow("one_slow_device_of_five", "slow_kernels", [3], {"seed": 41, "dp": 5}, factor=1.2),
        slow("a_device_a_tenth_slower_of_six", "slow_kernels", [1], {"seed": 42, "dp": 6, "layers": 4}, factor=1.1),
        slow("two_equally_slow_devices_of_twelve", "slow_kernels", [2, 9], {"seed": 43, "dp": 12, "layers": 2},
             factor=1.25),
        slow("all_devices_of_one_of_three_servers", "slow_kernels", range(4, 8),
             {"seed": 44, "dp": 12, "layers": 2, "host_ranks": 4}, "slow_host", factor=1.2),
        slow("three_of_four_devices", "slow_kernels", [0, 2, 3], {"seed": 45, "tp": 4}, factor=1.5),
        slow("one_operator_type_on_one_rank", "slow_kernels", [5], {"seed": 46, "dp": 3, "tp": 2}, factor=1.4,
             type="MatMulV2"),
        slow("a_slow_device_of_a_longer_pipeline", "slow_kernels", [4],
             {"seed": 47, "dp": 3, "pp": 3, "micro": 6, "layers": 2}, factor=1.3),
        slow("a_slow_device_of_the_last_stage", "slow_kernels", [10],
             {"seed": 48, "tp": 2, "dp": 2, "pp": 3, "micro": 6, "layers": 2}, factor=1.25),
        slow("a_slow_device_with_gradients_beneath_kernels", "slow_kernels", [2],
             {"seed": 49, "dp": 6, "overlap": True, "layers": 6, "grad_mb": 600.0}, factor=1.2),
        slow("a_slow_device_with_overlap_in_tensor_parallel_groups", "slow_kernels", [9],
             {"seed": 55, "tp": 3, "dp": 5, "micro": 2, "layers": 2, "overlap": True, "grad_mb": 600.0}, factor=1.35),
        slow("a_slow_device_of_a_pair_with_overlap", "slow_kernels", [2],
             {"seed": 56, "tp": 2, "dp": 2, "steps": 2, "micro": 3, "layers": 2, "overlap": True}, factor=1.3),
        slow("a_slow_device_with_one_collective_a_step", "slow_kernels", [4],
             {"seed": 50, "dp": 6, "parts": 1, "world": False, "steps": 4, "micro": 2}, factor=1.15),
        slow("one_of_sixty_four_devices", "slow_kernels", [37],
             {"seed": 51, "dp": 16, "tp": 4, "layers": 1, "micro": 2}, factor=1.3),
        slow("a_device_slow_in_one_step_of_three", "slow_kernels", [1],
             {"seed": 52, "dp": 5, "steps": 3, "micro": 2}, factor=1.6, step=1),
        slow("one_of_two_devices", "slow_kernels", [1], {"seed": 53, "dp": 2, "layers": 6}, factor=1.2),
        slow("a_slow_device_whose_capture_begins_late", "slow_kernels", [3],
             {"seed": 54, "dp": 6, "tp": 2, "late_begin_ms": {"7": 20.0}}, factor=1.2),

        slow("one_of_two_devices_of_a_stage", "slow_kernels", [3],
             {"seed": 57, "dp": 2, "pp": 2, "micro": 6, "layers": 2, "jitter": 0.4}, factor=1.3),
        slow("one_of_two_devices_of_the_third_stage", "slow_kernels", [4],
             {"seed": 58, "tp": 2, "pp": 4, "micro": 6, "layers": 1}, factor=1.4),
        host("one_of_two_hosts_of_a_stage", [0], 60.0, {"seed": 74, "dp": 2, "pp": 2, "micro": 5, "layers": 2}),
        slow("a_slow_device_beside_kernels_of_an_unknown_type_that_communicate", "slow_kernels", [5],
             {"seed": 75, "tp": 4, "dp": 2, "hidden": "tp"}, factor=1.3),
        slow("a_slow_device_among_experts_of_an_unknown_type", "slow_kernels", [2],
             {"seed": 76, "dp": 6, "layers": 2, "experts": True, "hidden": "exp"}, factor=1.25),
        host("a_slow_host_beside_kernels_of_an_unknown_type_that_communicate", [1], 20.0,
             {"seed": 77, "tp": 3, "dp": 2, "hidden": "tp"}),
        host("a_slow_host_of_six", [4], 15.0, {"seed": 61, "dp": 6}),
        host("two_slow_hosts_of_four", [0, 3], 25.0, {"seed": 62, "dp": 4, "layers": 4}),
        host("a_slow_host_on_the_first_stage", [1], 20.0, {"seed": 63, "dp": 3, "pp": 2, "micro": 6}),
        host("a_slow_host_in_a_tensor_parallel_group", [6], 15.0, {"seed": 65, "tp": 4, "dp": 2}),
        host("all_hosts_of_one_server", range(8, 16), 15.0, {"seed": 66, "dp": 16, "layers": 2}, "slow_host"),
        host("a_slow_host_with_gradients_beneath_kernels", [3], 15.0,
             {"seed": 67, "dp": 5, "overlap": True, "layers": 6, "grad_mb": 600.0}),
        host("one_of_sixty_four_hosts", [50], 20.0, {"seed": 68, "dp": 16, "tp": 4, "layers": 1, "micro": 2}),
        host("a_slow_host_with_overlap_in_a_pipeline", [4], 60.0,
             {"seed": 73, "dp": 4, "pp": 2, "steps": 2, "micro": 2, "layers": 2, "overlap": True}),
        slow("two_ranks_late_in_turn", "late_in_turn", [2, 5], {"seed": 69, "tp": 6, "layers": 4}, cause="host", us=60.0,
             share=0.84),
        slow("a_pause_of_one_rank", "pause", [2], {"seed": 70, "dp": 5}, cause="host", at=70, ms=12.0),
        slow("a_pause_in_a_pipeline", "pause", [3], {"seed": 71, "dp": 2, "pp": 3, "micro": 6, "layers": 2},
             cause="host", at=90, ms=25.0),
        slow("a_pause_with_one_collective_a_step", "pause", [0],
             {"seed": 72, "dp": 4, "parts": 1, "world": False, "steps": 3, "micro": 2}, cause="host", at=130, ms=20.0),

        link("a_link_of_a_data_parallel_pair_of_six", (1, 4), {"seed": 81, "dp": 6, "grad_mb": 1500.0}),
        link("a_link_of_four_ranks", (0, 2), {"seed": 82, "dp": 4, "grad_mb": 1200.0}),
        link("a_link_inside_a_stage", (4, 7), {"seed": 83, "dp": 4, "pp": 2, "grad_mb": 1500.0}),
        link("a_link_beside_slower_ones_between_servers", (1, 6),
             {"seed": 85, "dp": 10, "layers": 2, "grad_mb": 2500.0}, factor=0.4),
        link("a_link_of_a_tensor_parallel_group", (4, 6), {"seed": 84, "tp": 4, "dp": 2, "kernel_us": 60.0}),

        work("three_ranks_with_more_kernels", "more_kernels", [3, 4, 8], {"seed": 91, "dp": 9, "layers": 2}, times=2),
        work("one_rank_with_larger_shapes", "larger_shapes", [2], {"seed": 92, "dp": 5}, factor=1.5),
        work("two_ranks_with_larger_shapes", "larger_shapes", [1, 4], {"seed": 93, "dp": 8}, factor=1.5),
        rows("one_rank_with_more_expert_rows", 5, 2.0, {"seed": 93, "dp": 6, "experts": True, "layers": 2}),
        rows("more_expert_rows_beside_a_slow_device", 5, 2.0, {"seed": 93, "dp": 6, "experts": True, "layers": 2},
             "slow_rank", (2,), [{"kind": "slow_kernels", "ranks": [2], "factor": 1.5}]),
        rows("more_expert_rows_of_four_beside_a_slow_device", 0, 1.8, {"seed": 140, "dp": 4, "experts": True, "layers": 3},
             "slow_rank", (3,), [{"kind": "slow_kernels", "ranks": [3], "factor": 1.3}]),
        alone("one_long_collective_of_a_rank_alone", "communication_bound", "(hcom_reduceScatter__", seed=131, dp=4,
              captured=[1], faults=[{"kind": "pause", "ranks": [3], "at": 80, "ms": 190.0}]),
        alone("one_long_collective_of_another_rank_alone", "communication_bound", "(hcom_allReduce__", seed=132, tp=2,
              dp=3, layers=2, captured=[4], faults=[{"kind": "pause", "ranks": [5], "at": 30, "ms": 260.0}]),
        alone("a_rank_alone_that_computes", "compute_bound", "MatMulV2", seed=133, dp=6, captured=[2]),
        alone("a_rank_alone_whose_host_is_late", "host_bound", "kernels per step", seed=134, tp=2, dp=2, captured=[3],
              faults=[{"kind": "slow_host", "ranks": [0, 1, 2, 3], "us": 220.0}]),
        host("a_slow_host_on_the_lighter_of_two_stages", [1], 90.0,
             {"seed": 135, "dp": 2, "pp": 2, "micro": 4, "layers": [3, 4]}),
        host("another_slow_host_on_the_lighter_of_two_stages", [0], 150.0,
             {"seed": 140, "dp": 2, "pp": 2, "micro": 8, "layers": [2, 4]}),
        host("a_slow_host_on_the_lightest_of_three_stages", [5], 120.0,
             {"seed": 136, "dp": 3, "pp": 3, "micro": 5, "layers": [3, 2, 3]}),
        Case("level_0_tells_no_sizes_of_groups", {"seed": 137, "dp": 4, "level": 0}, "insufficient_evidence", (), None,
             None, said="no file tells how many members"),
        Case("level_0_tells_no_sizes_of_groups_of_two_kinds", {"seed": 141, "tp": 2, "dp": 3, "level": 0},
             "insufficient_evidence", (), None, None, said="no file tells how many members"),
        slow("a_slow_device_at_level_0", "slow_kernels", [2], {"seed": 138, "dp": 5, "level": 0}, factor=1.25),
        host("a_slow_host_at_level_0", [3], 20.0, {"seed": 139, "tp": 2, "dp": 2, "level": 0}),

        # Two of six and four ranks, and no file tells that there are more.
        Case("a_part_of_a_group_of_unknown_size_is_no_evidence", {"seed": 121, "dp": 6, "layers": 2, "tell_groups": False,
             "captured": [0, 1]}, "insufficient_evidence", (), None, None),
        Case("a_part_of_another_group_of_unknown_size_is_no_evidence", {"seed": 122, "tp": 4, "layers": 2,
             "tell_groups": False, "captured": [1, 3]}, "insufficient_evidence", (), None, None),
        slow("a_slow_device_in_a_group_of_unknown_size", "slow_kernels", [2], {"seed": 123, "dp": 5, "tell_groups": False},
             factor=1.2),

        beside_baseline("all_devices_of_four_are_slower_than_in_the_baseline", range(4), 1.3, {"seed": 97, "dp": 4}),
        beside_baseline("all_devices_of_a_pipeline_are_slower_than_in_the_baseline", range(6), 1.15,
                        {"seed": 98, "dp": 3, "pp": 2, "micro": 6, "layers": 2}),
        beside_baseline("one_device_is_slower_than_in_the_baseline", [2], 1.25, {"seed": 99, "dp": 5}, "slow_rank", (2,)),

        stages("the_second_of_two_stages_is_longer", seed=94, dp=3, pp=2, micro=6, layers=[3, 5]),
        stages("the_first_of_three_stages_is_longer", seed=95, dp=2, pp=3, micro=6, layers=[4, 2, 2]),
        stages("a_long_stage_of_one_rank", seed=96, pp=3, micro=6, layers=[2, 4, 2]),
    ]


def ask(failslow, folder, options):
    done = subprocess.run([failslow, "profile", folder, "--format", "json"] + options, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1, 2, 3) or not done.stdout:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def is_near(told, true, step_ms):
    return abs((told or 0.0) - true) <= max(LOSS_SHARE_MAX * true, min(LOSS_MS_MAX, LOSS_OF_STEP_MAX * step_ms))


def faults_of_healthy(answer, truth):
    """Findings that accuse somebody and promise more than a replay gives back."""
    for finding in answer["findings"]:
        gain = finding["gainMs"] or 0.0
        if finding["code"] in BLAMING and gain > IDLE_SHARE_MAX * truth["stepMs"]:
            rank = finding["rank"]
            mended = truth["levels"].get(str(rank), 0.0)
            if gain > (1.0 + LOSS_SHARE_MAX) * mended + IDLE_SHARE_MAX * truth["stepMs"]:
                yield f"{finding['code']} of rank {rank} promises {gain:.2f} ms, a replay {mended:.2f} ms"


def faults_of(case, answer, truth):
    named = sorted(culprit["rank"] for culprit in answer["culprits"])
    causes = {culprit["cause"] for culprit in answer["culprits"]}
    if answer["verdict"] != case.verdict:
        yield f"verdict {answer['verdict']} instead of {case.verdict}"
    if named != sorted(case.culprits):
        yield f"ranks {named} named instead of {sorted(case.culprits)}"
    if case.cause is not None and named and causes != {case.cause}:
        yield f"cause {sorted(causes)} instead of {case.cause}"
    texts = [answer["reason"]] + [finding["what"] for finding in answer["findings"]]
    if case.said is not None and not any(case.said in text for text in texts):
        yield f"nothing says {case.said}"
    for gain in answer["whatIf"]:
        if "-1" in gain["name"].split(", "):
            yield f"a gain of rank -1: {gain}"
    if case.loss is None:
        yield from faults_of_healthy(answer, truth)
    elif not is_near(answer["lostMsPerStep"], truth[case.loss], truth["stepMs"]):
        yield f"loss {answer['lostMsPerStep'] or 0.0:.2f} ms instead of {truth[case.loss]:.2f} ms"
    for culprit in answer["culprits"]:
        true = truth["ranks"].get(str(culprit["rank"]))
        if true is not None and not is_near(culprit["lostMsPerStep"], true, truth["stepMs"]):
            yield f"rank {culprit['rank']} costs {culprit['lostMsPerStep']:.2f} ms instead of {true:.2f} ms"


def check(failslow, case):
    with tempfile.TemporaryDirectory() as folder:
        capture = os.path.join(os.environ.get("CAPTURES_KEPT") or folder, case.name)
        os.makedirs(capture)
        truth = make_capture.write_capture(case.spec, capture)
        options = []
        if case.has_baseline:
            baseline = os.path.join(folder, "baseline")
            os.makedirs(baseline)
            make_capture.write_capture(dict(case.spec, faults=[]), baseline)
            options = ["--baseline", baseline]
        answer = ask(failslow, capture, options)
        faults = list(faults_of(case, answer, truth))
        if case.even is not None:
            even = make_capture.write_capture(dict(case.spec, faults=case.even), os.path.join(folder, "even"))
            true = truth["stepMs"] - even["stepMs"]
            told = [found["gainMs"] for found in answer["findings"] if found["code"] == "expert_imbalance"]
            if len(told) != 1 or not is_near(told[0], true, truth["stepMs"]):
                faults.append(f"even rows win {told} instead of {true:.2f} ms")
        return faults, truth


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("failslow")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    failslow, words = options.failslow, options.words
    wanted = [case for case in cases() if not words or any(word in case.name for word in words)][::options.every]
    n_wrong = 0
    for case in wanted:
        faults, truth = check(failslow, case)
        n_wrong += bool(faults)
        lost = truth.get(case.loss, 0.0)
        print(f"{'not ok' if faults else 'ok'} {case.name} ({lost:.1f} of {truth['stepMs']:.1f} ms)"
              + "".join(f"\n    {fault}" for fault in faults), flush=True)
    print(f"{len(wanted) - n_wrong} of {len(wanted)} are right")
    return 1 if n_wrong or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
