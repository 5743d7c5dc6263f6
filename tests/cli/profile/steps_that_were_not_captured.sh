"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --steps 990-999
