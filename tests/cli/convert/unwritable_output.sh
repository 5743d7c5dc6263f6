"$FAILSLOW" convert "$DATASETS/faults/slow_rank" -q -o /proc/job.json
