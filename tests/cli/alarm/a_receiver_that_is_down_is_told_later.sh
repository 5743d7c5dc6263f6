# The hook fails four times; the begin comes before the end, and each once.
"$FAILSLOW" simulate slow tp=4 dp=2 steps=60 fault="compute ranks=2 factor=1.5" >/dev/null
"$FAILSLOW" simulate well tp=4 dp=2 steps=60 >/dev/null
cat >hook <<'HOOK'
#!/bin/sh
echo x >>tries
[ "$(wc -l <tries)" -gt 4 ] && echo "$FAILSLOW_EDGE $FAILSLOW_RANKS" >>told
HOOK
chmod +x hook
echo '{"root_path": "job", "slow_node_detection_path": "out", "fail_slow_perception_path": "out",
	"hang_times_mins_thr": 10000, "command_hook": ["./hook"]}' >model_config.json
look() {
	"$FAILSLOW" detect --config model_config.json --now "$((1750000100 + 600 * $1))" --quiet 2>&1
}
mv slow job
look 1
look 2
mv job slow
mv well job
for i in 3 4 5 6; do look "$i"; done
cat told
