"$FAILSLOW" convert "$DATASETS/faults/slow_rank" --no-verdict -o job.json
