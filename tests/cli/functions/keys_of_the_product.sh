# Each field of PerfTracker's report has its key, of the right form, in each of the five sections.
python3 "$CASES/functions/traces.py" traces counters=3 kernels=3 calls=5
"$FAILSLOW" functions traces --format json > answer.json
python3 - answer.json << 'END'
import json
import re
import sys

answer = json.load(open(sys.argv[1]))


def ratio(value):
    return isinstance(value, (int, float)) and 0 <= value <= 1


def ratios(value):
    return isinstance(value, dict) and all(rank.isdigit() and ratio(share) for rank, share in value.items())


def number(value):
    return isinstance(value, (int, float))


def falling(items, key):
    values = [item[key] for item in items]
    return values == sorted(values, reverse=True)


compute, kernels = answer["gpuCompute"], answer["gpuCompute"]["majorKernels"]
memory, runtime, python = answer["gpuMemory"], answer["cudaRuntime"], answer["python"]
(group, collectives), = answer["communication"].items()
(collective,) = collectives.values()
features = [collective["normalWorker"], *collective["abnormalWorkers"]]
issues = compute["workersWithPotentialIssues"]
checks = [
    ("GPU compute: min, median, max of the utilisation",
     all(ratio(compute["utilization"][key]) for key in ("min", "median", "max"))),
    ("GPU compute: abnormal utilisation by worker",
     ratios(compute["abnormalUtilization"]) and compute["abnormalUtilization"]),
    ("GPU compute: major kernels by name and shape",
     all(re.search(r"\d+_\d+_\d+\|\d+_\d+_\d+$", key) for key in kernels)),
    ("GPU compute: median cost", all(number(kernel["medianCostUs"]) for kernel in kernels.values())),
    ("GPU compute: bottleneck ratio", all(ratio(kernel["bottleneckRatio"]) for kernel in kernels.values())),
    ("GPU compute: workers with potential issues", issues == [3]),
    ("GPU compute: detailed report", [int(rank) for rank in compute["detailedReport"]] == issues),
    ("GPU memory: average ratio, over 1 %, falling", falling(memory.values(), "averageRatio") and memory),
    ("GPU memory: abnormal workers with their ratio", all(ratios(item["abnormalWorkers"]) for item in memory.values())),
    ("communication: class of link, way and direction", group == "nvlink ring send"),
    ("communication: example of a normal worker", collective["normalWorker"]["worker"] != 3),
    ("communication: peers that differ", all(isinstance(item["differentFromOtherWorkers"], int) for item in features)),
    ("communication: ratio", all(ratio(item["ratio"]) for item in features)),
    ("communication: average throughput", all(0 < item["averageThroughputPercent"] <= 100 for item in features)),
    ("communication: spread of the throughput", all(number(item["throughputStdPercent"]) for item in features)),
    ("communication: abnormal workers", {item["worker"] for item in collective["abnormalWorkers"]} == {3}),
    ("CUDA runtime: average ratio", all(ratio(item["averageRatio"]) for item in runtime.values()) and runtime),
    ("CUDA runtime: average time in the window",
     all(item["averageTimeRatio"] >= item["averageRatio"] for item in runtime.values())),
    ("CUDA runtime: abnormal workers", all(ratios(item["abnormalWorkers"]) for item in runtime.values())),
    ("Python: call path without lines and addresses",
     all(re.match(r"[^()]*: [^|]*(\|[^|]*)*$", key) for key in python) and python),
    ("Python: ratio by worker", all(ratios(item["ratios"]) and len(item["ratios"]) == 8 for item in python.values())),
]
for name, holds in checks:
    print("ok" if holds else "MISSING", name)
END
