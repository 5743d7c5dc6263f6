# 300 threads run one after the other on one of 250 CPUs: the longest 256 are shown, and 240 CPUs.
mkdir host
awk 'BEGIN {
	form = "  t%d-%d  [%03d] d..2.  1.%06d: sched_switch: prev_comm=t%d prev_pid=%d prev_prio=120 prev_state=S ==> next_comm=t%d next_pid=%d next_prio=120\n"
	for (i = 1; i < 300; i++) { time += i; printf form, i, i, 0, time, i, i, i + 1, i + 1 }
	for (cpu = 1; cpu < 250; cpu++) { printf form, 300, 300, cpu, time + cpu, 0, 0, 900, 900 }
}' >host/trace.txt
"$FAILSLOW" convert host -o host.json
grep -c '"thread_name","args":{"name":"t' host.json
"$FAILSLOW" convert host -o host.json --cpus 0-9,249 | tail -n 1
