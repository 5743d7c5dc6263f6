# The run goes on after alarm_timeout_s, and what was not told waits.
"$FAILSLOW" simulate job tp=4 dp=2 steps=60 fault="compute ranks=2 factor=1.5" >/dev/null
printf '#!/bin/sh\nsleep 100\n' >hook
chmod +x hook
echo '{"root_path": "job", "slow_node_detection_path": "out", "fail_slow_perception_path": "out",
	"command_hook": ["./hook"], "alarm_timeout_s": 0.3}' >model_config.json
"$FAILSLOW" detect --config model_config.json --now 1750000100 --quiet --exit-code=state 2>&1
