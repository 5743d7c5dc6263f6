# A folder in the place of the result: nothing of it is changed, and no other file stays.
mkdir -p results/failslow_slow_rank.json/kept
"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --quiet --output results || code=$?
find results | sort
exit "$code"
