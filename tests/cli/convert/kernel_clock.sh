# The clock of a kernel trace is told with its CPUs: right, not known, and 7 ms wrong.
show() {
	"$FAILSLOW" convert job -o job.json --quiet "$@"
	grep -o '"labels":"clock[^"]*"' job.json
}
python3 "$CASES/hostbound/traces.py" job markers hog=12-23
show
show --no-verdict
rm job/ftrace/sched.clocks.json
show --no-verdict
rm -r job
python3 "$CASES/hostbound/traces.py" job markers hog=12-23 shift=7000000
show
