# Twelve runs over one slow rank tell its begin once; runs over the mended job tell its end once.
"$FAILSLOW" simulate slow tp=4 dp=2 steps=60 fault="compute ranks=5 factor=1.3" >/dev/null
"$FAILSLOW" simulate well tp=4 dp=2 steps=60 >/dev/null
cat >hook <<'HOOK'
#!/bin/sh
grep -q '"schema": "failslow.edge/1"' && echo "$FAILSLOW_EDGE $FAILSLOW_JOB $FAILSLOW_HOSTS rank $FAILSLOW_RANKS, $FAILSLOW_CAUSE, $FAILSLOW_SEVERITY" >>told
HOOK
chmod +x hook
echo '{"root_path": "job", "slow_node_detection_path": "out", "fail_slow_perception_path": "out",
	"hang_times_mins_thr": 10000, "textfile_path": "metrics", "command_hook": ["./hook"]}' >model_config.json
mkdir metrics
look() {
	"$FAILSLOW" detect --config model_config.json --now "$((1750000100 + 600 * $1))" --quiet
}
mv slow job
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do look "$i"; done
cat told
grep -E 'culprit|incidents_open' metrics/failslow_job.prom
mv job slow
mv well job
for i in 13 14 15 16; do look "$i"; done
cat told
grep -cE 'culprit' metrics/failslow_job.prom || true
"$FAILSLOW" history --config model_config.json
