# A case is old after three periods: those that --every told its run, else those of the configuration (30 minutes).
"$FAILSLOW" simulate job tp=4 dp=2 steps=60 >/dev/null
ask() {
	"$FAILSLOW" check --output "$@" && echo "exit 0" || echo "exit $?"
}
"$FAILSLOW" detect job --now 1750000100 --output plain --quiet
"$FAILSLOW" detect job --now 1750000100 --output hourly --quiet --every 60
"$FAILSLOW" detect job --now 1750000100 --output quick --quiet --every 0.5
for folder in plain hourly quick; do
	grep everyMins $folder/failslow_job.json || echo "$folder: no period"
done
ask plain --now $((1750000100 + 89 * 60))
ask plain --now $((1750000100 + 91 * 60))
ask hourly --now $((1750000100 + 179 * 60))
ask hourly --now $((1750000100 + 181 * 60))
ask quick --now $((1750000100 + 89))
ask quick --now $((1750000100 + 91))
# The watch tells it to its looks.
echo '{"root_path": "job", "slow_node_detection_path": "watched", "fail_slow_perception_path": "watched"}' >config.json
"$FAILSLOW" watch --once --quiet --every 720 --config config.json >/dev/null || echo "exit $?"
grep everyMins watched/failslow_job.json
