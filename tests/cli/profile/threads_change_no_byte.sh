for jobs in 1 2 7; do
	"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --format json --jobs "$jobs" > "$jobs.json"
	cmp 1.json "$jobs.json"
done
