# Markers of the job tell ranks and steps; saved clocks carry them to the clock of the trace.
python3 "$CASES/hostbound/traces.py" job markers hog=12-23
"$FAILSLOW" hostbound job
echo
"$FAILSLOW" hostbound job/ftrace/sched.txt --markers job --long
# A second host has ranks with the same processes: they are nobody's until the path of the trace tells the host.
echo
cp job/hccl_activity-10.0.0.1-.0.csv job/hccl_activity-10.0.0.2-.2.csv
cp job/hccl_activity-10.0.0.1-.1.csv job/hccl_activity-10.0.0.2-.3.csv
"$FAILSLOW" hostbound job
echo
mv job/ftrace job/10.0.0.2
"$FAILSLOW" hostbound job
