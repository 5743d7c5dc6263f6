"$FAILSLOW" convert "$DATASETS/faults/slow_rank"
