"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --long
