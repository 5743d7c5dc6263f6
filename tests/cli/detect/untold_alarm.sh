# An alarm whose verdict could not be written is raised again: nobody has seen it.
cp -r "$DATASETS/faults/slow_rank/." .
touch in-the-way
sed 's/"fail_slow_perception_path": "out"/"fail_slow_perception_path": "in-the-way"/' model_config.json >blocked.json
for config in blocked.json model_config.json model_config.json; do
	code=0
	"$FAILSLOW" detect --config $config --now 1750000066 --quiet --quiet --exit-code 2>errors || code=$?
	echo "exit code $code"
done
