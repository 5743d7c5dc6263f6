#!/usr/bin/env python3
"""Compares what is told of two ranks' databases with what msprof-analyze's recipes made of them.

usage: check_recipes.py FAILSLOW SHARED_DIR

Every column of every table of the recipes is either compared here, to 1e-6 of its size unless
said otherwise, or named in NOT_COMPARED with the reason; a column in neither fails. Kernels, calls
and gaps, of which the program tells sums alone, are compared one by one in
tests/unit/judge/test_recipes.c. Exit code 77 when the reference data is absent.
"""
import glob
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

import compare_peer

CAPTURE = "insight-2rank-db/level1"
RECIPES = "expected/insight-2rank-db/level1-recipes"
# Where the tables that we write ourselves are wrong there; see compare_peer.py.
OURS_RIGHT = {"db-ratios", "db-names", "db-places", "db-paths"}
EXPORTED = ("communication_group_map", "communication_time_sum", "communication_matrix_sum")

KERNELS_IN_C = "compared kernel by kernel in test_recipes.c"
CALLS_IN_C = "compared call by call in test_recipes.c"
GAPS_IN_C = "compared gap by gap in test_recipes.c"
SPREAD = "of kernels and calls we keep count, sum and extremes, no spread"
# "table.column", or "table" for all of its other columns: why it is not compared here.
NOT_COMPARED = {
    "ClusterTimeSummary.stepTime":
        "the host's step there; ours is what the device does from its first task on",
    "ClusterTimeSummary.memory": "copies are not told apart: what nothing overlaps is in free time",
    "ComputeOpPerRankStatsByOpType": KERNELS_IN_C,
    "ComputeOpPerRankStatsByOpName": KERNELS_IN_C,
    "ComputeOpAllRankStats": SPREAD,
    "CannApiSumRank": CALLS_IN_C,
    "CannApiSum": SPREAD,
    "FreeAnalysis": GAPS_IN_C,
}
# Of these the capture gives nothing, and nothing may be told of it.
SILENT = {
    "freq_analysis": "core_frequency",
    "slow_rank": "slow_rank",
    "slow_link": "slow_link",
    "ep_load_balance": "expert_imbalance",
}


class Recipes:
    """The other tool's tables; remembers which of their columns were looked at."""

    def __init__(self, folder):
        self.folder = folder
        self.seen = set()

    def names(self):
        return sorted(name[:-3] for name in os.listdir(self.folder) if name.endswith(".db"))

    def path(self, recipe):
        return os.path.join(self.folder, f"{recipe}.db")

    def rows(self, recipe, table, *columns):
        names, rows = compare_peer.read_table(self.path(recipe), table)
        self.seen |= {f"{table}.{name}" for name in columns or names}
        return rows

    def unseen(self):
        """Columns that are neither compared nor excused, and excuses for what is compared."""
        left, excused = [], set()
        for recipe in self.names():
            for table in compare_peer.tables_of(self.path(recipe)):
                for name in compare_peer.read_table(self.path(recipe), table)[0]:
                    key = f"{table}.{name}"
                    reasons = {key, table} & set(NOT_COMPARED)
                    excused |= reasons if key not in self.seen else set()
                    if key not in self.seen and not reasons:
                        left.append(f"{recipe}: {key}")
        return left, sorted(set(NOT_COMPARED) - excused)


class Ours:
    """One run of the program."""

    def __init__(self, failslow, capture, *options):
        with tempfile.TemporaryDirectory() as output:
            subprocess.run([failslow, "profile", "-q", capture, "-o", output, *options,
                            "--export", "msprof-analyze"], check=True)
            self.document = compare_peer.read_json(glob.glob(os.path.join(output, "failslow_*.json"))[0])
            exported = os.path.join(output, "cluster_analysis_output")
            self.database = os.path.join(tempfile.mkdtemp(), "cluster_analysis.db")
            shutil.copy(os.path.join(exported, "cluster_analysis.db"), self.database)
        self.ops = [row for row in compare_peer.read_table(
            self.database, "ClusterCommunicationTime")[1] if row["hccl_op_name"] != "Total Op Info"]

    def close(self):
        shutil.rmtree(os.path.dirname(self.database))

    def finding(self, code):
        found = [finding for finding in self.document["findings"] if finding["code"] == code]
        return found[0] if found else None


def near(to, where, ours, theirs, absolute):
    """For what we print with fewer digits: equal to half of the last one."""
    to.n_numbers += 1
    if abs(ours - theirs) > absolute:
        to.miss(where, ours, theirs)


