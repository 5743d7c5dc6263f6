"$FAILSLOW" convert "$DATASETS/profile/slow_rank" "$DATASETS/faults/clean" -o job.json
