# Receivers need programs, libraries and hosts of any place; without a receiver there is no such reason.
reason() {
	"$FAILSLOW" detect -v --config "$1.json" --now 1750000100 --output "out-$1" --quiet 2>log
	grep -c 'not confined: reason="\(receivers are told\|Alertmanager is told\)"' log || true
}
none='"root_path": "'$DATASETS'/faults/slow_rank", "alarm_timeout_s": 0.1'
echo "{$none}" >none.json
echo "{$none, \"command_hook\": [\"/bin/true\"]}" >hook.json
echo "{$none, \"alertmanager_url\": \"http://127.0.0.1:9\"}" >alertmanager.json
for receiver in none hook alertmanager; do
	echo "$receiver: $(reason "$receiver")"
done
