# A regular expression in the configuration makes a form known.
for i in $(seq 1 40); do
	echo "turn $i of 40: loss 3.2, needed $((i < 21 ? 800 + i % 3 : 1200 + i % 3)) msec"
done >own.log
cat >model_config.json <<'EOF'
{"root_path": "own.log", "slow_node_detection_path": "out", "fail_slow_perception_path": "out",
 "log_patterns": ["^turn (?<step>[0-9]+) of (?<total>[0-9]+): .*needed (?<time>[0-9.]+) (?<unit>ms)"]}
EOF
"$FAILSLOW" detect --config model_config.json --format line
