# Makes a folder with the files of a tracefs without instances, as the kernel has them before anybody traces.
make_tracefs() {
	local root=$1 event option cpu
	mkdir -p "$root"/options
	for event in sched/{sched_switch,sched_wakeup,sched_wakeup_new,sched_waking,sched_migrate_task} \
		sched/{sched_process_fork,sched_process_exec,sched_process_exit,sched_stat_runtime} \
		irq/{irq_handler_entry,irq_handler_exit,softirq_entry,softirq_exit}; do
		mkdir -p "$root/events/$event"
		echo 0 >"$root/events/$event/enable"
	done
	for option in context-info=1 irq-info=1 overwrite=1 latency-format=1 raw=0 event-fork=0; do
		echo "${option#*=}" >"$root/options/${option%=*}"
	done
	for cpu in 0 1 2; do
		mkdir -p "$root/per_cpu/cpu$cpu"
		echo 1408 >"$root/per_cpu/cpu$cpu/buffer_size_kb"
		printf 'entries: 0\noverrun: %s\ncommit overrun: 0\ndropped events: 0\nread events: 9\n' $((cpu * 5)) \
			>"$root/per_cpu/cpu$cpu/stats"
	done
	echo 1408 >"$root/buffer_size_kb"
	echo '[local] global mono mono_raw boot tai' >"$root/trace_clock"
	echo 7 >"$root/tracing_cpumask"
	echo 1 >"$root/tracing_on"
	echo nop >"$root/current_tracer"
	: >"$root/set_event"
	: >"$root/set_event_pid"
	printf '# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:3\n#\n#  TASK-PID  CPU#  TIMESTAMP  FUNCTION\n' \
		>"$root/trace"
	printf '  a-7  [000] d..2.  1.000001: sched_waking: comm=b pid=8 prio=120 target_cpu=000\n  a-7  [000] d..2.  1.00' \
		>"$root/trace_pipe"
}
# The settings as text: files that hold more than a number are one line each.
settings() { (cd "$1" && find . -name '*.txt' -prune -o -name '*.json' -prune -o -type f -print | sort | xargs grep -H '' ); }
# The kernel shows all clocks, a folder keeps the last word that was written.
show_clock() { echo '[local] global mono mono_raw boot tai' >"$1/trace_clock"; }
