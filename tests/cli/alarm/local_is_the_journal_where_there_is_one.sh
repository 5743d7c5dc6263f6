# "local" writes fields to the socket of the journal if that is there: a namespace of mounts has one that nobody else sees.
if [ "$(id -u)" != 0 ] || ! unshare -rm mount -t tmpfs none /run 2>/dev/null; then exit 77; fi
"$FAILSLOW" simulate job tp=4 dp=2 steps=60 fault="compute ranks=2 factor=1.4" >/dev/null
echo '{"root_path": "job", "slow_node_detection_path": "out", "fail_slow_perception_path": "out",
	"hang_times_mins_thr": 10000, "syslog": "local"}' >model_config.json
cat >inside <<'INSIDE'
mount -t tmpfs none /run
mkdir -p /run/systemd/journal
python3 "$CASES/alarm/syslog.py" /run/systemd/journal/socket over journal >told &
until [ -S /run/systemd/journal/socket ]; do sleep 0.02; done
"$FAILSLOW" detect --config model_config.json --now 1750000100 --quiet
touch over
wait
INSIDE
PYTHONDONTWRITEBYTECODE=1 unshare -rm bash -eu inside
cat told
