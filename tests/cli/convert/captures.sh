"$FAILSLOW" convert "$DATASETS/profile/slow_rank" -o job.json
"$FAILSLOW" convert "$DATASETS/profile/slow_rank" --ranks 3 -o job.json
