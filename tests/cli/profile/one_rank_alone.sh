"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --ranks 3 --long
