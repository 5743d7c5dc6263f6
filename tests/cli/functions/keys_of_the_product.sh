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
    ("Python: average is the mean of the ratios",
     all(abs(item["averageRatio"] - sum(item["ratios"].values()) / 8) < 1e-8 for item in python.values())),
    ("Python: ratio by worker", all(ratios(item["ratios"]) and len(item["ratios"]) == 8 for item in python.values())),
]
for name, holds in checks:
    print("ok" if holds else "MISSING", name)
END
# The golden of each section has the keys of the report, and no others but those that functions.md tells.
python3 - "$CASES" << 'END'
import json
import pathlib
import sys

cases = pathlib.Path(sys.argv[1])
told = (cases / "../../docs/users/functions.md").read_text()
SPREAD = {"meanUs", "spreadUs", "count"}
FUNCTION = ({"averageRatio", "abnormalWorkers"}, {"averageTimeRatio", "systemCallRatio", "workers"})
FEATURES = ({"differentFromOtherWorkers", "ratio", "averageThroughputPercent", "throughputStdPercent"},
            {"worker"} | SPREAD)
# Of each section: path to the objects, keys of the report, additions.
TABLE = [
    ("compute", "gpuCompute",
     {"utilization", "abnormalUtilization", "majorKernels", "workersWithPotentialIssues", "detailedReport"}, set()),
    ("compute", "gpuCompute/utilization", {"min", "median", "max"}, set()),
    ("compute", "gpuCompute/majorKernels/*", {"medianCostUs", "bottleneckRatio"},
     {"name", "shape", "averageCoresPercent", "flops", "bytes", "abnormalWorkers", "workers"}),
    ("compute", "gpuCompute/detailedReport/*/*", {"kernel", "slowRatio"},
     {"meanUs", "peersMeanUs", "bottleneckRatio", "peersBottleneckRatio"}),
    ("memory", "gpuMemory/*", *FUNCTION),
    ("communication", "communication/*/*", {"normalWorker", "abnormalWorkers"}, {"averageRatio", "link", "workers"}),
    ("communication", "communication/*/*/normalWorker", *FEATURES),
    ("communication", "communication/*/*/abnormalWorkers/*", *FEATURES),
    ("runtime", "cudaRuntime/*", FUNCTION[0] | {"averageTimeRatio"}, FUNCTION[1] - {"averageTimeRatio"}),
    ("python", "python/*", {"ratios"}, FUNCTION[0] | FUNCTION[1]),
]


def objects(document, path):
    found = [document]
    for part in path.split("/"):
        inner = [item if part == "*" else [item[part]] for item in found]
        found = [value for item in inner for value in (item.values() if isinstance(item, dict) else item)]
    return found


for section, path, product, additions in TABLE:
    golden = json.loads((cases / ("functions/section_%s.stdout.exact" % section)).read_text())
    found = objects(golden, path)
    lacking = [key for item in found for key in product - set(item)]
    others = {key for item in found for key in set(item) - product}
    untold = [key for key in others if key not in additions or "`%s`" % key not in told]
    print(path, len(found), "ok" if found and not lacking and not untold else "WRONG %s %s" % (lacking, untold))
falls = all(values == sorted(values, reverse=True) and values[-1] > 0.01 for values in (
    [item["averageRatio"] for item in golden_section.values() if not item["abnormalWorkers"]] or [1]
    for section, key in (("memory", "gpuMemory"), ("runtime", "cudaRuntime"), ("python", "python"))
    for golden_section in [json.loads((cases / ("functions/section_%s.stdout.exact" % section)).read_text())[key]]))
print("over 1 % and falling" if falls else "WRONG order")
END
