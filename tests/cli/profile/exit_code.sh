"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --quiet --exit-code
