# A model_config.json beside captures names the job and nothing else: nothing runs, is written, or is read for it.
cp -r "$DATASETS/profile/slow_rank" night
"$FAILSLOW" night --format json > wanted
tell() {
	"$FAILSLOW" "$@" --format json > got || echo "exit code $?"
	python3 - <<'PYTHON'
import json
got, wanted = json.load(open("got")), json.load(open("wanted"))
used = got["coverage"].pop("describedBy", None)
names = [case.pop("job")["name"] for case in (wanted, got)]
print(*names, used, "and the verdict is", "the same" if got == wanted else "another")
PYTHON
}
touch mark
cat > night/model_config.json <<JSON
{"job_name": "pre training/7", "k_sigma": 5, "root_path": "/etc", "slow_node_detection_path": "$PWD/stolen",
 "fail_slow_perception_path": "$PWD/stolen", "state_path": "$PWD/stolen.db", "plugin_paths": ["$PWD/evil.so"],
 "detectors": {"Evil": {"plugin": "$PWD/evil.so"}}, "reporters": {"webhook": "http://evil"}}
JSON
tell night
tell profile night
"$FAILSLOW" night | grep -A 2 coverage
echo '{"job_name": "elsewhere", "training_log": "/etc/passwd"}' > night/model_config.json
tell night
echo '{"k_sigma": "many"}' > night/model_config.json
tell night
printf '{"job_name"' > night/model_config.json
tell night
echo '{"job_name": "configured"}' > config.json
tell profile night --config config.json
mkdir job
mv night job
"$FAILSLOW" simulate job/markers steps=40 tp=1 dp=4 pp=1 > told
echo '{"k_sigma": "many"}' > job/model_config.json
"$FAILSLOW" job > text
find . -newer mark -type f -not -name '*.csv' | sort
"$FAILSLOW" profile job/night --output out --quiet
ls out
