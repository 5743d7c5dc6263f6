# Threads share the only descriptor that is left, and the verdict is the whole one.
for jobs in 1 7; do
	(
		ulimit -n 4
		exec "$FAILSLOW" profile "$DATASETS/profile/slow_rank" --jobs "$jobs" --format line
	)
done
