mkdir empty
"$FAILSLOW" convert empty -o job.json
