# Who wrote --output is not told to change state_path, which it replaced.
"$FAILSLOW" simulate job tp=4 dp=1 steps=60 fault="compute ranks=1 factor=1.5" >/dev/null
mkdir -p results/failslow_state.db
"$FAILSLOW" detect job --now 1750000300000000000 --quiet --output results 2>&1
echo '{"slow_node_detection_path": "others", "fail_slow_perception_path": "others", "state_path": "results"}' >model_config.json
"$FAILSLOW" detect job --now 1750000300000000000 --quiet --config model_config.json 2>&1
