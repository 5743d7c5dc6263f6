# An entry for Hang that says nothing of the threshold leaves hang_times_mins_thr in force.
cp -r "$DATASETS/faults/slow_rank/." .
for entry in '' '"Hang": {"enabled": true}' '"Hang": {"threshold_mins": 20}' '"Hang": {"enabled": false}'; do
	sed "s/\"hang_times_mins_thr\": 30/\"hang_times_mins_thr\": 5, \"detectors\": {$entry}/" model_config.json > model.json
	"$FAILSLOW" detect --config model.json --now 1750000666 --format json > verdict.json
	echo "$entry: $(grep -o '"isHanging": [a-z]*' verdict.json)"
done
