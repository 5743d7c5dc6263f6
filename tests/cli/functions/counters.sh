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
# Kineto's own counters: an event a metric with an empty key, events with a key a value, tracks of Perfetto.
for form in cupti keys packets; do
    case $form in
    packets) python3 "$CASES/../kineto/pftrace.py" cupti packets compressed ;;
    *) python3 "$CASES/functions/traces.py" $form $form=2 kernels=2 ranks=4 ;;
    esac
    "$FAILSLOW" functions $form --format json | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(answer["unknown"], answer["remarks"])
for kernel in answer["gpuCompute"]["majorKernels"].values():
    print(kernel["name"][:20], kernel["averageCoresPercent"])
for group, kernels in answer["communication"].items():
    for kernel in kernels.values():
        print(group, [(worker["worker"], worker["averageThroughputPercent"])
                      for worker in [kernel["normalWorker"], *kernel["abnormalWorkers"]]])'
done
