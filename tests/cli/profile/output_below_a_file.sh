# The result is told although it cannot be stored.
echo > taken
"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --output taken/results
