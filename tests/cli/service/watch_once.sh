# One look of the service: what `detect --config` writes, with its exit code.
cp -r "$DATASETS/faults/slow_rank/." .
"$FAILSLOW" watch --config model_config.json --once
code=0
"$FAILSLOW" watch --once --config absent.json 2> messages || code=$?
echo "exit code $code"
code=0
"$FAILSLOW" watch --config model_config.json --once folder 2>> messages || code=$?
echo "exit code $code"
code=0
"$FAILSLOW" watch --config model_config.json --every -1 2>> messages || code=$?
echo "exit code $code"
cat messages