def exported_tables(to, ours, recipes):
    for recipe in EXPORTED:
        for table in compare_peer.tables_of(recipes.path(recipe)):
            recipes.rows(recipe, table)
            compare_peer.compare_table(to, table, ours.database, recipes.path(recipe), OURS_RIGHT)


def cluster_time_summary(to, ours, recipes):
    """Parts of the steps, and communication cut into the shortest of each operator and the rest.

    The other tool calls the rest a wait for the last rank, though six of the eight were not
    captured, and finds 3.5 ms. We tell no such split for a group that is not whole, but that all
    captured ranks wait: `cause_outside`.
    """
    rows = recipes.rows(
        "cluster_time_summary", "ClusterTimeSummary", "rank", "step", "computation",
        "communicationNotOverlapComputation", "communicationOverlapComputation", "communication",
        "free", "memoryNotOverlapComputationCommunication", "communicationWaitStageTime",
        "communicationTransmitStageTime")
    steps = {(step["rank"], step["step"], step["source"]): step
             for step in ours.document["capture"]["steps"]}
    shortest = {}
    for op in ours.ops:
        key = (op["group_name"], op["hccl_op_name"], op["step"])
        shortest[key] = min(shortest.get(key, op["elapsed_time"]), op["elapsed_time"])
    for row in rows:
        for source in ("step_trace_time", "kernel_details"):
            where = f"cluster_time_summary rank {row['rank']} {source} "
            step = steps[row["rank"], row["step"], source]
            for own, other in (("computingMs", row["computation"]),
                               ("exposedMs", row["communicationNotOverlapComputation"]),
                               ("overlappedMs", row["communicationOverlapComputation"]),
                               ("communicationMs", row["communication"]),
                               ("freeMs", row["free"] +
                                row["memoryNotOverlapComputationCommunication"])):
                to.numbers(where + own, step[own] * 1e3, other)
        transmit = sum(shortest.values())
        whole = sum(op["elapsed_time"] for op in ours.ops if op["rank_id"] == row["rank"])
        to.numbers("transmit", transmit * 1e3, row["communicationTransmitStageTime"])
        # Small differences of large times: whole ns there.
        near(to, "wait", (whole - transmit) * 1e3, row["communicationWaitStageTime"],
             1e-3 * len(ours.ops))
    to.values("communication_split", "waitMs" in ours.finding("communication_split")["facts"], False)
    to.values("cause_outside", ours.finding("cause_outside")["facts"]["membersCount"], 8)


def describe(to, where, durations_ns, row):
    """The other tool's describe(): standard deviation of a sample, quartiles between neighbours."""
    ordered = sorted(durations_ns)
    quartiles = statistics.quantiles(ordered, n=4, method="inclusive")
    for own, other in ((len(ordered), "Count"), (statistics.fmean(ordered), "MeanNs"),
                       (ordered[0], "MinNs"), (quartiles[0], "Q1Ns"), (quartiles[1], "MedianNs"),
                       (quartiles[2], "Q3Ns"), (ordered[-1], "MaxNs"), (sum(ordered), "SumNs")):
        to.numbers(f"{where} {other}", own, row[other])
    # Whole ns there, fractions here: that is more than 1e-6 of a small spread.
    near(to, f"{where} StdNs", statistics.stdev(ordered), row["StdNs"], 1.0)


def durations(ours, matches):
    return [op["elapsed_time"] * 1e6 for op in ours.ops if matches(op)]


def group_hash(text):
    """Decimal number of a group behind "@", of the group's id."""
    high = low = 0
    for character in text.encode():
        high = (high * 29 + character) % 2 ** 32
        low = (low * 131 + character) % 2 ** 32
    return str(high << 32 | low)


def hccl_sum(to, ours, recipes):
    def type_of(op):
        return op["hccl_op_name"].split("__")[0] + "_"
    for row in recipes.rows("hccl_sum", "HcclAllRankStats"):
        describe(to, "all ranks",
                 durations(ours, lambda op, row=row: type_of(op) == row["OpType"]), row)
    for row in recipes.rows("hccl_sum", "HcclPerRankStats"):
        describe(to, f"rank {row['Rank']}", durations(
            ours, lambda op, row=row: type_of(op) == row["OpType"] and
            op["rank_id"] == row["Rank"]), row)
    for row in recipes.rows("hccl_sum", "HcclTopOpStats"):
        members = [op for op in ours.ops if op["hccl_op_name"] == row["OpName"]]
        describe(to, row["OpName"], [op["elapsed_time"] * 1e6 for op in members], row)
        members.sort(key=lambda op: op["elapsed_time"])
        to.values(f"{row['OpName']} ranks", [members[0]["rank_id"], members[-1]["rank_id"]],
                  [row["MinRank"], row["MaxRank"]])
    groups = {group["hash"]: group for group in ours.document["capture"]["groups"]}
    for row in recipes.rows("hccl_sum", "HcclGroupNameMap"):
        number = group_hash(row["GroupName"])
        to.values("group", number[-3:], row["GroupId"])
        to.values("members", ";".join(map(str, groups[number]["ranks"])), row["Ranks"])


