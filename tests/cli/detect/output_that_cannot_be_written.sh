# Who wrote --output is not told to change a key that it replaced.
"$FAILSLOW" simulate job tp=2 dp=1 steps=20 >/dev/null
now=1750000080768400583
echo >taken
"$FAILSLOW" detect job --now $now --quiet --output taken || echo "exit code $?"
(
	ulimit -f 0
	"$FAILSLOW" detect job --now $now --quiet --output results || echo "exit code $?"
)
echo '{"fail_slow_perception_path": "taken", "slow_node_detection_path": "results"}' >model_config.json
"$FAILSLOW" detect job --config model_config.json --now $now --quiet || echo "exit code $?"
