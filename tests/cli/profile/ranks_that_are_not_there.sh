"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --ranks 9-11
