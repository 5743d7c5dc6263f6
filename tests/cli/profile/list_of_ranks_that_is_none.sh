"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --ranks 1-x
