"$FAILSLOW" convert "$DATASETS/profile/slow_rank" -o job.json --from 2026-05-28T20:26:40Z
