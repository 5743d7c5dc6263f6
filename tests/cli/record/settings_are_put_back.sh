# A kernel without instances: its only buffer is used, and is as before at the end, but for the clock, which the kernel
# shows in brackets among all of them. The line that is cut is left out.
. "$CASES/record/tracefs.bash"
make_tracefs tracefs
settings tracefs >before
export FAILSLOW_TRACEFS=$PWD/tracefs
"$FAILSLOW" record --cpu 0,2 --record_time=0.1 --keep-free 0 --output trace.dat | sed 's/for [0-9.]* s/for T s/'
settings tracefs | diff before - || true
cat trace.txt
ls
python3 -c '
import json
facts = json.load(open("trace.clocks.json"))
clocks = ["CLOCK_" + name for name in ("REALTIME", "MONOTONIC", "MONOTONIC_RAW", "BOOTTIME", "TAI")]
print([facts["end"][c] - facts[c] >= 10**8 for c in clocks], facts["trace_clock"], facts["cpus"], facts["lost_events"])
pids = json.load(open("trace.pid_mapping.json"))
print(sorted(set(key for row in pids.values() for key in row)), len(pids) > 0)'
