# The file has whole lines up to where the disk, here the limit of a file, was full. No summary would be a loss: the
# recording tells it, and ends with 3.
. "$CASES/record/tracefs.bash"
make_tracefs tracefs
export FAILSLOW_TRACEFS=$PWD/tracefs
for i in $(seq 1000 2999); do echo "  a-7  [000] d..2.  1.00$i: sched_waking: comm=b pid=8 prio=120 target_cpu=000"; done >tracefs/trace_pipe
(ulimit -f 100 && "$FAILSLOW" record --cpu 0 --record-time 0.1 --keep-free 0 --output trace.txt 2>told) | sed 's/for [0-9.]* s/for T s/' || true
cat told
wc -l <trace.txt
tail -n 1 trace.txt
