# Markers of the job tell ranks and steps; saved clocks carry them to the clock of the trace.
python3 "$CASES/hostbound/traces.py" job markers hog=12-23
"$FAILSLOW" hostbound job
echo
"$FAILSLOW" hostbound job/ftrace/sched.txt --markers job --long
