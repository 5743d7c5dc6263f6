"$FAILSLOW" convert "$DATASETS/faults/slow_rank" --from 2025-06-15T15:07:00Z --to 2025-06-15T15:07:05Z -o job.json
"$FAILSLOW" convert "$DATASETS/faults/slow_rank" --from 2025-06-15T15:07:00Z --to 2025-06-15T15:07:09Z -o job.json