def communication_bottleneck(to, ours, recipes):
    """Rank 0's longest operators; all end with "no slow NPU", and here nobody is named either."""
    rows = recipes.rows("communication_bottleneck", "CommunicationBottleneck")
    longest = sorted((op for op in ours.ops if op["rank_id"] == 0),
                     key=lambda op: -op["elapsed_time"])
    for row, op in zip(rows, longest, strict=True):
        begin, elapsed = op["start_timestamp"], op["elapsed_time"] * 1e3
        to.values("operator", op["hccl_op_name"], row["communicationOp"])
        to.numbers("duration", elapsed, row["duration(us)"])
        # The profiler's two databases put the same operator 13 us apart; we take the first.
        near(to, "begin", begin, float(row["startTime(us)"]), 14)
        near(to, "end", begin + elapsed, float(row["endTime(us)"]), 14)
        to.values("slow rank", [row["slowRankId"], row["fastRankId"]], [None, None])
        to.values("reason", "No slow NPU detected" in row["reason"], True)
    to.values("culprits", ours.document["culprits"], [])


def compute_op_sum(to, ours, recipes):
    rows = recipes.rows("compute_op_sum", "ComputeOpAllRankStats", "OpType", "SumNs")
    finding = ours.finding("top_operators")
    n_ranks = ours.document["job"]["ranks"]
    sums = {}
    for row in rows:
        sums[row["OpType"]] = sums.get(row["OpType"], 0) + row["SumNs"]
    whole = sum(sums.values())
    top = sorted(sums.items(), key=lambda item: -item[1])[:5]
    near(to, "kernelsMs", finding["facts"]["kernelsMs"], whole / n_ranks / 1e6, 5.001e-4)
    for place, (name, total) in zip(("first", "second", "third", "fourth", "fifth"), top):
        near(to, f"{place}Share", finding["facts"][f"{place}Share"], total / whole, 5.001e-5)
        to.values(name, f" {name} " in finding["what"], True)


def cann_api_sum(to, ours_of_rank, recipes):
    """What the host did, of each rank alone; all of these calls are of one level."""
    rows = recipes.rows("cann_api_sum", "CannApiSumRank", "rank", "name", "totalTimeNs")
    patterns = {"hostSynchroniseMs": "ynchronize", "hostCompileMs": "^opCompile",
                "hostAllocateMs": "Malloc"}
    for rank, ours in ours_of_rank.items():
        facts = ours.finding("host_bound")["facts"]
        for fact, pattern in patterns.items():
            total = sum(row["totalTimeNs"] for row in rows
                        if row["rank"] == rank and re.search(pattern, row["name"]))
            near(to, f"rank {rank} {fact}", facts[fact], total / 1e6, 5.001e-4)


def free_analysis(to, ours_of_rank, recipes):
    rows = recipes.rows("free_analysis", "FreeAnalysis", "rankId", "duration(us)")
    for rank, ours in ours_of_rank.items():
        longest = max(row["duration(us)"] for row in rows if row["rankId"] == rank)
        told = re.search(r"the longest gap (\S+) ms", ours.finding("host_bound")["what"])
        near(to, f"rank {rank} longest gap", float(told.group(1)), longest / 1e3, 5.001e-3)


def silent(to, ours, recipes):
    for recipe, code in SILENT.items():
        to.values(recipe, [recipe in recipes.names(),
                           [finding["code"] for finding in ours.document["findings"]
                            if finding["code"].startswith(code)]], [False, []])


