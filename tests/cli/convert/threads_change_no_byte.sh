"$FAILSLOW" convert "$DATASETS/faults/slow_rank" -q -j 1 -o one.json
"$FAILSLOW" convert "$DATASETS/faults/slow_rank" -q -j 3 -o three.json
cmp one.json three.json
