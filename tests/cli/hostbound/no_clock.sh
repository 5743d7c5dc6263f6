# Without clocks the steps of the job cannot be carried to the trace.
python3 "$CASES/hostbound/traces.py" job markers hog=12-23
rm job/ftrace/sched.clocks.json
"$FAILSLOW" hostbound job
