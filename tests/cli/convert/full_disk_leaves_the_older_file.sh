# No room for the file, as on a full disk.
for name in job.json job.db; do
	echo older >$name
	(
		ulimit -f 16
		"$FAILSLOW" convert "$DATASETS/faults/slow_rank" -o $name || echo "exit code $?"
	)
	cat $name
done
ls -A
