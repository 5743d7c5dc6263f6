# Steps alone show a normal job, unless much time lies between them.
line=' [2025-06-15 %s] iteration %d/ 900 | elapsed time per iteration (ms): %d.0 | lr: 1'
write_steps() {
	for i in $(seq 1 50); do
		printf "$line\\n" "$(date -u -d "@$((1749945600 + 10 * i + (i > 25 ? $1 : 0)))" +%T)" "$i" 10000
	done
}
write_steps 0 >healthy.log
write_steps 7200 >stood.log
"$FAILSLOW" detect healthy.log
"$FAILSLOW" detect stood.log --format line
