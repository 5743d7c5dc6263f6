# Standard input never ends: the run ends itself, names the file, and leaves neither a verdict nor a lock.
mkfifo endless
exec 3<> endless
echo '{"max_run_minutes": 0.02, "fail_slow_perception_path": "results", "slow_node_detection_path": "results"}' > config.json
echo '{"max_run_minutes": 0, "fail_slow_perception_path": "results", "slow_node_detection_path": "results"}' > others.json
for form in text logfmt; do
	code=0
	"$FAILSLOW" detect --config config.json --log-format "$form" - < endless 2> messages || code=$?
	echo "exit code $code"
	sed 's/time=[^ ]*/time=TIME/' messages
done
find results -type f -size +0
"$FAILSLOW" detect --config others.json --format line "$DATASETS/faults/slow_rank"