def slow_rank_on_text(to, failslow, data):
    """Shortest and longest of each collective, and whose the shortest is, of the text captures."""
    path = os.path.join(data, "expected", "slow_rank-core-on-text.txt")
    row = re.compile(r"(\d{6,})?\s*(hcom_\w+)\s+(\d+)\s+(\(.*\))\s+(\d+)\s+(\d+)\s+(\d+)$")
    expected, capture, group = {}, None, None
    with open(path, encoding="utf-8") as stream:
        for line in map(str.rstrip, stream):
            match = row.match(line)
            if line.startswith("insight-"):
                capture = line.split()[0]
            elif match:
                group = match[1] or group
                expected.setdefault(capture, []).append((group, *match.groups()[1:]))
    to.values("captures", sorted(expected), ["insight-2rank-text/level1", "insight-4rank-level2"])
    for capture, rows in expected.items():
        ours = Ours(failslow, os.path.join(data, capture))
        for group, name, count, _, least, greatest, first in rows:
            ops = sorted((op["elapsed_time"] * 1e6, op["rank_id"]) for op in ours.ops
                         if (op["group_name"], op["hccl_op_name"]) == (group, name))
            where = f"{capture} {name}"
            to.values(f"{where} ranks", len(ops), int(count))
            # Whole ns there.
            near(to, f"{where} least", ops[0][0], int(least), 1.0)
            near(to, f"{where} greatest", ops[-1][0], int(greatest), 1.0)
            to.values(f"{where} first", ops[0][1], int(first))
        ours.close()


def export_summary(to, failslow, capture, ours, recipes):
    """Its two files, which it writes into the capture, are no files of the profiler.

    Begins have lost digits, and its api_statistic.csv counts the tasks behind a launch as the
    launch (500 of 287 ms, where cann_api_sum has 191 of 3.7 ms). The databases beside them are
    read, and nothing changes.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "capture")
        shutil.copytree(capture, copy, copy_function=shutil.copyfile)
        for root, _, _ in os.walk(copy):
            os.chmod(root, 0o755)
        written = os.path.join(recipes.folder, "export_summary")
        for name in sorted(os.listdir(written)):
            for file in os.listdir(os.path.join(written, name)):
                shutil.copyfile(os.path.join(written, name, file), os.path.join(
                    copy, f"{name}_ascend_pt", "ASCEND_PROFILER_OUTPUT", file))
        with_them = Ours(failslow, copy)
        refused = [file for file in with_them.document["capture"]["files"] if file["state"] == "unusable"]
        to.values("files that are not read", len(refused), 4)
        for key in ("verdict", "culprits", "findings"):
            to.values(f"with export_summary: {key}", with_them.document[key], ours.document[key])
        for key in ("steps", "groups", "missing"):
            to.values(f"with export_summary: {key}", with_them.document["capture"][key], ours.document["capture"][key])
        with_them.close()


def told(to, name, before):
    print(f"{name}: {to.n_numbers - before[0]} numbers, {len(to.misses) - before[1]} misses")
    for miss in to.misses[before[1]:before[1] + compare_peer.MISSES_SHOWN]:
        print(f"  {miss}")


def check(failslow, data):
    to = compare_peer.Comparison()
    capture = os.path.join(data, CAPTURE)
    recipes = Recipes(os.path.join(data, RECIPES))
    ours = Ours(failslow, capture)
    ours_of_rank = {rank: Ours(failslow, capture, "--ranks", str(rank)) for rank in (0, 1)}
    checks = {
        "exported tables": lambda: exported_tables(to, ours, recipes),
        "cluster_time_summary": lambda: cluster_time_summary(to, ours, recipes),
        "hccl_sum": lambda: hccl_sum(to, ours, recipes),
        "communication_bottleneck": lambda: communication_bottleneck(to, ours, recipes),
        "compute_op_sum": lambda: compute_op_sum(to, ours, recipes),
        "cann_api_sum": lambda: cann_api_sum(to, ours_of_rank, recipes),
        "free_analysis": lambda: free_analysis(to, ours_of_rank, recipes),
        "recipes that are silent": lambda: silent(to, ours, recipes),
        "slow_rank on text": lambda: slow_rank_on_text(to, failslow, data),
        "export_summary": lambda: export_summary(to, failslow, capture, ours, recipes),
    }
    for name, run in checks.items():
        before = (to.n_numbers, len(to.misses))
        run()
        told(to, name, before)
    for run in (ours, *ours_of_rank.values()):
        run.close()
    left, useless = recipes.unseen()
    print(f"greatest difference {to.greatest:.1e}; not compared: {json.dumps(left)}, "
          f"excuses without use: {json.dumps(useless)}")
    return not to.misses and not left and not useless


def main():
    failslow, shared = sys.argv[1:3]
    data = os.path.join(os.environ.get("FSL_SHARED_DIR") or shared, "data", "ascend")
    if not os.path.isdir(os.path.join(data, RECIPES)):
        print(f"no reference data: {data}")
        return 77
    return 0 if check(failslow, data) else 1


if __name__ == "__main__":
    sys.exit(main())
