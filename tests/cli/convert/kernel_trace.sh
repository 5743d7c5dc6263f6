# A trace without its clock, alone; one in a form that is not read: refused if it is named, else told.
mkdir job
{
	echo '  a-7  [000] d..2.  1.000100: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=R ==> next_comm=b next_pid=8 next_prio=120'
	echo '  b-8  [000] d..2.  1.000350: sched_switch: prev_comm=b prev_pid=8 prev_prio=120 prev_state=S ==> next_comm=a next_pid=7 next_prio=120'
} >job/trace.txt
"$FAILSLOW" convert job -o job.json
grep -o '"thread_name".*' job.json
"$FAILSLOW" convert job -o job.json --cpus 1
grep -c 'CPU 0' job.json || true
head -c 64 /dev/zero | sed 's/^/PERFILE2/' >job/perf.data
"$FAILSLOW" convert job -o job.json --quiet
"$FAILSLOW" convert job/perf.data -o job.json 2>&1 || echo "exit code $?"
LC_ALL=zh_CN.UTF-8 "$FAILSLOW" convert --input job/trace.txt --output job.json --no-verdict
