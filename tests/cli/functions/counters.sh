# Counters tell link and throughput of collectives, and how busy cores are; the link of rank 3 is half as fast.
python3 "$CASES/functions/traces.py" traces counters=3 kernels=3
"$FAILSLOW" functions traces --format json | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(answer["unknown"])
for name, kernel in answer["gpuCompute"]["majorKernels"].items():
    print(name, kernel["averageCoresPercent"])
for group, kernels in answer["communication"].items():
    for name, kernel in kernels.items():
        print(group, kernel["link"])
        for worker in [kernel["normalWorker"], *kernel["abnormalWorkers"]]:
            print(worker["worker"], worker["averageThroughputPercent"], worker["throughputStdPercent"])'
"$FAILSLOW" functions traces --class nvlink --long
