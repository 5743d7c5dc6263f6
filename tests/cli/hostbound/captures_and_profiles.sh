# Steps come from traces of PyTorch's profiler, the clock from the profile of the trace's host; a trace that does not tell
# which of two hosts it is of has none; a wrong clock is told.
python3 "$CASES/hostbound/traces.py" job kineto hog=12-23
"$FAILSLOW" hostbound job
mkdir job/ftrace/node7
mv job/ftrace/sched.txt job/ftrace/node7
"$FAILSLOW" hostbound job
python3 "$CASES/hostbound/traces.py" wrong kineto hog=12-23 shift=-7000000
mv wrong/ftrace/sched.txt wrong/ftrace/node7.sched.txt
"$FAILSLOW" hostbound wrong
# A capture whose rank is late by its host names the process, also if the rank waits in nearly all of its steps.
python3 "$CASES/hostbound/traces.py" late kineto hog=2-23
mv late/ftrace/sched.txt late/ftrace/node7.sched.txt
"$FAILSLOW" late | grep -A 1 -E '^  (host|next)'
"$FAILSLOW" wrong | grep -A 1 -E '^  (host|next)'
