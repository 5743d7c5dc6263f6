"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --export msprof-analyze
