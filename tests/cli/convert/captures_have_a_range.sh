for to in 2026-05-28T20:26:40.1Z 2026-05-28T20:26:40.4Z; do
	"$FAILSLOW" convert "$DATASETS/profile/slow_rank" -o job.json --from 2026-05-28T20:26:40.05Z --to $to
done
