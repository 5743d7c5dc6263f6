"$FAILSLOW" convert "$DATASETS/faults/slow_rank" -o job.json --from 1750000010 --to 1750000000
