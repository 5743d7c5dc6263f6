# An anomaly is an exit code once: cron must not page somebody for the same culprit every ten minutes.
cp -r "$DATASETS/faults/slow_rank/." .
for second in 1750000066 1750000666 1750001866; do
	code=0
	"$FAILSLOW" detect --config model_config.json --now $second --quiet --exit-code || code=$?
	echo "exit code $code"
done
