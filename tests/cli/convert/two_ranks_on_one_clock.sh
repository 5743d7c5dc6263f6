"$FAILSLOW" convert "$DATASETS/faults/slow_rank" --ranks 3,7 --clock-align -o job.json.gz
gzip -dc job.json.gz | grep '"process_name"'
