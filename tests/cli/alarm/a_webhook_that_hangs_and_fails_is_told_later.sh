# It hangs, answers 500 and comes back: each edge is told once, signed, the begin before the end.
"$FAILSLOW" simulate slow tp=4 dp=2 steps=60 fault="compute ranks=2 factor=1.5" >/dev/null
"$FAILSLOW" simulate well tp=4 dp=2 steps=60 >/dev/null
# Such a build refuses the key: nothing to see.
if "$FAILSLOW" version | grep -q 'libcurl *no'; then exit 77; fi
python3 "$CASES/alarm/webhook.py" port told key &
receiver=$!
trap 'kill $receiver' EXIT
while [ ! -s port ]; do sleep 0.02; done
echo key >secret
echo '{"root_path": "job", "slow_node_detection_path": "out", "fail_slow_perception_path": "out",
	"hang_times_mins_thr": 10000, "webhook_url": "env:HOOK", "webhook_secret_file": "secret",
	"alarm_timeout_s": 1.5}' >model_config.json
HOOK=http://127.0.0.1:$(cat port)/secret-path
export HOOK
look() {
	"$FAILSLOW" detect --config model_config.json --now "$((1750000100 + 600 * $1))" --quiet 2>warned
	if [ -s warned ]; then echo "not told"; fi
	if grep -q secret-path warned; then echo "the address is told"; fi
}
mv slow job
look 1
look 2
mv job slow
mv well job
for i in 3 4 5; do look "$i"; done
cat told
