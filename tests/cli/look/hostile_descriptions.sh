# A model_config.json in the folder may be hostile: nothing runs, nothing is written, no path changes, one warning at most.
"$FAILSLOW" simulate job steps=40 tp=1 dp=4 pp=1 timelines=all fault="compute ranks=2 factor=1.6 onset=20" > told
rm told job/model_config.json
mkdir elsewhere
cp -r job/timeline elsewhere
ln -s "$PWD/elsewhere/timeline" job/link
ln -s "$PWD/elsewhere" job/links
echo '{"k_sigma": 5}' > elsewhere/model_config.json
"$FAILSLOW" job --format json > wanted
"$FAILSLOW" job --output results > text
rm -r results text
touch mark

mkdir seen
n=100
look() { # NAME: looks at the folder as it is
	n=$((n + 1))
	echo "$1" > seen/$n.name
	code=0
	"$FAILSLOW" job --format json > seen/$n.got 2> seen/$n.warnings || code=$?
	echo $code > seen/$n.code
	find . -path ./seen -prune -o -newer mark -type f -not -name model_config.json -print > seen/$n.found
}

write() { # NAME TEXT
	rm -rf job/model_config.json
	printf '%s' "$2" > job/model_config.json
	look "$1"
}

look none
write empty ''
write broken '{"k_sigma": 3,'
write list '[1, 2]'
write "wrong value" '{"k_sigma": "many", "slow_ratio_min": 3}'
write "nothing about the job" '{"note": "of the user"}'
write outputs "{\"root_path\": \"/etc\", \"fail_slow_perception_path\": \"$PWD/stolen\", \"slow_node_detection_path\":
 \"$PWD/stolen\", \"state_path\": \"$PWD/stolen.db\", \"save_path\": \"$PWD/stolen\", \"look_back\": 0, \"jobs\": 4096,
 \"with_fail_slow\": true, \"slow_node_detection_range_times\": [1, 2], \"verdict_schema\": \"systrace\"}"
write plug-ins "{\"detectors\": {\"Evil\": {\"plugin\": \"$PWD/evil.so\"}, \"BoxPlot\": {\"plugin\": \"evil.so\"}},
 \"metric_config\": \"evil.json\", \"plugin_paths\": [\"$PWD/evil.so\"], \"reporters\": {\"webhook\": \"http://evil\"}}"
write "absolute log" "{\"training_log\": \"$PWD/elsewhere/timeline\"}"
write "log above" '{"training_log": "../elsewhere/timeline"}'
write "log behind a link" '{"training_log": "link"}'
write "log below a link" '{"training_log": "links/timeline"}'
write "absent log" '{"training_log": "timeline/absent"}'
write "log that is no text" '{"training_log": {"path": "/etc"}}'
write "rank table above" '{"rank_table_json": "../elsewhere/rank_table.json", "training_log": "/etc/passwd"}'
write "device as rank table" '{"rank_table_json": "/dev/zero"}'
write "groups that overlap" '{"hccl_domain": {"dp": [[0, 1], [1, 2]]}}'
write "groups of no ranks" '{"hccl_domain": {"dp": [[-1, 5000000]]}}'
write deep "$(printf '[%.0s' $(seq 100000))"
rm job/model_config.json
truncate -s 3G job/model_config.json
look huge
rm job/model_config.json
ln -s "$PWD/elsewhere/model_config.json" job/model_config.json
look "link out of the folder"
ln -sfn model_config.json job/model_config.json
look "link to itself"
rm job/model_config.json
mkfifo job/model_config.json
look pipe
rm job/model_config.json
mkdir job/model_config.json
look folder
# One Python for all of them: to start it takes longer than a look.
python3 - <<-'PYTHON'
	import json, pathlib
	def case(path):
	    parts = json.loads(path.read_text())
	    used = parts["coverage"].pop("describedBy", None)
	    for by_the_clock in "perception", "localisation":
	        parts.pop(by_the_clock)
	    return used, parts
	_, wanted = case(pathlib.Path("wanted"))
	for name in sorted(pathlib.Path("seen").glob("*.name")):
	    text = {kind: name.with_suffix(f".{kind}").read_text() for kind in ("name", "warnings", "code", "found")}
	    title, code, n_warnings = text["name"].strip(), int(text["code"]), text["warnings"].count("\n")
	    if code != 0:
	        print(f"{title}: exit code {code}")
	    used, parts = case(name.with_suffix(".got"))
	    print(f"{title}: {n_warnings} warnings, used: {used} and the verdict is",
	          "the same" if parts == wanted else "another")
	    print(text["warnings"] + text["found"], end="")
PYTHON
