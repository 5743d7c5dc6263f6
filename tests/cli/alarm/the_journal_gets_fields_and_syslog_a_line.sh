# The begin and the end of an incident, as fields of the journal and as RFC 5424. A line break in the name of a host makes no
# field of its own; quotes and brackets are escaped.
"$FAILSLOW" simulate slow tp=4 dp=2 steps=60 fault="compute ranks=5 factor=1.5" >/dev/null
"$FAILSLOW" simulate well tp=4 dp=2 steps=60 >/dev/null
export PYTHONDONTWRITEBYTECODE=1
look() {
	"$FAILSLOW" detect --config model_config.json --now "$((1750000100 + 600 * $1))" --quiet
}
take() {
	rm -rf job
	cp -r "$1" job
	for file in job/mspti/*; do mv "$file" "${file/10.1.0.1/$2}"; done
}
receive() {
	rm -rf out over log
	python3 "$CASES/alarm/syslog.py" "$PWD/log" over "$2" >told &
	until [ -S log ]; do sleep 0.02; done
	python3 -c '
import json, sys
json.dump({"root_path": "job", "slow_node_detection_path": "out", "fail_slow_perception_path": "out",
           "hang_times_mins_thr": 10000, "syslog": sys.argv[1]}, open("model_config.json", "w"))' "$1"
	take slow "$3"
	look 1
	take well "$3"
	look 2
	look 3
	touch over
	wait
	cat told
}
receive "journald:$PWD/log" journal $'node\nFAILSLOW_RANK=7'
receive "unix:$PWD/log" "" 'node"8]\'
