# A rank that left a timeline and no markers can be the one that stopped first: nothing compares its operators.
cp -r "$DATASETS/faults/clean/." .
rm mspti/hccl_activity-*.0.csv.gz
head -c 9000 "$DATASETS/faults/clean/timeline/host0--00000.timeline" > timeline/host0--00000.timeline
"$FAILSLOW" --config model_config.json --now 1750009000
