"$FAILSLOW" convert "$DATASETS/faults/slow_rank" -o job.folded
